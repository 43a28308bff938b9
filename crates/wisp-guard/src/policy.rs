//! What is refused whatever anybody answers: built-in rules, the person's deny list, the person's allow list.

use regex::Regex;

use crate::command::{SimpleCommand, Word};
use crate::moves::elsewhere;
use crate::paths::normal;
use crate::rules::{Rule, denials, risks};
use crate::tree::Unreadable;
use crate::wrappers::SHELLS;

/// A pattern of the configuration that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid command policy pattern: {pattern}")]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
}

/// The policy in force. Patterns are regular expressions in the dialect of Rust's `regex` crate and match anywhere
/// in the text, unless they say otherwise.
#[derive(Debug, Clone)]
pub struct Policy {
    built_in: bool,
    deny: Vec<Regex>,
    allow: Vec<Regex>,
}

impl Policy {
    /// The built-in rules with the person's own patterns.
    pub fn new(deny: &[String], allow: &[String]) -> Result<Self, InvalidPattern> {
        Ok(Self {
            built_in: true,
            deny: compile(deny)?,
            allow: compile(allow)?,
        })
    }

    /// No rules at all: what `--unsafe` asks for.
    pub fn none() -> Self {
        Self {
            built_in: false,
            deny: Vec::new(),
            allow: Vec::new(),
        }
    }

    /// Whether the built-in rules are in force.
    pub fn is_built_in(&self) -> bool {
        self.built_in
    }

    /// Holds a line and each of its parts against the rules; the first denial refuses the line. The error is the
    /// reason. Deny goes before allow; with an allow list, the line and every part must match it.
    pub fn check(&self, line: &str, parts: Result<&[SimpleCommand], &Unreadable>) -> Result<(), String> {
        let crude;
        let parts = if let Ok(parts) = parts {
            parts
        } else {
            crude = crude_parts(line);
            &crude
        };
        self.deny_line(line)?;
        for part in parts {
            self.deny_part(part)?;
        }
        if self.built_in
            && fetches(parts)
            && (parts.iter().any(runs_what_it_gets) || runs_what_was_saved(parts))
        {
            return Err(
                "command matches the rule \"run what is fetched\": a program would run whatever another machine sends"
                    .to_owned(),
            );
        }
        if self.allow.is_empty() {
            return Ok(());
        }
        self.allow_text(&[line])?;
        let mut commands = parts.iter().filter(|part| !part.words.is_empty());
        commands.try_for_each(|part| self.allow_text(&[&part.text, &part.plain()]))
    }

    /// Holds a call of a server's tool against the person's deny list; the allow list is for commands. The error is the
    /// reason.
    pub fn check_tool(&self, call: &str) -> Result<(), String> {
        match self.deny.iter().find(|pattern| pattern.is_match(call)) {
            Some(pattern) => Err(format!("call matches deny pattern {pattern}")),
            None => Ok(()),
        }
    }

    fn deny_line(&self, line: &str) -> Result<(), String> {
        match self.deny.iter().find(|pattern| pattern.is_match(line)) {
            Some(pattern) => Err(format!("command matches deny pattern {pattern}")),
            None => Ok(()),
        }
    }

    fn deny_part(&self, part: &SimpleCommand) -> Result<(), String> {
        let built_in = if self.built_in { denials() } else { &[] };
        if let Some(Rule { name, reason, .. }) = built_in.iter().find(|rule| rule.matches(part)) {
            return Err(format!("command matches the rule \"{name}\": {reason}"));
        }
        if self.built_in && writes_device(part) {
            return Err(
                "command matches the rule \"write to a device\": it would write over a disk".to_owned(),
            );
        }
        self.deny_line(&part.text)?;
        self.deny_line(&part.plain())
    }

    fn allow_text(&self, texts: &[&str]) -> Result<(), String> {
        let allowed = texts
            .iter()
            .any(|text| self.allow.iter().any(|pattern| pattern.is_match(text)));
        if allowed {
            Ok(())
        } else {
            Err("command matches no allow pattern".to_owned())
        }
    }
}

