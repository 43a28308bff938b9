//! One stream written to a file under a ceiling: its first three quarters and its last quarter survive.
//!
//! The last quarter of the file's room is used as a ring once the stream passes the ceiling, so that memory stays
//! the same whatever a command prints. When the stream ends, the ring is straightened behind one line that says
//! what was not kept. Both cuts are moved to a line's end when one is near.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use memchr::{memchr, memchr_iter, memrchr};

use crate::amount::{counted, size};
use crate::clean::incomplete_suffix;

/// How far a cut is moved, at most, to reach a line's end, in bytes; and no further than a sixteenth of the room.
const NEAR: u64 = 64 * 1024;

/// Room for the line between head and tail: its two numbers have at most 26 digits and commas each.
const GAP_LINE: u64 = 192;

/// The least a stream may have: below this a ceiling makes no sense.
const LEAST: u64 = 4 * 1024;

/// What became of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Bytes of the stream before any cut.
    pub(super) total_bytes: u64,
    /// Newlines in them.
    pub(super) total_newlines: u64,
    /// Bytes and newlines not kept.
    pub(super) dropped_bytes: u64,
    pub(super) dropped_newlines: u64,
    /// Where in the file it ends.
    pub(super) end: u64,
}

/// Writes one stream at `base` of a file, within `limit` bytes.
pub(super) struct Bounded<'f> {
    file: &'f File,
    base: u64,
    limit: u64,
    ceiling: u64,
    /// Bytes and newlines of the stream so far, missing ones included.
    total: u64,
    newlines: u64,
    /// Newlines in the part of the file that is always kept.
    head_newlines: u64,
    ring: Option<Ring>,
}

/// The end of the file's room, overwritten again and again with the last bytes of the stream.
#[derive(Debug, Clone, Copy)]
struct Ring {
    start: u64,
    room: u64,
    written: u64,
    /// Its first byte follows what the source could not keep, whose borders the source has placed.
    placed: bool,
    /// So does the head's last byte: nothing of the head was given up for the ceiling.
    head_placed: bool,
}

impl<'f> Bounded<'f> {
    /// A stream that starts at byte `base` of `file` and may take `limit` bytes; `ceiling` is the one the person
    /// set, for the line that states the cut.
    pub(super) fn new(file: &'f File, base: u64, limit: u64, ceiling: u64) -> Self {
        let limit = limit.max(LEAST);
        Self {
            file,
            base,
            limit,
            ceiling,
            total: 0,
            newlines: 0,
            head_newlines: 0,
            ring: None,
        }
    }

    /// How far a cut is moved to reach a line's end.
    fn near(&self) -> u64 {
        NEAR.min(self.limit / 16)
    }

    fn three_quarters(&self) -> u64 {
        self.limit - self.limit / 4
    }

    /// Adds the stream's next bytes. Errors are the disk's.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        if self.ring.is_none() {
            let fits = usize::try_from(self.limit - self.total)
                .unwrap_or(usize::MAX)
                .min(rest.len());
            self.write_head(&rest[..fits])?;
            rest = &rest[fits..];
        }
        if rest.is_empty() {
            return Ok(());
        }
        let (start, room) = (self.three_quarters(), self.limit / 4);
        let ring = self.ring.get_or_insert(Ring {
            start,
            room,
            written: room,
            placed: false,
            head_placed: false,
        });
        self.newlines += memchr_iter(b'\n', rest).count() as u64;
        self.total += rest.len() as u64;
        ring.write(self.file, self.base, rest)
    }

    /// Writes while everything still fits.
    fn write_head(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.base + self.total)?;
        let kept = self.three_quarters().saturating_sub(self.total);
        let kept = usize::try_from(kept).unwrap_or(usize::MAX).min(bytes.len());
        let head = memchr_iter(b'\n', &bytes[..kept]).count() as u64;
        self.head_newlines += head;
        self.newlines += head + memchr_iter(b'\n', &bytes[kept..]).count() as u64;
        self.total += bytes.len() as u64;
        Ok(())
    }

    /// Notes that the stream had `bytes` more here, which its source could not keep.
    pub(super) fn missing(&mut self, bytes: u64, newlines: u64) {
        let (start, head_placed) = match self.ring {
            Some(ring) => (ring.start, ring.head_placed),
            None => (
                self.total.min(self.three_quarters()),
                self.total <= self.three_quarters(),
            ),
        };
        self.ring = Some(Ring {
            start,
            room: self.limit - start,
            written: 0,
            placed: true,
            head_placed,
        });
        self.total += bytes;
        self.newlines += newlines;
    }

    /// Ends the stream and puts its tail in place. `spare` makes an empty file to straighten the tail in.
    pub(super) fn finish(self, spare: impl FnOnce() -> io::Result<File>) -> io::Result<Written> {
        let mut written = Written {
            total_bytes: self.total,
            total_newlines: self.newlines,
            end: self.base + self.total,
            ..Written::default()
        };
        let Some(ring) = self.ring else {
            return Ok(written);
        };
        let head = if ring.head_placed {
            ring.start
        } else {
            self.head_end(ring.start)?
        };
        let room = self.limit.saturating_sub(head + GAP_LINE);
        let tail = ring.straightened((self.file, self.base), room, self.near(), spare()?)?;
        written.dropped_bytes = self.total - head - tail.bytes;
        written.dropped_newlines = self.newlines - self.head_newlines - tail.newlines;
        written.end = self.put_tail(head, &tail, written)?;
        Ok(written)
    }

    /// Where the head ends: after the last newline near `start`, or before a character cut there.
    fn head_end(&self, start: u64) -> io::Result<u64> {
        let from = start.saturating_sub(self.near());
        let mut near = vec![0; usize::try_from(start - from).expect("64 KiB fit memory")];
        self.file.read_exact_at(&mut near, self.base + from)?;
        Ok(match memrchr(b'\n', &near) {
            Some(newline) => from + newline as u64 + 1,
            None => start - incomplete_suffix(&near) as u64,
        })
    }

    /// Writes the line that states the cut and the tail behind the head; returns where the stream ends.
    fn put_tail(&self, head: u64, tail: &Tail, written: Written) -> io::Result<u64> {
        let mut at = self.base + head;
        self.file.set_len(at)?;
        let mut last = [b'\n'];
        if head > 0 {
            self.file.read_exact_at(&mut last, at - 1)?;
        }
        let newline = if last == *b"\n" { "" } else { "\n" };
        let gap = format!(
            "{newline}{}\n",
            gap_line(written, (self.total > self.limit).then_some(self.ceiling))
        );
        self.file.write_all_at(gap.as_bytes(), at)?;
        at += gap.len() as u64;
        copy(&tail.file, 0, self.file, at, tail.bytes)?;
        Ok(at + tail.bytes)
    }
}

