//! Finding an event by its id without reading the events around it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::memmem;

use crate::Record;
use crate::event::SCHEMA;
use crate::lines::BLOCK;

/// How much is searched at once.
const WINDOW: usize = 1024 * 1024;

/// The event with this id: at the place an index gave, if it is there, or by searching.
pub(crate) fn event(file: &File, len: u64, id: &str, place: Option<u64>) -> io::Result<Option<Record>> {
    let there = place.filter(|place| *place < len);
    let there = there.map_or(Ok(None), |place| at_line_start(file, place))?;
    match there.filter(|record| record.id.as_str() == id) {
        Some(record) => Ok(Some(record)),
        None => by_id(file, len, id),
    }
}

/// The event with this id among the first `len` bytes; `None` when there is none. Blocks are searched from the end,
/// for the bytes every event starts with, so that no line is parsed but the one asked for.
fn by_id(file: &File, len: u64, id: &str) -> io::Result<Option<Record>> {
    let start = format!("{{\"schema\":{SCHEMA},\"id\":{}", serde_json::Value::from(id));
    let finder = memmem::Finder::new(start.as_bytes());
    let mut block = vec![0; WINDOW + start.len()];
    let mut end = len;
    while end > 0 {
        let from = end.saturating_sub(WINDOW as u64);
        // A start that lies across the border belongs to the earlier block.
        let to = len.min(end + start.len() as u64 - 1);
        let size = usize::try_from(to - from).map_err(io::Error::other)?;
        file.read_exact_at(&mut block[..size], from)?;
        for at in finder.find_iter(&block[..size]) {
            if let Some(record) = at_line_start(file, from + at as u64)?.filter(|r| r.id.as_str() == id) {
                return Ok(Some(record));
            }
        }
        end = from;
    }
    Ok(None)
}

/// The event at `offset` when a line starts there.
fn at_line_start(file: &File, offset: u64) -> io::Result<Option<Record>> {
    let mut before = [b'\n'];
    if offset > 0 {
        file.read_exact_at(&mut before, offset - 1)?;
    }
    if before == *b"\n" {
        event_at(file, offset)
    } else {
        Ok(None)
    }
}

/// The event whose line starts at `offset`; `None` when the line there is not an event.
fn event_at(file: &File, offset: u64) -> io::Result<Option<Record>> {
    let (mut line, mut block) = (Vec::new(), vec![0; BLOCK]);
    loop {
        let read = file.read_at(&mut block, offset + line.len() as u64)?;
        let newline = memchr::memchr(b'\n', &block[..read]);
        line.extend_from_slice(&block[..newline.unwrap_or(read)]);
        if newline.is_some() || read == 0 {
            return Ok(serde_json::from_slice(&line).ok());
        }
    }
}
