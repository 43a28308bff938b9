//! Output while it is printed, for a face to show. This is a view, not the record: when the face does not keep up,
//! chunks are left out and counted, and the command is never slowed down.

use tokio::sync::mpsc;

/// The most bytes of text in one chunk.
const CHUNK: usize = 16 * 1024;

/// One of a command's two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Some text that a command has just printed. It never ends inside a character; bytes that are not UTF-8 are U+FFFD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveChunk {
    /// Where it was printed.
    pub stream: Stream,
    /// Bytes of this stream left out between the chunk before and this one.
    pub missed: u64,
    /// The text, raw: escape sequences are still in it.
    pub text: String,
}

/// The sending half, for [`CommandSpec::live`](crate::CommandSpec::live).
pub type LiveSender = mpsc::Sender<LiveChunk>;

/// A channel for live output that holds `capacity` chunks (at least one) of at most 16 KiB.
pub fn live(capacity: usize) -> (LiveSender, mpsc::Receiver<LiveChunk>) {
    mpsc::channel(capacity.max(1))
}

/// One stream's way to a face.
#[derive(Debug)]
pub(crate) struct LiveLane {
    stream: Stream,
    to: LiveSender,
    /// The first bytes of a character whose rest has not come yet.
    open: Vec<u8>,
    missed: u64,
}

impl LiveLane {
    pub(crate) fn new(stream: Stream, to: LiveSender) -> Self {
        let (open, missed) = (Vec::new(), 0);
        Self {
            stream,
            to,
            open,
            missed,
        }
    }

    /// Offers what was read. Of more than a chunk holds, the end is shown.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().saturating_sub(CHUNK);
        if self.to.capacity() == 0 || skipped > 0 {
            self.missed += (self.open.len() + skipped) as u64;
            self.open.clear();
        }
        if self.to.capacity() == 0 {
            self.missed += (bytes.len() - skipped) as u64;
            return;
        }
        let torn = self.torn_start(&bytes[skipped..]);
        self.missed += torn as u64;
        self.open.extend_from_slice(&bytes[skipped + torn..]);
        let whole = self.open.len() - open_character(&self.open);
        self.send(whole);
    }

    /// Offers what is left at the stream's end.
    pub(crate) fn finish(&mut self) {
        self.send(self.open.len());
    }

    /// How many bytes end a character whose beginning was left out: they are left out too.
    fn torn_start(&self, bytes: &[u8]) -> usize {
        if self.missed == 0 || !self.open.is_empty() {
            return 0;
        }
        bytes
            .iter()
            .take(3)
            .take_while(|byte| **byte & 0xC0 == 0x80)
            .count()
    }

    fn send(&mut self, whole: usize) {
        if whole == 0 {
            return;
        }
        let bytes: Vec<u8> = self.open.drain(..whole).collect();
        let missed = std::mem::take(&mut self.missed);
        let chunk = LiveChunk {
            stream: self.stream,
            missed,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        };
        if self.to.try_send(chunk).is_err() {
            self.missed = missed + bytes.len() as u64;
        }
    }
}

/// How many bytes at the end are the beginning of a character that is not yet whole: 0 to 3.
pub(crate) fn open_character(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let needs = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => 1,
        };
        return if needs > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sent(pieces: &[&[u8]], capacity: usize) -> Vec<LiveChunk> {
        let (to, mut from) = live(capacity);
        let mut lane = LiveLane::new(Stream::Stdout, to);
        for piece in pieces {
            lane.push(piece);
        }
        lane.finish();
        std::iter::from_fn(|| from.try_recv().ok()).collect()
    }

    #[test]
    fn a_full_channel_is_counted_and_characters_stay_whole() {
        let (to, mut from) = live(1);
        let mut lane = LiveLane::new(Stream::Stderr, to);
        lane.push("a漢".as_bytes());
        // Left out: two bytes of a character, whose third comes when there is room again and is left out with them.
        lane.push(&"漢".as_bytes()[..2]);
        assert_eq!(from.try_recv().unwrap().text, "a漢");
        lane.push(&[&"漢".as_bytes()[2..], b"b"].concat());
        let chunk = from.try_recv().unwrap();
        assert_eq!((chunk.text.as_str(), chunk.missed), ("b", 3));
    }

    #[test]
    fn the_end_of_a_large_piece_is_shown() {
        let bytes = [vec![b'x'; 10], vec![b'y'; CHUNK]].concat();
        let chunks = sent(&[&bytes], 4);
        assert_eq!(
            (chunks.len(), chunks[0].missed, chunks[0].text.len()),
            (1, 10, CHUNK)
        );
    }

    #[test]
    fn a_character_that_never_ends_is_shown_as_replaced() {
        let text: String = sent(&[b"x\xF0\x9F"], 4)
            .into_iter()
            .map(|chunk| chunk.text)
            .collect();
        assert_eq!(text, "x\u{FFFD}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn text_cut_anywhere_arrives_unchanged(text in "[a≤漢🐟\n]{0,12}", cut in 1usize..5) {
            let pieces: Vec<_> = text.as_bytes().chunks(cut).collect();
            let got: String = sent(&pieces, 100).into_iter().map(|chunk| chunk.text).collect();
            prop_assert_eq!(got, text);
        }
    }
}
