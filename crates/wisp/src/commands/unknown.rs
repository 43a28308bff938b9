//! A word that is nearly a subcommand: `wisp modles` is a slip, not a prompt to send to a model.

use clap::CommandFactory;

use crate::args::Cli;

/// A word that was typed where a subcommand stands, and what was probably meant.
#[derive(Debug, thiserror::Error)]
#[error("there is no command {word}; {instead}")]
pub struct NoCommand {
    word: String,
    instead: String,
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

/// Words that are commands of other programs and none of wisp's, and what does the same here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("version", "wisp --version"),
    ("update", "nothing: install the new version over this one"),
    ("upgrade", "nothing: install the new version over this one"),
    ("install", "wisp models pull NAME, for a model"),
    ("pull", "wisp models pull NAME"),
    ("list", "wisp models, wisp threads or wisp outputs"),
    (
        "login",
        "nothing: wisp has no account; the server's key is ollama.apiKey",
    ),
    (
        "logout",
        "nothing: wisp has no account; the server's key is ollama.apiKey",
    ),
    ("init", "nothing: wisp needs no setup; wisp doctor checks it"),
    ("setup", "nothing: wisp needs no setup; wisp doctor checks it"),
    ("resume", "wisp chat --resume"),
    ("continue", "wisp chat --resume"),
    ("sessions", "wisp threads"),
    ("history", "wisp threads"),
    ("settings", "wisp config"),
    ("status", "wisp doctor"),
    ("audit", "wisp logs"),
    ("man", "wisp help"),
    ("manual", "wisp help"),
    ("usage", "wisp help"),
    ("completion", "nothing yet: there are no completions for shells"),
    ("completions", "nothing yet: there are no completions for shells"),
];

/// Whether a prompt is plainly a command: one such word alone, or `pull` and its like with the name of a model.
pub fn elsewhere(prompt: &[String]) -> Result<(), NoCommand> {
    let (word, given) = match prompt {
        [word] => (word, None),
        [word, given] if ["pull", "install", "resume"].contains(&word.as_str()) => (word, Some(given)),
        _ => return Ok(()),
    };
    match ELSEWHERE.iter().find(|(name, _)| name == word) {
        None => Ok(()),
        Some((_, here)) => Err(NoCommand {
            word: word.clone(),
            instead: format!("what does it here: {here}"),
            rest: given.map_or_else(String::new, |word| format!(" {word}")),
        }),
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
    let word = &word.to_ascii_lowercase();
    if word.len() < 3 || !word.chars().all(|c| c.is_ascii_lowercase()) {
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
        instead: format!("did you mean `wisp {}`?", near.get_name()),
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
        assert_eq!(said(&["Modles"]).as_deref(), Some(modles));
        for (slip, meant) in [
            ("log", "logs"),
            ("cht", "chat"),
            ("tool", "tools"),
            ("shwo", "show"),
        ] {
            let told = format!("did you mean `wisp {meant}`?");
            assert!(said(&[slip]).is_some_and(|said| said.contains(&told)), "{slip}");
        }
    }

    #[test]
    fn a_word_that_is_a_command_of_other_programs_is_no_prompt() {
        let said = |prompt: &[&str]| {
            let words: Vec<String> = prompt.iter().map(|word| (*word).to_owned()).collect();
            elsewhere(&words).err().map(|no| format!("{no} {}", no.hint()))
        };
        assert_eq!(
            said(&["pull", "qwen3:8b"]).as_deref(),
            Some(
                "there is no command pull; what does it here: wisp models pull NAME to send it to the model: wisp respond \"pull qwen3:8b\""
            )
        );
        for (word, _) in ELSEWHERE {
            assert!(said(&[word]).is_some(), "{word}");
            assert_eq!(said(&[word, "the", "parser"]), None, "{word}");
        }
        assert_eq!(said(&["update", "README"]), None);
        assert_eq!(said(&["hello"]), None);
        for prompt in [
            &["hello"][..],
            &["hi"],
            &["why does this fail?"],
            &["list", "outputs"],
            &["shop", "tips"],
            &["outpus", "of", "the build"],
            &["modles", "help"],
            &[],
        ] {
            assert_eq!(said(prompt), None, "{prompt:?}");
        }
    }
}
