//! The process that starts confined commands: wisp's own program once more, which waits for requests.
//!
//! To execute a program of wisp's size and bind it takes longer than all the sandbox does. So it is executed once, with
//! the first command, and forks for each: a process of one thread and little memory, in which that is quick and safe.
//! It ends when wisp does, since its socket does. When it was killed, the next command starts another.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::Pid;

use crate::sandbox::request::{LONGEST, Request};
use crate::sandbox::{HELPER, SERVE};

/// The launchers of this process, one for each program that is one.
static LAUNCHERS: Mutex<Vec<Launcher>> = Mutex::new(Vec::new());

struct Launcher {
    helper: PathBuf,
    socket: UnixStream,
    process: Child,
}

/// What a command is started with.
pub(crate) struct Ends {
    /// The supervisor's end of its link, its standard output and its standard error.
    pub(crate) always: [OwnedFd; 3],
    /// Its standard input; none for nothing to read.
    pub(crate) stdin: Option<OwnedFd>,
}

/// Has a command started; returns its supervisor's process. Errors: there is no launcher, or it could not start it.
pub(crate) fn start(helper: &Path, request: &Request, ends: &Ends) -> io::Result<Pid> {
    let bytes = request.bytes();
    if bytes.len() > LONGEST {
        return Err(io::Error::from_raw_os_error(libc::E2BIG));
    }
    let mut launchers = LAUNCHERS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = launchers.iter().position(|launcher| launcher.helper == helper);
    let at = if let Some(at) = known {
        at
    } else {
        launchers.push(Launcher::start(helper)?);
        launchers.len() - 1
    };
    // One that was killed takes nothing, so that nothing is started twice.
    if launchers[at].greet(&bytes, ends).is_err() {
        let mut gone = std::mem::replace(&mut launchers[at], Launcher::start(helper)?);
        drop(gone.socket);
        let _ = gone.process.wait();
        launchers[at].greet(&bytes, ends)?;
    }
    let started = launchers[at].ask(&bytes);
    if started
        .as_ref()
        .is_err_and(|e| e.kind() == io::ErrorKind::UnexpectedEof)
    {
        let mut gone = launchers.swap_remove(at);
        let _ = gone.process.wait();
    }
    started
}

impl Launcher {
    fn start(helper: &Path) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        #[expect(clippy::disallowed_methods, reason = "this is where processes start")]
        let mut command = std::process::Command::new(helper);
        command
            .args([HELPER, SERVE])
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        Ok(Self {
            helper: helper.to_owned(),
            socket,
            process: command.spawn()?,
        })
    }

    /// Sends the length of a request, and with it what the command is started with.
    fn greet(&self, bytes: &[u8], ends: &Ends) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
        let ends: Vec<_> = ends.always.iter().chain(&ends.stdin).map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut with = SendAncillaryBuffer::new(&mut space);
        with.push(SendAncillaryMessage::ScmRights(&ends));
        let sent = sendmsg(
            &self.socket,
            &[IoSlice::new(&length)],
            &mut with,
            SendFlags::NOSIGNAL,
        )?;
        // Four bytes go whole into a socket that takes any.
        if sent == length.len() {
            Ok(())
        } else {
            Err(io::ErrorKind::WriteZero.into())
        }
    }

    /// Sends the request and hears of its start.
    fn ask(&mut self, bytes: &[u8]) -> io::Result<Pid> {
        let gone = |e: io::Error| match e.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => io::ErrorKind::UnexpectedEof.into(),
            _ => e,
        };
        self.socket.write_all(bytes).map_err(gone)?;
        let mut answer = [0; 4];
        self.socket.read_exact(&mut answer).map_err(gone)?;
        let answer = i32::from_be_bytes(answer);
        Pid::from_raw(answer.max(0)).ok_or_else(|| io::Error::from_raw_os_error(answer.saturating_neg()))
    }
}
