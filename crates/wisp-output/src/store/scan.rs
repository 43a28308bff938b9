//! One pass over a finished file: its hash, and the newlines of each of its stretches.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::memchr_iter;
use sha2::{Digest, Sha256};

use crate::pages::STEP;

/// What was found in one stretch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) newlines: u64,
    pub(super) last: Option<u8>,
}

impl Found {
    /// Lines of the stretch, a last one without a newline included.
    pub(super) fn lines(&self) -> u64 {
        self.newlines + u64::from(self.last.is_some_and(|byte| byte != b'\n'))
    }
}

/// What one pass over a file found.
#[derive(Debug)]
pub(super) struct Scanned {
    /// The SHA-256, lower-case hex.
    pub(super) sha256: String,
    /// What each stretch holds.
    pub(super) found: Vec<Found>,
    /// Newlines before the nominal place of each page but the first.
    pub(super) marks: Vec<u64>,
}

/// Reads `file` up to the last of `ends`, which are the ends of its stretches in order.
pub(super) fn scan(file: &File, ends: &[u64]) -> io::Result<Scanned> {
    let mut hash = Sha256::new();
    let mut found = Vec::with_capacity(ends.len());
    let mut buffer = vec![0; 64 * 1024];
    let (mut at, mut newlines, mut marks) = (0, 0, Vec::new());
    for end in ends {
        let mut here = Found::default();
        while at < *end {
            let mark = (at / STEP + 1) * STEP;
            let next = mark.min(*end);
            let want = usize::try_from(next - at).unwrap_or(usize::MAX).min(buffer.len());
            let bytes = &mut buffer[..want];
            file.read_exact_at(bytes, at)?;
            hash.update(&*bytes);
            let more = memchr_iter(b'\n', bytes).count() as u64;
            (here.newlines, newlines) = (here.newlines + more, newlines + more);
            here.last = bytes.last().copied();
            at += want as u64;
            if at == mark {
                marks.push(newlines);
            }
        }
        found.push(here);
    }
    Ok(Scanned {
        sha256: base16ct::lower::encode_string(&hash.finalize()),
        found,
        marks,
    })
}
