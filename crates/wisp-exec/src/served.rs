//! Programs that are talked to while they run: a server on standard input and output.
//!
//! They are started, confined and ended as commands are ([`crate::run`]); only their streams are the caller's. Nothing of
//! what they say is held here, so the caller bounds it.

use std::ffi::OsString;
use std::io;

use rustix::process::Signal;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::{Instant, timeout_at};

use crate::child::{Launched, launch};
use crate::leftovers::Tag;
use crate::run::{GRACE, Running, killed};
use crate::{CommandSpec, Ending, ExecError};

/// The streams of a program, as the one who talks to it holds them.
#[derive(Debug)]
pub struct Streams {
    /// What it reads. Dropping it tells the program that nothing more will come.
    pub stdin: Sender,
    /// What it answers.
    pub stdout: Receiver,
    /// What it says beside that.
    pub stderr: Receiver,
}

/// A program that runs. When this is dropped, everything the program started is killed.
pub struct Served {
    /// None once it is over.
    running: Option<Running>,
    /// How it ended, until somebody has heard of it.
    over: Option<Result<Ending, ExecError>>,
    tag: Tag,
    spec: CommandSpec,
}

/// Starts a program. Of the specification only what is run, where, how confined and with which environment counts. Must be
/// called within a tokio runtime with its drivers on.
///
/// Errors: those of [`crate::run`] that come before the program runs. That it could not be executed under a sandbox is
/// only known later, by [`Served::ended`].
pub fn serve(spec: CommandSpec) -> Result<(Served, Streams), ExecError> {
    let (theirs, stdin) = io::pipe().map_err(|source| ExecError::Launch {
        program: program(&spec),
        source,
    })?;
    let Launched {
        process,
        tag,
        stdout,
        stderr,
    } = launch(&spec, Some(theirs))?;
    let served = Served {
        running: Some(Running::new(process)),
        over: None,
        tag,
        spec,
    };
    let streams = || -> io::Result<Streams> {
        Ok(Streams {
            stdin: Sender::from_owned_fd(stdin.into())?,
            stdout: Receiver::from_owned_fd(stdout.into())?,
            stderr: Receiver::from_owned_fd(stderr.into())?,
        })
    };
    // Should this fail, dropping `served` ends the program.
    let streams = streams().map_err(|source| ExecError::Lost {
        program: program(&served.spec),
        source,
    })?;
    Ok((served, streams))
}

fn program(spec: &CommandSpec) -> OsString {
    spec.argv_itself().into_iter().next().unwrap_or_default()
}

impl Served {
    /// Waits until the program's own process has ended, and says how. May be dropped and called again; once it has ended,
    /// what it left running is ended too.
    ///
    /// Errors: it could not be executed, or the system failed.
    pub async fn ended(&mut self) -> Result<Ending, ExecError> {
        if let Some(running) = &mut self.running {
            let ended = running.wait().await;
            self.over = Some(ended.map(Ending::of).map_err(|why| why.into_error(&self.spec)));
            if running.left {
                self.tag.kill();
            }
            if let Some(running) = self.running.take() {
                running.close().await;
            }
        }
        self.over.take().unwrap_or_else(|| Ok(Ending::of(killed())))
    }

    /// Ends the program: its standard input should be closed before. It has two seconds to end by itself, as long again
    /// after SIGTERM, and is killed then.
    pub async fn end(mut self) {
        for signal in [None, Some(Signal::TERM)] {
            if let Some(signal) = signal {
                self.tag.signal(signal);
            }
            if timeout_at(Instant::now() + GRACE, self.ended()).await.is_ok() {
                return;
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.running.is_some() {
            self.tag.kill();
        }
    }
}
