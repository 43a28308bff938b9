//! A program on a pseudo-terminal, with the screen a person would see. Tests wait for what they expect on it, woken by
//! the program's own bytes.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use pty_process::blocking::{Command, Pty};
use rustix::termios::{Termios, tcgetattr};

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the program wrote, and what it looks like.
struct Written {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    ended: bool,
}

/// A program on its terminal.
pub struct Program {
    pub child: Child,
    pty: Arc<Pty>,
    written: Arc<(Mutex<Written>, Condvar)>,
}

/// Of this test's environment, what a program needs to run at all: colours, sizes, pagers and addresses that the person
/// has set are not tested here.
fn kept() -> impl Iterator<Item = (&'static str, std::ffi::OsString)> {
    ["PATH", "HOME", "TMPDIR"]
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)))
}

fn size(value: u16) -> NonZeroU16 {
    NonZeroU16::new(value.max(1)).unwrap()
}

impl Program {
    /// Starts a program on a terminal of `columns` × `rows`.
    pub fn start<S: AsRef<OsStr>>(argv: &[S], (columns, rows): (u16, u16), env: &[(&str, &str)]) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(pty_process::Size::new(rows, columns)).unwrap();
        let command = Command::new(argv[0].as_ref())
            .args(&argv[1..])
            .env_clear()
            .envs(kept())
            .env("TERM", "xterm-256color");
        let command = command.envs(env.iter().copied());
        let child = command.spawn(pts).unwrap();
        let parser = vt100::Parser::new(size(rows), size(columns), 100_000);
        let written = Arc::new((
            Mutex::new(Written {
                parser,
                bytes: Vec::new(),
                ended: false,
            }),
            Condvar::new(),
        ));
        let pty = Arc::new(pty);
        let (reader, shared) = (Arc::clone(&pty), Arc::clone(&written));
        std::thread::spawn(move || read_all(&reader, &shared));
        Self { child, pty, written }
    }

    /// Writes what a keyboard would.
    pub fn write(&self, bytes: impl AsRef<[u8]>) {
        (&*self.pty).write_all(bytes.as_ref()).unwrap();
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.pty.resize(pty_process::Size::new(rows, columns)).unwrap();
        let mut written = self.written.0.lock().unwrap();
        written.parser.set_size(size(rows), size(columns));
    }

    /// What a terminal does that is made lower and given its height back before the program is told: the rows below are
    /// gone, and the program's size is the one it knows.
    pub fn cut_rows_off(&self, rows: u16) {
        let mut written = self.written.0.lock().unwrap();
        let (height, columns) = written.parser.screen().size();
        written.parser.set_size(size(rows), columns);
        written.parser.set_size(height, columns);
    }

    /// What is on the screen now.
    pub fn screen(&self) -> String {
        self.written.0.lock().unwrap().parser.screen().contents()
    }

    /// Waits until the screen is as wanted; fails with the screen when it never is.
    pub fn wait_until(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let (lock, changed) = &*self.written;
        let mut written = lock.lock().unwrap();
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = written.parser.screen().contents();
            if wanted(&screen) {
                return screen;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !written.ended,
                "waited for {what}; the screen is\n{screen}"
            );
            written = changed.wait_timeout(written, left).unwrap().0;
        }
    }

    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Everything the program wrote so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.written.0.lock().unwrap().bytes.clone()
    }

    /// How the terminal is set.
    pub fn settings(&self) -> Termios {
        tcgetattr(self.pty.as_fd()).unwrap()
    }

    /// Waits for the program's end.
    pub fn end(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.wait_for_last_byte();
                return status;
            }
            if Instant::now() > until {
                let screen = self.written.0.lock().unwrap().parser.screen().contents();
                self.child.kill().unwrap();
                panic!("the program did not end; the screen is\n{screen}");
            }
            std::thread::yield_now();
        }
    }

    /// Waits until everything the program wrote was read.
    fn wait_for_last_byte(&self) {
        let (lock, changed) = &*self.written;
        let written = lock.lock().unwrap();
        let (written, late) = changed
            .wait_timeout_while(written, PATIENCE, |written| !written.ended)
            .unwrap();
        assert!(!late.timed_out(), "the terminal was closed");
        drop(written);
    }

    /// Everything in the scrollback and on the screen.
    pub fn history(&self) -> String {
        history(&mut self.written.0.lock().unwrap().parser)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The scrollback of a terminal and its screen, as rows.
pub fn history(parser: &mut vt100::Parser) -> String {
    let screen = parser.screen_mut();
    let (rows, columns) = screen.size();
    screen.set_scrollback(usize::MAX);
    let mut left = screen.scrollback();
    let mut text = Vec::new();
    while left > 0 {
        screen.set_scrollback(left);
        text.extend(
            screen
                .rows(0, columns.get())
                .take(left.min(usize::from(rows.get()))),
        );
        left = left.saturating_sub(usize::from(rows.get()));
    }
    screen.set_scrollback(0);
    text.extend(screen.rows(0, columns.get()));
    text.join("\n")
}

fn read_all(pty: &Pty, (lock, changed): &(Mutex<Written>, Condvar)) {
    let mut block = [0; 4096];
    let mut from = pty;
    while let Ok(read) = from.read(&mut block) {
        if read == 0 {
            break;
        }
        let mut written = lock.lock().unwrap();
        written.parser.process(&block[..read]);
        written.bytes.extend_from_slice(&block[..read]);
        changed.notify_all();
    }
    lock.lock().unwrap().ended = true;
    changed.notify_all();
}

/// The settings as text, to compare.
pub fn described(settings: &Termios) -> String {
    format!(
        "{:?} {:?} {:?} {:?}",
        settings.input_modes, settings.output_modes, settings.control_modes, settings.local_modes
    )
}

pub fn wisp_tui() -> &'static str {
    env!("CARGO_BIN_EXE_wisp-tui")
}

/// A recording in a file of its own, and a home for the program.
pub struct Recording {
    pub dir: tempfile::TempDir,
    pub path: PathBuf,
}

pub fn recording(lines: &str) -> Recording {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("recording.jsonl");
    std::fs::write(&path, lines).unwrap();
    Recording { dir, path }
}

impl Recording {
    pub fn home(&self) -> &Path {
        self.dir.path()
    }

    /// wisp-tui showing the recording.
    pub fn play(&self, size: (u16, u16)) -> Program {
        self.play_with(size, &[])
    }

    pub fn play_with(&self, size: (u16, u16), env: &[(&str, &str)]) -> Program {
        let home = self.home().display().to_string();
        let mut all = vec![("WISP_HOME", home.as_str())];
        all.extend_from_slice(env);
        Program::start(&[wisp_tui(), "--replay", self.path.to_str().unwrap()], size, &all)
    }
}

/// `status`: input is wanted.
pub const READY: &str = r#"{"type":"status","model":"m","directory":"~","approval":"approve at moderate"}"#;
/// The recording waits for a message.
pub const MESSAGE: &str = r#"> {"type":"message"}"#;
/// A turn begins.
pub const TURN: &str = r#"{"type":"turn","phase":"start","turn":1}"#;
