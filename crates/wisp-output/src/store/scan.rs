//! One pass over a finished file: its hash, and the newlines of each of its stretches.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::memchr_iter;
use sha2::{Digest, Sha256};

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

/// Reads `file` up to the last of `ends`, which are the ends of its stretches in order. Returns the SHA-256 as
/// lower-case hex and what each stretch holds.
pub(super) fn scan(file: &File, ends: &[u64]) -> io::Result<(String, Vec<Found>)> {
    let mut hash = Sha256::new();
    let mut found = Vec::with_capacity(ends.len());
    let mut buffer = vec![0; 64 * 1024];
    let mut at = 0;
    for end in ends {
        let mut here = Found::default();
        while at < *end {
            let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(buffer.len());
            let bytes = &mut buffer[..want];
            file.read_exact_at(bytes, at)?;
            hash.update(&*bytes);
            here.newlines += memchr_iter(b'\n', bytes).count() as u64;
            here.last = bytes.last().copied();
            at += want as u64;
        }
        found.push(here);
    }
    Ok((base16ct::lower::encode_string(&hash.finalize()), found))
}
