//! Programs that start another one named in their arguments, and how far their own arguments go.

use crate::command::{SimpleCommand, Word};
use crate::tree::Unreadable;

/// What stands after a wrapper's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The command, as words.
    Words,
    /// So many operands, then the command as words.
    After(usize),
    /// `NAME=value`s, then the command as words.
    Assignments,
    /// The command as words, to which more are added when it runs.
    Open,
    /// A script in one word, or in all of them joined.
    Script,
}

/// A program that starts another.
struct Wrapper {
    name: &'static str,
    /// Options that take the next word for a value: short ones as letters, long ones by name.
    letters: &'static str,
    long: &'static [&'static str],
    /// Options without a value.
    flags: &'static str,
    then: Then,
}

const fn wrapper(
    name: &'static str,
    letters: &'static str,
    long: &'static [&'static str],
    flags: &'static str,
    then: Then,
) -> Wrapper {
    Wrapper {
        name,
        letters,
        long,
        flags,
        then,
    }
}

/// The wrappers. An option that is not in a row makes the line unreadable: its value could be taken for the program.
const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        "ugpCchTrtU",
        &["user", "group", "prompt", "chdir", "host"],
        "AbEHiknPSsvK",
        Then::Assignments,
    ),
    wrapper("doas", "uC", &[], "Lns", Then::Words),
    wrapper("env", "u", &["unset"], "i0v", Then::Assignments),
    wrapper("nice", "n", &["adjustment"], "", Then::Words),
    wrapper("ionice", "cnpPu", &["class", "classdata"], "t", Then::Words),
    wrapper("chrt", "TPD", &[], "abdfimorRv", Then::After(1)),
    wrapper("nohup", "", &[], "", Then::Words),
    wrapper("setsid", "", &[], "cfw", Then::Words),
    wrapper("time", "f", &["format"], "pqv", Then::Words),
    wrapper("timeout", "ks", &["kill-after", "signal"], "vfp", Then::After(1)),
    wrapper("stdbuf", "ioe", &["input", "output", "error"], "", Then::Words),
    wrapper("unbuffer", "", &[], "p", Then::Words),
    wrapper("chronic", "", &[], "ve", Then::Words),
    wrapper("caffeinate", "tw", &[], "disum", Then::Words),
    wrapper("command", "", &[], "p", Then::Words),
    wrapper("builtin", "", &[], "", Then::Words),
    wrapper("exec", "a", &[], "cl", Then::Words),
    wrapper("busybox", "", &[], "", Then::Words),
    wrapper("toybox", "", &[], "", Then::Words),
    wrapper(
        "flock",
        "wE",
        &["timeout", "conflict-exit-code"],
        "sxneoFuv",
        Then::After(1),
    ),
    wrapper(
        "xargs",
        "IdEnLPsa",
        &[
            "replace",
            "delimiter",
            "max-args",
            "max-lines",
            "max-procs",
            "max-chars",
            "arg-file",
        ],
        "0rtxpei",
        Then::Open,
    ),
    wrapper("eval", "", &[], "", Then::Script),
    wrapper("watch", "n", &["interval"], "bcdegptxw", Then::Script),
];

/// Long options without a value that any of them may have.
const LONG_FLAGS: &[&str] = &[
    "null",
    "no-run-if-empty",
    "verbose",
    "ignore-environment",
    "preserve-status",
    "foreground",
    "exit",
    "interactive",
    "differences",
    "color",
    "no-title",
    "beep",
    "errexit",
    "chgexit",
    "portability",
    "nonblock",
    "shared",
    "exclusive",
    "close",
    "wait",
    "preserve-env",
    "non-interactive",
    "stdin",
    "login",
    "set-home",
    "shell",
];

/// Shells whose `-c` is a script.
pub(crate) const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"];

/// What a command starts.
pub(crate) enum Started {
    /// Nothing that is named in it.
    Nothing,
    /// Another command.
    Command(SimpleCommand),
    /// Several (`find` with more than one `-exec`).
    Commands(Vec<SimpleCommand>),
    /// A script.
    Script(String),
}

