//! The streams of an output as lines are counted in them: without the frames.
//!
//! What is stored of a command begins with how it ended and has `stdout:` and `stderr:` above the streams. These frames
//! are kept and shown, but they are no lines of what the command printed: stdout's lines count from 1, as the command
//! printed them, and stderr's follow on. Whatever numbers, counts or filters lines reads an output through
//! [`Streams`], so that one number leads to one line in every view.

use std::io;

use crate::amount::range;
use crate::content::{Content, Section};

/// Gives each of an output's sections, in order, the number of its first line.
pub fn number(sections: &mut [Section]) {
    let mut next = 1;
    for section in sections {
        section.number = next;
        next += section.lines;
    }
}

/// Lines above the first frame of a shown command's output, at most: how it ended, and notes on the call.
const HEADER: usize = 8;

/// How many lines a command printed to stdout, and how many in all.
pub type Counts = (u64, u64);

/// The streams in the text of a command's output as a model is shown it whole, by its frames; none when it has none.
/// With `counts` a line of the command's own that reads like a frame is none; without, the first such line is taken for
/// one.
pub fn framed(text: &str, counts: Option<Counts>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut at = 0;
    for (place, line) in text.split_inclusive('\n').enumerate() {
        let end = at + line.len() as u64;
        let name = line
            .strip_suffix(":\n")
            .filter(|name| ["stdout", "stderr"].contains(name));
        let is_frame = match (name, sections.last()) {
            (Some(_), None) => place < HEADER,
            (Some("stderr"), Some(before)) => {
                let whole = counts.is_none_or(|(out, _)| before.lines == out);
                before.name.as_deref() == Some("stdout") && whole
            }
            _ => false,
        };
        let is_over = counts.is_some_and(|(_, all)| lines_of(&sections) == all);
        if is_frame {
            sections.push(Section {
                name: name.map(str::to_owned),
                from: end,
                bytes: 0,
                line: place as u64 + 2,
                lines: 0,
                number: 0,
                binary: false,
            });
        } else if let Some(section) = sections.last_mut()
            && !is_over
        {
            section.bytes += line.len() as u64;
            section.lines += 1;
        }
        at = end;
    }
    number(&mut sections);
    sections
}

/// How many lines the sections have together.
pub fn lines_of(sections: &[Section]) -> u64 {
    sections.iter().map(|section| section.lines).sum()
}

/// The number of the line of the file, from 1; `None` for a line of a frame.
pub fn number_of(sections: &[Section], file_line: u64) -> Option<u64> {
    let of = |section: &&Section| (section.line..section.line + section.lines).contains(&file_line);
    let section = sections.iter().find(of)?;
    Some(section.number + file_line - section.line)
}

/// What stands before line `number` where lines are listed: the number, and where it differs the stream's own.
pub fn label(sections: &[Section], number: u64) -> String {
    let of = |section: &&Section| (section.number..section.number + section.lines).contains(&number);
    match sections.iter().find(of) {
        Some(section) if section.number > 1 => {
            let name = section.name.as_deref().unwrap_or("line");
            format!("{number} ({name} {})", number - section.number + 1)
        }
        _ => number.to_string(),
    }
}

/// Which lines are whose: `stdout 1–2,000, stderr 2,001–2,340 (its own 1–340)`, or `stderr` when there is nothing
/// else; empty for an output without named streams.
pub fn told(sections: &[Section]) -> String {
    let named = sections
        .iter()
        .filter_map(|section| Some((section.name.as_ref()?, section)));
    let texts: Vec<String> = named
        .filter(|(_, section)| section.lines > 0)
        .map(|(name, section)| {
            let last = section.number + section.lines - 1;
            let own = if section.number > 1 {
                format!(" (its own {})", range(1, section.lines))
            } else {
                String::new()
            };
            format!("{name} {}{own}", range(section.number, last))
        })
        .collect();
    match sections {
        [only] => only.name.clone().unwrap_or_default(),
        _ => texts.join(", "),
    }
}

