//! Words found in a saved conversation: in what was said, what was called and what was printed.

use wisp_context::{Content, Entry, ThreadRecord};

/// Characters of the line that is shown.
const LINE_CHARS: usize = 160;

/// A place where all the words occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The turn, from 1.
    pub turn: u32,
    /// The line that has most of them.
    pub line: String,
}

/// The words of a search, as they are compared.
pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

/// The entries in which every word occurs, in whatever case, the oldest first.
pub fn search(record: &ThreadRecord, words: &[String]) -> Vec<Hit> {
    let mut hits = Vec::new();
    for turn in record.turns() {
        for entry in record.entries_of(turn.number) {
            let line = found(&text_of(entry), words);
            hits.extend(line.map(|line| Hit {
                turn: turn.number,
                line,
            }));
        }
    }
    hits
}

/// What can be found in an entry.
fn text_of(entry: &Entry) -> String {
    match &entry.content {
        Content::Calls { text, calls } => {
            let calls = calls
                .iter()
                .map(|call| format!("{} {}", call.name, wisp_tools::said(&call.arguments)));
            let said = Some(text.as_str().to_owned()).filter(|text| !text.is_empty());
            said.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
        }
        Content::Command { command, .. } => format!("!{command}\n{}", entry.text()),
        Content::Instructions { .. } | Content::Thinking { .. } => String::new(),
        _ => entry.text().to_owned(),
    }
}

/// The line with most of the words, when the text has all of them.
fn found(text: &str, words: &[String]) -> Option<String> {
    let lower = text.to_lowercase();
    if words.is_empty() || !words.iter().all(|word| lower.contains(word)) {
        return None;
    }
    let has = |line: &&str| {
        let line = line.to_lowercase();
        words.iter().filter(|word| line.contains(*word)).count()
    };
    // Of equal lines the first.
    let line = text.lines().rev().max_by_key(has)?.trim();
    Some(line.chars().take(LINE_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_must_occur_and_the_line_with_most_is_shown() {
        let text = "the parser is slow\nÉcole: parser and lexer\nlexer";
        let found = |query: &str| found(text, &words(query));
        assert_eq!(found("LEXER parser").as_deref(), Some("École: parser and lexer"));
        assert_eq!(found("école").as_deref(), Some("École: parser and lexer"));
        assert_eq!(found("parser").as_deref(), Some("the parser is slow"));
        assert_eq!(found("parser missing"), None);
        assert_eq!(found("  "), None);
    }
}
