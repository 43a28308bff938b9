//! A page of a file as the model reads it: numbered lines that fit the budget, streamed from the file.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::text::{self, BOM};
use super::{alike, nearby};
use wisp_output::amount::{counted, grouped, range};
use wisp_output::clean::word_start;

/// Lines of a page when the model names no limit.
pub const DEFAULT_LIMIT: usize = 100;

/// Which page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first line, from 1.
    pub offset: usize,
    /// The most lines.
    pub limit: usize,
    /// The byte of the first line to start from, from 1: the way into a line longer than a page.
    pub column: usize,
}

/// What kept a file from being read. Every text names the path as it was given.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing stands at the path.
    #[error("file not found: {}{beside}", path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
        /// What is near it, starting with `; `.
        beside: String,
    },
    /// A pattern was given instead of a path.
    #[error("file not found: {}; read_file takes one path: list what matches with run_command: ls {}", .0.display(), .0.display())]
    Pattern(PathBuf),
    /// A directory stands at the path.
    #[error("path is a directory: {}; it has {inside}; read one of its files, or list it with run_command: ls -la {}", path.display(), path.display())]
    Directory {
        /// The path.
        path: PathBuf,
        /// Its names.
        inside: String,
    },
    /// A FIFO, a device or a socket: reading one could wait for ever or have an effect.
    #[error("not a regular file: {} is {kind}, which read_file does not read; give the path of a text file", path.display())]
    Special {
        /// The path.
        path: PathBuf,
        /// What stands there.
        kind: &'static str,
    },
    /// A NUL byte in the first block.
    #[error("file appears to be binary: {}; look at it with run_command: file {}, or strings {} | head", .0.display(), .0.display(), .0.display())]
    Binary(PathBuf),
    /// UTF-16 or UTF-32.
    #[error(
        "not UTF-8: {} is likely {encoding}; read it with run_command: iconv -f {encoding} -t UTF-8 {}",
        path.display(),
        path.display()
    )]
    Encoding {
        /// The path.
        path: PathBuf,
        /// The encoding.
        encoding: &'static str,
    },
    /// A number below 1.
    #[error("offset, limit and column must be at least 1: leave them out to read from the beginning")]
    Range,
    /// The system refused.
    #[error("cannot read {}: {source}{}", path.display(), text::next_step(source))]
    Io {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// The file behind `path`, opened for reading when it is a regular one.
pub fn open(path: &Path) -> Result<fs::File, ReadError> {
    let io = |source| ReadError::Io {
        path: path.to_owned(),
        source,
    };
    let missing = |e: io::Error| {
        if e.kind() == io::ErrorKind::NotFound {
            not_found(path)
        } else {
            io(e)
        }
    };
    // Looked at before it is opened: opening a FIFO waits, opening a device may do something.
    refuse_special(path, &fs::metadata(path).map_err(missing)?)?;
    let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).expect("open flags fit a C int");
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nonblock)
        .open(path)
        .map_err(io)?;
    // And again once it is open, since the name may have been given to something else meanwhile.
    refuse_special(path, &file.metadata().map_err(io)?)?;
    Ok(file)
}

fn not_found(path: &Path) -> ReadError {
    let pattern = path.to_string_lossy().contains(['*', '?', '[']);
    if pattern {
        ReadError::Pattern(path.to_owned())
    } else {
        ReadError::NotFound {
            path: path.to_owned(),
            beside: nearby::beside(path),
        }
    }
}

fn refuse_special(path: &Path, meta: &fs::Metadata) -> Result<(), ReadError> {
    use std::os::unix::fs::FileTypeExt;
    let kind = meta.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err(ReadError::Directory {
            path: path.to_owned(),
            inside: nearby::inside(path),
        });
    }
    let kind = [
        (kind.is_fifo(), "a FIFO"),
        (kind.is_socket(), "a socket"),
        (kind.is_block_device(), "a block device"),
    ]
    .into_iter()
    .find_map(|(is, name)| is.then_some(name))
    .unwrap_or("a device");
    Err(ReadError::Special {
        path: path.to_owned(),
        kind,
    })
}