/// Looks into one command.
pub(crate) fn started(command: &SimpleCommand) -> Result<Started, Unreadable> {
    let Some(name) = command.name() else {
        return Ok(Started::Nothing);
    };
    if SHELLS.contains(&name) {
        return shell_script(command);
    }
    match name {
        "find" => return find_exec(command),
        "trap" => return trap(command),
        "command" if asks_about_commands(command) => return Ok(Started::Nothing),
        _ => {}
    }
    match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        Some(wrapper) => unwrap(command, wrapper),
        None => Ok(Started::Nothing),
    }
}

/// `command -v NAME` prints where NAME is.
fn asks_about_commands(command: &SimpleCommand) -> bool {
    command
        .args()
        .first()
        .is_some_and(|word| word.is("-v") || word.is("-V"))
}

fn unwrap(command: &SimpleCommand, wrapper: &Wrapper) -> Result<Started, Unreadable> {
    let rest = after_options(command.args(), wrapper)?;
    let (inner, set) = match wrapper.then {
        Then::After(count) => (rest.get(count..).unwrap_or_default(), Vec::new()),
        Then::Assignments => leading_assignments(rest),
        _ => (rest, Vec::new()),
    };
    if inner.is_empty() {
        return Ok(Started::Nothing);
    }
    if wrapper.then == Then::Script {
        return script(inner);
    }
    let mut inner = inner.to_vec();
    if wrapper.then == Then::Open {
        fill_in(&mut inner, command.args());
    }
    let mut started = SimpleCommand::of_words(inner, wrapper.then == Then::Open || command.open);
    started.assignments = command.assignments.iter().cloned().chain(set).collect();
    Ok(Started::Command(started))
}

/// With `xargs -I TEXT` (also `-i`, `--replace`), every word with TEXT in it is known only when it runs.
fn fill_in(words: &mut [Word], args: &[Word]) {
    let mut replaced: Vec<&str> = Vec::new();
    let mut args = args.iter().map(|word| word.text.as_str()).peekable();
    while let Some(word) = args.next() {
        let short = word.strip_prefix("-I").or_else(|| word.strip_prefix("-i"));
        let long = word.strip_prefix("--replace");
        match (short, long) {
            (Some(""), _) if word == "-I" => replaced.extend(args.peek()),
            (Some(""), _) | (_, Some("")) => replaced.push("{}"),
            (Some(text), _) => replaced.push(text),
            (_, Some(text)) => replaced.push(text.trim_start_matches('=')),
            _ => {}
        }
        // A cluster such as `-0I{}`.
        if let Some((_, text)) = word.strip_prefix('-').and_then(|letters| letters.split_once('I')) {
            replaced.extend(if text.is_empty() {
                args.peek().copied()
            } else {
                Some(text)
            });
        }
    }
    for word in words {
        word.literal &= !replaced
            .iter()
            .any(|text| !text.is_empty() && word.text.contains(text));
    }
}

/// The words after a wrapper's own options.
fn after_options<'a>(args: &'a [Word], wrapper: &Wrapper) -> Result<&'a [Word], Unreadable> {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        if !word.text.starts_with('-') || word.text == "-" {
            break;
        }
        if word.is("--") {
            return Ok(&args[at + 1..]);
        }
        at += 1 + values_of(word, wrapper)?;
    }
    Ok(args.get(at..).unwrap_or_default())
}

