//! Stored outputs as a face looks at them: a page, a search, a digest, or the whole with the account of it.

use std::path::PathBuf;
use std::sync::Arc;

use wisp_output::content::Section;
use wisp_output::pages::Pages;
use wisp_output::recall::Matcher;
use wisp_output::search::{Direction, search as search_in};
use wisp_output::store::{Shelf, StoreError};
use wisp_output::{Kept, content::Content, streams};

use crate::conversation::{Conversation, Shown};
use crate::places::Places;
use crate::printed::Printed;
use crate::protocol::{Event, HeldRange, OutputView, View, ViewKind};
use crate::saved::shown;

/// The most bytes of a digest's text in a view.
pub(crate) const DIGEST: usize = 16 * 1024;

/// What a face searches for.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// A regular expression, or a literal when it is none.
    pub pattern: &'a str,
    /// The line to start from, from 1.
    pub from_line: u64,
    /// Towards the start.
    pub backwards: bool,
}

/// Page `number` of an output, or a view that says why there is none. `places` remembers the lines of the pages that
/// were asked for before.
pub fn page((shelf, printed): (&Shelf, &Printed), id: &str, number: u64, places: &mut Places) -> View {
    if let Some(one) = printed.unkept(id) {
        return one.page();
    }
    match shelf
        .open(id)
        .map_err(|e| e.to_string())
        .and_then(|kept| page_of(&kept, number, places))
    {
        Ok(mut view) => {
            if let Some(output) = &mut view.output {
                output.path = path_of(shelf, &output.id);
            }
            view
        }
        Err(why) => match printed.known(id) {
            Some(one) => swept(&one, &why),
            None => missing(id, why),
        },
    }
}

/// What the model was shown of an output whose stored whole is no longer there, and why it is not.
fn swept(one: &Shown, why: &str) -> View {
    let mut view = one.page();
    if let Some(output) = &mut view.output {
        output.about =
            format!("the stored whole is not there ({why}); this is what the model was shown of it");
    }
    view
}

fn page_of(kept: &Kept, number: u64, places: &mut Places) -> Result<View, String> {
    page_in(kept.content.clone(), kept, number, places)
}

/// A page of `content`, which is what `kept` has: two reads of it, wherever it is, when the record knows its lines.
fn page_in(content: impl Content, kept: &Kept, number: u64, places: &mut Places) -> Result<View, String> {
    let mut pages = Pages::new(content);
    let page = pages.page(number).map_err(|e| e.to_string())?;
    let page =
        page.ok_or_else(|| format!("output {} has {} pages", kept.record.shown_id(), pages.count()))?;
    let record = &kept.record;
    let file_line = record.file_line(&page);
    let known = file_line.map_or_else(|| places.first_line(&record.id, &mut pages, &page), Ok);
    let file_line = known.map_err(|e| e.to_string())?;
    let (first_line, frames) = numbered(&record.sections, file_line, &page.bytes);
    let view = OutputView {
        page: number,
        pages: pages.count(),
        first_line,
        frames,
        ..described(kept)
    };
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    Ok(View {
        kind: ViewKind::Output,
        turn: None,
        text,
        output: Some(view),
    })
}

/// The number of the first line of a page whose bytes begin in line `first` of the file, and which of its lines are
/// frames.
pub(crate) fn numbered(sections: &[Section], first: u64, bytes: &[u8]) -> (u64, Vec<u64>) {
    if sections.is_empty() {
        return (first, Vec::new());
    }
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
    let lines = lines - u64::from(bytes.last().is_none_or(|last| *last == b'\n'));
    let number = |at: u64| streams::number_of(sections, first + at);
    let frames = (0..lines).filter(|at| number(*at).is_none()).collect();
    let none_after = || {
        let passed = sections.iter().filter(|section| section.line < first);
        passed.map(|section| section.lines).sum::<u64>() + 1
    };
    ((0..lines).find_map(number).unwrap_or_else(none_after), frames)
}

/// What is known of a stored output.
fn described(kept: &Kept) -> OutputView {
    let record = &kept.record;
    let held = |h: &wisp_output::HeldBack| HeldRange {
        from_line: h.from_line,
        to_line: h.to_line,
        bytes: h.bytes,
    };
    OutputView {
        id: record.id.clone(),
        lines: record.lines,
        bytes: record.printed(),
        title: format!("{} {}", record.tool, record.arguments)
            .trim_end()
            .to_owned(),
        about: about(kept),
        held: record.held.iter().map(held).collect(),
        ..OutputView::default()
    }
}

/// One sentence on what is shown: the whole with its size, and what the ceiling cut.
pub fn about(kept: &Kept) -> String {
    let record = &kept.record;
    let size = size(record.lines, record.printed());
    match record.cut() {
        None => format!("output {}: the whole, {size}", record.shown_id()),
        Some(cut) => format!(
            "output {}: {size} kept of {}; {} in the middle were not kept (the ceiling is {})",
            record.shown_id(),
            self::size(record.total_lines, record.total_printed()),
            self::size(cut.lines, cut.bytes),
            wisp_output::amount::size(cut.ceiling),
        ),
    }
}

