//! How a run ended by its own last words, whatever tool it was: a closing sentence or a tally near the end.
//!
//! No format is needed for `Build succeeded.`, `Done in 3s`, `12 passed, 0 failed`, `✖ 3 problems (3 errors, 0 warnings)`
//! or `return code 0`: a tool that ends by saying how it went is quoted. The words of a reader that knows the tool go
//! first, the exit status is never contradicted, and a log of a service, which has no outcome, gets none.

mod own;

use crate::digest::{Content, Digest, Quote, Verdict};
use crate::looks;
use crate::prefix;
use crate::unknown::Ends;

/// Lines from the end in which a run may say how it went; hints, times and rules may stand below it.
const NEAR_END: usize = 12;
/// Bytes of a closing sentence; what is longer is prose.
const SENTENCE: usize = 160;

/// Adds the closing words where no reader has given any that fit how the run ended, and the outcome by them where
/// nothing else tells it. It is `doubted` where lines state failures that no reader has explained.
pub(crate) fn add(digest: &mut Digest, ends: &Ends, doubted: bool) {
    if digest.outcome.last_word.is_some() || (digest.content == Content::Log && digest.outcome.exit.is_none())
    {
        return;
    }
    let last = ends.last(digest.lines, NEAR_END);
    let mut said = last
        .iter()
        .rev()
        .filter_map(|quote| Some((quote, says(&quote.text)?)));
    match digest.outcome.verdict {
        Verdict::Unknown => {
            if let Some((quote, word)) = said
                .next()
                .filter(|(quote, word)| may_tell(quote, *word, digest, doubted))
            {
                digest.outcome.verdict = word.verdict();
                digest.outcome.last_word = Some(quote.clone());
            }
        }
        known => {
            // What states a failure that is told, or only reports it, stands with it.
            let is_told = |line| {
                digest.failures.iter().any(|failure| {
                    failure.cascade_lines.contains(&line)
                        || failure.lines.holds(line)
                        || failure.related.iter().any(|related| related.line == line)
                })
            };
            let told = said
                .find(|(quote, word)| word.verdict() == known && !is_told(quote.line))
                .map(|(quote, _)| quote);
            // Where no reader knows why, what a program itself says of it.
            let own =
                || own::reason(&last).filter(|_| known == Verdict::Failed && digest.failures.is_empty());
            let reason = told
                .filter(|quote| !own::only_reports(&quote.text))
                .or_else(own)
                .or(told);
            digest.outcome.last_word = reason.cloned();
        }
    }
}

/// Whether the words are so plain that they tell the outcome: a tally, or a sentence in a tool's output. A text that no
/// reader knows may be prose about a failure.
fn may_tell(quote: &Quote, word: Word, digest: &Digest, doubted: bool) -> bool {
    let known = !digest.formats.is_empty();
    match word {
        Word::Tally(Verdict::Failed) => known || quote.line == digest.lines,
        Word::Tally(_) => true,
        Word::Sentence(Verdict::Failed) => false,
        Word::Sentence(_) => known && !doubted,
    }
}

/// How sentences begin that say what was done, and then list it however long it is.
const STARTS: &[&str] = &[
    "Successfully installed ",
    "Successfully built ",
    "Successfully uninstalled ",
];

/// What a line says of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// By numbers.
    Tally(Verdict),
    /// In words.
    Sentence(Verdict),
}

impl Word {
    fn verdict(self) -> Verdict {
        match self {
            Self::Tally(verdict) | Self::Sentence(verdict) => verdict,
        }
    }
}

/// What the line says of how the run went, if anything.
fn says(text: &str) -> Option<Word> {
    let text = prefix::split(text).written().trim();
    let in_trace = ["Exception in thread ", "Suppressed: ", "Caused by: ", "at "]
        .iter()
        .any(|start| text.starts_with(start));
    // Rules are drawn beside a word, over the width of a terminal.
    let text = text.trim_matches(|each: char| matches!(each, '─' | '━' | '═' | '-' | '=' | '*' | '_' | ' '));
    if STARTS.iter().any(|start| text.starts_with(start)) {
        return Some(Word::Tally(Verdict::Succeeded));
    }
    if text.len() > SENTENCE || text.is_empty() || in_trace || looks::passes(text) {
        return None;
    }
    let words: Vec<String> = text
        .split_whitespace()
        .flat_map(|token| token.splitn(if token.starts_with('=') { 1 } else { 2 }, '='))
        .map(|word| {
            word.trim_matches(|each: char| !each.is_alphanumeric() && !matches!(each, '=' | '-' | '/'))
        })
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty())
        .collect();
    tally(&words)
        .map(Word::Tally)
        .or_else(|| sentence(text, &words).map(Word::Sentence))
}

