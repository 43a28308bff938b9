//! One stream once it has ended: what was counted, what memory holds, and a reader over everything that was kept.

use std::io::{self, Read};

use crate::gap::{Around, Gap};
use crate::spill::{Spilled, newlines};
use crate::store::{Part, Store, memory};

/// What a command printed on one stream.
#[derive(Debug)]
pub struct StreamOutput {
    bytes: u64,
    newlines: u64,
    last: Option<u8>,
    dropped: Option<u8>,
    failure: Option<String>,
    store: Store,
    /// What is kept before the gap, or all of it.
    before: Vec<Part>,
    gap: Option<Gap>,
    after: Vec<Part>,
}

/// What a finished capture hands over.
pub(crate) struct Source {
    pub(crate) bytes: u64,
    pub(crate) newlines: u64,
    pub(crate) last: Option<u8>,
    /// The byte before the tail, where memory dropped one.
    pub(crate) dropped: Option<u8>,
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
            dropped: from.dropped,
            failure: from.failure,
            store: Store {
                head: from.head,
                tail: from.tail,
                file: None,
            },
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
        &self.store.head
    }

    /// The bytes after the head, or the last of them, as many as the bound.
    pub fn tail(&self) -> &[u8] {
        &self.store.tail
    }

    /// Whether what memory dropped between head and tail ends with a newline, so that the tail starts a line.
    pub fn dropped_ends_line(&self) -> bool {
        self.dropped == Some(b'\n')
    }

    /// Whether head and tail together are the whole stream.
    pub fn is_in_memory(&self) -> bool {
        (self.head().len() + self.tail().len()) as u64 == self.bytes
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
        KeptReader {
            stops_at_gap: true,
            ..self.reader(|_| Vec::new())
        }
    }

    /// Reads what was kept after the gap; nothing when there is no gap.
    pub fn after_gap(&self) -> KeptReader<'_> {
        let place = match self.gap {
            Some(_) => Place::After(0),
            None => Place::After(self.after.len()),
        };
        KeptReader {
            place,
            ..self.reader(|_| Vec::new())
        }
    }

    fn keep_file(&mut self, spilled: Spilled) {
        let fixed = Part::File {
            at: 0,
            len: spilled.fixed,
        };
        let ring = spilled
            .ring
            .iter()
            .map(|(at, len)| Part::File { at: *at, len: *len });
        self.store.file = Some(spilled.file);
        if spilled.lost {
            self.open_gap(fixed, spilled.fixed_newlines, ring.collect());
        } else {
            self.before = [fixed].into_iter().chain(ring).collect();
        }
    }

    /// Without a file, or with one that could not be finished: what it holds or the head, and the tail.
    fn keep_memory(&mut self, spilled: Option<Spilled>) {
        let start_of_tail = self.bytes - self.tail().len() as u64;
        let head = self.head().len();
        let (mut first, mut first_newlines) = (Part::Head { len: head }, newlines(self.head()));
        if let Some(spilled) = spilled.filter(|spilled| spilled.fixed > head as u64) {
            let len = spilled.fixed.min(start_of_tail);
            first = Part::File { at: 0, len };
            first_newlines = spilled.fixed_newlines;
            self.store.file = Some(spilled.file);
        }
        let tail = Part::Tail { from: 0 };
        if self.store.length(first) == start_of_tail {
            self.before = vec![first, tail];
        } else {
            self.open_gap(first, first_newlines, vec![tail]);
        }
    }

    fn open_gap(&mut self, mut before: Part, before_newlines: u64, mut after: Vec<Part>) {
        let around = Around {
            store: &self.store,
            before: &mut before,
            before_newlines,
            after: &mut after,
        };
        self.gap = Some(around.open(self.bytes, self.newlines));
        self.before = vec![before];
        self.after = after;
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
            Place::Gap => return (&self.gap[memory(self.within)..]).read(into),
        };
        part.map_or(Ok(0), |part| self.output.store.read(*part, self.within, into))
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
            let dropped = &all[output.head().len()..all.len() - output.tail().len()];
            prop_assert_eq!(output.dropped_ends_line(), dropped.ends_with(b"\n"));
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
