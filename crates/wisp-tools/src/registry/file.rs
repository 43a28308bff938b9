//! A file that was asked for whole and is longer than a page: the page is shown as `read_file` made it, and the file is
//! kept as an output, so that every way to a held-back output leads to its lines too, by the same numbers.
//!
//! What is kept is the file as it was when it was read. Where it cannot be kept, nothing is lost, for the file is still
//! there: the page alone is the result.

use std::path::Path;

use wisp_output::fit::{Telling, note_on};
use wisp_output::store::About as Described;
use wisp_output::{HeldBack, Kept, Measured, Output, Piece, Stream};

use super::admit::{About, Admitted, KeptRecord, line_of, page};
use crate::call::{Keep, Services};
use crate::files::read::{Page, Rest, open};

/// The page, and the note on the rest when the file was kept.
pub(super) fn read_whole(
    shown: &Page,
    path: &Path,
    admitted: Admitted,
    about: &About<'_>,
    services: &Services,
) -> Admitted {
    let closing = &shown.closing;
    let kept = shown.rest.and_then(|rest| keep(rest, path, about, services));
    let Some((kept, mut held)) = kept else {
        return page((format!("{}{}", shown.opening, shown.lines), closing), admitted);
    };
    let telling = Telling {
        keeping: kept.keeping(),
        memory: about.memory,
        ..Telling::default()
    };
    let note = note_on(std::slice::from_ref(&held), &telling);
    let before = line_of(admitted.note.as_deref()) + &shown.opening + &shown.lines;
    held.marker_at = before.len();
    let record = KeptRecord::of(&kept);
    Admitted {
        data: before.len() - shown.lines.len()..before.len(),
        shown: format!("{before}{note}\n{closing}"),
        bytes: record.total_bytes,
        lines: record.total_lines,
        printed: (record.total_bytes, record.total_lines),
        held: vec![held],
        kept: Some(record),
        ..admitted
    }
}

/// Keeps the file; what of it the model is not shown.
fn keep(rest: Rest, path: &Path, about: &About<'_>, services: &Services) -> Option<(Kept, HeldBack)> {
    let Keep::In(store) = &services.keep else {
        return None;
    };
    let file = open(path).ok()?;
    let whole = Measured {
        bytes: file.metadata().ok()?.len(),
        newlines: 0,
        dropped_ends_line: false,
    };
    let none: &[u8] = &[];
    let stream = Stream::ends(None, (none, none), whole).with_pieces(vec![Piece::Bytes(Box::new(file))]);
    let draft = store.draft(about.call, &mut Output::stream(stream)).ok()?;
    let held = held(rest, draft.record().bytes, draft.record().lines)?;
    let described = Described {
        tool: about.tool.to_owned(),
        arguments: about.arguments.clone(),
        exit: None,
    };
    let kept = draft.commit(described, std::slice::from_ref(&held), services.clock.now());
    Some((kept.ok()?, held))
}

/// The stretch from `rest` to the end of a stored file of so many bytes and lines; none when the file has shrunk since
/// its page was read.
fn held(rest: Rest, bytes: u64, lines: u64) -> Option<HeldBack> {
    if rest.from >= bytes || rest.line > lines {
        return None;
    }
    let length = bytes - rest.from;
    let within = rest.column.filter(|_| rest.line == lines);
    Some(HeldBack {
        section: None,
        from: rest.from,
        bytes: length,
        from_line: rest.line,
        to_line: lines,
        before: 0,
        within: within.map(|column| (column, column + length - 1)),
        binary: false,
        marker_at: 0,
    })
}
