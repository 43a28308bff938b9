//! The most tokens a text can be for any tokenizer in use, told from the text alone.
//!
//! Estimates from a ratio are right on the average. On a server that cuts silently the average is not enough: what
//! has not been counted yet is counted here as the sparsest tokenizer would, and only a request that fits even so is
//! sent.

use wisp_context::message::{Message, Request};

/// Tokens a template puts around a message.
const FRAME: u64 = 12;
/// Tokens a template puts around tools and before the reply.
const TEMPLATE: u64 = 128;

/// The most tokens `text` can be: three letters each, a digit each, four equal signs each; a space before a word is
/// part of it, and a character beyond ASCII is as many as its bytes less one.
pub fn in_text(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut tokens = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let same = |class: fn(&u8) -> bool| bytes[at..].iter().take_while(|b| class(b)).count();
        let (run, cost) = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => three(same(u8::is_ascii_alphabetic)),
            b'0'..=b'9' => (1, 1),
            0x80.. => beyond(text, at),
            b' ' if bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) => (1, 0),
            _ => four(bytes[at..].iter().take_while(|b| **b == byte).count()),
        };
        tokens += cost;
        at += run;
    }
    tokens
}

fn three(run: usize) -> (usize, u64) {
    (run, run.div_ceil(3) as u64)
}

fn four(run: usize) -> (usize, u64) {
    (run, run.div_ceil(4) as u64)
}

fn beyond(text: &str, at: usize) -> (usize, u64) {
    let length = text[at..].chars().next().map_or(1, char::len_utf8);
    (length, (length as u64).saturating_sub(1).max(1))
}

/// The most tokens one message can be.
pub fn in_message(message: &Message) -> u64 {
    let calls: u64 = message
        .tool_calls
        .iter()
        .map(|call| FRAME + in_text(&call.name) + in_text(&call.arguments.to_string()))
        .sum();
    let thinking = message.thinking.as_ref().map_or(0, |text| in_text(text));
    FRAME + in_text(&message.content) + thinking + calls
}

/// A request the server has counted.
#[derive(Debug, Clone)]
pub struct Counted {
    /// Its messages.
    pub messages: Vec<Message>,
    /// Bytes of the tools sent with it.
    pub tool_bytes: u64,
    /// The server's count.
    pub tokens: u64,
}

/// The most tokens a request can be: the last count bounds what it has in common with the request before, and the
/// rest is counted from its text.
pub fn in_request(request: &Request, tools: &str, counted: Option<&Counted>) -> u64 {
    let all: u64 = request.messages.iter().map(in_message).sum();
    let plain = TEMPLATE + in_text(tools) + all;
    let counted = counted.filter(|c| c.tool_bytes == tools.len() as u64);
    let Some(counted) = counted else { return plain };
    let fresh = request.messages.iter().filter(|m| !counted.messages.contains(m));
    let since: u64 = fresh.map(in_message).sum();
    plain.min(counted.tokens + FRAME + since)
}

#[cfg(test)]
mod tests {
    use super::{Counted, in_request, in_text};
    use wisp_context::message::{Message, Request, Role};

    #[test]
    fn texts_are_counted_as_the_sparsest_tokenizer_would() {
        for (text, tokens) in [
            ("", 0),
            ("abc", 1),
            ("abcd", 2),
            ("the word", 1 + 2),
            ("1234", 4),
            ("        x", 2 + 1),
            ("{\"a\":1}", 7),
            ("é", 1),
            ("日本", 4),
        ] {
            assert_eq!(in_text(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn what_was_counted_is_not_guessed_again() {
        let message = |text: &str| Message::new(Role::User, text);
        let request = |texts: &[&str]| Request {
            messages: texts.iter().map(|text| message(text)).collect(),
            ..Request::default()
        };
        let long = "word ".repeat(500);
        let counted = Counted {
            messages: request(&[&long]).messages,
            tool_bytes: 2,
            tokens: 510,
        };
        let now = request(&[&long, "abc"]);
        assert_eq!(in_request(&now, "[]", Some(&counted)), 510 + 12 + 12 + 1);
        let other_tools = in_request(&now, "[{}]", Some(&counted));
        assert!(other_tools > 1000, "{other_tools}");
        assert!(in_request(&now, "[]", None) > 1000);
    }
}
