//! Whether it was the sandbox that a command failed for: read from what it printed, since the system tells nobody else.

use std::path::{Path, PathBuf};

use wisp_exec::{Confinement, Outcome, Profile, StreamOutput};

/// The system's words for a refusal, and whether they are of the network.
const WORDS: &[(&str, bool)] = &[
    ("permission denied", false),
    ("operation not permitted", false),
    ("read-only file system", false),
    ("eacces", false),
    ("eperm", false),
    ("erofs", false),
    ("network is unreachable", true),
    ("enetunreach", true),
    ("could not resolve host", true),
    ("couldn't resolve host", true),
    ("temporary failure in name resolution", true),
    ("name or service not known", true),
    ("could not resolve proxy", true),
    ("eai_again", true),
    ("nodename nor servname", true),
    ("dns error", true),
    ("no such host", true),
];

/// How much of the end of a stream is looked through, in bytes.
const END: usize = 16 * 1024;

/// The longest line that is quoted, in characters.
const QUOTED: usize = 200;

/// A refusal by the sandbox, as far as can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The line that says so.
    pub line: String,
    /// Whether it was the network that was refused.
    pub network: bool,
}

/// The refusal a command under this confinement failed for; none when it did not fail, or for something else.
pub fn refused(outcome: &Outcome, confinement: &Confinement, directory: &Path) -> Option<Refused> {
    if outcome.ending.is_success() {
        return None;
    }
    let of = |stream: &StreamOutput| {
        let tail = if stream.tail().is_empty() {
            stream.head()
        } else {
            stream.tail()
        };
        let from = tail.len().saturating_sub(END);
        String::from_utf8_lossy(&tail[from..]).into_owned()
    };
    [of(&outcome.stderr), of(&outcome.stdout)]
        .iter()
        .find_map(|text| in_text(text, confinement, directory))
}

fn in_text(text: &str, confinement: &Confinement, directory: &Path) -> Option<Refused> {
    text.lines().find_map(|line| {
        let lower = line.to_lowercase();
        let network = WORDS.iter().find(|(words, _)| lower.contains(words))?.1;
        let by_sandbox = if network {
            confinement.profile == Profile::Read || !confinement.network
        } else {
            may_be_ours(line, confinement, directory)
        };
        by_sandbox.then(|| Refused {
            line: line.trim().chars().take(QUOTED).collect(),
            network: network && confinement.profile == Profile::Write,
        })
    })
}

/// Whether the sandbox may have refused what a line tells of. Where the line names a place that the command may write,
/// it was the system.
fn may_be_ours(line: &str, confinement: &Confinement, directory: &Path) -> bool {
    if confinement.profile == Profile::Read {
        return true;
    }
    // The program that complains stands first; it is not what it complains of, unless nothing else is named.
    let complains = line.split_whitespace().next().filter(|word| word.ends_with(':'));
    let rest = complains.map_or(line, |word| {
        &line[line.find(word).map_or(0, |at| at + word.len())..]
    });
    let line = if words(rest).next().is_some() { rest } else { line };
    let named: Vec<PathBuf> = words(line).map(|word| directory.join(word)).collect();
    let known =
        |place: &PathBuf| place.parent().is_some_and(|parent| *parent != *directory) || place.exists();
    let places: Vec<&PathBuf> = named.iter().filter(|place| known(place)).collect();
    let within = |place: &&PathBuf, list: &[PathBuf]| list.iter().any(|above| place.starts_with(above));
    let allowed = |place: &&PathBuf| {
        within(place, &confinement.writable)
            && !within(place, &confinement.read_only)
            && !within(place, &confinement.hidden)
    };
    places.is_empty() || !places.iter().all(allowed)
}

/// What in a line can be a path: without quotes around it and punctuation behind it.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let split = line.split(|c: char| c.is_whitespace() || "'\"`‘’“”()[]<>,;".contains(c));
    split
        .map(|word| word.trim_end_matches([':', '.']))
        .filter(|word| word.contains('/') || word.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement(profile: Profile) -> Confinement {
        Confinement {
            profile,
            landlock: 7,
            namespaces: true,
            network: false,
            hidden: vec!["/home/a/.wisp".into()],
            writable: vec!["/w".into(), "/tmp".into()],
            read_only: vec!["/w/.git/hooks".into()],
        }
    }

    fn found(profile: Profile, text: &str) -> Option<(String, bool)> {
        in_text(text, &confinement(profile), Path::new("/w")).map(|refused| (refused.line, refused.network))
    }

    #[test]
    fn a_refusal_is_recognised_by_the_systems_words() {
        for line in [
            "touch: cannot touch '/etc/x': Permission denied",
            "cp: cannot create regular file '/w/.git/hooks/pre-commit': Read-only file system",
            "Error: EACCES: permission denied, open '/home/a/.bashrc'",
            "chmod: changing permissions of '/etc/passwd': Operation not permitted",
            "mount: only root can do that: Operation not permitted",
        ] {
            let text = format!("one\n{line}\ntwo");
            assert_eq!(
                found(Profile::Write, &text),
                Some((line.to_owned(), false)),
                "{line}"
            );
        }
    }

    #[test]
    fn the_systems_own_refusals_of_what_is_allowed_are_not_taken_for_it() {
        for line in [
            "/bin/sh: 1: /w/x/run.sh: Permission denied",
            "cat: /tmp/a/theirs: Permission denied",
            "no such file",
            "",
        ] {
            assert_eq!(found(Profile::Write, line), None, "{line}");
        }
        // Under the profile that reads, nothing is allowed to begin with.
        assert!(found(Profile::Read, "/bin/sh: 1: cannot create x: Permission denied").is_some());
    }

    #[test]
    fn a_network_that_is_not_there_is_told_apart() {
        let line = "curl: (6) Could not resolve host: example.com";
        assert_eq!(found(Profile::Write, line), Some((line.to_owned(), true)));
        assert_eq!(found(Profile::Read, line), Some((line.to_owned(), false)));
        let mut open = confinement(Profile::Write);
        open.network = true;
        assert_eq!(in_text(line, &open, Path::new("/w")), None);
    }
}
