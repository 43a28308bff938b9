//! One key with its modifiers, as the person writes it in the configuration (`ctrl-o`, `alt-enter`, `?`), and a
//! binding: one or two of them in a row.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// One key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// What is wrong with a key as it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a key: {0}; write ctrl-o, alt-enter, shift-tab, f1, page-up or one character")]
pub struct NotAKey(String);

/// Names of keys that are no character.
const NAMES: [(&str, KeyCode); 16] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("page-up", KeyCode::PageUp),
    ("page-down", KeyCode::PageDown),
    ("space", KeyCode::Char(' ')),
    ("backtab", KeyCode::BackTab),
];

/// Names of modifiers, in the order they are written.
const MODIFIERS: [(&str, KeyModifiers); 3] = [
    ("ctrl-", KeyModifiers::CONTROL),
    ("alt-", KeyModifiers::ALT),
    ("shift-", KeyModifiers::SHIFT),
];

impl From<KeyEvent> for Chord {
    /// Shift is left out of characters, which carry it already, and `shift-tab` is one key.
    fn from(key: KeyEvent) -> Self {
        let known = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let mut modifiers = key.modifiers & known;
        if matches!(key.code, KeyCode::Char(_) | KeyCode::BackTab) {
            modifiers.remove(KeyModifiers::SHIFT);
        }
        let code = match key.code {
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
                KeyCode::Char(c.to_ascii_lowercase())
            }
            code => code,
        };
        Self { code, modifiers }
    }
}

impl FromStr for Chord {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let mut rest = text;
        let mut modifiers = KeyModifiers::NONE;
        while let Some((name, modifier)) = MODIFIERS.iter().find(|(name, _)| rest.starts_with(name)) {
            rest = &rest[name.len()..];
            modifiers |= *modifier;
        }
        let code = code_of(rest).ok_or_else(|| NotAKey(text.to_owned()))?;
        let code = if code == KeyCode::Tab && modifiers == KeyModifiers::SHIFT {
            KeyCode::BackTab
        } else {
            code
        };
        Ok(Self::from(KeyEvent::new(code, modifiers)))
    }
}

fn code_of(name: &str) -> Option<KeyCode> {
    if let Some((_, code)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(*code);
    }
    let mut chars = name.chars();
    match (chars.next()?, chars.as_str()) {
        (c, "") => Some(KeyCode::Char(c)),
        ('f', number) => number
            .parse()
            .ok()
            .filter(|n| (1..=12).contains(n))
            .map(KeyCode::F),
        _ => None,
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, modifier) in MODIFIERS {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        if self.code == KeyCode::BackTab {
            return f.write_str("shift-tab");
        }
        if let Some((name, _)) = NAMES.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(number) => write!(f, "f{number}"),
            _ => f.write_str("?"),
        }
    }
}

/// One key, or two in a row (`ctrl-x ctrl-e`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The key, or the first of two.
    pub first: Chord,
    /// The second key.
    pub second: Option<Chord>,
}

impl FromStr for Binding {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let mut chords = text.split_whitespace();
        let first = chords.next().ok_or_else(|| NotAKey(text.to_owned()))?.parse()?;
        let second = chords.next().map(str::parse).transpose()?;
        match chords.next() {
            None => Ok(Self { first, second }),
            Some(_) => Err(NotAKey(text.to_owned())),
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.second.map_or(Ok(()), |second| write!(f, " {second}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_as_they_are_read() {
        for text in [
            "ctrl-o",
            "alt-enter",
            "shift-tab",
            "f1",
            "?",
            "-",
            "G",
            "page-up",
            "ctrl-alt-left",
            "space",
            "ctrl-x ctrl-e",
        ] {
            assert_eq!(text.parse::<Binding>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_key_says_what_would_be() {
        for text in ["", "ctrl-", "f13", "hyper-x", "page-upp", "a b c"] {
            assert!(text.parse::<Binding>().is_err(), "{text}");
        }
        let said = "ctrl-oo".parse::<Chord>().unwrap_err().to_string();
        assert!(said.starts_with("not a key: ctrl-oo; write ctrl-o"), "{said}");
    }

    #[test]
    fn shift_belongs_to_the_character() {
        let upper = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        assert_eq!(Chord::from(upper), "G".parse().unwrap());
        let control = KeyEvent::new(KeyCode::Char('O'), KeyModifiers::CONTROL | KeyModifiers::SHIFT);
        assert_eq!(Chord::from(control), "ctrl-o".parse().unwrap());
    }
}
