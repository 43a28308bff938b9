//! Adding to the record: a turn begins, things happen in order, it ends.

use serde::Serialize;
use serde_json::Value;

use crate::blocks::Place;
use crate::command::{Typed, notice};
use crate::cut;
use crate::entry::{Content, Cut, EntryId, Origin, Revision};
use crate::message::{MESSAGE_FRAME, ToolCall, call_bytes, size};
use crate::output::{Arrival, Output};
use crate::record::ThreadRecord;
use crate::reference::{self, Referenced};
use crate::stamp::Stamp;
use crate::text::Text;
use crate::turn::{Outcome, Turn};

/// What came of beginning a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnStart {
    /// The turn's number.
    pub turn: u32,
    /// The prompt's entry.
    pub prompt: EntryId,
    /// The outputs that are references from this turn on; each is audited as `context.reference`.
    pub referenced: Vec<Referenced>,
}

/// A call as the model made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCall {
    /// The tool's name, as written.
    pub name: Text,
    /// The arguments, as sent.
    pub arguments: Value,
}

impl NewCall {
    /// A call of `name` with `arguments`.
    pub fn new(name: impl Into<Text>, arguments: Value) -> Self {
        Self {
            name: name.into(),
            arguments,
        }
    }
}

/// A stretch of a reply cut when its turn ended; audited as `context.cut`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CutMade {
    /// The reply's entry.
    pub reply: EntryId,
    /// The stretch.
    pub cut: Cut,
    /// Bytes saved: the stretch less its marker.
    pub saved: u64,
}

impl ThreadRecord {
    /// Begins a turn with what the person asked. A turn still open is ended as interrupted. Outputs of the turn
    /// before become references here, once, so that the context first differs in that turn.
    pub fn begin_turn(&mut self, prompt: impl Into<Text>, stamp: Stamp) -> TurnStart {
        if self.open_turn().is_some() {
            self.end_turn(Outcome::Interrupted);
        }
        let number = self.turn_count() + 1;
        let referenced = if self.rules.references {
            self.reference_turn(number - 1, number)
        } else {
            Vec::new()
        };
        self.refresh_now();
        let prompt = prompt.into();
        let typed = self.waiting_commands(number);
        let asked = size(prompt.len()) + MESSAGE_FRAME + typed.iter().map(|&(_, bytes)| bytes).sum::<u64>();
        let began = stamp.time;
        let id = self.push(number, Origin::Turn, stamp, Content::Prompt { text: prompt });
        let first = typed.first().map_or(id, |&(command, _)| command);
        self.turns.push(Turn {
            number,
            first,
            prompt: id,
            began,
            outcome: None,
            ended: None,
            requests: Vec::new(),
            asked,
            own_lines: None,
            grown: 0,
        });
        TurnStart {
            turn: number,
            prompt: id,
            referenced,
        }
    }

    /// Records what the user says while their turn is open, after the last result of a reply's calls: the model reads it
    /// with its next request. `None` anywhere else, and nothing is recorded: only there do requests grow at their end.
    pub fn record_steering(&mut self, text: impl Into<Text>, stamp: Stamp) -> Option<EntryId> {
        self.open_turn()?;
        let last = self.entries.here().last().map(|entry| &entry.content);
        if !matches!(last, Some(Content::Output(_))) {
            return None;
        }
        let text = text.into();
        self.grow(size(text.len()) + MESSAGE_FRAME);
        Some(self.push(self.turn_count(), Origin::Turn, stamp, Content::Prompt { text }))
    }

    /// Records what the model thought before what it says next. Empty thinking is not recorded.
    pub fn record_thinking(&mut self, text: impl Into<Text>, stamp: Stamp) -> Option<EntryId> {
        let text = text.into();
        (!text.is_empty())
            .then(|| self.push(self.turn_count(), Origin::Turn, stamp, Content::Thinking { text }))
    }

    /// Records an assistant message that makes calls, with the text beside them. Returns its entry and the calls
    /// under the ids that the outputs are to name.
    pub fn record_calls(
        &mut self,
        text: impl Into<Text>,
        calls: Vec<NewCall>,
        stamp: Stamp,
    ) -> (EntryId, Vec<ToolCall>) {
        let calls: Vec<ToolCall> = calls.into_iter().map(|call| self.numbered(call)).collect();
        let text = text.into();
        self.grow(size(text.len()) + MESSAGE_FRAME + calls.iter().map(call_bytes).sum::<u64>());
        let content = Content::Calls {
            text,
            calls: calls.clone().into(),
        };
        (self.push(self.turn_count(), Origin::Turn, stamp, content), calls)
    }

    /// Records what one call returned, as admitted.
    pub fn record_output(&mut self, arrival: Arrival, stamp: Stamp) -> EntryId {
        let output = Output::from(arrival);
        self.grow(size(output.shown.len()) + MESSAGE_FRAME);
        self.push(
            self.turn_count(),
            Origin::Turn,
            stamp,
            Content::Output(Box::new(output)),
        )
    }

