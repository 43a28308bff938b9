//! A stored output in consecutive chunks, for whoever asks a question of all of it.

use std::io;

use crate::clean::{self, CleanLines, Line, View};
use crate::content::{Content, Section, Stretch};
use crate::streams;

/// The most chunks one question is asked of: each is a request of its own.
pub const MOST: usize = 48;

/// A run of lines, cleaned, each with its number before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its first line, from 1.
    pub from_line: u64,
    /// Its last line.
    pub to_line: u64,
    /// The lines, numbered; of a line longer than a chunk, as much as one holds.
    pub text: String,
}

/// Reads an output chunk by chunk.
pub struct Chunks<'a> {
    sections: &'a [Section],
    lines: CleanLines<Stretch<'a>>,
    size: usize,
    /// What of the last line read did not fit.
    rest: Option<Line>,
}

impl<'a> Chunks<'a> {
    /// The chunks of `content`, in which `sections` name the streams, each at most `size` bytes, which is at least 64.
    pub fn new(content: &'a dyn Content, sections: &'a [Section], size: usize) -> Self {
        let lines = CleanLines::new(Stretch::all(content), View::Plain);
        Self {
            sections,
            lines,
            size: size.max(64),
            rest: None,
        }
    }

    /// The next chunk; `None` at the end. Errors are those of reading.
    pub fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        let mut chunk: Option<Chunk> = None;
        loop {
            let line = match self.rest.take() {
                Some(line) => line,
                None => match self.lines.next_line()? {
                    Some(line) => line,
                    None => return Ok(chunk),
                },
            };
            let held = chunk.as_ref().map_or(0, |chunk| chunk.text.len());
            let row = format!("{}: {}\n", streams::label(self.sections, line.number), line.text);
            if held + row.len() <= self.size {
                append(&mut chunk, line.number, &row);
            } else if held > 0 {
                self.rest = Some(line);
                return Ok(chunk);
            } else {
                return Ok(Some(self.split(line)));
            }
        }
    }

    /// A chunk of the start of a line longer than one; the rest of the line waits.
    fn split(&mut self, mut line: Line) -> Chunk {
        let label = format!("{}: ", streams::label(self.sections, line.number));
        let end = line.text.floor_char_boundary(self.size - label.len() - 1);
        let end = clean::word_start(line.text.as_bytes(), end);
        let text = format!("{label}{}\n", &line.text[..end]);
        let number = line.number;
        line.text.drain(..end);
        self.rest = Some(line);
        Chunk {
            from_line: number,
            to_line: number,
            text,
        }
    }
}

fn append(chunk: &mut Option<Chunk>, number: u64, row: &str) {
    let chunk = chunk.get_or_insert(Chunk {
        from_line: number,
        to_line: number,
        text: String::new(),
    });
    chunk.to_line = number;
    chunk.text.push_str(row);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::MemoryContent;

    fn all(text: &str, size: usize) -> Vec<Chunk> {
        let content = MemoryContent::whole(text.as_bytes());
        let mut chunks = Chunks::new(&content, &[], size);
        std::iter::from_fn(|| chunks.next_chunk().unwrap()).collect()
    }

    #[test]
    fn chunks_hold_every_line_once_within_their_size() {
        let text: String = (1..=100).fold(String::new(), |text, line| text + &format!("line {line}\n"));
        let chunks = all(&text, 100);
        assert!(chunks.iter().all(|chunk| chunk.text.len() <= 100));
        assert_eq!((chunks[0].from_line, chunks[0].to_line), (1, 9));
        let rows: Vec<&str> = chunks.iter().flat_map(|chunk| chunk.text.lines()).collect();
        assert_eq!(rows.len(), 100);
        assert_eq!(rows[41], "42: line 42");
    }

    #[test]
    fn a_line_longer_than_a_chunk_is_split_between_characters() {
        let chunks = all(&"漢".repeat(100), 64);
        assert!(
            chunks
                .iter()
                .all(|chunk| chunk.text.len() <= 64 && chunk.from_line == 1)
        );
        let joined: String = chunks.iter().map(|chunk| chunk.text[3..].trim_end()).collect();
        assert_eq!(joined, "漢".repeat(100));
    }
}