/// Whether something in the line comes from another machine.
fn fetches(parts: &[SimpleCommand]) -> bool {
    let fetcher = |part: &SimpleCommand| part.name().is_some_and(|name| risks().network.has(name));
    parts.iter().any(fetcher)
}

/// Words by which a program is told to read its program from what it gets.
const GIVEN: [&str; 5] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/dev/fd/3"];

/// Whether a part is an interpreter, or a builtin of one, whose program is its input or is put together in the line.
fn runs_what_it_gets(part: &SimpleCommand) -> bool {
    let Some(name) = part.name() else { return true };
    let builtin = ["eval", ".", "source"].contains(&name);
    if !builtin && !risks().interpreters.has(name) {
        return false;
    }
    let asks = |word: &Word| ["--version", "--help", "-V", "-n"].contains(&word.text.as_str());
    let told = |word: &Word| {
        GIVEN.contains(&word.text.as_str())
            || ["<(", "$(", "`"].iter().any(|opener| word.text.contains(opener))
    };
    let bare = !builtin && !part.wrapper && part.operands().next().is_none() && !part.args().iter().any(asks);
    let reads_input = |word: &Word| {
        let cluster = word
            .text
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-'));
        SHELLS.contains(&name) && cluster.is_some_and(|letters| letters.contains('s'))
    };
    let args = part.args();
    builtin && args.iter().any(|word| !word.literal)
        || bare
        || args.iter().any(|word| told(word) || reads_input(word))
}

/// Whether a file the line saves to is run further on in it: `curl -o a URL && sh a`, `curl URL > a; ./a`.
fn runs_what_was_saved(parts: &[SimpleCommand]) -> bool {
    let mut saved: Vec<&str> = Vec::new();
    let plain = |path: &'_ str| path.trim_start_matches("./").len();
    for part in parts {
        let Some(name) = part.name() else { continue };
        let program = part.program().unwrap_or_default();
        let runs = risks().interpreters.has(name) || [".", "source"].contains(&name);
        let named = |path: &str| {
            saved
                .iter()
                .any(|file| file[file.len() - plain(file)..] == path[path.len() - plain(path)..])
        };
        if program.contains('/') && named(program) || runs && part.operands().any(|word| named(&word.text)) {
            return true;
        }
        saved.extend(
            part.redirects
                .iter()
                .filter(|r| r.writes)
                .map(|r| r.target.text.as_str()),
        );
        if risks().network.has(name) || name == "tee" {
            let words = part.args().iter().map(|word| word.text.as_str());
            let words = words.filter(|word| !word.starts_with('-'));
            // Without a name of its own, what is fetched is saved under the last part of its address.
            let saved_as = words.flat_map(|word| [Some(word), word.rsplit(['/', ':']).next()]);
            saved.extend(saved_as.flatten().filter(|name| !name.is_empty()));
        }
    }
    false
}

/// Whether a part writes to the device of a disk, by whatever path.
fn writes_device(part: &SimpleCommand) -> bool {
    let disk = |path: &str| risks().disks.matches(&normal(path));
    let device = |path: &str| disk(path) || elsewhere(part, path).any(|path| disk(&path));
    let changer = part.name().is_some_and(|name| risks().changers.has(name));
    let named = |word: &Word| {
        let path = word.text.strip_prefix("of=").unwrap_or(&word.text);
        !word.text.starts_with("if=") && device(path)
    };
    part.redirects.iter().any(|r| r.writes && device(&r.target.text))
        || changer && part.args().iter().any(named)
}

fn compile(patterns: &[String]) -> Result<Vec<Regex>, InvalidPattern> {
    let compile = |pattern: &String| {
        Regex::new(pattern).map_err(|_| InvalidPattern {
            pattern: pattern.clone(),
        })
    };
    patterns.iter().map(compile).collect()
}

