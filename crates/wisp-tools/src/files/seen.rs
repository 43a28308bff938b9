//! What the model has seen of files: how each stood when it was read or written. An edit that goes by a line's number, or
//! that replaces all of a file, is only safe on the file that was seen; another program's work is not overwritten.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use similar::TextDiff;
use wisp_output::amount::counted;

/// The largest file of which a copy is kept to say what changed, bytes.
const COPIED: u64 = 256 * 1024;
/// The most bytes of all copies together; the oldest go first.
const COPIES: usize = 8 << 20;
/// The most lines of a difference that are told.
const TOLD: usize = 24;

/// The files of one conversation.
#[derive(Debug, Default)]
pub struct Seen {
    /// By the path that was given and by the file's own.
    files: HashMap<PathBuf, Known>,
    copied: VecDeque<(PathBuf, usize)>,
    bytes: usize,
    /// When a conversation that was resumed began, seconds since 1970. How files stood before is not known any more.
    began: Option<i64>,
}

/// How a file stood.
#[derive(Debug, Clone)]
struct Known {
    /// The file behind any links; none when nothing stood there.
    real: Option<PathBuf>,
    stamp: Stamp,
    copy: Option<Vec<u8>>,
}

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Stamp {
    inode: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self {
            inode: (meta.dev(), meta.ino()),
            bytes: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
        }
    }
}

impl Seen {
    /// Notes how the file behind `path` (absolute) stands now. To be asked before it is read: a change after that is then
    /// noticed.
    pub fn note(&mut self, path: &Path) {
        let known = known(path);
        if let Some(real) = &known.real {
            self.insert(real.clone(), known.clone());
        }
        self.insert(path.to_owned(), known);
    }

    fn insert(&mut self, path: PathBuf, known: Known) {
        self.copied.retain(|(copied, _)| *copied != path);
        let bytes = known.copy.as_ref().map_or(0, Vec::len);
        if bytes > 0 {
            self.copied.push_back((path.clone(), bytes));
        }
        self.files.insert(path, known);
        self.bytes = self.copied.iter().map(|(_, bytes)| bytes).sum();
        while self.bytes > COPIES {
            let Some((oldest, bytes)) = self.copied.pop_front() else {
                break;
            };
            self.bytes -= bytes;
            if let Some(known) = self.files.get_mut(&oldest) {
                known.copy = None;
            }
        }
    }

    /// Says that the conversation was resumed, and when it began, in seconds since 1970.
    pub fn resumed(&mut self, began: i64) {
        self.began = Some(began);
    }

    /// Whether a file is not known to stand as the conversation saw it: the conversation was resumed, the file was
    /// changed or put in its place after it began, and nothing has read or written it here since.
    pub fn is_unread(&self, given: &Path, real: &Path) -> bool {
        let known = self.files.contains_key(given) || self.files.contains_key(real);
        // The time of the inode cannot be set, and a file that is moved to a name gets it anew.
        let changed = |began: i64| fs::metadata(real).is_ok_and(|meta| meta.ctime() >= began);
        !known && self.began.is_some_and(changed)
    }

    /// What has changed of a file since it was seen, in words; none when nothing has, or when it was never seen. `given`
    /// is the path as it was named, `real` the file behind it.
    pub fn changed(&self, given: &Path, real: &Path) -> Option<String> {
        let known = self.files.get(given).or_else(|| self.files.get(real))?;
        let now = self::known(given);
        let Some(then) = &known.real else {
            return now.real.map(|_| "it did not exist then, and does now".to_owned());
        };
        // What is gone cannot be overwritten.
        let here = now.real.as_ref()?;
        if then != here {
            return Some(format!(
                "it led to {} then, and leads to {} now",
                then.display(),
                here.display()
            ));
        }
        match (&known.copy, &now.copy) {
            (Some(old), Some(new)) => (old != new).then(|| difference(old, new)),
            _ if known.stamp == now.stamp => None,
            _ if known.stamp.bytes == now.stamp.bytes => Some("it was written to".to_owned()),
            _ => Some(format!(
                "it had {} then, and has {} now",
                counted(known.stamp.bytes, "byte"),
                counted(now.stamp.bytes, "byte")
            )),
        }
    }
}

/// How the file behind a path stands.
fn known(path: &Path) -> Known {
    let nothing = Known {
        real: None,
        stamp: Stamp::default(),
        copy: None,
    };
    let Ok(real) = fs::canonicalize(path) else {
        return nothing;
    };
    let Ok(meta) = fs::metadata(&real) else {
        return nothing;
    };
    let small = meta.is_file() && meta.len() <= COPIED;
    Known {
        stamp: Stamp::of(&meta),
        copy: small.then(|| fs::read(&real).ok()).flatten(),
        real: Some(real),
    }
}

