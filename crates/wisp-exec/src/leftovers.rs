//! The processes of a command that are not its leader: finding them, and ending them.
//!
//! Most stay in the command's process group. One that called `setsid` has left it, but still has the command's mark
//! in its environment (`WISP_COMMAND`), which Linux shows in /proc. Where there is no /proc, only the group is known.

use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::time::{Instant, sleep};

use crate::listening::ports_of;
use crate::{Cancel, LeftBehind};

/// How long a process that was killed may take to be gone: one in the middle of a system call is not gone at once.
const GONE: Duration = Duration::from_millis(500);

/// How often everything is looked for and killed when nobody can wait: a process may be started while one is looked for.
const KILL_ROUNDS: usize = 3;

/// How often an environment that reads as empty is read.
#[cfg(target_os = "linux")]
const EMPTY_READS: usize = 4;

/// What a command's processes are known by.
#[derive(Debug, Clone)]
pub(crate) struct Tag {
    /// The command's own process, whose id is also that of its group and session.
    pub(crate) leader: Pid,
    /// The mark in its environment.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only the group is known there")
    )]
    pub(crate) mark: String,
    /// When the leader was born, in the system's ticks; 0 when that is not known.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only the group is known there")
    )]
    pub(crate) born: u64,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "there is no supervisor there")
    )]
    /// Whether the leader is the sandbox's supervisor: not of the command itself, and above all of it.
    pub(crate) supervised: bool,
}

/// A process that belongs to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) pid: i32,
    pub(crate) name: String,
}

impl Tag {
    /// The tag of a command that has just been started.
    pub(crate) fn new(leader: Pid, mark: String, supervised: bool) -> Self {
        let born = born(leader);
        Self {
            leader,
            mark,
            born,
            supervised,
        }
    }

    /// Sends `signal` to everything of the command's that runs; a stopped process is woken to receive it. Errors are
    /// not reported: a process that is gone is what was wanted, and one that is another user's stays.
    pub(crate) fn signal(&self, signal: Signal) {
        let found = self.find();
        for wanted in [signal, Signal::CONT] {
            for process in &found {
                send(process, self, wanted);
            }
        }
    }

    /// Kills everything of the command's that runs, and looks again for what was started meanwhile.
    pub(crate) fn kill(&self) {
        for _ in 0..KILL_ROUNDS {
            if self.find().is_empty() {
                return;
            }
            self.signal(Signal::KILL);
        }
    }

    /// Ends everything of the command's that still runs: SIGTERM, and SIGKILL once `until` has passed or `cancel` was
    /// pressed twice. Returns what there was.
    pub(crate) async fn end(&self, until: Instant, cancel: &Cancel) -> Vec<LeftBehind> {
        let found = self.find();
        if found.is_empty() {
            return Vec::new();
        }
        let ports: Vec<Vec<u16>> = found.iter().map(|process| ports_of(process.pid)).collect();
        self.signal(Signal::TERM);
        tokio::select! {
            () = self.gone(until) => {}
            () = cancel.killed() => {}
        }
        if !self.find().is_empty() {
            self.signal(Signal::KILL);
            self.gone(Instant::now() + GONE).await;
        }
        let remaining = self.find();
        let left = found.into_iter().zip(ports).map(|(process, ports)| LeftBehind {
            ended: !remaining.contains(&process),
            pid: process.pid,
            name: process.name,
            ports,
        });
        left.collect()
    }

