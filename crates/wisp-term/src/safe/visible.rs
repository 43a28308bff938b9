//! Names and commands on one line, in which nothing is lost: what cannot be seen is written as an escape.

use std::fmt::Write as _;

/// A text on one line with every control, direction and invisible character written as an escape (`\e`, `\r`,
/// `\n`, `\t`, `\u{202e}`), and a backslash that would read as one of these doubled. Two different texts never
/// look the same because of what cannot be seen.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes_next = c == '\\' && matches!(chars.peek(), Some('e' | 'r' | 'n' | 't' | 'u' | '\\'));
        if escapes_next && is_ambiguous(text) {
            shown.push_str("\\\\");
        } else if c.is_control() || is_hidden(c) || is_joiner(c) {
            push_escape(&mut shown, c);
        } else {
            shown.push(c);
        }
    }
    shown
}

/// As [`visible`], for a name that may not be UTF-8: what is not is written `\xff`, so that two names which differ only
/// there look different.
pub fn visible_bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.push_str(&visible(chunk.valid()));
        for byte in chunk.invalid() {
            let written = write!(shown, "\\x{byte:02x}");
            debug_assert!(written.is_ok());
        }
    }
    shown
}

/// Whether `text` has something that must be escaped, so that its own backslashes need telling apart.
fn is_ambiguous(text: &str) -> bool {
    text.chars()
        .any(|c| c.is_control() || is_hidden(c) || is_joiner(c))
}

pub(super) fn push_escape(shown: &mut String, c: char) {
    match c {
        '\u{1b}' => shown.push_str("\\e"),
        '\r' => shown.push_str("\\r"),
        '\n' => shown.push_str("\\n"),
        '\t' => shown.push_str("\\t"),
        other => {
            let written = write!(shown, "\\u{{{:x}}}", u32::from(other));
            debug_assert!(written.is_ok());
        }
    }
}

/// Characters that take no room or turn the reading direction, so that what is read differs from what is there.
pub(super) fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The joiners, which emoji and several scripts need and which are invisible between Latin letters.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}
