//! The line a reply stops in. The working line is drawn below it and taken away again, and the reply goes on where it
//! stopped: for that its column has to be known, over every row the line takes.

use wisp_term::width;

/// What stands after the last newline that was drawn.
#[derive(Debug, Default)]
pub struct Tail {
    text: String,
}

impl Tail {
    /// Takes what is drawn next, escapes and all.
    pub fn push(&mut self, drawn: &str) {
        match drawn.rfind('\n') {
            Some(at) => drawn[at + 1..].clone_into(&mut self.text),
            None => self.text.push_str(drawn),
        }
    }

    /// Whether the cursor is at the beginning of a line.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What takes the cursor from the beginning of the row below back to the end of the text, on a terminal of so many
    /// cells.
    pub fn back(&self, cells: usize) -> String {
        let plain = unescaped(&self.text);
        let plain = width::expand_tabs(&plain, 0);
        let (cells, mut rest) = (cells.max(2), plain.as_ref());
        while width::cells(rest) > cells {
            rest = width::split_at(rest, cells).1;
        }
        let column = width::cells(rest);
        // A row that is full is left only by the next character: that one stands on the row below.
        if column == cells {
            "\r".to_owned()
        } else {
            format!("\x1b[A\x1b[{}G", column + 1)
        }
    }
}

/// The text without its escape sequences, which are colours.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            plain.push(c);
            continue;
        }
        if chars.next() == Some('[') {
            let _ = chars.by_ref().find(|c| ('@'..='~').contains(c));
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::Tail;

    fn back(pieces: &[&str]) -> String {
        let mut tail = Tail::default();
        for piece in pieces {
            tail.push(piece);
        }
        tail.back(10)
    }

    #[test]
    fn the_cursor_goes_back_to_the_end_of_the_text() {
        assert_eq!(
            back(&["I write it. "]),
            "\x1b[A\x1b[3G",
            "two cells over the width"
        );
        assert_eq!(back(&["one\ntw", "o"]), "\x1b[A\x1b[4G");
        assert_eq!(back(&["\x1b[1mbold\x1b[0m"]), "\x1b[A\x1b[5G");
        assert_eq!(back(&["日本語"]), "\x1b[A\x1b[7G");
    }

    #[test]
    fn a_row_that_is_just_full_goes_on_below() {
        assert_eq!(back(&["0123456789"]), "\r");
        assert_eq!(back(&["01234567890123456789"]), "\r");
        // The last character does not fit the first row, so it begins the second.
        assert_eq!(back(&["012345678日"]), "\x1b[A\x1b[3G");
    }

    #[test]
    fn after_a_newline_there_is_nothing_to_go_back_to() {
        let mut tail = Tail::default();
        tail.push("a line\n");
        assert!(tail.is_empty());
        tail.push("x");
        assert!(!tail.is_empty());
    }
}
