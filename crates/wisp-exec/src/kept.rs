//! One stream once it has ended: what was counted, what memory holds, and a reader over everything that was kept.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use crate::live::open_character;
use crate::spill::{Spilled, newlines};

/// How far from a gap's border a line end is looked for.
const LINE_WINDOW: u64 = 64 * 1024;

/// A stretch of a stream that was not kept. It begins and ends at a line's end where one is within 64 KiB, and
/// between characters otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Its bytes.
    pub bytes: u64,
    /// The newlines among them.
    pub newlines: u64,
    /// Whether it begins inside a line: the kept bytes before it do not end with a newline.
    pub inside_line: bool,
}

/// What a command printed on one stream.
#[derive(Debug)]
pub struct StreamOutput {
    bytes: u64,
    newlines: u64,
    last: Option<u8>,
    head: Vec<u8>,
    tail: Vec<u8>,
    failure: Option<String>,
    file: Option<File>,
    /// What is kept before the gap, or all of it.
    before: Vec<Part>,
    gap: Option<Gap>,
    after: Vec<Part>,
}

/// Where a stretch of kept bytes is.
#[derive(Debug, Clone, Copy)]
enum Part {
    Head { len: usize },
    Tail { from: usize },
    File { at: u64, len: u64 },
}

/// What a finished capture hands over.
pub(crate) struct Source {
    pub(crate) bytes: u64,
    pub(crate) newlines: u64,
    pub(crate) last: Option<u8>,
    pub(crate) head: Vec<u8>,
    pub(crate) tail: Vec<u8>,
    pub(crate) spilled: Option<Spilled>,
    pub(crate) failure: Option<String>,
}

impl StreamOutput {
    pub(crate) fn new(from: Source) -> Self {
        let mut output = Self {
            bytes: from.bytes,
            newlines: from.newlines,
            last: from.last,
            head: from.head,
            tail: from.tail,
            failure: from.failure,
            file: None,
            before: Vec::new(),
            gap: None,
            after: Vec::new(),
        };
        match from.spilled {
            Some(spilled) if output.failure.is_none() => output.keep_file(spilled),
            spilled => output.keep_memory(spilled),
        }
        output
    }

    /// How many bytes the command printed.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many newlines are among them.
    pub fn newlines(&self) -> u64 {
        self.newlines
    }

    /// How many lines they are: a last line without a newline counts.
    pub fn lines(&self) -> u64 {
        self.newlines + u64::from(self.last.is_some_and(|byte| byte != b'\n'))
    }

    /// The first bytes, as many as the bound. Meets the tail when the stream is at most twice the bound.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The bytes after the head, or the last of them, as many as the bound.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// Whether head and tail together are the whole stream.
    pub fn is_in_memory(&self) -> bool {
        (self.head.len() + self.tail.len()) as u64 == self.bytes
    }

    /// The whole stream when memory holds it; `None` when it was larger.
    pub fn whole(&self) -> Option<Vec<u8>> {
        self.is_in_memory().then(|| [self.head(), self.tail()].concat())
    }

    /// The stretch that was not kept; `None` when all of it was.
    pub fn gap(&self) -> Option<Gap> {
        self.gap
    }

