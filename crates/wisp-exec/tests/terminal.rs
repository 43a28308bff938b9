//! With a real terminal: a command cannot reach it, a pager and an editor get it and give it back.
//!
//! Each test starts this binary again on a pseudo-terminal, where one of the `on_a_terminal_` tests, which are
//! otherwise ignored, does the work.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a failed step is a failed test, and the test starts itself"
)]

mod support;

use std::io::{Read, Write};

use pty_process::blocking::{Command, open};
use rustix::process::{Signal, kill_process_group};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use support::{case, text};
use wisp_exec::{Ending, ExecError, run, run_interactive, run_pager};

/// Runs the named test on a new terminal and types `typed` once `ready` is on it. Returns what was drawn.
fn on_a_terminal(test: &str, ready: &str, typed: &[u8]) -> String {
    let (mut terminal, other) = open().unwrap();
    // Ctrl-C empties the terminal's queues after it has sent the signal, which may take what the program says to it.
    let mut modes = tcgetattr(&terminal).unwrap();
    modes.local_modes |= LocalModes::NOFLSH;
    tcsetattr(&terminal, OptionalActions::Now, &modes).unwrap();
    let command = Command::new(std::env::current_exe().unwrap());
    let command = command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    let mut child = command.spawn(other).unwrap();
    let (mut drawn, mut block, mut typed) = (Vec::new(), [0; 4096], Some(typed));
    loop {
        // Reading fails when the last process on the terminal is gone, and may when Ctrl-C empties its queues.
        let read = match terminal.read(&mut block) {
            Ok(read @ 1..) => read,
            _ if child.try_wait().unwrap().is_none() => continue,
            _ => break,
        };
        drawn.extend_from_slice(&block[..read]);
        if String::from_utf8_lossy(&drawn).contains(ready)
            && let Some(typed) = typed.take()
        {
            terminal.write_all(typed).unwrap();
        }
    }
    let drawn = String::from_utf8_lossy(&drawn).into_owned();
    assert!(child.wait().unwrap().success(), "{drawn}");
    drawn
}

#[test]
fn a_command_cannot_open_the_terminal() {
    let drawn = on_a_terminal("on_a_terminal_a_command_asks", "never", b"");
    assert!(drawn.contains("asked and answered by nobody"), "{drawn}");
}

#[tokio::test]
#[ignore = "run on a terminal by a_command_cannot_open_the_terminal"]
async fn on_a_terminal_a_command_asks() {
    let terminal = std::fs::File::open("/dev/tty").unwrap();
    let before = format!("{:?}", tcgetattr(&terminal).unwrap());
    for way in ["tty", "password"] {
        let outcome = run(case("12-asks.sh", way)).await.unwrap();
        assert!(outcome.ending.is_success() && text(&outcome.stdout).starts_with("rc="));
        assert_ne!(text(&outcome.stdout), "rc=0\n");
    }
    assert_eq!(format!("{:?}", tcgetattr(&terminal).unwrap()), before);
    println!("asked and answered by nobody");
}

#[test]
fn a_pager_owns_the_keyboard_and_leaves_the_terminal_as_it_was() {
    let drawn = on_a_terminal("on_a_terminal_a_pager_is_interrupted", "pager on", b"\x03");
    assert!(drawn.contains("pager stopped by ctrl-c"), "{drawn}");
    assert!(drawn.contains("terminal as before"), "{drawn}");
}

#[test]
#[ignore = "run on a terminal by a_pager_owns_the_keyboard_and_leaves_the_terminal_as_it_was"]
fn on_a_terminal_a_pager_is_interrupted() {
    let terminal = std::fs::File::open("/dev/tty").unwrap();
    let before = tcgetattr(&terminal).unwrap();
    // Spoils the terminal, says so, and waits for Ctrl-C, with its input unread. A `read` would miss one that
    // comes just before it.
    let pager = "stty -echo -icanon </dev/tty; trap 'echo pager stopped by ctrl-c; exit 7' INT; echo pager on; \
                 while :; do sleep 0.1; done";
    let endless = std::io::repeat(b'x');
    let ending = run_pager(&["sh", "-c", pager], endless).unwrap();
    assert_eq!(ending, Ending::Exited { code: 7 });
    let after = tcgetattr(&terminal).unwrap();
    assert_eq!(format!("{after:?}"), format!("{before:?}"));
    println!("terminal as before");
}

