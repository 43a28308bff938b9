//! What a reference, a marker or a line of the earlier block stands for, brought back whole.
//!
//! The texts wisp writes end in a request such as `memory "recall entry 7"`; this reads that request and answers it
//! from the record. Paging to a budget, and outputs that only the store has whole, are the tool's.

use crate::entry::{Content, Entry, EntryId, Kind};
use crate::output::{Output, Printed};
use crate::record::ThreadRecord;
use crate::reference::shorten;
use crate::text::Text;

/// Hits a search answers with.
const HITS: usize = 20;

/// The answer to a recall that finds nothing before there is anything it could find: never "there is none", which a
/// model would take for an answer to what it wants to know.
const FIRST_TURN: &str = "memory: nothing has left this conversation: the first turn is all in view";

/// What is to be recalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// One entry.
    Entry(EntryId),
    /// Every entry of a turn.
    Turn(u32),
    /// The prompt the conversation began with.
    Task,
    /// Entries that have these words.
    Words(String),
}

impl Wanted {
    /// Reads what follows the word `recall`. Forgiving in spelling: `entry 7`, `7`, `#7`, `output of entry 7` are one
    /// entry, `turn 3` a turn, `task` and `the task` the task. Anything else is words to search for.
    pub fn parse(request: &str) -> Self {
        let lower = request.trim().trim_matches(['"', '\'', '.']).to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let number = |word: &str| word.trim_start_matches('#').parse::<u32>().ok();
        match words.as_slice() {
            ["task"] | ["the", "task"] => Self::Task,
            ["turn", turn] if number(turn).is_some() => Self::Turn(number(turn).unwrap_or(0)),
            [.., "entry", id] if number(id).is_some() && words.len() <= 4 => {
                Self::Entry(EntryId(number(id).unwrap_or(0)))
            }
            [id] if number(id).is_some() => Self::Entry(EntryId(number(id).unwrap_or(0))),
            _ => Self::Words(request.trim().to_owned()),
        }
    }
}

/// What was recalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recalled {
    /// What it is, which turn and when.
    pub header: String,
    /// All of it, to be paged.
    pub text: String,
    /// The entries it is made of.
    pub entries: Vec<EntryId>,
    /// When it is one output of which a part was held back: the id of the stored whole.
    pub kept: Option<Text>,
    /// When it is one output of a command: how much it printed.
    pub printed: Option<Printed>,
}

impl ThreadRecord {
    /// Whether what is wanted, or part of it, was put away, so that it is to be recalled of the record read back whole.
    pub fn is_away(&self, wanted: &Wanted) -> bool {
        let away = match wanted {
            Wanted::Entry(id) => id.0 <= self.entry_count() && self.entry(*id).is_none(),
            Wanted::Turn(number) => *number <= self.turn_count() && self.entries_of(*number).is_empty(),
            Wanted::Task | Wanted::Words(_) => true,
        };
        away && !self.is_whole()
    }

    /// Whether an entry in memory has the stored output `id`: what a call or the person's command printed, or a prompt
    /// with what was piped in or pasted, which names it as `shown`.
    pub fn keeps(&self, id: &str, shown: &str) -> bool {
        self.entries.here().iter().any(|entry| match &entry.content {
            Content::Prompt { text } => text.contains(shown),
            _ => kept(entry).is_some_and(|kept| kept.as_str() == id),
        })
    }

    /// Brings back what is wanted, or says in one line why it cannot and what there is.
    pub fn recall(&self, wanted: &Wanted) -> Result<Recalled, String> {
        let found = match wanted {
            Wanted::Entry(id) => self.recall_entry(*id),
            Wanted::Turn(number) => self.recall_turn(*number),
            Wanted::Task => self.recall_task(),
            Wanted::Words(words) => self.recall_words(words),
        };
        match found {
            Err(_) if self.nothing_left() => Err(FIRST_TURN.to_owned()),
            found => found,
        }
    }

    /// Whether the conversation is in its first turn, or before it, with everything of it in view.
    fn nothing_left(&self) -> bool {
        self.turn_count() <= 1 && self.is_whole() && self.condensations.len() == 0
    }

    fn recall_entry(&self, id: EntryId) -> Result<Recalled, String> {
        let entry = self
            .entry(id)
            .filter(|entry| entry.kind() != Kind::Instructions)
            .ok_or_else(|| {
                format!(
                    "memory: there is no entry {id}; entries go from 2 to {}",
                    self.entries.len()
                )
            })?;
        Ok(Self::recalled_entry(entry))
    }

