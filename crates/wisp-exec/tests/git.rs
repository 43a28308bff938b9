//! A repository whose own configuration names programs: a command that only reads starts none of them.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test stops at what it did not expect, and makes the repositories wisp meets"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use wisp_exec::{CommandSpec, reading_git, run};

async fn git(dir: &Path, line: &str, reading: bool) {
    // What the shell around this test says of a repository is not about this one; `reading_git` itself is in GIT_CONFIG_*.
    let line = format!("unset $(git rev-parse --local-env-vars | grep -v GIT_CONFIG_); {line}");
    let mut spec = CommandSpec::shell(&line);
    spec.dir = Some(dir.to_owned());
    if reading {
        spec.env.extend(reading_git());
    }
    run(spec).await.unwrap();
}

/// A repository with one file that changed, and each program of its configuration and each hook a script that leaves
/// its mark.
async fn hostile() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let make = "git init -q . && git config user.name a && git config user.email a@example.com && echo 1 > a && git add a \
                && git commit -qm a && echo 2 > a";
    git(dir.path(), make, false).await;
    let script = dir.path().join("mark.sh");
    fs::write(
        &script,
        "#!/bin/sh\ntouch \"$(dirname \"$0\")/MARK\"\ncat >/dev/null 2>&1 </dev/null\n",
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mark = script.to_str().unwrap();
    let config = format!(
        "[core]\n\tfsmonitor = {mark}\n\tpager = {mark}\n\tsshCommand = {mark}\n\taskPass = {mark}\n[gpg]\n\tprogram = {mark}\n\
         [log]\n\tshowSignature = true\n[credential]\n\thelper = {mark}\n"
    );
    let path = dir.path().join(".git/config");
    fs::write(&path, fs::read_to_string(&path).unwrap() + &config).unwrap();
    for hook in ["post-index-change", "pre-auto-gc", "reference-transaction"] {
        fs::copy(&script, dir.path().join(".git/hooks").join(hook)).unwrap();
    }
    // A hook's own directory is where its mark goes.
    fs::remove_file(dir.path().join(".git/hooks/MARK")).unwrap_or_default();
    dir
}

fn marked(dir: &Path) -> bool {
    dir.join("MARK").exists() || dir.join(".git/hooks/MARK").exists()
}

#[tokio::test]
async fn reading_with_git_starts_no_program_of_the_repository() {
    let dir = hostile().await;
    for line in [
        "git status",
        "git diff",
        "git log -p",
        "git show",
        "git ls-files",
        "git blame a",
    ] {
        git(dir.path(), line, true).await;
        assert!(!marked(dir.path()), "{line}");
    }
    git(dir.path(), "git status", false).await;
    assert!(
        marked(dir.path()),
        "without the settings the repository does start one"
    );
}
