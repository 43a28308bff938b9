//! What is hidden from commands: the table of credentials as it is found on this disk, and wisp's own home.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use wisp_guard::credentials::{on_machine, sockets, under_home};
use wisp_host::Env;

use super::scan::{Bounds, Found, Scan};
use super::watch::Watch;

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
    watch: Watch,
    /// Whether a command came before: the only one of a process is not worth watching directories for, which costs it
    /// some ten milliseconds, most of them when the watch ends.
    again: bool,
    /// The last list, and what it was made for; none when it may not hold any more.
    last: Option<([PathBuf; 4], Vec<PathBuf>)>,
    /// How often a list was made.
    #[cfg(test)]
    made: usize,
}

impl Hiding {
    /// What a command that only reads does not see: every credential of the table, and wisp's home. The list of the
    /// command before holds when none of the directories it was made of has changed.
    pub(super) fn reading(&mut self, around: &Around<'_>) -> Vec<PathBuf> {
        let home = around.home.unwrap_or_else(|| Path::new(""));
        let made_for = [around.directory, around.runs_in, home, around.wisp].map(Path::to_owned);
        let is_quiet = self.watch.is_quiet();
        if let Some((last, hidden)) = &self.last
            && is_quiet
            && *last == made_for
        {
            return hidden.clone();
        }
        let (mut hidden, mut seen) = self.list(around);
        self.last = None;
        if !std::mem::replace(&mut self.again, true) {
            return hidden;
        }
        // Until a list was made while all of its directories were watched.
        for _ in 0..3 {
            if !self.watch.add(&seen) {
                break;
            }
            let before = seen;
            (hidden, seen) = self.list(around);
            if seen == before {
                self.last = Some((made_for, hidden.clone()));
                break;
            }
        }
        hidden
    }

    /// Makes the list. Also the directories it was made of.
    fn list(&mut self, around: &Around<'_>) -> (Vec<PathBuf>, BTreeSet<PathBuf>) {
        #[cfg(test)]
        {
            self.made += 1;
        }
        let mut listed = Listed::default();
        let roots = [
            around.directory,
            around.runs_in,
            around.home.unwrap_or(around.directory),
        ];
        listed
            .seen
            .extend(roots.iter().filter_map(|root| root.canonicalize().ok()));
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
            listed.add(self.scan.credentials(home, HOME, around.wisp), &mut hidden);
        }
        listed.add(
            self.scan.credentials(around.directory, HERE, around.wisp),
            &mut hidden,
        );
        if !around.runs_in.starts_with(around.directory) {
            listed.add(
                self.scan.credentials(around.runs_in, HERE, around.wisp),
                &mut hidden,
            );
        }
        hidden.push(around.wisp.to_owned());
        let above = |paths: &[PathBuf]| {
            paths
                .iter()
                .filter_map(|path| path.parent().map(Path::to_owned))
                .collect::<Vec<_>>()
        };
        listed.seen.extend(above(&hidden));
        let mut hidden = real(&hidden);
        listed.seen.extend(above(&hidden));
        let linked = with_other_names(&hidden);
        if !linked.is_empty() {
            // Few files have several names, and to look for them takes time.
            hidden.extend(self.scan.other_names(&linked));
            hidden = real(&hidden);
        }
        // What the system keeps from this user anyway need not be hidden, which costs time.
        hidden.retain(|path| rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok());
        (hidden, listed.seen)
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
struct Listed {
    names: HashMap<PathBuf, BTreeSet<OsString>>,
    /// The directories in which something would have to change for the list to be another.
    seen: BTreeSet<PathBuf>,
}

impl Listed {
    /// Adds what a tree has to what is hidden. wisp's home is not looked through: it is hidden as a whole, and written all
    /// the time.
    fn add(&mut self, found: Found, hidden: &mut Vec<PathBuf>) {
        hidden.extend(found.credentials);
        self.seen.extend(found.directories);
    }

