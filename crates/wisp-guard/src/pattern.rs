//! What an approval covers: a program with its verb, or exactly one text.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::command::{Redirect, Shape, SimpleCommand, Word};
use crate::rules::risks;

/// What an approval is remembered by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// `git push --tags`: this program, with this verb when it has verbs, any operands, and no options but those and
    /// ones that change nothing.
    Program(String),
    /// This text and no other.
    Exact(String),
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(program) => write!(f, "{program} *"),
            Self::Exact(text) => f.write_str(text),
        }
    }
}

impl Pattern {
    /// The pattern a part of a line is remembered by. By exact text: what is no plain command, shells and
    /// interpreters, whatever writes files by redirection or sets variables, programs by a path of one's own, and
    /// what a wrapper gives more arguments, and whatever runs in a directory the line went to. `exact` is what the
    /// exact text is: see [`Pattern::exact_text`].
    pub fn of(part: &SimpleCommand, exact: &str) -> Self {
        let exact = || Self::Exact(exact.to_owned());
        let Some(name) = part.name().filter(|_| part.shape == Shape::Command) else {
            return exact();
        };
        let risks = risks();
        let sets = part
            .assignments
            .iter()
            .any(|(name, _)| !risks.harmless_variables.contains(name));
        let odd = sets
            || part.moved.is_some()
            || part.open
            || part.wrapper
            || !part.is_on_path()
            || part.redirects.iter().any(Redirect::changes_a_file);
        if odd || risks.exact_programs.has(name) || !is_plain(name) {
            return exact();
        }
        let launches = risks.launchers.has(name) && !PACKAGED.contains(&name);
        if launches || !part.args().iter().all(|word| word.literal) {
            return exact();
        }
        if !risks.verb_programs.has(name) {
            return Self::Program(with_options(name, part));
        }
        // `cargo +nightly`, but not `+/a/toolchain`, which is a program of its own.
        let named = |word: &&Word| word.text.starts_with('+') && !word.text.contains('/');
        let first = part.args().iter().find(|word| !named(word));
        match first {
            Some(verb) if STARTERS.contains(&(name, verb.text.as_str())) => exact(),
            Some(verb) if verb.literal && verb.text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                Self::Program(with_options(&format!("{name} {}", verb.text), part))
            }
            None => Self::Program(name.to_owned()),
            // Options before the verb can change what it does: `git -c … log` is not `git log`.
            Some(_) => exact(),
        }
    }

    /// The text that stands for this part of a line and for nothing else: its own where everything in it is known
    /// before it runs, with the change of directory before it, and otherwise the whole line, since the rest of the
    /// line decides what a variable holds.
    pub fn exact_text(part: &SimpleCommand, line: &str) -> String {
        match &part.moved {
            _ if !part.is_fixed() => line.to_owned(),
            Some(moved) => format!("{moved} && {}", part.text),
            None => part.text.clone(),
        }
    }

    /// Whether an approval remembered by `self` is one for `other`: the same text, or the same program and verb with
    /// no option that was not seen when it was given.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Program(own), Self::Program(asked)) => {
                let (head, seen) = head_and_options(own);
                let (wanted, options) = head_and_options(asked);
                head == wanted && options.iter().all(|option| seen.contains(option))
            }
            _ => self == other,
        }
    }
}

/// Launchers whose verbs are told apart enough: they build, test and fetch.
const PACKAGED: [&str; 14] = [
    "npm", "pnpm", "yarn", "bun", "uv", "poetry", "bundle", "rustup", "docker", "podman", "kubectl", "conda",
    "nix", "hatch",
];

