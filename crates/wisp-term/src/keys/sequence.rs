//! The sequences a terminal sends, one at a time: how long the first one is, and which key it stands for.

use crossterm::event::{KeyCode, KeyModifiers};

use super::{Typed, key};

/// The longest `CSI` sequence that is waited for, bytes.
const LONGEST_CSI: usize = 256;
/// The longest string (a colour, a version, a clipboard) that is waited for, bytes.
const LONGEST_STRING: usize = 64 * 1024;

/// What stands first in some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing yet: more bytes are needed.
    More,
    /// So many bytes that are complete, and what they mean; nothing, when they are a report.
    Whole(usize, Option<Typed>),
    /// So many bytes of a sequence that cannot be completed by what follows.
    Broken(usize),
}

/// Takes the first key or sequence.
pub(super) fn scan(bytes: &[u8]) -> Found {
    match bytes {
        [] | [0x1b] | [0x1b, 0x1b] => Found::More,
        [0x1b, 0x1b, rest @ ..] => escaped_twice(rest, bytes),
        [0x1b, b'[', ..] => csi(bytes),
        [0x1b, b'O', ..] => ss3(bytes),
        [0x1b, b']' | b'P' | b'X' | b'^' | b'_', ..] => string(bytes),
        [0x1b, rest @ ..] => match character(rest) {
            Found::Whole(length, Some(Typed::Key(found))) => Found::Whole(
                length + 1,
                Some(key(found.code, found.modifiers | KeyModifiers::ALT)),
            ),
            other => other,
        },
        _ => character(bytes),
    }
}

/// Escape before a sequence: Alt with its key, as rxvt sends it, else a key of its own.
fn escaped_twice(rest: &[u8], bytes: &[u8]) -> Found {
    let escape = Found::Whole(1, Some(key(KeyCode::Esc, KeyModifiers::NONE)));
    if !matches!(rest.first(), Some(b'[' | b'O')) {
        return escape;
    }
    match scan(&bytes[1..]) {
        Found::More => Found::More,
        Found::Whole(length, Some(Typed::Key(found))) => Found::Whole(
            length + 1,
            Some(key(found.code, found.modifiers | KeyModifiers::ALT)),
        ),
        _ => escape,
    }
}

/// One character, or one byte that is none.
fn character(bytes: &[u8]) -> Found {
    let most = &bytes[..bytes.len().min(4)];
    let (valid, error) = match std::str::from_utf8(most) {
        Ok(valid) => (valid, None),
        Err(error) => {
            let valid = std::str::from_utf8(&most[..error.valid_up_to()]).unwrap_or_default();
            (valid, Some(error.error_len()))
        }
    };
    match (valid.chars().next(), error) {
        (Some(c), _) => Found::Whole(c.len_utf8(), Some(typed(c))),
        (None, Some(Some(length))) => Found::Whole(length, Some(typed('\u{fffd}'))),
        // The end of a character is not there yet.
        (None, _) => Found::More,
    }
}

/// The key that sends a character.
fn typed(c: char) -> Typed {
    let control = |c: char| key(KeyCode::Char(c), KeyModifiers::CONTROL);
    match c {
        '\r' => key(KeyCode::Enter, KeyModifiers::NONE),
        '\t' => key(KeyCode::Tab, KeyModifiers::NONE),
        '\x7f' => key(KeyCode::Backspace, KeyModifiers::NONE),
        '\0' => control(' '),
        '\x01'..='\x1a' => control(char::from(c as u8 - 1 + b'a')),
        '\x1c'..='\x1f' => control(char::from(c as u8 - 0x1c + b'4')),
        '\u{80}'..='\u{9f}' => key(KeyCode::Char('\u{fffd}'), KeyModifiers::NONE),
        c if c.is_uppercase() => key(KeyCode::Char(c), KeyModifiers::SHIFT),
        c => key(KeyCode::Char(c), KeyModifiers::NONE),
    }
}

/// A string of the terminal's (`OSC`, `DCS`, `APC`, `PM`, `SOS`): a report, up to its terminator.
fn string(bytes: &[u8]) -> Found {
    for (at, byte) in bytes.iter().enumerate().skip(2) {
        match byte {
            7 => return Found::Whole(at + 1, None),
            0x1b => match bytes.get(at + 1) {
                None => return Found::More,
                Some(b'\\') => return Found::Whole(at + 2, None),
                Some(_) => return Found::Broken(at),
            },
            0..=0x1f => return Found::Broken(at),
            _ => {}
        }
    }
    too_long_or_more(bytes, LONGEST_STRING)
}

fn too_long_or_more(bytes: &[u8], longest: usize) -> Found {
    if bytes.len() > longest {
        Found::Broken(bytes.len())
    } else {
        Found::More
    }
}

