//! Telling a paste from typing on a terminal that does not mark pastes.
//!
//! Characters that follow one another faster than fingers can are held for a moment. If a newline among them is
//! followed by more, they are one paste, and the newlines are text. If they end with their first newline, or without
//! one, they were keys (a script, or a slow machine catching up) and mean what keys mean. So a paste of several lines
//! never sends, and `tmux send-keys 'text' Enter` still does.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Keys closer together than this may be a paste.
pub const FAST: Duration = Duration::from_millis(8);
/// How long a run of fast keys is waited for.
pub const SETTLE: Duration = Duration::from_millis(40);
/// Runs shorter than this are typing.
const SHORTEST: usize = 4;

/// What a run of fast keys turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Burst {
    /// Keys, in order.
    Keys(Vec<KeyEvent>),
    /// One pasted text.
    Paste(String),
}

/// The run of fast keys that is being held.
#[derive(Debug, Clone, Default)]
pub struct Bursts {
    run: Vec<KeyEvent>,
    last: Duration,
    /// How many keys in a row were fast, held or not.
    fast: usize,
}

impl Bursts {
    /// Takes a key at a moment; gives it back when it is not held. What was held before it is not changed: ask
    /// [`Bursts::settled`] first.
    pub fn take(&mut self, key: KeyEvent, now: Duration) -> Option<KeyEvent> {
        let quick = now.saturating_sub(self.last) <= FAST;
        self.last = now;
        self.fast = if quick { self.fast + 1 } else { 0 };
        if text_of(key).is_none() {
            return Some(key);
        }
        let ends_a_fast_key = quick && key.code == KeyCode::Enter;
        if self.run.is_empty() && self.fast < SHORTEST && !ends_a_fast_key {
            return Some(key);
        }
        self.run.push(key);
        None
    }

    /// When the run that is held will have settled.
    pub fn due(&self) -> Option<Duration> {
        (!self.run.is_empty()).then(|| self.last + SETTLE)
    }

    /// The run, when nothing has followed it for [`SETTLE`], or when `key` ends it.
    pub fn settled(&mut self, now: Duration, key: Option<KeyEvent>) -> Option<Burst> {
        let ended = key.is_some_and(|key| text_of(key).is_none());
        if !ended && now < self.due()? {
            return None;
        }
        let run = std::mem::take(&mut self.run);
        if run.is_empty() {
            return None;
        }
        self.fast = 0;
        let enter = run.iter().position(|key| key.code == KeyCode::Enter);
        if enter.is_none_or(|at| at + 1 == run.len()) {
            return Some(Burst::Keys(run));
        }
        Some(Burst::Paste(run.iter().filter_map(|key| text_of(*key)).collect()))
    }
}

/// The character a key stands for in a paste; none for keys that no paste holds.
fn text_of(key: KeyEvent) -> Option<char> {
    if key
        .modifiers
        .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
    {
        return (key.code == KeyCode::Char('j') && key.modifiers == KeyModifiers::CONTROL).then_some('\n');
    }
    match key.code {
        KeyCode::Char(c) => Some(c),
        KeyCode::Enter => Some('\n'),
        KeyCode::Tab => Some('\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(c: char) -> KeyEvent {
        let code = if c == '\n' {
            KeyCode::Enter
        } else {
            KeyCode::Char(c)
        };
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    /// Types `text` with `gap` between keys; gives the keys that passed and what the rest turned out to be.
    fn typed(text: &str, gap: Duration) -> (String, Option<Burst>) {
        let mut bursts = Bursts::default();
        let mut now = Duration::from_secs(1);
        let mut passed = String::new();
        for c in text.chars() {
            now += gap;
            passed.extend(bursts.take(key(c), now).and_then(text_of));
        }
        (passed, bursts.settled(now + SETTLE, None))
    }

    #[test]
    fn typing_passes_at_once() {
        let (passed, held) = typed("hello\nworld\n", FAST + Duration::from_millis(1));
        assert_eq!((passed.as_str(), held), ("hello\nworld\n", None));
    }

    #[test]
    fn fast_lines_are_a_paste_and_their_newlines_text() {
        let (passed, held) = typed("line one\nline two\n", Duration::ZERO);
        assert_eq!(passed, "line");
        assert_eq!(held, Some(Burst::Paste(" one\nline two\n".into())));
    }

    #[test]
    fn short_fast_lines_are_a_paste_too() {
        let (passed, held) = typed("a\nb\n", Duration::ZERO);
        assert_eq!((passed.as_str(), held), ("a", Some(Burst::Paste("\nb\n".into()))));
    }

    #[test]
    fn one_fast_line_and_its_enter_are_keys() {
        let (passed, held) = typed("hello\n", Duration::ZERO);
        assert_eq!(passed, "hell");
        assert_eq!(held, Some(Burst::Keys(vec![key('o'), key('\n')])));
    }

    #[test]
    fn a_run_is_held_until_nothing_follows_for_40_ms() {
        let mut bursts = Bursts::default();
        let now = Duration::from_secs(1);
        for c in "abcdef".chars() {
            bursts.take(key(c), now);
        }
        let held = bursts.take(key('g'), now);
        assert_eq!(held, None);
        assert_eq!(bursts.settled(now + Duration::from_millis(39), None), None);
        assert!(bursts.settled(now + SETTLE, None).is_some());
        assert_eq!(bursts.due(), None);
    }

    #[test]
    fn a_key_that_no_paste_holds_ends_the_run() {
        let mut bursts = Bursts::default();
        let now = Duration::from_secs(1);
        for c in "abcdef\nx".chars() {
            bursts.take(key(c), now);
        }
        let escape = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
        assert!(matches!(bursts.settled(now, Some(escape)), Some(Burst::Paste(_))));
    }
}
