//! What the person said in turns that are no longer shown: the lines of the earlier block.
//!
//! Until facts and a summary carry them, the person's own words do. The conversation's first prompt always stands
//! there; after it come standing orders ("do not touch legacy.c"), newest kept first when room is short; then
//! statements ("the fixtures are under /srv"), then the other prompts, the same way. Each line names its entry, so the model can ask for the whole.
//!
//! What was said may have been taken back since, in whatever words. So no line stands without the newest line about the same
//! thing: where there is no room for both, the newer one stands alone.

mod standing;
mod topics;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::entry::{Content, Entry, EntryId};
use crate::notes::Note;
use crate::reference::shorten;
use crate::text::Text;
use topics::{Counts, Newest};

/// Bytes of the block for a window nobody knows.
const UNKNOWN_WINDOW_BYTES: usize = 4096;
/// The least bytes the block may have, and what it is squeezed to at the floor.
pub const SQUEEZED_BYTES: usize = 1024;
/// Longest prompt, in bytes, that is one line as it stands.
const WHOLE_BYTES: usize = 300;
/// Characters kept of a longer prompt's first line.
const LINE_CHARS: usize = 240;
/// Characters kept of a standing order.
const ORDER_CHARS: usize = 160;
/// Most standing orders taken from one prompt.
const ORDERS: usize = 12;
/// Lines of one weight that are held: more than the block of any window lists.
const KEPT_LINES: usize = 4096;
/// Bytes held for the heading and the line that says what is not listed.
const FRAME_BYTES: usize = 420;

/// Bytes the block may have: a tenth of the window at four bytes a token, 1 KiB at least.
pub(crate) fn room(window: Option<u64>) -> usize {
    let Some(window) = window else {
        return UNKNOWN_WINDOW_BYTES;
    };
    usize::try_from(window / 10 * 4)
        .unwrap_or(usize::MAX)
        .max(SQUEEZED_BYTES)
}

/// How much a line matters when room is short. Smaller comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// The prompt the conversation began with.
    First,
    /// A standing order.
    Order,
    /// A statement: names a path, a number, a name, or says what something is.
    Statement,
    /// Anything else the person said or ran.
    Plain,
}

impl Weight {
    fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Order => 1,
            Self::Statement => 2,
            Self::Plain => 3,
        }
    }
}

/// One line: something the person said in a turn that left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The turn it was said in.
    pub(crate) turn: u32,
    /// The entry that holds all of it.
    pub(crate) entry: EntryId,
    /// How much it matters.
    pub(crate) weight: Weight,
    /// What was said, on one line.
    pub(crate) text: Text,
    /// The outputs of the turn, where this line is the one that names them.
    pub(crate) outputs: Vec<EntryId>,
    /// What it is about.
    topics: Box<[u64]>,
}

impl Line {
    /// The line of something the model noted in a turn that left.
    pub(crate) fn note(note: &Note, prompt: EntryId) -> Self {
        let text = format!(
            "(noted by the model) {} {}: {}",
            note.subject, note.name, note.value
        );
        Self {
            turn: note.turn,
            entry: prompt,
            weight: Weight::Order,
            topics: topics::of(&text),
            text: text.into(),
            outputs: Vec::new(),
        }
    }
}

/// The lines of one turn, in order.
pub(crate) fn of_turn(entries: &[Entry]) -> Vec<Line> {
    let outputs: Vec<EntryId> = entries
        .iter()
        .filter(|entry| entry.output().is_some())
        .map(|entry| entry.id)
        .collect();
    let mut lines: Vec<Line> = entries.iter().flat_map(of_entry).collect();
    if let Some(last) = lines.iter_mut().rev().find(|line| line.weight != Weight::Order) {
        last.outputs = outputs;
    } else if let Some(last) = lines.last_mut() {
        last.outputs = outputs;
    }
    lines
}