/// Verbs with which a program runs what its other words say.
const STARTERS: &[(&str, &str)] = &[
    ("npm", "run"),
    ("npm", "exec"),
    ("npm", "x"),
    ("npm", "start"),
    ("npm", "run-script"),
    ("pnpm", "run"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "run"),
    ("yarn", "exec"),
    ("yarn", "dlx"),
    ("bun", "run"),
    ("bun", "x"),
    ("uv", "run"),
    ("uv", "tool"),
    ("poetry", "run"),
    ("bundle", "exec"),
    ("rustup", "run"),
    ("cargo", "run"),
    ("go", "run"),
    ("go", "generate"),
    ("git", "bisect"),
    ("git", "submodule"),
    ("git", "config"),
    ("git", "rebase"),
    ("git", "filter-branch"),
    ("docker", "run"),
    ("docker", "exec"),
    ("docker", "compose"),
    ("podman", "run"),
    ("podman", "exec"),
    ("kubectl", "exec"),
    ("kubectl", "run"),
    ("conda", "run"),
    ("nix", "run"),
    ("nix", "shell"),
    ("nix", "develop"),
    ("hatch", "run"),
    ("tmux", "new"),
    ("tmux", "new-session"),
    ("gh", "api"),
    ("gh", "alias"),
    ("gh", "extension"),
    ("brew", "services"),
    ("xcrun", "simctl"),
];

/// The program and its verb with the options of the part, sorted, each without its value.
fn with_options(head: &str, part: &SimpleCommand) -> String {
    let args = part.args().iter().map(|word| word.text.as_str());
    let mut options: Vec<&str> = args
        .take_while(|word| *word != "--")
        .filter(|word| word.len() > 1 && word.starts_with('-'))
        .map(|word| word.split('=').next().unwrap_or(word))
        .filter(|word| !is_count(word) && !risks().quiet_options.has(word))
        .collect();
    options.sort_unstable();
    options.dedup();
    std::iter::once(head).chain(options).collect::<Vec<_>>().join(" ")
}

/// `-5`: how many, as of `head` and `git log`.
fn is_count(word: &str) -> bool {
    word[1..].bytes().all(|b| b.is_ascii_digit())
}

fn head_and_options(program: &str) -> (Vec<&str>, Vec<&str>) {
    program.split(' ').partition(|word| !word.starts_with('-'))
}

/// Whether a program of this name runs text of its own, in which paths are put together.
pub(crate) fn runs_text(name: &str) -> bool {
    risks().interpreters.has(name) || risks().exact_programs.has(name)
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::split;

    fn shown(line: &str) -> String {
        let part = &split(line).unwrap()[0];
        Pattern::of(part, &Pattern::exact_text(part, line)).to_string()
    }

    #[test]
    fn a_program_is_remembered_with_its_verb() {
        for (line, pattern) in [
            ("head -5 a", "head *"),
            ("/usr/bin/head a", "head *"),
            ("git push origin main", "git push *"),
            ("cargo +nightly test -- x", "cargo test *"),
            ("LANG=C ls", "ls *"),
            ("git", "git *"),
        ] {
            assert_eq!(shown(line), pattern, "{line}");
        }
    }

    #[test]
    fn what_a_line_decides_elsewhere_is_remembered_by_the_line() {
        let exact = |line: &str| {
            let parts = split(line).unwrap();
            Pattern::exact_text(parts.last().unwrap(), line)
        };
        assert_eq!(exact("ls; rm -r a"), "rm -r a");
        assert_eq!(exact("cd b && rm -r a"), "cd b && rm -r a");
        assert_eq!(exact("D=/; rm -r \"$D\""), "D=/; rm -r \"$D\"");
        assert_eq!(exact("ls; rm -r *"), "ls; rm -r *");
        assert_eq!(exact("ls | xargs rm -r"), "ls | xargs rm -r");
        for line in [
            "cat a | python3 -",
            "python3 <<'E'\nx\nE",
            "python3 - <<< x",
            "cat a | env python3 -",
            "cat a | sh -c 'python3 -'",
        ] {
            assert_eq!(exact(line), line);
        }
    }

    #[test]
    fn what_a_program_could_not_stand_for_is_remembered_by_its_text() {
        for line in [
            "./ls -l",
            "sh x.sh",
            "python3 x.py",
            "FOO=1 ls",
            "git -c a=b log",
            "echo x > y",
            "env ls",
            "$X y",
            "[[ -f a ]]",
            "find . -name x",
        ] {
            assert_eq!(shown(line), line, "{line}");
        }
    }
}