    /// An entry as it is recalled.
    pub(crate) fn recalled_entry(entry: &Entry) -> Recalled {
        Recalled {
            header: header(entry),
            text: body(entry),
            entries: vec![entry.id],
            kept: kept(entry),
            printed: entry.output().and_then(Output::printed),
        }
    }

    fn recall_turn(&self, number: u32) -> Result<Recalled, String> {
        let recalled = Self::recalled_turn(number, self.entries_of(number));
        recalled.ok_or_else(|| {
            format!(
                "memory: there is no turn {number}; turns go from 1 to {}",
                self.turn_count()
            )
        })
    }

    /// A turn as it is recalled, of its entries; none when it has none.
    pub(crate) fn recalled_turn(number: u32, entries: &[Entry]) -> Option<Recalled> {
        let (first, last) = (entries.first()?, entries.last()?);
        let header = format!("turn {number}: entries {}–{}", first.id, last.id);
        let shown = entries
            .iter()
            .map(|entry| format!("[{}]\n{}", self::header(entry), body(entry)));
        let text = shown.collect::<Vec<_>>().join("\n\n");
        Some(Recalled {
            header,
            text,
            entries: entries.iter().map(|entry| entry.id).collect(),
            kept: None,
            printed: None,
        })
    }

    fn recall_task(&self) -> Result<Recalled, String> {
        let first = self.turn(1).and_then(|turn| self.entry(turn.prompt));
        let first = first.ok_or("memory: this conversation has no task yet: nothing has been asked")?;
        let header = format!(
            "the task, oldest version first, and the prompt this conversation began with: {}",
            header(first)
        );
        let versions = self
            .tasks
            .iter()
            .map(|task| format!("turn {}, {}: {}\n", task.turn, task.time.clock(), task.line()));
        let text = versions.collect::<String>() + first.text();
        Ok(Recalled {
            header,
            text,
            entries: vec![first.id],
            kept: None,
            printed: None,
        })
    }

    fn recall_words(&self, words: &str) -> Result<Recalled, String> {
        let hits = self.search(words, HITS);
        if hits.is_empty() {
            return Err(format!(
                "memory: nothing in entries 2 to {} has the words \"{}\"; recall takes entry N, turn N, task, or words",
                self.entries.len(),
                shorten(words, 80)
            ));
        }
        let line = |hit: &crate::search::Hit| {
            format!(
                "entry {} ({}, turn {}), line {}: {}",
                hit.entry,
                hit.kind.word(),
                hit.turn,
                hit.line,
                hit.excerpt
            )
        };
        let text = hits.iter().map(line).collect::<Vec<_>>().join("\n");
        let header = format!(
            "{} {} with \"{}\"; recall entry N shows one whole",
            wisp_amount::grouped(hits.len() as u64),
            if hits.len() == 1 { "entry" } else { "entries" },
            shorten(words, 80)
        );
        Ok(Recalled {
            header,
            text,
            entries: hits.iter().map(|hit| hit.entry).collect(),
            kept: None,
            printed: None,
        })
    }
}

/// The id of the stored whole of an entry: of an output, or of what the person's own command printed.
fn kept(entry: &Entry) -> Option<Text> {
    match &entry.content {
        Content::Output(output) => output.kept.clone(),
        Content::Command { kept, .. } => kept.clone(),
        _ => None,
    }
}

/// What an entry is, whose, and when.
fn header(entry: &Entry) -> String {
    let what = match &entry.content {
        Content::Output(output) => format!("output of {}, {}", output.tool, output.status.words()),
        _ => entry.kind().word().to_owned(),
    };
    format!(
        "entry {}: {what}, turn {}, {}",
        entry.id,
        entry.turn,
        entry.time.clock()
    )
}

/// An entry's text, and of calls their arguments.
fn body(entry: &Entry) -> String {
    match &entry.content {
        Content::Calls { text, calls } => {
            let calls = calls
                .iter()
                .map(|call| format!("{} {}", call.name, call.arguments));
            let text = (!text.is_empty()).then(|| text.as_str().to_owned());
            text.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
        }
        Content::Lost => "(this entry could not be read from the saved file)".to_owned(),
        Content::Later(later) => format!(
            "(this entry is of the kind \"{}\", which a later wisp wrote and this one cannot show)",
            shorten(later.kind(), 80)
        ),
        _ => entry.text().to_owned(),
    }
}
