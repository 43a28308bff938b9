//! A terminal of wisp's own before the line editor.
//!
//! The editor reads a pseudo-terminal while a line is asked for, and a thread passes on to it what the person's terminal
//! sends, taken apart by [`Decoder`] and written again in the one form the editor knows. Read directly, one byte that is
//! not UTF-8 ends the editor and loses the line, and half a report or a key by `CSI u` is taken for text.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    ControlModes, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use wisp_term::keys::{Decoder, Typed, encoded};

/// How much may wait for the editor before the terminal is read on, bytes.
const WAITING: usize = 64 * 1024;
/// What has a terminal send keys in the old forms again: without the kitty protocol, without modifyOtherKeys.
const OLD_FORMS: &[u8] = b"\x1b[=0u\x1b[>4;0m";

/// The pseudo-terminal, and the person's terminal before it.
pub struct Filter {
    terminal: OwnedFd,
    editors: OwnedFd,
    passing: Arc<Mutex<Passing>>,
}

/// What is on its way from one to the other; it stays from one line to the next.
struct Passing {
    decoder: Decoder,
    since: Instant,
    waiting: Vec<u8>,
    /// The end that is written to; none once the terminal is gone, which is how the editor learns of it.
    near: Option<OwnedFd>,
}

impl Filter {
    /// A filter before standard input, which is a terminal. Errors: the system has no pseudo-terminal left.
    pub fn new() -> io::Result<Self> {
        let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&near, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&near)?;
        unlockpt(&near)?;
        let name = ptsname(&near, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let editors = rustix::fs::open(name, flags, Mode::empty())?;
        tcsetattr(&editors, OptionalActions::Now, &raw(&tcgetattr(&editors)?))?;
        rustix::fs::fcntl_setfl(&near, OFlags::RDWR | OFlags::NONBLOCK)?;
        Ok(Self {
            terminal: rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?,
            editors,
            passing: Arc::new(Mutex::new(Passing {
                decoder: Decoder::for_lines(),
                since: Instant::now(),
                waiting: Vec::new(),
                near: Some(near),
            })),
        })
    }

    /// Stands before standard input until what is given back is dropped. Errors: the terminal is gone.
    pub fn open(&self) -> io::Result<Open<'_>> {
        let before = tcgetattr(&self.terminal)?;
        let (stopped, stop) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let raw = raw(&before);
        tcsetattr(&self.terminal, OptionalActions::Drain, &raw)?;
        let mut open = Open {
            filter: self,
            before: before.clone(),
            stop,
            thread: None,
        };
        rustix::stdio::dup2_stdin(&self.editors)?;
        let terminal = self.terminal.try_clone()?;
        let passing = Arc::clone(&self.passing);
        let pass = move || {
            let modes = Modes { before, raw };
            pass_on(&terminal, &stopped, &mut lock(&passing), &modes);
        };
        open.thread = Some(std::thread::Builder::new().name("keyboard".into()).spawn(pass)?);
        Ok(open)
    }
}

fn lock(passing: &Mutex<Passing>) -> MutexGuard<'_, Passing> {
    passing.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The filter at work.
pub struct Open<'f> {
    filter: &'f Filter,
    before: Termios,
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // None of it can fail but where the terminal is gone, and then nothing is to be put back.
        let _ = rustix::io::write(&self.stop, b"x");
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if lock(&self.filter.passing).decoder.is_extended() {
            // Else Ctrl-C would be no signal while the reply comes.
            let mut err = io::stderr();
            let _ = err.write_all(OLD_FORMS).and_then(|()| err.flush());
        }
        let _ = rustix::stdio::dup2_stdin(&self.filter.terminal);
        let _ = tcsetattr(&self.filter.terminal, OptionalActions::Drain, &self.before);
    }
}

/// How the terminal is set without the filter and with it.
struct Modes {
    before: Termios,
    raw: Termios,
}

/// Keys as they are pressed, none of them a signal; output as it was.
pub fn raw(modes: &Termios) -> Termios {
    let mut raw = modes.clone();
    raw.input_modes -=
        InputModes::BRKINT | InputModes::ICRNL | InputModes::INPCK | InputModes::ISTRIP | InputModes::IXON;
    raw.control_modes |= ControlModes::CS8;
    raw.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN | LocalModes::ISIG;
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    raw
}

fn pass_on(terminal: &OwnedFd, stopped: &OwnedFd, passing: &mut Passing, modes: &Modes) {
    let mut block = vec![0; 4096];
    loop {
        passing.give();
        let Some(near) = &passing.near else { return };
        let reads = if passing.waiting.len() < WAITING {
            PollFlags::IN
        } else {
            PollFlags::empty()
        };
        let writes = if passing.waiting.is_empty() {
            PollFlags::empty()
        } else {
            PollFlags::OUT
        };
        let mut polled = [
            PollFd::new(stopped, PollFlags::IN),
            PollFd::new(terminal, reads),
            PollFd::new(near, writes),
        ];
        let now = passing.since.elapsed();
        let wait = passing.decoder.due().map(|due| due.saturating_sub(now));
        let wait = wait.and_then(|wait| Timespec::try_from(wait + Duration::from_millis(1)).ok());
        let polled_well = poll(&mut polled, wait.as_ref());
        let [stop, read, _] = polled.map(|polled| !polled.revents().is_empty());
        if stop {
            return;
        }
        match polled_well {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => passing.near = None,
            Ok(_) => {}
        }
        let now = passing.since.elapsed();
        let typed = if read {
            match rustix::io::read(terminal, &mut block) {
                Ok(0) | Err(rustix::io::Errno::IO | rustix::io::Errno::BADF) => {
                    passing.near = None;
                    return;
                }
                Ok(read) => passing.decoder.feed(&block[..read], now),
                Err(_) => Vec::new(),
            }
        } else {
            passing.decoder.tick(now)
        };
        for typed in typed {
            if is_suspend(&typed) {
                suspend(terminal, modes);
            } else {
                passing.waiting.extend(encoded(&typed));
            }
        }
    }
}

impl Passing {
    /// Writes what waits, as much as the editor takes.
    fn give(&mut self) {
        let Some(near) = &self.near else { return };
        while !self.waiting.is_empty() {
            match rustix::io::write(near, &self.waiting) {
                Ok(written) if written > 0 => drop(self.waiting.drain(..written)),
                _ => return,
            }
        }
    }
}

fn is_suspend(typed: &Typed) -> bool {
    *typed == Typed::Key(KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL))
}

/// Ctrl-Z: gives the terminal back and stops, as a program does that leaves its keys to the terminal. Once continued, a
/// change of the window's size that is none has the editor draw its line again.
fn suspend(terminal: &OwnedFd, modes: &Modes) {
    let tell = |bytes: &[u8]| {
        let mut err = io::stderr();
        let _ = err.write_all(bytes).and_then(|()| err.flush());
    };
    tell(b"\x1b[?2004l\r\n");
    let _ = tcsetattr(terminal, OptionalActions::Drain, &modes.before);
    let _ = kill_current_process_group(Signal::TSTP);
    let _ = tcsetattr(terminal, OptionalActions::Drain, &modes.raw);
    tell(b"\x1b[?2004h");
    let _ = kill_process(getpid(), Signal::WINCH);
}
