//! Sharing the budget: frames and note first, then the streams in proportion, each cut to its share.

use std::io;

use crate::amount::grouped;
use crate::clean::{self, View};
use crate::content::{Content, Section, bytes_of};
use crate::streams::Streams;

use super::ends::{self, Ends};
use super::note::{self, TIERS, Tier};
use super::{Fitted, HeldBack, Telling, Whole};

/// The least part of the room that a stream with something to show gets: one in this many.
const LEAST: usize = 5;

/// Slack in the first layout that is worth a second one.
const SLACK: usize = 64;

/// Fits an output that does not fit whole.
pub(super) fn reduced(whole: Whole<'_>, budget: usize, telling: &Telling) -> io::Result<Fitted> {
    let frames = Frames::read(whole)?;
    if frames.bytes() > budget / 2 {
        return one_section(whole, budget, telling);
    }
    for tier in TIERS {
        let reserve = note_bound(whole, telling, tier);
        if let Some(room) = frames.room(whole, budget, reserve, tier) {
            return frames.laid_out(whole, (budget, room), telling, tier);
        }
    }
    Ok(bare(whole, budget))
}

/// Fits an output whose frames alone are too long: its streams as one text, which is how their lines are counted.
fn one_section(whole: Whole<'_>, budget: usize, telling: &Telling) -> io::Result<Fitted> {
    let streams = Streams::new(whole.content, whole.sections);
    let all = [Section {
        name: None,
        from: 0,
        bytes: streams.bytes(),
        line: 1,
        lines: whole.lines,
        number: 1,
        binary: whole.sections.iter().any(|section| section.binary),
    }];
    if streams.bytes() == whole.content.bytes() {
        return Ok(bare(whole, budget));
    }
    let apart = Whole {
        content: &streams,
        sections: &all,
        lines: whole.lines,
    };
    let mut fitted = reduced(apart, budget, telling)?;
    for held in &mut fitted.held {
        let end = streams.in_file(held.range().end);
        held.from = streams.in_file(held.from);
        held.bytes = end.saturating_sub(held.from);
    }
    Ok(fitted)
}

/// What is left when not even a marker fits: a sign that something is missing, if there is room for one.
fn bare(whole: Whole<'_>, budget: usize) -> Fitted {
    let sign = ["[…]", "…", ""].into_iter().find(|sign| sign.len() <= budget);
    let held = HeldBack {
        section: None,
        from: 0,
        bytes: whole.content.bytes(),
        from_line: 1,
        to_line: whole.lines.max(1),
        before: 0,
        within: None,
        binary: false,
        marker_at: 0,
    };
    Fitted {
        text: sign.unwrap_or_default().to_owned(),
        held: vec![held],
        note: 0,
    }
}

/// The longest note `tier` may come to, with the newline before it.
fn note_bound(whole: Whole<'_>, telling: &Telling, tier: Tier) -> usize {
    let lines = whole.lines + 1;
    let widest = |within| -> Vec<HeldBack> {
        whole
            .sections
            .iter()
            .map(|section| widest_hole(section, lines, within))
            .collect()
    };
    let length = |within| note::note(&widest(within), telling, tier).len();
    let inside = Some((whole.content.bytes(), whole.content.bytes() + 1));
    let quote = if tier == Tier::Full {
        note::quotation(telling).len()
    } else {
        0
    };
    length(None).max(length(inside)) + quote + 1
}

/// A hole whose numbers are as long as any of `section` can be, on a line no error is at.
fn widest_hole(section: &Section, lines: u64, within: Option<(u64, u64)>) -> HeldBack {
    HeldBack {
        section: section.name.clone(),
        from: 0,
        bytes: if section.binary { section.bytes } else { 1_023 },
        from_line: lines,
        to_line: lines + 1,
        before: section.number - 1,
        within: within.filter(|_| !section.binary),
        binary: section.binary,
        marker_at: 0,
    }
}

/// The longest marker a hole in `section` may have, with its newline.
fn marker_bound(section: &Section) -> usize {
    let lines = widest_hole(section, section.lines.max(2), None);
    let lines = HeldBack {
        from_line: 1,
        ..lines
    };
    let last = grouped(section.number + section.lines).len();
    let inside =
        "[… ".len() + grouped(section.bytes).len() + " bytes of line ".len() + last + " held back …]".len();
    note::marker(&lines).len().max(inside) + 1
}

/// The text around the streams: before, between and after them.
struct Frames(Vec<String>);

impl Frames {
    fn read(whole: Whole<'_>) -> io::Result<Self> {
        let mut texts = Vec::with_capacity(whole.sections.len() + 1);
        let mut at = 0;
        for section in whole.sections {
            texts.push(frame(whole, at, section.from)?);
            at = section.end();
        }
        texts.push(frame(whole, at, whole.content.bytes())?);
        Ok(Self(texts))
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(String::len).sum()
    }

