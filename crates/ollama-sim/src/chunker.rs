//! Where the transport cuts a stream.
//!
//! HTTP chunks have nothing to do with lines: proxies join them, slow links cut them, and a reader that decodes
//! chunk by chunk breaks on the first character that straddles one. Each way of cutting is here; a client's
//! stream tests run under all of them.

/// A way to cut a body into HTTP chunks. Every cut also is a write of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chunker {
    /// A line a chunk, as the server itself does.
    #[default]
    Line,
    /// So many bytes a chunk, whatever they are.
    Bytes(usize),
    /// So many lines a chunk.
    Lines(usize),
    /// A cut inside every character of more than one byte, and inside every `\uXXXX`.
    InsideCharacters,
    /// Chunks of 1 to 64 bytes by a seeded sequence.
    Seeded(u64),
}

impl Chunker {
    /// Every way, each with telling parameters.
    pub const ALL: [Self; 7] = [
        Self::Line,
        Self::Bytes(1),
        Self::Bytes(7),
        Self::Lines(3),
        Self::Lines(1000),
        Self::InsideCharacters,
        Self::Seeded(42),
    ];
}

/// What a proxy may add to or take from the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dressing {
    /// Nothing.
    #[default]
    Plain,
    /// CRLF line ends and blank lines between.
    CrlfAndBlanks,
    /// No newline after the last line.
    NoLastNewline,
}

/// A chunker at work on one body.
#[derive(Debug)]
pub(crate) struct Cutting {
    how: Chunker,
    held: Vec<u8>,
    lines: usize,
    state: u64,
}

impl Cutting {
    pub(crate) fn new(how: Chunker) -> Self {
        let state = match how {
            Chunker::Seeded(seed) => seed.wrapping_mul(2).wrapping_add(1),
            _ => 0,
        };
        Self {
            how,
            held: Vec::new(),
            lines: 0,
            state,
        }
    }

    /// Takes bytes of the body (usually a line) and gives the chunks that are ready.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        match self.how {
            Chunker::Line => vec![bytes.to_vec()],
            Chunker::Bytes(size) => bytes.chunks(size.max(1)).map(<[u8]>::to_vec).collect(),
            Chunker::InsideCharacters => inside_characters(bytes),
            Chunker::Seeded(_) => self.seeded(bytes),
            Chunker::Lines(many) => {
                self.held.extend_from_slice(bytes);
                self.lines += 1;
                if self.lines < many {
                    Vec::new()
                } else {
                    self.flush()
                }
            }
        }
    }

    /// Gives whatever was held: before a silence, and at the end.
    pub(crate) fn flush(&mut self) -> Vec<Vec<u8>> {
        self.lines = 0;
        if self.held.is_empty() {
            Vec::new()
        } else {
            vec![std::mem::take(&mut self.held)]
        }
    }

    fn seeded(&mut self, mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        while !bytes.is_empty() {
            self.state = self
                .state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let size = usize::from((self.state >> 58) as u8) + 1;
            let (head, tail) = bytes.split_at(size.min(bytes.len()));
            out.push(head.to_vec());
            bytes = tail;
        }
        out
    }
}

/// Cuts after the first byte of each longer character, and after the `\u` of each escape.
fn inside_characters(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut start = 0;
    for at in 1..bytes.len() {
        let in_character = bytes[at - 1] >= 0xc0;
        let in_escape = at >= 2 && bytes[at - 2..at] == *b"\\u";
        if in_character || in_escape {
            out.push(bytes[start..at].to_vec());
            start = at;
        }
    }
    if start < bytes.len() {
        out.push(bytes[start..].to_vec());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_keeps_the_bytes() {
        let lines = ["{\"a\":\"日本 \\u003c\"}\n", "\n", "{\"b\":1}\n", "tail"];
        for how in Chunker::ALL {
            let mut cutting = Cutting::new(how);
            let mut chunks: Vec<Vec<u8>> = lines.iter().flat_map(|l| cutting.push(l.as_bytes())).collect();
            chunks.extend(cutting.flush());
            assert!(chunks.iter().all(|c| !c.is_empty()), "{how:?}");
            assert_eq!(chunks.concat(), lines.concat().as_bytes(), "{how:?}");
        }
    }

    #[test]
    fn characters_and_escapes_are_cut() {
        let chunks = inside_characters("é\\u003c".as_bytes());
        assert_eq!(chunks, [&[0xc3][..], &[0xa9, b'\\', b'u'], b"003c"]);
    }
}
