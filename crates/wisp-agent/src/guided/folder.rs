//! The files of the conversation's folder as guided calls need them: which there are, and what changed between two looks.
//!
//! Of a small folder every file is offered by name. Of a larger one those are offered that the conversation has named so
//! far, in a request or in what a command printed, and then those at the top: a model finds the others by a command first.
//! A folder with more entries than [`ENTRIES`] offers none, and then paths are free text. Only the text of small files on
//! offer is kept, to say which lines changed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use similar::{ChangeTag, TextDiff};

/// The most files that are offered by name.
pub const MOST: usize = 60;
/// The most entries of directories that are read in one look.
const ENTRIES: usize = 20_000;
/// The most files at the top that are offered when nothing names them.
const AT_TOP: usize = 20;
/// The most files that are offered because they hold a name, and the most bytes that are searched for it.
const FOUND: usize = 8;
const SEARCHED: u64 = 32 * 1024 * 1024;
/// The most words of a conversation that are compared with the names of files.
const HEARD: usize = 4_000;
/// How deep a look goes.
const DEPTH: usize = 12;
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

/// The words of a conversation that can name a file: of requests, and of what commands printed.
#[derive(Debug, Clone, Default)]
pub struct Heard(HashSet<String>);

impl Heard {
    /// Adds the words of a text; past [`HEARD`] words no more are taken.
    pub fn add(&mut self, text: &str) {
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+' | '@');
        for word in text.split(|c: char| !inside(c)) {
            if self.0.len() >= HEARD {
                return;
            }
            let word = word.trim_start_matches("./").trim_end_matches(['.', '/']);
            if !word.is_empty() && !self.0.contains(word) {
                self.0.insert(word.to_owned());
            }
        }
    }

    /// How surely a path is meant: named whole, by its last part, or by its directory. Less is surer.
    fn rank(&self, path: &str) -> Option<u8> {
        let (directory, last) = path.rsplit_once('/').unwrap_or(("", path));
        match () {
            () if self.0.contains(path) => Some(0),
            () if self.0.contains(last) => Some(1),
            () if !directory.is_empty() && self.0.contains(directory) => Some(2),
            () => None,
        }
    }
}

/// One file as it was seen.
#[derive(Debug, Clone)]
struct File {
    bytes: u64,
    changed: Option<SystemTime>,
    text: Option<Arc<str>>,
}

impl File {
    /// Whether it is another than it was: by its text where both are known, else by its size and time.
    fn is_another_than(&self, was: &Self) -> bool {
        match (&self.text, &was.text) {
            (Some(is), Some(was)) => is != was,
            _ => (self.bytes, self.changed) != (was.bytes, was.changed),
        }
    }
}

/// One look at the folder.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    files: BTreeMap<String, File>,
    /// Those that are offered by name, when these are not all.
    offered: Option<BTreeSet<String>>,
    /// Whether there are more entries than are looked at.
    endless: bool,
}

impl Snapshot {
    /// Looks at a folder in which the conversation has named what was heard.
    pub fn at(folder: &Path, heard: &Heard) -> Self {
        let mut look = Self::default();
        look.walk(folder, "", 0, &mut 0);
        if !look.endless {
            look.offer(folder, heard);
        }
        look
    }

    /// Offers what was heard of since, and reads the small files on offer.
    pub fn offer(&mut self, folder: &Path, heard: &Heard) {
        if self.endless {
            return;
        }
        self.offered = (self.files.len() > MOST).then(|| self.meant(heard));
        let mut texts = 0;
        for (name, file) in &mut self.files {
            let hidden = name.split('/').any(|part| part.starts_with('.'));
            let offered = self.offered.as_ref().is_none_or(|names| names.contains(name));
            if offered && !hidden && file.bytes <= SMALL && texts + file.bytes <= TEXTS {
                texts += file.bytes;
                if file.text.is_none() {
                    let read = fs::read(folder.join(name)).ok();
                    file.text = read.and_then(|b| String::from_utf8(b).ok()).map(Into::into);
                }
            }
        }
    }