    /// Why not everything was kept, when that is neither for the ceiling nor for want of a place: the disk was full,
    /// or the file could not be made.
    pub fn spill_failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Reads what was kept, from memory or the spill file, a block at a time. In place of the gap stands
    /// `gap_text(gap)`, for example one line that states it; it is asked for only when there is a gap.
    pub fn reader(&self, gap_text: impl FnOnce(Gap) -> Vec<u8>) -> KeptReader<'_> {
        let gap = self.gap.map(gap_text).unwrap_or_default();
        KeptReader {
            output: self,
            gap,
            place: Place::Before(0),
            within: 0,
            stops_at_gap: false,
        }
    }

    /// Reads what was kept before the gap; everything when there is no gap.
    pub fn before_gap(&self) -> KeptReader<'_> {
        let stops_at_gap = true;
        KeptReader {
            stops_at_gap,
            ..self.reader(|_| Vec::new())
        }
    }

    /// Reads what was kept after the gap; nothing when there is no gap.
    pub fn after_gap(&self) -> KeptReader<'_> {
        let place = Place::After(0);
        KeptReader {
            place,
            ..self.reader(|_| Vec::new())
        }
    }

    fn keep_file(&mut self, spilled: Spilled) {
        let file_part = |(at, len)| Part::File { at, len };
        self.before = vec![file_part((0, spilled.fixed))];
        let ring = spilled.ring.iter().copied().map(file_part);
        let fixed_newlines = spilled.fixed_newlines;
        self.file = Some(spilled.file);
        if spilled.lost {
            self.after = ring.collect();
            self.open_gap(fixed_newlines);
        } else {
            self.before.extend(ring);
        }
    }

    /// Without a file, or with one that could not be finished: what it holds or the head, and the tail.
    fn keep_memory(&mut self, spilled: Option<Spilled>) {
        let start_of_tail = self.bytes - self.tail.len() as u64;
        let mut fixed_newlines = newlines(&self.head);
        self.before = vec![Part::Head { len: self.head.len() }];
        let longer = spilled.filter(|spilled| spilled.fixed > self.head.len() as u64);
        if let Some(spilled) = longer {
            let len = spilled.fixed.min(start_of_tail);
            self.before = vec![Part::File { at: 0, len }];
            self.file = Some(spilled.file);
            fixed_newlines = if len == spilled.fixed {
                spilled.fixed_newlines
            } else {
                0
            };
        }
        let tail = Part::Tail { from: 0 };
        if self.length(&self.before) == start_of_tail {
            self.before.push(tail);
        } else {
            self.after = vec![tail];
            self.open_gap(fixed_newlines);
        }
    }

    /// Moves both borders of the gap to a line's end and measures what lies between. `before` has so many newlines.
    fn open_gap(&mut self, before_newlines: u64) {
        let cut = self.cut_before();
        self.shorten_before(cut);
        let skip = self.skip_after();
        self.shorten_after(skip);
        let after_newlines = self.count_newlines(&self.after);
        let kept = self.length(&self.before) + self.length(&self.after);
        let last = self.last_of_before(1);
        self.gap = Some(Gap {
            bytes: self.bytes - kept,
            newlines: self.newlines - before_newlines - after_newlines,
            inside_line: last.last().is_some_and(|byte| *byte != b'\n'),
        });
    }

    /// How many bytes after the last line end (or in the last, unfinished character) before the gap.
    fn cut_before(&self) -> u64 {
        let last = self.last_of_before(LINE_WINDOW);
        match memchr::memrchr(b'\n', &last) {
            Some(at) => (last.len() - at - 1) as u64,
            None => open_character(&last) as u64,
        }
    }

    /// How many bytes up to the first line end (or of a character's rest) after the gap.
    fn skip_after(&self) -> u64 {
        let mut first = Vec::new();
        let parts = self.after.iter().map(|part| self.part_reader(*part));
        for part in parts {
            let room = LINE_WINDOW - first.len() as u64;
            // What cannot be read now cannot be read later either, and is reported then.
            let _ = part.take(room).read_to_end(&mut first);
        }
        match memchr::memchr(b'\n', &first) {
            Some(at) => at as u64 + 1,
            None => first
                .iter()
                .take(3)
                .take_while(|byte| **byte & 0xC0 == 0x80)
                .count() as u64,
        }
    }

    fn last_of_before(&self, most: u64) -> Vec<u8> {
        let mut last = Vec::new();
        if let Some(part) = self.before.last() {
            let from = self.part_length(*part).saturating_sub(most);
            let _ = self.reader_from(*part, from).read_to_end(&mut last);
        }
        last
    }

    fn shorten_before(&mut self, by: u64) {
        let by_memory = usize::try_from(by).unwrap_or(usize::MAX);
        match self.before.last_mut() {
            Some(Part::Head { len }) => *len -= by_memory,
            Some(Part::File { len, .. }) => *len -= by,
            Some(Part::Tail { .. }) | None => {}
        }
    }

    fn shorten_after(&mut self, mut by: u64) {
        for part in &mut self.after {
            match part {
                Part::Tail { from } => *from += usize::try_from(by).unwrap_or(usize::MAX),
                Part::File { at, len } => {
                    let now = by.min(*len);
                    *at += now;
                    *len -= now;
                    by -= now;
                }
                Part::Head { .. } => {}
            }
        }
    }

    fn count_newlines(&self, parts: &[Part]) -> u64 {
        let mut block = vec![0; 64 * 1024];
        let mut count = 0;
        for part in parts {
            let mut reader = self.part_reader(*part);
            while let Ok(read @ 1..) = reader.read(&mut block) {
                count += newlines(&block[..read]);
            }
        }
        count
    }

    fn length(&self, parts: &[Part]) -> u64 {
        parts.iter().map(|part| self.part_length(*part)).sum()
    }

    fn part_length(&self, part: Part) -> u64 {
        match part {
            Part::Head { len } => len as u64,
            Part::Tail { from } => (self.tail.len() - from) as u64,
            Part::File { len, .. } => len,
        }
    }

    fn part_reader(&self, part: Part) -> PartReader<'_> {
        self.reader_from(part, 0)
    }

    fn reader_from(&self, part: Part, done: u64) -> PartReader<'_> {
        let output = self;
        PartReader { output, part, done }
    }

    /// Reads from `part` at `done` bytes into it.
    fn read_part(&self, part: Part, done: u64, into: &mut [u8]) -> io::Result<usize> {
        let left = self.part_length(part) - done;
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(into.len());
        let into = &mut into[..most];
        let skip = usize::try_from(done).unwrap_or(usize::MAX);
        match part {
            Part::Head { len } => (&self.head[..len][skip..]).read(into),
            Part::Tail { from } => (&self.tail[from..][skip..]).read(into),
            Part::File { at, .. } => {
                let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
                let read = file.read_at(into, at + done)?;
                if read == 0 && most > 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Ok(read)
            }
        }
    }
}

