//! Running a command from its start until nothing of it is left.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::process::Child;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until};

use crate::capture::Capture;
use crate::child::{Launched, launch};
use crate::leftovers::Tag;
use crate::live::LiveLane;
use crate::pump::{Control, Lane, Pump, Pumped};
use crate::{CommandSpec, Ending, ExecError, Outcome, Stream};

/// From SIGTERM to SIGKILL for a command that is stopped (design: "Process hygiene").
const GRACE: Duration = Duration::from_secs(2);

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
        mut child,
        tag,
        stdout,
        stderr,
    } = launch(&spec)?;
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
    let (ending, until) = supervise(&mut child, &spec, &guard.tag).await.map_err(lost)?;
    guard.control.drain();
    let pumped = pumping.await.map_err(|e| lost(io::Error::other(e)))?;
    let left_behind = guard.tag.end(until, &spec.cancel).await;
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
    })
}

fn live(spec: &CommandSpec, stream: Stream) -> Option<LiveLane> {
    spec.live.clone().map(|to| LiveLane::new(stream, to))
}

/// Waits for the command's own process, and stops it when its time is over or the person says so. Returns why it is
/// over, and until when what it left may take to end.
async fn supervise(child: &mut Child, spec: &CommandSpec, tag: &Tag) -> io::Result<(Ending, Instant)> {
    let ending = tokio::select! {
        biased;
        status = child.wait() => return Ok((Ending::of(status?), Instant::now() + LEFTOVER_GRACE)),
        () = spec.cancel.stopped() => Ending::Cancelled,
        after = over(spec.timeout) => Ending::TimedOut { after },
    };
    let until = Instant::now() + GRACE;
    tag.signal(Signal::TERM);
    stop(child, spec, tag, until).await?;
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
async fn stop(child: &mut Child, spec: &CommandSpec, tag: &Tag, until: Instant) -> io::Result<ExitStatus> {
    tokio::select! {
        biased;
        status = child.wait() => return status,
        () = spec.cancel.killed() => {}
        () = sleep_until(until) => {}
    }
    tag.signal(Signal::KILL);
    child.wait().await
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
            self.tag.signal(Signal::KILL);
        }
    }
}