/// The lines of one entry: none unless the person said or ran it.
fn of_entry(entry: &Entry) -> Vec<Line> {
    let line = |weight, text: String| Line {
        turn: entry.turn,
        entry: entry.id,
        weight,
        topics: topics::of(&text),
        text: Text::from(text),
        outputs: Vec::new(),
    };
    match &entry.content {
        Content::Command { command, .. } => {
            vec![line(
                Weight::Plain,
                format!("(ran `{}` themselves)", shorten(command, LINE_CHARS)),
            )]
        }
        Content::Prompt { text } => {
            let orders = standing::orders(text);
            if text.len() <= WHOLE_BYTES {
                return vec![line(short_weight(entry.turn, text, &orders), one_line(text))];
            }
            let weight = if entry.turn == 1 {
                Weight::First
            } else {
                Weight::Plain
            };
            let head = if entry.turn == 1 {
                one_line(text)
            } else {
                shorten(&one_line(text), LINE_CHARS)
            };
            let orders = orders.into_iter().take(ORDERS);
            std::iter::once(line(weight, head))
                .chain(orders.map(|order| line(Weight::Order, shorten(&one_line(order), ORDER_CHARS))))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The weight of a prompt that is one line.
fn short_weight(turn: u32, text: &str, orders: &[&str]) -> Weight {
    match (turn, orders) {
        (1, _) => Weight::First,
        (_, []) if standing::is_statement(text) => Weight::Statement,
        (_, []) => Weight::Plain,
        _ => Weight::Order,
    }
}

/// A text on one line: runs of white space become one space.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a block is made for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// Most bytes it may have.
    pub(crate) room: usize,
    /// The last turn that left.
    pub(crate) through: u32,
    /// Whether the conversation has `memory`.
    pub(crate) memory: bool,
}

/// The lines of every turn that left so far, by weight, each oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Earlier {
    by_weight: [Vec<Line>; 4],
    /// How many lines, of all that ever were, are about what; shared by copies of the record.
    counts: Arc<Counts>,
}

impl Earlier {
    /// Adds the lines of turns that leave, oldest first. Lines no block has room for any more are let go of: their
    /// entries stay in the record.
    pub(crate) fn extend(&mut self, lines: Vec<Line>) {
        for line in lines {
            Arc::make_mut(&mut self.counts).add(&line);
            self.by_weight[line.weight.index()].push(line);
        }
        for lines in &mut self.by_weight {
            if lines.len() > 2 * KEPT_LINES {
                lines.drain(..lines.len() - KEPT_LINES);
            }
        }
    }

    /// Lets go of the lines that no block of at most `room` bytes lists, whatever else leaves: those that newer ones of
    /// the same weight leave no room for, and that are not the newest about what a kept one is about. Their entries stay in
    /// the record.
    pub(crate) fn keep_for(&mut self, room: usize) {
        let needed = self.needed(room);
        for lines in &mut self.by_weight[Weight::Order.index()..] {
            lines.retain(|line| needed.contains(&(line.entry, line.text.clone())));
        }
    }

    /// The lines that a block of `room` bytes may list.
    fn needed(&self, room: usize) -> HashSet<(EntryId, Text)> {
        let newest = Newest::of(self.by_weight.iter().flatten(), &[], &self.counts);
        let mut kept: Vec<&Line> = self.by_weight[Weight::First.index()].iter().collect();
        for lines in &self.by_weight[Weight::Order.index()..] {
            let (mut bytes, mut said) = (0, HashSet::new());
            let fitting = lines
                .iter()
                .rev()
                .filter(|line| said.insert(&line.text))
                .take_while(|line| {
                    bytes += line.text.len();
                    bytes <= room
                });
            kept.extend(fitting);
        }
        let companions: Vec<&Line> = kept.iter().flat_map(|line| newest.than(line)).collect();
        kept.into_iter()
            .chain(companions)
            .map(|line| (line.entry, line.text.clone()))
            .collect()
    }

    /// How many lines are held.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.by_weight.iter().map(Vec::len).sum()
    }

    /// The block for these lines and those of turns about to leave, oldest first. Never over its room, whatever the
    /// lines. Empty when nothing left.
    pub(crate) fn block(&self, newer: &[Line], frame: Frame) -> Text {
        if frame.through == 0 {
            return Text::default();
        }
        let mut text = heading(frame);
        let mut listed = BTreeSet::new();
        for (line, shown) in self.choose(newer, frame.room) {
            listed.insert(line.turn);
            text += "\n";
            text += &shown;
        }
        if let Some(missing) = missing(&listed, frame.through) {
            text += "\n";
            text += &missing;
        }
        text.truncate(text.floor_char_boundary(frame.room));
        Text::from(text)
    }

    /// The lines that fit, by weight and then newest first, each as it is written; returned oldest first. With a line go
    /// the newest ones about the same things, whatever their weight; where there is no room for it beside them they stand
    /// alone.
    fn choose<'a>(&'a self, newer: &'a [Line], room: usize) -> Vec<(&'a Line, String)> {
        let newest = Newest::of(self.by_weight.iter().flatten(), newer, &self.counts);
        let mut chosen = Chosen {
            left: room.saturating_sub(FRAME_BYTES),
            lines: Vec::new(),
            said: HashSet::new(),
        };
        for weight in [Weight::First, Weight::Order, Weight::Statement, Weight::Plain] {
            let newer = newer.iter().rev().filter(|line| line.weight == weight);
            for line in newer.chain(self.by_weight[weight.index()].iter().rev()) {
                if !chosen.take(line, &newest) {
                    break;
                }
            }
        }
        let mut lines = chosen.lines;
        lines.sort_by_key(|(line, _)| line.entry);
        lines
    }
}