    /// At most [`MOST`] files: those named, the surest first, then those at the top.
    fn meant(&self, heard: &Heard) -> BTreeSet<String> {
        let mut named: Vec<(u8, &String)> = self
            .files
            .keys()
            .filter_map(|name| Some((heard.rank(name)?, name)))
            .collect();
        named.sort_unstable();
        let at_top = self.files.keys().filter(|name| !name.contains('/'));
        let visible = at_top.filter(|name| !name.starts_with('.')).take(AT_TOP);
        let mut meant = BTreeSet::new();
        for name in named.into_iter().map(|(_, name)| name).chain(visible) {
            if meant.len() == MOST {
                break;
            }
            meant.insert(name.clone());
        }
        meant
    }

    /// Of a large folder, the files that hold one of some names, each with the first it holds. A name that stands in more
    /// than [`FOUND`] files tells nothing. Reads small files only, [`SEARCHED`] bytes in all.
    pub fn find(&self, folder: &Path, names: &[String]) -> Vec<(String, String)> {
        if self.offered.is_none() || names.is_empty() {
            return Vec::new();
        }
        let mut holders: Vec<Vec<&String>> = vec![Vec::new(); names.len()];
        let mut bytes = 0;
        for (path, file) in &self.files {
            if file.bytes > SMALL || path.split('/').any(|part| part.starts_with('.')) {
                continue;
            }
            bytes += file.bytes;
            if bytes > SEARCHED {
                break;
            }
            let Ok(text) = fs::read_to_string(folder.join(path)) else {
                continue;
            };
            for (name, holders) in names.iter().zip(&mut holders) {
                if holders.len() <= FOUND && text.contains(name.as_str()) {
                    holders.push(path);
                }
            }
        }
        let mut found: Vec<(String, String)> = Vec::new();
        for (name, holders) in names.iter().zip(holders) {
            for path in holders.iter().filter(|_| holders.len() <= FOUND) {
                if !found.iter().any(|(known, _)| known == *path) {
                    found.push(((*path).clone(), name.clone()));
                }
            }
        }
        found
    }

    fn walk(&mut self, folder: &Path, under: &str, depth: usize, entries: &mut usize) {
        let Ok(read) = fs::read_dir(folder.join(under)) else {
            return;
        };
        for entry in read.flatten() {
            *entries += 1;
            if *entries > ENTRIES {
                self.endless = true;
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
    }

    /// The files on offer by their paths in the folder, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let offered = |name: &&String| match &self.offered {
            Some(names) => names.contains(*name),
            None => !self.endless,
        };
        self.files.keys().filter(offered).map(String::as_str)
    }

    /// How many files are not on offer, and the directories at the top that hold them, when not all are.
    pub fn rest(&self) -> Option<(usize, Vec<&str>)> {
        let offered = self.offered.as_ref()?;
        let others = self.files.keys().filter(|name| !offered.contains(*name));
        let (mut count, mut holders) = (0, Vec::new());
        for name in others {
            count += 1;
            let top = name.split_once('/').map(|(top, _)| top);
            if let Some(top) = top.filter(|top| holders.last() != Some(top)) {
                holders.push(top);
            }
        }
        (count > 0).then_some((count, holders))
    }

    /// Whether there are too many files to look at.
    pub fn has_more(&self) -> bool {
        self.endless
    }

    /// Whether a file is there.
    pub fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// Whether a file is there under a name that was said: its path, or the last parts of it.
    pub fn has_named(&self, name: &str) -> bool {
        let ends = |path: &String| {
            path.strip_suffix(name)
                .is_some_and(|before| before.ends_with('/'))
        };
        self.has(name) || self.files.keys().any(ends)
    }

