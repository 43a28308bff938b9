//! What of a result a model is shown, decided once.
//!
//! A result reaches the record already inside its budget; this is the deterministic excerpt for what did not: the
//! outputs of a file written before the decision was stored.

use wisp_amount::counted;

use crate::message::size;
use crate::text::Text;

/// Bytes of an output of a file from before admission that are shown at most: the least tool-output budget.
pub const LEGACY_BYTES: usize = 4096;

/// Room kept for the marker line between head and tail.
const MARKER_ROOM: usize = 80;

/// `text` when it has at most `most` bytes; otherwise its first and last lines, about half the room each, and
/// between them a line saying how much is held back. Never longer than `most` when that is at least 160; never cut
/// inside a character. The same input gives the same bytes for ever.
pub fn excerpt(text: &Text, most: usize) -> Text {
    if text.len() <= most {
        return text.clone();
    }
    let half = most.saturating_sub(MARKER_ROOM) / 2;
    let head = head_end(text, half);
    let tail = tail_start(text, half).max(head);
    let between = &text[head..tail];
    let lines = between.lines().count();
    Text::from(format!(
        "{}\n[… {} ({}) held back …]\n{}",
        text[..head].trim_end_matches('\n'),
        counted(size(lines), "line"),
        counted(size(between.len()), "byte"),
        &text[tail..],
    ))
}

/// End of the head: after the last whole line within `room` bytes, or at a character when no line ends there.
fn head_end(text: &str, room: usize) -> usize {
    let end = text.floor_char_boundary(room);
    text[..end].rfind('\n').map_or(end, |newline| newline + 1)
}

/// Start of the tail: at the first whole line within the last `room` bytes, or at a character.
fn tail_start(text: &str, room: usize) -> usize {
    let start = text.ceil_char_boundary(text.len().saturating_sub(room));
    let line = text[start..]
        .find('\n')
        .map_or(start, |newline| start + newline + 1);
    if line == text.len() { start } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_exactly_the_room_is_whole_and_one_byte_more_is_not() {
        let whole = Text::from("x".repeat(400));
        assert_eq!(excerpt(&whole, 400), whole);
        let over = excerpt(&whole, 399);
        assert!(over.len() <= 399, "{}", over.len());
        assert!(over.contains("held back"));
    }

    #[test]
    fn head_and_tail_are_whole_lines_and_the_marker_counts_the_rest() {
        let text = (1..=1000)
            .map(|n| format!("line {n}\n"))
            .collect::<Vec<_>>()
            .concat();
        let shown = excerpt(&Text::from(text.as_str()), 1000);
        let (head, rest) = shown.split_once("\n[… ").expect("a marker");
        let (count, tail) = rest.split_once(" …]\n").expect("its end");
        let shown_lines = head.lines().count() + tail.lines().count();
        let between: usize = count
            .split(' ')
            .next()
            .and_then(|n| n.parse().ok())
            .expect("a number");
        assert_eq!(shown_lines + between, 1000);
        assert!(head.ends_with(&format!("line {}", head.lines().count())));
        assert!(tail.ends_with("line 1000\n"));
        assert!(shown.len() <= 1000);
    }

    #[test]
    fn a_character_is_never_parted() {
        let text = Text::from("é".repeat(5000));
        for most in 160..200 {
            assert!(excerpt(&text, most).len() <= most);
        }
    }
}
