//! An output as a tool hands it over: text in memory, or a command's streams of which memory holds the two ends.
//!
//! A command's output is kept as one text: the header with its exit status, `stdout:` and the stream, `stderr:`
//! and the stream. Lines are numbered in the streams alone ([`streams`]).

use std::borrow::Cow;
use std::io::Read;

use memchr::memchr_iter;

use crate::clean::is_binary;
use crate::content::{Content, MemoryContent, Section};
use crate::fit::Whole;
use crate::streams;

/// A stretch of a stream, in order, as the store reads it.
pub enum Piece<'a> {
    /// Bytes to be read to their end.
    Bytes(Box<dyn Read + Send + 'a>),
    /// Bytes the runner itself could not keep, from the end of a line to the end of a line where there was one.
    Missing {
        /// How many.
        bytes: u64,
        /// How many newlines were among them.
        newlines: u64,
    },
}

/// What was counted of a stream whose middle memory may have dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Bytes of the whole stream.
    pub bytes: u64,
    /// Newlines among them.
    pub newlines: u64,
    /// Whether the last byte that memory dropped is a newline, so that what it holds after it starts a line.
    pub dropped_ends_line: bool,
}

/// One stream of an output.
pub struct Stream<'a> {
    pub(crate) name: Option<&'static str>,
    pub(crate) head: Cow<'a, [u8]>,
    tail: Cow<'a, [u8]>,
    bytes: u64,
    newlines: u64,
    dropped_ends_line: bool,
    pub(crate) pieces: Option<Vec<Piece<'a>>>,
}

impl<'a> Stream<'a> {
    /// A stream held whole; `name` is its frame (`stdout`), none for a tool that has only one.
    pub fn whole(name: Option<&'static str>, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        let head = bytes.into();
        let newlines = memchr_iter(b'\n', &head).count() as u64;
        let bytes = head.len() as u64;
        Self {
            name,
            head,
            tail: Cow::Borrowed(&[]),
            bytes,
            newlines,
            dropped_ends_line: false,
            pieces: None,
        }
    }

    /// A stream measured as `whole` says of which memory holds the first (`head`) and the last bytes (`tail`), which
    /// do not overlap. Without [`Stream::with_pieces`], what lies between is lost.
    pub fn ends(
        name: Option<&'static str>,
        (head, tail): (impl Into<Cow<'a, [u8]>>, impl Into<Cow<'a, [u8]>>),
        whole: Measured,
    ) -> Self {
        let (head, tail) = (head.into(), tail.into());
        debug_assert!(
            whole.bytes >= (head.len() + tail.len()) as u64,
            "the two ends overlap"
        );
        Self {
            name,
            head,
            tail,
            bytes: whole.bytes,
            newlines: whole.newlines,
            dropped_ends_line: whole.dropped_ends_line,
            pieces: None,
        }
    }

    /// A stream that starts with `head` and whose length is not known until its pieces are read.
    pub(crate) fn unmeasured(head: &'a [u8]) -> Self {
        Self {
            bytes: u64::MAX,
            ..Self::whole(None, head)
        }
    }

    /// Adds the way to all of it: what was spilled, in order, from the stream's first byte to its last.
    #[must_use]
    pub fn with_pieces(mut self, pieces: Vec<Piece<'a>>) -> Self {
        self.pieces = Some(pieces);
        self
    }

    /// How many bytes the command or tool wrote.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn ends_with_newline(&self) -> bool {
        match self.tail.last() {
            Some(last) => *last == b'\n',
            None if self.hole().0 > 0 => self.dropped_ends_line,
            None => self.head.last() == Some(&b'\n'),
        }
    }

    fn lines(&self) -> u64 {
        self.newlines + u64::from(self.bytes > 0 && !self.ends_with_newline())
    }

    /// Bytes and newlines that memory does not hold.
    fn hole(&self) -> (u64, u64) {
        let held = (self.head.len() + self.tail.len()) as u64;
        let counted = memchr_iter(b'\n', &self.head).count() + memchr_iter(b'\n', &self.tail).count();
        (self.bytes - held, self.newlines.saturating_sub(counted as u64))
    }

    /// The stream from memory, with what memory dropped as a missing piece.
    pub(crate) fn memory_pieces(&self) -> Vec<Piece<'_>> {
        let (bytes, newlines) = self.hole();
        let mut pieces = vec![Piece::Bytes(Box::new(&*self.head))];
        if bytes > 0 {
            pieces.push(Piece::Missing { bytes, newlines });
        }
        pieces.push(Piece::Bytes(Box::new(&*self.tail)));
        pieces
    }
}

