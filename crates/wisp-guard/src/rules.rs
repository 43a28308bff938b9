//! The tables of `assets/`: what is known about programs, and how a rule is compared with a command.

use std::sync::OnceLock;

use regex::Regex;
use serde::{Deserialize, Deserializer};

use crate::command::SimpleCommand;
use crate::level::Level;

/// A list written as words with spaces between them.
#[derive(Debug, Default, Clone)]
pub(crate) struct Words(Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self(text.split_whitespace().map(str::to_owned).collect()))
    }
}

impl Words {
    /// Whether a name is in the list; a `*` at the end of an entry stands for anything.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|entry| match entry.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => entry == name,
        })
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries as they are written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// A regular expression of a table.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(Regex);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

impl Pattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Conditions on a command; all that are given must hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Rule {
    /// What `wisp` calls the rule; only policy rules have a name.
    #[serde(default)]
    pub(crate) name: String,
    /// The level it gives; policy rules have none, they deny.
    pub(crate) level: Option<Level>,
    programs: Words,
    /// Words right after the program's own options.
    #[serde(default)]
    verbs: Vec<String>,
    /// Options of which one is given.
    #[serde(default)]
    flags: Words,
    /// Options of which none is given.
    #[serde(default)]
    without: Words,
    /// What one argument looks like.
    args: Option<Pattern>,
    /// What one argument before the verb looks like.
    before: Option<Pattern>,
    /// What no argument looks like.
    without_args: Option<Pattern>,
    /// There are no arguments at all.
    #[serde(default)]
    bare: bool,
    /// There is no operand, and the command starts nothing named in it: it reads its program from standard input.
    #[serde(default)]
    unscripted: bool,
    /// What the command starts was not found in it.
    #[serde(default)]
    opaque: bool,
    /// Why, as a phrase.
    pub(crate) reason: String,
}

impl Rule {
    /// Whether the rule is about this command.
    pub(crate) fn matches(&self, command: &SimpleCommand) -> bool {
        let Some(name) = command.name() else { return false };
        self.programs.has(name)
            && (self.verbs.is_empty() || self.verbs.iter().any(|verb| has_verb(command, verb)))
            && (self.flags.is_empty() || has_any_flag(command, &self.flags))
            && (self.without.is_empty() || !has_any_flag(command, &self.without))
            && self
                .args
                .as_ref()
                .is_none_or(|p| command.args().iter().any(|word| p.matches(&word.text)))
            && self
                .without_args
                .as_ref()
                .is_none_or(|p| !command.args().iter().any(|word| p.matches(&word.text)))
            && self
                .before
                .as_ref()
                .is_none_or(|p| before_verb(command).any(|word| p.matches(word)))
            && (!self.bare || command.args().is_empty() && !command.wrapper)
            && (!self.opaque || !command.wrapper)
            && (!self.unscripted || is_unscripted(command))
    }
}

/// Options of git whose next word is their value.
const GIT_VALUES: [&str; 6] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--config-env",
];

/// The options before the first word that is none.
fn before_verb(command: &SimpleCommand) -> impl Iterator<Item = &str> {
    let mut value = false;
    let option = move |word: &&str| {
        let stands = value || word.starts_with('-');
        value = !value && GIT_VALUES.contains(word);
        stands
    };
    command
        .args()
        .iter()
        .map(|word| word.text.as_str())
        .take_while(option)
}

/// Whether an interpreter gets neither a script file nor a script in its arguments.
fn is_unscripted(command: &SimpleCommand) -> bool {
    !command.wrapper && command.operands().all(|word| word.text == "-")
}

/// Whether the command's first operands are the verb's words; options before and between them may have values, so
/// any of the first four operands may start it.
fn has_verb(command: &SimpleCommand, verb: &str) -> bool {
    let wanted: Vec<&str> = verb.split(' ').collect();
    let operands: Vec<&str> = command.operands().map(|word| word.text.as_str()).collect();
    operands
        .windows(wanted.len())
        .take(4)
        .any(|window| window == wanted)
}