#[test]
fn wisp_stops_with_its_pager_and_goes_on_with_it() {
    let drawn = on_a_terminal("on_a_terminal_a_pager_stops", "never", b"");
    assert!(
        drawn.contains("wisp stopped") && drawn.contains("pager went on"),
        "{drawn}"
    );
}

#[test]
#[ignore = "run on a terminal by wisp_stops_with_its_pager_and_goes_on_with_it"]
fn on_a_terminal_a_pager_stops() {
    // Stands for the shell: it comes back once wisp is stopped, and continues it.
    let shell =
        "until ps -o stat= -p $PPID | grep -q T; do sleep 0.02; done; echo wisp stopped; kill -CONT $PPID";
    let pager = format!("({shell}) & kill -STOP $$; echo pager went on; wait; exit 7");
    // A pager that stopped reads nothing, and the pipe to it is full.
    let ending = run_pager(&["sh", "-c", &pager], std::io::repeat(b'x')).unwrap();
    assert_eq!(ending, Ending::Exited { code: 7 });
}

#[test]
fn an_editor_gets_the_terminal() {
    let drawn = on_a_terminal("on_a_terminal_an_editor_is_used", "editor on", b"typed\n");
    assert!(drawn.contains("editor read typed"), "{drawn}");
}

#[test]
#[ignore = "run on a terminal by an_editor_gets_the_terminal"]
fn on_a_terminal_an_editor_is_used() {
    let editor = "test -t 0 && test -t 1 && echo editor on && read -r key && echo editor read $key; exit 3";
    let ending = run_interactive(&["sh", "-c", editor]).unwrap();
    assert_eq!(ending, Ending::Exited { code: 3 });
}

#[test]
fn the_keyboards_signals_are_wisps_again_afterwards() {
    let drawn = on_a_terminal("on_a_terminal_signals_come_back", "never", b"");
    assert!(drawn.contains("signal arrived"), "{drawn}");
}

#[tokio::test]
#[ignore = "run on a terminal by the_keyboards_signals_are_wisps_again_afterwards"]
async fn on_a_terminal_signals_come_back() {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupts = signal(SignalKind::interrupt()).unwrap();
    // While the pager runs, the whole group is interrupted: the pager dies of it, this process does not notice.
    let group = rustix::process::getpgrp();
    let ending = run_pager(&["sh", "-c", "kill -INT 0; sleep 9"], &b""[..]).unwrap();
    assert!(
        matches!(
            ending,
            Ending::Signalled {
                name: Some("SIGINT"),
                ..
            }
        ),
        "{ending:?}"
    );
    kill_process_group(group, Signal::INT).unwrap();
    interrupts.recv().await.unwrap();
    println!("signal arrived");
}

/// A feed that fails at once.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the disk is gone"))
    }
}

#[test]
fn a_pager_that_is_left_early_is_no_error_and_a_broken_feed_is() {
    let ending = run_pager(&["head", "-c", "1"], std::io::repeat(b'\n')).unwrap();
    assert!(ending.is_success());
    let error = run_pager(&["true"], Broken).unwrap_err();
    assert!(matches!(error, ExecError::Feed { .. }));
    assert_eq!(
        error.to_string(),
        "could not read all of what true was to show: the disk is gone"
    );
    let error = run_pager(&["/no/such/pager"], &b""[..]).unwrap_err();
    assert!(matches!(error, ExecError::Launch { .. }));
}

#[test]
fn a_mode_that_is_set_shows() {
    // The comparison of terminal settings above can tell them apart.
    let (terminal, _other) = open().unwrap();
    let before = tcgetattr(&terminal).unwrap();
    let mut spoiled = before.clone();
    spoiled.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&terminal, OptionalActions::Now, &spoiled).unwrap();
    assert_ne!(
        format!("{:?}", tcgetattr(&terminal).unwrap()),
        format!("{before:?}")
    );
}