/// How many of the next words are the option's value.
fn values_of(word: &Word, wrapper: &Wrapper) -> Result<usize, Unreadable> {
    let unknown = || {
        Unreadable::new(format!(
            "{} has an option whose meaning is not known: {}",
            wrapper.name, word.text
        ))
    };
    if !word.literal {
        return Err(unknown());
    }
    if let Some(long) = word.text.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or(long);
        let joined = long.contains('=');
        return match (wrapper.long.contains(&name), LONG_FLAGS.contains(&name)) {
            (true, _) => Ok(usize::from(!joined)),
            (false, true) => Ok(0),
            (false, false) => Err(unknown()),
        };
    }
    if wrapper.name == "nice" && word.text[1..].bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return Ok(0);
    }
    let letters = &word.text[1..];
    for (at, letter) in letters.char_indices() {
        if wrapper.letters.contains(letter) {
            return Ok(usize::from(at + letter.len_utf8() == letters.len()));
        }
        if !wrapper.flags.contains(letter) {
            return Err(unknown());
        }
    }
    Ok(0)
}

/// The words at the beginning that set variables: to `env` every word with an equals sign is one, whatever the shell would
/// say of its name.
fn leading_assignments(words: &[Word]) -> (&[Word], Vec<(String, Word)>) {
    let sets = |word: &Word| {
        let (name, value) = word.text.split_once('=')?;
        let proper = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (proper || word.literal).then(|| {
            (
                name.to_owned(),
                Word {
                    text: value.to_owned(),
                    ..word.clone()
                },
            )
        })
    };
    let set: Vec<_> = words.iter().map_while(sets).collect();
    (&words[set.len()..], set)
}

/// Words joined into a script, when all of them are known.
fn script(words: &[Word]) -> Result<Started, Unreadable> {
    if !words.iter().all(|word| word.literal && !word.glob) {
        return Err(Unreadable::new(
            "it runs a script that is put together when it runs",
        ));
    }
    let text = words
        .iter()
        .map(|word| word.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    Ok(Started::Script(text))
}

/// The script after a shell's `-c`, also in a cluster such as `-lc`.
fn shell_script(command: &SimpleCommand) -> Result<Started, Unreadable> {
    let mut args = command.args().iter();
    let mut wanted = false;
    while let Some(word) = args.next() {
        let option = word.text.starts_with(['-', '+']) && word.text.len() > 1;
        if !word.literal && (wanted || word.may_be_option()) {
            return Err(Unreadable::new(
                "it runs a script that is put together when it runs",
            ));
        }
        if !option || word.text == "--" {
            if word.text == "--" {
                continue;
            }
            return if wanted {
                script(std::slice::from_ref(word))
            } else {
                Ok(Started::Nothing)
            };
        }
        let cluster = !word.text.starts_with("--") && word.text.starts_with('-');
        wanted |= cluster && word.text.contains('c') || word.text == "--command";
        let takes_value =
            matches!(word.text.as_str(), "--rcfile" | "--init-file") || word.text[1..].ends_with(['o', 'O']);
        if takes_value {
            args.next();
        }
    }
    if wanted {
        return Err(Unreadable::new("a shell's -c has no script"));
    }
    Ok(Started::Nothing)
}

/// The commands of `find -exec` and its like, each up to `;` or `+`.
fn find_exec(command: &SimpleCommand) -> Result<Started, Unreadable> {
    let args = command.args();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        if !["-exec", "-execdir", "-ok", "-okdir"].contains(&word.text.as_str()) {
            continue;
        }
        let Some(length) = args[at..].iter().position(|w| w.is(";") || w.is("+")) else {
            return Err(Unreadable::new("find's -exec has no end"));
        };
        let words = args[at..at + length].iter().map(replaced).collect();
        found.push(SimpleCommand::of_words(words, true));
        at += length + 1;
    }
    Ok(if found.is_empty() {
        Started::Nothing
    } else {
        Started::Commands(found)
    })
}

/// `{}` stands for a name that is not known here.
fn replaced(word: &Word) -> Word {
    Word {
        literal: word.literal && !word.text.contains("{}"),
        ..word.clone()
    }
}

/// The script `trap` keeps for later; `-`, `''` and `-l` take one away or list them.
fn trap(command: &SimpleCommand) -> Result<Started, Unreadable> {
    match command.operands().next() {
        Some(word) if !word.text.is_empty() => script(std::slice::from_ref(word)),
        _ => Ok(Started::Nothing),
    }
}
