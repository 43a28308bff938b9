//! Reading a guided reply: the answer's text as it arrives, and at the end the action.
//!
//! The reply is one JSON object in which `action` stands first. Of an answer the text streams to the person, decoded;
//! of any other action nothing is shown.

use serde_json::{Map, Value};

/// What the member that says what to do is called.
pub const ACTION: &str = "action";
/// The action that ends a turn.
pub const ANSWER: &str = "answer";
/// Its text.
pub const TEXT: &str = "text";

/// Where a guided reply ends: the object's brace and the end of its line, which cannot stand within a text of it.
pub const AT_END: &str = "}\n";

/// A reply with the brace at its end that a server takes away where it stops at [`AT_END`].
pub fn closed(raw: &str) -> String {
    let raw = raw.trim();
    let open = raw.starts_with('{') && !raw.ends_with('}');
    if open {
        format!("{raw}\n}}")
    } else {
        raw.to_owned()
    }
}

/// A guided reply while it arrives.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    raw: String,
    /// What was decoded of an answer's text.
    text: String,
    /// Where the answer's text begins in `raw`, once that is known.
    from: Option<usize>,
    /// How much of `raw` was decoded.
    read: usize,
    ended: bool,
    /// The first half of a surrogate pair.
    high: Option<u16>,
}

impl Decoder {
    /// Takes the next piece and gives what of the answer's text it completes.
    pub fn push(&mut self, piece: &str) -> String {
        self.raw.push_str(piece);
        if self.from.is_none() {
            self.from = answer_begins(&self.raw);
            self.read = self.from.unwrap_or(0);
        }
        if self.from.is_none() || self.ended {
            return String::new();
        }
        let text = self.decode();
        self.text.push_str(&text);
        text
    }

    /// The answer's text as far as it has arrived.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All that arrived, as it came.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Whether an answer's text has begun.
    pub fn answers(&self) -> bool {
        self.from.is_some()
    }

    fn decode(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.raw[self.read..].chars().next() {
            match c {
                '"' => {
                    self.ended = true;
                    break;
                }
                '\\' => match escape(&self.raw[self.read..]) {
                    Escape::Short => break,
                    Escape::Char(c, length) => {
                        self.lone(&mut text);
                        text.push(c);
                        self.read += length;
                    }
                    Escape::Unit(unit) => {
                        self.unit(unit, &mut text);
                        self.read += 6;
                    }
                },
                c => {
                    self.lone(&mut text);
                    text.push(c);
                    self.read += c.len_utf8();
                }
            }
        }
        text
    }