/// A page of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Which lines of how many it has, above them, with its newline; empty for all of a file.
    pub opening: String,
    /// Its lines as `number TAB text`.
    pub lines: String,
    /// How to go on, or that the file ends here: the last line of the result.
    pub closing: String,
    /// What comes after it; none at the file's end.
    pub rest: Option<Rest>,
    /// The first byte of it in the file that is no UTF-8, and the encoding its lines likely have.
    pub not_utf8: Option<(u64, &'static str)>,
}

impl Page {
    /// What cannot be seen in the lines and matters for an edit: bytes that are no text, characters that look like a
    /// blank or like nothing. At most [`REMARK`] bytes; none when there is nothing to say.
    pub fn remark(&self) -> Option<String> {
        let bytes = self.not_utf8.map(|(at, likely)| {
            format!(
                "not UTF-8, likely {likely}: bytes that are no text are shown as \u{fffd} (the first is at offset {at}); \
                 edit_file does not edit such a file, convert it with iconv"
            )
        });
        let unseen = alike::invisible(&self.lines);
        let all: Vec<String> = [bytes, unseen].into_iter().flatten().collect();
        (!all.is_empty()).then(|| format!("[{}]", all.join("; ")))
    }
}

/// The most bytes of a page's remark.
pub const REMARK: usize = 448;

/// What of a file comes after a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// Its first byte in the file.
    pub from: u64,
    /// The line that byte is in, from 1.
    pub line: u64,
    /// Where that byte is in its line, from 1, when the page ends inside it.
    pub column: Option<u64>,
}

/// The most bytes that a page's opening line takes.
pub const OPENING: usize = 256;
/// The most bytes of a path that the opening line repeats.
const PATH: usize = 120;
/// The most bytes of a file whose lines are counted.
const COUNTED: u64 = 256 * 1024 * 1024;

impl Page {
    /// Says above the lines which they are of how many, and how to find a word in the rest. A page of a whole file needs no
    /// such line. `named` is the path as the model gave it.
    #[must_use]
    pub fn opened(mut self, path: &Path, named: &str, range: Range) -> Self {
        if self.rest.is_none() && range.offset == 1 && range.column == 1 {
            return self;
        }
        let Some(total) = count_lines(path) else {
            return self;
        };
        let last = match self.rest {
            Some(Rest {
                line,
                column: Some(_),
                ..
            }) => line,
            Some(Rest { line, .. }) => line - 1,
            None => total,
        };
        let (first, of) = (range.offset as u64, grouped(total));
        if first > last {
            return self;
        }
        let which = if first == last {
            format!("line {}", grouped(first))
        } else {
            format!("lines {}–{}", grouped(first), grouped(last))
        };
        let file = if named.len() <= PATH && !named.contains(['\n', '\'', ' ']) {
            named
        } else {
            "FILE"
        };
        let find = match self.rest {
            Some(_) => format!("; to find a word in the rest: grep -n WORD {file}"),
            None => String::new(),
        };
        self.opening = format!("[{which} of {of}{find}]\n");
        self
    }
}

/// Whether a line is a page's opening one.
pub fn is_opening(line: &str) -> bool {
    let inside = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    let rest = inside.and_then(|inside| {
        inside
            .strip_prefix("lines ")
            .or_else(|| inside.strip_prefix("line "))
    });
    let numbers = rest.map(|rest| rest.split_once("; ").map_or(rest, |(numbers, _)| numbers));
    let number =
        |text: &str| !text.is_empty() && text.chars().all(|char| char.is_ascii_digit() || char == ',');
    numbers
        .and_then(|numbers| numbers.split_once(" of "))
        .is_some_and(|(which, of)| {
            let (first, last) = which.split_once('–').unwrap_or((which, which));
            number(first) && number(last) && number(of)
        })
}

/// The lines of a file, the last one counted also without its newline; none for a file that cannot be read or is very long.
fn count_lines(path: &Path) -> Option<u64> {
    let file = open(path).ok()?;
    if file.metadata().ok()?.len() > COUNTED {
        return None;
    }
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let (mut lines, mut last) = (0, b'\n');
    loop {
        let block = reader.fill_buf().ok()?;
        let Some(end) = block.last() else { break };
        last = *end;
        lines += memchr::memchr_iter(b'\n', block).count() as u64;
        let used = block.len();
        reader.consume(used);
    }
    Some(lines + u64::from(last != b'\n'))
}

