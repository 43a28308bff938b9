//! The helper's own process: it starts the confined child, hears of its end, adopts what it leaves running, and ends
//! all of it when the other side of its link is gone, which is when the call is over or wisp is.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, getppid, pidfd_open, set_child_subreaper,
    set_parent_process_death_signal, setsid, wait,
};

use super::appeared::Absent;
use super::launcher::Ends;
use super::readable::Readable;
use super::{confine, fork, leave};
use crate::EnvChange;
use crate::leftovers::descendants;
use crate::sandbox::Words;

/// How often adopted processes are reaped and counted while the command runs.
const ROUND: Duration = Duration::from_millis(250);

/// The same once the command has ended and something of it runs on.
const AFTER: Duration = Duration::from_millis(20);

/// How long ending everything may take.
const ENDING: Duration = Duration::from_secs(5);

/// A command to start and to look after.
pub(super) struct Order {
    pub(super) words: Words,
    pub(super) dir: Option<PathBuf>,
    pub(super) env: Vec<EnvChange>,
    /// This side of the link, and the command's three streams.
    pub(super) ends: Ends,
    /// The directory that is the command's alone.
    pub(super) temporary: Option<PathBuf>,
    /// The rules of what it may read.
    pub(super) readable: Option<Readable>,
    /// Places that are to stay empty.
    pub(super) absent: Absent,
    /// Processes that it may not signal: the launcher and wisp.
    pub(super) above: [Option<Pid>; 2],
}

/// Runs a command and returns when nothing of it is left. What happened is said over the link.
pub(super) fn supervise(order: Order) -> io::Result<()> {
    let Order {
        words,
        dir,
        env,
        ends,
        temporary,
        readable,
        absent,
        above,
    } = order;
    let Ends {
        always: [link, stdout, stderr],
        stdin,
    } = ends;
    rustix::process::setpgid(None, None)?;
    set_child_subreaper(Some(getpid()))?;
    let mut supervisor = Supervisor {
        link: UnixStream::from(link),
        temporary,
        most: words.limits.processes,
        memory: words.limits.memory,
        before: threads().unwrap_or(0),
        absent,
    };
    let own = getpid();
    let Some(child) = fork()? else {
        let start = Start {
            supervisor: own,
            dir,
            env,
            outputs: [stdout, stderr],
            stdin,
            readable,
            above,
        };
        let Err(why) = become_command(&words, supervisor.temporary.as_deref(), start);
        supervisor.say(&format!("failed {}", why.replace('\n', " ")));
        leave(126)
    };
    // The command's outputs end with the command, and the rules are its own.
    drop((stdin, stdout, stderr, readable));
    supervisor.run(child);
    Ok(())
}

/// What the child begins with.
struct Start {
    supervisor: Pid,
    dir: Option<PathBuf>,
    env: Vec<EnvChange>,
    outputs: [OwnedFd; 2],
    stdin: Option<OwnedFd>,
    readable: Option<Readable>,
    above: [Option<Pid>; 2],
}

/// In the child: confines itself and executes the command. Returns only when that failed.
fn become_command(words: &Words, temporary: Option<&Path>, start: Start) -> Result<Infallible, String> {
    let failed = |what: &'static str| move |e: io::Error| format!("{what}: {e}");
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| e.to_string())?;
    if getppid() != Some(start.supervisor) {
        return Err("its supervisor is gone".to_owned());
    }
    if let Some(stdin) = &start.stdin {
        rustix::stdio::dup2_stdin(stdin).map_err(|e| format!("standard input: {e}"))?;
    }
    let [stdout, stderr] = &start.outputs;
    rustix::stdio::dup2_stdout(stdout).map_err(|e| format!("standard output: {e}"))?;
    rustix::stdio::dup2_stderr(stderr).map_err(|e| format!("standard error: {e}"))?;
    if let Some(dir) = &start.dir {
        std::env::set_current_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    setsid().map_err(|e| format!("session: {e}"))?;
    // Root is not counted by the kernel, and others with all they run already.
    let processes = words.limits.processes;
    let room = (processes > 0).then(|| processes + u64::from(threads().unwrap_or(0)));
    confine::limit(words.limits, room, words.confinement.is_some()).map_err(failed("limits"))?;
    if let Some(confinement) = &words.confinement {
        let above = [Some(start.supervisor), start.above[0], start.above[1]];
        let with = confine::With {
            temporary,
            readable: start.readable,
            above: above.into_iter().flatten().collect(),
        };
        confine::confine(confinement, with)?;
    }
    let (program, args) = words.argv.split_first().ok_or("no program")?;
    #[expect(clippy::disallowed_methods, reason = "this is where processes start")]
    let mut command = std::process::Command::new(program);
    command.args(args);
    for change in start.env {
        match change {
            EnvChange::Set(name, value) => command.env(name, value),
            EnvChange::Unset(name) => command.env_remove(name),
        };
    }
    if let Some(temporary) = temporary {
        for name in ["TMPDIR", "TMP", "TEMP"] {
            command.env(name, temporary);
        }
    }
    let error = command.exec();
    Err(launch_error(program, &error))
}

