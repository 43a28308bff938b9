//! Whether a repository's `AGENTS.md` may be followed. What it says steers the model, and somebody else may have written it:
//! so the user is told once what a new one holds, and asked when it names commands. The answer is kept for that file with
//! that content; another content is another question. Without anybody to ask, a file that names commands is left out
//! unless everything was allowed (`--yes`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wisp_host::files;

use super::{AgentsFile, AgentsFiles};
use crate::engine::desk::Asker;
use crate::events::Events;
use crate::protocol::{Choice, ChoiceOption, NoteLevel};

const FOLLOW: &str = "follow";
/// The most commands that a question shows, and the most characters of one.
const SHOWN: usize = 5;
const WIDTH: usize = 80;
/// The largest file of answers that is read, bytes.
const MOST_BYTES: u64 = 1024 * 1024;

/// The contents that the user knows: the digest of each file when it was agreed to or told of.
#[derive(Debug)]
pub struct KnownFiles {
    file: PathBuf,
    digests: BTreeMap<String, String>,
}

impl KnownFiles {
    /// Those kept in a file, which need not exist. One that cannot be read, or that others can write, knows none.
    pub fn at(file: PathBuf) -> Self {
        let digests = files::open_own(&file)
            .ok()
            .filter(|open| open.metadata().is_ok_and(|meta| meta.len() <= MOST_BYTES))
            .filter(|open| files::trusted(open, &file).is_ok())
            .and_then(|open| serde_json::from_reader(open).ok())
            .unwrap_or_default();
        Self { file, digests }
    }

    /// Whether a file is known with the content it has.
    pub fn has(&self, file: &AgentsFile) -> bool {
        self.digests.get(&key(&file.path)) == Some(&file.digest)
    }

    /// Keeps a file's content as known.
    pub fn keep(&mut self, file: &AgentsFile) -> Result<(), files::FileError> {
        self.digests.insert(key(&file.path), file.digest.clone());
        let bytes = serde_json::to_vec_pretty(&self.digests).expect("a map of texts is JSON");
        files::replace(&self.file, &bytes)
    }
}

fn key(path: &Path) -> String {
    path.display().to_string()
}

/// Takes out what may not be followed, asks about what is new, and says what is.
pub async fn settle(
    found: &mut AgentsFiles,
    mut known: KnownFiles,
    events: &Events,
    person: Option<&Asker>,
    yes: bool,
) {
    for why in &found.left_out {
        events.note(NoteLevel::Warning, why.clone());
    }
    let mut followed = Vec::new();
    for file in std::mem::take(&mut found.files) {
        if file.own || known.has(&file) {
            followed.push(file);
            continue;
        }
        let asks = !file.commands().is_empty();
        if asks && !yes && !agrees(&file, events, person).await {
            let text = format!(
                "{} is not followed: it names commands, and nobody agreed to it here",
                file.path.display()
            );
            let hint = if person.is_some() {
                ""
            } else {
                " (hint: wisp chat in this directory asks once)"
            };
            events.note(NoteLevel::Warning, format!("{text}{hint}"));
            continue;
        }
        events.note(NoteLevel::Info, told(&file));
        if let Err(error) = known.keep(&file) {
            events.note(
                NoteLevel::Warning,
                format!("this is asked again next time: {error}"),
            );
        }
        followed.push(file);
    }
    found.files = followed;
}

/// What a new file holds, in a line.
fn told(file: &AgentsFile) -> String {
    let lines = wisp_output::amount::counted(file.lines() as u64, "line");
    let first = file.text.lines().map(str::trim).find(|line| !line.is_empty());
    let first: String = first.unwrap_or_default().chars().take(WIDTH).collect();
    format!(
        "{} is followed as your instructions ({lines}): {first}",
        file.path.display()
    )
}

async fn agrees(file: &AgentsFile, events: &Events, person: Option<&Asker>) -> bool {
    let Some(person) = person else { return false };
    let commands = file.commands();
    let mut shown: Vec<String> = commands
        .iter()
        .take(SHOWN)
        .map(|command| format!("  {}", command.chars().take(WIDTH).collect::<String>()))
        .collect();
    if commands.len() > SHOWN {
        shown.push(format!("  and {} more", commands.len() - SHOWN));
    }
    let lines = wisp_output::amount::counted(file.lines() as u64, "line");
    let text = format!(
        "{} ({lines}) names commands for the model to run:\n{}",
        file.path.display(),
        shown.join("\n")
    );
    events.note(NoteLevel::Info, text);
    let option = |value: &str, label: &str, detail: &str| ChoiceOption {
        value: value.to_owned(),
        label: label.to_owned(),
        detail: detail.to_owned(),
        on: false,
    };
    let choice = Choice {
        title: "Follow this AGENTS.md? Commands are still asked about.".to_owned(),
        options: vec![
            option(FOLLOW, "Follow it", "remembered until the file changes"),
            option("leave", "Leave it out", "asked again next time"),
        ],
        ..Choice::default()
    };
    person.choose(choice).await.as_deref() == Some(FOLLOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str, digest: &str) -> AgentsFile {
        AgentsFile {
            path: PathBuf::from("/p/AGENTS.md"),
            text: text.to_owned(),
            digest: digest.to_owned(),
            own: false,
        }
    }

    #[test]
    fn a_content_is_known_by_its_digest() {
        let home = tempfile::tempdir().expect("a directory");
        let place = home.path().join("agents.json");
        let mut known = KnownFiles::at(place.clone());
        assert!(!known.has(&file("a", "1")));
        known.keep(&file("a", "1")).expect("kept");
        assert!(KnownFiles::at(place.clone()).has(&file("a", "1")));
        assert!(!KnownFiles::at(place).has(&file("b", "2")));
    }

    #[test]
    fn a_new_file_is_told_by_its_first_line() {
        assert_eq!(
            told(&file("\n# Rules\nUse tabs.\n", "")),
            "/p/AGENTS.md is followed as your instructions (3 lines): # Rules"
        );
    }
}