/// `9 tests passed, 0 failed`, `2 errors generated`, `Failures: 0`, `exit code 1`.
fn tally(words: &[String]) -> Option<Verdict> {
    const BAD: &[&str] = &[
        "failed", "failing", "failures", "failure", "errors", "error", "fail", "crashed",
    ];
    // Of these some may be warnings: `2 problems (0 errors, 2 warnings)`.
    const FOUND: &[&str] = &[
        "issues",
        "issue",
        "problems",
        "problem",
        "violations",
        "offenses",
        "offences",
    ];
    const GOOD: &[&str] = &["passed", "passing", "succeeded", "pass", "successful"];
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    let (mut good, mut bad, mut none, mut found) = (false, false, false, false);
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(number).or_else(|| {
            at.checked_sub(2)
                .filter(|_| is_noun(&words[at - 1]))
                .and_then(number)
        });
        let count = before.or_else(|| {
            let next = |place: usize| words.get(place).map(String::as_str);
            // `Total errors found: 3`, but `no errors found (14 ms)`.
            if next(at + 1) == Some("found") {
                let denied = at > 0 && words[at - 1] == "no";
                let ends = matches!(next(at + 3), None | Some("in"));
                return number(at + 2).filter(|_| ends && !denied);
            }
            // `error 28` is a number that an error has.
            number(at + 1).filter(|_| number(at + 2).is_none() && word != "error")
        });
        let Some(count) = count else { continue };
        if BAD.contains(&word.as_str()) {
            bad |= count > 0;
            none |= count == 0;
        } else if FOUND.contains(&word.as_str()) {
            found |= count > 0;
        } else if GOOD.contains(&word.as_str()) {
            good |= count > 0;
        }
    }
    let code = exit_code(words);
    match (
        bad || (found && !none) || code.is_some_and(|code| code > 0),
        good || none || code == Some(0),
    ) {
        (true, _) => Some(Verdict::Failed),
        (false, true) => Some(Verdict::Succeeded),
        (false, false) => None,
    }
}

/// `exit code 1`, `exited with 2`, `npm verbose exit 0`
fn exit_code(words: &[String]) -> Option<u64> {
    let named = words.windows(3).find_map(|three| {
        let status = matches!(three[0].as_str(), "exit" | "return" | "exited" | "with");
        let named =
            matches!(three[1].as_str(), "code" | "status") || (three[0] == "exited" && three[1] == "with");
        (status && named).then(|| three[2].parse::<u64>().ok())?
    });
    named.or_else(|| match words {
        [.., word, code] if word == "exit" => code.parse().ok(),
        _ => None,
    })
}

/// What is counted between the number and the word.
fn is_noun(word: &str) -> bool {
    matches!(
        word,
        "tests"
            | "test"
            | "suites"
            | "suite"
            | "files"
            | "file"
            | "checks"
            | "check"
            | "tasks"
            | "task"
            | "cases"
            | "steps"
            | "jobs"
            | "specs"
            | "scenarios"
            | "packages"
            | "targets"
    )
}

/// Words for a good and a bad end, in English and as localised build tools have them.
const GOOD: &[&str] = &[
    "success",
    "successful",
    "successfully",
    "succeeded",
    "completed",
    "finished",
    "done",
    "passed",
    "erfolgreich",
    "réussi",
    "réussie",
    "correctamente",
    "успешно",
    "成功",
];
const BAD: &[&str] = &[
    "fail",
    "failed",
    "failure",
    "problems",
    "terminated",
    "aborted",
    "unsuccessful",
    "unsuccessfully",
    "fehlgeschlagen",
    "échec",
    "échoué",
    "ошибка",
    "失败",
    "失敗",
];
/// Phrases for a good end.
const PHRASES: &[&str] = &[
    "no issues found",
    "no problems",
    "no errors",
    "no offenses",
    "no warnings",
    "all good",
    "up to date",
    "nothing to do",
];
/// Words after which nothing is said to be so.
const NOT: &[&str] = &[
    "not", "if", "when", "unless", "until", "never", "nothing", "should", "will", "before",
];