/// A whole output, ready to be shown and kept.
pub struct Output<'a> {
    pub(crate) header: String,
    pub(crate) streams: Vec<Stream<'a>>,
    pub(crate) footer: String,
}

impl<'a> Output<'a> {
    /// A tool's text.
    pub fn text(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self::stream(Stream::whole(None, bytes))
    }

    /// One stream without a frame.
    pub fn stream(stream: Stream<'a>) -> Self {
        Self {
            header: String::new(),
            streams: vec![stream],
            footer: String::new(),
        }
    }

    /// A command's output: `header` (`exit status: 0` and what else stands above the streams), the streams in
    /// order, and `footer` (a sandbox line). Lines of the two are ended with a newline when they are not.
    /// Empty streams are left out, and when all are, a line says that there was no output.
    pub fn command(header: &str, streams: Vec<Stream<'a>>, footer: &str) -> Self {
        let mut header = line_ended(header);
        let streams: Vec<_> = streams.into_iter().filter(|stream| stream.bytes > 0).collect();
        if streams.is_empty() {
            header.push_str("no output\n");
        }
        Self {
            header,
            streams,
            footer: line_ended(footer),
        }
    }

    /// How many bytes the whole has, frames included.
    pub fn bytes(&self) -> u64 {
        let streams: u64 = (0..self.streams.len()).map(|at| self.framed_bytes(at)).sum();
        (self.header.len() + self.footer.len()) as u64 + streams
    }

    /// Bytes of a stream with its frame and the newline that ends it before what follows.
    fn framed_bytes(&self, at: usize) -> u64 {
        self.streams[at].bytes + self.frame(at).len() as u64 + u64::from(self.needs_newline(at))
    }

    pub(crate) fn frame(&self, at: usize) -> String {
        self.streams[at]
            .name
            .map_or_else(String::new, |name| format!("{name}:\n"))
    }

    pub(crate) fn needs_newline(&self, at: usize) -> bool {
        let followed = at + 1 < self.streams.len() || !self.footer.is_empty();
        followed && !self.streams[at].ends_with_newline() && self.streams[at].bytes > 0
    }

    /// Bytes of the header, the frames and the footer.
    pub(crate) fn frame_bytes(&self) -> u64 {
        self.bytes() - self.streams.iter().map(|stream| stream.bytes).sum::<u64>()
    }

    /// What memory holds of the whole.
    pub(crate) fn in_memory(&self) -> Held<'_> {
        let mut held = Held {
            content: MemoryContent::default(),
            sections: Vec::new(),
            file_lines: 0,
        };
        held.text(self.header.clone());
        for (at, stream) in self.streams.iter().enumerate() {
            held.text(self.frame(at));
            held.stream(stream);
            if self.needs_newline(at) {
                held.content.push(Cow::Borrowed(b"\n"));
            }
        }
        held.text(self.footer.clone());
        held
    }
}

/// What memory holds of an output, laid out as the whole would be stored.
pub(crate) struct Held<'a> {
    pub(crate) content: MemoryContent<'a>,
    pub(crate) sections: Vec<Section>,
    /// Lines of all of it, frames included.
    file_lines: u64,
}

impl Held<'_> {
    /// What there is to fit.
    pub(crate) fn whole(&self) -> Whole<'_> {
        Whole {
            content: &self.content,
            sections: &self.sections,
            lines: streams::lines_of(&self.sections),
        }
    }
}

impl<'a> Held<'a> {
    /// Adds lines of a frame, each ended.
    fn text(&mut self, text: String) {
        self.file_lines += memchr_iter(b'\n', text.as_bytes()).count() as u64;
        self.content.push(Cow::Owned(text.into_bytes()));
    }

    fn stream(&mut self, stream: &'a Stream<'_>) {
        self.sections.push(Section {
            name: stream.name.map(str::to_owned),
            from: self.content.bytes(),
            bytes: stream.bytes,
            line: self.file_lines + 1,
            lines: stream.lines(),
            number: 0,
            binary: is_binary(&stream.head),
        });
        streams::number(&mut self.sections);
        self.file_lines += stream.lines();
        self.content.push(Cow::Borrowed(&stream.head));
        self.content.skip(stream.hole().0, stream.dropped_ends_line);
        self.content.push(Cow::Borrowed(&stream.tail));
    }
}

/// `text` with a newline at its end, unless it is empty.
fn line_ended(text: &str) -> String {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
