//! Reading both streams as they come, on a thread of its own: waiting for either with `poll`, so that neither can
//! fill up while the other is read, and so that a wake-up ends the reading though a stream is still open.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::capture::Capture;
use crate::live::LiveLane;

/// How much is read at once. Larger than a pipe's usual 64 KiB, since the pipes are made larger where that is allowed.
const BLOCK: usize = 256 * 1024;

/// Once the command has ended, how long a stream that somebody still holds must be quiet before it is left.
const QUIET: Duration = Duration::from_millis(100);

/// And how long it is read at most, quiet or not.
const DRAIN: Duration = Duration::from_secs(1);

const READ: u8 = 0;
const DRAINING: u8 = 1;
const STOP: u8 = 2;

/// Tells a pump that the command has ended, or to stop at once.
#[derive(Debug)]
pub(crate) struct Control {
    phase: Arc<AtomicU8>,
    wake: PipeWriter,
}

impl Control {
    /// The command has ended: read what it left, for as long as that keeps coming, and no longer than a second.
    pub(crate) fn drain(&self) {
        self.set(DRAINING);
    }

    /// Stop now.
    pub(crate) fn stop(&self) {
        self.set(STOP);
    }

    fn set(&self, phase: u8) {
        self.phase.store(phase, Ordering::Release);
        // A pump that is gone needs no waking.
        let _ = (&self.wake).write(&[phase]);
    }
}

/// One stream being read.
#[derive(Debug)]
pub(crate) struct Lane {
    /// `None` once it has ended.
    from: Option<PipeReader>,
    capture: Capture,
    live: Option<LiveLane>,
}

impl Lane {
    pub(crate) fn new(from: PipeReader, capture: Capture, live: Option<LiveLane>) -> Self {
        let from = Some(from);
        Self { from, capture, live }
    }

    /// Reads once. Whether there was anything.
    fn read(&mut self, block: &mut [u8]) -> bool {
        let Some(from) = &mut self.from else {
            return false;
        };
        match from.read(block) {
            Ok(read @ 1..) => {
                self.capture.push(&block[..read]);
                if let Some(live) = &mut self.live {
                    live.push(&block[..read]);
                }
                true
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => false,
            // An end, or a pipe that cannot be read any more, which is one too.
            Ok(0) | Err(_) => {
                self.from = None;
                false
            }
        }
    }
}

/// What both streams were.
#[derive(Debug)]
pub(crate) struct Pumped {
    pub(crate) captures: [Capture; 2],
    /// Whether a process still held a stream when reading stopped.
    pub(crate) held: bool,
}

/// How long a pump waits for more.
enum Patience {
    ForEver,
    For(Duration),
    /// It does not: what was read is all there will be.
    Over,
}

/// Both streams of a command.
#[derive(Debug)]
pub(crate) struct Pump {
    lanes: [Lane; 2],
    phase: Arc<AtomicU8>,
    wake: PipeReader,
    /// Since when the command is over.
    draining: Option<Instant>,
    /// When something was last read.
    last_read: Instant,
}

impl Pump {
    /// A pump over standard output and standard error, and what controls it.
    pub(crate) fn new(lanes: [Lane; 2]) -> io::Result<(Self, Control)> {
        let (wake, waker) = io::pipe()?;
        for from in lanes.iter().filter_map(|lane| lane.from.as_ref()) {
            rustix::io::ioctl_fionbio(from, true)?;
        }
        let phase = Arc::new(AtomicU8::new(READ));
        let control = Control {
            phase: Arc::clone(&phase),
            wake: waker,
        };
        let pump = Self {
            lanes,
            phase,
            wake,
            draining: None,
            last_read: Instant::now(),
        };
        Ok((pump, control))
    }

    /// Reads until both streams have ended, or the command has and what it left behind is quiet.
    pub(crate) fn run(mut self) -> Pumped {
        let mut block = vec![0; BLOCK];
        while self.is_open() {
            let timeout = match self.patience() {
                Patience::ForEver => None,
                Patience::For(time) => Timespec::try_from(time).ok(),
                Patience::Over => break,
            };
            if self.wait(timeout.as_ref()).is_err() {
                break;
            }
            for lane in &mut self.lanes {
                if lane.read(&mut block) {
                    self.last_read = Instant::now();
                }
            }
        }
        self.finish()
    }

    fn is_open(&self) -> bool {
        self.lanes.iter().any(|lane| lane.from.is_some())
    }

    fn patience(&mut self) -> Patience {
        match self.phase.load(Ordering::Acquire) {
            READ => return Patience::ForEver,
            STOP => return Patience::Over,
            _ => {}
        }
        let now = Instant::now();
        let since = *self.draining.get_or_insert_with(|| {
            self.last_read = now;
            now
        });
        let quiet = QUIET.checked_sub(now - self.last_read);
        let left = DRAIN.checked_sub(now - since);
        quiet.min(left).map_or(Patience::Over, Patience::For)
    }

    /// Waits until a stream has something, the pump is woken, or the time is over.
    fn wait(&self, timeout: Option<&Timespec>) -> io::Result<()> {
        let streams = self.lanes.iter().filter_map(|lane| lane.from.as_ref());
        // Once draining nothing more is said on the wake-up but to stop, which takes effect within the quiet time.
        let wake = self.draining.is_none().then_some(&self.wake);
        let fds = streams.map(AsFd::as_fd).chain(wake.map(AsFd::as_fd));
        let mut fds: Vec<_> = fds
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        match poll(&mut fds, timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    fn finish(self) -> Pumped {
        let held = self.is_open();
        let captures = self.lanes.map(|mut lane| {
            if let Some(live) = &mut lane.live {
                live.finish();
            }
            lane.capture
        });
        Pumped { captures, held }
    }
}
