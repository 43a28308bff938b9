//! Starting a command: a session of its own without a terminal, three descriptors, nothing else of wisp's.
//!
//! A command under the sandbox is started by the sandbox's launcher, which does all of this itself, so that nothing has to
//! be done between fork and exec here. One without is prepared here.
//!
//! The standard library already gives a child an empty signal mask and the default SIGPIPE, and opens every file of
//! ours so that it closes on exec. Two things are left to do between fork and exec: the session, and descriptors that
//! wisp itself inherited open, which would otherwise be handed down.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::os::fd::RawFd;
use std::process::Stdio;

use rustix::process::Pid;
use tokio::process::{Child, Command};
use wisp_host::{IdSource, RandomIds};

use crate::error::check_directory;
use crate::leftovers::Tag;
use crate::link::Link;
use crate::{CommandSpec, EnvChange, ExecError, Sandbox, environment};

/// The size asked for a command's pipes: fewer wake-ups for a command that prints a lot.
#[cfg(target_os = "linux")]
const PIPE: usize = 1024 * 1024;

/// A command that has been started.
pub(crate) struct Launched {
    pub(crate) process: Process,
    pub(crate) tag: Tag,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

/// The command's ends of its streams.
struct Streams {
    /// None for nothing to read.
    stdin: Option<PipeReader>,
    stdout: PipeWriter,
    stderr: PipeWriter,
}

/// What is waited for.
pub(crate) enum Process {
    /// The command's own process.
    Child(Child),
    /// The supervisor above it, which says over the link what becomes of it.
    Supervised(Link),
}

/// Starts the command, which reads from `stdin`. Errors: those of [`check_directory`], [`ExecError::NoProgram`],
/// [`ExecError::Launch`].
pub(crate) fn launch(spec: &CommandSpec, stdin: Option<PipeReader>) -> Result<Launched, ExecError> {
    let words = spec.words();
    let program = words.first().ok_or(ExecError::NoProgram)?.clone();
    if let Some(dir) = &spec.dir {
        check_directory(dir)?;
    }
    let failed = |source| ExecError::Launch { program, source };
    let mark = RandomIds.next();
    let changes = environment::changes(spec, &mark);
    let started = || {
        let (stdout, out) = pipe()?;
        let (stderr, err) = pipe()?;
        let streams = Streams {
            stdin,
            stdout: out,
            stderr: err,
        };
        let (process, leader) = match supervising(spec) {
            Some(sandbox) => supervised(sandbox, spec, words, changes, streams)?,
            None => own(spec, &words, changes, streams)?,
        };
        let is_supervised = matches!(process, Process::Supervised(_));
        Ok(Launched {
            process,
            tag: Tag::new(leader, mark, is_supervised),
            stdout,
            stderr,
        })
    };
    started().map_err(failed)
}

/// The sandbox whose launcher starts the command. Elsewhere than on Linux the system's program does, which executes it
/// in its own place.
fn supervising(spec: &CommandSpec) -> Option<&Sandbox> {
    spec.sandbox.as_ref().filter(|_| cfg!(target_os = "linux"))
}

/// Has the launcher start the command.
#[cfg(target_os = "linux")]
fn supervised(
    sandbox: &Sandbox,
    spec: &CommandSpec,
    words: Vec<OsString>,
    env: Vec<EnvChange>,
    streams: Streams,
) -> io::Result<(Process, Pid)> {
    let (link, theirs) = Link::new()?;
    let request = crate::sandbox::request::Request {
        dir: spec.dir.clone(),
        env,
        words,
    };
    let ends = crate::launcher::Ends {
        always: [theirs, streams.stdout.into(), streams.stderr.into()],
        stdin: streams.stdin.map(OwnedFd::from),
    };
    let supervisor = crate::launcher::start(&sandbox.helper, &request, &ends)?;
    Ok((Process::Supervised(link), supervisor))
}

#[cfg(not(target_os = "linux"))]
fn supervised(
    _: &Sandbox,
    _: &CommandSpec,
    _: Vec<OsString>,
    _: Vec<EnvChange>,
    _: Streams,
) -> io::Result<(Process, Pid)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Starts the command as a child of this process.
fn own(
    spec: &CommandSpec,
    words: &[OsString],
    env: Vec<EnvChange>,
    streams: Streams,
) -> io::Result<(Process, Pid)> {
    let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    #[expect(clippy::disallowed_methods, reason = "this is where processes start")]
    let mut command = Command::new(program);
    let stdin = streams.stdin.map_or_else(Stdio::null, Stdio::from);
    command.args(args).stdin(stdin).kill_on_drop(true);
    leave_the_terminal(&mut command);
    if let Some(dir) = &spec.dir {
        command.current_dir(dir);
    }
    environment::prepare(&mut command, env);
    let child = command.stdout(streams.stdout).stderr(streams.stderr).spawn()?;
    let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let leader = leader.ok_or_else(|| io::Error::other("it has no process id"))?;
    Ok((Process::Child(child), leader))
}

fn pipe() -> io::Result<(PipeReader, io::PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    // A system that refuses (an unprivileged user has a limit for all pipes) leaves the usual size.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&reader, PIPE);
    Ok((reader, writer))
}

/// Makes the command the leader of a session, and so of a process group, without a controlling terminal: /dev/tty
/// cannot be opened, and a signal to the group reaches everything it starts.
#[expect(unsafe_code, reason = "the session is made between fork and exec")]
fn leave_the_terminal(command: &mut Command) {
    let inherited = descriptors();
    let prepare = move || {
        rustix::process::setsid()?;
        close_on_exec(&inherited);
        Ok(())
    };
    // SAFETY: the closure runs in the forked child, where only async-signal-safe calls may be made. It makes the
    // system calls setsid and fcntl, allocates nothing and takes no lock; its list was made before the fork.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// The descriptors open in this process, but for the standard three.
pub(crate) fn descriptors() -> Vec<RawFd> {
    let listed = std::fs::read_dir("/dev/fd").into_iter().flatten();
    let numbers = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|fd: &RawFd| *fd > 2).collect()
}

/// Marks descriptors to be closed by exec. They are not closed here: one of them is how the standard library learns
/// that exec failed.
#[expect(unsafe_code, reason = "the numbers have no owner that could be borrowed from")]
pub(crate) fn close_on_exec(descriptors: &[RawFd]) {
    for fd in descriptors {
        // SAFETY: F_SETFD changes a flag of a descriptor and touches no memory; for a number that is not open it
        // fails, which does not matter here. The call is async-signal-safe.
        unsafe {
            libc::fcntl(*fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}