/// A stretch of the file, by its place among the streams.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// Where it starts among the streams, in bytes.
    at: u64,
    /// Where it starts in the file.
    from: u64,
    /// How many bytes it has, with the newline that ends its last line.
    bytes: u64,
}

/// The streams of an output one after the other, each ended by a newline where another follows. Offsets and lines
/// are counted in them alone.
#[derive(Debug, Clone)]
pub struct Streams<C> {
    content: C,
    parts: Vec<Part>,
    bytes: u64,
    printed: u64,
}

impl<C: Content> Streams<C> {
    /// The streams of `content`, which are its `sections`; all of it when there are none.
    pub fn new(content: C, sections: &[Section]) -> Self {
        let whole = content.bytes();
        let mut parts: Vec<Part> = Vec::with_capacity(sections.len());
        let mut at = 0;
        for (place, section) in sections.iter().enumerate() {
            // A frame that follows starts a line: where the stream does not end one, the byte after it does.
            let next = sections
                .get(place + 1)
                .map_or(section.from + section.bytes, |next| next.from);
            let open = section.bytes > 0 && next > section.end() && !ends_line(&content, section);
            let bytes = section.bytes + u64::from(open);
            parts.push(Part {
                at,
                from: section.from,
                bytes,
            });
            at += bytes;
        }
        if sections.is_empty() {
            parts.push(Part {
                at: 0,
                from: 0,
                bytes: whole,
            });
            at = whole;
        }
        let printed = if sections.is_empty() {
            whole
        } else {
            sections.iter().map(|section| section.bytes).sum()
        };
        Self {
            content,
            parts,
            bytes: at,
            printed,
        }
    }

    /// How many bytes were printed: without the newline that ends a stream which has none where another follows.
    pub fn printed(&self) -> u64 {
        self.printed
    }

    /// Where byte `offset` of the streams is in the file; the end of the last stream for any after it.
    pub fn in_file(&self, offset: u64) -> u64 {
        let part = self.part(offset).or_else(|| self.parts.last().copied());
        part.map_or(0, |part| part.from + (offset - part.at).min(part.bytes))
    }

    fn part(&self, offset: u64) -> Option<Part> {
        let after = self.parts.partition_point(|part| part.at <= offset);
        let part = self.parts.get(after.checked_sub(1)?)?;
        (offset < part.at + part.bytes).then_some(*part)
    }
}

/// Whether a stream's last byte is a newline.
fn ends_line(content: &impl Content, section: &Section) -> bool {
    let mut last = [0];
    match content.read_at(section.end() - 1, &mut last) {
        Ok(1) => last == *b"\n",
        _ => content.missing_ends_line(section.end()),
    }
}

impl<C: Content> Content for Streams<C> {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(part) = self.part(offset) else {
            return Ok(0);
        };
        let inside = offset - part.at;
        let left = usize::try_from(part.bytes - inside).unwrap_or(usize::MAX);
        let want = left.min(buffer.len());
        self.content.read_at(part.from + inside, &mut buffer[..want])
    }

    fn readable_to(&self, offset: u64) -> u64 {
        let mut end = offset;
        while let Some(part) = self.part(end) {
            let last = part.from + part.bytes;
            let reached = self.content.readable_to(part.from + (end - part.at)).min(last);
            end = part.at + (reached - part.from);
            if reached < last {
                break;
            }
        }
        end
    }

    fn readable_from(&self, offset: u64) -> u64 {
        let mut start = offset;
        while let Some(part) = start.checked_sub(1).and_then(|before| self.part(before)) {
            let reached = self
                .content
                .readable_from(part.from + (start - part.at))
                .max(part.from);
            start = part.at + (reached - part.from);
            if reached > part.from {
                break;
            }
        }
        start
    }

    fn missing_ends_line(&self, offset: u64) -> bool {
        let part = offset.checked_sub(1).and_then(|before| self.part(before));
        part.is_some_and(|part| self.content.missing_ends_line(part.from + (offset - part.at)))
    }
}
