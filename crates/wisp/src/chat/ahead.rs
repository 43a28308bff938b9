//! What the person typed before a question was seen: it answers nothing, and stands in the next line they are asked for.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal;

/// How long the keyboard must have been quiet before a key is taken as an answer.
const QUIET: Duration = Duration::from_millis(500);

/// The characters of a line that is yet to be asked for.
#[derive(Debug, Default)]
pub struct Ahead(String);

impl Ahead {
    /// Waits until the keyboard has been quiet and keeps what is typed meanwhile. Ctrl-C and Ctrl-D are for the question at
    /// once: they are given back, and end the wait.
    pub fn gather(&mut self) -> io::Result<Option<KeyEvent>> {
        let _raw = Raw::enter()?;
        let mut quiet_since = Instant::now();
        while let Some(left) = QUIET
            .checked_sub(quiet_since.elapsed())
            .filter(|left| !left.is_zero())
        {
            if !event::poll(left)? {
                continue;
            }
            if let Input::Key(key) = event::read()? {
                if leaves(key) {
                    return Ok(Some(key));
                }
                self.note(key);
            }
            quiet_since = Instant::now();
        }
        Ok(None)
    }

    fn note(&mut self, key: KeyEvent) {
        let commands = key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            _ if key.kind == KeyEventKind::Release => {}
            KeyCode::Enter => self.0.push('\n'),
            KeyCode::Backspace => drop(self.0.pop()),
            KeyCode::Char(c) if !commands => self.0.push(c),
            _ => {}
        }
    }

    /// What is to stand in the next line. It is not entered: the person has not seen what it is entered into.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.0).trim().to_owned()
    }
}

/// Whether a key leaves a question at once: Ctrl-C or Ctrl-D.
pub fn leaves(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd'))
}

/// Raw mode for as long as it lives.
pub struct Raw;

impl Raw {
    /// Enters it.
    pub fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = terminal::disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_a_line_and_what_commands_is_not() {
        let mut ahead = Ahead::default();
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        for code in [
            KeyCode::Char('h'),
            KeyCode::Char('j'),
            KeyCode::Backspace,
            KeyCode::Char('i'),
            KeyCode::Left,
            KeyCode::Enter,
        ] {
            ahead.note(key(code));
        }
        ahead.note(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        assert_eq!(ahead.take(), "hi");
        assert_eq!(ahead.take(), "");
        assert!(leaves(KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL)));
        assert!(!leaves(key(KeyCode::Char('d'))));
    }
}
