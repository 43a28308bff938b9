//! JSON that a person may look at: the same values, without a character that commands a terminal or hides what is
//! shown on one.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::visible::is_hidden;

/// A JSON text with every such character written as `\uXXXX`, which reads as it was. JSON itself leaves DEL, the C1
/// controls and the formatting characters of Unicode as they are.
///
/// ```
/// assert_eq!(wisp_term::safe::json("\"a\u{202e}b\""), "\"a\\u202eb\"");
/// ```
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_active) {
        return Cow::Borrowed(text);
    }
    let mut inert = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_active(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let written = write!(inert, "\\u{unit:04x}");
                debug_assert!(written.is_ok(), "writing to a string cannot fail");
            }
        } else {
            inert.push(c);
        }
    }
    Cow::Owned(inert)
}

/// Characters that are no text: controls beyond ASCII's, and what takes no room or turns the reading direction.
fn is_active(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}') || is_hidden(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_written_out_and_the_rest_stays() {
        let text = "\"a\u{9b}31m\u{7f}\u{202e}b\u{e0041}\u{feff}👩\u{200d}👧 é 漢\"";
        let line = json(text);
        assert_eq!(
            line,
            "\"a\\u009b31m\\u007f\\u202eb\\udb40\\udc41\\ufeff👩\u{200d}👧 é 漢\""
        );
        assert!(matches!(json("\"é\""), Cow::Borrowed("\"é\"")));
    }
}
