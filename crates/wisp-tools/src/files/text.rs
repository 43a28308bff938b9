//! A text file as an edit sees it: without its byte order mark, its line endings known, and put back as they were.

use std::io;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// What kept a file's bytes from being edited as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// A byte order mark of another encoding.
    #[error(
        "is encoded as {0}, which wisp does not edit: convert it with run_command: iconv -f {0} -t UTF-8"
    )]
    Encoding(&'static str),
    /// A NUL byte.
    #[error("appears to be binary: edit_file changes text files only")]
    Binary,
    /// Bytes that are not UTF-8.
    #[error(
        "is not UTF-8 (the first bad byte is at offset {at}; it is likely {likely}): convert it with iconv before and after"
    )]
    NotUtf8 {
        /// Where the first byte is that is no UTF-8, from 0.
        at: usize,
        /// The name of the encoding it likely has.
        likely: &'static str,
    },
}

/// The mark some editors put in front of UTF-8.
pub const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Byte order marks of encodings that are refused by name, longest first.
const FOREIGN_MARKS: &[(&[u8], &str)] = &[
    (b"\xFF\xFE\0\0", "UTF-32LE"),
    (b"\0\0\xFE\xFF", "UTF-32BE"),
    (b"\xFF\xFE", "UTF-16LE"),
    (b"\xFE\xFF", "UTF-16BE"),
];

/// How a file ends its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newline {
    /// `\n`, or mixed: what is written goes in as it is.
    Lf,
    /// Every line ends in `\r\n`.
    CrLf,
}

/// A file's text with what must be put back around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text after any byte order mark.
    pub body: String,
    /// Whether a UTF-8 byte order mark stood in front.
    pub bom: bool,
    /// How its lines end.
    pub newline: Newline,
}

/// What a model can do about an error of the system, starting with `; `, or nothing.
pub fn next_step(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; tell the user that it is not permitted, or use another file",
        io::ErrorKind::NotADirectory => "; a part of the path is a file: give another path",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; the disk is full: tell the user",
        io::ErrorKind::ReadOnlyFilesystem => "; it cannot be written to: use a file elsewhere",
        _ => "",
    }
}

/// The encoding that bytes are in besides UTF-8, by their mark, their zeros or their letters; none when they are UTF-8.
/// Bytes that are cut may end inside a character.
pub fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    if let Some(name) = marked(bytes).or_else(|| wide(bytes)) {
        return Some(name);
    }
    let bad = std::str::from_utf8(bytes).err()?;
    bad.error_len().map(|_| likely(bytes))
}

/// The encoding of a byte order mark that is not UTF-8's.
pub fn marked(bytes: &[u8]) -> Option<&'static str> {
    FOREIGN_MARKS
        .iter()
        .find(|(mark, _)| bytes.starts_with(mark))
        .map(|(_, name)| *name)
}

/// UTF-16 without a mark: of its first letters, every other byte is zero.
pub fn wide(bytes: &[u8]) -> Option<&'static str> {
    let first = &bytes[..bytes.len().min(32) & !1];
    let zeros = |from: usize| first.iter().skip(from).step_by(2).all(|byte| *byte == 0);
    let letters = |from: usize| first.iter().skip(from).step_by(2).all(|byte| *byte != 0);
    if first.len() < 8 {
        None
    } else if zeros(1) && letters(0) {
        Some("UTF-16LE")
    } else if zeros(0) && letters(1) {
        Some("UTF-16BE")
    } else {
        None
    }
}

/// The encoding that bytes which are no UTF-8 likely have, by the letters they would be.
pub fn likely(bytes: &[u8]) -> &'static str {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny).name()
}

impl Text {
    /// Reads a file's bytes. Refuses what is not UTF-8 text, by name where it has one.
    pub fn of(bytes: &[u8]) -> Result<Self, NotText> {
        if let Some(name) = marked(bytes).or_else(|| wide(bytes)) {
            return Err(NotText::Encoding(name));
        }
        let bom = bytes.starts_with(BOM);
        let body = if bom { &bytes[BOM.len()..] } else { bytes };
        if body.contains(&0) {
            return Err(NotText::Binary);
        }
        let body = std::str::from_utf8(body).map_err(|e| NotText::NotUtf8 {
            at: e.valid_up_to(),
            likely: likely(bytes),
        })?;
        Ok(Self {
            body: body.to_owned(),
            bom,
            newline: newline_of(body),
        })
    }

    /// The file's bytes, with the mark put back.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = if self.bom { BOM.to_vec() } else { Vec::new() };
        bytes.extend_from_slice(self.body.as_bytes());
        bytes
    }

    /// A model's text with this file's line endings: models send `\n` whatever the file has.
    pub fn adapt(&self, text: &str) -> String {
        match self.newline {
            Newline::Lf => text.to_owned(),
            Newline::CrLf => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        }
    }
}

fn newline_of(text: &str) -> Newline {
    let all = text.matches('\n').count();
    if all > 0 && text.matches("\r\n").count() == all {
        Newline::CrLf
    } else {
        Newline::Lf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_line_endings_go_round() {
        let bytes = b"\xEF\xBB\xBFa\r\nb\r\n";
        let text = Text::of(bytes).unwrap();
        assert_eq!(
            (text.body.as_str(), text.bom, text.newline),
            ("a\r\nb\r\n", true, Newline::CrLf)
        );
        assert_eq!(text.to_bytes(), bytes);
        assert_eq!(text.adapt("x\ny\r\n"), "x\r\ny\r\n");
    }

    #[test]
    fn mixed_endings_are_left_as_they_are() {
        let text = Text::of(b"a\r\nb\n").unwrap();
        assert_eq!(
            (text.newline, text.adapt("x\ny")),
            (Newline::Lf, "x\ny".to_owned())
        );
    }

    #[test]
    fn other_encodings_are_refused_by_name() {
        assert_eq!(Text::of(b"\xFF\xFEa\0"), Err(NotText::Encoding("UTF-16LE")));
        assert_eq!(Text::of(b"a\0b"), Err(NotText::Binary));
        let error = Text::of(b"caf\xE9 au lait\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "is not UTF-8 (the first bad byte is at offset 3; it is likely windows-1252): convert it with iconv before and after"
        );
    }

    #[test]
    fn the_encoding_is_told_by_mark_zeros_or_letters() {
        for (bytes, name) in [
            (&b"caf\xE9 au lait\n"[..], Some("windows-1252")),
            (
                b"\x93\xFA\x96\x7B\x8C\xEA\x82\xCC\x83\x65\x83\x58\x83\x67\n",
                Some("Shift_JIS"),
            ),
            (b"\xFF\xFEa\0b\0", Some("UTF-16LE")),
            (b"\xFE\xFF\0a", Some("UTF-16BE")),
            (b"a\0b\0c\0d\0\n\0", Some("UTF-16LE")),
            (b"\0a\0b\0c\0d", Some("UTF-16BE")),
            ("größe".as_bytes(), None),
            (b"gr\xC3\xB6\xC3", None),
            (b"plain\n", None),
            (b"", None),
        ] {
            assert_eq!(other_encoding(bytes), name, "{bytes:?}");
        }
    }
}
