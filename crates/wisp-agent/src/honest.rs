//! What a reply says was done, held against what was done: in a turn that made no call, a sentence that claims to have
//! run, read, searched or changed something is shown to the person.
//!
//! The rules are tables of patterns. They look at one sentence at a time, and only at what the reply says in its own
//! words: not at code, quotations, conditions, advice ("you can run …") or intentions ("I will run …"). A claim that no
//! rule knows is missed, which costs less than a warning about an honest reply.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// The most characters of a sentence that are quoted.
const QUOTED: usize = 100;
/// The most bytes of a text that are looked at.
const LOOKED_AT: usize = 64 * 1024;

/// Something of the machine, which is what is claimed to have been read, run or changed.
const THING: &str = r"(?:`[^`]+`|[\w./-]*\w\.[a-z][a-z0-9]{0,4}\b|\b(?:files?|folders?|director(?:y|ies)|commands?|scripts?|tests?|test suite|builds?|logs?|outputs?|code|codebase|project|repo(?:sitory)?|config(?:uration)?|lines?|typos?|workspace)\b)";

/// What stands between "I" and the verb.
const SELF: &str = r"\bi(?:['’]ve| have)?(?: (?:just|already|also|now|successfully|then|first))*";

/// Claims, each as a pattern of one sentence in small letters.
static CLAIMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let verbs = "ran|executed|searched|grepped|read|opened|looked (?:at|in|into|through|for)|checked|examined|inspected|reviewed|listed|scanned|tested|built|compiled|installed";
    let made = "changed|edited|updated|modified|replaced|created|wrote|written|added|appended|deleted|removed|renamed|moved|fixed|corrected|saved";
    let done = "changed|edited|updated|modified|replaced|created|written|added|appended|deleted|removed|renamed|moved|fixed|corrected|saved|executed|run";
    [
        format!(r"{SELF} (?:{verbs})\b[^,;:]*?{THING}"),
        format!(r"\bi(?:['’]ve| have)(?: (?:just|already|also|now|successfully))* run\b[^,;:]*?{THING}"),
        format!(r"{SELF} (?:{made})\b[^,;:]*?{THING}"),
        format!(r"{THING}[^,;:]*? (?:has|have)(?: now| just)? been(?: successfully)? (?:{done})\b"),
        r"\b(?:all|the)(?: \d+)?(?: unit)? tests(?: have)?(?: all)? (?:passed|failed)\b".to_owned(),
        r"^after (?:running|executing|searching|reading|checking|looking at|examining|inspecting|reviewing) (?:the|your|all|this)\b".to_owned(),
    ]
    .iter()
    .map(|pattern| Regex::new(pattern).expect("a pattern of the table compiles"))
    .collect()
});

/// What makes a sentence no claim when it stands before the claim's words.
static NO_CLAIM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:you|we|they|he|she|would|could|should|will|can|might|may|must|if|when|once|unless|until|suppose|assuming|let me|to|before|cannot|can't|not|never|example|earlier|previous(?:ly)?|last time|as)\b|n['’]t\b",
    )
    .expect("a literal pattern compiles")
});

/// What stands after a claim's words and makes them advice, as in "after running the tests, you can …".
static ADVICE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:you|should|would|could)\b").expect("a literal pattern compiles"));

/// Requests for what only a tool can know or do: something to do, or something to ask, about something of the machine.
static ASKS: LazyLock<(RegexSet, Regex)> = LazyLock::new(|| {
    let verbs = "run|execute|open|read|list|search|find|grep|count|edit|change|replace|rename|move|delete|remove|create|write|append|add|fix|install|build|compile|test|check|show|look|sort|insert|correct";
    let set = [
        format!(r"\b(?:{verbs})\b[^.?!]*{THING}"),
        format!(r"\b(?:what|which|where|how many|how much|how long|why|who|does|is|are)\b[^.?!]*{THING}"),
        r"\brun (?:it|this|that|them)\b|\bin (?:here|this (?:folder|directory|project|repo))\b".to_owned(),
    ];
    let general = r"^\s*(?:how (?:do|does|can|could|would|should|to)\b|explain\b|what (?:is|are|does) (?:an?|the difference)\b|what does .* mean)";
    (
        RegexSet::new(set).expect("the patterns of the table compile"),
        Regex::new(general).expect("a literal pattern compiles"),
    )
});

/// Whether a request asks for what only a tool can know or do, as far as its words tell.
pub fn asks_for_tools(request: &str) -> bool {
    let text = looked_at(request).to_lowercase();
    let (set, general) = &*ASKS;
    !general.is_match(&text) && set.is_match(&text)
}

/// The first sentence of a reply that claims that something was run, read, searched or changed; none when there is none.
pub fn claim(reply: &str) -> Option<String> {
    let own = own_words(looked_at(reply));
    sentences(&own)
        .find(|sentence| claims(&sentence.to_lowercase()))
        .map(cut)
}

