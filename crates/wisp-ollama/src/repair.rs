//! JSON that is damaged in ways a reply must not be lost for.
//!
//! A model writes tokens, and a token may be half a character or half a surrogate pair; servers and proxies pass it on
//! as it is. Some write numbers that JSON does not have, or a key twice. Text is read strictly first; only what cannot
//! be read is repaired and read once more, so that good lines cost nothing.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads JSON, repaired where it has to be: bytes that are not UTF-8 and halves of surrogate pairs are U+FFFD, control
/// characters inside strings are escaped, `NaN` and `Infinity` are null, and of a key given twice the last one counts.
/// The error is that of the text as it came.
pub(crate) fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(bytes).or_else(|strict| {
        let text = repaired(&String::from_utf8_lossy(bytes));
        let value: Value = serde_json::from_str(&text).map_err(|_| strict)?;
        serde_json::from_value(value)
    })
}

/// The text with everything repaired that JSON forbids and that has one meaning.
fn repaired(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_string = false;
    while let Some(char) = rest.chars().next() {
        let (taken, written) = if in_string {
            in_string = char != '"';
            inside(rest, char)
        } else {
            in_string = char == '"';
            outside(rest, char)
        };
        match written {
            Some(written) => out.push_str(&written),
            None => out.push_str(&rest[..taken]),
        }
        rest = &rest[taken..];
    }
    out
}

/// How many bytes are taken within a string, and what stands in their place; none for themselves.
fn inside(rest: &str, char: char) -> (usize, Option<String>) {
    if char.is_ascii_control() && char != '\u{7f}' {
        return (1, Some(format!("\\u{:04x}", u32::from(char))));
    }
    if char != '\\' {
        return (char.len_utf8(), None);
    }
    match unit(rest) {
        Some(0xD800..=0xDBFF) => match unit(&rest[6..]) {
            Some(0xDC00..=0xDFFF) => (12, None),
            _ => (6, Some("\u{fffd}".to_owned())),
        },
        Some(0xDC00..=0xDFFF) => (6, Some("\u{fffd}".to_owned())),
        Some(_) => (6, None),
        None => (1 + rest[1..].chars().next().map_or(0, char::len_utf8), None),
    }
}

/// The number of a `\uXXXX` at the beginning of a text.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The same outside of strings.
fn outside(rest: &str, char: char) -> (usize, Option<String>) {
    let found = ["NaN", "-Infinity", "Infinity"]
        .into_iter()
        .find(|word| rest.starts_with(word));
    match found {
        Some(word) => (word.len(), Some("null".to_owned())),
        None => (char.len_utf8(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::from_slice;
    use serde_json::{Value, json};

    #[test]
    fn what_is_damaged_in_one_way_only_is_read() {
        let table: [(&[u8], Value); 12] = [
            (br#"{"a":"tide \ud83c"}"#, json!({"a": "tide \u{fffd}"})),
            (br#"{"a":"tide \udf0a is"}"#, json!({"a": "tide \u{fffd} is"})),
            (
                br#"{"a":"\ud83c\ud83c\udf0a"}"#,
                json!({"a": "\u{fffd}\u{1f30a}"}),
            ),
            (br#"{"a":"\ud83c\n\\udf0a"}"#, json!({"a": "\u{fffd}\n\\udf0a"})),
            (
                br#"{"a":"\\ud83c \" \ud83c"}"#,
                json!({"a": "\\ud83c \" \u{fffd}"}),
            ),
            (b"{\"a\":\"tide \xf0\x9f is\"}", json!({"a": "tide \u{fffd} is"})),
            (b"{\"a\":\"caf\xe9\"}", json!({"a": "caf\u{fffd}"})),
            (b"{\"a\":\"x\ty\x00\"}", json!({"a": "x\ty\0"})),
            (br#"{"a":1,"a":2}"#, json!({"a": 2})),
            (br#"{"a":NaN,"b":"NaN"}"#, json!({"a": null, "b": "NaN"})),
            (b"[Infinity,-Infinity]", json!([null, null])),
            (br#"{"a":"\ud83c\udf0a"}"#, json!({"a": "\u{1f30a}"})),
        ];
        for (bytes, value) in table {
            let shown = String::from_utf8_lossy(bytes);
            assert_eq!(from_slice::<Value>(bytes).expect(&shown), value, "{shown}");
        }
    }

    #[test]
    fn what_has_no_one_meaning_is_an_error() {
        for bytes in [
            &br#"{"a":"x"#[..],
            br#"{"a":"\ud8"}"#,
            br#"{"a":'x'}"#,
            b"{\"a\":\"x\\",
            b"{",
        ] {
            assert!(from_slice::<Value>(bytes).is_err());
        }
    }
}
