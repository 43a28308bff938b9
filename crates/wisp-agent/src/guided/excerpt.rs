//! The lines of a long file that a small model was not shown and most likely looks for: those with the rarest word of the
//! request. A log of three thousand lines has one with `error`, and the request asks for the error.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Lines of a long file that a model is shown at first.
pub const FIRST: usize = 30;
/// The longest file that is shown whole: lines and bytes.
const WHOLE: (usize, usize) = (80, 4_000);
/// The most bytes of a file that are searched.
const SEARCHED: u64 = 8 * 1024 * 1024;
/// The most lines that are shown, and the most characters of one.
const SHOWN: usize = 4;
const WIDTH: usize = 160;
/// A word that stands in more lines than this tells nothing.
const COMMON: usize = 20;
/// The shortest word that is looked for, characters.
const SHORTEST: usize = 4;

/// Whether a text is short enough to be shown whole.
pub fn is_short(text: &str) -> bool {
    text.len() <= WHOLE.1 && text.lines().count() <= WHOLE.0
}

/// What is said below the first lines of a long file: how many there are, which of the rest have a word of the request, and
/// the command that finds others.
pub fn rest_of(folder: &Path, name: &str, words: &BTreeSet<String>) -> String {
    let mut bytes = Vec::new();
    let read = File::open(folder.join(name)).and_then(|file| file.take(SEARCHED).read_to_end(&mut bytes));
    if read.is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= FIRST {
        return String::new();
    }
    let count = wisp_output::amount::grouped(lines.len() as u64);
    let mut told = format!(
        "[lines {}-{count} are not shown; to find a word in them: grep -n WORD {name}]",
        FIRST + 1
    );
    let found = rarest(&lines, words);
    if !found.is_empty() {
        told.push_str("\n[of these, lines with a word of the request:]");
    }
    for at in found {
        let line: String = lines[at].chars().take(WIDTH).collect();
        let _ = write!(told, "\n{}: {line}", at + 1);
    }
    told
}

/// The lines past the first ones that have the rarest of some words, by their places.
fn rarest(lines: &[&str], words: &BTreeSet<String>) -> Vec<usize> {
    let rest: Vec<String> = lines[FIRST..].iter().map(|line| line.to_lowercase()).collect();
    let long = words.iter().filter(|word| word.chars().count() >= SHORTEST);
    let with = long.map(|word| {
        let stem = word.strip_suffix('s').unwrap_or(word);
        let at = rest
            .iter()
            .enumerate()
            .filter(|(_, line)| line.contains(stem))
            .map(|(at, _)| FIRST + at);
        at.take(COMMON + 1).collect::<Vec<usize>>()
    });
    let mut with: Vec<Vec<usize>> = with.filter(|at| (1..=COMMON).contains(&at.len())).collect();
    with.sort_by_key(Vec::len);
    let mut found: Vec<usize> = with.into_iter().flatten().take(SHOWN).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "a file of the user's is what is searched"
)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_rarest_word_of_the_request_is_shown() {
        let home = tempfile::tempdir().expect("a directory");
        let line = |n: u32| match n {
            1_740 => "error: module_1740: cannot find header \"valve.h\"\n".to_owned(),
            n => format!("[{n:04}] compiled module_{n}\n"),
        };
        let text: String = (1..=3_000).map(line).collect();
        std::fs::write(home.path().join("build.log"), text).expect("written");
        let words = super::super::words::of_request("There is one error in build.log. What is it?");
        assert_eq!(
            rest_of(home.path(), "build.log", &words),
            "[lines 31-3,000 are not shown; to find a word in them: grep -n WORD build.log]\n\
             [of these, lines with a word of the request:]\n\
             1740: error: module_1740: cannot find header \"valve.h\""
        );
        std::fs::write(home.path().join("short"), "a\n").expect("written");
        assert_eq!(rest_of(home.path(), "short", &words), "");
        assert!(is_short("a\n") && !is_short(&"a\n".repeat(81)) && !is_short(&"a".repeat(4_001)));
    }
}
