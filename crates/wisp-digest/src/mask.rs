//! From a message to its template: what varies between two messages of one kind is replaced by a mark.
//!
//! Words stay, so that "reading" and "writing" are two templates; numbers, addresses, identifiers and hex go.

/// Writes the template of `text` into `out`. What stays is copied in stretches.
pub(crate) fn mask(text: &str, out: &mut String) {
    out.clear();
    let bytes = text.as_bytes();
    let (mut at, mut kept) = (0, 0);
    let mut path_before = false;
    while let Some(first) = bytes.get(at) {
        let class = class(*first);
        let (mut end, classes) = run(bytes, at, class);
        if class == BLANK && (end > at + 1 || *first != b' ') {
            out.push_str(&text[kept..at]);
            out.push(' ');
            kept = end;
        } else if class == PART {
            let whole = end;
            end = trim_end(bytes, at, end);
            let token = &text[at..end];
            let in_path = at > 0 && bytes[at - 1] == b'/';
            let status = path_before && !in_path && is_status(token);
            path_before = in_path;
            if classes & DIGIT == 0 {
                // What was trimmed off stays too, and is in no path.
                path_before &= end == whole;
                end = whole;
            } else if !status {
                out.push_str(&text[kept..at]);
                write_token(token, out);
                kept = end;
            }
        }
        at = end;
    }
    out.push_str(&text[kept..]);
}

/// A blank or a tab; many of them are one.
const BLANK: u8 = 1;
/// A part of a token that may be an identifier, an address or a number with a unit.
const PART: u8 = 2;
/// A digit, which is such a part.
const DIGIT: u8 = 4;

/// What a byte may belong to; zero is anything else.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b' ' | b'\t' => BLANK,
            b'0'..=b'9' => PART | DIGIT,
            b'A'..=b'Z' | b'a'..=b'z' | b'.' | b'-' | b'_' => PART,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// The class of a byte, digits being parts like others.
fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)] & !DIGIT
}

/// Where the bytes of one class end that begin at `at`, and what they are together.
fn run(bytes: &[u8], at: usize, class: u8) -> (usize, u8) {
    let (mut end, mut classes) = (at, 0);
    while let Some(byte) = bytes.get(end) {
        let next = CLASSES[usize::from(*byte)];
        if next & !DIGIT != class {
            break;
        }
        classes |= next;
        end += 1;
    }
    (end, classes)
}

/// A full stop or dash at the end of a token belongs to the sentence; a token is at least one byte.
fn trim_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let mut end = end;
    while end > start + 1 && matches!(bytes[end - 1], b'.' | b'-' | b'_') {
        end -= 1;
    }
    end
}

/// An HTTP status matters: 200 and 500 are different messages.
fn is_status(token: &str) -> bool {
    token.len() == 3
        && token.bytes().all(|byte| byte.is_ascii_digit())
        && (b'1'..=b'5').contains(&token.as_bytes()[0])
}

/// Writes what stands for a token with a digit in it.
fn write_token(token: &str, out: &mut String) {
    let bytes = token.as_bytes();
    if is_uuid(bytes) {
        out.push_str("<uuid>");
    } else if let Some(unit) = number_unit(token) {
        out.push_str("<n>");
        out.push_str(unit);
    } else if is_hex(bytes) {
        out.push_str("<hex>");
    } else if is_identifier(bytes) {
        out.push_str("<id>");
    } else {
        mask_digits(token, out);
    }
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A number, dotted or not, with a short unit: the unit.
fn number_unit(token: &str) -> Option<&str> {
    let bytes = token.as_bytes();
    let dashes = bytes.iter().take_while(|byte| **byte == b'-').count();
    let number = bytes[dashes..]
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-'))
        .count();
    let rest = &token[dashes + number..];
    let starts = bytes.get(dashes).is_some_and(u8::is_ascii_digit);
    (starts && rest.len() <= 3 && rest.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some(rest)
}

fn is_hex(bytes: &[u8]) -> bool {
    let digits = bytes.strip_prefix(b"0x").unwrap_or(bytes);
    digits.len() >= 6 && digits.iter().all(u8::is_ascii_hexdigit)
        || bytes.len() > 2 && bytes.starts_with(b"0x") && digits.iter().all(u8::is_ascii_hexdigit)
}

/// A long run of letters and digits that changes between them often enough to be no word.
fn is_identifier(bytes: &[u8]) -> bool {
    let longest = bytes
        .split(|byte| !byte.is_ascii_alphanumeric())
        .max_by_key(|part| part.len());
    longest.is_some_and(|part| {
        let changes = part
            .windows(2)
            .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
            .count();
        part.len() >= 12 && changes >= 2
    })
}

fn mask_digits(token: &str, out: &mut String) {
    let mut in_number = false;
    for each in token.chars() {
        if !each.is_ascii_digit() {
            out.push(each);
        } else if !in_number {
            out.push_str("<n>");
        }
        in_number = each.is_ascii_digit();
    }
}

#[cfg(test)]
mod tests {
    use super::mask;

    fn masked(text: &str) -> String {
        let mut out = String::new();
        mask(text, &mut out);
        out
    }

    #[test]
    fn what_varies_is_marked_and_words_stay() {
        for (text, template) in [
            (
                "timeout reading gauge 11 after 2469ms",
                "timeout reading gauge <n> after <n>ms",
            ),
            (
                "GET /tides/3356 200 24ms client=10.100.196.77 req=0bd5482a90a29b9f",
                "GET /tides/<n> 200 <n>ms client=<n> req=<hex>",
            ),
            (
                "job b4a829a9-5249-f512-c17b-8ed411fa644d done.",
                "job <uuid> done.",
            ),
            ("key error_table:7ebb8e3b warmed", "key error_table:<hex> warmed"),
            ("worker3 at 0x7f00", "worker<n> at <hex>"),
            ("retry 5/5", "retry <n>/<n>"),
        ] {
            assert_eq!(masked(text), template);
        }
    }
}