fn size(lines: u64, bytes: u64) -> String {
    let noun = if lines == 1 { "line" } else { "lines" };
    format!(
        "{} {noun} ({})",
        wisp_output::amount::grouped(lines),
        wisp_output::amount::size(bytes)
    )
}

fn missing(id: &str, why: String) -> View {
    let output = OutputView {
        id: id.to_owned(),
        about: why,
        pages: 0,
        ..OutputView::default()
    };
    View {
        kind: ViewKind::Output,
        turn: None,
        text: String::new(),
        output: Some(output),
    }
}

/// Where a pattern occurs next in an output.
pub fn search((shelf, printed): (&Shelf, &Printed), id: &str, wanted: &Search<'_>) -> Event {
    if let Some(one) = printed.unkept(id) {
        return one.search(wanted);
    }
    let hit = found(shelf, id, wanted).ok().flatten();
    Event::Found {
        id: id.to_owned(),
        pattern: wanted.pattern.to_owned(),
        line: hit.map(|(line, _)| line),
        page: hit.map(|(_, page)| page),
    }
}

fn found(shelf: &Shelf, id: &str, wanted: &Search<'_>) -> Result<Option<(u64, u64)>, String> {
    let kept = shelf.open(id).map_err(|e| e.to_string())?;
    let (streams, pages) = (kept.streams(), Pages::new(kept.content));
    let Some((line, at)) = found_in(streams.clone(), wanted)? else {
        return Ok(None);
    };
    let page = pages.page_of(streams.in_file(at)).map_err(|e| e.to_string())?;
    Ok(Some((line, page)))
}

/// The line a pattern occurs in next, and where that line starts, in bytes.
pub(crate) fn found_in<C: Content>(content: C, wanted: &Search<'_>) -> Result<Option<(u64, u64)>, String> {
    let matcher = Matcher::new(wanted.pattern).map_err(|e| e.to_string())?;
    let mut pages = Pages::new(content);
    let direction = if wanted.backwards {
        Direction::Backward
    } else {
        Direction::Forward
    };
    let hit = search_in(&mut pages, &matcher, wanted.from_line, direction).map_err(|e| e.to_string())?;
    let Some(hit) = hit else { return Ok(None) };
    let at = pages
        .line_start(hit.line)
        .map_err(|e| e.to_string())?
        .unwrap_or(0);
    Ok(Some((hit.line, at)))
}

/// The digest of an output.
pub fn digest((shelf, printed): (&Shelf, &Printed), id: &str) -> View {
    let text = match printed.unkept(id) {
        Some(one) => Ok(one.digest()),
        None => shelf
            .open(id)
            .map_err(|e| e.to_string())
            .and_then(|kept| digest_of(&kept)),
    };
    let text = text.unwrap_or_else(|why| why);
    View {
        kind: ViewKind::Digest,
        turn: None,
        text,
        output: None,
    }
}

/// What matters in a stored output, read without a model.
pub fn digest_of(kept: &Kept) -> Result<String, String> {
    digest_within(kept, DIGEST)
}

/// The same in at most `room` bytes.
pub fn digest_within(kept: &Kept, room: usize) -> Result<String, String> {
    let exit = kept.record.exit.as_deref().and_then(wisp_tools::exit_status);
    let streams = kept.streams();
    let reader = wisp_output::content::Stretch::all(&streams);
    let options = wisp_digest::Options { exit };
    let mut digest = wisp_digest::digest_reader(reader, options).map_err(|e| e.to_string())?;
    digest.bytes = streams.printed();
    Ok(digest.render(room, wisp_digest::View::Notable))
}

/// The stored file of an output: under the folder of one of the sessions.
pub fn path_of(shelf: &Shelf, id: &str) -> Option<PathBuf> {
    let sessions = std::fs::read_dir(shelf.root()).ok()?;
    sessions
        .flatten()
        .map(|session| session.path().join(id))
        .find(|path| path.is_file())
}

/// The whole of an output for the person, by the start of its id; without one, the last. `recorded` finds it in the record
/// when it is no longer at hand.
pub(crate) fn whole(
    (shelf, printed): (&Shelf, &Printed),
    id: Option<&str>,
    recorded: impl Fn(&str) -> Option<Shown>,
) -> Result<View, String> {
    let id = id.map(|id| {
        id.trim_start_matches("entry ")
            .trim_start_matches("output ")
            .trim()
    });
    let one = match id {
        None => printed.last().ok_or("nothing has been printed yet")?,
        Some(id) => match find_shown(printed, id) {
            Ok(Some(one)) => one,
            found => match recorded(id) {
                Some(found) => Arc::new(found),
                None => return found.and_then(|_| stored(shelf, id)),
            },
        },
    };
    if one.kept {
        return stored(shelf, &one.id).or_else(|why| Ok(swept(&one, &why)));
    }
    Ok(one.page())
}