/// The most bytes that a page's closing line takes.
pub const CLOSING: usize = 160;

/// One page of a file. `budget` is the most bytes of its lines, numbers and newlines counted.
pub fn page(path: &Path, range: Range, budget: usize) -> Result<Page, ReadError> {
    if range.offset == 0 || range.limit == 0 || range.column == 0 {
        return Err(ReadError::Range);
    }
    let io = |source| ReadError::Io {
        path: path.to_owned(),
        source,
    };
    let mut reader = BufReader::with_capacity(64 * 1024, open(path)?);
    let first = reader.fill_buf().map_err(io)?;
    if let Some(encoding) = text::marked(first).or_else(|| text::wide(first)) {
        let path = path.to_owned();
        return Err(ReadError::Encoding { path, encoding });
    }
    if first.contains(&0) {
        return Err(ReadError::Binary(path.to_owned()));
    }
    let bom = first.starts_with(BOM);
    if bom {
        reader.consume(BOM.len());
    }
    Pager {
        range,
        budget,
        at: if bom { BOM.len() as u64 } else { 0 },
        out: String::new(),
        bad: Vec::new(),
        first_bad: None,
    }
    .run(&mut reader)
    .map_err(io)
}

/// A line as far as a page needs it.
#[derive(Default)]
struct Line {
    /// Its content from the column asked for, at most a little over the budget.
    text: Vec<u8>,
    /// Bytes of the whole line, its ending left out.
    bytes: usize,
    /// Bytes of it in the file, its ending counted.
    raw: usize,
    /// Whether a newline ended it.
    ended: bool,
}

/// Whether a line went onto the page.
enum Added {
    Whole,
    Cut(Page),
    No,
}

struct Pager {
    range: Range,
    budget: usize,
    /// Where in the file the present line starts.
    at: u64,
    out: String,
    /// Lines that are no UTF-8, as many as tell an encoding, and where in the file the first bad byte is.
    bad: Vec<u8>,
    first_bad: Option<u64>,
}

/// Bytes of such lines that are looked at.
const LOOKED_AT: usize = 8192;

impl Pager {
    fn run(mut self, reader: &mut impl BufRead) -> io::Result<Page> {
        let last = self.range.offset.saturating_add(self.range.limit);
        let mut number = 1;
        loop {
            let wanted = number >= self.range.offset;
            let skip = if number == self.range.offset {
                self.range.column - 1
            } else {
                0
            };
            let line = next_line(reader, skip, if wanted { self.budget + 4 } else { 0 })?;
            let Some(line) = line else { return Ok(self.end()) };
            if number == last {
                return Ok(self.more(number));
            }
            match if wanted {
                self.add(number, skip, &line)
            } else {
                Added::Whole
            } {
                Added::Whole => {
                    number += 1;
                    self.at += line.raw as u64;
                }
                Added::Cut(page) => return Ok(page),
                Added::No => return Ok(self.more(number)),
            }
        }
    }

    /// Adds a line when it fits. The first line of a page is always added, cut to the budget.
    fn add(&mut self, number: usize, skip: usize, line: &Line) -> Added {
        let rest = line.bytes.saturating_sub(skip);
        let label = format!("{number}\t");
        let taken = self.out.len() + label.len() + 1;
        let room = self.budget.saturating_sub(taken);
        if rest <= room && (taken <= self.budget || self.out.is_empty()) {
            let ending = if line.ended {
                ""
            } else {
                "[no newline at the end of the file]\n"
            };
            let text = String::from_utf8_lossy(&line.text);
            if text.len() <= room {
                let _ = write!(self.out, "{label}{text}\n{ending}");
                self.look(&line.text, skip);
                return Added::Whole;
            }
        }
        if !self.out.is_empty() {
            return Added::No;
        }
        let cut = self.cut(number, skip, line, room);
        self.look(&line.text[..cut.1], skip);
        Added::Cut(Page {
            not_utf8: self.not_utf8(),
            ..cut.0
        })
    }

