//! The file a stream overflows into: whole up to a ceiling, then its first three quarters and a rolling last quarter.
//!
//! The file has no name: it is removed from its folder as soon as it is open, so that nothing has to be swept after a
//! crash and nobody else can open it. Its space is given back when the last handle closes.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use wisp_host::{FileError, IdSource, RandomIds, files};

use crate::SpillTo;

/// A stream's file.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: File,
    /// Bytes at the file's start that are never written over: three quarters of the ceiling.
    fixed: u64,
    /// Bytes behind them that are written round and round: the last quarter.
    ring: u64,
    /// Bytes of the stream written so far, also those written over since.
    written: u64,
    /// Newlines among the fixed bytes.
    fixed_newlines: u64,
}

impl SpillFile {
    /// Makes the file in `to.dir`.
    pub(crate) fn create(to: &SpillTo) -> Result<Self, FileError> {
        let path = to.dir.join(format!(".spill-{}", RandomIds.next()));
        let file = files::private_new(&path)?;
        fs::remove_file(&path).map_err(|e| FileError::io("remove the name of", &path, e))?;
        let ring = to.ceiling / 4;
        Ok(Self {
            file,
            fixed: to.ceiling - ring,
            ring,
            written: 0,
            fixed_newlines: 0,
        })
    }

    /// Adds the stream's next bytes. After an error the file still holds what was written before.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let room = usize::try_from(self.fixed.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let (fixed, rest) = bytes.split_at(bytes.len().min(room));
        if !fixed.is_empty() {
            self.file.write_all_at(fixed, self.written)?;
            self.written += fixed.len() as u64;
            self.fixed_newlines += newlines(fixed);
        }
        self.write_round(rest)
    }

    fn write_round(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let ring = usize::try_from(self.ring).unwrap_or(usize::MAX);
        // What would be written over by the same call need not be written.
        let (passed, mut rest) = bytes.split_at(bytes.len().saturating_sub(ring));
        self.written += passed.len() as u64;
        while !rest.is_empty() {
            let at = (self.written - self.fixed) % self.ring;
            let room = usize::try_from(self.ring - at).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at(rest.len().min(room));
            self.file.write_all_at(now, self.fixed + at)?;
            self.written += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// The bytes of the stream that are in the file, in order, as the stretch at its start and those of the ring.
    pub(crate) fn finish(self) -> Spilled {
        let fixed = self.written.min(self.fixed);
        let round = self.written - fixed;
        let ring = if round <= self.ring {
            vec![(self.fixed, round)]
        } else {
            let seam = round % self.ring.max(1);
            vec![(self.fixed + seam, self.ring - seam), (self.fixed, seam)]
        };
        Spilled {
            file: self.file,
            fixed,
            fixed_newlines: self.fixed_newlines,
            ring,
            lost: round > self.ring,
        }
    }
}

/// A spill file whose stream has ended.
#[derive(Debug)]
pub(crate) struct Spilled {
    pub(crate) file: File,
    /// How many bytes from the file's start are the stream's first.
    pub(crate) fixed: u64,
    /// Newlines among them.
    pub(crate) fixed_newlines: u64,
    /// Offset and length of what the ring holds, in the stream's order.
    pub(crate) ring: Vec<(u64, u64)>,
    /// Whether bytes between the two are gone.
    pub(crate) lost: bool,
}

/// The newlines in `bytes`.
pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(target_os = "linux")]
#[cfg(test)]
impl SpillFile {
    /// A file on a disk that is full.
    pub(crate) fn full() -> Self {
        let file = File::options().write(true).open("/dev/full").unwrap();
        Self {
            file,
            fixed: 1000,
            ring: 0,
            written: 0,
            fixed_newlines: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(spilled: &Spilled) -> (Vec<u8>, Vec<u8>) {
        let range = |(at, len): (u64, u64)| {
            let mut bytes = vec![0; usize::try_from(len).unwrap()];
            spilled.file.read_exact_at(&mut bytes, at).unwrap();
            bytes
        };
        (
            range((0, spilled.fixed)),
            spilled.ring.iter().copied().flat_map(range).collect(),
        )
    }

    #[test]
    fn the_file_has_no_name_and_is_private() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir().unwrap();
        let to = SpillTo {
            dir: dir.path().to_owned(),
            ceiling: 8,
        };
        let spill = SpillFile::create(&to).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let meta = spill.file.metadata().unwrap();
        assert_eq!((meta.mode() & 0o777, meta.nlink()), (0o600, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn the_file_holds_the_first_three_quarters_and_the_last_quarter(
            ceiling in 0usize..40,
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..30), 0..6),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let to = SpillTo { dir: dir.path().to_owned(), ceiling: ceiling as u64 };
            let mut spill = SpillFile::create(&to).unwrap();
            for piece in &pieces {
                spill.write(piece).unwrap();
            }
            let all = pieces.concat();
            let spilled = spill.finish();
            let (first, last) = read(&spilled);
            let fixed = ceiling - ceiling / 4;
            prop_assert_eq!(&first, &all[..all.len().min(fixed)]);
            prop_assert_eq!(spilled.fixed_newlines, newlines(&first));
            let rest = &all[first.len()..];
            prop_assert_eq!(&last, &rest[rest.len().saturating_sub(ceiling / 4)..]);
            prop_assert_eq!(spilled.lost, all.len() > ceiling);
            prop_assert!(spilled.file.metadata().unwrap().len() <= ceiling as u64);
        }
    }
}
