//! The table of commands that only read (`assets/read-only.json`): programs with the options that are known to.
//!
//! A row is a list of what is allowed. An option it does not have, in any spelling, an abbreviation too, makes the
//! command one nothing is known about.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::command::{SimpleCommand, Word};
use crate::rules::{Pattern, Words};

/// Whether what a command prints comes out of files.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reads {
    /// It opens no file named in it.
    Nothing,
    /// It tells names, sizes and dates.
    Names,
    /// It prints what files hold.
    #[default]
    Content,
}

/// Words that are scripts of the program (`sed`).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scripts {
    /// The letter of the option whose value is one.
    letter: char,
    /// Its long name.
    long: String,
    /// What every one must look like. The first operand is one when the option is not given.
    pattern: Pattern,
}

/// One row.
#[derive(Debug, Clone, Deserialize)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a column of the table, given or not"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Row {
    programs: Words,
    /// The first words must be one of these; the rest is held against the options.
    #[serde(default)]
    verbs: Vec<String>,
    /// All words together must be one of these; nothing else of the row counts then.
    #[serde(default)]
    exactly: Vec<String>,
    /// Every word is text to the program, whatever it starts with.
    #[serde(default)]
    any: bool,
    /// Short options without a value.
    #[serde(default)]
    flags: String,
    /// Short options whose value is the rest of the word, or the next word.
    #[serde(default)]
    values: String,
    /// Long options, with or without `=value`.
    #[serde(default)]
    long: Words,
    /// Options that are a whole word with one dash.
    #[serde(default)]
    words: Words,
    /// The same, with the next word for a value.
    #[serde(default)]
    value_words: Words,
    /// `-5` and `+5` are options.
    #[serde(default)]
    numbers: bool,
    /// A value may be a number with a sign (`find -mtime -1`).
    #[serde(default)]
    word_numbers: bool,
    /// A word that is not known before it runs does no harm whatever it turns out to be: the program has no option
    /// that writes a file or starts a program.
    #[serde(default)]
    loose: bool,
    /// Every word is known before it runs.
    #[serde(default)]
    known: bool,
    /// The first word is known.
    #[serde(default)]
    first_known: bool,
    /// There is a first operand, and it and all before it are known: it is a program.
    #[serde(default)]
    some_known: bool,
    /// There is an argument at all.
    #[serde(default)]
    some: bool,
    /// What every operand looks like.
    operand: Option<Pattern>,
    /// The most operands.
    operands: Option<usize>,
    /// What no word looks like.
    refuse: Option<Pattern>,
    scripts: Option<Scripts>,
    /// Options with which it reads whole directories; `always` where it needs none.
    #[serde(default)]
    recursive: Words,
    #[serde(default)]
    reads: Reads,
    /// Files in a directory may choose which program of this name runs.
    #[serde(default)]
    version: bool,
    /// It runs a program that stands in the line, which can read what the line does not name.
    #[serde(default)]
    interprets: bool,
    /// It keeps files of its own in the home: settings, a history, a cache, logs.
    #[serde(default)]
    writes_state: bool,
}

/// Files by which a directory chooses which version of a program runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionFiles {
    programs: Words,
    files: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Table {
    rows: Vec<Row>,
    version_files: Vec<VersionFiles>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        serde_json::from_str(include_str!("../../../assets/read-only.json"))
            .expect("the table of what only reads is read by a test")
    })
}

/// The row by which a command only reads.
pub(crate) fn row_of(command: &SimpleCommand) -> Option<&'static Row> {
    table().rows.iter().find(|row| row.holds(command))
}

/// Every name of a file by which a directory chooses the version of a program.
pub(crate) fn version_file_names() -> impl Iterator<Item = &'static str> {
    table()
        .version_files
        .iter()
        .flat_map(|row| row.files.iter().map(String::as_str))
}

/// The first of these files that says which program of this name runs.
pub(crate) fn version_file<'a>(name: &str, present: &'a [String]) -> Option<&'a str> {
    let mut rows = table().version_files.iter().filter(|row| row.programs.has(name));
    rows.find_map(|row| present.iter().find(|file| row.files.contains(file)))
        .map(String::as_str)
}

/// Options of git before its verb that change nothing.
const GIT_HARMLESS: [&str; 2] = ["--no-pager", "--no-optional-locks"];

/// What the words of a command turned out to be under a row.
#[derive(Default)]
struct Read<'a> {
    operands: Vec<&'a Word>,
    scripts: Vec<&'a str>,
    /// All words up to the first operand are known.
    known_so_far: bool,
}

impl Row {
    /// Whether files in the directory may choose which program runs.
    pub(crate) fn is_versioned(&self) -> bool {
        self.version
    }

