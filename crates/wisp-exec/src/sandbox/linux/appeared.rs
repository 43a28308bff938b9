//! Files that other programs run by themselves and that a command made.
//!
//! What is there already is mounted read-only. What is not there cannot be mounted upon, and the kernel's rules know no
//! names. So the supervisor, when the command and all it started have ended, looks whether such a file is there now, and
//! renames it: under its new name nothing runs it, and nothing of it is lost.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, openat, renameat_with, statat};

/// What is put behind the name of a file that is not to be run.
const DISABLED: &str = "wisp-disabled";

/// The most bytes of a repository's configuration that is looked at.
const MOST: u64 = 64 * 1024;

/// Settings by which git starts nothing: those of a new repository, and those that people set first.
const INERT: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "user.name",
    "user.email",
    "init.defaultbranch",
    "extensions.objectformat",
    "remote.url",
    "remote.fetch",
    "branch.remote",
    "branch.merge",
    "branch.rebase",
    "pull.rebase",
    "submodule.active",
    "submodule.url",
];

/// Places that were empty when a command began.
#[derive(Debug, Clone, Default)]
pub(super) struct Absent(Vec<PathBuf>);

impl Absent {
    /// Those of some places where nothing is, but a directory that it would be in could be.
    pub(super) fn of(kept: &[PathBuf]) -> Self {
        Self(
            kept.iter()
                .filter(|path| matches!(walk(path), Met::Nothing))
                .cloned()
                .collect(),
        )
    }

    /// Renames what is in these places now. Each with its new name, in words.
    pub(super) fn disable(&self) -> Vec<(String, String)> {
        self.0.iter().filter_map(|path| disable(path)).collect()
    }
}

/// What stands in the way of a path, its links not followed.
enum Met {
    /// Nothing: a directory on the way, or the last part, is not there.
    Nothing,
    /// What the path names, or a link or file where a directory was to be.
    Something(Entry),
}

/// An entry of a directory.
struct Entry {
    within: OwnedFd,
    name: OsString,
    path: PathBuf,
    kind: FileType,
}

/// Goes along a path from the root. No link is followed, since one that the command made could lead anywhere.
fn walk(path: &Path) -> Met {
    let handle = |at: &OwnedFd, name: &OsStr| {
        openat(
            at,
            name,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )
    };
    let root = openat(
        CWD,
        "/",
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    let Ok(mut within) = root else { return Met::Nothing };
    let mut so_far = PathBuf::from("/");
    let mut parts = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .peekable();
    while let Some(name) = parts.next() {
        so_far.push(name);
        let Ok(meta) = statat(&within, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return Met::Nothing;
        };
        let kind = FileType::from_raw_mode(meta.st_mode);
        if parts.peek().is_none() || kind != FileType::Directory {
            return Met::Something(Entry {
                within,
                name: name.to_owned(),
                path: so_far,
                kind,
            });
        }
        match handle(&within, name) {
            Ok(below) => within = below,
            Err(_) => return Met::Nothing,
        }
    }
    Met::Nothing
}

fn disable(path: &Path) -> Option<(String, String)> {
    let Met::Something(entry) = walk(path) else {
        return None;
    };
    if is_inert(&entry) {
        return None;
    }
    for attempt in 1..100 {
        let mut name = entry.name.clone();
        name.push(format!(".{DISABLED}"));
        if attempt > 1 {
            name.push(format!("-{attempt}"));
        }
        match renameat_with(
            &entry.within,
            &entry.name,
            &entry.within,
            &name,
            RenameFlags::NOREPLACE,
        ) {
            Ok(()) => {
                let text = |path: &Path| path.to_string_lossy().replace(char::is_control, "?");
                return Some((text(&entry.path), text(&entry.path.with_file_name(name))));
            }
            Err(rustix::io::Errno::EXIST) => {}
            Err(_) => return None,
        }
    }
    None
}

/// Whether what is there starts nothing: a repository as `git init` and `git clone` make it.
fn is_inert(entry: &Entry) -> bool {
    let Some(name) = entry.name.to_str() else {
        return false;
    };
    match (name, entry.kind) {
        (".git", FileType::Directory) => true,
        ("hooks", FileType::Directory) => are_samples(entry).unwrap_or(false),
        ("config" | "config.worktree", FileType::RegularFile) => {
            contents(entry).is_some_and(|text| starts_nothing(&text))
        }
        _ => false,
    }
}

/// Whether a directory of hooks has only those that git does not run.
fn are_samples(entry: &Entry) -> Option<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut all = Dir::new(openat(&entry.within, &entry.name, flags, Mode::empty()).ok()?).ok()?;
    Some(all.all(|entry| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name().to_bytes();
            matches!(name, b"." | b"..") || name.ends_with(b".sample")
        })
    }))
}

