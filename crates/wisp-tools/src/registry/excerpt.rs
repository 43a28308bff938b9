//! What the user is shown of an output unasked: its first lines, the lines that say what went wrong, its last lines and
//! the end of what it printed as errors. A failure's last line says more than its first twenty.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use wisp_digest::{Digest, Options, digest_reader};
use wisp_exec::StreamOutput;
use wisp_output::Piece;

use super::admit::pieces;
use crate::tool::{Body, Ending};

/// The most bytes of an output that is shown whole, and of the lines of one that is not.
const BYTES: usize = 2 * 1024;
/// The most bytes of a line of an output that is not shown whole.
const LINE: usize = 400;
/// How many times as many lines a command shows that failed.
const FAILED: usize = 2;

/// A stretch of what was printed, standard output before standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The number of its first line, from 1.
    pub first: u64,
    /// Its lines, without the newline that ends the last.
    pub text: String,
}

/// A stream: how many lines it has, and its bytes.
struct Source<'a> {
    lines: u64,
    pieces: Box<dyn Fn() -> Vec<Piece<'a>> + 'a>,
}

/// The stretches of an output that are shown: at most `most` lines, twice as many of a command that failed. All of it
/// where it has no more, and at most 2 KiB.
pub(super) fn excerpt(body: &Body, ending: &Ending, most: usize) -> Vec<Excerpt> {
    let sources = sources(body);
    let failed = matches!(body, Body::Command { .. }) && *ending != Ending::Exit(0);
    let most = if failed { most.saturating_mul(FAILED) } else { most };
    if most == 0 {
        return Vec::new();
    }
    let total: u64 = sources.iter().map(|source| source.lines).sum();
    if total <= most as u64 {
        let all = read(&sources, &(1..=total).collect(), BYTES + 1);
        if all.values().map(|line| line.len() + 1).sum::<usize>() <= BYTES {
            return joined(all);
        }
    }
    let mut wanted = chosen(&sources, most);
    if matches!(body, Body::Command { .. }) {
        let room = most.saturating_sub(wanted.len()).max(most * 3 / 10);
        let notable = notable(&sources).into_iter();
        let fresh: Vec<u64> = notable.filter(|line| !wanted.contains(line)).take(room).collect();
        let over = (wanted.len() + fresh.len()).saturating_sub(most);
        make_room(&mut wanted, over);
        wanted.extend(fresh);
    }
    joined(bounded(read(&sources, &wanted, LINE + 1)))
}

fn sources(body: &Body) -> Vec<Source<'_>> {
    match body {
        Body::Text(text) | Body::Page(text) => vec![of_text(text)],
        Body::File { page, .. } => vec![
            of_text(&page.opening),
            of_text(&page.lines),
            of_text(&page.closing),
        ],
        Body::Command { outcome, .. } => vec![of_stream(&outcome.stdout), of_stream(&outcome.stderr)],
    }
}

fn of_text(text: &str) -> Source<'_> {
    Source {
        lines: text.lines().count() as u64,
        pieces: Box::new(|| vec![Piece::Bytes(Box::new(text.as_bytes()))]),
    }
}

fn of_stream(printed: &StreamOutput) -> Source<'_> {
    Source {
        lines: printed.lines(),
        pieces: Box::new(|| pieces(printed)),
    }
}

