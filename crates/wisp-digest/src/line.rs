//! One line as a reader sees it, and the small questions readers ask of text.

use crate::digest::{Location, Quote, Span};
use crate::limits;

/// A line without colour, carriage returns and prefixes, with its number in the input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// The cleaned text; its indentation is kept, what trails is not.
    pub text: &'a str,
}

impl<'a> Line<'a> {
    /// The text without its indentation.
    pub(crate) fn body(&self) -> &'a str {
        self.text.trim_start()
    }

    /// How many bytes of blanks lead.
    pub(crate) fn indent(&self) -> usize {
        self.text.len() - self.body().len()
    }

    /// Whether nothing is on it.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// The line as a quotation.
    pub(crate) fn quote(&self) -> Quote {
        Quote {
            line: self.number,
            text: cut(self.text, limits::QUOTE).to_owned(),
        }
    }

    /// The line as a span.
    pub(crate) fn span(&self) -> Span {
        Span::line(self.number)
    }
}

/// The longest start of `text` of at most `most` bytes that ends between characters.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// What stands between the first `open` and the first `close` after it.
pub(crate) fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inside, _)| inside)
}

/// The digits at the start of `text` as a number, with what follows them.
pub(crate) fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .bytes()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}

/// The number that stands directly before ` word` in a tally line, such as the 3 of `3 failed`.
pub(crate) fn number_before(text: &str, word: &str) -> Option<u64> {
    let mut from = 0;
    while let Some(found) = text[from..].find(word) {
        let at = from + found;
        let end = at + word.len();
        let whole = !text[end..].starts_with(|next: char| next.is_ascii_alphanumeric());
        let before = text[..at].trim_end_matches(' ');
        let digits = before
            .rfind(|each: char| !each.is_ascii_digit())
            .map_or(0, |last| {
                last + before[last..].chars().next().map_or(1, char::len_utf8)
            });
        if whole && before.len() < at && digits < before.len() {
            return before[digits..].parse().ok();
        }
        from = end;
    }
    None
}

/// The number that stands after `word` and blanks, such as the 1 of `Failures: 1`.
pub(crate) fn number_after(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.split_once(word)?;
    leading_number(rest.trim_start_matches([' ', '\t', ':'])).map(|(number, _)| number)
}

/// The first text in quotation marks of any kind, straight, curly or backticks.
pub(crate) fn quoted(text: &str) -> Option<&str> {
    let open = text.find(['`', '\'', '"', '‘', '“', '«'])?;
    let mark = text[open..].chars().next()?;
    let rest = &text[open + mark.len_utf8()..];
    let end = match mark {
        '`' => rest.find(['`', '\'']),
        '‘' => rest.find('’'),
        '“' => rest.find('”'),
        '«' => rest.find('»'),
        same => rest.find(same),
    }?;
    Some(&rest[..end])
}

/// `PATH:LINE[:COL]` at the start of `text`, with what follows it.
///
/// A path may have a drive letter; it has blanks only when it is plainly a path (`/…`, `C:\…`, `./…`).
pub(crate) fn place_at_start(text: &str) -> Option<(Location, &str)> {
    let from = drive_length(text);
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += memchr::memchr(b':', &bytes[at..])?;
        let after = &text[at + 1..];
        if after.starts_with(|next: char| next.is_ascii_digit()) {
            break;
        }
        if after.starts_with(' ') {
            return None;
        }
        at += 1;
    }
    let path = &text[..at];
    let (line, rest) = leading_number(&text[at + 1..])?;
    if !is_path(path) {
        return None;
    }
    let (column, rest) = column_at_start(rest);
    let location = Location {
        path: path.to_owned(),
        line: Some(line),
        column,
    };
    Some((location, rest))
}

fn drive_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let drive = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'\\' | b'/');
    if drive { 2 } else { 0 }
}

fn column_at_start(rest: &str) -> (Option<u64>, &str) {
    match rest.strip_prefix(':').and_then(leading_number) {
        Some((column, after)) => (Some(column), after),
        None => (None, rest),
    }
}

/// `PATH(LINE[,COL])` at the start of `text`, with what follows it.
pub(crate) fn paren_place_at_start(text: &str) -> Option<(Location, &str)> {
    let mut from = 0;
    loop {
        let open = from + memchr::memchr(b'(', &text.as_bytes()[from..])?;
        if let Some(found) = paren_place(&text[..open], &text[open + 1..]) {
            return Some(found);
        }
        from = open + 1;
    }
}

fn paren_place<'a>(path: &str, after: &'a str) -> Option<(Location, &'a str)> {
    let (line, rest) = leading_number(after)?;
    let (column, rest) = match rest.strip_prefix(',').and_then(leading_number) {
        Some((column, rest)) => (Some(column), rest),
        None => (None, rest),
    };
    let rest = rest
        .trim_start_matches(|each: char| each == ',' || each.is_ascii_digit())
        .strip_prefix(')')?;
    is_path(path).then(|| {
        (
            Location {
                path: path.to_owned(),
                line: Some(line),
                column,
            },
            rest,
        )
    })
}

fn is_path(path: &str) -> bool {
    let bytes = path.as_bytes();
    if bytes.is_empty() || bytes.len() >= 1_024 {
        return false;
    }
    let plain = matches!(bytes[0], b'/' | b'.') || drive_length(path) > 0;
    let odd = |byte: &u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'(' | b'=');
    (plain || !bytes.iter().any(odd)) && !path.contains("://")
}

/// Whether the path ends in one of the extensions.
pub(crate) fn has_extension(path: &str, extensions: &[&str]) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, end)| extensions.contains(&end))
}
