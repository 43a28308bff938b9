//! Telling standing orders and statements from the rest of what a person says, by the words they are put in.

/// Phrases that make a sentence hold beyond its turn. Lower case, words parted by one space.
const PHRASES: &[&str] = &[
    "do not",
    "don't",
    "dont",
    "never",
    "always",
    "must",
    "mustn't",
    "should",
    "shouldn't",
    "shall",
    "only",
    "avoid",
    "without",
    "no longer",
    "from now on",
    "from here on",
    "keep",
    "leave",
    "remember",
    "note that",
    "prefer",
    "make sure",
    "be sure",
    "ensure",
    "instead of",
    "rather than",
    "stop",
    "stay",
    "the task",
    "the goal",
    "the aim",
    "decided",
    "decision",
    "we agreed",
    "let's use",
    "we use",
    "we will use",
    "use the",
    "my name",
    "call me",
    "is called",
    "forbidden",
    "not allowed",
    "off limits",
    "hands off",
    "careful",
    "important",
    "whatever you do",
    "under no circumstances",
    "at most",
    "at least",
    "changed my mind",
    "after all",
    "forget",
    "ignore what",
    // What takes back an earlier decision, in everyday words.
    "drop",
    "scrap",
    "instead",
    "switch",
    "switched",
    "go with",
    "going with",
    "will do",
    "no more",
    "actually",
    "back to",
    "never mind",
    "changed",
];

/// Bytes of a long sentence kept in front of the phrase that makes it an order.
const LEAD_BYTES: usize = 60;
/// Longest sentence, in bytes, that is kept from its beginning.
const SENTENCE_BYTES: usize = 160;

/// The sentences of a prompt that read as standing orders, in order. Of a very long one, what leads up to the
/// phrase that makes it an order is left out.
pub(super) fn orders(prompt: &str) -> Vec<&str> {
    sentences(prompt)
        .filter_map(|sentence| Some(from_phrase(sentence, phrase(sentence)?)))
        .collect()
}

/// A sentence from a little before `phrase` on, when it is long.
fn from_phrase<'a>(sentence: &'a str, phrase: &str) -> &'a str {
    if sentence.len() <= SENTENCE_BYTES {
        return sentence;
    }
    let at = sentence.to_ascii_lowercase().find(phrase).unwrap_or(0);
    let from = sentence.floor_char_boundary(at.saturating_sub(LEAD_BYTES));
    &sentence[from..]
}

/// Words that make a sentence say what something is.
const COPULAS: &[&str] = &[
    "is", "are", "was", "were", "means", "lives", "runs", "has", "have",
];

/// Whether one of a prompt's sentences states something worth keeping: it is no question, and names a path, a number
/// or an identifier, or says what something is.
pub(super) fn is_statement(prompt: &str) -> bool {
    let states = |sentence: &str| {
        let words = words(sentence);
        let is = COPULAS
            .iter()
            .any(|copula| words.contains(&format!(" {copula} ")));
        let names = sentence
            .contains(|letter: char| letter.is_ascii_digit() || matches!(letter, '/' | '_' | '`' | '"'));
        !sentence.ends_with('?') && (is || names)
    };
    sentences(prompt).any(states)
}

/// The sentences of a text: ended by a line's end, or by a mark with white space after it.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            let end = sentence_end(rest);
            let (sentence, after) = rest.split_at(end);
            rest = after;
            (!sentence.is_empty()).then(|| sentence.trim())
        })
    })
}

/// Where the first sentence of a line ends.
fn sentence_end(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mark = |at: usize| matches!(bytes[at], b'.' | b'!' | b'?' | b';');
    let parted = |at: usize| bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
    (0..bytes.len())
        .find(|&at| mark(at) && parted(at))
        .map_or(line.len(), |at| at + 1)
}

/// The first of the phrases that a sentence has, as whole words.
fn phrase(sentence: &str) -> Option<&'static str> {
    let words = words(sentence);
    PHRASES
        .iter()
        .copied()
        .find(|phrase| words.contains(&format!(" {phrase} ")))
}

/// The sentence's words in lower case, each between single spaces.
fn words(sentence: &str) -> String {
    let letters = sentence.replace('’', "'").to_lowercase();
    let words = letters.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    let joined = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    format!(" {joined} ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_told_from_questions() {
        assert_eq!(
            orders("Find why the tide table is wrong and fix it. Do not touch legacy.c. What is h?"),
            ["Do not touch legacy.c."]
        );
        assert_eq!(
            orders("from now on: answer in French\nthanks"),
            ["from now on: answer in French"]
        );
        assert_eq!(orders("Don’t push! ok"), ["Don’t push!"]);
        assert_eq!(orders("what does the donut shop sell?"), Vec::<&str>::new());
        assert_eq!(orders(""), Vec::<&str>::new());
    }

    #[test]
    fn a_long_sentence_is_kept_around_its_phrase() {
        let text = format!("{}and you must not restart it", "é, ".repeat(200));
        let kept = orders(&text);
        assert!(kept[0].ends_with("é, and you must not restart it"), "{kept:?}");
        assert!(kept[0].len() < 100);
    }

    #[test]
    fn statements_are_told_from_questions() {
        for text in [
            "The fixtures are under /srv.",
            "we build with 1.88.2",
            "hm. my dog is Rex",
            "see `tide`",
        ] {
            assert!(is_statement(text), "{text}");
        }
        for text in ["and number 7?", "go on", "thanks!", "what is 2 + 2?"] {
            assert!(!is_statement(text), "{text}");
        }
    }

    #[test]
    fn a_file_name_does_not_end_a_sentence() {
        assert_eq!(orders("never edit a.b.c or d; fine"), ["never edit a.b.c or d;"]);
    }
}