fn find_shown(printed: &Printed, id: &str) -> Result<Option<Arc<Shown>>, String> {
    let mut found = printed.beginning_with(id).into_iter();
    match (found.next(), found.next()) {
        _ if id.len() < 4 => Err("give at least four characters of the id".to_owned()),
        (Some(_), Some(_)) => Err(format!("several outputs begin with {id}: give more of it")),
        (found, _) => Ok(found),
    }
}

/// A stored output, of this conversation or of an earlier one.
fn stored(outputs: &Shelf, id: &str) -> Result<View, String> {
    let kept = outputs.open(id).map_err(|e: StoreError| e.to_string())?;
    let mut view = page_of(&kept, 0, &mut Places::default())?;
    if let Some(output) = &mut view.output {
        output.path = path_of(outputs, &kept.record.id);
    }
    Ok(view)
}

impl Conversation {
    /// The whole of an output for the person, by the start of its id; without one, the last.
    pub fn whole(&self, id: Option<&str>) -> Result<View, String> {
        let stored = Shelf::new(self.paths.home());
        whole((&stored, &self.shown), id, |id| self.recorded(id))
    }

    /// An output that is no longer at hand, as the record has it, by its id or by its entry's number.
    fn recorded(&self, id: &str) -> Option<Shown> {
        let whole = self.whole_record().ok()?;
        let number = id.parse::<u32>().ok();
        let entry = number.and_then(|number| whole.entries().iter().find(|entry| entry.id.0 == number));
        if let Some(found) = entry.and_then(shown) {
            return Some(found);
        }
        let outputs = whole.entries().iter().rev().filter_map(shown);
        outputs
            .into_iter()
            .find(|one| id.len() >= 4 && one.id.starts_with(id))
    }
}

/// What is said of an output that the store does not have.
pub(crate) fn unkept(shown: &Shown) -> OutputView {
    let why = match &shown.not_kept {
        Some(why) => format!("the whole was not kept ({why}); this is what the tool returned"),
        None => format!(
            "output {}: the whole, {}",
            wisp_host::ids::shown(&shown.id),
            size(shown.lines, shown.bytes)
        ),
    };
    let (first_line, frames) = numbered(&shown.sections(), 1, shown.text.as_bytes());
    OutputView {
        id: shown.id.clone(),
        pages: 1,
        first_line,
        frames,
        lines: shown.lines,
        bytes: shown.bytes,
        title: shown.title.clone(),
        about: why,
        held: shown.held.clone(),
        ..OutputView::default()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;

    use wisp_output::output::Output;
    use wisp_output::store::{About, Store};

    use super::*;

    /// A content that counts how often it is read.
    struct Counted<'a, C>(C, &'a Cell<u64>);

    impl<C: Content> Content for Counted<'_, C> {
        fn bytes(&self) -> u64 {
            self.0.bytes()
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            self.1.set(self.1.get() + 1);
            self.0.read_at(offset, buffer)
        }

        fn readable_to(&self, offset: u64) -> u64 {
            self.0.readable_to(offset)
        }

        fn readable_from(&self, offset: u64) -> u64 {
            self.0.readable_from(offset)
        }
    }

    #[test]
    fn a_page_as_a_front_end_asks_for_it_is_two_reads_and_at_most_64_kib() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path(), "session").unwrap();
        let mut text = (1..=100_000).fold(String::new(), |text, n| text + &format!("{n}\n"));
        text += &"x".repeat(400_000);
        let mut output = Output::text(text.as_bytes());
        let draft = store.draft("0123456789abcdef", &mut output).unwrap();
        let about = About {
            tool: "run_command".into(),
            arguments: "seq".into(),
            exit: None,
        };
        let kept = draft.commit(about, &[], jiff::Timestamp::UNIX_EPOCH).unwrap();
        let reads = Cell::new(0);
        let page = |number| {
            reads.set(0);
            let content = Counted(kept.content.clone(), &reads);
            page_in(content, &kept, number, &mut Places::default()).unwrap()
        };
        let pages = page(0).output.unwrap().pages;
        let mut whole = String::new();
        // From the end, as a jump: nothing of the pages before is known.
        for number in (0..pages).rev() {
            let view = page(number);
            assert!(reads.get() <= 2, "page {number}: {} reads", reads.get());
            assert!(view.text.len() <= 65_536, "page {number}: {}", view.text.len());
            let first = view.text.lines().next().unwrap();
            if first.len() < 9 {
                assert_eq!(view.output.unwrap().first_line.to_string(), first);
            }
            whole = view.text + &whole;
        }
        assert!(whole == text);
    }
}
