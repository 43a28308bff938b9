//! What is hidden from commands: the table of credentials as it is found on this disk, and wisp's own home.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use wisp_guard::credentials::{on_machine, sockets, under_home};
use wisp_host::Env;

use super::scan::{Bounds, Scan};

/// How far the conversation's directory is looked through for files shaped like credentials.
const HERE: Bounds = Bounds {
    depth: 24,
    directories: 20_000,
};

/// The same for the home directory: its own files and those of the projects in it.
const HOME: Bounds = Bounds {
    depth: 2,
    directories: 300,
};

/// Where a command runs.
pub(super) struct Around<'a> {
    /// The conversation's directory.
    pub(super) directory: &'a Path,
    /// Where the command runs, when that is elsewhere.
    pub(super) runs_in: &'a Path,
    /// The person's home.
    pub(super) home: Option<&'a Path>,
    /// wisp's home.
    pub(super) wisp: &'a Path,
    /// The environment.
    pub(super) env: &'a Env,
}

/// What is known between commands.
#[derive(Debug, Default)]
pub(super) struct Hiding {
    scan: Scan,
}

impl Hiding {
    /// What a command that only reads does not see: every credential of the table, and wisp's home.
    pub(super) fn reading(&mut self, around: &Around<'_>) -> Vec<PathBuf> {
        let mut listed = Listed::default();
        let mut hidden: Vec<PathBuf> = on_machine()
            .iter()
            // Of other processes nothing is seen in any case, nor the machine's memory; of itself a command may see all.
            .filter(|entry| !entry.starts_with("/proc/"))
            .flat_map(|entry| found(Path::new("/"), entry.trim_start_matches('/'), &mut listed))
            .collect();
        if let Some(home) = around.home {
            hidden.extend(
                under_home()
                    .iter()
                    .flat_map(|entry| found(home, entry, &mut listed)),
            );
            hidden.extend(self.scan.credentials(home, HOME).0);
        }
        hidden.extend(self.scan.credentials(around.directory, HERE).0);
        if !around.runs_in.starts_with(around.directory) {
            hidden.extend(self.scan.credentials(around.runs_in, HERE).0);
        }
        hidden.push(around.wisp.to_owned());
        let mut hidden = real(&hidden);
        let linked = with_other_names(&hidden);
        if !linked.is_empty() {
            // Few files have several names, and to look for them takes time.
            hidden.extend(self.scan.other_names(&linked));
            hidden = real(&hidden);
        }
        // What the system keeps from this user anyway need not be hidden, which costs time.
        hidden.retain(|path| rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok());
        hidden
    }

    /// What a command that writes does not see: wisp's home, and what acts for the person when it is asked.
    pub(super) fn writing(around: &Around<'_>) -> Vec<PathBuf> {
        let mut listed = Listed::default();
        let mut hidden: Vec<PathBuf> = sockets()
            .iter()
            .flat_map(|entry| found(Path::new("/"), entry.trim_start_matches('/'), &mut listed))
            .collect();
        hidden.extend(around.env.get("SSH_AUTH_SOCK").map(PathBuf::from));
        hidden.push(around.wisp.to_owned());
        let mut hidden = real(&hidden);
        // What a command works in it sees.
        hidden.retain(|path| !around.directory.starts_with(path) && !around.runs_in.starts_with(path));
        hidden
    }
}

/// Which of these files have more than one name.
fn with_other_names(hidden: &[PathBuf]) -> BTreeSet<(u64, u64)> {
    let metas = hidden.iter().filter_map(|path| path.symlink_metadata().ok());
    let linked = metas.filter(|meta| meta.is_file() && meta.nlink() > 1);
    linked.map(|meta| (meta.dev(), meta.ino())).collect()
}