    /// Records a reply, or as much of it as had arrived when it was interrupted.
    pub fn record_reply(&mut self, text: impl Into<Text>, interrupted: bool, stamp: Stamp) -> EntryId {
        let text = text.into();
        self.grow(size(text.len()) + MESSAGE_FRAME);
        let content = Content::Reply {
            text,
            interrupted,
            cuts: Vec::new(),
            cut_revision: 0,
        };
        self.push(self.turn_count(), Origin::Turn, stamp, content)
    }

    /// Records a command the person ran themselves. It belongs to the turn after it, so one typed while a turn is
    /// open is recorded as that turn ends, and `None` is returned until then.
    pub fn record_command(&mut self, typed: Typed, stamp: Stamp) -> Option<EntryId> {
        if self.open_turn().is_some() {
            self.waiting.push((typed, stamp));
            return None;
        }
        let id = EntryId::at(self.entries.len());
        let notice = notice(&typed, id, self.rules.memory);
        let Typed {
            command,
            output,
            kept,
            ..
        } = typed;
        let content = Content::Command {
            command,
            notice,
            output,
            kept,
        };
        Some(self.push(self.turn_count() + 1, Origin::Turn, stamp, content))
    }

    /// Ends the open turn. After a turn that completed, stretches of its replies that copy one of its outputs
    /// exactly are cut from later requests. Without an open turn nothing happens.
    pub fn end_turn(&mut self, outcome: Outcome) -> Vec<CutMade> {
        if self.open_turn().is_none() {
            return Vec::new();
        }
        let completed = outcome == Outcome::Completed;
        let revision = self.change();
        if let Some(turn) = self.turns.last_mut() {
            turn.outcome = Some(outcome);
            turn.ended = Some(revision);
        }
        self.unsqueeze(revision);
        let cuts = if completed && self.rules.cuts {
            self.cut_turn(self.turn_count())
        } else {
            Vec::new()
        };
        for (typed, stamp) in std::mem::take(&mut self.waiting) {
            self.record_command(typed, stamp);
        }
        cuts
    }

    /// Puts a block at its place in requests composed from now on; empty text clears the place. A block that is
    /// there already changes nothing.
    pub fn set_block(&mut self, place: Place, text: impl Into<Text>) {
        let text = text.into();
        let now = self.blocks.at(place, self.revision);
        if now.map_or(text.is_empty(), |old| *old == text) {
            return;
        }
        let revision = self.change();
        self.blocks.set(place, revision, text);
    }

    /// The call under an id of our own.
    fn numbered(&mut self, call: NewCall) -> ToolCall {
        self.calls += 1;
        ToolCall {
            id: format!("c{:08}", self.calls),
            name: call.name,
            arguments: call.arguments,
        }
    }

    /// Adds to the size of the open turn.
    fn grow(&mut self, bytes: u64) {
        if let Some(turn) = self.turns.last_mut() {
            turn.grown += bytes;
        }
    }

    /// Commands typed since the last turn, with their bytes: they belong to turn `number`.
    fn waiting_commands(&self, number: u32) -> Vec<(EntryId, u64)> {
        let waiting = self
            .entries
            .here()
            .iter()
            .rev()
            .take_while(|entry| entry.turn == number);
        let mut found: Vec<_> = waiting
            .filter_map(|entry| match &entry.content {
                Content::Command { notice, .. } => Some((entry.id, size(notice.len()))),
                _ => None,
            })
            .collect();
        found.reverse();
        found
    }

    /// Sends every output of `turn` that is still whole as its reference from turn `from` on.
    pub(crate) fn reference_turn(&mut self, turn: u32, from: u32) -> Vec<Referenced> {
        let memory = self.rules.memory;
        let entries = self.entries_of(turn);
        let mut texts = reference::texts(entries, memory);
        if texts.is_empty() {
            return Vec::new();
        }
        let revision = self.change();
        texts.retain(|(id, text)| self.mark_reference(*id, text.clone(), (from, revision)));
        texts
            .iter()
            .filter_map(|(id, _)| self.entry(*id).and_then(Referenced::of))
            .collect()
    }

    /// Marks one output; false when the entry is no output.
    pub(crate) fn mark_reference(&mut self, id: EntryId, text: Text, from: (u32, Revision)) -> bool {
        let Some(Content::Output(output)) = self.entries.get_mut(id.index()).map(|entry| &mut entry.content)
        else {
            return false;
        };
        let (turn, revision) = from;
        output.reference = Some(crate::output::Reference { turn, text, revision });
        true
    }

    /// Cuts the replies of `turn` against its outputs.
    fn cut_turn(&mut self, turn: u32) -> Vec<CutMade> {
        let found = cut::of_turn(self.entries_of(turn));
        if found.is_empty() {
            return Vec::new();
        }
        let revision = self.change();
        let mut made = Vec::new();
        for (reply, found) in found {
            if let Some(entry) = self.entries.get_mut(reply.index())
                && let Content::Reply {
                    cuts, cut_revision, ..
                } = &mut entry.content
            {
                made.extend(found.iter().map(|cut| CutMade::new(reply, cut.clone())));
                *cuts = found;
                *cut_revision = revision;
            }
        }
        made
    }
}

impl CutMade {
    fn new(reply: EntryId, cut: Cut) -> Self {
        let saved = size((cut.end - cut.start).saturating_sub(cut.marker().len()));
        Self { reply, cut, saved }
    }
}
