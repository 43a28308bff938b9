//! What can be found out about a directory before a command runs in it. The one place of this crate that reads files
//! it was not given, kept apart from the decisions, which take the result as a value.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::checks::git_config_programs;
use crate::credentials;
use crate::moves::elsewhere;
use crate::named::paths_in;
use crate::readonly::version_file_names;
use crate::risk::Surroundings;
use crate::split::split;

/// The longest configuration of a repository that is read, in bytes.
const MAX_CONFIG: u64 = 1024 * 1024;

impl Surroundings {
    /// Looks at the repository around a directory as git would find it: `.git` in it or above it, also where it is a
    /// file that names another place (worktrees, submodules), or a directory that is a bare repository itself. What
    /// is there and cannot be read counts as starting programs.
    pub fn look(directory: &Path) -> Self {
        let version_files = version_files(directory);
        let Some(repository) = directory.ancestors().find_map(repository_at) else {
            return Self {
                version_files,
                ..Self::default()
            };
        };
        let common =
            named_in(&repository.join("commondir"), &repository).unwrap_or_else(|| repository.clone());
        let mut configs = vec![repository.join("config.worktree"), common.join("config")];
        if common != repository {
            configs.push(repository.join("config"));
        }
        Self {
            git_programs: configs.iter().flat_map(|config| programs(config)).collect(),
            git_hooks: hooks(&common.join("hooks")),
            version_files,
            links: Vec::new(),
        }
    }
}

/// The words of a line that name a file with more than one name, one of which is a credential's or not known: a
/// symbolic link's target is known, the other names of a file with several links are not.
pub fn links(line: &str, directory: &Path, home: Option<&Path>) -> Vec<String> {
    let mut found = Vec::new();
    for part in split(line).unwrap_or_default() {
        let targets = part.redirects.iter().map(|redirect| &redirect.target);
        for word in part.args().iter().chain(targets) {
            let leads = |path: &str| leads_to_credential(&at(path, directory, home));
            let any = |path: &str| leads(path) || elsewhere(&part, path).any(|path| leads(&path));
            if paths_in(&word.text, false).any(any) {
                found.push(word.text.clone());
            }
        }
    }
    found
}

fn at(path: &str, directory: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => directory.join(path),
    }
}

fn leads_to_credential(path: &Path) -> bool {
    let Ok(real) = fs::canonicalize(path) else {
        return false;
    };
    let shared = fs::metadata(&real).is_ok_and(|meta| meta.is_file() && meta.nlink() > 1);
    shared || real.to_str().is_none_or(credentials::is_path)
}

/// Files in the directory or above it that choose which version of a program runs.
fn version_files(directory: &Path) -> Vec<String> {
    let mut names: Vec<&str> = version_file_names().collect();
    names.sort_unstable();
    names.dedup();
    let there = |name: &&str| directory.ancestors().any(|dir| dir.join(name).exists());
    names.into_iter().filter(there).map(str::to_owned).collect()
}

/// The repository's directory, when `dir` is the top of a working tree or a bare repository.
fn repository_at(dir: &Path) -> Option<PathBuf> {
    let dot = dir.join(".git");
    if dot.is_dir() {
        return Some(dot);
    }
    if dot.is_file() {
        return Some(named_in(&dot, dir).unwrap_or(dot));
    }
    let bare = dir.join("HEAD").is_file() && dir.join("objects").is_dir() && dir.join("refs").is_dir();
    bare.then(|| dir.to_owned())
}

/// The path a file names, with or without `gitdir: ` before it, counted from `base`.
fn named_in(file: &Path, base: &Path) -> Option<PathBuf> {
    let text = small_text(file).ok().flatten()?;
    let line = text.lines().next()?.trim();
    let path = line.strip_prefix("gitdir:").unwrap_or(line).trim();
    (!path.is_empty()).then(|| base.join(path))
}

