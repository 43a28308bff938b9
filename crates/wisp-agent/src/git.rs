//! Where the person is: the directory with the home as `~`, and git's branch, read from `.git` without running git.
//!
//! A repository can name programs that `git status` and `git diff` would start (`core.fsmonitor`, filters), so wisp
//! runs no git of its own accord: the branch is read from the files.

use std::fs;
use std::path::{Path, PathBuf};

use wisp_host::Env;

/// Where the person is.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Where {
    /// The directory, the home directory as `~`.
    pub directory: String,
    /// The branch, or the first digits of a detached commit.
    pub branch: Option<String>,
}

/// The place of a directory.
pub fn place(directory: &Path, env: &Env) -> Where {
    Where {
        directory: env.tilde(directory),
        branch: branch(directory),
    }
}

fn branch(directory: &Path) -> Option<String> {
    let git = directory
        .ancestors()
        .map(|d| d.join(".git"))
        .find(|g| g.exists())?;
    let head = fs::read_to_string(git_dir(&git)?.join("HEAD")).ok()?;
    let head = head.trim();
    let branch = head.strip_prefix("ref: refs/heads/").map(str::to_owned);
    branch.or_else(|| head.get(..7).map(str::to_owned))
}

/// The folder `.git` is or, in a worktree or a submodule, names.
fn git_dir(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let text = fs::read_to_string(git).ok()?;
    let named = text.trim().strip_prefix("gitdir: ")?;
    Some(git.parent()?.join(named))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "the tests lay out a repository")]
    use super::*;

    #[test]
    fn the_branch_is_read_from_a_repository_and_from_a_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let repo = dir.path().join("repo");
        fs::create_dir_all(repo.join(".git/worktrees/w")).unwrap();
        fs::create_dir_all(repo.join("src")).unwrap();
        fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(repo.join(".git/worktrees/w/HEAD"), "0123456789abcdef\n").unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(
            tree.join(".git"),
            format!("gitdir: {}\n", repo.join(".git/worktrees/w").display()),
        )
        .unwrap();
        assert_eq!(branch(&repo.join("src")).as_deref(), Some("main"));
        assert_eq!(branch(&tree).as_deref(), Some("0123456"));
        assert_eq!(branch(dir.path()), None);
    }

    #[test]
    fn the_home_is_a_tilde() {
        let env: Env = [("HOME".to_owned(), "/home/ada".to_owned())]
            .into_iter()
            .collect();
        assert_eq!(env.tilde(Path::new("/home/ada")), "~");
        assert_eq!(env.tilde(Path::new("/home/ada/src")), "~/src");
        assert_eq!(env.tilde(Path::new("/home/adam")), "/home/adam");
    }
}
