//! The link to the sandbox's supervisor: a pair of sockets, of which the supervisor has one as its standard input. It
//! says how the command ended; when this side is dropped, by whatever way wisp ends, it ends all that is left.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Blocking;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;

use crate::Disabled;

/// The longest line the supervisor says, in bytes.
const LONGEST: usize = 64 * 1024;

/// What the supervisor says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// The command's own process has ended.
    Ended {
        status: ExitStatus,
        /// Whether it left something running.
        left: bool,
        /// Whether it failed with about as much memory as it may have.
        full: bool,
    },
    /// The program itself could not be executed, for this error of the system.
    NotLaunched(i32),
    /// The sandbox could not be set up.
    Failed(String),
    /// It ran more processes at a time than this.
    Crowd(u64),
    /// It made a file that other programs run by themselves, which has another name now.
    Disabled(Disabled),
    /// Nothing: the supervisor is gone.
    Gone,
}

/// This side of the link.
#[derive(Debug)]
pub(crate) struct Link {
    stream: UnixStream,
    heard: Vec<u8>,
}

impl Link {
    /// A link, and the supervisor's end of it.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = Blocking::pair()?;
        ours.set_nonblocking(true)?;
        let link = Self {
            stream: UnixStream::from_std(ours)?,
            heard: Vec::new(),
        };
        Ok((link, theirs.into()))
    }

    /// Tells the supervisor to end what is left, and waits until it has. Returns what it gave another name.
    pub(crate) async fn close(mut self) -> Vec<Disabled> {
        // One that is gone already has nothing left.
        let _ = self.stream.shutdown().await;
        let mut disabled = Vec::new();
        loop {
            match self.next().await {
                Ok(Said::Disabled(one)) => disabled.push(one),
                Ok(Said::Gone) | Err(_) => return disabled,
                Ok(_) => {}
            }
        }
    }

    /// What the supervisor says next. When the future is dropped, nothing that was heard is lost.
    pub(crate) async fn next(&mut self) -> io::Result<Said> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.heard) {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return Ok(said(&String::from_utf8_lossy(&line[..end])));
            }
            self.stream.readable().await?;
            let mut block = [0; 512];
            match self.stream.try_read(&mut block) {
                Ok(0) => return Ok(Said::Gone),
                Ok(read) if self.heard.len() + read <= LONGEST => {
                    self.heard.extend_from_slice(&block[..read]);
                }
                Ok(_) => return Err(io::Error::other("the sandbox's supervisor says too much")),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(e),
            }
        }
    }
}

fn said(line: &str) -> Said {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let read = match word {
        "ended" => match rest.split(' ').collect::<Vec<_>>()[..] {
            [status, left, full] => status.parse().ok().map(|status| Said::Ended {
                status: ExitStatus::from_raw(status),
                left: left == "1",
                full: full == "1",
            }),
            _ => None,
        },
        "crowd" => rest.parse().ok().map(Said::Crowd),
        "disabled" => rest.split_once('\t').map(|(path, now)| {
            Said::Disabled(Disabled {
                path: path.to_owned(),
                now: now.to_owned(),
            })
        }),
        "failed" => Some(failed(rest)),
        _ => None,
    };
    read.unwrap_or_else(|| Said::Failed(format!("its supervisor said {line:?}")))
}

fn failed(why: &str) -> Said {
    let launch = why.strip_prefix("launch ").and_then(|rest| rest.split_once(' '));
    match launch.and_then(|(number, _)| number.parse().ok()) {
        Some(number) => Said::NotLaunched(number),
        None => Said::Failed(why.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_supervisor_says_is_read() {
        let ended = |raw, left, full| Said::Ended {
            status: ExitStatus::from_raw(raw),
            left,
            full,
        };
        assert_eq!(said("ended 768 0 0"), ended(768, false, false));
        assert_eq!(said("ended 9 1 0"), ended(9, true, false));
        assert_eq!(said("ended 11 0 1"), ended(11, false, true));
        let disabled = Disabled {
            path: "/w/.envrc".into(),
            now: "/w/.envrc.wisp-disabled".into(),
        };
        assert_eq!(
            said("disabled /w/.envrc\t/w/.envrc.wisp-disabled"),
            Said::Disabled(disabled)
        );
        assert_eq!(said("crowd 512"), Said::Crowd(512));
        assert_eq!(said("failed launch 2 no such"), Said::NotLaunched(2));
        assert_eq!(said("failed Landlock: no"), Said::Failed("Landlock: no".into()));
        assert_eq!(
            said("ended x"),
            Said::Failed("its supervisor said \"ended x\"".into())
        );
    }
}
