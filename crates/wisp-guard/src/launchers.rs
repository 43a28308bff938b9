//! Programs that start others somewhere among their words, with too many options to know how far their own go:
//! `strace`, `docker run`, `tmux new`, `git submodule foreach`. Each word is tried as the beginning of a command, and
//! each word with blanks in it as a script; what turns out grave is judged too.

use crate::command::{SimpleCommand, Word};
use crate::rules::risks;

/// How many words are tried.
const MOST: usize = 24;

/// What a launcher may start.
pub(crate) struct Launched {
    /// Commands that begin at some word.
    pub(crate) commands: Vec<SimpleCommand>,
    /// Words that may be scripts.
    pub(crate) scripts: Vec<String>,
}

/// Looks into the words of a launcher; nothing for any other program.
pub(crate) fn launched(command: &SimpleCommand) -> Launched {
    let mut found = Launched {
        commands: Vec::new(),
        scripts: Vec::new(),
    };
    let name = command.name().unwrap_or_default();
    let git = name == "git";
    if !git && !risks().launchers.has(name) {
        return found;
    }
    for (at, word) in command.args().iter().take(MOST).enumerate() {
        // What the shell gives to `-c alias.x=!cmd`, `--exec=cmd`, `-x'cmd'`.
        if let Some((_, alias)) = word.text.split_once('!').filter(|_| git) {
            found.scripts.push(alias.to_owned());
        }
        let value = word
            .text
            .split_once('=')
            .map_or(word.text.as_str(), |(_, value)| value);
        let value = value.trim_start_matches('-');
        if word.literal && value.contains([' ', ';', '\t']) {
            found.scripts.push(value.to_owned());
        }
        if !git && !word.text.starts_with('-') {
            let rest: Vec<Word> = command.args()[at..].to_vec();
            found.commands.push(SimpleCommand::of_words(rest, command.open));
        }
    }
    found
}
