//! Everything but some: the smallest list of places that together are a tree without what is hidden in it.
//!
//! Landlock only allows, and what it allows it allows with all that is below. A tree with something hidden is therefore
//! allowed piece by piece: the entries beside each step on the way to what is hidden. What appears in one of those
//! directories later is not among them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// The most entries of a directory that are allowed one by one. Of a larger one with something hidden below it, only
/// the entries that lead on are.
const MOST_ENTRIES: usize = 20_000;

/// Devices that hold nothing of anybody's.
const DEVICES: &[&str] = &[
    "null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr",
];

/// A place that may be read with all that is below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    pub(super) path: PathBuf,
    pub(super) is_dir: bool,
}

/// A tree in pieces.
#[derive(Debug)]
pub(super) struct Carved<S> {
    pub(super) pieces: Vec<Piece>,
    /// The directories whose entries are among the pieces, each with what it was before they were listed.
    pub(super) listed: Vec<(PathBuf, S)>,
}

/// What is hidden at a place: all of it, or some of what is below.
#[derive(Debug, Default)]
struct Hidden {
    whole: bool,
    below: BTreeMap<OsString, Hidden>,
}

impl Hidden {
    fn insert(&mut self, path: &Path) {
        let mut at = self;
        for part in path.components() {
            if at.whole {
                return;
            }
            if let Component::Normal(name) = part {
                at = at.below.entry(name.to_owned()).or_default();
            }
        }
        at.whole = true;
    }
}

/// The whole file system without `hidden`, and with no device but the harmless ones. `stamp` says what a directory is.
pub(super) fn pieces<S>(hidden: &[PathBuf], stamp: fn(&Path) -> S) -> Carved<S> {
    let pieces = DEVICES
        .iter()
        .map(|name| Path::new("/dev").join(name))
        .filter(|path| path.symlink_metadata().is_ok_and(|meta| !meta.is_symlink()))
        .map(|path| Piece { path, is_dir: false })
        .collect();
    let dev = PathBuf::from("/dev");
    let mut carved = Carved {
        pieces,
        listed: Vec::new(),
    };
    carve(Path::new("/"), hidden.iter().chain([&dev]), stamp, &mut carved);
    carved
}

/// A tree without `hidden`.
fn carve<'a, S>(
    root: &Path,
    hidden: impl IntoIterator<Item = &'a PathBuf>,
    stamp: fn(&Path) -> S,
    carved: &mut Carved<S>,
) {
    let mut tree = Hidden::default();
    for path in hidden {
        if let Ok(below) = path.strip_prefix(root) {
            tree.insert(below);
        }
    }
    if !tree.whole {
        beside(root, &tree, stamp, carved);
    }
}

fn beside<S>(dir: &Path, hidden: &Hidden, stamp: fn(&Path) -> S, carved: &mut Carved<S>) {
    carved.listed.push((dir.to_owned(), stamp(dir)));
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    let (mut found, mut seen) = (Vec::new(), 0_usize);
    for entry in entries.flatten() {
        if hidden.below.contains_key(&entry.file_name()) {
            continue;
        }
        seen += 1;
        // A link leads elsewhere, where it is allowed or not.
        if let Ok(kind) = entry.file_type()
            && !kind.is_symlink()
            && seen <= MOST_ENTRIES
        {
            found.push(Piece {
                path: entry.path(),
                is_dir: kind.is_dir(),
            });
        }
    }
    if seen <= MOST_ENTRIES {
        carved.pieces.append(&mut found);
    }
    for (name, below) in &hidden.below {
        let path = dir.join(name);
        if !below.whole && path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            beside(&path, below, stamp, carved);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test lays out a tree")]

    use super::*;

    fn carved(dir: &Path, hidden: &[&str]) -> Vec<String> {
        let hidden: Vec<PathBuf> = hidden.iter().map(|name| dir.join(name)).collect();
        let mut carved = Carved {
            pieces: Vec::new(),
            listed: Vec::new(),
        };
        carve(dir, &hidden, |_| (), &mut carved);
        let mut names: Vec<String> = carved
            .pieces
            .iter()
            .map(|piece| {
                let name = piece.path.strip_prefix(dir).unwrap().display().to_string();
                if piece.is_dir { name + "/" } else { name }
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_tree_is_what_lies_beside_the_way_to_what_is_hidden() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["a/b/c", "a/d", "home/.ssh", "home/src"] {
            std::fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        for file in ["a/b/.env", "a/b/x", "top", "home/.ssh/id"] {
            std::fs::write(dir.path().join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("home/.ssh", dir.path().join("link")).unwrap();
        assert_eq!(carved(dir.path(), &[]), ["a/", "home/", "top"]);
        assert_eq!(
            carved(dir.path(), &["a/b/.env", "home/.ssh"]),
            ["a/b/c/", "a/b/x", "a/d/", "home/src/", "top"]
        );
        // What is hidden below something hidden adds nothing, in either order.
        let both = carved(dir.path(), &["home/.ssh/id", "home/.ssh"]);
        assert_eq!(both, carved(dir.path(), &["home/.ssh", "home/.ssh/id"]));
        assert_eq!(both, ["a/", "home/src/", "top"]);
        assert_eq!(carved(dir.path(), &[""]), Vec::<String>::new());
    }

    #[test]
    fn no_disk_is_among_the_devices() {
        let pieces = pieces(&[], |_| ()).pieces;
        assert!(pieces.contains(&Piece {
            path: "/dev/null".into(),
            is_dir: false
        }));
        let all = pieces.iter().filter(|piece| piece.path.starts_with("/dev"));
        assert!(
            all.clone()
                .all(|piece| DEVICES.contains(&piece.path.file_name().unwrap().to_str().unwrap()))
        );
        assert!(
            pieces
                .iter()
                .any(|piece| piece.path == Path::new("/usr") && piece.is_dir)
        );
    }
}
