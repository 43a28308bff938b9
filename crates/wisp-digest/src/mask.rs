//! From a message to its template: what varies between two messages of one kind is replaced by a mark.
//!
//! Words stay, so that "reading" and "writing" are two templates; numbers, addresses, identifiers and hex go.

/// Writes the template of `text` into `out`. What stays is copied in stretches.
pub(crate) fn mask(text: &str, out: &mut String) {
    out.clear();
    let bytes = text.as_bytes();
    let (mut at, mut kept) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let class = CLASSES[usize::from(*byte)];
        if class & DIGIT != 0 {
            let start = at - back(bytes, at, PART);
            let whole = at + run(bytes, at, PART);
            let end = trim_end(bytes, start, whole);
            let token = &text[start..end];
            if !(is_status(token) && ends_path(bytes, start)) {
                out.push_str(&text[kept..start]);
                write_token(token, out);
                kept = end;
            }
            at = whole;
        } else if class & BLANK != 0 {
            let end = at + run(bytes, at, BLANK);
            if end > at + 1 || *byte != b' ' {
                out.push_str(&text[kept..at]);
                out.push(' ');
                kept = end;
            }
            at = end;
        } else {
            at += 1;
        }
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

fn is(class: u8, byte: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// How many bytes of a class stand from `at` on.
fn run(bytes: &[u8], at: usize, class: u8) -> usize {
    bytes[at..].iter().take_while(|byte| is(class, **byte)).count()
}

/// How many bytes of a class stand just before `at`.
fn back(bytes: &[u8], at: usize, class: u8) -> usize {
    let before = bytes[..at].iter().rev();
    before.take_while(|byte| is(class, **byte)).count()
}

/// Whether what stands before the token is the end of a path: a token after a slash, as the token is not.
fn ends_path(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[..start];
    let Some(last) = before.iter().rposition(|byte| is(PART, *byte)) else {
        return false;
    };
    let length = back(bytes, last + 1, PART);
    let whole = length == 1 || !is_joint(bytes[last]);
    let slash = |end: usize| bytes[..end].last() == Some(&b'/');
    whole && slash(last + 1 - length) && !slash(start)
}

/// A full stop or dash at the end of a token belongs to the sentence; a token is at least one byte.
fn trim_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let mut end = end;
    while end > start + 1 && is_joint(bytes[end - 1]) {
        end -= 1;
    }
    end
}

fn is_joint(byte: u8) -> bool {
    matches!(byte, b'.' | b'-' | b'_')
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
