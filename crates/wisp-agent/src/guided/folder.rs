//! The files of the conversation's folder as guided calls need them: which there are, and what changed between two looks.
//!
//! Both looks are bounded: a folder with more files than [`MOST`] gives none, and then paths are free text. Only the
//! text of small files is kept, to say which lines changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use similar::{ChangeTag, TextDiff};

/// The most files that are offered by name and looked at for changes.
pub const MOST: usize = 60;
/// The most entries of directories that are read in one look.
const ENTRIES: usize = 2_000;
/// How deep a look goes.
const DEPTH: usize = 6;
/// The largest file whose text is kept, bytes.
const SMALL: u64 = 64 * 1024;
/// The most bytes of text that a look keeps.
const TEXTS: u64 = 1024 * 1024;
/// The most changed lines that are shown of one change.
const SHOWN: usize = 12;
/// The most characters of a shown line.
const WIDTH: usize = 160;
/// Directories whose files nobody means.
const SKIPPED: &[&str] = &["node_modules", "target", "__pycache__", "venv", "dist", "build"];

/// One file as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct File {
    bytes: u64,
    changed: Option<SystemTime>,
    text: Option<Arc<str>>,
}

/// One look at the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Snapshot {
    files: BTreeMap<String, File>,
    /// Whether there are more files than are looked at.
    more: bool,
}

impl Snapshot {
    /// Looks at a folder.
    pub fn at(folder: &Path) -> Self {
        let mut look = Self::default();
        let (mut entries, mut texts) = (0, 0);
        look.walk(folder, "", 0, &mut entries);
        if look.more {
            return look;
        }
        for (name, file) in &mut look.files {
            let hidden = name.split('/').any(|part| part.starts_with('.'));
            if !hidden && file.bytes <= SMALL && texts + file.bytes <= TEXTS {
                texts += file.bytes;
                file.changed = None;
                file.text = fs::read(folder.join(name))
                    .ok()
                    .and_then(|b| String::from_utf8(b).ok())
                    .map(Into::into);
            }
        }
        look
    }

    fn walk(&mut self, folder: &Path, under: &str, depth: usize, entries: &mut usize) {
        let Ok(read) = fs::read_dir(folder.join(under)) else {
            return;
        };
        for entry in read.flatten() {
            *entries += 1;
            if *entries > ENTRIES || self.files.len() > MOST {
                self.more = true;
                return;
            }
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let Ok(kind) = entry.file_type() else { continue };
            let path = if under.is_empty() {
                name.clone()
            } else {
                format!("{under}/{name}")
            };
            if kind.is_dir() {
                if !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) && depth < DEPTH {
                    self.walk(folder, &path, depth + 1, entries);
                }
            } else if kind.is_file()
                && let Ok(meta) = entry.metadata()
            {
                let file = File {
                    bytes: meta.len(),
                    changed: meta.modified().ok(),
                    text: None,
                };
                self.files.insert(path, file);
            }
        }
        self.more |= self.files.len() > MOST;
    }

    /// The files by their paths in the folder, sorted; none when there are more than [`MOST`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let none = self.more;
        self.files.keys().filter(move |_| !none).map(String::as_str)
    }

    /// Whether there are too many files to name.
    pub fn has_more(&self) -> bool {
        self.more
    }

    /// Whether a file is there.
    pub fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The text of a small file.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name)?.text.as_deref()
    }

    /// Files that are another than in an earlier look: new, gone or with another content.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> Vec<&'a str> {
        if self.more || before.more {
            return Vec::new();
        }
        let gone = before.files.keys().filter(|name| !self.files.contains_key(*name));
        let other = self
            .files
            .iter()
            .filter(|(name, file)| match before.files.get(*name) {
                None => true,
                Some(was) => match (&file.text, &was.text) {
                    (Some(is), Some(was)) => is != was,
                    _ => *file != was,
                },
            });
        let mut names: Vec<&str> = other
            .map(|(name, _)| name.as_str())
            .chain(gone.map(String::as_str))
            .collect();
        names.sort_unstable();
        names
    }

    /// The changes since an earlier look in lines for the model: the file, what became of it, its changed lines.
    pub fn told_since(&self, before: &Self) -> String {
        let mut lines = Vec::new();
        for name in self.changed_since(before) {
            let what = match (before.has(name), self.has(name)) {
                (false, _) => "created",
                (_, false) => "deleted",
                _ => "changed",
            };
            lines.push(format!("{name} {what}:"));
            let (was, is) = (before.text(name).unwrap_or(""), self.text(name).unwrap_or(""));
            lines.extend(changed_lines(was, is));
        }
        match lines.len() {
            0..=24 => lines.join("\n"),
            n => format!("{}\n[{} more lines]", lines[..24].join("\n"), n - 24),
        }
    }
}

/// The lines that differ, `-` before those that went and `+` before those that came.
fn changed_lines(was: &str, is: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(was, is);
    let changed = diff.iter_all_changes().filter_map(|change| {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => return None,
        };
        let text: String = change
            .value()
            .trim_end_matches(['\r', '\n'])
            .chars()
            .take(WIDTH)
            .collect();
        Some(format!("{sign}{text}"))
    });
    let mut lines: Vec<String> = changed.take(SHOWN + 1).collect();
    if lines.len() > SHOWN {
        lines.truncate(SHOWN);
        lines.push("[and more]".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        #[allow(
            clippy::disallowed_methods,
            reason = "a folder of the user's is what is looked at"
        )]
        let made = fs::create_dir_all(path.parent().expect("a parent")).and_then(|()| fs::write(path, text));
        made.expect("written");
    }

    #[test]
    fn a_look_names_files_and_skips_what_nobody_means() {
        let home = tempfile::tempdir().expect("a directory");
        for name in [
            "b.txt",
            "src/a.py",
            ".git/config",
            "node_modules/x/y.js",
            "src/__pycache__/a.pyc",
            ".env",
        ] {
            put(home.path(), name, "x\n");
        }
        let look = Snapshot::at(home.path());
        assert_eq!(look.names().collect::<Vec<_>>(), [".env", "b.txt", "src/a.py"]);
        assert_eq!((look.text("b.txt"), look.text(".env")), (Some("x\n"), None));
    }

    #[test]
    fn changes_are_told_by_their_lines() {
        let home = tempfile::tempdir().expect("a directory");
        put(home.path(), "report.txt", "Quarterly report\nStatus: draft\n");
        put(home.path(), "old.txt", "gone\n");
        let before = Snapshot::at(home.path());
        assert_eq!(Snapshot::at(home.path()).told_since(&before), "");
        put(home.path(), "report.txt", "Quarterly report\nStatus: final\n");
        put(home.path(), "new.py", "print(1)\n");
        fs::remove_file(home.path().join("old.txt")).expect("removed");
        assert_eq!(
            Snapshot::at(home.path()).told_since(&before),
            "new.py created:\n+print(1)\nold.txt deleted:\n-gone\nreport.txt changed:\n-Status: draft\n+Status: final"
        );
    }

    #[test]
    fn a_folder_of_many_files_names_none() {
        let home = tempfile::tempdir().expect("a directory");
        for n in 0..=MOST {
            put(home.path(), &format!("{n}.txt"), "x");
        }
        let look = Snapshot::at(home.path());
        assert!(look.has_more());
        assert_eq!(look.names().count(), 0);
    }
}
