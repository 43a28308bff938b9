//! What an approval covers: a program with its verb, or exactly one text.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::command::{Redirect, Shape, SimpleCommand};
use crate::rules::risks;

/// What an approval is remembered by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// `git push`, `head`: this program, with this verb when it has verbs, and any other arguments.
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
        if !risks.verb_programs.has(name) {
            return Self::Program(name.to_owned());
        }
        let first = part.args().iter().find(|word| !word.text.starts_with('+'));
        match first {
            Some(verb) if verb.literal && verb.text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                Self::Program(format!("{name} {}", verb.text))
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

    /// Whether an approval remembered by `self` is one for `other`.
    pub fn covers(&self, other: &Self) -> bool {
        self == other
    }
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
