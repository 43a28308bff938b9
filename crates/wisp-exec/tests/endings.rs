//! How commands end: by themselves, by a signal, by the clock, by the person, and with something left running.
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};
use support::{case, text};
use wisp_exec::{Cancel, CommandSpec, Ending, ExecError, Outcome, run};

const CODE_0: Ending = Ending::Exited { code: 0 };

fn signalled(number: i32, name: &'static str) -> Ending {
    Ending::Signalled {
        number,
        name: Some(name),
    }
}

#[tokio::test]
async fn each_way_to_end_is_told_apart() {
    let expected = [
        ("kill", signalled(9, "SIGKILL"), "partial\n"),
        ("segv", signalled(11, "SIGSEGV"), "partial\n"),
        ("term", signalled(15, "SIGTERM"), "partial\n"),
        ("code137", Ending::Exited { code: 137 }, "whole\n"),
        ("code3", Ending::Exited { code: 3 }, ""),
        ("pipe", CODE_0, "y\n"),
        ("pipeline", CODE_0, ""),
        ("okstderr", CODE_0, ""),
    ];
    for (way, ending, stdout) in expected {
        let outcome = run(case("14-exits.sh", way)).await.unwrap();
        assert_eq!(outcome.ending, ending, "{way}");
        assert_eq!(text(&outcome.stdout), stdout, "{way}");
        assert_eq!(outcome.ending.is_success(), ending == CODE_0, "{way}");
        assert!(
            !outcome.pipe_held && outcome.left_behind.is_empty(),
            "{way}: {outcome:?}"
        );
    }
}

#[test]
fn the_words_and_numbers_of_an_ending() {
    assert_eq!(
        signalled(11, "SIGSEGV").to_string(),
        "killed by signal 11 (SIGSEGV)"
    );
    assert_eq!(signalled(11, "SIGSEGV").number(), Some(139));
    assert_eq!(Ending::Exited { code: 137 }.to_string(), "exit status 137");
    let after = Duration::from_millis(1500);
    assert_eq!(
        Ending::TimedOut { after }.to_string(),
        "timed out after 1.5 s and was stopped"
    );
    assert_eq!(Ending::Cancelled.number(), None);
}

#[tokio::test]
async fn what_never_ends_is_stopped_by_the_clock_with_what_it_printed() {
    let after = Duration::from_secs(1);
    for way in ["flood", "quiet", "drip", "progress"] {
        let mut spec = case("09-endless.sh", way);
        spec.timeout = Some(after);
        spec.bound = 4096;
        let outcome = run(spec).await.unwrap();
        assert_eq!(outcome.ending, Ending::TimedOut { after }, "{way}");
        assert!(
            outcome.duration < Duration::from_secs(3),
            "{way}: {:?}",
            outcome.duration
        );
        assert_none_left(&outcome);
        match way {
            "flood" => assert!(outcome.stdout.bytes() > 1_000_000 && outcome.stdout.gap().is_some()),
            "quiet" => assert_eq!(outcome.stdout.bytes(), 0),
            "drip" => assert!(["tick\n", "tick\ntick\n"].contains(&text(&outcome.stdout).as_str())),
            _ => assert!(text(&outcome.stdout).starts_with("\rworking 1\rworking 2")),
        }
    }
}

#[tokio::test]
async fn what_ignores_being_asked_is_killed_two_seconds_later() {
    // The shell and its child both ignore SIGTERM.
    let mut spec = CommandSpec::shell("trap '' TERM; echo on; sleep 60; sleep 60");
    spec.timeout = Some(Duration::from_millis(200));
    let outcome = run(spec).await.unwrap();
    assert!(matches!(outcome.ending, Ending::TimedOut { .. }));
    assert_eq!(text(&outcome.stdout), "on\n");
    let took = outcome.duration.as_secs_f64();
    assert!((2.2..5.0).contains(&took), "{took}");
    assert_none_left(&outcome);
}