    /// The text of a small file on offer.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name)?.text.as_deref()
    }

    /// Files that are another than in an earlier look: new, gone or with another content.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> Vec<&'a str> {
        if self.endless || before.endless {
            return Vec::new();
        }
        let gone = before.files.keys().filter(|name| !self.files.contains_key(*name));
        let other = self.files.iter().filter(|(name, file)| {
            let was = before.files.get(*name);
            was.is_none_or(|was| file.is_another_than(was))
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
            let (was, is) = (before.text(name), self.text(name));
            if what != "changed" || was.is_some() && is.is_some() {
                lines.extend(changed_lines(was.unwrap_or(""), is.unwrap_or("")));
            }
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
        let look = Snapshot::at(home.path(), &Heard::default());
        assert_eq!(look.names().collect::<Vec<_>>(), [".env", "b.txt", "src/a.py"]);
        assert_eq!((look.text("b.txt"), look.text(".env")), (Some("x\n"), None));
    }

    #[test]
    fn changes_are_told_by_their_lines() {
        let home = tempfile::tempdir().expect("a directory");
        put(home.path(), "report.txt", "Quarterly report\nStatus: draft\n");
        put(home.path(), "old.txt", "gone\n");
        let before = Snapshot::at(home.path(), &Heard::default());
        assert_eq!(
            Snapshot::at(home.path(), &Heard::default()).told_since(&before),
            ""
        );
        put(home.path(), "report.txt", "Quarterly report\nStatus: final\n");
        put(home.path(), "new.py", "print(1)\n");
        fs::remove_file(home.path().join("old.txt")).expect("removed");
        assert_eq!(
            Snapshot::at(home.path(), &Heard::default()).told_since(&before),
            "new.py created:\n+print(1)\nold.txt deleted:\n-gone\nreport.txt changed:\n-Status: draft\n+Status: final"
        );
    }

    /// A folder of 200 files, which one look offers in part.
    fn large() -> tempfile::TempDir {
        let home = tempfile::tempdir().expect("a directory");
        for n in 0..100 {
            put(home.path(), &format!("src/part{n}/mod.rs"), "x\n");
            put(home.path(), &format!("docs/page{n}.md"), "x\n");
        }
        put(home.path(), "Makefile", "all:\n");
        home
    }

    #[test]
    fn of_a_large_folder_what_was_named_is_offered() {
        let home = large();
        let mut heard = Heard::default();
        heard.add("Fix page7.md, please.");
        let mut look = Snapshot::at(home.path(), &heard);
        assert_eq!(look.names().collect::<Vec<_>>(), ["Makefile", "docs/page7.md"]);
        assert_eq!(look.rest(), Some((199, vec!["docs", "src"])));
        assert_eq!(
            (look.text("docs/page7.md"), look.text("docs/page8.md")),
            (Some("x\n"), None)
        );
        heard.add("./src/part12/mod.rs:3: error");
        look.offer(home.path(), &heard);
        assert_eq!(
            look.names().collect::<Vec<_>>(),
            ["Makefile", "docs/page7.md", "src/part12/mod.rs"]
        );
        // A last part that a hundred files have offers as many as there is room for, after what was named whole.
        heard.add("mod.rs");
        look.offer(home.path(), &heard);
        assert_eq!(look.names().count(), MOST);
        assert!(look.names().any(|name| name == "src/part12/mod.rs"));
    }

    #[test]
    fn the_files_that_hold_a_name_are_found_unless_they_are_many() {
        let home = large();
        put(home.path(), "src/part3/mod.rs", "const MAX_TRIES: u8 = 3;\n");
        let look = Snapshot::at(home.path(), &Heard::default());
        let names = ["x".to_owned(), "MAX_TRIES".to_owned()];
        assert_eq!(
            look.find(home.path(), &names),
            [("src/part3/mod.rs".to_owned(), "MAX_TRIES".to_owned())]
        );
        let small = tempfile::tempdir().expect("a directory");
        put(small.path(), "a", "MAX_TRIES");
        let look = Snapshot::at(small.path(), &Heard::default());
        assert!(
            look.find(small.path(), &names).is_empty(),
            "of a small folder all are offered"
        );
    }

    #[test]
    fn what_changes_in_a_large_folder_is_seen_though_it_was_not_offered() {
        let home = large();
        let heard = Heard::default();
        let before = Snapshot::at(home.path(), &heard);
        assert_eq!(Snapshot::at(home.path(), &heard).told_since(&before), "");
        put(home.path(), "docs/page8.md", "another text\n");
        put(home.path(), "Makefile", "all: x\n");
        let mut now = Snapshot::at(home.path(), &heard);
        assert_eq!(
            now.told_since(&before),
            "Makefile changed:\n-all:\n+all: x\ndocs/page8.md changed:"
        );
        // To be offered is no change.
        let mut named = heard.clone();
        named.add("page8.md");
        let was = now.clone();
        now.offer(home.path(), &named);
        assert_eq!(now.told_since(&was), "");
    }

    #[test]
    fn a_folder_without_end_offers_none() {
        let home = tempfile::tempdir().expect("a directory");
        let mut look = Snapshot::default();
        put(home.path(), "a.txt", "x");
        look.walk(home.path(), "", 0, &mut ENTRIES.clone());
        assert!(look.has_more());
        assert_eq!((look.names().count(), look.rest()), (0, None));
    }
}
