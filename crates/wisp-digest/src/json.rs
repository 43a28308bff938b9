//! A JSON reader that takes bytes as they come and keeps nothing but its place.
//!
//! Numbers are passed on as written, keys one by one however often they occur; nesting costs a byte a level
//! and is refused beyond [`DEPTH`], so no document can exhaust the stack.

use std::borrow::Cow;

use crate::counted::{counted, thousands};

/// The deepest nesting read.
pub(crate) const DEPTH: usize = 65_536;
/// Bytes of one string or number passed on; the rest is counted as read.
const TOKEN: usize = 256;

/// What stands in the document, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    /// A member's name, with its escapes as written.
    Key(&'a str),
    /// A string, with its escapes as written and cut where it is long, and how many bytes it has as written.
    Text(&'a str, u64),
    /// A number as written.
    Number(&'a str),
    /// `true`, `false` or `null`.
    Word(&'a str),
}

/// Receives events.
pub(crate) trait Listener {
    /// Is told of an event and the line it stands on.
    fn event(&mut self, event: Event<'_>, line: u64);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    None,
    Text { key: bool, escaped: bool },
    Number,
    Word,
}

/// The place in a document, or in a sequence of documents a line each.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    stack: Vec<bool>,
    expect: Expect,
    token: Token,
    text: Vec<u8>,
    /// Bytes of the string that is open, those that are not held included.
    length: u64,
    line: u64,
    started: bool,
    /// Whole documents read.
    pub documents: u64,
    /// Whether what was read is not JSON.
    pub broken: bool,
    newline_since: bool,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self {
            stack: Vec::new(),
            expect: Expect::Value,
            token: Token::None,
            text: Vec::new(),
            length: 0,
            line: 1,
            started: false,
            documents: 0,
            broken: false,
            newline_since: true,
        }
    }
}

impl Tokenizer {
    /// Reads on. Stops at the first byte that is not JSON.
    pub(crate) fn push(&mut self, bytes: &[u8], listener: &mut dyn Listener) {
        let mut bytes = bytes;
        if !self.started && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
            self.started = true;
        }
        let text = std::str::from_utf8(bytes).unwrap_or_else(|odd| {
            let valid = &bytes[..odd.valid_up_to()];
            std::str::from_utf8(valid).unwrap_or_default()
        });
        let mut at = 0;
        while at < bytes.len() && !self.broken {
            at = self.step((bytes, text), at, listener);
        }
    }

    /// Why what began as JSON is none, when it had gone on for long enough to be meant as JSON.
    pub(crate) fn fault(&self) -> Option<(String, u64)> {
        let (line, open) = (self.line, self.stack.len());
        if self.broken && open >= DEPTH {
            let text = format!(
                "JSON nested more than {} levels deep: not outlined",
                thousands(DEPTH as u64)
            );
            return Some((text, line));
        }
        let text = match self.documents {
            2.. if self.broken => format!(
                "JSON Lines up to here, {}: this line is not JSON",
                counted(self.documents, "documents")
            ),
            0 if open > 0 && line > 3 && self.broken => "JSON up to here, where it is not".to_owned(),
            0 if open > 0 && line > 3 => format!("JSON cut short: {open} not closed at its end"),
            _ => return None,
        };
        Some((text, line))
    }

    /// Whether a document is complete and nothing is open.
    pub(crate) fn finish(&mut self, listener: &mut dyn Listener) -> bool {
        if matches!(self.token, Token::Number | Token::Word) {
            self.end_plain(listener);
        }
        !self.broken && self.documents > 0 && self.stack.is_empty() && self.token == Token::None
    }

    /// Reads from `at` on, in bytes and as much of them as is known to be text.
    fn step(&mut self, (bytes, valid): (&[u8], &str), at: usize, listener: &mut dyn Listener) -> usize {
        match self.token {
            Token::None => {
                self.between(bytes[at], listener);
                at + 1
            }
            Token::Text { key, escaped } => self.inside_text((bytes, valid), at, (key, escaped), listener),
            Token::Number | Token::Word => self.inside_plain(bytes, at, listener),
        }
    }

    fn inside_text(
        &mut self,
        (bytes, valid): (&[u8], &str),
        at: usize,
        (key, escaped): (bool, bool),
        listener: &mut dyn Listener,
    ) -> usize {
        if escaped {
            self.keep(&bytes[at..=at]);
            self.token = Token::Text { key, escaped: false };
            return at + 1;
        }
        let end = memchr::memchr3(b'"', b'\\', b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        if self.text.is_empty() && bytes.get(end) == Some(&b'"') {
            let part = at..end.min(at + TOKEN);
            self.length = (end - at) as u64;
            match valid.get(part.clone()) {
                Some(text) => self.tell_text(key, text, listener),
                None => self.tell_text(key, &shown(&bytes[part]), listener),
            }
            return end + 1;
        }
        self.keep(&bytes[at..end]);
        match bytes.get(end) {
            Some(b'"') => self.end_text(key, listener),
            Some(b'\\') => {
                self.keep(b"\\");
                self.token = Token::Text { key, escaped: true };
            }
            Some(_) => self.broken = true,
            None => {}
        }
        end + 1
    }

    fn keep(&mut self, part: &[u8]) {
        self.length += part.len() as u64;
        let room = TOKEN.saturating_sub(self.text.len());
        self.text.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end_text(&mut self, key: bool, listener: &mut dyn Listener) {
        let text = std::mem::take(&mut self.text);
        self.tell_text(key, &shown(&text), listener);
        self.text = text;
        self.text.clear();
    }

    fn tell_text(&mut self, key: bool, text: &str, listener: &mut dyn Listener) {
        self.token = Token::None;
        let length = std::mem::take(&mut self.length);
        if key {
            listener.event(Event::Key(text), self.line);
            self.expect = Expect::Colon;
        } else {
            listener.event(Event::Text(text, length), self.line);
            self.value_ended();
        }
    }

    fn inside_plain(&mut self, bytes: &[u8], at: usize, listener: &mut dyn Listener) -> usize {
        let length = bytes[at..].iter().take_while(|byte| is_plain(**byte)).count();
        self.keep(&bytes[at..at + length]);
        if at + length < bytes.len() {
            self.end_plain(listener);
        }
        at + length
    }

    fn end_plain(&mut self, listener: &mut dyn Listener) {
        let text = std::mem::take(&mut self.text);
        let shown = shown(&text);
        let good = match self.token {
            Token::Number => is_number(&text) || text.len() == TOKEN,
            _ => matches!(&*shown, "true" | "false" | "null"),
        };
        if good {
            let event = if self.token == Token::Number {
                Event::Number(&shown)
            } else {
                Event::Word(&shown)
            };
            listener.event(event, self.line);
            self.value_ended();
        } else {
            self.broken = true;
        }
        self.token = Token::None;
        self.text = text;
        self.text.clear();
    }

    fn between(&mut self, byte: u8, listener: &mut dyn Listener) {
        match (byte, self.expect) {
            (b'\n', _) => {
                self.line += 1;
                self.newline_since = true;
            }
            (b' ' | b'\t' | b'\r', _) => {}
            (b'"', Expect::Key | Expect::KeyOrEnd) => {
                self.token = Token::Text {
                    key: true,
                    escaped: false,
                }
            }
            (b':', Expect::Colon) => self.expect = Expect::Value,
            (b'}', Expect::KeyOrEnd) => self.close(false, listener),
            (b']', Expect::ValueOrEnd) => self.close(true, listener),
            (b',' | b'}' | b']', Expect::CommaOrEnd) => self.comma_or_end(byte, listener),
            (_, Expect::Value | Expect::ValueOrEnd) => self.value(byte, listener),
            (_, Expect::Nothing) if self.newline_since => self.value(byte, listener),
            _ => self.broken = true,
        }
    }

    fn comma_or_end(&mut self, byte: u8, listener: &mut dyn Listener) {
        let in_array = self.stack.last() == Some(&true);
        match byte {
            b',' => self.expect = if in_array { Expect::Value } else { Expect::Key },
            b']' if in_array => self.close(true, listener),
            b'}' if !in_array => self.close(false, listener),
            _ => self.broken = true,
        }
    }

    fn value(&mut self, byte: u8, listener: &mut dyn Listener) {
        match byte {
            b'{' | b'[' => self.open(byte == b'[', listener),
            b'"' => {
                self.token = Token::Text {
                    key: false,
                    escaped: false,
                }
            }
            b'-' | b'0'..=b'9' => {
                self.token = Token::Number;
                self.keep(&[byte]);
            }
            b't' | b'f' | b'n' => {
                self.token = Token::Word;
                self.keep(&[byte]);
            }
            _ => self.broken = true,
        }
    }

    fn open(&mut self, array: bool, listener: &mut dyn Listener) {
        if self.stack.len() >= DEPTH {
            self.broken = true;
            return;
        }
        self.stack.push(array);
        self.expect = if array {
            Expect::ValueOrEnd
        } else {
            Expect::KeyOrEnd
        };
        listener.event(
            if array {
                Event::ArrayStart
            } else {
                Event::ObjectStart
            },
            self.line,
        );
    }

    fn close(&mut self, array: bool, listener: &mut dyn Listener) {
        self.stack.pop();
        listener.event(if array { Event::ArrayEnd } else { Event::ObjectEnd }, self.line);
        self.value_ended();
    }

    fn value_ended(&mut self) {
        if self.stack.is_empty() {
            self.documents += 1;
            self.expect = Expect::Nothing;
            self.newline_since = false;
        } else {
            self.expect = Expect::CommaOrEnd;
        }
    }
}

/// The bytes as text, which most are.
fn shown(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    rest = &rest[whole..];
    if let Some(after) = rest.strip_prefix(b".") {
        let part = digits(after);
        if part == 0 {
            return false;
        }
        rest = &after[part..];
    }
    match rest {
        [] => true,
        [b'e' | b'E', after @ ..] => {
            let after = after
                .strip_prefix(b"+")
                .or_else(|| after.strip_prefix(b"-"))
                .unwrap_or(after);
            !after.is_empty() && digits(after) == after.len()
        }
        _ => false,
    }
}