    /// Notes bytes of the page that are no UTF-8. `skip` is where in the present line they begin.
    fn look(&mut self, shown: &[u8], skip: usize) {
        let Err(bad) = std::str::from_utf8(shown) else {
            return;
        };
        let at = self.at + (skip + bad.valid_up_to()) as u64;
        self.first_bad.get_or_insert(at);
        if self.bad.len() < LOOKED_AT {
            self.bad.extend_from_slice(&shown[..shown.len().min(LOOKED_AT)]);
            self.bad.push(b'\n');
        }
    }

    fn not_utf8(&self) -> Option<(u64, &'static str)> {
        self.first_bad.map(|at| (at, text::likely(&self.bad)))
    }

    /// A page of the start of one line. Bytes that are no UTF-8 take more room shown than they have.
    /// Also says how many bytes of the line's text it has.
    fn cut(&self, number: usize, skip: usize, line: &Line, room: usize) -> (Page, usize) {
        let mut cut = floor_char(&line.text, room);
        let mut text = String::from_utf8_lossy(&line.text[..cut]);
        while text.len() > room && cut > 1 {
            cut = floor_char(&line.text, cut - (text.len() - room).div_ceil(3));
            text = String::from_utf8_lossy(&line.text[..cut]);
        }
        cut = word_start(&line.text, cut);
        text = String::from_utf8_lossy(&line.text[..cut]);
        let next = skip + cut + 1;
        let page = Page {
            opening: String::new(),
            lines: format!("{number}\t{text}\n"),
            closing: format!(
                "[line {} has {}, {} shown: call again with offset {number} and column {next}]",
                grouped(number as u64),
                counted(line.bytes as u64, "byte"),
                range(skip as u64 + 1, (skip + cut) as u64),
            ),
            rest: Some(Rest {
                from: self.at + (skip + cut) as u64,
                line: number as u64,
                column: Some(next as u64),
            }),
            not_utf8: None,
        };
        (page, cut)
    }

    fn end(self) -> Page {
        let nothing = if self.out.is_empty() {
            "(no lines in range)\n"
        } else {
            ""
        };
        Page {
            opening: String::new(),
            not_utf8: self.not_utf8(),
            lines: self.out + nothing,
            closing: "[end of file]".to_owned(),
            rest: None,
        }
    }

    fn more(self, number: usize) -> Page {
        Page {
            opening: String::new(),
            not_utf8: self.not_utf8(),
            lines: self.out,
            closing: format!("[more: call again with offset {number}]"),
            rest: Some(Rest {
                from: self.at,
                line: number as u64,
                column: None,
            }),
        }
    }
}

/// Where to cut so that at most `room` bytes stay and no character is parted.
fn floor_char(bytes: &[u8], room: usize) -> usize {
    let mut at = room.min(bytes.len());
    while at > 0 && at < bytes.len() && bytes[at] & 0xC0 == 0x80 {
        at -= 1;
    }
    if at == 0 { room.min(bytes.len()) } else { at }
}

