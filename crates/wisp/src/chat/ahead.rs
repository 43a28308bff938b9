//! What the person typed before a question was seen: it answers nothing, and stands in the next line they are asked for.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use wisp_term::keys::{Decoder, Typed};
use wisp_term::width;

/// How long the keyboard must have been quiet before a key is taken as an answer.
const QUIET: Duration = Duration::from_millis(500);

/// The characters of a line that is yet to be asked for.
#[derive(Debug, Default)]
pub struct Ahead(String);

/// Where keys come from.
pub trait Keyboard {
    /// What is typed next; none when nothing is within the time. Without one it waits as long as it takes.
    fn next(&mut self, within: Option<Duration>) -> io::Result<Option<Typed>>;
}

impl Ahead {
    /// Waits until the keyboard has been quiet and keeps what is typed meanwhile. Ctrl-C and Ctrl-D are for the question at
    /// once: they are given back, and end the wait.
    pub fn gather(&mut self, keys: &mut impl Keyboard) -> io::Result<Option<KeyEvent>> {
        while let Some(typed) = keys.next(Some(QUIET))? {
            if let Typed::Key(key) = typed
                && leaves(key)
            {
                return Ok(Some(key));
            }
            self.note(&typed);
        }
        Ok(None)
    }

    /// Takes what answered nothing.
    pub fn note(&mut self, typed: &Typed) {
        match typed {
            Typed::Key(key) => self.note_key(*key),
            Typed::Paste(text) => self.0.push_str(text),
            Typed::Focus(_) => {}
        }
    }

    fn note_key(&mut self, key: KeyEvent) {
        let commands = key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter => self.0.push('\n'),
            KeyCode::Backspace => self.0.truncate(width::without_last(&self.0).len()),
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

/// The terminal's keyboard: raw mode for as long as it lives.
pub struct Raw {
    terminal: OwnedFd,
    decoder: Decoder,
    typed: VecDeque<Typed>,
    since: Instant,
    before: Termios,
}

impl Raw {
    /// Enters it: standard input's terminal, or the one wisp was started on when something is piped in.
    pub fn enter() -> io::Result<Self> {
        let terminal = if io::stdin().is_terminal() {
            io::stdin().as_fd().try_clone_to_owned()?
        } else {
            let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
            rustix::fs::open("/dev/tty", flags, Mode::empty())?
        };
        let before = tcgetattr(&terminal)?;
        tcsetattr(&terminal, OptionalActions::Drain, &super::filter::raw(&before))?;
        Ok(Self {
            terminal,
            before,
            decoder: Decoder::with_escape(),
            typed: VecDeque::new(),
            since: Instant::now(),
        })
    }

    /// Reads one byte, so that what follows the answer is left to whoever reads next.
    fn read(&mut self) -> io::Result<()> {
        let mut byte = [0];
        match rustix::io::read(&self.terminal, &mut byte) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {
                let now = self.since.elapsed();
                self.typed.extend(self.decoder.feed(&byte, now));
                Ok(())
            }
            Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}

impl Keyboard for Raw {
    fn next(&mut self, within: Option<Duration>) -> io::Result<Option<Typed>> {
        let until = within.map(|within| self.since.elapsed() + within);
        loop {
            if let Some(typed) = self.typed.pop_front() {
                return Ok(Some(typed));
            }
            let now = self.since.elapsed();
            if until.is_some_and(|until| now >= until) {
                return Ok(None);
            }
            let due = [until, self.decoder.due()].into_iter().flatten().min();
            // A little later than due: a wait that is rounded down would be begun again and again.
            let wait = due.map(|due| due.saturating_sub(now) + Duration::from_millis(1));
            let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
            match poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], wait.as_ref()) {
                Ok(0) => {
                    let now = self.since.elapsed();
                    self.typed.extend(self.decoder.tick(now));
                }
                Ok(_) => self.read()?,
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &self.before);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Keys, each with the time that passes before it.
    pub struct Scripted(pub std::collections::VecDeque<(Duration, KeyEvent)>);

    impl Scripted {
        /// Characters (`\n` is Enter), each after so many milliseconds.
        pub fn new(keys: &[(u64, char)]) -> Self {
            let key = |c| match c {
                '\x7f' => KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE),
                '\n' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
                '\x03' => KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
                '\x1b' => KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE),
                c => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
            };
            let timed = |(after, c): &(u64, char)| (Duration::from_millis(*after), key(*c));
            Self(keys.iter().map(timed).collect())
        }
    }

    impl Keyboard for Scripted {
        fn next(&mut self, within: Option<Duration>) -> io::Result<Option<Typed>> {
            let Some((after, _)) = self.0.front_mut() else {
                return within.map_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()), |_| Ok(None));
            };
            if let Some(within) = within.filter(|within| *within <= *after) {
                *after -= within;
                return Ok(None);
            }
            Ok(self.0.pop_front().map(|(_, key)| Typed::Key(key)))
        }
    }

    #[test]
    fn the_wait_ends_when_the_keyboard_was_silent_for_half_a_second() {
        let mut ahead = Ahead::default();
        let mut keys = Scripted::new(&[(0, 'a'), (499, 'b'), (499, 'c'), (500, 'd')]);
        assert_eq!(ahead.gather(&mut keys).unwrap(), None);
        assert_eq!((ahead.take().as_str(), keys.0.len()), ("abc", 1));
        let mut keys = Scripted::new(&[(0, 'a'), (10, '\x03'), (10, 'd')]);
        assert!(ahead.gather(&mut keys).unwrap().is_some_and(leaves));
    }

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
            ahead.note(&Typed::Key(key(code)));
        }
        ahead.note(&Typed::Key(KeyEvent::new(
            KeyCode::Char('u'),
            KeyModifiers::CONTROL,
        )));
        assert_eq!(ahead.take(), "hi");
        assert_eq!(ahead.take(), "");
        assert!(leaves(KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL)));
        assert!(!leaves(key(KeyCode::Char('d'))));
    }
}