fn contents(entry: &Entry) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&entry.within, &entry.name, flags, Mode::empty()).ok()?;
    let mut text = String::new();
    let read = std::fs::File::from(file)
        .take(MOST + 1)
        .read_to_string(&mut text)
        .ok()?;
    (read as u64 <= MOST).then_some(text)
}

/// Whether every setting of a configuration is known to start nothing, and every line is one that is understood.
fn starts_nothing(text: &str) -> bool {
    let mut section = String::new();
    text.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(heading) = line.strip_prefix('[') {
            let Some((heading, rest)) = heading.split_once(']') else {
                return false;
            };
            section = heading
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_lowercase();
            // What stands behind a heading would be a setting too.
            return rest.trim().is_empty() && !section.contains('.');
        }
        let Some((name, value)) = line.split_once('=') else {
            return false;
        };
        let name = format!("{section}.{}", name.trim().to_lowercase());
        let plain = !value.contains(['\\', '"', '\'']) && !value.contains("::");
        plain && INERT.contains(&name.as_str())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test lays out a tree")]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let all = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = all.collect();
        names.sort();
        names
    }

    #[test]
    fn what_appeared_gets_another_name_and_what_was_there_keeps_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::write(root.join(".exrc"), "").unwrap();
        let kept = [".envrc", ".exrc", ".vscode", ".idea", "none"].map(|name| root.join(name));
        let absent = Absent::of(&kept);
        fs::write(root.join(".envrc"), "x").unwrap();
        fs::write(root.join(".envrc.wisp-disabled"), "earlier").unwrap();
        fs::create_dir(root.join(".vscode")).unwrap();
        symlink("/etc", root.join(".idea")).unwrap();
        let text = |name: &str| root.join(name).display().to_string();
        assert_eq!(
            absent.disable(),
            [
                (text(".envrc"), text(".envrc.wisp-disabled-2")),
                (text(".vscode"), text(".vscode.wisp-disabled")),
                (text(".idea"), text(".idea.wisp-disabled")),
            ]
        );
        assert_eq!(absent.disable(), []);
        assert_eq!(
            fs::read_to_string(root.join(".envrc.wisp-disabled-2")).unwrap(),
            "x"
        );
        assert!(names(&root).contains(&".exrc".to_owned()));
    }

    #[test]
    fn a_link_on_the_way_is_not_followed_but_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("elsewhere/hooks")).unwrap();
        fs::write(root.join("elsewhere/hooks/pre-commit"), "").unwrap();
        fs::create_dir(root.join("work")).unwrap();
        let absent = Absent::of(&[root.join("work/.git/hooks")]);
        symlink("../elsewhere", root.join("work/.git")).unwrap();
        assert_eq!(absent.disable().len(), 1);
        assert_eq!(names(&root.join("work")), [".git.wisp-disabled"]);
        assert_eq!(names(&root.join("elsewhere")), ["hooks"]);
    }

    #[test]
    fn a_new_repository_stays_until_something_in_it_runs() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let kept = [".git", ".git/hooks", ".git/config"].map(|name| root.join(name));
        let absent = Absent::of(&kept);
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::write(root.join(".git/hooks/pre-push.sample"), "").unwrap();
        fs::write(
            root.join(".git/config"),
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://x/y\n",
        )
        .unwrap();
        assert_eq!(absent.disable(), []);
        fs::write(root.join(".git/hooks/pre-push"), "").unwrap();
        fs::write(root.join(".git/config"), "[core]\n\tfsmonitor = x\n").unwrap();
        assert_eq!(absent.disable().len(), 2);
        assert_eq!(
            names(&root.join(".git")),
            ["config.wisp-disabled", "hooks.wisp-disabled"]
        );
    }

    #[test]
    fn only_settings_that_are_known_start_nothing() {
        for text in [
            "[core]\n  bare = false\n; x\n\n[branch \"main\"]\n merge = refs/heads/main\n",
            "[user]\nname = Ada\n",
            "",
        ] {
            assert!(starts_nothing(text), "{text}");
        }
        for text in [
            "[core]\npager = x\n",
            "[core] fsmonitor = x\n",
            "[core]\nbare = false\\\n",
            "[alias]\nst = !x\n",
            "[include]\npath = x\n",
            "[core.x]\nbare = true\n",
            "[remote \"a\"]\nurl = ext::sh -c x\n",
            "[remote \"a\"]\nuploadpack = x\n",
            "[core\n",
            "[core]\nfsmonitor\n",
        ] {
            assert!(!starts_nothing(text), "{text}");
        }
    }
}
