//! Takes a line's bytes to the text a reader sees: no escape sequences, no progress frames, no bad UTF-8.

use std::borrow::Cow;

use crate::limits;

/// The line's readable text. Borrowed when there was nothing to take away.
pub(crate) fn clean(raw: &[u8]) -> Cow<'_, str> {
    let raw = &raw[..raw.len().min(limits::LINE)];
    let raw = raw.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(raw);
    let Some(raw) = last_frame(raw) else {
        return Cow::Owned(section_marks(raw));
    };
    if memchr::memchr3(0x1B, 0x08, b'^', raw).is_none() {
        return match std::str::from_utf8(raw) {
            Ok(text) => Cow::Borrowed(text.trim_ascii_end().trim_end()),
            Err(_) => tidy(String::from_utf8_lossy(raw)),
        };
    }
    let plain = without_escapes(raw);
    Cow::Owned(match String::from_utf8(plain) {
        Ok(mut text) => {
            text.truncate(text.trim_end().len());
            text
        }
        Err(odd) => String::from_utf8_lossy(odd.as_bytes()).trim_end().to_owned(),
    })
}

/// A line with `GitLab`'s section marks, `section_start:TIME:NAME` and a carriage return before what is shown: the
/// return parts a mark from what follows it and overwrites nothing.
fn section_marks(raw: &[u8]) -> String {
    let plain = without_escapes(raw);
    let text = String::from_utf8_lossy(&plain);
    let frames: Vec<&str> = text.split('\r').filter(|frame| !frame.is_empty()).collect();
    frames.join(" ").trim_end().to_owned()
}

fn has_section_mark(raw: &[u8]) -> bool {
    memchr::memmem::find(raw, b"section_").is_some_and(|at| {
        [&b"section_start:"[..], b"section_end:"]
            .iter()
            .any(|mark| raw[at..].starts_with(mark))
    })
}

fn tidy(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_end()),
        Cow::Owned(text) => Cow::Owned(text.trim_end().to_owned()),
    }
}

/// What stands on the line after its last carriage return, as a terminal would leave it. None for a line of section
/// marks.
fn last_frame(raw: &[u8]) -> Option<&[u8]> {
    let mut raw = raw;
    while let Some(shorter) = raw.strip_suffix(b"\r") {
        raw = shorter;
    }
    match memchr::memrchr(b'\r', raw) {
        Some(_) if has_section_mark(raw) => None,
        Some(at) => Some(&raw[at + 1..]),
        None => Some(raw),
    }
}

fn without_escapes(raw: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        match raw[at] {
            0x1B => at += escape_length(&raw[at..]),
            b'^' if written_escape(&raw[at..]) > 0 => at += written_escape(&raw[at..]),
            0x08 => {
                plain.pop();
                at += 1;
            }
            byte => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    plain
}

/// The length of a colour or an erasure at the start of `raw` whose escape is written as `^[`, as `cat -v` and some logs do;
/// 0 where there is none.
fn written_escape(raw: &[u8]) -> usize {
    let Some(rest) = raw.strip_prefix(b"^[[") else {
        return 0;
    };
    let end = rest
        .iter()
        .position(|byte| !byte.is_ascii_digit() && *byte != b';');
    end.filter(|end| matches!(rest[*end], b'm' | b'K'))
        .map_or(0, |end| end + 4)
}

/// The length of the escape sequence at the start of `raw`, at least 1.
fn escape_length(raw: &[u8]) -> usize {
    match raw.get(1) {
        Some(b'[') => control_length(raw),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => string_length(raw),
        Some(0x20..=0x2F) => 3.min(raw.len()),
        Some(_) => 2,
        None => 1,
    }
}

fn control_length(raw: &[u8]) -> usize {
    let end = raw.iter().skip(2).position(|byte| !(0x20..=0x3F).contains(byte));
    end.map_or(raw.len(), |end| end + 3)
}

/// A title or link ends at BEL or `ESC \`; one that does not end swallows nothing but its opening.
fn string_length(raw: &[u8]) -> usize {
    for (at, byte) in raw.iter().enumerate().skip(2) {
        match byte {
            0x07 => return at + 1,
            0x1B => {
                return if raw.get(at + 1) == Some(&b'\\') {
                    at + 2
                } else {
                    at
                };
            }
            _ => {}
        }
    }
    2
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn colour_inside_a_word_goes() {
        assert_eq!(clean(b"\x1b[31mer\x1b[1mror\x1b[0m: boom"), "error: boom");
    }

    #[test]
    fn the_last_frame_stays() {
        assert_eq!(clean(b" 10%\r 50%\r100% done\r\r"), "100% done");
    }

    #[test]
    fn a_link_keeps_its_text() {
        assert_eq!(
            clean(b"see \x1b]8;;http://x\x1b\\the manual\x1b]8;;\x1b\\ first"),
            "see the manual first"
        );
    }

    #[test]
    fn a_title_that_never_ends_swallows_only_its_opening() {
        assert_eq!(clean(b"\x1b]0;error: x"), "0;error: x");
    }

    #[test]
    fn section_marks_stay_before_what_they_head() {
        assert_eq!(
            clean(b"\x1b[0Ksection_start:1717171717:step_script\r\x1b[0K\x1b[36;1mExecuting\x1b[0;m\r"),
            "section_start:1717171717:step_script Executing"
        );
        assert_eq!(
            clean(b"section_end:1:a\r\x1b[0Ksection_start:2:b\r\x1b[0K"),
            "section_end:1:a section_start:2:b"
        );
        assert_eq!(clean(b"the section_a 10%\r100%"), "100%");
    }

    #[test]
    fn bad_bytes_become_the_replacement_character() {
        assert_eq!(clean(b"a\xFFb"), "a\u{FFFD}b");
    }

    #[test]
    fn a_byte_order_mark_goes() {
        assert_eq!(clean("\u{FEFF}first".as_bytes()), "first");
    }
}
