//! Signals as values in the loop: those that end the program, Ctrl-Z from outside, going on after a stop, and a window
//! of another size.

use std::io;

use rustix::process::{Signal as Posix, getpid, kill_process};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// One that ends the program: its number.
    Ends(i32),
    /// Stop, as Ctrl-Z.
    Stop,
    /// Going on after a stop.
    Continued,
    /// The window has, or had, another size.
    Resized,
}

/// The signals that are listened for.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
    stop: Signal,
    go_on: Signal,
    resize: Signal,
}

impl Signals {
    /// Starts to listen; from now on none of them has its own effect.
    pub fn listen() -> io::Result<Self> {
        let raw = |posix: Posix| signal(SignalKind::from_raw(posix.as_raw()));
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            stop: raw(Posix::TSTP)?,
            go_on: raw(Posix::CONT)?,
            resize: signal(SignalKind::window_change())?,
        })
    }

    /// The next one.
    pub async fn next(&mut self) -> Arrived {
        tokio::select! {
            _ = self.terminate.recv() => Arrived::Ends(Posix::TERM.as_raw()),
            _ = self.hang_up.recv() => Arrived::Ends(Posix::HUP.as_raw()),
            _ = self.interrupt.recv() => Arrived::Ends(Posix::INT.as_raw()),
            _ = self.quit.recv() => Arrived::Ends(Posix::QUIT.as_raw()),
            _ = self.stop.recv() => Arrived::Stop,
            _ = self.go_on.recv() => Arrived::Continued,
            _ = self.resize.recv() => Arrived::Resized,
        }
    }
}

/// Stops this process until it is told to go on. Commands that run are in groups of their own and go on meanwhile.
pub fn stop_here() -> io::Result<()> {
    kill_process(getpid(), Posix::STOP).map_err(io::Error::from)
}
