//! What the launcher is asked for, as bytes and back: a command, where it runs, and how its environment differs.
//!
//! A list of fields, each its length in four bytes and its content: the directory (empty for none), the number of
//! changes to the environment and each of them, then the helper's words.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::EnvChange;

/// The most bytes of a request: more than the system takes as arguments and environment of a program.
pub(crate) const LONGEST: usize = 16 << 20;

/// A command that the launcher is to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// Where it runs; `None` for where the launcher was started.
    pub(crate) dir: Option<PathBuf>,
    /// Changes to the environment that wisp has.
    pub(crate) env: Vec<EnvChange>,
    /// The sandbox as words, `--`, the program and its arguments.
    pub(crate) words: Vec<OsString>,
}

impl Request {
    /// The request as it is sent.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut field = |content: &[u8]| {
            let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(content);
        };
        field(
            self.dir
                .as_deref()
                .map_or(&[][..], |dir| dir.as_os_str().as_bytes()),
        );
        field(self.env.len().to_string().as_bytes());
        for change in &self.env {
            let (sign, name, value) = match change {
                EnvChange::Set(name, value) => (b'+', name, value.as_os_str()),
                EnvChange::Unset(name) => (b'-', name, OsStr::new("")),
            };
            field(&[&[sign], name.as_bytes(), b"=", value.as_bytes()].concat());
        }
        for word in &self.words {
            field(word.as_bytes());
        }
        bytes
    }

    /// Reads what was sent; `None` for anything else.
    pub(crate) fn read(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let dir = Some(next(bytes)?).filter(|dir| !dir.is_empty());
        let changes: usize = next(bytes)?.to_str()?.parse().ok()?;
        let mut request = Self {
            dir: dir.map(PathBuf::from),
            env: Vec::new(),
            words: Vec::new(),
        };
        for _ in 0..changes {
            request.env.push(change(&next(bytes)?)?);
        }
        while !bytes.is_empty() {
            request.words.push(next(bytes)?);
        }
        Some(request)
    }
}

/// The next field, taken off.
fn next(bytes: &mut &[u8]) -> Option<OsString> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let content = rest.get(..length)?;
    *bytes = &rest[length..];
    Some(OsString::from_vec(content.to_vec()))
}

fn change(field: &OsStr) -> Option<EnvChange> {
    let (sign, rest) = field.as_bytes().split_first()?;
    let end = memchr::memchr(b'=', rest)?;
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let name = text(&rest[..end]);
    match sign {
        b'+' => Some(EnvChange::Set(name, text(&rest[end + 1..]))),
        b'-' => Some(EnvChange::Unset(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            dir: Some("/w/a b\n".into()),
            env: vec![
                EnvChange::Set("A".into(), OsString::from_vec(b"x=\xff\n".to_vec())),
                EnvChange::Unset("B".into()),
                EnvChange::Set("C".into(), OsString::new()),
            ],
            words: ["profile=read", "--", "/bin/sh", "-c", ""]
                .map(OsString::from)
                .to_vec(),
        }
    }

    #[test]
    fn a_request_read_back_is_the_one_that_was_sent() {
        for dir in [None, Some("/w".into())] {
            let request = Request { dir, ..request() };
            assert_eq!(Request::read(&request.bytes()), Some(request));
        }
    }

    #[test]
    fn a_request_that_is_cut_is_none() {
        let bytes = request().bytes();
        // Between two words a shorter request would end.
        let between = bytes.len() - 4;
        for end in (0..bytes.len()).filter(|end| *end > between) {
            assert_eq!(Request::read(&bytes[..end]), None, "{end}");
        }
        for end in 0..20 {
            assert_eq!(Request::read(&bytes[..end]), None, "{end}");
        }
    }
}