/// Whether one of the options is among the arguments.
fn has_any_flag(command: &SimpleCommand, flags: &Words) -> bool {
    let given = |word: &str| flags.0.iter().any(|flag| is_flag(word, flag));
    command.args().iter().any(|word| given(&word.text))
}

/// Whether a word is the option: a letter in a cluster, a long name or an abbreviation of it, with or without a
/// value, or a word with one dash (`-delete`, `-fprint*`) or none as it is.
fn is_flag(word: &str, flag: &str) -> bool {
    if let Some(long) = flag.strip_prefix("--") {
        let name = word.strip_prefix("--").and_then(|given| given.split('=').next());
        return match name {
            Some("") => long.is_empty() && word == "--",
            Some(given) => long.starts_with(given),
            None => false,
        };
    }
    let letter = flag.strip_prefix('-').filter(|name| name.chars().count() == 1);
    match (letter, flag.strip_suffix('*')) {
        (Some(letter), _) => word.starts_with('-') && !word.starts_with("--") && word[1..].contains(letter),
        (None, Some(start)) => word.starts_with(start),
        (None, None) => word == flag || word.split('=').next() == Some(flag),
    }
}

/// Everything `assets/risk.json` knows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Risks {
    pub(crate) rules: Vec<Rule>,
    pub(crate) harmless_variables: Vec<String>,
    /// Globs of variables that choose which programs run, or what they load.
    pub(crate) program_variables: Words,
    /// Programs whose first operand is text and no path.
    pub(crate) text_first: Words,
    /// Programs that change the files they name.
    pub(crate) changers: Words,
    /// Programs that run a program given to them as text or as a file.
    pub(crate) interpreters: Words,
    /// Devices that hold disks, by absolute path.
    pub(crate) disks: Pattern,
    /// Options that change nothing about what a program does, so that an answer without them covers them.
    pub(crate) quiet_options: Words,
    /// Programs that start others among their words.
    pub(crate) launchers: Words,
    /// Programs that talk to other machines.
    pub(crate) network: Words,
    /// Programs whose first operand says what they do.
    pub(crate) verb_programs: Words,
    /// Programs that are remembered by exact text only.
    pub(crate) exact_programs: Words,
    /// Paths that may hold something private, lower case.
    pub(crate) sensitive: Vec<Pattern>,
    /// Paths whose change runs something later, lower case.
    pub(crate) runs_later: Vec<Pattern>,
    /// Directories of the system and devices, lower case, absolute.
    pub(crate) system: Vec<Pattern>,
    /// Homes and the root, lower case, as a word may name them.
    pub(crate) homes: Vec<Pattern>,
}

/// The risk table, read once.
pub(crate) fn risks() -> &'static Risks {
    static RISKS: OnceLock<Risks> = OnceLock::new();
    RISKS.get_or_init(|| {
        serde_json::from_str(include_str!("../../../assets/risk.json"))
            .expect("the risk table is read by a test")
    })
}

/// The built-in deny rules, read once.
pub(crate) fn denials() -> &'static [Rule] {
    static DENIALS: OnceLock<Vec<Rule>> = OnceLock::new();
    DENIALS.get_or_init(|| {
        serde_json::from_str(include_str!("../../../assets/policy.json"))
            .expect("the policy table is read by a test")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read_and_complete() {
        assert!(
            risks()
                .rules
                .iter()
                .all(|rule| rule.level.is_some() && !rule.reason.is_empty())
        );
        assert!(
            denials()
                .iter()
                .all(|rule| rule.level.is_none() && !rule.name.is_empty())
        );
    }

    #[test]
    fn an_option_is_known_in_every_spelling() {
        for (word, flag, same) in [
            ("-rf", "-r", true),
            ("-fR", "-R", true),
            ("--recursive", "--recursive", true),
            ("--rec", "--recursive", true),
            ("--output=x", "--output", true),
            ("--outp=x", "--output", true),
            ("--outputs", "--output", false),
            ("-delete", "-delete", true),
            ("-fprintf", "-fprint*", true),
            ("-name", "-delete", false),
            ("--", "--", true),
            ("--", "--output", false),
            ("r", "-r", false),
        ] {
            assert_eq!(is_flag(word, flag), same, "{word} {flag}");
        }
    }
}