    /// What the streams have together beside a note of `reserve` bytes; `None` when that is too little for this
    /// tier of note to be worth its room.
    fn room(&self, whole: Whole<'_>, budget: usize, reserve: usize, tier: Tier) -> Option<usize> {
        let markers: usize = whole.sections.iter().map(marker_bound).sum();
        let fixed = self.bytes() + reserve + markers + 1;
        let most = if matches!(tier, Tier::Bare | Tier::None) {
            budget
        } else {
            budget / 2
        };
        (fixed <= most).then(|| budget - self.bytes() - reserve - 1)
    }

    /// Lays out the streams in `room`, and once more when the note turned out shorter than was reserved for it.
    fn laid_out(
        &self,
        whole: Whole<'_>,
        (budget, room): (usize, usize),
        telling: &Telling,
        tier: Tier,
    ) -> io::Result<Fitted> {
        let first = self.written(whole, &shared(whole, room)?, telling, tier);
        let slack = budget.saturating_sub(first.text.len());
        if slack > SLACK {
            let second = self.written(whole, &shared(whole, room + slack - SLACK / 2)?, telling, tier);
            if second.text.len() <= budget && !second.held.is_empty() {
                return Ok(second);
            }
        }
        Ok(first)
    }

    fn written(&self, whole: Whole<'_>, ends: &[Ends], telling: &Telling, tier: Tier) -> Fitted {
        let mut fitted = Fitted::default();
        for (at, section) in whole.sections.iter().enumerate() {
            push_frame(&mut fitted.text, &self.0[at]);
            push_ends(&mut fitted, section, &ends[at]);
        }
        push_frame(&mut fitted.text, &self.0[whole.sections.len()]);
        let note = note::note(&fitted.held, telling, tier);
        if !note.is_empty() && !fitted.text.is_empty() && !fitted.text.ends_with('\n') {
            fitted.text.push('\n');
        }
        fitted.text.push_str(&note);
        fitted.note = note.len();
        fitted
    }
}

fn frame(whole: Whole<'_>, from: u64, end: u64) -> io::Result<String> {
    Ok(clean::text(&bytes_of(whole.content, from, end)?, View::Plain))
}

/// Adds a frame; the newline that ends a stream without one is not needed after a marker.
fn push_frame(text: &mut String, frame: &str) {
    let ended = text.is_empty() || text.ends_with('\n');
    text.push_str(frame.strip_prefix('\n').filter(|_| ended).unwrap_or(frame));
}

fn push_ends(fitted: &mut Fitted, section: &Section, ends: &Ends) {
    fitted.text.push_str(&ends.head);
    if let Some(hole) = ends.hole {
        let held = HeldBack {
            section: section.name.clone(),
            from: hole.from,
            bytes: hole.to - hole.from,
            from_line: hole.from_line,
            to_line: hole.to_line,
            before: section.number - 1,
            within: hole.within,
            binary: section.binary,
            marker_at: fitted.text.len(),
        };
        fitted.text.push_str(&note::marker(&held));
        fitted.text.push('\n');
        fitted.held.push(held);
    }
    fitted.text.push_str(&ends.tail);
}

/// Head and tail of every stream in `room` bytes together, the smallest first so that what it leaves goes to the
/// others; and again when the largest left something.
fn shared(whole: Whole<'_>, room: usize) -> io::Result<Vec<Ends>> {
    let mut order: Vec<usize> = (0..whole.sections.len()).collect();
    order.sort_by_key(|at| whole.sections[*at].bytes);
    let mut ends: Vec<Ends> = whole.sections.iter().map(|_| Ends::default()).collect();
    let mut left = room;
    for (done, at) in order.iter().enumerate() {
        let share = share(whole, &order[done..], left, room);
        ends[*at] = section_ends(whole, *at, share)?;
        left -= used(&ends[*at]).min(left);
    }
    for at in order {
        if ends[at].hole.is_some() && left > SLACK {
            let all = left + used(&ends[at]);
            ends[at] = section_ends(whole, at, all)?;
            left = all.saturating_sub(used(&ends[at]));
        }
    }
    Ok(ends)
}

/// The share of the first of `waiting` in what is `left`: in proportion to its size, at least a fifth of the
/// whole room, and leaving at least that for each of the others.
fn share(whole: Whole<'_>, waiting: &[usize], left: usize, room: usize) -> usize {
    let size = |at: &usize| u128::from(whole.sections[*at].bytes);
    let total: u128 = waiting.iter().map(size).sum();
    let proportion = left as u128 * size(&waiting[0]) / total.max(1);
    let least = room / LEAST.max(waiting.len());
    let most = left - (least * (waiting.len() - 1)).min(left);
    usize::try_from(proportion).unwrap_or(left).max(least).min(most)
}

fn section_ends(whole: Whole<'_>, at: usize, room: usize) -> io::Result<Ends> {
    let section = &whole.sections[at];
    if section.binary {
        return Ok(ends::nothing_of(section, marker_bound(section)));
    }
    ends::take(whole.content, section, room, marker_bound(section))
}

fn used(ends: &Ends) -> usize {
    ends.head.len() + ends.tail.len() + ends.marker
}
