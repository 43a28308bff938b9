//! What packages are made of: the archive of both programs with its pages and completions, and the templates filled in.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out a copy of the tree and run its scripts"
)]

use std::path::Path;
use std::process::Command;

use wisp_tests::binary;

/// A copy of what the scripts read.
fn tree() -> tempfile::TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let copy = tempfile::tempdir().unwrap();
    for name in [
        "Cargo.toml",
        "README.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "packaging",
    ] {
        let mut cp = Command::new("cp");
        let done = cp
            .arg("-R")
            .arg(root.join(name))
            .arg(copy.path())
            .status()
            .unwrap();
        assert!(done.success(), "{name}");
    }
    copy
}

fn run(tree: &Path, script: &str, args: &[&str]) -> (bool, String) {
    let mut command = Command::new(tree.join("packaging").join(script));
    command
        .args(args)
        .env("WISP_BINARIES", binary("wisp").parent().unwrap());
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    (ran.status.success(), said)
}

#[test]
fn an_archive_has_the_programs_their_pages_and_their_completions() {
    let tree = tree();
    let (done, said) = run(tree.path(), "archive", &[]);
    assert!(done, "{said}");
    let archive = said.trim().lines().last().unwrap();
    let mut tar = Command::new("tar");
    let listed = tar.arg("-tzf").arg(tree.path().join(archive)).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    for name in [
        "/wisp",
        "/wisp-tui",
        "/man/wisp.1",
        "/man/wisp-chat.1",
        "/completions/_wisp",
        "/LICENSE-MIT",
    ] {
        assert!(
            listed.lines().any(|line| line.ends_with(name)),
            "{name}: {listed}"
        );
    }
    assert!(tree.path().join(format!("{archive}.sha256")).exists());
}

#[test]
fn the_templates_are_filled_with_the_sums_of_the_archives() {
    let tree = tree();
    let dist = tree.path().join("dist");
    std::fs::create_dir(&dist).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let fill = || {
        run(
            tree.path(),
            "fill",
            &["https://example.org/wisp", dist.to_str().unwrap()],
        )
    };
    let (done, said) = fill();
    assert!(!done && said.contains("is not there"), "{said}");
    for (at, target) in [
        "x86_64-unknown-linux-gnu",
        "aarch64-unknown-linux-gnu",
        "x86_64-apple-darwin",
        "aarch64-apple-darwin",
    ]
    .into_iter()
    .enumerate()
    {
        let sum = format!("{at}").repeat(64);
        let name = format!("wisp-{version}-{target}.tgz");
        std::fs::write(dist.join(format!("{name}.sha256")), format!("{sum}  {name}\n")).unwrap();
    }
    let (done, said) = fill();
    assert!(done, "{said}");
    for (file, sums) in [("wisp.rb", 4), ("PKGBUILD", 2)] {
        let text = std::fs::read_to_string(dist.join(file)).unwrap();
        assert!(!text.contains('@'), "{file}: {text}");
        let found = (0..4)
            .filter(|at| text.contains(&format!("\"{}\"", format!("{at}").repeat(64))))
            .count();
        assert_eq!(found, sums, "{file}: {text}");
        assert!(text.contains("https://example.org/wisp"), "{file}");
    }
}
