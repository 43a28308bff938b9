//! The record of one conversation: every entry, every turn, every mark, and nothing forgotten.
//!
//! Requests are views of it. A view is named by a [`Revision`]: what was recorded by then, with the marks in force
//! by then. Each request's revision is kept with its turn, so any request ever sent can be composed again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::blocks::Blocks;
use crate::command::Typed;
use crate::condense::Condensation;
use crate::earlier::Earlier;
use crate::entry::{Content, Entry, EntryId, Origin, Revision};
use crate::notes::{Note, Task};
use crate::stamp::Stamp;
use crate::tail::Tail;
use crate::text::Text;
use crate::turn::Turn;

/// How many entries never leave memory: the instructions.
pub(crate) const INSTRUCTIONS: usize = 1;

/// The rules a record's later marks follow. They are read when a mark is made and never change one already made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Send outputs of earlier turns as references.
    pub references: bool,
    /// Cut stretches of replies that copy an output exactly.
    pub cuts: bool,
    /// Whether the conversation has the `memory` tool, which decides what a reference and a notice hint at.
    pub memory: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            references: true,
            cuts: true,
            memory: true,
        }
    }
}

/// With what a conversation was last held, so that it can go on with the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastUse {
    /// The model's name, as the server lists it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The working directory; text, so that one that is not UTF-8 has U+FFFD in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The first words of the first message, one line, for lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}

/// The record of one conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadRecord {
    pub(crate) entries: Tail<Entry>,
    pub(crate) turns: Tail<Turn>,
    pub(crate) condensations: Tail<Condensation>,
    pub(crate) blocks: Blocks,
    /// What the person said in turns that left, oldest first.
    pub(crate) earlier: Earlier,
    pub(crate) revision: Revision,
    /// The mark that outputs are sent between, the same for the whole conversation; without one they are sent bare.
    pub(crate) boundary: Option<Text>,
    pub(crate) calls: u32,
    pub(crate) rules: Rules,
    /// Commands typed while a turn is open, recorded when it ends.
    pub(crate) waiting: Vec<(Typed, Stamp)>,
    /// What the model noted, oldest first.
    pub(crate) notes: Vec<Note>,
    /// Every version of the task, oldest first.
    pub(crate) tasks: Vec<Task>,
    /// Lines of a later wisp's kinds, found when it was read, and written again with each save.
    pub(crate) later: Vec<String>,
    /// Bytes of the file of the past that hold what is no longer in memory.
    pub(crate) past: u64,
    /// How often it was saved.
    pub(crate) saves: u64,
    /// Bytes to a token, by model, as learned.
    pub(crate) ratios: BTreeMap<String, f64>,
    /// The audit sessions whose events the entries name.
    pub(crate) sessions: BTreeSet<String>,
    /// With what it was last held.
    pub(crate) last_use: LastUse,
}

impl ThreadRecord {
    /// A conversation of which nothing but its system message exists. It becomes entry 1.
    pub fn new(instructions: impl Into<Text>, stamp: Stamp) -> Self {
        let mut record = Self {
            entries: Tail::of(Vec::new(), INSTRUCTIONS),
            turns: Tail::of(Vec::new(), 0),
            condensations: Tail::of(Vec::new(), 0),
            blocks: Blocks::default(),
            earlier: Earlier::default(),
            revision: 0,
            boundary: None,
            calls: 0,
            rules: Rules::default(),
            waiting: Vec::new(),
            notes: Vec::new(),
            tasks: Vec::new(),
            later: Vec::new(),
            past: 0,
            saves: 0,
            ratios: BTreeMap::new(),
            sessions: BTreeSet::new(),
            last_use: LastUse::default(),
        };
        let content = Content::Instructions {
            text: instructions.into(),
        };
        record.push(0, Origin::Carried, stamp, content);
        record
    }

    /// The same record under other rules.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Changes the rules for marks made from now on.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Gives the conversation the mark that outputs are sent between, unless it has one: requests stay the same.
    pub fn set_boundary(&mut self, mark: impl Into<Text>) {
        self.boundary.get_or_insert_with(|| mark.into());
    }