    /// Waits until nothing of the command's runs, at most until `until`. There is no event to wait for: these are not
    /// children of this process. It looks soon at first and then less often.
    async fn gone(&self, until: Instant) {
        let mut pause = Duration::from_millis(5);
        while Instant::now() < until && !self.find().is_empty() {
            sleep(pause.min(until - Instant::now())).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

#[cfg(target_os = "linux")]
fn send(process: &Found, _: &Tag, signal: Signal) {
    if let Some(pid) = Pid::from_raw(process.pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

#[cfg(target_os = "linux")]
impl Tag {
    /// The command's processes that run: of its group, its session, or with its mark.
    pub(crate) fn find(&self) -> Vec<Found> {
        let mut found: Vec<Found> = processes().filter_map(|pid| self.of_ours(pid)).collect();
        if self.supervised {
            let below = descendants(self.leader);
            found.retain(|process| process.pid != self.leader.as_raw_nonzero().get());
            let more: Vec<Found> = below
                .into_iter()
                .filter(|process| !found.contains(process))
                .collect();
            found.extend(more);
        }
        found
    }

    fn of_ours(&self, pid: i32) -> Option<Found> {
        let stat = stat(pid)?;
        let stat = parsed(&stat)?;
        let leader = self.leader.as_raw_nonzero().get();
        let runs = !matches!(stat.state, "Z" | "X");
        let beside = stat.group == leader || stat.session == leader;
        // Most of a machine's processes are older than the command: their environment need not be read.
        let ours = runs && stat.born >= self.born && (beside || self.is_marked(pid));
        ours.then(|| Found {
            pid,
            name: stat.name.to_owned(),
        })
    }

    /// Another user's environment cannot be read, and is not ours. One that is empty may be that of a process which is just
    /// replaced by another program, so it is read again a few times.
    fn is_marked(&self, pid: i32) -> bool {
        for _ in 0..EMPTY_READS {
            let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else {
                return false;
            };
            if !environment.is_empty() {
                return memchr::memmem::find(&environment, self.mark.as_bytes()).is_some();
            }
            std::thread::yield_now();
        }
        false
    }
}

#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = i32> {
    let listed = std::fs::read_dir("/proc").into_iter().flatten();
    listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The processes below another that run, whatever session they are in.
#[cfg(target_os = "linux")]
pub(crate) fn descendants(of: Pid) -> Vec<Found> {
    descendants_but(of, &[])
}

/// The same without some of them and what is below these.
#[cfg(target_os = "linux")]
pub(crate) fn descendants_but(of: Pid, without: &[i32]) -> Vec<Found> {
    let mut children: std::collections::BTreeMap<i32, Vec<(i32, Option<Found>)>> =
        std::collections::BTreeMap::new();
    for pid in processes() {
        let Some(line) = stat(pid) else { continue };
        let Some(stat) = parsed(&line) else { continue };
        let found = Found {
            pid,
            name: stat.name.to_owned(),
        };
        // One that has ended may still have children.
        let runs = !matches!(stat.state, "Z" | "X");
        children
            .entry(stat.parent)
            .or_default()
            .push((pid, runs.then_some(found)));
    }
    let (mut found, mut above) = (Vec::new(), vec![of.as_raw_nonzero().get()]);
    while let Some(parent) = above.pop() {
        let all = children.remove(&parent).into_iter().flatten();
        for (pid, process) in all.filter(|(pid, _)| !without.contains(pid)) {
            above.push(pid);
            found.extend(process);
        }
    }
    found
}

/// What a line of `/proc/PID/stat` says of a process.
#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
struct Stat<'a> {
    name: &'a str,
    state: &'a str,
    parent: i32,
    group: i32,
    session: i32,
    /// In ticks since the system started.
    born: u64,
}

#[cfg(target_os = "linux")]
fn stat(pid: i32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()
}

/// Reads the line. The name is in parentheses and may hold any character, parentheses too.
#[cfg(target_os = "linux")]
fn parsed(stat: &str) -> Option<Stat<'_>> {
    let (before, after) = stat.rsplit_once(") ")?;
    // The state is the third field, and counted from here the first.
    let fields: Vec<_> = after.split(' ').collect();
    Some(Stat {
        name: before.split_once('(')?.1,
        state: fields.first()?,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        born: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(target_os = "linux")]
fn born(pid: Pid) -> u64 {
    let stat = stat(pid.as_raw_nonzero().get());
    stat.as_deref().and_then(parsed).map_or(0, |stat| stat.born)
}

#[cfg(not(target_os = "linux"))]
fn born(_: Pid) -> u64 {
    0
}

#[cfg(not(target_os = "linux"))]
fn send(_: &Found, tag: &Tag, signal: Signal) {
    let _ = rustix::process::kill_process_group(tag.leader, signal);
}

#[cfg(not(target_os = "linux"))]
impl Tag {
    /// The command's process group as one, when it has a member.
    pub(crate) fn find(&self) -> Vec<Found> {
        let lives = rustix::process::test_kill_process_group(self.leader).is_ok();
        let group = lives.then(|| Found {
            pid: self.leader.as_raw_nonzero().get(),
            name: "process group".to_owned(),
        });
        group.into_iter().collect()
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = "12 (a) R 1) 2) S 1 7 8 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9";
        let expected = Stat {
            name: "a) R 1) 2",
            state: "S",
            parent: 1,
            group: 7,
            session: 8,
            born: 4711,
        };
        assert_eq!(parsed(stat), Some(expected));
        assert_eq!(parsed("12 (a) S 1 x 8"), None);
    }
}
