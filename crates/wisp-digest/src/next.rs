//! The line after the one being read, as the reader would be shown it.
//!
//! It is the next line of the input, and that is the next of the reader's stream only if it has the stream's label, or
//! none where the stream has none. The next line of one of several streams may be far away: then nothing is said of
//! it. What is said depends on the two lines alone, never on how the input came.

use std::borrow::Cow;

use crate::block::Block;
use crate::clean::clean;
use crate::cues::Cues;
use crate::prefix::{self, Parts};

/// What comes after a line. Nothing is looked at before a reader asks.
#[derive(Clone, Copy)]
pub(crate) enum Next<'a> {
    /// After the line that these are the cues of.
    Of(&'a Cues<'a>),
    /// After a line without a prefix that ends in the block at that byte, but for blanks.
    Within(&'a Block<'a>, usize),
}

/// Where the next line lies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// After the line that ends in the block at that byte, but for blanks.
    Block(&'a Block<'a>, usize),
    /// By itself; none at the end of the input.
    Apart(Option<&'a [u8]>),
    /// Nobody knows, after a part of a line.
    Unknown,
}

/// How many blanks lead.
fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte == b' ').count()
}

/// The label of the stream that a line taken apart belongs to, if it has one of its own.
pub(crate) fn stream<'a>(parts: &Parts<'a>) -> Option<&'a str> {
    parts.label.or(parts.program.map(|(program, _)| program))
}

/// What is known of the next line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Coming<'a> {
    /// It is the stream's: its text without colour, frames and prefix.
    Line(Cow<'a, str>),
    /// How the stream goes on is not known: the line is another stream's.
    Unknown,
    /// There is none: the input ends.
    End,
}

impl<'a> Next<'a> {
    /// Where the line lies, and the label of the stream that asks.
    #[inline]
    fn place(self) -> (Place<'a>, Option<&'a str>) {
        match self {
            Self::Of(cues) => (cues.next_place(), cues.stream()),
            Self::Within(block, end) => (Place::Block(block, end), None),
        }
    }

    /// Whether the line is the stream's and this is what it says after a blank or more. Asked of thousands of lines,
    /// it looks at no more of a plain one than that.
    #[inline]
    pub(crate) fn is_indented<const N: usize>(self, start: &[u8; N]) -> bool {
        if let (Place::Block(block, end), None) = self.place()
            && let Some([b' ', lines @ ..]) = block.plain_after(end)
        {
            let text = &lines[blanks(lines)..];
            match (text.first_chunk() == Some(start), text.get(N)) {
                (false, _) => return false,
                (true, Some(0x21..=0x7E)) => return true,
                _ => {}
            }
        }
        self.has_indented(start)
    }

    fn has_indented(self, start: &[u8]) -> bool {
        let Coming::Line(text) = self.line() else {
            return false;
        };
        let blanks = blanks(text.as_bytes());
        blanks > 0 && text.as_bytes()[blanks..].starts_with(start)
    }

    /// The line, cleaned and without its prefix.
    pub(crate) fn line(self) -> Coming<'a> {
        let (place, stream) = self.place();
        let text = match place {
            Place::Block(block, end) => block.after(end),
            Place::Apart(Some(line)) => clean(line),
            Place::Apart(None) => return Coming::End,
            Place::Unknown => return Coming::Unknown,
        };
        if stream.is_none() && !prefix::may_have_one(&text, true) {
            return Coming::Line(text);
        }
        let shown = match text {
            Cow::Borrowed(text) => shown(text, stream).map(Cow::Borrowed),
            Cow::Owned(text) => shown(&text, stream).map(|text| Cow::Owned(text.to_owned())),
        };
        shown.map_or(Coming::Unknown, Coming::Line)
    }
}

/// What the stream of that label is shown of the line, if it is its own.
fn shown<'a>(text: &'a str, of: Option<&str>) -> Option<&'a str> {
    let parts = prefix::split(text);
    let (marks, _) = prefix::section_marks(parts.text);
    let text = match marks {
        "" => prefix::unmatched(parts.written()),
        marks => marks,
    };
    (stream(&parts) == of).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{Coming, Place};
    use crate::block;
    use crate::cues::Cues;
    use crate::literals::Literals;

    /// What is asked of the next line of a stream's.
    fn asked<T>(place: &Place<'_>, stream: Option<&str>, ask: impl FnOnce(super::Next<'_>) -> T) -> T {
        let none = Literals::new(std::iter::empty());
        let mut cues = Cues::alone(&none, b"x", place);
        cues.belong_to(stream);
        ask(cues.next())
    }

    fn coming(line: &str, stream: Option<&'static str>) -> Option<String> {
        let place = Place::Apart(Some(line.as_bytes()));
        asked(&place, stream, |next| match next.line() {
            Coming::Line(text) => Some(text.into_owned()),
            Coming::Unknown => None,
            Coming::End => panic!("there is a line"),
        })
    }

    #[test]
    fn the_next_line_has_neither_colour_nor_prefix() {
        for (line, stream, text) in [
            (" --> a.rs:1:2 ", None, " --> a.rs:1:2"),
            ("", None, ""),
            ("10%\r\x1b[31m --> a\x1b[0m\r", None, " --> a"),
            ("2026-03-02T10:14:07.0138781Z  --> a", None, " --> a"),
            ("[web]  --> a", Some("web"), " --> a"),
            ("\x1b[1m[web]\x1b[0m  --> a", Some("web"), " --> a"),
            ("#12 3.412   --> a", Some("#12"), "  --> a"),
            (
                "Mar  2 10:14:07 host tern[812]:  --> a",
                Some("tern[812]"),
                " --> a",
            ),
            ("##[error]a.c:1:2: error: x", None, "a.c:1:2: error: x"),
            ("section_start:17:a\r\x1b[0KCompile", None, "section_start:17:a"),
        ] {
            assert_eq!(coming(line, stream).as_deref(), Some(text), "{line:?}");
        }
    }

    #[test]
    fn an_indented_line_is_known_wherever_it_lies() {
        for (line, indented) in [
            (" --> a", true),
            ("   --> a\r", true),
            ("\x1b[1m  --> a", true),
            ("--> a", false),
            ("  -->", false),
            ("  --> ", false),
            ("  --> \u{a0}", false),
            ("  --> é", true),
            ("  ->", false),
            ("10:14:07 --> a", false),
            ("2026-03-02T10:14:07.0138781Z  --> a", true),
            ("[web]  --> a", false),
            ("", false),
        ] {
            let is = |place: &Place<'_>| asked(place, None, |next| next.is_indented(b"--> "));
            assert_eq!(is(&Place::Apart(Some(line.as_bytes()))), indented, "{line:?}");
            let lines = format!("x \n{line}\ny\n");
            for end in [lines.len() - 2, 3] {
                let block = block::next(lines.as_bytes(), end);
                assert_eq!(is(&Place::Block(&block, 1)), indented, "{line:?}");
            }
        }
    }

    #[test]
    fn of_another_streams_line_nothing_is_said() {
        for (line, stream) in [
            ("[api]  --> a", Some("web")),
            ("[web]  --> a", None),
            (" --> a", Some("web")),
            ("Mar  2 10:14:07 host tern[813]:  --> a", Some("tern[812]")),
        ] {
            assert_eq!(coming(line, stream), None, "{line:?}");
        }
        for (place, coming) in [
            (Place::Apart(None), Coming::End),
            (Place::Unknown, Coming::Unknown),
        ] {
            asked(&place, None, |next| assert_eq!(next.line(), coming));
        }
    }
}