struct PartReader<'a> {
    output: &'a StreamOutput,
    part: Part,
    done: u64,
}

impl Read for PartReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.output.read_part(self.part, self.done, into)?;
        self.done += read as u64;
        Ok(read)
    }
}

/// Everything that was kept of a stream, in order. Made by [`StreamOutput::reader`].
#[derive(Debug)]
pub struct KeptReader<'a> {
    output: &'a StreamOutput,
    gap: Vec<u8>,
    place: Place,
    /// Bytes read at `place`.
    within: u64,
    /// Whether the gap is where it ends.
    stops_at_gap: bool,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// In this part before the gap.
    Before(usize),
    /// In the text that stands for the gap.
    Gap,
    /// In this part after the gap.
    After(usize),
}

impl KeptReader<'_> {
    /// The place after the present one; `None` at the end.
    fn next_place(&self) -> Option<Place> {
        let next = match self.place {
            Place::Before(part) if part + 1 < self.output.before.len() => Place::Before(part + 1),
            Place::Before(_) if self.stops_at_gap => return None,
            Place::Before(_) => Place::Gap,
            Place::Gap => Place::After(0),
            Place::After(part) => Place::After(part + 1),
        };
        let past = matches!(next, Place::After(part) if part >= self.output.after.len());
        (!past).then_some(next)
    }

    fn read_here(&self, into: &mut [u8]) -> io::Result<usize> {
        let part = match self.place {
            Place::Before(part) => self.output.before.get(part),
            Place::After(part) => self.output.after.get(part),
            Place::Gap => {
                let done = usize::try_from(self.within).unwrap_or(usize::MAX);
                return (&self.gap[done..]).read(into);
            }
        };
        part.map_or(Ok(0), |part| self.output.read_part(*part, self.within, into))
    }
}

impl Read for KeptReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let read = self.read_here(into)?;
            self.within += read as u64;
            if read > 0 {
                return Ok(read);
            }
            match self.next_place() {
                Some(place) => (self.place, self.within) = (place, 0),
                None => return Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SpillTo;
    use crate::capture::Capture;

    fn read(output: &StreamOutput, step: usize) -> (Vec<u8>, Vec<u8>) {
        let mut reader = output.reader(|_| b"<GAP>".to_vec());
        let (mut all, mut block) = (Vec::new(), vec![0; step]);
        while let Ok(read @ 1..) = reader.read(&mut block) {
            all.extend_from_slice(&block[..read]);
        }
        match memchr::memmem::find(&all, b"<GAP>") {
            Some(at) => (all[..at].to_vec(), all[at + 5..].to_vec()),
            None => (all, Vec::new()),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn what_is_kept_and_what_is_stated_are_the_stream(
            text in "[a漢\n]{0,60}",
            (bound, ceiling, spills) in (0usize..12, 0u64..80, any::<bool>()),
            (piece, step) in (1usize..40, 1usize..9),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let to = spills.then(|| SpillTo { dir: dir.path().to_owned(), ceiling });
            let mut capture = Capture::new(bound, to);
            for piece in text.as_bytes().chunks(piece) {
                capture.push(piece);
            }
            let output = capture.finish();
            let all = text.as_bytes();
            prop_assert_eq!((output.bytes(), output.newlines()), (all.len() as u64, newlines(all)));
            prop_assert_eq!(output.lines(), text.lines().count() as u64);
            let (before, after) = read(&output, step);
            let whole = all.len() <= 2 * bound || spills && all.len() as u64 <= ceiling;
            prop_assert_eq!(output.gap().is_none(), whole);
            prop_assert!(all.starts_with(&before) && all.ends_with(&after));
            let missing = &all[before.len()..all.len() - after.len()];
            if let Some(gap) = output.gap() {
                prop_assert_eq!((gap.bytes, gap.newlines), (missing.len() as u64, newlines(missing)));
                prop_assert_eq!(gap.inside_line, before.last().is_some_and(|byte| *byte != b'\n'));
                prop_assert!(std::str::from_utf8(&before).is_ok() && std::str::from_utf8(&after).is_ok());
            } else {
                prop_assert!(missing.is_empty());
            }
        }
    }
}
