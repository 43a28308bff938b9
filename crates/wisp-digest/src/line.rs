//! One line as a reader sees it, and the small questions readers ask of text.

use crate::digest::{Location, Quote, Span};
use crate::find::Find;
use crate::limits;
use crate::near::{near, near_either, near_quote};

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
        without_indent(self.text)
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

/// The text without the blanks before it, of whatever kind.
pub(crate) fn without_indent(text: &str) -> &str {
    let blanks = text.bytes().take_while(|byte| *byte == b' ').count();
    match text.as_bytes().get(blanks) {
        Some(0x21..=0x7E) => &text[blanks..],
        _ => text.trim_start(),
    }
}

/// Whether the line says this itself: it is not a string, a comment or a quotation in somebody's source.
pub(crate) fn states(text: &str, phrase: &str) -> bool {
    stated(text, phrase).is_some()
}

/// What follows the phrase where the line says it itself.
pub(crate) fn stated<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let at = text.place_of(phrase)?;
    let before = text[..at].bytes().next_back();
    let quoted = matches!(before, Some(b'"' | b'\'' | b'`' | b'(')) || is_quotation(text);
    // `Child returned` is not the linker's `ld returned`.
    let within = phrase.starts_with(|first: char| first.is_ascii_lowercase())
        && before.is_some_and(|byte| byte.is_ascii_alphanumeric());
    (!quoted && !within).then(|| &text[at + phrase.len()..])
}

/// A string or a comment on a line of source.
pub(crate) fn is_quotation(text: &str) -> bool {
    let body = without_indent(text).as_bytes();
    matches!(body, [b'"', ..] | [b'/', b'/', ..])
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
    let (_, rest) = text.part_at(open)?;
    rest.part_at(close).map(|(inside, _)| inside)
}

/// The digits at the start of `text` as a number, with what follows them.
pub(crate) fn leading_number(text: &str) -> Option<(u64, &str)> {
    let bytes = text.as_bytes();
    let mut number = 0_u64;
    let mut end = 0;
    while let Some(digit @ b'0'..=b'9') = bytes.get(end) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        end += 1;
    }
    // Nineteen digits are always a number of 64 bits.
    if end > 19 {
        number = long_number(&text[..end])?;
    }
    (end > 0).then(|| (number, &text[end..]))
}

#[cold]
#[inline(never)]
fn long_number(digits: &str) -> Option<u64> {
    digits.parse().ok()
}

/// The number that stands directly before ` word` in a tally line, such as the 3 of `3 failed`.
pub(crate) fn number_before(text: &str, word: &str) -> Option<u64> {
    let mut from = 0;
    while let Some(found) = text[from..].place_of(word) {
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
    let (_, rest) = text.part_at(word)?;
    leading_number(rest.trim_start_matches([' ', '\t', ':'])).map(|(number, _)| number)
}

/// The first text in quotation marks of any kind, straight, curly or backticks.
pub(crate) fn quoted(text: &str) -> Option<&str> {
    let open = opening(text)?;
    if text.as_bytes()[open] >= 0x80 {
        return curly(&text[open..]);
    }
    let rest = &text[open + 1..];
    let end = match text.as_bytes()[open] {
        b'`' => near_either(b'`', b'\'', rest.as_bytes()),
        same => near(same, rest.as_bytes(), 0),
    }?;
    Some(&rest[..end])
}

/// Where the first quotation mark is that opens.
fn opening(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mark = near_quote(bytes)?;
    if bytes[mark].is_ascii() {
        return Some(mark);
    }
    text[mark..]
        .find(['`', '\'', '"', '‘', '“', '«'])
        .map(|at| mark + at)
}

/// What stands in the curly quotation marks that the text begins with.
fn curly(text: &str) -> Option<&str> {
    let open = text.chars().next()?;
    let rest = &text[open.len_utf8()..];
    let close = match open {
        '‘' => '’',
        '“' => '”',
        _ => '»',
    };
    rest.find(close).map(|end| &rest[..end])
}

/// A place in a source file, not yet copied out of the line.
///
/// It hashes as the [`Location`] does that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place<'a> {
    pub path: &'a str,
    pub line: Option<u64>,
    pub column: Option<u64>,
}

impl<'a> Place<'a> {
    /// The place of a location.
    pub(crate) fn of(location: &'a Location) -> Self {
        Self {
            path: &location.path,
            line: location.line,
            column: location.column,
        }
    }

    /// The place on its own.
    pub(crate) fn location(&self) -> Location {
        Location {
            path: self.path.to_owned(),
            line: self.line,
            column: self.column,
        }
    }
}

