//! Saved conversations as lists show them: how old, where they were held, what they began with.

use std::path::Path;

use jiff::Timestamp;
use wisp_context::Entry;
use wisp_host::{Env, FileError};

use crate::folder::called;
use crate::{Folder, Listed, first_words};

/// A saved conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// What its files' names say.
    pub listed: Listed,
    /// The working directory it was last held in; none when it was saved by an older wisp.
    pub directory: Option<String>,
    /// The first words of its first message; empty when its files cannot be read.
    pub first: String,
}

impl Folder {
    /// The conversations saved last, at most `most`, the last first. Of each the first line of its store is read; of one
    /// that an older wisp saved, all of it.
    pub fn overview(&self, most: usize) -> Result<Vec<Overview>, FileError> {
        let listed = self.list()?.into_iter().take(most);
        Ok(listed.map(|listed| self.overview_of(listed)).collect())
    }

    fn overview_of(&self, listed: Listed) -> Overview {
        let last = self.last_use(&listed.name).unwrap_or_default();
        let first = last.first.unwrap_or_else(|| {
            let loaded = self.load(&listed.name).ok();
            let prompt = loaded.as_ref().and_then(|loaded| {
                let turn = loaded.record.turn(1)?;
                loaded.record.entry(turn.prompt)
            });
            first_words(prompt.map_or("", Entry::text))
        });
        Overview {
            listed,
            directory: last.directory,
            first,
        }
    }
}

impl Overview {
    /// The name as it is given to `--resume`.
    pub fn called(&self) -> &str {
        called(&self.listed.name)
    }

    /// `2 h · ~/src/wisp · Fix the parser`.
    pub fn about(&self, now: Timestamp, env: &Env) -> String {
        let saved = Timestamp::try_from(self.listed.saved).unwrap_or_default();
        let directory = self.directory.as_deref();
        let directory = directory.map(|directory| env.tilde(Path::new(directory)));
        let first = Some(self.first.clone()).filter(|first| !first.is_empty());
        let parts = [Some(age(now.as_second() - saved.as_second())), directory, first];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// How long ago something was, in its largest unit: `5 min`.
pub fn age(seconds: i64) -> String {
    match seconds.max(0) {
        s if s < 60 => format!("{s} s"),
        s if s < 3600 => format!("{} min", s / 60),
        s if s < 86_400 => format!("{} h", s / 3600),
        s if s < 2 * 86_400 => "1 day".to_owned(),
        s => format!("{} days", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_conversation_is_told_by_its_age_place_and_first_words() {
        let one = Overview {
            listed: Listed {
                name: "20261130T090000-1a2b3c4d.2".into(),
                named: false,
                saved: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000),
                bytes: 9,
            },
            directory: Some("/home/ada/src/wisp".into()),
            first: "Fix the parser".into(),
        };
        let env: Env = [("HOME".to_owned(), "/home/ada".to_owned())]
            .into_iter()
            .collect();
        let now = Timestamp::from_second(1_000 + 7_300).unwrap();
        assert_eq!(one.called(), "1a2b3c4d.2");
        assert_eq!(one.about(now, &env), "2 h · ~/src/wisp · Fix the parser");
    }

    #[test]
    fn an_age_has_its_largest_unit() {
        let ages = [
            (-5, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3_600, "1 h"),
            (86_400, "1 day"),
            (172_800, "2 days"),
        ];
        for (seconds, said) in ages {
            assert_eq!(age(seconds), said);
        }
    }
}