    /// What its output comes out of.
    pub(crate) fn reads(&self) -> Reads {
        self.reads
    }

    /// Whether it runs a program of its own, which can read what the line does not name.
    pub(crate) fn is_interpreter(&self) -> bool {
        self.interprets
    }

    /// Whether it may write settings, a cache or logs of its own when nothing hinders it.
    pub(crate) fn writes_state(&self) -> bool {
        self.writes_state
    }

    /// Whether the command reads whatever a directory holds.
    pub(crate) fn is_recursive(&self, command: &SimpleCommand) -> bool {
        self.recursive.has("always") || command.args().iter().any(|word| self.recurses(&word.text))
    }

    fn recurses(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or(word);
        let cluster = word.starts_with('-') && !word.starts_with("--");
        self.recursive
            .iter()
            .any(|option| match option.strip_prefix('-') {
                Some(letter) if letter.len() == 1 => cluster && word.contains(letter),
                _ => name == option,
            })
    }

    fn holds(&self, command: &SimpleCommand) -> bool {
        let Some(name) = command.name() else { return false };
        if !self.programs.has(name) || !command.is_on_path() {
            return false;
        }
        let args = without_harmless(command.args(), name);
        let literal = |words: &[Word]| words.iter().all(|word| word.literal && !word.glob);
        if !self.exactly.is_empty() {
            let words: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
            return literal(args) && !command.open && self.exactly.contains(&words.join(" "));
        }
        let Some(args) = self.after_verb(args) else {
            return false;
        };
        let no_word_refused = |p: &Pattern| !args.iter().any(|word| p.matches(&word.text));
        (!self.some || !args.is_empty())
            && (!self.known || literal(args))
            && (!self.first_known
                || args
                    .first()
                    .is_none_or(|word| word.literal || !word.may_be_option()))
            && (!command.open || self.any || self.loose)
            && self.refuse.as_ref().is_none_or(no_word_refused)
            && (self.any || self.options_hold(args))
    }

    /// The words after the verb, when the row has one; all of them when it has none.
    fn after_verb<'a>(&self, args: &'a [Word]) -> Option<&'a [Word]> {
        if self.verbs.is_empty() {
            return Some(args);
        }
        self.verbs.iter().find_map(|verb| {
            let parts: Vec<&str> = verb.split(' ').collect();
            let starts =
                args.len() >= parts.len() && parts.iter().zip(args).all(|(part, word)| word.is(part));
            starts.then(|| &args[parts.len()..])
        })
    }

    fn options_hold(&self, args: &[Word]) -> bool {
        let Some(read) = self.read(args) else { return false };
        let count = read.operands.len();
        let scripts_hold = |scripts: &Scripts| {
            let first = read.operands.first().filter(|_| read.scripts.is_empty());
            let known = first.is_none_or(|word| word.literal) && read.known_so_far;
            let mut all = read
                .scripts
                .iter()
                .copied()
                .chain(first.map(|word| word.text.as_str()));
            known
                && all.all(|script| scripts.pattern.matches(script))
                && (first.is_some() || !read.scripts.is_empty())
        };
        self.operands.is_none_or(|most| count <= most)
            && self.operand.as_ref().is_none_or(|p| {
                read.operands
                    .iter()
                    .all(|word| word.literal && !word.glob && p.matches(&word.text))
            })
            && (!self.some_known
                || read.operands.first().is_some_and(|word| word.literal) && read.known_so_far)
            && self.scripts.as_ref().is_none_or(scripts_hold)
    }

    /// Tells options from operands; `None` when there is an option the row does not have.
    fn read<'a>(&self, args: &'a [Word]) -> Option<Read<'a>> {
        let mut read = Read {
            known_so_far: true,
            ..Read::default()
        };
        let mut words = args.iter().peekable();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            let doubtful = !word.literal || word.glob;
            if read.operands.is_empty() {
                read.known_so_far &= word.literal;
            }
            if text == "--" && word.literal {
                read.operands.extend(words);
                return Some(read);
            }
            if doubtful && word.may_be_option() && !self.loose && !self.is_value(word) {
                return None;
            }
            let option = text.len() > 1 && text.starts_with('-') || self.numbers && is_number(text);
            if !option {
                read.operands.push(word);
                continue;
            }
            match self.option(text)? {
                Value::None => {}
                Value::Here(value) => read.scripts.extend(value.filter(|_| word.literal)),
                // The value is held against the options as well if it starts with a dash, for a row may err.
                Value::Next { script } => {
                    let next = words.peek().filter(|next| !next.text.starts_with('-'));
                    let value = next.is_some().then(|| words.next()).flatten();
                    if script {
                        read.scripts
                            .push(value.filter(|word| word.literal)?.text.as_str());
                    } else if let Some(value) = value {
                        let splits = !value.literal && !self.loose;
                        read.known_so_far &= value.literal;
                        if splits && value.may_be_option() {
                            return None;
                        }
                    }
                }
            }
        }
        Some(read)
    }

    /// A word that stands quoted or with a sign where only a value can be.
    fn is_value(&self, word: &Word) -> bool {
        self.word_numbers && word.literal && is_number(&word.text)
    }

    fn option<'a>(&self, text: &'a str) -> Option<Value<'a>> {
        if let Some(long) = text.strip_prefix("--") {
            return self.long_option(long);
        }
        if self.words.has(text) {
            return Some(Value::None);
        }
        if self.value_words.has(text) {
            return Some(Value::Next { script: false });
        }
        if (self.numbers || self.word_numbers) && is_number(text) {
            return Some(Value::None);
        }
        let letters = text.strip_prefix('-')?;
        for (at, letter) in letters.char_indices() {
            let script = self
                .scripts
                .as_ref()
                .is_some_and(|scripts| scripts.letter == letter);
            if script || self.values.contains(letter) {
                let rest = &letters[at + letter.len_utf8()..];
                return Some(match rest {
                    "" => Value::Next { script },
                    value => Value::Here(script.then_some(value)),
                });
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(Value::None)
    }

    fn long_option<'a>(&self, long: &'a str) -> Option<Value<'a>> {
        let (name, value) = long
            .split_once('=')
            .map_or((long, None), |(name, value)| (name, Some(value)));
        if let Some(scripts) = self.scripts.as_ref().filter(|scripts| scripts.long == name) {
            debug_assert!(!scripts.long.is_empty());
            return Some(value.map_or(Value::Next { script: true }, |value| Value::Here(Some(value))));
        }
        self.long.has(name).then_some(Value::None)
    }
}

