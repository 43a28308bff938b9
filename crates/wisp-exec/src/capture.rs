//! One stream while it is read: its first and last bytes in memory, everything counted, and everything spilled from
//! the moment memory would drop a byte.

use std::collections::VecDeque;

use crate::SpillTo;
use crate::kept::{Source, StreamOutput};
use crate::spill::{SpillFile, newlines};

/// What has been read of a stream.
#[derive(Debug)]
pub(crate) struct Capture {
    /// The most bytes of head, and of tail.
    bound: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    newlines: u64,
    /// The last byte read.
    last: Option<u8>,
    /// The byte before the tail, once memory has dropped one.
    dropped: Option<u8>,
    spill: Spill,
}

#[derive(Debug)]
enum Spill {
    /// Memory still holds everything.
    Waiting(Option<SpillTo>),
    Open(SpillFile),
    /// Writing stopped, for the reason given; the file holds what came before.
    Failed(Option<SpillFile>, String),
}

impl Capture {
    pub(crate) fn new(bound: usize, spill: Option<SpillTo>) -> Self {
        Self {
            bound,
            head: Vec::new(),
            tail: VecDeque::new(),
            bytes: 0,
            newlines: 0,
            last: None,
            dropped: None,
            spill: Spill::Waiting(spill),
        }
    }

    /// Takes the stream's next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.newlines += newlines(bytes);
        self.last = bytes.last().copied().or(self.last);
        if self.bytes > 2 * self.bound as u64 {
            self.start_spilling();
        }
        if let Spill::Open(file) = &mut self.spill
            && let Err(e) = file.write(bytes)
        {
            self.stop_spilling(&e.to_string());
        }
        self.remember(bytes);
    }

    /// Opens the file, if one is wanted and none was tried yet, and writes what memory holds.
    fn start_spilling(&mut self) {
        let Spill::Waiting(to) = &mut self.spill else {
            return;
        };
        let Some(to) = to.take() else {
            return;
        };
        let mut file = match SpillFile::create(&to) {
            Ok(file) => file,
            Err(e) => {
                self.spill = Spill::Failed(None, e.to_string());
                return;
            }
        };
        let (one, two) = self.tail.as_slices();
        let written = [&self.head, one, two]
            .into_iter()
            .try_for_each(|part| file.write(part));
        self.spill = match written {
            Ok(()) => Spill::Open(file),
            Err(e) => Spill::Failed(Some(file), e.to_string()),
        };
    }

    fn stop_spilling(&mut self, why: &str) {
        let spill = std::mem::replace(&mut self.spill, Spill::Waiting(None));
        if let Spill::Open(file) = spill {
            self.spill = Spill::Failed(Some(file), why.to_owned());
        }
    }

    fn remember(&mut self, bytes: &[u8]) {
        let room = self.bound - self.head.len();
        let (first, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(first);
        let (passed, rest) = rest.split_at(rest.len().saturating_sub(self.bound));
        let over = (self.tail.len() + rest.len()).saturating_sub(self.bound);
        let dropped = self.tail.drain(..over).next_back();
        self.tail.extend(rest);
        self.dropped = passed.last().copied().or(dropped).or(self.dropped);
    }

    /// The stream has ended.
    pub(crate) fn finish(self) -> StreamOutput {
        let (file, failure) = match self.spill {
            Spill::Waiting(_) => (None, None),
            Spill::Open(file) => (Some(file), None),
            Spill::Failed(file, why) => (file, Some(why)),
        };
        StreamOutput::new(Source {
            bytes: self.bytes,
            newlines: self.newlines,
            last: self.last,
            dropped: self.dropped,
            head: self.head,
            tail: self.tail.into(),
            spilled: file.map(SpillFile::finish),
            failure,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn kept(output: &StreamOutput) -> String {
        let mut text = String::new();
        let mut reader = output.reader(|gap| format!("<{} {}>", gap.bytes, gap.newlines).into_bytes());
        reader.read_to_string(&mut text).unwrap();
        text
    }

    fn numbered(lines: std::ops::Range<u32>) -> String {
        lines
            .map(|line| format!("{line:03}\n"))
            .collect::<Vec<_>>()
            .concat()
    }

    /// A capture that has spilled so many lines of four bytes when its disk runs full.
    fn full_after(lines: u32) -> (Capture, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let to = SpillTo {
            dir: dir.path().to_owned(),
            ceiling: 1000,
        };
        let mut capture = Capture::new(10, Some(to));
        capture.push(numbered(0..lines).as_bytes());
        capture.stop_spilling("no space left on device");
        (capture, dir)
    }

    #[test]
    fn a_disk_that_runs_full_costs_the_middle_only() {
        let (mut capture, _dir) = full_after(20);
        capture.push(numbered(20..100).as_bytes());
        let output = capture.finish();
        assert_eq!(output.spill_failure(), Some("no space left on device"));
        // The tail of ten bytes begins inside line 97.
        assert_eq!(kept(&output), numbered(0..20) + "<312 78>" + &numbered(98..100));
    }

    #[test]
    fn a_disk_that_runs_full_at_the_end_costs_nothing() {
        let (mut capture, _dir) = full_after(20);
        capture.push(b"020\n021\n");
        let output = capture.finish();
        assert_eq!((kept(&output), output.gap()), (numbered(0..22), None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_disk_that_was_full_from_the_start_leaves_head_and_tail() {
        let mut capture = Capture::new(10, None);
        capture.spill = Spill::Open(SpillFile::full());
        capture.push(numbered(0..100).as_bytes());
        let output = capture.finish();
        assert!(
            output.spill_failure().unwrap().contains("No space left"),
            "{output:?}"
        );
        assert_eq!(kept(&output), numbered(0..2) + "<384 96>" + &numbered(98..100));
    }
}
