//! Running a command from its start until nothing of it is left.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until};

use crate::capture::Capture;
use crate::child::{Launched, Process, launch};
use crate::leftovers::Tag;
use crate::link::Said;
use crate::live::LiveLane;
use crate::pump::{Control, Lane, Pump, Pumped};
use crate::{CommandSpec, Disabled, Ending, ExecError, Outcome, Stream};

/// The status of a command whose supervisor is gone, or has ended it.
pub(crate) fn killed() -> ExitStatus {
    ExitStatus::from_raw(Signal::KILL.as_raw())
}

/// From SIGTERM to SIGKILL for a command that is stopped (design: "Process hygiene").
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// The same for what a command left running when it ended by itself.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);

/// Runs a command. Returns when it is over, its output is read, and nothing it started runs any more: a background
/// process does not hold the turn, it is ended and reported. Must be called within a tokio runtime with its drivers
/// on. When the future is dropped before it is done, everything the command started is killed.
///
/// Errors: only when the command could not be started, or the system failed meanwhile. However it ended is an
/// [`Outcome`].
pub async fn run(spec: CommandSpec) -> Result<Outcome, ExecError> {
    if spec.cancel.is_pressed() {
        return Err(ExecError::NotStarted);
    }
    let started = Instant::now();
    let lost = |source| ExecError::Lost {
        program: spec.words().into_iter().next().unwrap_or_default(),
        source,
    };
    let Launched {
        process,
        tag,
        stdout,
        stderr,
    } = launch(&spec, None)?;
    let mut running = Running::new(process);
    let lane = |stream, from| {
        Lane::new(
            from,
            Capture::new(spec.bound, spec.spill.clone()),
            live(&spec, stream),
        )
    };
    let lanes = [lane(Stream::Stdout, stdout), lane(Stream::Stderr, stderr)];
    let (pump, control) = Pump::new(lanes).map_err(lost)?;
    let guard = Guard {
        tag,
        control,
        armed: true,
    };
    let pumping = spawn_blocking(move || pump.run());
    let supervised = supervise(&mut running, &spec, &guard.tag).await;
    let (ending, until) = supervised.map_err(|unended| unended.into_error(&spec))?;
    guard.control.drain();
    let pumped = pumping.await.map_err(|e| lost(io::Error::other(e)))?;
    let left_behind = if running.left {
        guard.tag.end(until, &spec.cancel).await
    } else {
        Vec::new()
    };
    let out_of_memory = running.full;
    let disabled = running.close().await;
    guard.disarm();
    let Pumped { captures, held } = pumped;
    let [stdout, stderr] = captures.map(Capture::finish);
    Ok(Outcome {
        ending,
        duration: started.elapsed(),
        stdout,
        stderr,
        pipe_held: held,
        left_behind,
        out_of_memory,
        disabled,
    })
}

fn live(spec: &CommandSpec, stream: Stream) -> Option<LiveLane> {
    spec.live.clone().map(|to| LiveLane::new(stream, to))
}

/// Why there is no ending to report.
pub(crate) enum Unended {
    /// The program could not be executed, or the sandbox not be set up.
    NeverBegan(Said),
    Lost(io::Error),
}

impl From<io::Error> for Unended {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

impl Unended {
    pub(crate) fn into_error(self, spec: &CommandSpec) -> ExecError {
        let program = spec.argv_itself().into_iter().next().unwrap_or_default();
        match self {
            Self::NeverBegan(Said::NotLaunched(number)) => ExecError::Launch {
                program,
                source: io::Error::from_raw_os_error(number),
            },
            Self::NeverBegan(Said::Failed(reason)) => ExecError::Sandbox { program, reason },
            Self::NeverBegan(_) => ExecError::Sandbox {
                program,
                reason: "its supervisor said nothing".to_owned(),
            },
            Self::Lost(source) => ExecError::Lost { program, source },
        }
    }
}

/// A command that runs: its own process, or the supervisor above it.
pub(crate) struct Running {
    process: Process,
    /// Whether something of it may still run when its own process has ended.
    pub(crate) left: bool,
    /// Whether it failed with about as much memory as it may have.
    full: bool,
    /// The number of processes it was ended for.
    crowd: Option<u64>,
}

impl Running {
    pub(crate) fn new(process: Process) -> Self {
        Self {
            process,
            left: true,
            full: false,
            crowd: None,
        }
    }

    /// Waits for the command's own process. May be dropped and called again.
    pub(crate) async fn wait(&mut self) -> Result<ExitStatus, Unended> {
        let link = match &mut self.process {
            Process::Child(child) => return Ok(child.wait().await?),
            Process::Supervised(link) => link,
        };
        match link.next().await? {
            Said::Ended { status, left, full } => {
                self.left = left;
                self.full = full;
                Ok(status)
            }
            Said::Crowd(most) => {
                self.crowd = Some(most);
                Ok(killed())
            }
            Said::Gone => Ok(killed()),
            began_not => Err(Unended::NeverBegan(began_not)),
        }
    }

    /// Lets the supervisor end what may be left, and waits for it. Returns what it gave another name.
    pub(crate) async fn close(self) -> Vec<Disabled> {
        match self.process {
            Process::Child(_) => Vec::new(),
            Process::Supervised(link) => link.close().await,
        }
    }
}

/// Waits for the command's own process, and stops it when its time is over or the person says so. Returns why it is
/// over, and until when what it left may take to end.
async fn supervise(
    running: &mut Running,
    spec: &CommandSpec,
    tag: &Tag,
) -> Result<(Ending, Instant), Unended> {
    let ending = tokio::select! {
        biased;
        status = running.wait() => {
            let status = status?;
            let ending = running.crowd.map_or_else(|| Ending::of(status), |most| Ending::TooManyProcesses { most });
            return Ok((ending, Instant::now() + LEFTOVER_GRACE));
        }
        () = spec.cancel.stopped() => Ending::Cancelled,
        after = over(spec.timeout) => Ending::TimedOut { after },
    };
    let until = Instant::now() + GRACE;
    tag.signal(Signal::TERM);
    stop(running, spec, tag, until).await?;
    Ok((ending, until))
}

/// Waits until the command's time is over, for ever when it has no limit. Returns the time it had.
async fn over(timeout: Option<Duration>) -> Duration {
    match timeout {
        Some(timeout) => {
            sleep(timeout).await;
            timeout
        }
        None => std::future::pending().await,
    }
}

/// Waits for a command that was asked to end, and kills it at `until` or when the person presses again.
async fn stop(
    running: &mut Running,
    spec: &CommandSpec,
    tag: &Tag,
    until: Instant,
) -> Result<ExitStatus, Unended> {
    tokio::select! {
        biased;
        status = running.wait() => return status,
        () = spec.cancel.killed() => {}
        () = sleep_until(until) => {}
    }
    tag.signal(Signal::KILL);
    running.wait().await
}

/// Kills what the command started, should the future that runs it be dropped.
struct Guard {
    tag: Tag,
    control: Control,
    armed: bool,
}

impl Guard {
    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.armed {
            self.control.stop();
            self.tag.kill();
        }
    }
}
