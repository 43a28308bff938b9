//! What waits of the input: its last whole line, until the line after it is whole, and what has come of that one.
//!
//! Each line is read when the next is known, whatever the cuts of the pushes. Of a line its first
//! [`limits::LINE`] bytes are kept, so that what waits is bounded.

use crate::limits;

/// A whole line, perhaps, and one begun, perhaps.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// The whole line without its end, when there is one.
    line: Vec<u8>,
    is_whole: bool,
    begun: Vec<u8>,
}

/// Whole lines to be read where they lie, the last of them only after the next has come, and the beginning of that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pieces<'a> {
    /// Whole lines, each with its end.
    pub lines: &'a [u8],
    /// Where the last of them begins.
    pub last: usize,
    pub begun: &'a [u8],
}

impl<'a> Pieces<'a> {
    /// Takes apart what begins where a line does.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let end = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let (lines, begun) = bytes.split_at(end);
        let before = &lines[..end.saturating_sub(1)];
        let last = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        Self { lines, last, begun }
    }
}

impl Held {
    /// Completes what waits with the bytes that have come and gives each line of it with the next to `read`, as far as
    /// they are whole. What is left of the bytes: nothing where anything still waits, and otherwise what begins where
    /// a line does.
    pub(crate) fn complete<'a>(
        &mut self,
        mut bytes: &'a [u8],
        mut read: impl FnMut(&[u8], &[u8]),
    ) -> &'a [u8] {
        while self.is_whole || !self.begun.is_empty() {
            let Some(end) = memchr::memchr(b'\n', bytes) else {
                self.begin(bytes);
                return &[];
            };
            if self.begun.is_empty() {
                read(&self.line, start(&bytes[..end]));
                self.is_whole = false;
                return bytes;
            }
            self.begin(&bytes[..end]);
            bytes = &bytes[end + 1..];
            if self.is_whole {
                read(&self.line, &self.begun);
            }
            std::mem::swap(&mut self.line, &mut self.begun);
            self.begun.clear();
            self.is_whole = true;
        }
        bytes
    }

    /// Keeps the last of the lines and the beginning of the next. Nothing may wait.
    pub(crate) fn keep(&mut self, pieces: &Pieces<'_>) {
        if let Some((_, line)) = pieces.lines[pieces.last..].split_last() {
            self.line.clear();
            self.line.extend_from_slice(start(line));
            self.is_whole = true;
        }
        self.begin(pieces.begun);
    }

    fn begin(&mut self, part: &[u8]) {
        let room = limits::LINE.saturating_sub(self.begun.len());
        self.begun.extend_from_slice(&part[..part.len().min(room)]);
    }

    /// Gives what waits at the end of the input to `read`, each line with the next, if any.
    pub(crate) fn finish(self, mut read: impl FnMut(&[u8], Option<&[u8]>)) {
        let begun = Some(&self.begun[..]).filter(|begun| !begun.is_empty());
        if self.is_whole {
            read(&self.line, begun);
        }
        if let Some(line) = begun {
            read(line, None);
        }
    }
}

/// What is kept of a line.
fn start(line: &[u8]) -> &[u8] {
    &line[..line.len().min(limits::LINE)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Held, Pieces};
    use crate::limits;

    type Read = (Vec<u8>, Option<Vec<u8>>);

    /// Every line of the pushes with the next one, and the most bytes that waited.
    fn read(pushes: &[&[u8]]) -> (Vec<Read>, usize) {
        let (mut held, mut found, mut most) = (Held::default(), Vec::new(), 0);
        for push in pushes {
            let rest = held.complete(push, |line, next| {
                found.push((line.to_vec(), Some(next.to_vec())));
            });
            let pieces = Pieces::of(rest);
            let lines = pieces.lines[..pieces.last].split_inclusive(|byte| *byte == b'\n');
            let mut after = pieces.lines;
            for line in lines {
                after = &after[line.len()..];
                let next = after.split(|byte| *byte == b'\n').next().unwrap_or_default();
                found.push((line[..line.len() - 1].to_vec(), Some(next.to_vec())));
            }
            held.keep(&pieces);
            most = most.max(held.line.len() + held.begun.len());
        }
        held.finish(|line, next| found.push((line.to_vec(), next.map(<[u8]>::to_vec))));
        (found, most)
    }

    #[test]
    fn of_a_long_line_its_first_bytes_wait() {
        let long = vec![b'x'; limits::LINE + 9];
        let (found, most) = read(&[&long, &long, b"\n", &long, b"\n"]);
        assert_eq!(most, limits::LINE * 2);
        let kept = long[..limits::LINE].to_vec();
        assert_eq!(found, [(kept.clone(), Some(kept.clone())), (kept, None)]);
        let (found, _) = read(&[b"a\n", &[&long[..], b"\n"].concat()]);
        assert_eq!(found[0].1.as_deref(), Some(&long[..limits::LINE]));
    }

    #[test]
    fn an_end_without_a_newline_is_a_line() {
        let line = |text: &[u8], next: Option<&[u8]>| (text.to_vec(), next.map(<[u8]>::to_vec));
        assert_eq!(read(&[b"a\nb"]).0, [line(b"a", Some(b"b")), line(b"b", None)]);
        assert_eq!(read(&[b"a", b"\n"]).0, [line(b"a", None)]);
        assert_eq!(read(&[b"\n", b"\n"]).0, [line(b"", Some(b"")), line(b"", None)]);
        assert_eq!(read(&[]).0, []);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_line_comes_once_with_the_next(text in "[ab\n]{0,40}", cuts in prop::collection::vec(0_usize..41, 0..9)) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| (*cut).min(text.len())).collect();
            cuts.sort_unstable();
            cuts.push(text.len());
            let mut from = 0;
            let pushes: Vec<&[u8]> = cuts
                .iter()
                .map(|cut| &text.as_bytes()[std::mem::replace(&mut from, *cut)..*cut])
                .collect();
            let lines: Vec<&str> = text.split_inclusive('\n').map(|line| line.trim_end_matches('\n')).collect();
            let nexts = lines.iter().skip(1).map(|next| Some(next.as_bytes().to_vec())).chain([None]);
            let expected: Vec<Read> = lines.iter().map(|line| line.as_bytes().to_vec()).zip(nexts).collect();
            prop_assert_eq!(read(&pushes).0, expected);
        }
    }
}