/// The lines of the beginning and the end, of the last stream at least three tenths of them.
fn chosen(sources: &[Source<'_>], most: usize) -> BTreeSet<u64> {
    let mut wanted = BTreeSet::new();
    let mut room = most as u64;
    let mut from = 1;
    for (at, source) in sources.iter().enumerate() {
        let later: u64 = sources[at + 1..].iter().map(|source| source.lines).sum();
        let share = source
            .lines
            .min(room - later.min((most as u64 * 3).div_ceil(10)).min(room));
        let end = from + source.lines;
        let head = if share == source.lines { share } else { share / 4 };
        wanted.extend(from..from + head);
        wanted.extend(end - (share - head)..end);
        room -= share;
        from = end;
    }
    wanted
}

/// Takes away so many lines, each from the longest stretch: of the beginning its last, of the others their first.
fn make_room(wanted: &mut BTreeSet<u64>, lines: usize) {
    for _ in 0..lines {
        let mut longest = 0..0;
        let mut current = 0..0;
        for line in wanted.iter().copied() {
            current = if line == current.end {
                current.start..line + 1
            } else {
                line..line + 1
            };
            if current.end - current.start >= longest.end - longest.start {
                longest = current.clone();
            }
        }
        let gone = if longest.start == 1 {
            longest.end.saturating_sub(1)
        } else {
            longest.start
        };
        wanted.remove(&gone);
    }
}

/// The lines that a digest calls failures, with what explains them, in order.
fn notable(sources: &[Source<'_>]) -> Vec<u64> {
    let mut lines = BTreeSet::new();
    let mut base = 0;
    for source in sources {
        // Line numbers hold up to the stretch that was not kept.
        let kept = (source.pieces)().into_iter().next();
        if let Some(Piece::Bytes(reader)) = kept
            && let Ok(digest) = digest_reader(reader, Options::default())
        {
            lines.extend(of_digest(&digest).map(|line| base + line));
        }
        base += source.lines;
    }
    lines.into_iter().collect()
}

fn of_digest(digest: &Digest) -> impl Iterator<Item = u64> {
    let failures = digest.failures.iter();
    let failures = failures.flat_map(|failure| {
        let explained = failure.explain.iter().map(|quote| quote.line);
        std::iter::once(failure.lines.first).chain(explained)
    });
    failures.chain(digest.unexplained.first.iter().map(|quote| quote.line))
}

/// The wanted lines, each cut at `cut` bytes. Where a line was drawn over itself its last state counts.
fn read(sources: &[Source<'_>], wanted: &BTreeSet<u64>, cut: usize) -> BTreeMap<u64, Vec<u8>> {
    let mut lines = BTreeMap::new();
    let mut base = 0;
    for source in sources {
        let mut number = base + 1;
        for piece in (source.pieces)() {
            match piece {
                Piece::Bytes(reader) => read_piece(reader, &mut number, wanted, cut, &mut lines),
                Piece::Missing { newlines, .. } => number += newlines,
            }
        }
        base += source.lines;
    }
    lines
}

fn read_piece(
    mut reader: Box<dyn Read + '_>,
    number: &mut u64,
    wanted: &BTreeSet<u64>,
    cut: usize,
    lines: &mut BTreeMap<u64, Vec<u8>>,
) {
    let mut buffer = vec![0; 64 * 1024];
    // What cannot be read back is not shown.
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        let mut rest = &buffer[..count];
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let (bytes, ended) = (&rest[..end.unwrap_or(rest.len())], end.is_some());
            if wanted.contains(number) {
                add(lines.entry(*number).or_default(), bytes, cut);
            }
            rest = &rest[(bytes.len() + usize::from(ended)).min(rest.len())..];
            *number += u64::from(ended);
        }
    }
}

fn add(line: &mut Vec<u8>, bytes: &[u8], cut: usize) {
    let bytes = &bytes[..bytes.len().min(cut.saturating_sub(line.len()))];
    line.extend_from_slice(bytes);
}

/// Lines of bounded length, as many of the first and the last as there is room for.
fn bounded(lines: BTreeMap<u64, Vec<u8>>) -> BTreeMap<u64, Vec<u8>> {
    let mut cut: Vec<(u64, Vec<u8>)> = lines
        .into_iter()
        .map(|(at, line)| (at, shortened(line)))
        .collect();
    let size = |lines: &[(u64, Vec<u8>)]| lines.iter().map(|(_, line)| line.len() + 1).sum::<usize>();
    while cut.len() > 2 && size(&cut) > 2 * BYTES {
        cut.remove(cut.len() / 2);
    }
    cut.into_iter().collect()
}

fn shortened(mut line: Vec<u8>) -> Vec<u8> {
    if line.len() > LINE {
        let mut at = LINE;
        // Not within a character.
        while at > LINE - 4 && line[at] & 0xC0 == 0x80 {
            at -= 1;
        }
        line.truncate(at);
        line.extend_from_slice("…".as_bytes());
    }
    line
}

/// Lines that follow each other as one stretch.
fn joined(lines: BTreeMap<u64, Vec<u8>>) -> Vec<Excerpt> {
    let mut parts: Vec<(u64, Excerpt)> = Vec::new();
    for (number, line) in lines {
        let line = String::from_utf8_lossy(&line);
        match parts.last_mut() {
            Some((last, part)) if *last + 1 == number => {
                part.text.push('\n');
                part.text.push_str(&line);
                *last = number;
            }
            _ => parts.push((
                number,
                Excerpt {
                    first: number,
                    text: line.into_owned(),
                },
            )),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

#[cfg(test)]
mod tests {
    use wisp_exec::{CommandSpec, Ending as Ended};

    use super::*;

    fn ran(line: &str) -> (Body, Ending) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let outcome = runtime
            .block_on(wisp_exec::run(CommandSpec::shell(line)))
            .unwrap();
        let Ended::Exited { code } = outcome.ending else {
            panic!("{:?}", outcome.ending)
        };
        let body = Body::Command {
            header: String::new(),
            outcome: Box::new(outcome),
            footer: String::new(),
        };
        (body, Ending::Exit(code))
    }

    fn of(line: &str, most: usize) -> Vec<(u64, String)> {
        let (body, ending) = ran(line);
        let parts = excerpt(&body, &ending, most).into_iter();
        parts.map(|part| (part.first, part.text)).collect()
    }

    fn lines(numbers: std::ops::RangeInclusive<u64>) -> String {
        numbers.map(|n| n.to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_long_output_shows_its_beginning_its_end_and_the_end_of_stderr() {
        assert_eq!(
            of("seq 1 3000; echo boom >&2", 10),
            [(1, lines(1..=2)), (2994, lines(2994..=3000) + "\nboom")]
        );
        assert_eq!(
            of("seq 1 3000; seq 1 3000 >&2", 10),
            [
                (1, "1".into()),
                (2995, lines(2995..=3000)),
                (5998, lines(2998..=3000))
            ]
        );
    }

    #[test]
    fn a_command_that_failed_shows_twice_as_much() {
        assert_eq!(
            of("seq 1 3000; echo boom >&2; exit 3", 10),
            [(1, lines(1..=4)), (2986, lines(2986..=3000) + "\nboom")]
        );
        assert_eq!(of("seq 1 20; exit 1", 10), [(1, lines(1..=20))]);
        assert_eq!(of("seq 1 10", 10), [(1, lines(1..=10))]);
        assert_eq!(
            of("seq 1 11", 10)
                .iter()
                .map(|(_, text)| text.lines().count())
                .sum::<usize>(),
            10
        );
    }

    #[test]
    fn what_a_digest_calls_a_failure_is_among_the_lines() {
        let parts = of(
            "seq 1 50; echo 'src/a.c:7:2: error: no such member'; seq 52 100",
            10,
        );
        let shown: usize = parts.iter().map(|(_, text)| text.lines().count()).sum();
        assert_eq!(shown, 10, "{parts:?}");
        let error = "src/a.c:7:2: error: no such member";
        let holds = |(first, text): &(u64, String)| *first == 51 && text.starts_with(error);
        assert!(parts.iter().any(holds), "{parts:?}");
        assert!(
            parts.last().is_some_and(|(_, text)| text.ends_with("\n100")),
            "{parts:?}"
        );
    }

    #[test]
    fn what_fits_is_shown_to_the_byte_and_nothing_is_shown_where_nothing_is_wanted() {
        let whole = format!("{}é", "x".repeat(BYTES - 3));
        let shown = |text: &str| excerpt(&Body::Text(text.to_owned()), &Ending::Done, 10);
        assert_eq!(shown(&format!("{whole}\n"))[0].text, whole);
        assert_eq!(
            shown(&format!("{}\n", "x".repeat(BYTES)))[0].text,
            format!("{}…", "x".repeat(LINE))
        );
        assert_eq!(
            shown("\u{e9}".repeat(BYTES).as_str())[0].text,
            format!("{}…", "é".repeat(LINE / 2))
        );
        assert_eq!(excerpt(&Body::Text("a\n".into()), &Ending::Done, 0), []);
        assert_eq!(shown(""), []);
    }

    #[test]
    fn one_line_of_room_shows_the_last() {
        assert_eq!(of("seq 1 30", 1), [(30, "30".into())]);
    }
}