/// Where an option's value is, and whether it is a script.
enum Value<'a> {
    None,
    Here(Option<&'a str>),
    Next { script: bool },
}

/// `-5`, `+5`, `-5k`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or_default();
    let end = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    digits.len() > end.len() && end.len() <= 1 && end.chars().all(|c| c.is_ascii_alphabetic())
}

fn without_harmless<'a>(args: &'a [Word], program: &str) -> &'a [Word] {
    let harmless = |word: &&Word| program == "git" && GIT_HARMLESS.iter().any(|option| word.is(option));
    let count = args.iter().take_while(harmless).count();
    &args[count..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::split;

    fn holds(line: &str) -> bool {
        row_of(split(line).expect(line).last().expect(line)).is_some()
    }

    #[test]
    fn an_option_a_row_does_not_have_is_not_known() {
        for line in [
            "sort --output=x a",
            "sort --compress-prog ./x a",
            "nm --plugin ./x.so a",
            "sed -n -e 1p -e '1e touch x' a",
            "sed -n 1p a -e '1e touch x'",
            "sed -n --expression='1e x' a",
            "sed -n -ne 1p -e '1e x' a",
            "sed 's/a/b/e' a",
            "sed 's/a/b/w x' a",
            "awk -We x",
            "mawk -Wexec x",
            "uniq a b",
            "xxd -ps a b",
            "git log --outpu=x",
            "git branch -v new",
            "git tag -l -d x",
            "git branch --list -d x",
            "sh -n +n x",
            "bash -n +n < x",
            "ps auxeww",
            "ps eww",
            "date -s 1",
            "date 01010101",
            "tar tf host:x",
            "grep -r --devices=x a .",
            "printf \"$x\" a",
            "sort $x",
        ] {
            assert!(!holds(line), "{line}");
        }
    }

    #[test]
    fn what_is_in_a_row_holds() {
        for line in [
            "sed -n '1,20p' a",
            "sed 's/a/b/g' a",
            "sed -n -e 1p -e 3p a",
            "head -5 a",
            "tail -n +5 a",
            "git log --oneline -5",
            "git diff HEAD~1 -- src",
            "find . -mtime -1 -name '*.rs'",
            "grep -rn x src",
            "ps aux",
            "ps -ef",
            "awk -F, '{print $1}' a",
            "jq -r '.a' x",
            "sort -k2,2n -t, a",
            "date +%s",
            "exit 1",
            "[ -f a ]",
        ] {
            assert!(holds(line), "{line}");
        }
    }

    #[test]
    fn a_directory_names_the_version_of_its_programs() {
        let present = vec!["rust-toolchain.toml".to_owned()];
        assert_eq!(version_file("cargo", &present), Some("rust-toolchain.toml"));
        assert_eq!(version_file("python3", &present), None);
    }
}
