//! Counting tokens.
//!
//! The rule is fixed and stated so that a count can be checked by hand, and uneven enough that a client cannot
//! learn it by dividing once:
//!
//! - a marker such as `<|im_start|>` or `<tool_call>` is one token;
//! - a run of up to five ASCII letters or digits, with the space before it if there is one, is one token;
//! - a run of up to sixteen equal other characters (spaces, dashes, newlines) is one token;
//! - any other character is one token.
//!
//! English prose comes to about 4 bytes a token, JSON to about 2, Chinese to 3.

/// The markers that are single tokens.
const MARKERS: [&str; 8] = [
    "<|im_start|>",
    "<|im_end|>",
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "<tools>",
    "</tools>",
];

/// The longest run of letters and digits in one token, in bytes.
const WORD: usize = 5;
/// The longest run of one other character in one token.
const RUN: usize = 16;

/// Splits a text into its tokens; joined, they are the text.
///
/// ```
/// let tokens: Vec<_> = ollama_sim::tokens::split("fn main() {}").collect();
/// assert_eq!(tokens, ["fn", " main", "(", ")", " ", "{", "}"]);
/// ```
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = first(rest)?;
        let (token, after) = rest.split_at(length);
        rest = after;
        Some(token)
    })
}

/// How many tokens a text has.
pub fn count(text: &str) -> u64 {
    split(text).count() as u64
}

/// The tokens of a text as numbers, for comparing prefixes (FNV-1a over each token's bytes).
pub(crate) fn ids(text: &str) -> Vec<u64> {
    split(text).map(id).collect()
}

fn id(token: &str) -> u64 {
    token.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The length in bytes of the first token.
fn first(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if first == '<'
        && let Some(marker) = MARKERS.iter().find(|m| text.starts_with(**m))
    {
        return Some(marker.len());
    }
    let lead = usize::from(first == ' ');
    let word = text.as_bytes()[lead..]
        .iter()
        .take(WORD)
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    if word > 0 {
        return Some(lead + word);
    }
    let equal = text.chars().take(RUN).take_while(|c| *c == first).count();
    Some(equal * first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_tokens_are_the_text() {
        for text in [
            "",
            "a",
            "<|im_start|>user\nhé  llo----x<think>",
            "日本 🎉\u{200d}",
            "a b c",
            "     word",
        ] {
            assert_eq!(split(text).collect::<String>(), text);
        }
    }

    #[test]
    fn the_rule_is_as_stated() {
        assert_eq!(count("<|im_start|>"), 1);
        assert_eq!(count("the quick brown fox"), 4);
        assert_eq!(count("sentences"), 2);
        assert_eq!(count("the quickest"), 3);
        assert_eq!(count(&"-".repeat(16)), 1);
        assert_eq!(count(&"-".repeat(17)), 2);
        assert_eq!(count("日本"), 2);
    }
}