/// What is said when the program itself could not be executed.
fn launch_error(program: &OsString, error: &io::Error) -> String {
    format!(
        "launch {} {}",
        error.raw_os_error().unwrap_or(0),
        program.display()
    )
}

struct Supervisor {
    link: UnixStream,
    temporary: Option<PathBuf>,
    /// The most processes; 0 for any number.
    most: u64,
    /// Bytes of memory one process may have; 0 for any number.
    memory: u64,
    /// Threads of the whole machine when it began.
    before: u32,
    absent: Absent,
}

impl Supervisor {
    /// Says a line to the other side. When nobody is there to hear it, the end of the link says so soon.
    fn say(&mut self, line: &str) {
        let _ = self.link.write_all(format!("{line}\n").as_bytes());
    }

    fn run(&mut self, child: Pid) {
        let ended = self.until_ended(child);
        if let Some(status) = ended {
            let left = reap(None).1;
            let full =
                status.exit_status() != Some(0) && self.memory > 0 && most_memory() / 3 * 4 >= self.memory;
            self.say(&format!(
                "ended {} {} {}",
                status.as_raw(),
                u8::from(left),
                u8::from(full)
            ));
            if left {
                self.until_gone();
            }
        }
        end_all();
        for (path, now) in self.absent.disable() {
            self.say(&format!("disabled {path}\t{now}"));
        }
        if let Some(temporary) = &self.temporary {
            // What the command made there may not be removable by its modes alone; what stays is in the system's own
            // directory for such things.
            let _ = std::fs::remove_dir_all(temporary);
        }
    }

    /// Waits for the command's own process. `None` when nobody waits for it any more, or it used up too much.
    fn until_ended(&mut self, child: Pid) -> Option<WaitStatus> {
        // Before Linux 5.3 there is no such handle, and it is looked after by rounds alone.
        let handle = pidfd_open(child, PidfdFlags::empty()).ok();
        let round = if handle.is_some() {
            ROUND
        } else {
            Duration::from_millis(5)
        };
        loop {
            if let (Some(status), _) = reap(Some(child)) {
                return Some(status);
            }
            if self.is_deserted(handle.as_ref(), round) {
                return None;
            }
            if self.is_too_many() {
                self.say(&format!("crowd {}", self.most));
                end_all();
                return None;
            }
        }
    }

    /// Waits until what the command left has ended, or is to.
    fn until_gone(&mut self) {
        while !self.is_deserted(None, AFTER) {
            if !reap(None).1 {
                return;
            }
        }
    }

    /// Waits for a process or the link, one round at most. Whether the other side of the link is gone.
    fn is_deserted(&mut self, handle: Option<&OwnedFd>, round: Duration) -> bool {
        let mut waited = vec![PollFd::new(&self.link, PollFlags::IN)];
        waited.extend(handle.map(|handle| PollFd::new(handle, PollFlags::IN)));
        let round = Timespec::try_from(round).ok();
        if poll(&mut waited, round.as_ref()).is_err() || waited[0].revents().is_empty() {
            return false;
        }
        // Nothing is ever said in this direction: what can be read is the end.
        !matches!(self.link.read(&mut [0; 1]), Ok(1..))
    }

    /// Whether the command runs more processes than it may. Counting them all is dear; the machine's number of threads,
    /// which is one read, says when it is worth it.
    fn is_too_many(&self) -> bool {
        let grown = threads().unwrap_or(0).saturating_sub(self.before);
        self.most > 0 && u64::from(grown) > self.most && descendants(getpid()).len() as u64 > self.most
    }
}

/// The most bytes of memory a process had that has ended and was waited for.
#[expect(unsafe_code, reason = "the call has no wrapper")]
fn most_memory() -> u64 {
    // SAFETY: all zeroes is a valid record, which the call fills in and nothing else refers to.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut used);
        used
    };
    u64::try_from(used.ru_maxrss).unwrap_or(0).saturating_mul(1024)
}

/// Threads of the whole machine.
fn threads() -> Option<u32> {
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    load.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// Takes the status of every child that has ended: that of `child` when it is among them, and whether there are others.
fn reap(child: Option<Pid>) -> (Option<WaitStatus>, bool) {
    let mut ended = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                if Some(pid) == child {
                    ended = Some(status);
                }
            }
            Ok(None) => return (ended, true),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return (ended, false),
        }
    }
}

/// Ends every process below this one. New ones may appear while it looks, so all are stopped before they are killed, and
/// it looks until there are none.
fn end_all() {
    let until = Instant::now() + ENDING;
    while reap(None).1 && Instant::now() < until {
        for signal in [Signal::STOP, Signal::KILL] {
            for process in descendants(getpid()) {
                if let Some(pid) = Pid::from_raw(process.pid) {
                    let _ = rustix::process::kill_process(pid, signal);
                }
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
