//! What a request in words asks for, as far as the actions on offer depend on it: whether it asks for a change, and
//! which files it names.
//!
//! A small model changes a file that it was only asked to read, and answers "done" where it changed nothing. Both are
//! seen here by rules on words, which decide no more than what is offered.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// Words that ask for a change of files wherever they stand in a request.
const CHANGE: &str = r"(?ix)\b(
    add|append|put|insert|write|create|change|replace|set|fix|correct|rename|update|edit|remove|delete|drop|turn|convert
    |sort|move|copy|swap|bump|increase|decrease|translate|rewrite|refactor|implement|save|store|generate|comment|uncomment
    |modify|adjust|complete|switch|enable|disable|clean|misspelled|misspelt|get\s+rid\s+of|should\s+(be|say|have|print|return)
)\b|\bmake\s+(it|a|an|the|me|this|that|sure|[\w./-]+\.\w+)\b";

/// Words that ask to add something.
const ADD: &str = r"(?i)\b(add|append|put|insert|write|create|make|include|note|save|store|end|last\s+line|generate|implement|comment|remember)\b";

/// A word that looks like the name of a file.
const NAME: &str = r"[A-Za-z0-9_][\w-]*(?:/[\w.-]+)*\.[A-Za-z]\w{0,7}";

static CHANGES: LazyLock<Regex> = LazyLock::new(|| Regex::new(CHANGE).expect("the pattern is a constant"));
static NAMES: LazyLock<Regex> = LazyLock::new(|| Regex::new(NAME).expect("the pattern is a constant"));

static ADDS: LazyLock<Regex> = LazyLock::new(|| Regex::new(ADD).expect("the pattern is a constant"));
static WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{L}_]\w{2,}|\d+").expect("the pattern is a constant"));

/// Whether a request asks to add something to a file or to write one.
pub fn asks_to_add(request: &str) -> bool {
    ADDS.is_match(request)
}

/// The words and numbers of a text in lower case.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    WORDS.find_iter(text).map(|word| word.as_str().to_lowercase())
}

/// The words of a request without the names of files in it.
pub fn of_request(request: &str) -> BTreeSet<String> {
    let bare = file_names(request)
        .iter()
        .fold(request.to_owned(), |text, name| text.replace(name, " "));
    words(&bare).collect()
}

/// Whether a request asks for a change of files.
pub fn asks_for_change(request: &str) -> bool {
    CHANGES.is_match(request)
}

/// The words of a text that look like names of files, in order, each once.
pub fn file_names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for found in NAMES.find_iter(text) {
        let before = text[..found.start()].chars().next_back();
        let after = text[found.end()..].chars().next();
        let inside = |c: Option<char>| {
            c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.' | '@'))
        };
        let ends = after.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '/' | '_' | '@')));
        let short = matches!(found.as_str(), "e.g" | "i.e");
        if !inside(before) && ends && !short && !names.iter().any(|name| name == found.as_str()) {
            names.push(found.as_str().to_owned());
        }
    }
    names
}

/// Whether a text names a file by its path or by its last part.
pub fn names(text: &str, path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    stands(text, path) || stands(text, last)
}

/// Whether a name stands in a text as a word of its own.
fn stands(text: &str, name: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '_' | '-'));
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !inside(before) && before != Some('.') && !inside(text[at + name.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_a_change_is_told_from_one_to_look() {
        for request in [
            "Replace the word \"draft\" with \"final\" in report.txt.",
            "report.txt still says draft. make it say final",
            "put \"- buy rope\" as the last line into todo.md",
            "letter.txt has \"recieve\" misspelled, please fix",
            "make me a script hello.sh which says hello",
            "the function calc in shop.py should be called total_price",
            "Get rid of the debug line in app.conf",
        ] {
            assert!(asks_for_change(request), "{request}");
        }
        for request in [
            "Run make and tell me what the error is.",
            "make fails here, what's the error?",
            "Please run `make`. What goes wrong?",
            "Which file defines the function parse_amount?",
            "How many lines does data.csv have?",
            "why does stock.py fail when i run it with python3?",
            "hi",
        ] {
            assert!(!asks_for_change(request), "{request}");
        }
    }

    #[test]
    fn names_of_files_are_words_of_their_own() {
        assert_eq!(
            file_names(
                "Create squares.py, then src/a-b/run.sh. See http://x.example/y.html and me@mail.org or 3.14."
            ),
            ["squares.py", "src/a-b/run.sh"]
        );
        assert!(names("fix shop.py please", "shop.py") && names("the file money.py", "shop/money.py"));
        assert!(!names("workshop.py", "shop.py") && !names("shop.py.bak is old", "shop.pyx"));
        assert!(names("see shop.py.", "shop.py"));
    }
}
