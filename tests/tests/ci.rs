//! docs/ci.md's example: its two files, as they stand there, in a repository with a change.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test lays out a repository and runs a script"
)]

use std::path::Path;
use std::process::Command;

use ollama_sim::{Model, Reply, Seen};
use wisp_tests::{Wisp, binary, serve};

/// The first block of a language in the page.
fn block(language: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("docs/ci.md")).unwrap();
    let from = page.split_once(&format!("```{language}\n")).unwrap().1;
    from.split_once("\n```").unwrap().0.to_owned()
}

/// A repository in the working directory whose last commit deletes a check, and the page's files in it.
fn repository(wisp: &Wisp) {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
        let done = command
            .args(args)
            .current_dir(wisp.work())
            .env("HOME", wisp.work())
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    };
    let write = |name: &str, text: &str| std::fs::write(wisp.work().join(name), text).unwrap();
    git(&["init", "--quiet"]);
    write("pay.sh", "set -eu\ntest \"$1\" -gt 0\necho paid \"$1\"\n");
    git(&["add", "pay.sh"]);
    git(&["commit", "--quiet", "-m", "pay"]);
    write("pay.sh", "set -eu\necho paid \"$1\"\n");
    git(&["commit", "--quiet", "-am", "shorter"]);
    write("review.json", &block("json"));
    write("review.sh", &block("sh"));
}

fn review(wisp: &Wisp, base: &str) -> wisp_tests::Ran {
    let program = binary("wisp");
    let path = std::env::var("PATH").unwrap();
    let command = wisp.command(&[]);
    let mut sh = Command::new("sh");
    sh.arg("review.sh").current_dir(wisp.work()).env_clear();
    sh.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    sh.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
    sh.env("BASE", base);
    wisp.run_command(sh, "")
}

const REJECTED: &str = r#"{"verdict": "reject", "findings": [{"file": "pay.sh", "line": 2, "problem": "the amount is no longer checked"}]}"#;

#[test]
fn the_example_of_the_page_reviews_a_diff() {
    let server = serve(Model::new("sim"), |seen: &Seen| {
        let diff = seen
            .last_of("user")
            .unwrap()
            .content
            .contains("-test \"$1\" -gt 0");
        Reply::text(if diff {
            REJECTED
        } else {
            r#"{"verdict": "approve", "findings": []}"#
        })
    });
    let wisp = Wisp::with(&server);
    repository(&wisp);
    let ran = review(&wisp, "HEAD~1");
    assert_eq!((ran.code, ran.text().trim()), (Some(3), REJECTED), "{}", ran.err);
    let ran = review(&wisp, "HEAD");
    assert_eq!(
        (ran.code, ran.text().trim()),
        (Some(0), "nothing to review"),
        "{}",
        ran.err
    );
}

#[test]
fn the_example_of_the_page_fails_when_there_is_no_review() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("Looks good to me!"));
    let wisp = Wisp::with(&server);
    repository(&wisp);
    let ran = review(&wisp, "HEAD~1");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.err.contains("no review: wisp ended with exit code 1"),
        "{}",
        ran.err
    );
}