/// Reads a line, holding at most `keep` of its bytes from `skip` on and counting all.
fn next_line(reader: &mut impl BufRead, skip: usize, keep: usize) -> io::Result<Option<Line>> {
    let mut line = Line::default();
    let mut last = 0;
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            return Ok((line.bytes > 0).then_some(line));
        }
        let end = memchr::memchr(b'\n', block);
        let part = &block[..end.unwrap_or(block.len())];
        let from = skip.saturating_sub(line.bytes).min(part.len());
        let room = keep.saturating_sub(line.text.len()).min(part.len() - from);
        line.text.extend_from_slice(&part[from..from + room]);
        line.bytes += part.len();
        last = part.last().copied().unwrap_or(last);
        let used = part.len() + usize::from(end.is_some());
        line.raw += used;
        reader.consume(used);
        if end.is_some() {
            if last == b'\r' && line.bytes > 0 {
                line.bytes -= 1;
                line.text.truncate(line.bytes.saturating_sub(skip));
            }
            line.ended = true;
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests make the files they read")]
    use super::*;

    fn read(bytes: &[u8], offset: usize, limit: usize, column: usize, budget: usize) -> String {
        let page = paged(bytes, offset, limit, column, budget);
        page.lines + &page.closing
    }

    fn paged(bytes: &[u8], offset: usize, limit: usize, column: usize, budget: usize) -> Page {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, bytes).unwrap();
        page(
            &path,
            Range {
                offset,
                limit,
                column,
            },
            budget,
        )
        .unwrap()
    }

    #[test]
    fn lines_are_numbered_and_the_end_is_said() {
        assert_eq!(read(b"a\r\nb\n", 1, 100, 1, 4096), "1\ta\n2\tb\n[end of file]");
        assert_eq!(
            read(b"a\nb\n", 3, 100, 1, 4096),
            "(no lines in range)\n[end of file]"
        );
        assert_eq!(read(b"", 1, 100, 1, 4096), "(no lines in range)\n[end of file]");
        assert_eq!(
            read(b"a\nb", 2, 1, 1, 99),
            "2\tb\n[no newline at the end of the file]\n[end of file]"
        );
    }

    #[test]
    fn a_page_ends_at_its_limit_and_at_its_budget() {
        assert_eq!(
            read(b"a\nb\nc\n", 1, 2, 1, 4096),
            "1\ta\n2\tb\n[more: call again with offset 3]"
        );
        assert_eq!(
            read(b"aaaa\nbbbb\nc\n", 1, 9, 1, 14),
            "1\taaaa\n2\tbbbb\n[more: call again with offset 3]"
        );
        assert_eq!(
            read(b"aaaa\nbbbbb\nc\n", 1, 9, 1, 14),
            "1\taaaa\n[more: call again with offset 2]"
        );
    }

    #[test]
    fn a_page_of_a_part_says_above_it_which_lines_of_how_many_it_has() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "x\n".repeat(12_344) + "last").unwrap();
        let opening = |named: &str, offset, limit, column, budget| {
            let range = Range {
                offset,
                limit,
                column,
            };
            page(&path, range, budget)
                .unwrap()
                .opened(&path, named, range)
                .opening
        };
        for (told, line) in [
            (
                opening("f", 1, 80, 1, 9_999),
                "[lines 1–80 of 12,345; to find a word in the rest: grep -n WORD f]\n",
            ),
            (
                opening("f", 81, 1, 1, 9_999),
                "[line 81 of 12,345; to find a word in the rest: grep -n WORD f]\n",
            ),
            (
                opening("a b", 12_340, 80, 1, 9_999),
                "[lines 12,340–12,345 of 12,345]\n",
            ),
            (
                opening("a b", 1, 2, 1, 9_999),
                "[lines 1–2 of 12,345; to find a word in the rest: grep -n WORD FILE]\n",
            ),
            (
                opening("f", 12_345, 9, 1, 8),
                "[line 12,345 of 12,345; to find a word in the rest: grep -n WORD f]\n",
            ),
            (opening("f", 1, 20_000, 1, 999_999), ""),
            (opening("f", 20_000, 1, 1, 9_999), ""),
        ] {
            assert_eq!(told, line);
            assert!(told.is_empty() || is_opening(told.trim_end()), "{told}");
        }
        assert!(opening(&"é".repeat(60), 1, 2, 1, 9_999).len() <= OPENING);
        for other in [
            "[lines 31-90 are not shown; to find]",
            "[line 3 of it]",
            "lines 1–2 of 3",
            "[lines – of ]",
        ] {
            assert!(!is_opening(other), "{other}");
        }
    }

    #[test]
    fn what_comes_after_a_page_is_known_to_the_byte() {
        let rest = |from, line, column| Some(Rest { from, line, column });
        assert_eq!(paged(b"a\r\nb\nc\n", 1, 2, 1, 99).rest, rest(5, 3, None));
        assert_eq!(paged(b"\xEF\xBB\xBFaa\nb\n", 1, 1, 1, 99).rest, rest(6, 2, None));
        assert_eq!(paged(b"x\nabcdef\n", 2, 1, 3, 5).rest, rest(6, 2, Some(5)));
        assert_eq!(paged(b"a\n", 1, 9, 1, 99).rest, None);
    }

    #[test]
    fn numbers_and_bytes_that_are_no_text_count_as_they_are_shown() {
        let short = "\n".repeat(50_000);
        let page = paged(short.as_bytes(), 1, 50_000, 1, 4_096);
        assert!(
            page.lines.len() <= 4_096 && page.lines.len() > 4_080,
            "{}",
            page.lines.len()
        );
        let bad = [0xff_u8; 9_000];
        let page = paged(&bad, 1, 1, 1, 3_000);
        assert!(
            page.lines.len() <= 3_000 && page.lines.len() > 2_980,
            "{}",
            page.lines.len()
        );
        assert_eq!(page.rest.unwrap().from, 999);
    }

    #[test]
    fn a_file_without_newlines_is_read_a_page_at_a_time() {
        let first = read("ab漢字".as_bytes(), 1, 9, 1, 9);
        assert_eq!(
            first,
            "1\tab漢\n[line 1 has 8 bytes, 1–5 shown: call again with offset 1 and column 6]"
        );
        let rest = read("ab漢字".as_bytes(), 1, 9, 6, 9);
        assert_eq!(rest, "1\t字\n[no newline at the end of the file]\n[end of file]");
    }

    #[test]
    fn a_byte_order_mark_is_not_shown() {
        assert_eq!(
            read(b"\xEF\xBB\xBFusing System;\n", 1, 1, 1, 99),
            "1\tusing System;\n[end of file]"
        );
    }

    #[test]
    fn what_cannot_be_seen_in_a_page_is_remarked() {
        let remark = |bytes: &[u8]| paged(bytes, 1, 9, 1, 4096).remark();
        assert_eq!(
            remark(b"un\ncaf\xE9 au lait\n").unwrap(),
            "[not UTF-8, likely windows-1252: bytes that are no text are shown as \u{fffd} (the first is at offset 6); \
             edit_file does not edit such a file, convert it with iconv]"
        );
        assert_eq!(
            remark("foo\u{200b}bar\n".as_bytes()).unwrap(),
            "[line 1, column 4: U+200B (zero width space)]"
        );
        assert_eq!(remark("größe \u{fffd} 漢\n".as_bytes()), None);
        let worst = format!("{}\n", "\u{feff}\u{202f}".repeat(300)).into_bytes();
        let worst = [&b"x\xE9\n"[..], &worst].concat();
        assert!(
            remark(&worst).is_some_and(|text| text.len() <= REMARK),
            "{:?}",
            remark(&worst)
        );
        let mut cut = "x".repeat(20).into_bytes();
        cut.push(0xE9);
        assert_eq!(paged(&cut, 1, 1, 1, 12).remark(), None, "not on this page");
    }

    #[test]
    fn wide_text_is_named_and_told_how_to_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, b"\xFF\xFEa\0b\0").unwrap();
        let range = Range {
            offset: 1,
            limit: 1,
            column: 1,
        };
        let error = page(&path, range, 99).unwrap_err().to_string();
        let path = path.display();
        let told = format!(
            "not UTF-8: {path} is likely UTF-16LE; read it with run_command: iconv -f UTF-16LE -t UTF-8 {path}"
        );
        assert_eq!(error, told);
    }

    #[test]
    fn what_is_no_regular_file_is_refused_before_it_is_opened() {
        let range = Range {
            offset: 1,
            limit: 1,
            column: 1,
        };
        let error = |path: &str| page(Path::new(path), range, 99).unwrap_err().to_string();
        assert_eq!(
            error("/dev/zero"),
            "not a regular file: /dev/zero is a device, which read_file does not read; give the path of a text file"
        );
        let root = error("/");
        assert!(root.starts_with("path is a directory: /; it has "), "{root}");
        assert!(
            root.ends_with("; read one of its files, or list it with run_command: ls -la /"),
            "{root}"
        );
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("x").display().to_string();
        assert_eq!(
            error(&missing),
            format!("file not found: {missing}; the directory is empty")
        );
        assert!(error(&dir.path().join("*.rs").display().to_string()).contains("takes one path"));
    }
}