#[tokio::test]
async fn a_grandchild_that_ignores_being_asked_goes_with_the_rest() {
    let mut spec = CommandSpec::shell("(trap '' TERM; sleep 60) & echo $!; wait");
    spec.timeout = Some(Duration::from_millis(200));
    let outcome = run(spec).await.unwrap();
    let took = outcome.duration.as_secs_f64();
    assert!((2.2..5.0).contains(&took), "{took}");
    assert!(
        outcome.left_behind.iter().all(|process| process.ended),
        "{outcome:?}"
    );
    let pid: i32 = text(&outcome.stdout).trim().parse().unwrap();
    assert!(support::is_gone(pid));
}

#[tokio::test]
async fn a_first_press_asks_and_a_second_kills() {
    let (to, mut from) = wisp_exec::live(4);
    let mut spec = CommandSpec::shell("trap 'echo asked' TERM; echo ready; while :; do sleep 0.02; done");
    spec.live = Some(to);
    let cancel = spec.cancel.clone();
    let running = tokio::spawn(run(spec));
    assert_eq!(from.recv().await.unwrap().text, "ready\n");
    cancel.press();
    // On standard error the shell may say that its `sleep` was ended.
    while from.recv().await.unwrap().text != "asked\n" {}
    let pressed = Instant::now();
    cancel.press();
    let outcome = running.await.unwrap().unwrap();
    assert_eq!(outcome.ending, Ending::Cancelled);
    assert!(pressed.elapsed() < Duration::from_secs(1));
    assert_eq!(text(&outcome.stdout), "ready\nasked\n");
}

#[tokio::test]
async fn a_command_cancelled_before_it_starts_is_not_started() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = CommandSpec::shell("touch ran");
    spec.dir = Some(dir.path().to_owned());
    spec.cancel = Cancel::new();
    spec.cancel.press();
    assert!(matches!(run(spec).await, Err(ExecError::NotStarted)));
    assert!(!dir.path().join("ran").exists());
}

#[tokio::test]
async fn a_background_child_does_not_hold_the_turn_and_is_ended() {
    for way in ["quiet", "late", "noisy", "setsid", "redirected"] {
        let outcome = run(case("10-background.sh", way)).await.unwrap();
        assert_eq!(outcome.ending, CODE_0, "{way}");
        assert!(
            outcome.duration < Duration::from_secs(2),
            "{way}: {:?}",
            outcome.duration
        );
        assert!(text(&outcome.stdout).starts_with("foreground done\n"), "{way}");
        assert_eq!(outcome.pipe_held, way != "redirected", "{way}");
        assert!(!outcome.left_behind.is_empty(), "{way}");
        assert!(
            outcome.left_behind.iter().all(|process| process.ended),
            "{way}: {outcome:?}"
        );
        assert_none_left(&outcome);
    }
}

#[tokio::test]
async fn a_dropped_run_kills_what_it_started() {
    let (to, mut from) = wisp_exec::live(4);
    let mut spec = CommandSpec::shell("setsid sh -c 'echo $$; exec sleep 60' & sleep 60");
    spec.live = Some(to);
    let running = tokio::spawn(run(spec));
    let pid: i32 = from.recv().await.unwrap().text.trim().parse().unwrap();
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    while test_kill_process(Pid::from_raw(pid).unwrap()).is_ok() && !support::is_gone(pid) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_cannot_start_is_an_error_that_names_it() {
    let error = run(CommandSpec::argv(["/no/such/program"])).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("could not launch /no/such/program: "),
        "{error}"
    );
    let mut spec = CommandSpec::shell("true");
    spec.dir = Some("/no/such/dir".into());
    let error = run(spec).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "working directory does not exist: /no/such/dir"
    );
    let mut spec = CommandSpec::shell("true");
    spec.dir = Some("/dev/null".into());
    let error = run(spec).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "working directory is not a directory: /dev/null"
    );
    let error = run(CommandSpec::argv([""; 0])).await.unwrap_err();
    assert_eq!(error.to_string(), "no program to run was named");
}

fn assert_none_left(outcome: &Outcome) {
    for process in &outcome.left_behind {
        assert!(support::is_gone(process.pid), "{process:?}");
    }
}
