//! A terminal that breaks rows anew (tmux): what was said stands once each in its scrollback, whatever its window did
//! meanwhile. Left out, with a word about it, where tmux is not installed.

#![allow(
    clippy::format_push_string,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test starts programs"
)]

mod pty;

use std::process::Command;
use std::time::{Duration, Instant};

use pty::{MESSAGE, READY, TURN, recording, wisp_tui};

/// A tmux server of its own, ended with the test.
struct Tmux {
    socket: String,
}

impl Tmux {
    fn start(size: (u16, u16), command: &str) -> Option<Self> {
        let socket = format!("wisp-test-{}-{}", std::process::id(), size.0);
        let (columns, rows) = (size.0.to_string(), size.1.to_string());
        let tmux = Self { socket };
        let limit = "set -g history-limit 50000 ; new-session -d";
        let mut arguments: Vec<&str> = limit.split(' ').collect();
        arguments.extend(["-x", &columns, "-y", &rows, command]);
        tmux.run(&arguments)?;
        Some(tmux)
    }

    fn run(&self, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("tmux");
        command
            .env_remove("TMUX")
            .args(["-f", "/dev/null", "-L", &self.socket])
            .args(arguments);
        let output = command.output().ok()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "tmux {arguments:?}: {said}");
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.run(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    fn history(&self) -> String {
        self.run(&["capture-pane", "-p", "-J", "-S", "-"])
            .unwrap_or_default()
    }

    /// Waits until a numbered line, or a later one, is on the screen.
    fn wait_for_line(&self, line: usize, lines: usize) {
        let until = Instant::now() + Duration::from_mins(1);
        loop {
            let screen = self.run(&["capture-pane", "-p"]).unwrap_or_default();
            if (line..=lines).any(|n| screen.contains(&format!("{n}. line"))) || screen.contains("ALL SAID") {
                return;
            }
            assert!(
                Instant::now() < until,
                "waited for line {line}; there is\n{}",
                self.history()
            );
        }
    }

    fn wait_for(&self, text: &str) -> String {
        let until = Instant::now() + Duration::from_mins(1);
        loop {
            let screen = self.run(&["capture-pane", "-p"]).unwrap_or_default();
            if screen.contains(text) {
                return self.history();
            }
            assert!(
                Instant::now() < until,
                "waited for {text}; there is\n{}",
                self.history()
            );
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let mut command = Command::new("tmux");
        let _ended = command
            .env_remove("TMUX")
            .args(["-L", &self.socket, "kill-server"])
            .output();
    }
}

/// A reply of numbered lines, a few at a time, each step on the person's key so that no time has to pass.
fn numbered(lines: usize) -> String {
    let mut text = format!("{READY}\n{MESSAGE}\n{TURN}\n");
    for n in 1..=lines {
        let line = format!(
            "{n}. line number {n}: {}",
            "words of the reply that go on ".repeat(n % 5)
        );
        let (first, rest) = line.split_at(line.len() / 2);
        for part in [first.to_owned(), format!("{rest}\\n")] {
            text.push_str(&format!("{{\"type\":\"delta\",\"text\":\"{part}\"}}\n@ 2\n"));
        }
    }
    text + "{\"type\":\"note\",\"text\":\"ALL SAID\"}\n" + READY + "\n" + MESSAGE + "\n"
}

fn each_number_once(history: &str, lines: usize) {
    for n in 1..=lines {
        let row = format!("{n}. line number {n}:");
        let count = history.lines().filter(|line| line.starts_with(&row)).count();
        assert_eq!(
            count, 1,
            "line {n} in
{history}"
        );
    }
    let numbers: Vec<usize> = history
        .lines()
        .filter_map(|line| line.split_once(". line number ")?.0.trim().parse().ok())
        .collect();
    assert_eq!(numbers, (1..=lines).collect::<Vec<_>>(), "in order");
}

/// Resizes the window while a reply streams: afterwards each line stands once, in order. Returns the terminal.
fn resized(lines: usize, sizes: &[(u16, u16)]) -> Option<Tmux> {
    let recording = recording(&numbered(lines));
    let home = recording.home().display();
    let command = format!(
        "env -u TMUX TERM=xterm-256color WISP_HOME='{home}' '{}' --replay '{}'",
        wisp_tui(),
        recording.path.display()
    );
    let Some(tmux) = Tmux::start(sizes[0], &command) else {
        eprintln!("left out: tmux is not installed");
        return None;
    };
    tmux.wait_for("approve at moderate");
    tmux.run(&["send-keys", "go", "Enter"]);
    for (at, size) in sizes.iter().enumerate().skip(1) {
        tmux.wait_for_line(at * lines / sizes.len(), lines);
        tmux.resize(size.0, size.1);
    }
    tmux.wait_for("ALL SAID");
    tmux.resize(sizes[0].0, sizes[0].1);
    tmux.run(&["send-keys", "still typing"]);
    let history = tmux.wait_for("› still typing");
    each_number_once(&history, lines);
    Some(tmux)
}

/// What was said stands once each, and of the band nothing stands twice.
fn nothing_was_left_behind(lines: usize, sizes: &[(u16, u16)]) {
    let Some(tmux) = resized(lines, sizes) else {
        return;
    };
    let history = tmux.wait_for("approve at moderate");
    let rows = history.matches("approve at moderate").count();
    assert_eq!(rows, 1, "no status row was left behind:\n{history}");
}

#[test]
fn eighty_lines_and_a_window_of_120_60_and_120_columns() {
    nothing_was_left_behind(80, &[(120, 40), (60, 40), (120, 40)]);
}

#[test]
fn a_hundred_lines_and_forty_sizes() {
    let sizes: Vec<(u16, u16)> = (0..40)
        .map(|n| if n % 2 == 0 { (118, 40) } else { (30, 10) })
        .collect();
    nothing_was_left_behind(100, &sizes);
}