    fn names(&mut self, directory: &Path) -> &BTreeSet<OsString> {
        self.seen.insert(directory.to_owned());
        self.names.entry(directory.to_owned()).or_insert_with(|| {
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
    let above = places.iter().filter_map(|place| place.parent());
    listed.seen.extend(above.map(Path::to_owned));
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

    /// A way to make a file secret, or to end that.
    type Change = fn(&Path);

    /// Each changes what is hidden, or what stands in a directory that was looked through.
    const CHANGES: [(&str, Change); 9] = [
        ("a new file", |root| {
            fs::write(root.join("work/a/.env"), "").unwrap();
        }),
        ("a new name", |root| {
            fs::rename(root.join("work/plain"), root.join("work/x.pem")).unwrap();
        }),
        ("a link", |root| {
            std::os::unix::fs::symlink(root.join("work/plain"), root.join("work/a/id_rsa")).unwrap();
        }),
        ("a second name", |root| {
            fs::hard_link(root.join("work/.env"), root.join("work/a/notes")).unwrap();
        }),
        ("a directory that is moved in", |root| {
            fs::rename(root.join("outside"), root.join("work/in")).unwrap();
        }),
        ("a directory and a file in it", |root| {
            fs::create_dir(root.join("work/new")).unwrap();
            fs::write(root.join("work/new/.env"), "").unwrap();
        }),
        ("a place of the table", |root| {
            fs::create_dir_all(root.join("home/.config/gh")).unwrap();
        }),
        ("a link that leads elsewhere", |root| {
            fs::remove_file(root.join("home/.aws")).unwrap();
            std::os::unix::fs::symlink(root.join("elsewhere/b"), root.join("home/.aws")).unwrap();
        }),
        ("one that is gone", |root| {
            fs::remove_file(root.join("work/.env")).unwrap();
        }),
    ];

    #[test]
    fn the_list_of_the_command_before_serves_until_something_changes() {
        for (what, change) in CHANGES {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            for path in ["work/a", "home/.config", "elsewhere/a", "elsewhere/b", "outside"] {
                fs::create_dir_all(root.join(path)).unwrap();
            }
            std::os::unix::fs::symlink(root.join("elsewhere/a"), root.join("home/.aws")).unwrap();
            for file in ["work/.env", "work/plain", "outside/.env"] {
                fs::write(root.join(file), "").unwrap();
            }
            let around = Around {
                directory: &root.join("work"),
                runs_in: &root.join("work"),
                home: Some(&root.join("home")),
                wisp: &root.join("home/.wisp"),
                env: &Env::default(),
            };
            let below = |hidden: Vec<PathBuf>| {
                let hidden = hidden.into_iter();
                hidden.filter(|path| path.starts_with(&root)).collect::<Vec<_>>()
            };
            let mut hiding = Hiding::default();
            hiding.reading(&around);
            assert_eq!(
                hiding.made, 1,
                "the first is made once, and nothing watched for it"
            );
            let before = below(hiding.reading(&around));
            change(&root);
            let after = below(hiding.reading(&around));
            assert_ne!(after, before, "{what}");
            assert_eq!(after, below(Hiding::default().reading(&around)), "{what}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn where_nothing_changes_nothing_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("work/.wisp/audit")).unwrap();
        let around = Around {
            directory: &root.join("work"),
            runs_in: &root.join("work"),
            home: None,
            wisp: &root.join("work/.wisp"),
            env: &Env::default(),
        };
        let mut hiding = Hiding::default();
        // Other tests work in the directory above, and the machine's own directories may change at any time.
        let serves = |hiding: &mut Hiding| {
            (0..100).any(|_| {
                let made = hiding.made;
                hiding.reading(&around);
                hiding.made == made
            })
        };
        assert!(serves(&mut hiding));
        fs::write(root.join("work/.wisp/audit/x"), "").unwrap();
        assert!(serves(&mut hiding), "wisp's own files do not count");
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