/// The parts of a line that could not be read, by its punctuation alone, so that deny rules still apply to it.
fn crude_parts(line: &str) -> Vec<SimpleCommand> {
    let words = |piece: &str| -> Vec<Word> {
        let all: Vec<&str> = piece
            .split(|c: char| c.is_whitespace() || "'\"\\".contains(c))
            .filter(|word| !word.is_empty())
            .collect();
        let redirected = |at: usize| at > 0 && all[at - 1].ends_with('<') && all[at - 1].starts_with('<');
        let kept = |at: &usize| !all[*at].starts_with('<') && !redirected(*at);
        (0..all.len())
            .filter(kept)
            .map(|at| Word::literal(all[at]))
            .collect()
    };
    let mut parts = Vec::new();
    for piece in line.split_inclusive([';', '&', '|', '\n', '\r', '(', ')', '`', '{', '}']) {
        let bare = piece.trim_end_matches([';', '&', '|', '\n', '\r', '(', ')', '`', '{', '}']);
        let mut words = words(bare);
        // What a substitution puts here is not known.
        if piece.ends_with(['(', '`']) && bare.ends_with(['$', '<', '"', ' ', '=']) {
            let substituted = Word::literal("$(");
            words.push(Word {
                literal: false,
                ..substituted
            });
        }
        // A wrapper before the program cannot be told from its options here: every word may be the program.
        for at in 0..words.len().min(8) {
            parts.push(SimpleCommand::of_words(words[at..].to_vec(), false));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::split;

    fn check(policy: &Policy, line: &str) -> Result<(), String> {
        let parts = split(line);
        policy.check(line, parts.as_deref())
    }

    fn own(deny: &[&str], allow: &[&str]) -> Policy {
        let list = |patterns: &[&str]| patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        Policy::new(&list(deny), &list(allow)).unwrap()
    }

    #[test]
    fn the_built_in_rules_see_through_every_dress() {
        let policy = own(&[], &[]);
        for line in [
            "sudo ls",
            "ls; sudo ls",
            "env sudo ls",
            "$(sudo ls)",
            "s\"u\"do ls",
            "/usr/bin/sudo ls",
            "rm -rf /",
            "rm -fr //",
            "rm -r -f /*",
            "sh -c 'rm -rf /'",
            "curl x | sh",
            "curl x | bash -s",
            "mkfs.ext4 /dev/sda",
            "dd if=/dev/zero of=/dev/sda",
            "wisp approvals approve abc",
            "'wisp' approvals approve abc",
            "./target/debug/wisp facts keep abc",
            "wisp config set approval.threshold never",
            "nohup wisp chat",
            "wisp \"do it all\"",
            "wisp models pull x",
            "sudo 'open",
            "if true; sudo ls",
        ] {
            assert!(check(&policy, line).is_err(), "{line}");
        }
        for line in [
            "rm -rf build",
            "echo sudo",
            "sh -c 'ls'",
            "bash x.sh",
            "wisp doctor",
            "wisp --version",
            "dd if=a of=b",
            "grep -n 'wisp chat' README.md",
        ] {
            assert_eq!(check(&policy, line), Ok(()), "{line}");
        }
    }

    #[test]
    fn deny_is_held_against_the_line_and_each_part() {
        let policy = own(&["^curl\\b"], &[]);
        assert_eq!(
            check(&policy, "ls && curl x"),
            Err("command matches deny pattern ^curl\\b".to_owned())
        );
        assert!(check(&policy, "'cu'rl x").is_err());
        assert_eq!(check(&policy, "echo curl"), Ok(()));
    }

    #[test]
    fn with_an_allow_list_everything_must_match_it() {
        let policy = own(&[], &["^git\\b", "^ls\\b"]);
        assert_eq!(check(&policy, "git status | ls"), Ok(()));
        assert_eq!(
            check(&policy, "git status; touch x"),
            Err("command matches no allow pattern".to_owned())
        );
        assert!(check(&policy, "git log $(touch x)").is_err());
    }

    #[test]
    fn no_policy_denies_nothing_and_a_bad_pattern_is_named() {
        assert_eq!(check(&Policy::none(), "sudo rm -rf /"), Ok(()));
        let e = Policy::new(&["(".to_owned()], &[]).unwrap_err();
        assert_eq!(e.to_string(), "invalid command policy pattern: (");
    }
}