/// The line in the stored file where bytes are not kept.
fn gap_line(written: Written, passed: Option<u64>) -> String {
    let lines = counted(written.dropped_newlines, "line");
    let bytes = counted(written.dropped_bytes, "byte");
    let why = passed.map_or_else(
        || "they could not be written as they came".to_owned(),
        |ceiling| format!("past the ceiling of {}", size(ceiling)),
    );
    format!("[… {lines}, {bytes} not kept: {why} …]")
}

/// The straightened last part of a stream, in a file of its own.
struct Tail {
    file: File,
    bytes: u64,
    newlines: u64,
}

impl Ring {
    fn write(&mut self, file: &File, base: u64, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        let skipped = bytes.len().saturating_sub(room);
        self.written += skipped as u64;
        let mut rest = &bytes[skipped..];
        while !rest.is_empty() {
            let at = self.written % self.room;
            let fits = usize::try_from(self.room - at)
                .unwrap_or(usize::MAX)
                .min(rest.len());
            file.write_all_at(&rest[..fits], base + self.start + at)?;
            self.written += fits as u64;
            rest = &rest[fits..];
        }
        Ok(())
    }

    /// Copies the ring's last `room` bytes, from a line's start on, into `into` in order.
    fn straightened(&self, (file, base): (&File, u64), room: u64, near: u64, into: File) -> io::Result<Tail> {
        let held = self.written.min(self.room);
        let oldest = if self.written > self.room {
            self.written % self.room
        } else {
            0
        };
        let from = base + self.start;
        let to_end = held - oldest.min(held);
        copy(file, from + oldest, &into, 0, to_end)?;
        copy(file, from, &into, to_end, held - to_end)?;
        let skip = held.saturating_sub(room);
        let whole = self.placed && skip == 0 && self.written <= self.room;
        let skip = if whole {
            0
        } else {
            line_start(&into, skip, (skip + near).min(held), held)?
        };
        let bytes = held - skip;
        copy_down(&into, skip, bytes)?;
        let newlines = newlines(&into, bytes)?;
        Ok(Tail {
            file: into,
            bytes,
            newlines,
        })
    }
}

/// The first line's start in `from..to`, if something follows it before `end`; else the next character's.
fn line_start(file: &File, from: u64, to: u64, end: u64) -> io::Result<u64> {
    let mut near = vec![0; usize::try_from(to - from).expect("64 KiB fit memory")];
    file.read_exact_at(&mut near, from)?;
    let found = memchr(b'\n', &near).map(|newline| from + newline as u64 + 1);
    Ok(found.filter(|start| *start < end).unwrap_or_else(|| {
        let inside = near
            .iter()
            .take(3)
            .take_while(|byte| **byte & 0xc0 == 0x80)
            .count();
        from + inside as u64
    }))
}

/// Moves `bytes` bytes at `from` of a file to its start.
fn copy_down(file: &File, from: u64, bytes: u64) -> io::Result<()> {
    if from == 0 {
        Ok(())
    } else {
        copy(file, from, file, 0, bytes)
    }
}

/// Copies `bytes` bytes, in order, through a small buffer.
fn copy(from: &File, mut at: u64, into: &File, mut to: u64, bytes: u64) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut left = bytes;
    while left > 0 {
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        from.read_exact_at(&mut buffer[..want], at)?;
        into.write_all_at(&buffer[..want], to)?;
        (at, to, left) = (at + want as u64, to + want as u64, left - want as u64);
    }
    Ok(())
}

/// Newlines in the first `bytes` bytes of a file.
fn newlines(file: &File, bytes: u64) -> io::Result<u64> {
    let mut buffer = vec![0; 64 * 1024];
    let (mut at, mut count) = (0, 0);
    while at < bytes {
        let want = usize::try_from(bytes - at)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        file.read_exact_at(&mut buffer[..want], at)?;
        count += memchr_iter(b'\n', &buffer[..want]).count() as u64;
        at += want as u64;
    }
    Ok(count)
}

/// Reads `source` to its end into `stream`. The first error is the source's, the second the disk's.
pub(super) fn pour(mut source: impl Read, stream: &mut Bounded<'_>) -> Result<io::Result<()>, io::Error> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match source.read(&mut buffer) {
            Ok(0) => return Ok(Ok(())),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if let Err(error) = stream.write(&buffer[..read]) {
            return Ok(Err(error));
        }
    }
}