/// `ESC O`, parameters of old terminals, and a letter.
fn ss3(bytes: &[u8]) -> Found {
    let digits = bytes[2..]
        .iter()
        .take_while(|b| b.is_ascii_digit() || **b == b';');
    let at = 2 + digits.count();
    let Some(last) = bytes.get(at) else {
        return too_long_or_more(bytes, LONGEST_CSI);
    };
    if !(0x20..0x7f).contains(last) {
        return Found::Broken(at);
    }
    let modifiers = numbers(&bytes[2..at]).last().map_or(1, |n| n[0]);
    let mut modifiers = modifiers_of(modifiers);
    let code = match last {
        b'a'..=b'd' => {
            modifiers |= KeyModifiers::CONTROL;
            letter(last.to_ascii_uppercase())
        }
        b'M' => Some(KeyCode::Enter),
        b'w' => Some(KeyCode::End),
        letter_byte => letter(*letter_byte),
    };
    Found::Whole(at + 1, code.map(|code| key(code, modifiers)))
}

/// `ESC [`, parameters, intermediates, and the byte that ends it.
fn csi(bytes: &[u8]) -> Found {
    match bytes.get(2) {
        // The function keys of the Linux console.
        Some(b'[') => {
            let Some(last) = bytes.get(3) else {
                return Found::More;
            };
            let number = last.wrapping_sub(b'A').saturating_add(1);
            let known = (1..=5).contains(&number);
            return Found::Whole(4, known.then(|| key(KeyCode::F(number), KeyModifiers::NONE)));
        }
        // The oldest reports of a mouse: three bytes follow.
        Some(b'M') if bytes.len() < 6 => return Found::More,
        Some(b'M') => return Found::Whole(6, None),
        _ => {}
    }
    let parameters = bytes[2..]
        .iter()
        .take_while(|b| (0x30..0x40).contains(*b))
        .count();
    let between = bytes[2 + parameters..]
        .iter()
        .take_while(|b| (0x20..0x30).contains(*b))
        .count();
    let at = 2 + parameters + between;
    match bytes.get(at) {
        None => too_long_or_more(bytes, LONGEST_CSI),
        Some(last @ 0x40..=0x7e) => {
            let meaning = (between == 0).then(|| meaning(&bytes[2..2 + parameters], *last));
            Found::Whole(at + 1, meaning.flatten())
        }
        Some(_) => Found::Broken(at),
    }
}

/// Parameters as numbers, each with what stands after colons; what is left out is 1, as terminals mean it.
fn numbers(parameters: &[u8]) -> Vec<Vec<u32>> {
    let number = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        digits
            .parse()
            .unwrap_or(if digits.is_empty() { 1 } else { u32::MAX })
    };
    parameters
        .split(|b| *b == b';')
        .map(|group| group.split(|b| *b == b':').map(number).collect())
        .collect()
}

/// The key, or the change of attention, that a `CSI` sequence tells; nothing for reports.
fn meaning(parameters: &[u8], last: u8) -> Option<Typed> {
    let bare = parameters.is_empty();
    match last {
        b'I' if bare => return Some(Typed::Focus(true)),
        b'O' if bare => return Some(Typed::Focus(false)),
        _ => {}
    }
    if parameters.first().is_some_and(|b| b"?><=".contains(b)) {
        return None;
    }
    let groups = numbers(parameters);
    let first = groups[0][0];
    let second = groups.get(1).cloned().unwrap_or_else(|| vec![1]);
    if second.get(1) == Some(&3) {
        return None;
    }
    let modifiers = modifiers_of(second[0]);
    let code = match last {
        b'u' => return unicode(&groups),
        b'~' if first == 27 => return other_keys(&groups),
        b'~' => numbered(first)?,
        b'^' => return Some(key(numbered(first)?, KeyModifiers::CONTROL)),
        b'@' => return Some(key(numbered(first)?, KeyModifiers::CONTROL | KeyModifiers::SHIFT)),
        b'Z' => KeyCode::BackTab,
        b'a'..=b'd' if bare => return Some(key(letter(last.to_ascii_uppercase())?, KeyModifiers::SHIFT)),
        b'R' if !bare => return None,
        // GNU screen and old xterms leave the 1 out: `CSI 5 D`.
        b'A'..=b'D' | b'F' | b'H' if groups.len() == 1 && (2..=8).contains(&first) => {
            return Some(key(letter(last)?, modifiers_of(first)));
        }
        _ if bare || first == 1 => letter(last)?,
        _ => return None,
    };
    Some(key(code, modifiers))
}

fn letter(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P'..=b'S' => KeyCode::F(last - b'P' + 1),
        _ => return None,
    })
}

fn numbered(number: u32) -> Option<KeyCode> {
    let function = |below: u32| u8::try_from(number - below).ok().map(KeyCode::F);
    match number {
        1 | 7 => Some(KeyCode::Home),
        2 => Some(KeyCode::Insert),
        3 => Some(KeyCode::Delete),
        4 | 8 => Some(KeyCode::End),
        5 => Some(KeyCode::PageUp),
        6 => Some(KeyCode::PageDown),
        11..=15 => function(10),
        17..=21 => function(11),
        23 | 24 => function(12),
        _ => None,
    }
}