/// The lines chosen so far, and the bytes that are left.
struct Chosen<'a> {
    left: usize,
    lines: Vec<(&'a Line, String)>,
    said: HashSet<&'a Text>,
}

impl<'a> Chosen<'a> {
    /// Takes a line and the newer ones about the same things. False when there is no room even for the line alone.
    fn take(&mut self, line: &'a Line, newest: &Newest<'a>) -> bool {
        // The same words said again are listed once, the last time.
        if self.said.contains(&line.text) {
            return true;
        }
        let most = if line.weight == Weight::First {
            self.left / 2
        } else {
            usize::MAX
        };
        let shown = written(line, most);
        if shown.len() + 1 > self.left {
            return false;
        }
        let mut with: Vec<&Line> = newest.than(line);
        with.retain(|newer| !self.said.contains(&newer.text));
        let all: usize = with
            .iter()
            .map(|newer| written(newer, usize::MAX).len() + 1)
            .sum();
        let stands = line.weight == Weight::First || all + shown.len() < self.left;
        if stands {
            self.add(line, shown);
        }
        for newer in with {
            let shown = written(newer, usize::MAX);
            if shown.len() < self.left && !self.said.contains(&newer.text) {
                self.add(newer, shown);
            }
        }
        true
    }

    fn add(&mut self, line: &'a Line, shown: String) {
        self.left -= shown.len() + 1;
        self.said.insert(&line.text);
        self.lines.push((line, shown));
    }
}

/// A line as it is written, its text cut to about `most` bytes.
fn written(line: &Line, most: usize) -> String {
    let cut = line.text.len() > most;
    let text = if cut {
        &line.text[..line.text.floor_char_boundary(most)]
    } else {
        line.text.as_str()
    };
    let more = if cut { "…" } else { "" };
    let outputs = match line.outputs.as_slice() {
        [] => String::new(),
        [one] => format!(" (output: entry {one})"),
        [first, .., last] => format!(" (outputs: entries {first}–{last})"),
    };
    format!(
        "- turn {}, entry {}: {text}{more}{outputs}",
        line.turn, line.entry
    )
}

fn heading(frame: Frame) -> String {
    let turns = if frame.through == 1 {
        "turn 1".to_owned()
    } else {
        format!("turns 1–{}", frame.through)
    };
    let hint = if frame.memory {
        " memory \"recall turn N\" or \"recall entry N\" shows any of it whole, \"recall WORDS\" searches it."
    } else {
        ""
    };
    format!(
        "[From earlier in this conversation: {turns}, no longer shown. What the user said then, in their own \
         words; where two lines disagree, the later one holds.{hint}]"
    )
}

/// The line that says which turns have no line.
fn missing(listed: &BTreeSet<u32>, through: u32) -> Option<String> {
    let count = through - u32::try_from(listed.len()).unwrap_or(through).min(through);
    let first = (1..=through)
        .zip(listed)
        .find(|(turn, listed)| turn != *listed)
        .map(|(turn, _)| turn);
    let first = first.unwrap_or(u32::try_from(listed.len()).unwrap_or(through) + 1);
    let last = (1..=through)
        .rev()
        .zip(listed.iter().rev())
        .find(|(turn, listed)| turn != *listed);
    let last = last.map_or(
        through - u32::try_from(listed.len()).unwrap_or(through).min(through),
        |(turn, _)| turn,
    );
    match count {
        0 => None,
        1 => Some(format!("- turn {first} is not listed")),
        _ => Some(format!(
            "- {} between {first} and {last} are not listed",
            wisp_amount::counted(count.into(), "turn")
        )),
    }
}

#[cfg(test)]
mod tests;
