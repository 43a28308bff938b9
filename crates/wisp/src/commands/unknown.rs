//! A word that is nearly a subcommand: `wisp modles` is a slip, not a prompt to send to a model.

use clap::CommandFactory;

use crate::args::Cli;

/// A word that was typed where a subcommand stands, and the one it is near to.
#[derive(Debug, thiserror::Error)]
#[error("there is no command {word}; did you mean `wisp {near}`?")]
pub struct NoCommand {
    word: String,
    near: String,
    rest: String,
}

impl NoCommand {
    /// How it is sent as a prompt all the same.
    pub fn hint(&self) -> String {
        format!(
            "to send it to the model: wisp respond \"{}{}\"",
            self.word, self.rest
        )
    }
}

/// Whether the words of a prompt are a slip for a subcommand: alone, or with one word that a subcommand is given.
/// Longer prompts, quoted ones and those that begin with another word are prompts.
pub fn slip(prompt: &[String]) -> Result<(), NoCommand> {
    let (word, given) = match prompt {
        [word] => (word, None),
        [word, given] => (word, Some(given)),
        _ => return Ok(()),
    };
    if word.len() < 4 || !word.chars().all(|c| c.is_ascii_lowercase()) {
        return Ok(());
    }
    let all = Cli::command();
    let names = all
        .get_subcommands()
        .flat_map(clap::Command::get_name_and_visible_aliases);
    let Some(near) = wisp_config::nearest(word, names).and_then(|near| all.find_subcommand(near)) else {
        return Ok(());
    };
    if given.is_some_and(|given| !is_given(given, &made(near))) {
        return Ok(());
    }
    Err(NoCommand {
        word: word.clone(),
        near: near.get_name().to_owned(),
        rest: given.map_or_else(String::new, |word| format!(" {word}")),
    })
}

/// A command with the commands of its own, which are made only when they are needed; without clap's `help`.
fn made(command: &clap::Command) -> clap::Command {
    let mut made = command.clone().disable_help_subcommand(true);
    made.build();
    made
}

/// Whether `word` is a command of `near`'s own, or a path or an id rather than a word of a sentence.
fn is_given(word: &str, near: &clap::Command) -> bool {
    near.find_subcommand(word).is_some()
        || word == "-"
        || word.contains(['.', '/', '_'])
        || word.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(prompt: &[&str]) -> Option<String> {
        let words: Vec<String> = prompt.iter().map(|word| (*word).to_owned()).collect();
        slip(&words).err().map(|slip| format!("{slip} {}", slip.hint()))
    }

    #[test]
    fn a_slip_is_told_from_a_prompt() {
        let modles = "there is no command modles; did you mean `wisp models`? to send it to the model: wisp respond \"modles\"";
        assert_eq!(said(&["modles"]).as_deref(), Some(modles));
        assert!(said(&["sumarise", "build.log"]).is_some());
        assert!(said(&["modles", "pull"]).is_some());
        for prompt in [
            &["hello"][..],
            &["hi"],
            &["why does this fail?"],
            &["list", "outputs"],
            &["shop", "tips"],
            &["outpus", "of", "the build"],
            &["Modles"],
            &["modles", "help"],
            &[],
        ] {
            assert_eq!(said(prompt), None, "{prompt:?}");
        }
    }
}