/// A sentence with one of the words and no other that takes it back.
fn sentence(text: &str, words: &[String]) -> Option<Verdict> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    // Chinese and Japanese part no words.
    let within = |list: &[&str]| list.iter().any(|word| !word.is_ascii() && text.contains(word));
    let lower = text.to_lowercase();
    let clean = PHRASES.iter().any(|phrase| lower.contains(phrase));
    if !clean && (has(NOT) || words.len() > 16) {
        return None;
    }
    if has(BAD) || within(&["失败", "失敗"]) {
        return (!clean).then_some(Verdict::Failed);
    }
    (clean || has(GOOD) || within(&["成功"])).then_some(Verdict::Succeeded)
}

#[cfg(test)]
mod tests {
    use super::{Word, says};
    use crate::digest::Verdict;
    use crate::{Digest, Options};

    #[test]
    fn tallies_and_closing_sentences_are_known_whatever_tool_they_are_of() {
        let good = Some(Verdict::Succeeded);
        let bad = Some(Verdict::Failed);
        for (text, verdict) in [
            (
                "Ran 3 test suites in 1.46s (2.57s CPU time): 9 tests passed, 0 failed, 0 skipped (9 total tests)",
                good,
            ),
            ("✖ 3 problems (2 errors, 1 warning)", bad),
            ("Process finished, return code=0", good),
            ("command exited with status 3", bad),
            ("Failures: 0", good),
            ("12 passed, 1 failed in 3.2s", bad),
            ("Done in 3.41s.", good),
            ("The command was successful", good),
            ("2026-03-02T10:14:12Z INFO The install completed", good),
            ("Der Buildvorgang wurde erfolgreich ausgeführt.", good),
            ("Erstellen fehlgeschlagen.", bad),
            ("Échec de la génération.", bad),
            ("生成失败。", bad),
            ("Success: no issues found in 3 source files", good),
            ("Total errors found: 3", bad),
            ("Total errors found: 0", good),
            ("Scanned 4 files, no errors found (1422 ms).", good),
            ("✖ 2 problems (0 errors, 2 warnings)", good),
            ("CSpell: Files checked: 2, Issues found: 1 in 1 file.", bad),
            ("ERROR: \"web\" exited with 4.", bad),
            ("+++ exited with 0 +++", good),
            ("npm verbose exit 0", good),
            (
                "build finished with problems, 1 warning (with warnings treated as errors).",
                bad,
            ),
            ("scons: building terminated because of errors.", bad),
            (
                "──────────────────────────── FAILED in 0.53 seconds ────────────────────────────",
                bad,
            ),
            ("Run it again if it failed", None),
            ("For more information, see the log", None),
            ("for all files, the exit is there", None),
            ("✓ handles a failed upload", None),
            ("line 12", None),
        ] {
            assert_eq!(says(text).map(Word::verdict), verdict, "{text}");
        }
    }

    #[test]
    fn a_tools_own_end_is_quoted_though_its_format_is_not_known() {
        let log = "scanning the quay\nchecked 12 berths\n\nScan completed.\nelapsed: 3 s\n";
        let digest = Digest::of(log.as_bytes(), Options { exit: Some(0) });
        assert_eq!(digest.outcome.last_word.map(|quote| quote.line), Some(4));
        let digest = Digest::of(b"a\nb\n4 passed, 2 failed\n", Options { exit: Some(1) });
        assert_eq!(digest.outcome.last_word.map(|quote| quote.line), Some(3));
    }

    #[test]
    fn what_was_installed_is_said_however_long_the_list_is() {
        let log = format!(
            "Collecting tide\nSuccessfully installed tide-1.0 {}\n",
            "gauge-2.1 ".repeat(60)
        );
        let digest = Digest::of(log.as_bytes(), Options::default());
        assert_eq!(digest.outcome.last_word.map(|quote| quote.line), Some(2));
    }

    #[test]
    fn the_exit_status_is_never_contradicted_by_a_sentence() {
        let digest = Digest::of(b"a\nb\nScan completed.\n", Options { exit: Some(3) });
        assert_eq!(
            (digest.outcome.verdict, digest.outcome.last_word),
            (Verdict::Failed, None)
        );
    }
}