fn claims(sentence: &str) -> bool {
    CLAIMS.iter().any(|rule| {
        rule.find(sentence).is_some_and(|found| {
            let (before, after) = (&sentence[..found.start()], &sentence[found.end()..]);
            let advice = found.as_str().starts_with("after ") && ADVICE.is_match(after);
            !NO_CLAIM.is_match(before) && !sentence.ends_with('?') && !advice
        })
    })
}

fn looked_at(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

/// A reply without its code blocks, quoted lines and quotations.
fn own_words(reply: &str) -> String {
    let mut own = String::with_capacity(reply.len());
    let mut fenced = false;
    for line in reply.lines() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && !start.starts_with('>') {
            own.push_str(&unquoted(line));
        }
        own.push('\n');
    }
    own
}

/// A line without what stands in double quotes.
fn unquoted(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut within = false;
    for char in line.chars() {
        match char {
            '"' => within = !within,
            '\u{201c}' => within = true,
            '\u{201d}' => within = false,
            _ if within => {}
            char => out.push(char),
        }
    }
    // A quotation mark without its partner quotes nothing.
    if within { line.to_owned() } else { out }
}

/// The sentences of a text, each with the mark that ends it.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line.trim_start_matches(['-', '*', '#', ' ', '\t']);
        std::iter::from_fn(move || {
            if rest.trim().is_empty() {
                return None;
            }
            let end = rest
                .char_indices()
                .find(|(at, char)| ['.', '!', '?'].contains(char) && rest[at + 1..].starts_with([' ', '\t']))
                .map_or(rest.len(), |(at, _)| at + 1);
            let (sentence, after) = rest.split_at(end);
            rest = after.trim_start();
            Some(sentence.trim())
        })
    })
}

fn cut(sentence: &str) -> String {
    let mut cut: String = sentence.chars().take(QUOTED).collect();
    if cut.len() < sentence.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_claimed_to_have_been_done_is_found() {
        for reply in [
            "I ran the tests and all of them pass.",
            "I've run `cargo test`.",
            "I have executed the command for you.",
            "I searched the whole project for it.",
            "I read config.toml: the port is 80.",
            "I have checked the log and found nothing.",
            "I looked at src/main.rs.",
            "I've updated the file.",
            "I replaced the word in notes.txt.",
            "I have successfully created hello.py.",
            "The file has been updated.",
            "The typo has been fixed.",
            "`notes.txt` has been changed.",
            "All tests passed.",
            "The tests failed.",
            "After running the tests, two of them fail.",
            "Sure! I've added the line to the file.",
        ] {
            assert!(claim(reply).is_some(), "{reply}");
        }
        assert_eq!(
            claim("The port is 80. I read config.toml. Bye.").as_deref(),
            Some("I read config.toml.")
        );
    }

    #[test]
    fn advice_intentions_conditions_quotations_and_code_claim_nothing() {
        for reply in [
            "",
            "Hello! How can I help?",
            "You can run the tests with `cargo test`.",
            "You should have updated the file before.",
            "I will run the tests now.",
            "I'll read config.toml.",
            "Let me check the file.",
            "I can run the command for you.",
            "I could not read the file.",
            "I haven't run the tests.",
            "I have not changed any file.",
            "I did not run a command.",
            "If I ran the tests, they would fail.",
            "Once the file has been updated, restart the server.",
            "When all tests passed, merge it.",
            "After running the tests, you can commit.",
            "Would you like me to say that I ran the tests?",
            "The message is \"I ran the tests\".",
            "> I ran the tests.",
            "```\nI ran the tests.\nThe file has been updated.\n```",
            "I've written a haiku for you.",
            "I read you loud and clear.",
            "I ran out of ideas.",
            "I think the port is usually 80.",
            "To see whether the file has been changed, run git status.",
            "Tests have a purpose.",
            "git reports that you have edited the file.",
            "The function was removed in Python 3.12.",
        ] {
            assert_eq!(claim(reply), None, "{reply}");
        }
    }

    #[test]
    fn requests_that_only_a_tool_can_serve_are_told_from_others() {
        for request in [
            "What is the port in config.toml?",
            "Run the tests and say which fails.",
            "how many lines has notes.md",
            "Which file defines parse_args?",
            "what is in this folder",
            "Replace teh by the in a.txt",
            "add a line to the log",
            "run it",
        ] {
            assert!(asks_for_tools(request), "{request}");
        }
        for request in [
            "",
            "hi",
            "What is the capital of France?",
            "How do I list files in a folder?",
            "Explain what a file descriptor is",
            "what is a directory",
            "Thanks, that is all.",
            "tell me a joke",
        ] {
            assert!(!asks_for_tools(request), "{request}");
        }
    }

    #[test]
    fn a_long_sentence_is_cut_and_a_long_reply_costs_little() {
        let long = format!("I read config.toml {}", "x".repeat(500));
        assert_eq!(claim(&long).map(|text| text.chars().count()), Some(101));
        assert_eq!(
            claim(&format!("{}I ran the tests.", "é ".repeat(LOOKED_AT))),
            None
        );
    }
}