    /// The rules in force.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// A new, empty conversation over the same instructions and rules (`/new`). What was learned of models stays.
    #[must_use]
    pub fn renewed(&self, stamp: Stamp) -> Self {
        let ratios = self.ratios.clone();
        Self {
            ratios,
            rules: self.rules,
            ..Self::new(self.instructions(), stamp)
        }
    }

    /// With what the conversation was last held, when that is known.
    pub fn last_use(&self) -> &LastUse {
        &self.last_use
    }

    /// Notes with what the conversation is held now; kept with the next save.
    pub fn set_last_use(&mut self, last_use: LastUse) {
        self.last_use = last_use;
    }

    /// Puts another system message in the place of the one there is: the next request begins with it. For a change of
    /// the model; within the talk with one model the message stays.
    pub fn set_instructions(&mut self, text: impl Into<Text>) {
        if let Some(first) = self.entries.get_mut(0) {
            first.content = Content::Instructions { text: text.into() };
        }
    }

    /// The system message.
    pub fn instructions(&self) -> &str {
        self.entries.get(0).map_or("", Entry::text)
    }

    /// The entries in memory, active or dropped, in order: all of them unless some were put away.
    pub fn entries(&self) -> &[Entry] {
        self.entries.here()
    }

    /// How many entries there are, those put away included: the number of the last one.
    pub fn entry_count(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    /// One entry by its number.
    pub fn entry(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.index())
    }

    /// The turns in memory, in order: all of them unless some were put away.
    pub fn turns(&self) -> &[Turn] {
        self.turns.here()
    }

    /// One turn by its number, from 1.
    pub fn turn(&self, number: u32) -> Option<&Turn> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.turns.get(index)
    }

    /// The entries of one turn, commands typed before it included.
    pub fn entries_of(&self, number: u32) -> &[Entry] {
        let Some(turn) = self.turn(number) else { return &[] };
        let end = self
            .turn(number + 1)
            .map_or(self.entries.len(), |next| next.first.index());
        let open = self.entries.range(turn.first.index()..end);
        let own = open.iter().take_while(|entry| entry.turn <= number).count();
        &open[..own]
    }

    /// The turn that has begun and not ended.
    pub fn open_turn(&self) -> Option<&Turn> {
        self.turns.last().filter(|turn| turn.ended.is_none())
    }

    /// How many turns there have been.
    pub fn turn_count(&self) -> u32 {
        u32::try_from(self.turns.len()).unwrap_or(u32::MAX)
    }

    /// The audit sessions whose events the entries name, sorted: where their `sources` are to be looked for.
    pub fn sessions(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().map(String::as_str)
    }

    /// Says that entries from now on name events of this audit session.
    pub fn in_session(&mut self, session: impl Into<String>) {
        self.sessions.insert(session.into());
    }

    /// The condensations in memory, in order: all of them unless some were put away.
    pub fn condensations(&self) -> &[Condensation] {
        self.condensations.here()
    }

    /// How many condensations were applied.
    pub fn condensation_count(&self) -> usize {
        self.condensations.len()
    }

    /// The number of changes so far: the view that is composed next.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Names one more audit event as holding an entry's content. An unknown number changes nothing.
    pub fn add_source(&mut self, id: EntryId, event: impl Into<String>) {
        let event = event.into();
        if let Some(entry) = self.entries.get_mut(id.index())
            && !entry.sources.contains(&event)
        {
            entry.sources.push(event);
        }
    }

    /// Counts one more change and returns its number.
    pub(crate) fn change(&mut self) -> Revision {
        self.revision += 1;
        self.revision
    }

    /// Appends an entry.
    pub(crate) fn push(&mut self, turn: u32, origin: Origin, stamp: Stamp, content: Content) -> EntryId {
        let revision = self.change();
        let id = EntryId::at(self.entries.len());
        let Stamp { time, sources } = stamp;
        self.entries.push(Entry {
            id,
            turn,
            origin,
            time,
            sources,
            revision,
            dropped: None,
            content,
        });
        id
    }
}
