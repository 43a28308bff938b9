//! JSON as Go reads it.
//!
//! Ollama's errors for a malformed body are those of Go's `encoding/json`, and Go is at once stricter and more
//! lenient than other readers: it names the character it stumbled on, stops at the end of the first value
//! whatever follows, matches keys whatever their case, lets the last of two equal keys win, and turns a lone
//! surrogate or an invalid byte into U+FFFD instead of refusing it. All of that is observable, so it is here.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A value as read: numbers keep their text, objects keep every key in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Go's word for the kind of value, as its type errors have it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// The same value for everyone else: the last of equal keys wins.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Number(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            Self::String(text) => Value::String(text.clone()),
            Self::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(k, v)| (k.clone(), v.to_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

/// Reads the first value of a body. The error is Go's text; an empty body is `EOF`.
pub(crate) fn parse(bytes: &[u8]) -> Result<Json, String> {
    let mut reader = Reader { bytes, at: 0 };
    reader.space();
    if reader.peek().is_none() {
        return Err("EOF".to_owned());
    }
    reader.value(0)
}

/// How deep Go lets values nest.
const MAX_DEPTH: usize = 10_000;
/// How deep this reader follows before it answers as Go does at its own limit; the stack is smaller here.
const OUR_DEPTH: usize = 512;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The next byte that is no space, or Go's complaint about a body cut short.
    fn token(&mut self) -> Result<u8, String> {
        self.space();
        self.peek().ok_or_else(short)
    }

    /// Go's complaint about the byte at hand.
    fn invalid(&self, context: &str) -> String {
        match self.peek() {
            None => short(),
            Some(byte) => format!("invalid character {} {context}", quote(byte)),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > OUR_DEPTH {
            return Err(format!("exceeded max depth of {MAX_DEPTH}"));
        }
        match self.token()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(Json::String),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(self.invalid("looking for beginning of value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut fields = Vec::new();
        if self.token()? == b'}' {
            self.at += 1;
            return Ok(Json::Object(fields));
        }
        loop {
            if self.token()? != b'"' {
                return Err(self.invalid("looking for beginning of object key string"));
            }
            let key = self.string()?;
            if self.token()? != b':' {
                return Err(self.invalid("after object key"));
            }
            self.at += 1;
            fields.push((key, self.value(depth + 1)?));
            match self.token()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(Json::Object(fields));
                }
                _ => return Err(self.invalid("after object key:value pair")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut items = Vec::new();
        if self.token()? == b']' {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            match self.token()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                _ => return Err(self.invalid("after array element")),
            }
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting {})", quote(expected));
                return Err(self.invalid(&context));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]);
        Ok(Json::Number(text.into_owned()))
    }

    fn digits(&mut self, context: &str) -> Result<(), String> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.invalid(context));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a string, its opening quote at hand.
    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut raw = Vec::new();
        loop {
            match self.peek().ok_or_else(short)? {
                b'"' => {
                    self.at += 1;
                    return Ok(String::from_utf8_lossy(&raw).into_owned());
                }
                b'\\' => self.escape(&mut raw)?,
                0..=0x1f => return Err(self.invalid("in string literal")),
                byte => {
                    raw.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self, raw: &mut Vec<u8>) -> Result<(), String> {
        self.at += 1;
        let simple = match self.peek().ok_or_else(short)? {
            b'u' => return self.unicode(raw),
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            same @ (b'"' | b'\\' | b'/') => same,
            _ => return Err(self.invalid("in string escape code")),
        };
        raw.push(simple);
        self.at += 1;
        Ok(())
    }

    fn unicode(&mut self, raw: &mut Vec<u8>) -> Result<(), String> {
        self.at += 1;
        let first = self.hex()?;
        let mut code = first;
        if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            } else {
                self.at = back;
            }
        }
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        raw.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let byte = self.peek().ok_or_else(short)?;
            let digit = char::from(byte).to_digit(16);
            code = code * 16 + digit.ok_or_else(|| self.invalid("in \\u hexadecimal character escape"))?;
            self.at += 1;
        }
        Ok(code)
    }
}

fn short() -> String {
    "unexpected EOF".to_owned()
}

/// A byte the way Go's JSON errors quote it.
fn quote(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\\' => r"'\\'".to_owned(),
        b'\n' => r"'\n'".to_owned(),
        b'\r' => r"'\r'".to_owned(),
        b'\t' => r"'\t'".to_owned(),
        // Go takes the byte for a code point: 0xE9 is quoted as é.
        0x20..=0x7e | 0xa1..=0xac | 0xae..=0xff => format!("'{}'", char::from(byte)),
        0x80..=0xa0 | 0xad => format!("'\\u00{byte:02x}'"),
        _ => format!("'\\x{byte:02x}'"),
    }
}

/// Writes a value as Go's encoder does: compact, with `<`, `>`, `&`, U+2028 and U+2029 escaped.
pub(crate) fn encode(value: &Value) -> String {
    let plain = value.to_string();
    let mut out = String::with_capacity(plain.len());
    for character in plain.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_gos() {
        let table: [(&[u8], &str); 12] = [
            (b"", "EOF"),
            (b"  \n", "EOF"),
            (br#"{"model": "x", "#, "unexpected EOF"),
            (b"x", "invalid character 'x' looking for beginning of value"),
            (
                b"{x",
                "invalid character 'x' looking for beginning of object key string",
            ),
            (br#"{"a" 1}"#, "invalid character '1' after object key"),
            (
                br#"{"a":1 "b":2}"#,
                "invalid character '\"' after object key:value pair",
            ),
            (b"[1 2]", "invalid character '2' after array element"),
            (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
            (b"\"a\nb\"", "invalid character '\\n' in string literal"),
            (br#""\q""#, "invalid character 'q' in string escape code"),
            (
                b"1.x",
                "invalid character 'x' after decimal point in numeric literal",
            ),
        ];
        for (body, text) in table {
            assert_eq!(
                parse(body),
                Err(text.to_owned()),
                "{}",
                String::from_utf8_lossy(body)
            );
        }
    }

    #[test]
    fn what_go_lets_pass_passes() {
        assert_eq!(parse(b"1 garbage"), Ok(Json::Number("1".into())));
        assert_eq!(parse(br#""a\ud800b""#), Ok(Json::String("a\u{fffd}b".into())));
        assert_eq!(
            parse(b"\"a\xff\xfeb\""),
            Ok(Json::String("a\u{fffd}\u{fffd}b".into()))
        );
        assert_eq!(parse(br#""\ud83c\udf89""#), Ok(Json::String("🎉".into())));
    }

    #[test]
    fn the_encoder_escapes_as_go_does() {
        let value = serde_json::json!({"content": "<think> & \u{2028}"});
        assert_eq!(encode(&value), r#"{"content":"\u003cthink\u003e \u0026 \u2028"}"#);
    }
}
