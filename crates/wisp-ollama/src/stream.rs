//! A reply as it arrives. Dropping it closes the connection, which is how a request is cancelled.

use std::time::Duration;

use tokio::time::Instant;

use bytes::Bytes;
use reqwest::Response;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, excerpt};
use crate::ndjson::LineSplitter;
use crate::repair;
use crate::reply::{ChatLine, Reply, WireLine};

/// The most bytes of text, thinking and arguments one reply may add up to: 64 MiB.
pub const MAX_REPLY_BYTES: usize = 64 << 20;

/// A chat's reply, line by line.
///
/// A reply is good only when a line with `done` came: any other end is an error, and nothing may be executed from
/// what had arrived. The stream may be dropped at any time, also while `next` is pending.
#[derive(Debug)]
pub struct ChatStream {
    lines: LineStream,
    reply: Reply,
    held: usize,
    over: bool,
}

impl ChatStream {
    pub(crate) fn new(lines: LineStream) -> Self {
        Self {
            lines,
            reply: Reply::default(),
            held: 0,
            over: false,
        }
    }

    /// The next line; `None` after the last one or after an error. Safe to cancel: nothing is lost by dropping the
    /// future and asking again.
    pub async fn next(&mut self) -> Option<Result<ChatLine, Error>> {
        if self.over {
            return None;
        }
        let line = match self.lines.next().await {
            Ok(Some(bytes)) => self.read(&bytes),
            Ok(None) => Err(self.unfinished()),
            Err(error) => Err(error),
        };
        if let Ok(line) = &line {
            self.reply.add(line);
        }
        self.over = line.as_ref().map_or(true, |line| line.done.is_some());
        Some(line)
    }

    /// Everything that has arrived so far.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// Reads to the end: the whole reply, or the error that ended it.
    pub async fn finish(&mut self) -> Result<Reply, Error> {
        while let Some(line) = self.next().await {
            line?;
        }
        if self.reply.done.is_none() {
            return Err(self.unfinished());
        }
        Ok(self.reply.clone())
    }

    fn unfinished(&self) -> Error {
        Error::Unfinished {
            partial: Box::new(self.reply.clone()),
        }
    }

    fn read(&mut self, bytes: &Bytes) -> Result<ChatLine, Error> {
        let line = read_line(&self.lines.host, bytes)?;
        // A call is measured by its line: its arguments are the line, but for a hundred bytes.
        let calls = if line.tool_calls.is_empty() {
            0
        } else {
            bytes.len()
        };
        self.held += line.content.len() + line.thinking.len() + calls;
        if self.held > MAX_REPLY_BYTES {
            return Err(Error::TooLarge {
                limit: MAX_REPLY_BYTES,
            });
        }
        Ok(line)
    }
}

/// Reads one line of a chat stream: a part of a reply, or the error it reports. `host` is for the error's words.
pub fn read_line(host: &str, line: &[u8]) -> Result<ChatLine, Error> {
    let wire: WireLine = parse(host, line)?;
    if wire.is_reply() {
        return Ok(ChatLine::from(wire));
    }
    Err(Error::from_body(host, 200, line))
}

/// Reads one line's JSON; text that is no object at all is not Ollama's.
pub(crate) fn parse<T: DeserializeOwned>(host: &str, line: &[u8]) -> Result<T, Error> {
    if line.first() != Some(&b'{') {
        return Err(Error::NotOllama {
            host: host.to_owned(),
            status: 200,
            excerpt: excerpt(&String::from_utf8_lossy(line)),
        });
    }
    repair::from_slice(line).map_err(|cause| Error::unreadable(&cause, line))
}

/// The lines of a streamed answer, each within the bound, with the allowed silence between chunks.
#[derive(Debug)]
pub(crate) struct LineStream {
    response: Response,
    splitter: LineSplitter,
    idle: Option<Duration>,
    total: Option<Duration>,
    began: Instant,
    /// Since when a line is waited for; the wait may be given up and taken up again.
    waiting: Option<Instant>,
    /// Whether anything arrived in this wait.
    heard: bool,
    pub(crate) host: String,
    ended: bool,
}

impl LineStream {
    pub(crate) fn new(
        response: Response,
        host: String,
        idle: Option<Duration>,
        total: Option<Duration>,
    ) -> Self {
        Self {
            response,
            splitter: LineSplitter::default(),
            idle,
            total,
            began: Instant::now(),
            waiting: None,
            heard: false,
            host,
            ended: false,
        }
    }

    /// The next line that is not blank, the unended last one included; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            if let Some(line) = self.splitter.next_line().map_err(too_long)? {
                self.waiting = None;
                return Ok(Some(line));
            }
            if self.ended {
                return self.splitter.rest().map_err(too_long);
            }
            match self.chunk().await? {
                Some(chunk) => {
                    self.heard = true;
                    self.splitter.push(&chunk);
                }
                None => self.ended = true,
            }
        }
    }

    /// The error line a stream of statuses may hold.
    pub(crate) fn error_in(&self, line: &[u8]) -> Option<Error> {
        let object: Map<String, Value> = serde_json::from_slice(line).ok()?;
        let failed = object.keys().any(|key| key.starts_with("error"));
        failed.then(|| Error::from_body(&self.host, 200, line))
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let since = *self.waiting.get_or_insert_with(|| {
            self.heard = false;
            Instant::now()
        });
        let silence = self.idle.map(|idle| (since + idle, false));
        let whole = self.total.map(|total| (self.began + total, true));
        let chunk = self.response.chunk();
        let read = match silence.into_iter().chain(whole).min() {
            Some((end, of_all)) => match tokio::time::timeout_at(end, chunk).await {
                Ok(read) => read,
                Err(_) => return Err(self.out_of_time(of_all)),
            },
            None => chunk.await,
        };
        read.map_err(|cause| Error::Lost {
            host: self.host.clone(),
            detail: crate::client::innermost(&cause),
        })
    }
}

impl LineStream {
    /// Which limit was reached: that of the whole answer, or that of one wait.
    fn out_of_time(&self, of_all: bool) -> Error {
        let host = self.host.clone();
        match (of_all, self.heard) {
            (true, _) => Error::Endless {
                host,
                after: self.total.unwrap_or_default(),
            },
            (false, true) => Error::Trickling {
                host,
                after: self.idle.unwrap_or_default(),
            },
            (false, false) => Error::Silent {
                host,
                after: self.idle.unwrap_or_default(),
                answering: true,
            },
        }
    }
}

fn too_long(cause: crate::ndjson::LineTooLong) -> Error {
    Error::TooLarge { limit: cause.limit }
}
