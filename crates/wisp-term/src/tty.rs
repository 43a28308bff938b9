//! How large a terminal's window is, and reading its bytes beside whatever else is done, so that the reading can be stopped at any moment without a
//! byte being lost: another program gets the terminal between two reads.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};

/// Columns and rows of the window that a standard stream is connected to; none when no stream is, or when the terminal
/// does not know. Asks the kernel alone: crossterm's `size` starts `tput`, found on the path, where there is no terminal.
pub fn window_size() -> Option<(u16, u16)> {
    of_window(io::stderr().as_fd())
        .or_else(|| of_window(io::stdout().as_fd()))
        .or_else(|| of_window(io::stdin().as_fd()))
}

fn of_window(stream: BorrowedFd<'_>) -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// How much is read at once, bytes.
const BLOCK: usize = 16 * 1024;

/// A thread that reads a terminal until this is dropped.
#[derive(Debug)]
pub struct Listener {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Reads `terminal` and gives what came to `take`; an empty block says that the terminal is gone. Ends when `take`
    /// answers false. Errors: no pipe or no thread could be made.
    pub fn start(terminal: OwnedFd, take: impl FnMut(&[u8]) -> bool + Send + 'static) -> io::Result<Self> {
        let (stopped, stop) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let read = move || read_on(File::from(terminal), &stopped, take);
        let thread = std::thread::Builder::new().name("keyboard".into()).spawn(read)?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The thread is gone already when nobody reads this.
        let _ = rustix::io::write(&self.stop, b"x");
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_on(mut terminal: File, stopped: &OwnedFd, mut take: impl FnMut(&[u8]) -> bool) {
    let mut block = vec![0; BLOCK];
    loop {
        match wait(&terminal, stopped) {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => {
                take(&[]);
                return;
            }
        }
        match terminal.read(&mut block) {
            Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Ok(0) | Err(_) => {
                take(&[]);
                return;
            }
            Ok(read) if take(&block[..read]) => {}
            Ok(_) => return,
        }
    }
}

/// Waits until the terminal can be read; false when the reading is to stop.
fn wait(terminal: &impl AsFd, stopped: &impl AsFd) -> io::Result<bool> {
    loop {
        let mut waiting = [
            PollFd::new(terminal, PollFlags::IN),
            PollFd::new(stopped, PollFlags::IN),
        ];
        match poll(&mut waiting, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
            Ok(_) if !waiting[1].revents().is_empty() => return Ok(false),
            Ok(_) => return Ok(true),
        }
    }
}