/// Modifiers as terminals number them. Caps Lock and Num Lock do not count; 0 and nonsense are none.
fn modifiers_of(number: u32) -> KeyModifiers {
    const BITS: [(u32, KeyModifiers); 6] = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    let bits = number.saturating_sub(1);
    let bits = if bits > 255 { 0 } else { bits };
    BITS.iter()
        .filter(|(bit, _)| bits & bit != 0)
        .fold(KeyModifiers::NONE, |all, (_, modifier)| all | *modifier)
}

/// Whether Caps Lock is on.
fn is_caps(number: u32) -> bool {
    (2..=256).contains(&number) && (number - 1) & 64 != 0
}

/// `CSI 27 ; modifiers ; code ~`, as xterm sends it for modifyOtherKeys.
fn other_keys(groups: &[Vec<u32>]) -> Option<Typed> {
    let code = groups.get(2)?[0];
    named_or_character(code, modifiers_of(groups[1][0]), None)
}

/// `CSI code:shifted:base ; modifiers:event ; text u`, as the kitty protocol sends it.
fn unicode(groups: &[Vec<u32>]) -> Option<Typed> {
    let lead = &groups[0];
    let number = groups.get(1).map_or(1, |second| second[0]);
    let modifiers = modifiers_of(number);
    let text = groups.get(2).and_then(|text| char::from_u32(text[0]));
    let text = text.filter(|c| !c.is_control());
    let commands = modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    if let Some(text) = text.filter(|_| !commands) {
        return Some(typed(text));
    }
    // With Ctrl the key counts that stands there on a Latin keyboard.
    let base = lead.get(2).copied().filter(|_| commands && lead[0] > 127);
    let shifted = lead
        .get(1)
        .copied()
        .filter(|_| modifiers.contains(KeyModifiers::SHIFT) && !commands);
    let shifted = shifted.filter(|shifted| *shifted > 31).and_then(char::from_u32);
    let caps = is_caps(number) && !modifiers.contains(KeyModifiers::SHIFT);
    let shifted = shifted.or_else(|| {
        let c = char::from_u32(lead[0]).filter(|c| caps && !commands && c.is_lowercase())?;
        c.to_uppercase().next()
    });
    named_or_character(base.unwrap_or(lead[0]), modifiers, shifted)
}

/// A key by its code: one that has a name, one of the keypad, else a character.
fn named_or_character(code: u32, modifiers: KeyModifiers, shifted: Option<char>) -> Option<Typed> {
    let named = match code {
        8 | 127 => Some(KeyCode::Backspace),
        9 if modifiers.contains(KeyModifiers::SHIFT) => Some(KeyCode::BackTab),
        9 => Some(KeyCode::Tab),
        10 | 13 | 57414 => Some(KeyCode::Enter),
        27 => Some(KeyCode::Esc),
        91 if modifiers == KeyModifiers::CONTROL => return Some(key(KeyCode::Esc, KeyModifiers::NONE)),
        57417 => Some(KeyCode::Left),
        57418 => Some(KeyCode::Right),
        57419 => Some(KeyCode::Up),
        57420 => Some(KeyCode::Down),
        57421 => Some(KeyCode::PageUp),
        57422 => Some(KeyCode::PageDown),
        57423 => Some(KeyCode::Home),
        57424 => Some(KeyCode::End),
        57425 => Some(KeyCode::Insert),
        57426 => Some(KeyCode::Delete),
        _ => None,
    };
    if let Some(named) = named {
        return Some(key(named, modifiers));
    }
    let c = match code {
        57399..=57408 => char::from_digit(code - 57399, 10)?,
        57409..=57413 => char::from(b"./*-+"[(code - 57409) as usize]),
        57415 => '=',
        // The private area names keys that write nothing: locks, modifiers, media.
        57344..=63743 => return None,
        code => char::from_u32(code).filter(|c| !c.is_control())?,
    };
    if modifiers.intersects(KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META) {
        return None;
    }
    let shift = modifiers.contains(KeyModifiers::SHIFT);
    let upper = c.to_uppercase().next().filter(|_| shift && c.is_lowercase());
    let c = shifted.or(upper).unwrap_or(c);
    Some(key(KeyCode::Char(c), modifiers))
}

/// Whether a whole sequence has the form of a report that terminals send unasked or late: attributes, colours,
/// versions, the cursor's place, modes, sizes.
pub(super) fn is_report(sequence: &[u8]) -> bool {
    let Some(last) = sequence.last() else { return false };
    match sequence {
        [0x1b, b']' | b'P' | b'X' | b'^' | b'_', ..] | [0x1b, b'[', b'I' | b'O'] => true,
        [0x1b, b'[', b'?' | b'>' | b'=', ..] => b"cnuyRtSxqm".contains(last),
        [0x1b, b'[', b'<', ..] => b"Mm".contains(last),
        [0x1b, b'[', b'0'..=b'9', ..] => {
            let parameters = &sequence[2..sequence.len() - 1];
            b"cnRtyx".contains(last) || (b"~u".contains(last) && parameters.contains(&b':'))
        }
        _ => false,
    }
}