/// The paths with their links followed; those that are there, each once, and none below another.
fn real(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    paths.sort();
    paths.dedup();
    let mut kept: Vec<PathBuf> = Vec::with_capacity(paths.len());
    for path in paths {
        if !kept.last().is_some_and(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept
}

/// What directories hold, each read once for all entries of the table.
#[derive(Default)]
struct Listed(HashMap<PathBuf, BTreeSet<OsString>>);

impl Listed {
    fn names(&mut self, directory: &Path) -> &BTreeSet<OsString> {
        self.0.entry(directory.to_owned()).or_insert_with(|| {
            let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name()).collect()
        })
    }
}

/// The files and directories below `root` that an entry of the table names; a component may be a glob.
fn found(root: &Path, entry: &str, listed: &mut Listed) -> Vec<PathBuf> {
    let mut places = vec![root.to_owned()];
    for (depth, part) in entry.split('/').enumerate() {
        places = if part.contains(['*', '[', '?']) {
            places
                .iter()
                .flat_map(|place| matching(place, part, listed))
                .collect()
        } else if depth == 0 && !listed.names(root).contains(OsStr::new(part)) {
            // Most of the table is not on any one machine.
            return Vec::new();
        } else {
            places.into_iter().map(|place| place.join(part)).collect()
        };
    }
    places.retain(|place| place.symlink_metadata().is_ok());
    places
}

fn matching(directory: &Path, glob: &str, listed: &mut Listed) -> Vec<PathBuf> {
    let names = listed.names(directory).iter();
    let alike = names.filter(|name| wisp_guard::credentials::matches(glob, &name.to_string_lossy()));
    alike.map(|name| directory.join(name)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test lays out a home")]

    use std::fs;

    use super::*;

    #[test]
    fn credentials_and_wisps_home_are_hidden_where_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for path in [
            "home/.ssh",
            "home/.config/BraveSoftware/x",
            "elsewhere/aws",
            "work/a",
            "work/.wisp",
        ] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("elsewhere/aws"), root.join("home/.aws")).unwrap();
        for file in ["work/a/.env", "work/.wisp/config.json", "home/plain"] {
            fs::write(root.join(file), "").unwrap();
        }
        let around = Around {
            directory: &root.join("work"),
            runs_in: &root.join("work"),
            home: Some(&root.join("home")),
            wisp: &root.join("work/.wisp"),
            env: &Env::default(),
        };
        let hidden = Hiding::default().reading(&around);
        let below: Vec<_> = hidden
            .iter()
            .filter_map(|path| path.strip_prefix(&root).ok())
            .collect();
        let expected = [
            "elsewhere/aws",
            "home/.config/BraveSoftware",
            "home/.ssh",
            "work/.wisp",
            "work/a/.env",
        ];
        assert_eq!(below, expected.map(Path::new));
        // Only where this user could read it: as root, that is.
        let shadow = Path::new("/etc/shadow");
        let readable = fs::File::open(shadow).is_ok();
        assert_eq!(hidden.contains(&shadow.to_owned()), readable);
    }

    #[test]
    fn a_credential_is_hidden_by_each_of_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join(".env"), "").unwrap();
        fs::hard_link(root.join(".env"), root.join("a/b/notes")).unwrap();
        fs::write(root.join("a/b/other"), "").unwrap();
        let around = Around {
            directory: &root,
            runs_in: &root,
            home: None,
            wisp: &root.join(".wisp"),
            env: &Env::default(),
        };
        let hidden = Hiding::default().reading(&around);
        let below: Vec<_> = hidden
            .iter()
            .filter_map(|path| path.strip_prefix(&root).ok())
            .collect();
        assert_eq!(below, [".env", "a/b/notes"].map(Path::new));
    }

    #[test]
    fn what_lies_below_something_hidden_is_not_listed_again() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir_all(root.join("a-b")).unwrap();
        let paths = vec![
            root.join("a/b"),
            root.join("a"),
            root.join("a-b"),
            root.join("none"),
        ];
        assert_eq!(real(&paths), [root.join("a"), root.join("a-b")]);
    }
}
