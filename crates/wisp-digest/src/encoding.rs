//! UTF-16, as Windows PowerShell writes what it redirects, taken to UTF-8: told by its byte order mark, or by a first
//! four letters every other byte of which is zero.

/// What the input's first bytes say of it, and what of a character has come so far.
#[derive(Debug, Default)]
pub(crate) enum Encoding {
    /// Nothing has come yet.
    #[default]
    Unknown,
    /// Bytes have come that may be UTF-16, too few of them to tell.
    Begun(Vec<u8>),
    /// Bytes to be read as they are.
    Bytes,
    /// UTF-16.
    Wide(Wide),
}

/// UTF-16 that may be cut anywhere.
#[derive(Debug)]
pub(crate) struct Wide {
    big_endian: bool,
    /// The first byte of a unit.
    half: Option<u8>,
    /// The first unit of a pair.
    high: Option<u16>,
}

/// What the first bytes tell.
enum Start {
    /// No UTF-16.
    Bytes,
    /// More are needed.
    More,
    /// UTF-16, big-endian or not, after a mark of so many bytes.
    Wide(bool, usize),
}

/// How many bytes without a mark tell UTF-16 from others.
const TOLD: usize = 8;

fn start(bytes: &[u8]) -> Start {
    match bytes {
        [0xFF, 0xFE, ..] => return Start::Wide(false, 2),
        [0xFE, 0xFF, ..] => return Start::Wide(true, 2),
        [0xFE | 0xFF] => return Start::More,
        _ => {}
    }
    let big_endian = bytes.first() == Some(&0);
    let letter = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    let wide = bytes.iter().take(TOLD).enumerate().all(|(at, byte)| {
        if at.is_multiple_of(2) == big_endian {
            *byte == 0
        } else {
            letter(*byte)
        }
    });
    match wide {
        false => Start::Bytes,
        true if bytes.len() < TOLD => Start::More,
        true => Start::Wide(big_endian, 0),
    }
}

impl Encoding {
    /// Takes the next bytes and gives them as UTF-8 to `read`, in one piece or two.
    pub(crate) fn push(&mut self, bytes: &[u8], mut read: impl FnMut(&[u8])) {
        match (&mut *self, bytes) {
            (_, []) => {}
            (Self::Bytes, bytes) => read(bytes),
            (Self::Wide(wide), bytes) => read(wide.text(bytes).as_bytes()),
            (Self::Begun(held), bytes) => {
                held.extend_from_slice(bytes);
                let held = std::mem::take(held);
                self.begin(&held, read);
            }
            (Self::Unknown, bytes) => self.begin(bytes, read),
        }
    }

    /// Decides by the first bytes there are.
    fn begin(&mut self, bytes: &[u8], mut read: impl FnMut(&[u8])) {
        *self = match start(bytes) {
            Start::More => Self::Begun(bytes.to_vec()),
            Start::Bytes => {
                read(bytes);
                Self::Bytes
            }
            Start::Wide(big_endian, mark) => {
                let mut wide = Wide {
                    big_endian,
                    half: None,
                    high: None,
                };
                read(wide.text(&bytes[mark..]).as_bytes());
                Self::Wide(wide)
            }
        };
    }

    /// What was held back at the end of the input.
    pub(crate) fn finish(&mut self, mut read: impl FnMut(&[u8])) {
        match self {
            Self::Begun(held) => read(held),
            Self::Wide(wide) if wide.half.is_some() || wide.high.is_some() => {
                read("\u{FFFD}".as_bytes());
            }
            _ => {}
        }
    }
}

impl Wide {
    fn text(&mut self, bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len());
        for byte in bytes {
            let Some(first) = self.half.take() else {
                self.half = Some(*byte);
                continue;
            };
            let pair = [first, *byte];
            self.unit(
                if self.big_endian {
                    u16::from_be_bytes(pair)
                } else {
                    u16::from_le_bytes(pair)
                },
                &mut text,
            );
        }
        text
    }

    fn unit(&mut self, unit: u16, text: &mut String) {
        match (self.high.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => text.extend(char::decode_utf16([high, unit]).flatten()),
            (lone, _) => {
                text.extend(lone.map(|_| char::REPLACEMENT_CHARACTER));
                match unit {
                    0xD800..=0xDBFF => self.high = Some(unit),
                    _ => text.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Encoding;

    /// What is read of the bytes, in pieces of this many.
    fn read(bytes: &[u8], piece: usize) -> Vec<u8> {
        let (mut encoding, mut found) = (Encoding::default(), Vec::new());
        for part in bytes.chunks(piece) {
            encoding.push(part, |text| found.extend_from_slice(text));
        }
        encoding.finish(|text| found.extend_from_slice(text));
        found
    }

    fn wide(text: &str, big_endian: bool) -> Vec<u8> {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
        units
            .flat_map(|unit: u16| {
                if big_endian {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            })
            .collect()
    }

    #[test]
    fn both_orders_are_read_however_they_are_cut() {
        let text = "error: é 漢 🌊\r\n";
        for piece in [1, 2, 3, 5, 1_000] {
            for big_endian in [false, true] {
                assert_eq!(read(&wide(text, big_endian), piece), text.as_bytes());
            }
        }
    }

    #[test]
    fn without_a_mark_the_first_four_letters_tell() {
        let text = "error: é 漢 🌊\r\n";
        for piece in [1, 3, 8, 9, 1_000] {
            for big_endian in [false, true] {
                assert_eq!(read(&wide(text, big_endian)[2..], piece), text.as_bytes());
            }
        }
        for bytes in [
            &b"e\0r\0r\0o"[..],
            b"e\0r\0r\0\x01\0",
            b"\0e\0r\0rr\0",
            b"\0\0\0\0\0\0\0\0",
            b"er\0\0er\0\0",
            b"abcdefgh\0",
        ] {
            for piece in [1, 1_000] {
                assert_eq!(read(bytes, piece), bytes, "{bytes:?}");
            }
        }
    }

    #[test]
    fn halves_become_the_replacement_character() {
        for (units, text) in [
            (&[0xD83C_u16, 0x0041][..], "\u{FFFD}A"),
            (&[0xDC00, 0x0041], "\u{FFFD}A"),
            (&[0x0041, 0xD83C], "A\u{FFFD}"),
            (&[0xD83C, 0xD83C, 0xDF0A], "\u{FFFD}🌊"),
        ] {
            let bytes: Vec<u8> = [0xFEFF]
                .iter()
                .chain(units)
                .flat_map(|unit| unit.to_le_bytes())
                .collect();
            assert_eq!(read(&bytes, 1), text.as_bytes(), "{units:x?}");
        }
        assert_eq!(read(b"\xFF\xFEA\0B", 2), "A\u{FFFD}".as_bytes());
    }

    #[test]
    fn other_bytes_are_read_as_they_are() {
        for bytes in [
            &b""[..],
            b"\xFF",
            b"\xFE\xFEx",
            b"\xFFx",
            b"x\xFF\xFE",
            b"\xEF\xBB\xBFx",
        ] {
            assert_eq!(read(bytes, 1), bytes);
            assert_eq!(read(bytes, 9), bytes);
        }
    }
}
