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

static CREATES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(write|create|make|add|put|generate|save)\b").expect("the pattern is a constant")
});
static WHAT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b(replace|change|set|rename|bump|update|turn|switch|make|increase|decrease|correct|delete|remove|get\s+rid\s+of)\b.*\b(to|with|from|by|into|say|line|in)\b|\bshould\s+(be|say)\b|["“][^"”]+["”]"#)
        .expect("the pattern is a constant")
});
static LOOKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(run|execute|tests?|show|tell|print|list|check|count|explain|what|which|why|how|find|verify|until|passes|fails?|works?|then)\b")
        .expect("the pattern is a constant")
});
/// What is said to be so already: these have one form for what is to be done and for what was.
static STATED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(is|are|was|were|been|gets|got|has|have|had)(n't)?\s+(not\s+|already\s+|just\s+)?(set|put)\b",
    )
    .expect("the pattern is a constant")
});
static ASKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*((so|and|but|then|ok|okay|hi|hello|hey|now)\W+)*(what|which|where|why|who|whose|when|how|does|do|did|is|are|was|were|has|have|had)\b")
        .expect("the pattern is a constant")
});
static REQUESTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(please|can\s+you|could\s+you|would\s+you|will\s+you)\b")
        .expect("the pattern is a constant")
});
static IDENTIFIERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[A-Za-z_][A-Za-z0-9_]*\b").expect("the pattern is a constant"));
static EDITS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(sed|perl)\b[^|;&]*\s-\w*i|(^|[^0-9&>])>>?\s*[\w./]|\btee\b")
        .expect("the pattern is a constant")
});
static ADDS: LazyLock<Regex> = LazyLock::new(|| Regex::new(ADD).expect("the pattern is a constant"));
static WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{L}_]\w{2,}|\d+").expect("the pattern is a constant"));

/// Whether a request asks to add something to a file or to write one.
pub fn asks_to_add(request: &str) -> bool {
    ADDS.is_match(request)
}

/// Whether a request asks to write something, rather than to move or change what is there.
pub fn asks_to_create(request: &str) -> bool {
    CREATES.is_match(request) && asks_for_change(request)
}

/// Whether a request says in words what is to become of what: `change draft to final`, `"recieve" is misspelled`. Then the
/// lines it means have a word of it.
pub fn says_what(request: &str) -> bool {
    WHAT.is_match(request)
}

/// Whether a request asks to look at something or to run it, beside what it may change.
pub fn asks_to_look(request: &str) -> bool {
    LOOKS.is_match(request)
}

/// The words of a request that look like names in a program, in order, each once: `MAX_TRIES`, `parse_amount`, `readLine`.
pub fn identifiers(request: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in IDENTIFIERS.find_iter(&without_names(request)) {
        let word = word.as_str();
        let inner = |c: char| c == '_' || c.is_ascii_uppercase();
        if word.len() >= 4 && word.chars().skip(1).any(inner) && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// Whether a command is one that writes into files.
pub fn edits(command: &str) -> bool {
    EDITS.is_match(command)
}

/// The words and numbers of a text in lower case.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    WORDS.find_iter(text).map(|word| word.as_str().to_lowercase())
}

/// Words that say nothing of which line is meant.
const COMMON: &[&str] = &[
    "the", "and", "with", "that", "this", "for", "line", "lines", "file", "word", "from", "into", "should",
    "please", "all", "one", "replace", "change", "set", "make", "fix", "add", "there", "what", "which",
];

/// The words of a request that may tell a line, without the names of files in it.
pub fn of_request(request: &str) -> BTreeSet<String> {
    words(&without_names(request))
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect()
}

/// A request without the names of files in it.
pub fn without_names(request: &str) -> String {
    let names = file_names(request);
    names
        .iter()
        .fold(request.to_owned(), |text, name| text.replace(name, " "))
}

/// Whether a request asks for a change of files: a sentence of it that is no question has a word for a change, and not as
/// something that is so already (`MAX is set there`).
pub fn asks_for_change(request: &str) -> bool {
    let changes = |sentence: &str| CHANGES.is_match(&STATED.replace_all(sentence, " "));
    sentences(request).any(|sentence| changes(sentence) && !only_asks(sentence))
}

/// A text's sentences. A stop within a name of a file ends none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', '\n'])
        .scan((0, 0), |(begin, end), piece| {
            *end += piece.len();
            let stops = text[*end..].chars().next().is_none_or(char::is_whitespace) || piece.ends_with('\n');
            let sentence = &text[*begin..*end];
            if stops {
                *begin = *end;
            }
            Some(stops.then_some(sentence))
        })
        .flatten()
}

/// Whether a sentence asks what is so, and for nothing to be done about it.
fn only_asks(sentence: &str) -> bool {
    sentence.trim_end().ends_with('?') && ASKS.is_match(sentence) && !REQUESTS.is_match(sentence)
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
            "Why does stock.py fail? Fix it.",
            "Can you change the port in app.conf?",
            "Which line is wrong, and could you fix it?",
            "The port in app.conf is 80. It should be set to 8080.",
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
            "somewhere in here MAX_TRIES is set. to what?",
            "Which commit did change app.conf?",
            "How do I add a line to a file?",
            "What does the update in notes.md say?",
            "hi",
        ] {
            assert!(!asks_for_change(request), "{request}");
        }
    }

    #[test]
    fn a_request_that_says_what_becomes_of_what_is_told_from_one_that_leaves_it_open() {
        for request in [
            "Replace the word draft with final",
            "Set retries to 5 in client.toml.",
            "letter.txt has \"recieve\" misspelled, please fix",
            "the function calc should be called total",
            "Delete the debug line",
        ] {
            assert!(says_what(request), "{request}");
        }
        for request in ["`check.py` fails", "Fix stats.py.", "fix the bug in mean"] {
            assert!(!says_what(request), "{request}");
        }
    }

    #[test]
    fn a_change_alone_is_told_from_one_with_something_to_look_at() {
        for request in [
            "Write hello.sh and run it",
            "Fix stats.py so that check.py passes",
            "change it and show me the file",
        ] {
            assert!(asks_to_look(request), "{request}");
        }
        for request in [
            "Append \"- buy rope\" to todo.md.",
            "report.txt still says draft. make it say final",
        ] {
            assert!(!asks_to_look(request), "{request}");
        }
    }

    #[test]
    fn names_of_a_program_are_told_from_words() {
        assert_eq!(
            identifiers(
                "Where is parse_amount called, and what is MAX_TRIES or readLine? See Main_Unit.py. I am OK."
            ),
            ["parse_amount", "MAX_TRIES", "readLine"]
        );
    }

    #[test]
    fn a_command_that_writes_into_files_is_told_from_one_that_reads() {
        for command in [
            "sed -i 's/a/b/' x",
            "perl -pi -e 1 x",
            "echo a >> x",
            "sort x > y",
            "ls | tee y",
        ] {
            assert!(edits(command), "{command}");
        }
        for command in ["sed -n 1p x", "grep -i a x", "make 2>&1", "ls 2>/dev/null"] {
            assert!(!edits(command), "{command}");
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