/// A small regular file's text; `None` when there is none. Anything else in its place is an error.
fn small_text(file: &Path) -> Result<Option<String>, ()> {
    match fs::metadata(file) {
        Ok(meta) if meta.is_file() && meta.len() <= MAX_CONFIG => {
            fs::read_to_string(file).map(Some).map_err(drop)
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Ok(_) | Err(_) => Err(()),
    }
}

fn programs(config: &Path) -> Vec<String> {
    match small_text(config) {
        Ok(text) => text.as_deref().map(git_config_programs).unwrap_or_default(),
        Err(()) => vec![format!("{} cannot be read", config.display())],
    }
}

/// Executable files among the hooks.
fn hooks(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let runs = |path: &Path| {
        fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| runs(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.ends_with(".sample"))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "a test makes the repositories wisp meets"
    )]

    use std::os::unix::fs::symlink;

    use super::*;

    const HOSTILE: &str = "[core]\n\tfsmonitor = ./x.sh\n";

    fn programs_in(dir: &Path) -> Vec<String> {
        Surroundings::look(dir).git_programs
    }

    #[test]
    fn a_credential_is_known_by_each_name_it_has() {
        let dir = tempfile::tempdir().unwrap();
        let (home, here) = (dir.path().join("home"), dir.path().join("home/w"));
        fs::create_dir_all(home.join(".ssh")).unwrap();
        fs::create_dir_all(here.join("sub")).unwrap();
        fs::write(here.join(".env"), "x").unwrap();
        fs::write(here.join("plain"), "x").unwrap();
        symlink(".env", here.join("link")).unwrap();
        symlink("plain", here.join("same")).unwrap();
        symlink("../../.ssh", here.join("sub/keys")).unwrap();
        fs::write(home.join(".ssh/id_rsa"), "x").unwrap();
        fs::hard_link(here.join(".env"), here.join("hard")).unwrap();
        let links = |line: &str| links(line, &here, Some(&home));
        assert_eq!(links("cat link"), ["link"]);
        assert_eq!(links("cat hard plain same missing"), ["hard"]);
        assert_eq!(
            links("grep --file=link x; cat < ./link"),
            ["--file=link", "./link"]
        );
        assert_eq!(links("cd sub; cat keys/id_rsa"), ["keys/id_rsa"]);
        assert_eq!(links("cat ~/w/link"), ["~/w/link"]);
    }

    #[test]
    fn a_repository_is_found_from_below() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join(".git/config"), HOSTILE).unwrap();
        let hook = dir.path().join(".git/hooks/post-index-change");
        fs::write(&hook, "#!/bin/sh\n").unwrap();
        fs::write(dir.path().join(".git/hooks/pre-commit.sample"), "").unwrap();
        let here = dir.path().join("a/b");
        assert_eq!(programs_in(&here), ["core.fsmonitor = ./x.sh"]);
        assert!(Surroundings::look(&here).git_hooks.is_empty());
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(Surroundings::look(&here).git_hooks, ["post-index-change"]);
    }

    #[test]
    fn a_repository_whose_configuration_lies_elsewhere_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, git) = (dir.path().join("tree"), dir.path().join("elsewhere"));
        fs::create_dir_all(&tree).unwrap();
        fs::create_dir_all(git.join("worktrees/t")).unwrap();
        fs::write(tree.join(".git"), "gitdir: ../elsewhere/worktrees/t\n").unwrap();
        fs::write(git.join("worktrees/t/commondir"), "../..\n").unwrap();
        fs::write(git.join("config"), HOSTILE).unwrap();
        assert_eq!(programs_in(&tree), ["core.fsmonitor = ./x.sh"]);
    }

    #[test]
    fn a_bare_repository_in_the_tree_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let bare = dir.path().join("docs");
        for part in ["objects", "refs"] {
            fs::create_dir_all(bare.join(part)).unwrap();
        }
        fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(bare.join("config"), HOSTILE).unwrap();
        assert_eq!(programs_in(&bare), ["core.fsmonitor = ./x.sh"]);
    }

    #[test]
    fn what_cannot_be_read_counts_and_no_repository_does_not() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Surroundings::look(dir.path()), Surroundings::default());
        fs::create_dir_all(dir.path().join(".git/config")).unwrap();
        assert_eq!(programs_in(dir.path()).len(), 1);
    }
}