/// What differs between two states of a file: the lines, as a diff writes them, cut where they are many.
pub fn difference(old: &[u8], new: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
    let text = diff.unified_diff().context_radius(0).to_string();
    let lines: Vec<&str> = text.lines().collect();
    let mut told: Vec<String> = lines
        .iter()
        .take(TOLD)
        .map(|line| line.chars().take(200).collect())
        .collect();
    if lines.len() > TOLD {
        told.push(format!(
            "… and {}",
            counted((lines.len() - TOLD) as u64, "more line")
        ));
    }
    format!("\n{}", told.join("\n"))
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        reason = "tests make the files they look at"
    )]
    use super::*;

    #[test]
    fn what_was_read_before_a_conversation_was_resumed_has_to_be_read_again_once_it_may_have_changed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "one\n").unwrap();
        let changed = fs::metadata(&file).unwrap().ctime();
        let mut seen = Seen::default();
        assert!(!seen.is_unread(&file, &file), "not resumed");
        seen.resumed(changed + 1);
        assert!(
            !seen.is_unread(&file, &file),
            "as it was before the conversation began"
        );
        seen.resumed(changed);
        assert!(seen.is_unread(&file, &file));
        assert!(
            !seen.is_unread(&dir.path().join("b"), &dir.path().join("b")),
            "nothing there"
        );
        seen.note(&file);
        assert!(!seen.is_unread(&file, &file), "read since");
    }

    #[test]
    fn a_file_as_it_was_seen_has_not_changed_however_it_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a"), dir.path().join("link"));
        fs::write(&file, "one\n").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut seen = Seen::default();
        assert_eq!(seen.changed(&file, &file), None, "never seen");
        seen.note(&link);
        fs::write(&file, "one\n").unwrap();
        assert_eq!(seen.changed(&link, &file), None, "written with the same text");
        fs::write(&file, "two\n").unwrap();
        let told = "\n@@ -1 +1 @@\n-one\n+two";
        assert_eq!(
            seen.changed(&file, &fs::canonicalize(&file).unwrap()).unwrap(),
            told
        );
        seen.note(&file);
        assert_eq!(seen.changed(&file, &file), None);
        fs::remove_file(&file).unwrap();
        assert_eq!(seen.changed(&file, &file), None, "nothing is there to lose");
    }

    #[test]
    fn a_link_that_leads_elsewhere_and_a_file_that_came_are_changes() {
        let dir = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(dir.path()).unwrap();
        let (a, b, link) = (dir.join("a"), dir.join("b"), dir.join("link"));
        fs::write(&a, "same\n").unwrap();
        fs::write(&b, "same\n").unwrap();
        std::os::unix::fs::symlink(&a, &link).unwrap();
        let mut seen = Seen::default();
        seen.note(&link);
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&b, &link).unwrap();
        let told = format!("it led to {} then, and leads to {} now", a.display(), b.display());
        assert_eq!(seen.changed(&link, &b).unwrap(), told);
        let new = dir.join("new");
        seen.note(&new);
        fs::write(&new, "x").unwrap();
        assert_eq!(
            seen.changed(&new, &new).unwrap(),
            "it did not exist then, and does now"
        );
    }

    #[test]
    fn a_large_file_is_told_by_its_size_and_copies_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let large = dir.path().join("large");
        let big = usize::try_from(COPIED).unwrap();
        fs::write(&large, vec![b'x'; big + 1]).unwrap();
        let mut seen = Seen::default();
        seen.note(&large);
        fs::write(&large, vec![b'x'; big + 3]).unwrap();
        assert_eq!(
            seen.changed(&large, &large).unwrap(),
            "it had 262,145 bytes then, and has 262,147 bytes now"
        );
        for n in 0..40 {
            let file = dir.path().join(format!("f{n}"));
            fs::write(&file, vec![b'y'; big]).unwrap();
            seen.note(&file);
        }
        assert!(seen.bytes <= COPIES && seen.files.len() > 40, "{}", seen.bytes);
    }

    #[test]
    fn a_long_difference_is_cut() {
        let new = (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join("\n") + "\n";
        let told = difference(b"", new.as_bytes());
        assert!(
            told.starts_with("\n@@ -0,0 +1,100 @@\n+0\n") && told.ends_with("\n… and 77 more lines"),
            "{told}"
        );
    }
}