/// `PATH:LINE[:COL]` at the start of `text`, with what follows it.
///
/// A path may have a drive letter; it has blanks only when it is plainly a path (`/…`, `C:\…`, `./…`).
pub(crate) fn place_at_start(text: &str) -> Option<(Location, &str)> {
    place(text).map(|(place, rest)| (place.location(), rest))
}

/// As [`place_at_start`], without a copy of the path.
pub(crate) fn place(text: &str) -> Option<(Place<'_>, &str)> {
    let bytes = text.as_bytes();
    let from = drive_length(text);
    let plain = from > 0 || is_rooted(bytes);
    let head = &bytes[..bytes.len().min(PATH)];
    let mut colons = false;
    let mut at = from;
    loop {
        at = near(b':', head, at)?;
        match bytes.get(at + 1) {
            Some(b'0'..=b'9') => break,
            Some(b' ') => return None,
            _ => colons = true,
        }
        at += 1;
    }
    if !plain && any_of(&ODD_IN_PATH, &bytes[from..at]) {
        return None;
    }
    if at == 0 {
        return None;
    }
    let path = &text[..at];
    let (line, rest) = leading_number(&text[at + 1..])?;
    if colons && path.has("://") {
        return None;
    }
    let (column, rest) = column_at_start(rest);
    let line = Some(line);
    Some((Place { path, line, column }, rest))
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

/// `/…` and `./…`, but not `// …`, with which comments begin.
fn is_rooted(path: &[u8]) -> bool {
    matches!(path, [b'/' | b'.', ..]) && !path.starts_with(b"//")
}

fn is_path(path: &str) -> bool {
    let bytes = path.as_bytes();
    if bytes.is_empty() || bytes.len() >= PATH {
        return false;
    }
    let plain = drive_length(path) > 0 || is_rooted(bytes);
    (plain || !bytes.iter().any(|byte| ODD_IN_PATH[usize::from(*byte)])) && !path.has("://")
}

/// A path has fewer bytes.
const PATH: usize = 1_024;

/// Whether any of the bytes is in a table. All are looked at, which is sooner done than asking after each, and eight by
/// eight.
pub(crate) fn any_of(table: &[bool; 256], bytes: &[u8]) -> bool {
    let any = |any, byte: &u8| any | table[usize::from(*byte)];
    let (words, rest) = bytes.as_chunks::<8>();
    let found = words
        .iter()
        .fold(false, |found, word| word.iter().fold(found, any));
    rest.iter().fold(found, any)
}

/// Bytes that a relative path does not have: blanks, quotes, an opening parenthesis, an equals sign.
static ODD_IN_PATH: [bool; 256] = table(b" \t\"'`(=");

/// Which bytes are among these.
const fn table(mut bytes: &[u8]) -> [bool; 256] {
    let mut among = [false; 256];
    while let [byte, rest @ ..] = bytes {
        among[*byte as usize] = true;
        bytes = rest;
    }
    among
}

/// Whether the path ends in one of the extensions.
pub(crate) fn has_extension(path: &str, extensions: &[&str]) -> bool {
    let bytes = path.as_bytes();
    let dot = bytes.iter().rposition(|byte| *byte == b'.');
    dot.is_some_and(|dot| {
        let end = &bytes[dot + 1..];
        extensions.iter().any(|each| each.as_bytes() == end)
    })
}

#[cfg(test)]
mod tests {
    use super::{leading_number, quoted};

    #[test]
    fn a_number_leads_as_long_as_it_is_one() {
        for (text, found) in [
            ("12: x", Some((12, ": x"))),
            ("0", Some((0, ""))),
            ("x1", None),
            ("", None),
            ("9999999999999999999.", Some((9_999_999_999_999_999_999, "."))),
            ("18446744073709551615é", Some((u64::MAX, "é"))),
            ("18446744073709551616", None),
            ("00000000000000000000001 ", Some((1, " "))),
        ] {
            assert_eq!(leading_number(text), found, "{text}");
        }
    }

    #[test]
    fn the_first_quotation_is_found_whatever_its_marks_are() {
        for (text, found) in [
            ("cannot find value `x12` in this scope", Some("x12")),
            ("cannot find value `x12' in this scope", Some("x12")),
            ("'a' is not \"b\"", Some("a")),
            (
                "a name of more than one word: \"the deep end\"",
                Some("the deep end"),
            ),
            ("é “ä” `x`", Some("ä")),
            ("‘depth_1’ undeclared", Some("depth_1")),
            ("« x » 'y'", Some(" x ")),
            ("naïve `x` and “y”", Some("x")),
            ("naïve", None),
            ("`x", None),
            ("“x", None),
            ("nothing is quoted here", None),
            ("", None),
        ] {
            assert_eq!(quoted(text), found, "{text}");
        }
    }
}
