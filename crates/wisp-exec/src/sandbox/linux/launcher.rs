//! The launcher: it waits for requests, forks a supervisor for each, and ends what a supervisor that was killed left.

use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, getppid, getuid, kill_process, pidfd_open,
    set_child_subreaper, wait,
};

use super::appeared::Absent;
use super::readable::Readable;
use super::supervisor::{self, Order};
use super::{fork, leave};
use crate::child::{close_on_exec, descriptors};
use crate::leftovers::descendants_but;
use crate::sandbox::request::{LONGEST, Request};
use crate::sandbox::{NO_LANDLOCK, Profile, Words};

/// How often a supervisor is looked after whose end the system does not tell of (before Linux 5.3).
const ROUND: Duration = Duration::from_millis(20);

/// How long ending everything that was left may take.
const ENDING: Duration = Duration::from_secs(5);

/// Serves requests until the other side of the socket, which is standard input, is gone.
pub(in crate::sandbox) fn serve() -> ExitCode {
    match Launcher::new().and_then(|mut launcher| launcher.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

struct Launcher {
    /// None once the other side is gone.
    socket: Option<UnixStream>,
    running: Vec<Running>,
    readable: Option<Readable>,
    /// Where the temporary directories of commands are made; none until there is one.
    temporary: Option<PathBuf>,
    /// How many commands were started.
    count: u64,
}

/// A supervisor.
struct Running {
    pid: Pid,
    handle: Option<OwnedFd>,
    temporary: Option<PathBuf>,
    absent: Absent,
}

/// What came with a request.
pub(super) struct Ends {
    /// The supervisor's end of the link, standard output, standard error.
    pub(super) always: [OwnedFd; 3],
    /// Standard input; none for nothing to read.
    pub(super) stdin: Option<OwnedFd>,
}

impl Ends {
    /// The descriptors in the order they are sent: three, or four with a standard input.
    fn of(mut sent: Vec<OwnedFd>) -> Option<Self> {
        let stdin = if sent.len() == 4 { sent.pop() } else { None };
        let always = sent.try_into().ok()?;
        Some(Self { always, stdin })
    }
}

impl Launcher {
    fn new() -> io::Result<Self> {
        close_on_exec(&descriptors());
        let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let null = openat(CWD, "/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdin(&null)?;
        // What a supervisor leaves that is killed becomes this process's, and is ended here.
        set_child_subreaper(Some(getpid()))?;
        Ok(Self {
            socket: Some(UnixStream::from(socket)),
            running: Vec::new(),
            readable: None,
            temporary: None,
            count: 0,
        })
    }

    fn run(&mut self) -> io::Result<()> {
        while self.socket.is_some() || !self.running.is_empty() {
            if self.is_asked()? && !self.answer() {
                self.socket = None;
            }
            self.reap();
        }
        if let Some(temporary) = &self.temporary {
            let _ = std::fs::remove_dir_all(temporary);
        }
        Ok(())
    }

    /// Waits for a request or a supervisor's end. Whether it is the former.
    fn is_asked(&self) -> io::Result<bool> {
        let handles = self.running.iter().filter_map(|running| running.handle.as_ref());
        let sources = self
            .socket
            .iter()
            .map(|socket| PollFd::new(socket, PollFlags::IN));
        let mut waited: Vec<PollFd<'_>> = sources
            .chain(handles.map(|handle| PollFd::new(handle, PollFlags::IN)))
            .collect();
        let unseen = self.running.iter().any(|running| running.handle.is_none());
        let round = Timespec::try_from(ROUND).ok().filter(|_| unseen);
        match poll(&mut waited, round.as_ref()) {
            Ok(_) => Ok(self.socket.is_some() && !waited[0].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// Takes a request and answers it. Whether the other side is still there.
    fn answer(&mut self) -> bool {
        let received = self.socket.as_ref().map(received);
        let Some(Ok(Some((request, ends)))) = received else {
            return false;
        };
        let started = match (Request::read(&request), ends) {
            (Some(request), Some(ends)) => self.start(request, ends),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        };
        let answer = match started {
            Ok(pid) => pid.as_raw_nonzero().get(),
            Err(e) => e.raw_os_error().unwrap_or(libc::EINVAL).saturating_neg(),
        };
        let told = self
            .socket
            .as_ref()
            .map(|mut socket| socket.write_all(&answer.to_be_bytes()));
        matches!(told, Some(Ok(())))
    }

    fn start(&mut self, request: Request, ends: Ends) -> io::Result<Pid> {
        let words = Words::read(&request.words).map_err(|_| io::ErrorKind::InvalidInput)?;
        let reading = words.confinement.as_ref().filter(|c| c.profile == Profile::Read);
        let reads = reading.is_some();
        let temporary = match reading {
            Some(_) => Some(self.own_temporary()?),
            None => None,
        };
        if let Some(confinement) = reading.filter(|c| c.landlock > NO_LANDLOCK) {
            let base = self.temporary.as_deref();
            if !self
                .readable
                .as_ref()
                .is_some_and(|known| known.holds(confinement))
            {
                self.readable = Some(Readable::of(confinement, base).map_err(io::Error::other)?);
            }
        }
        let kept = words.confinement.as_ref().filter(|c| c.profile == Profile::Write);
        let absent = kept.map_or_else(Absent::default, |confinement| Absent::of(&confinement.read_only));
        let above = [Some(getpid()), getppid()];
        let Some(pid) = fork()? else {
            // Only the launcher holds these, so that their other ends hear of its end.
            drop(self.socket.take());
            self.running.clear();
            let Request { dir, env, .. } = request;
            let order = Order {
                words,
                dir,
                env,
                ends,
                temporary,
                readable: self.readable.take().filter(|_| reads),
                absent,
                above,
            };
            leave(i32::from(supervisor::supervise(order).is_err()))
        };
        self.running.push(Running {
            pid,
            handle: pidfd_open(pid, PidfdFlags::empty()).ok(),
            temporary,
            absent,
        });
        Ok(pid)
    }

    /// A directory that is the next command's alone, within one that is this launcher's.
    fn own_temporary(&mut self) -> io::Result<PathBuf> {
        let there = self.temporary.as_ref().is_some_and(|base| base.is_dir());
        if !there {
            self.temporary = Some(temporary()?);
            // It is among what may be read.
            self.readable = None;
        }
        self.count += 1;
        let base = self.temporary.as_deref().unwrap_or_else(|| Path::new("/tmp"));
        let own = base.join(self.count.to_string());
        rustix::fs::mkdir(&own, Mode::RWXU)?;
        Ok(own)
    }

    /// Takes the status of every child that has ended. One that was killed cannot have ended its command, which is done
    /// here.
    fn reap(&mut self) {
        let mut killed = false;
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let Some(at) = self.running.iter().position(|running| running.pid == pid) else {
                continue;
            };
            let over = self.running.swap_remove(at);
            if status.exited() {
                continue;
            }
            killed = true;
            self.end_strays();
            over.absent.disable();
            if let Some(temporary) = over.temporary {
                let _ = std::fs::remove_dir_all(temporary);
            }
        }
        if killed {
            self.end_strays();
        }
    }

    /// Ends every process below this one that no supervisor is above.
    fn end_strays(&self) {
        let supervised: Vec<i32> = self
            .running
            .iter()
            .map(|running| running.pid.as_raw_nonzero().get())
            .collect();
        let until = Instant::now() + ENDING;
        loop {
            let strays = descendants_but(getpid(), &supervised);
            if strays.is_empty() || Instant::now() > until {
                return;
            }
            for signal in [Signal::STOP, Signal::KILL] {
                for pid in strays.iter().filter_map(|stray| Pid::from_raw(stray.pid)) {
                    let _ = kill_process(pid, signal);
                    let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
                }
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Makes a directory that is this process's alone.
fn temporary() -> io::Result<PathBuf> {
    let base = std::env::temp_dir();
    let name = format!("wisp-{}-{}", getuid().as_raw(), getpid().as_raw_nonzero());
    // A name that somebody else has taken is passed over.
    for attempt in 0..100 {
        let path = base.join(format!("{name}-{attempt}"));
        match rustix::fs::mkdir(&path, Mode::RWXU) {
            Ok(()) => return Ok(path.canonicalize().unwrap_or(path)),
            Err(rustix::io::Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Err(io::Error::other("no temporary directory could be made"))
}

/// A request as it came, with what came along; none at the end.
fn received(mut socket: &UnixStream) -> io::Result<Option<(Vec<u8>, Option<Ends>)>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut length)];
    let got = recvmsg(socket, &mut into, &mut with, RecvFlags::CMSG_CLOEXEC)?.bytes;
    if got == 0 {
        return Ok(None);
    }
    let mut ends: Vec<OwnedFd> = Vec::new();
    for message in with.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            ends.extend(descriptors);
        }
    }
    socket.read_exact(&mut length[got..])?;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    socket.read_exact(&mut bytes)?;
    Ok(Some((bytes, Ends::of(ends))))
}
