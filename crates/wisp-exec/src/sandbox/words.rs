//! What the launcher is told: a sandbox as words, and back. Each word is a name, `=` and a value.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::{Confinement, Limits, Profile, Sandbox};

/// What the helper is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// What the command may reach; `None` when it is only supervised.
    pub confinement: Option<Confinement>,
    /// What it may use up.
    pub limits: Limits,
    /// The program and its arguments; not empty.
    pub argv: Vec<OsString>,
}

/// Words that are not the helper's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a word of the sandbox: {}", .0.display())]
pub struct WordsError(pub OsString);

/// A sandbox as words, without the program.
pub(super) fn of(sandbox: &Sandbox) -> Vec<OsString> {
    let mut words = Vec::new();
    let Limits {
        memory,
        file,
        processes,
    } = sandbox.limits;
    for (name, limit) in [("memory", memory), ("file", file), ("processes", processes)] {
        if limit > 0 {
            words.push(format!("{name}={limit}").into());
        }
    }
    if let Some(confinement) = &sandbox.confinement {
        confined(confinement, &mut words);
    }
    words
}

fn confined(confinement: &Confinement, words: &mut Vec<OsString>) {
    let profile = match confinement.profile {
        Profile::Read => "profile=read",
        Profile::Write => "profile=write",
    };
    words.push(profile.into());
    words.push(format!("landlock={}", confinement.landlock).into());
    for (name, on) in [
        ("namespaces", confinement.namespaces),
        ("network", confinement.network),
    ] {
        if on {
            words.push(format!("{name}=on").into());
        }
    }
    let lists = [
        ("hide=", &confinement.hidden),
        ("write=", &confinement.writable),
        ("keep=", &confinement.read_only),
    ];
    for (name, paths) in lists {
        words.extend(paths.iter().map(|path| {
            let mut word = OsString::from(name);
            word.push(path);
            word
        }));
    }
}

impl Words {
    /// Reads the helper's words.
    pub fn read(words: &[OsString]) -> Result<Self, WordsError> {
        let end = words.iter().position(|word| word == "--");
        let (options, argv) = match end {
            Some(end) if end + 1 < words.len() => (&words[..end], words[end + 1..].to_vec()),
            _ => return Err(WordsError("--".into())),
        };
        let mut read = Reading::default();
        for word in options {
            read.take(word).ok_or_else(|| WordsError(word.clone()))?;
        }
        let confinement = read.profile.map(|profile| Confinement {
            profile,
            ..read.confinement
        });
        Ok(Self {
            confinement,
            limits: read.limits,
            argv,
        })
    }
}

struct Reading {
    profile: Option<Profile>,
    confinement: Confinement,
    limits: Limits,
}

impl Default for Reading {
    fn default() -> Self {
        let confinement = Confinement {
            profile: Profile::Read,
            landlock: 0,
            namespaces: false,
            network: false,
            hidden: Vec::new(),
            writable: Vec::new(),
            read_only: Vec::new(),
        };
        Self {
            profile: None,
            confinement,
            limits: Limits::default(),
        }
    }
}

impl Reading {
    fn take(&mut self, word: &OsStr) -> Option<()> {
        let bytes = word.as_bytes();
        let at = memchr::memchr(b'=', bytes)?;
        let (name, value) = (&bytes[..at], &bytes[at + 1..]);
        let path = || PathBuf::from(OsString::from_vec(value.to_vec()));
        let number = || std::str::from_utf8(value).ok()?.parse::<u64>().ok();
        match name {
            b"profile" => {
                self.profile = Some(match value {
                    b"read" => Profile::Read,
                    b"write" => Profile::Write,
                    _ => return None,
                });
            }
            b"landlock" => self.confinement.landlock = u8::try_from(number()?).ok()?,
            b"namespaces" => self.confinement.namespaces = value == b"on",
            b"network" => self.confinement.network = value == b"on",
            b"hide" => self.confinement.hidden.push(path()),
            b"write" => self.confinement.writable.push(path()),
            b"keep" => self.confinement.read_only.push(path()),
            b"memory" => self.limits.memory = number()?,
            b"file" => self.limits.file = number()?,
            b"processes" => self.limits.processes = number()?,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox() -> Sandbox {
        Sandbox {
            helper: "/bin/wisp".into(),
            confinement: Some(Confinement {
                profile: Profile::Write,
                landlock: 6,
                namespaces: true,
                network: false,
                hidden: vec!["/home/a/.ssh".into(), "/home/a/x=y -- z".into()],
                writable: vec!["/w".into(), OsString::from_vec(b"/\xff\n".to_vec()).into()],
                read_only: vec!["/w/.git/hooks".into()],
            }),
            limits: Limits {
                memory: 1,
                file: 0,
                processes: u64::MAX,
            },
        }
    }

    #[test]
    fn words_read_back_are_the_sandbox_that_was_written() {
        let argv: Vec<OsString> = ["/bin/sh", "-c", "echo --; keep=x"].map(OsString::from).to_vec();
        for confined in [true, false] {
            let mut sandbox = sandbox();
            if !confined {
                sandbox.confinement = None;
            }
            let words = sandbox.wrap(argv.clone());
            let read = Words::read(&words).unwrap();
            assert_eq!(
                (read.confinement, read.limits, &read.argv),
                (sandbox.confinement, sandbox.limits, &argv)
            );
        }
    }

    #[test]
    fn what_is_not_a_word_of_the_sandbox_is_named() {
        let read = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            Words::read(&words).map_err(|e| e.to_string())
        };
        assert_eq!(
            read(&["profile=all", "--", "x"]),
            Err("not a word of the sandbox: profile=all".into())
        );
        assert!(read(&["processes=-1", "--", "x"]).is_err());
        assert!(read(&["hidden", "--", "x"]).is_err());
        assert!(read(&["profile=read", "x"]).is_err());
        assert!(read(&["profile=read", "--"]).is_err());
    }
}
