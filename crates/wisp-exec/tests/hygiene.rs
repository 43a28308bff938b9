//! What a command finds: three descriptors, no terminal, clean signals, nothing that waits for an answer.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use support::{case, text};
use wisp_exec::{CommandSpec, EnvChange, Outcome, run};

async fn shell(line: &str) -> Outcome {
    run(CommandSpec::shell(line)).await.unwrap()
}

#[tokio::test]
async fn a_command_has_three_descriptors_whatever_wisp_inherited() {
    // As wisp would have it from a shell's `exec 9<file`.
    let inherited = std::fs::File::open("/dev/null").unwrap();
    fcntl_setfd(&inherited, FdFlags::empty()).unwrap();
    let outcome = shell("ls -l /proc/$$/fd; :").await;
    let text = text(&outcome.stdout);
    let open: Vec<_> = text.lines().filter(|line| line.contains(" -> ")).collect();
    assert_eq!(open.len(), 3, "{text}");
    assert!(open[0].ends_with(" 0 -> /dev/null"), "{text}");
    assert!(
        open[1].contains(" 1 -> pipe:") && open[2].contains(" 2 -> pipe:"),
        "{text}"
    );
}

#[tokio::test]
async fn a_command_leads_its_own_session_with_clean_signals() {
    // A shell that starts a program blocks signals for a moment; one that becomes it does not.
    let outcome =
        shell("cut -d' ' -f1,5,6,7 /proc/$$/stat; exec grep -E 'SigBlk|SigIgn' /proc/self/status").await;
    let text = text(&outcome.stdout);
    let mut lines = text.lines();
    let ids: Vec<_> = lines.next().unwrap().split(' ').collect();
    // Process, group and session are one; there is no controlling terminal.
    assert_eq!((ids[0], ids[0], "0"), (ids[1], ids[2], ids[3]));
    let mask = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
    assert_eq!(mask(lines.next().unwrap()), 0);
    let sigpipe = 1 << 12;
    assert_eq!(mask(lines.next().unwrap()) & sigpipe, 0);
}

#[tokio::test]
async fn what_asks_is_answered_by_nobody_and_ends_by_itself() {
    let expected = [
        ("cat", "rc=0\n"),
        ("read", "Proceed? [y/N] rc=1 x=[]\n"),
        ("input", "rc=1\n"),
        ("tty", "rc="),
        ("password", "rc=1\n"),
    ];
    for (way, end) in expected {
        let outcome = run(case("12-asks.sh", way)).await.unwrap();
        assert!(
            outcome.duration < Duration::from_secs(3),
            "{way}: {:?}",
            outcome.duration
        );
        assert!(
            text(&outcome.stdout).contains(end),
            "{way}: {}",
            text(&outcome.stdout)
        );
        let failed = match way {
            "input" | "password" => "EOFError",
            "tty" => "/dev/tty",
            _ => "",
        };
        assert!(
            text(&outcome.stderr).contains(failed),
            "{way}: {}",
            text(&outcome.stderr)
        );
        assert_ne!(
            text(&outcome.stdout),
            "rc=0\n".repeat(usize::from(way == "tty")),
            "{way}"
        );
    }
}

#[tokio::test]
async fn an_editor_fails_and_a_pager_passes_through() {
    let home = tempfile::tempdir().unwrap();
    let quiet = |way| {
        let mut spec = case("12-asks.sh", way);
        for name in ["TMPDIR", "HOME"] {
            spec.env.push(EnvChange::Set(name.into(), home.path().into()));
        }
        // Which repository the person's shell stands in is not about the one made here.
        spec.env.push(EnvChange::Unset("GIT_DIR".into()));
        spec
    };
    let outcome = run(quiet("editor")).await.unwrap();
    assert!(outcome.duration < Duration::from_secs(3));
    assert!(text(&outcome.stdout).starts_with("rc=") && text(&outcome.stdout) != "rc=0\n");
    let outcome = run(quiet("pager")).await.unwrap();
    let text = text(&outcome.stdout);
    assert!(text.contains("\n+1\n") && text.contains("\n+5000\n") && text.ends_with("rc=0\n"));
}

#[tokio::test]
async fn the_environment_is_inherited_quiet_and_the_callers() {
    let mut spec = CommandSpec::shell("echo $PAGER $TERM $EDITOR [$NEW] [${PATH:+path}] [$VISUAL]");
    spec.env.push(EnvChange::Set("NEW".into(), "new".into()));
    spec.env.push(EnvChange::Unset("VISUAL".into()));
    let outcome = run(spec).await.unwrap();
    assert_eq!(text(&outcome.stdout), "cat dumb false [new] [path] []\n");
}

#[tokio::test]
async fn a_command_runs_where_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = CommandSpec::argv(["pwd", "-P"]);
    spec.dir = Some(dir.path().to_owned());
    let outcome = run(spec).await.unwrap();
    let there = dir.path().canonicalize().unwrap();
    assert_eq!(text(&outcome.stdout).trim_end(), there.to_str().unwrap());
}

#[tokio::test]
async fn a_probe_answers_or_does_without() {
    let second = Duration::from_secs(5);
    assert_eq!(
        wisp_exec::probe(["echo", "main"], None, second).await.unwrap(),
        "main"
    );
    assert_eq!(wisp_exec::probe(["false"], None, second).await, None);
    assert_eq!(wisp_exec::probe(["/no/such/program"], None, second).await, None);
    assert_eq!(wisp_exec::probe(["seq", "1", "9999"], None, second).await, None);
    assert_eq!(
        wisp_exec::probe(["sleep", "9"], None, Duration::from_millis(50)).await,
        None
    );
}