    /// A first half without its second becomes U+FFFD.
    fn lone(&mut self, text: &mut String) {
        if self.high.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn unit(&mut self, unit: u16, text: &mut String) {
        let before = self.high.take();
        match (before, unit) {
            (None, 0xd800..=0xdbff) => self.high = Some(unit),
            (Some(high), _) => {
                let mut pair = char::decode_utf16([high, unit]);
                text.extend(pair.by_ref().map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
            }
            (None, _) => text.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }
}

enum Escape {
    /// Not all of it has arrived.
    Short,
    /// A character, and the bytes it takes.
    Char(char, usize),
    /// A UTF-16 unit, six bytes.
    Unit(u16),
}

/// The escape that a text begins with.
fn escape(text: &str) -> Escape {
    let mut chars = text.chars();
    chars.next();
    match chars.next() {
        None => Escape::Short,
        Some('n') => Escape::Char('\n', 2),
        Some('t') => Escape::Char('\t', 2),
        Some('r') => Escape::Char('\r', 2),
        Some('b') => Escape::Char('\u{8}', 2),
        Some('f') => Escape::Char('\u{c}', 2),
        Some('u') => match text.get(2..6) {
            Some(hex) => match u16::from_str_radix(hex, 16) {
                Ok(unit) => Escape::Unit(unit),
                Err(_) => Escape::Char('u', 2),
            },
            None if text.len() < 6 => Escape::Short,
            None => Escape::Char('u', 2),
        },
        Some(other) => Escape::Char(other, 1 + other.len_utf8()),
    }
}

/// Where the text of an answer begins, once the object got that far: `{"action": "answer", "text": "`.
fn answer_begins(raw: &str) -> Option<usize> {
    let mut at = 0;
    for (token, is_text) in [
        ("{", false),
        (ACTION, true),
        (":", false),
        (ANSWER, true),
        (",", false),
        (TEXT, true),
        (":", false),
    ] {
        at += raw[at..].len() - raw[at..].trim_start().len();
        let rest = &raw[at..];
        let rest = if is_text {
            rest.strip_prefix('"')?.strip_prefix(token)?.strip_prefix('"')?
        } else {
            rest.strip_prefix(token)?
        };
        at = raw.len() - rest.len();
    }
    at += raw[at..].len() - raw[at..].trim_start().len();
    raw[at..].starts_with('"').then_some(at + 1)
}

/// What a whole guided reply is.
#[derive(Debug, Clone, PartialEq)]
pub enum GuidedReply {
    /// The answer in words.
    Answer(String),
    /// Another action with its arguments.
    Action(String, Map<String, Value>),
    /// Not such an object: a server that does not hold the model to the form, or a reply that was cut.
    Neither,
}

/// Reads a whole guided reply.
pub fn said(raw: &str) -> GuidedReply {
    let Ok(Value::Object(mut object)) = serde_json::from_str(raw.trim()) else {
        return GuidedReply::Neither;
    };
    let Some(Value::String(action)) = object.shift_remove(ACTION) else {
        return GuidedReply::Neither;
    };
    if action != ANSWER {
        return GuidedReply::Action(action, object);
    }
    match object.shift_remove(TEXT) {
        Some(Value::String(text)) => GuidedReply::Answer(text),
        _ => GuidedReply::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn streamed(pieces: &[&str]) -> String {
        let mut decoder = Decoder::default();
        pieces.iter().map(|piece| decoder.push(piece)).collect()
    }

    #[test]
    fn an_answer_streams_as_its_text_wherever_it_is_cut() {
        let text = "It is \"8173\".\nÄ 😀 \\ tab\tend";
        for raw in [
            json!({"action": "answer", "text": text}).to_string(),
            format!("{{\n  \"action\" : \"answer\" ,\n  \"text\": {}\n}}\n", json!(text)),
            "{\"action\": \"answer\", \"text\": \"It is \\\"8173\\\".\\n\\u00c4 \\ud83d\\ude00 \\\\ tab\\tend\"}".to_owned(),
        ] {
            for at in (0..=raw.len()).filter(|at| raw.is_char_boundary(*at)) {
                assert_eq!(streamed(&[&raw[..at], &raw[at..]]), text, "cut at {at} of {raw}");
            }
            assert_eq!(said(&raw), GuidedReply::Answer(text.to_owned()));
        }
    }

    #[test]
    fn the_brace_that_a_server_stopped_at_comes_back() {
        let raw = closed("{\n  \"action\": \"run\",\n  \"command\": \"ls\"\n");
        assert_eq!(raw, "{\n  \"action\": \"run\",\n  \"command\": \"ls\"\n}");
        assert!(matches!(said(&raw), GuidedReply::Action(..)));
        assert_eq!(
            closed("{\"action\": \"answer\", \"text\": \"a}\"}"),
            "{\"action\": \"answer\", \"text\": \"a}\"}"
        );
        assert_eq!(closed("plain text"), "plain text");
    }

    #[test]
    fn nothing_of_another_action_is_shown() {
        let raw = "{\"action\": \"run\", \"command\": \"ls\"}";
        assert_eq!(streamed(&[raw]), "");
        let arguments = json!({"command": "ls"}).as_object().cloned().expect("an object");
        assert_eq!(said(raw), GuidedReply::Action("run".to_owned(), arguments));
    }

    #[test]
    fn half_a_pair_is_a_mark_and_what_is_no_object_is_neither() {
        assert_eq!(
            streamed(&["{\"action\":\"answer\",\"text\":\"a\\ud83dx\"}"]),
            "a\u{fffd}x"
        );
        for raw in [
            "",
            "Port 8173.",
            "{\"action\": \"answer\", \"text\": \"cut",
            "{\"text\": \"x\"}",
            "[1]",
        ] {
            assert_eq!(said(raw), GuidedReply::Neither, "{raw}");
        }
    }
}
