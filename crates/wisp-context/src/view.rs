//! The context as a person looks at it: what goes to the model, what each part costs, what was changed and why.
//!
//! Looking costs the model nothing. A view is data first, for a face that lays it out itself, and Markdown second.

mod markdown;
mod turns;

use serde::Serialize;
use wisp_amount::counted;

use crate::blocks::Place;
use crate::condense::{Condensation, Plan};
use crate::entry::{Content, Entry, EntryId, Revision};
use crate::estimate::Estimate;
use crate::message::{Part, PartKind, Request};
use crate::record::ThreadRecord;
use crate::stamp::Time;
use crate::target::Gauge;
use crate::text::Text;

pub use turns::{TurnRow, turns_markdown};

/// A request as it is or was composed, part by part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextView {
    /// The turn it belongs to; `None` for the next request between turns.
    pub turn: Option<u32>,
    /// Its tokens, tool definitions included.
    pub estimate: Estimate,
    /// The window, when known.
    pub window: Option<u64>,
    /// Bytes of the tool definitions sent beside it.
    pub tool_bytes: u64,
    /// Their share of the estimate: with the shares of the parts it adds up to it.
    pub tool_tokens: u64,
    /// What each kind of part takes, in the order first met.
    pub totals: Vec<Total>,
    /// Every part, in the order sent.
    pub rows: Vec<Row>,
    /// The condensations in force, oldest first.
    pub condensations: Vec<Condensation>,
}

/// What all parts of one kind take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The kind.
    pub kind: PartKind,
    /// How many there are.
    pub parts: u64,
    /// Their bytes.
    pub bytes: u64,
    /// About how many tokens that is.
    pub tokens: u64,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What it is.
    pub kind: PartKind,
    /// The entry it shows.
    pub entry: Option<EntryId>,
    /// That entry's turn.
    pub turn: Option<u32>,
    /// When that was recorded.
    pub time: Option<Time>,
    /// Whether the turn being looked at produced it.
    pub own: bool,
    /// Bytes it takes.
    pub bytes: u64,
    /// About how many tokens that is.
    pub tokens: u64,
    /// What was changed and why, when something was.
    pub note: Option<String>,
    /// What is sent.
    pub text: Text,
}

impl ThreadRecord {
    /// The next request as it stands.
    pub fn context_next(&self, gauge: &Gauge<'_>) -> ContextView {
        self.view_at(self.revision, self.open_turn().map(|turn| turn.number), gauge)
    }

    /// The context of turn `number`: its last request, or what its first would have been if none was sent; none when
    /// there is no such turn, or part of it was put away.
    pub fn context_of(&self, number: u32, gauge: &Gauge<'_>) -> Option<ContextView> {
        let revision = self.revision_of(number).filter(|at| self.holds(*at))?;
        Some(self.view_at(revision, Some(number), gauge))
    }

    /// The next request as it would stand once `plan` is applied; none when the record has changed since.
    pub fn context_after(&self, plan: &Plan, gauge: &Gauge<'_>) -> Option<ContextView> {
        let mut after = self.clone();
        after.condense(plan.clone(), "").ok()?;
        Some(after.context_next(gauge))
    }

    /// The view the last request of a turn had, or its prompt when none was sent.
    pub(crate) fn revision_of(&self, number: u32) -> Option<Revision> {
        let turn = self.turn(number)?;
        let prompt = self.entry(turn.prompt)?.revision;
        Some(turn.requests.last().copied().unwrap_or(prompt))
    }

    fn view_at(&self, revision: Revision, turn: Option<u32>, gauge: &Gauge<'_>) -> ContextView {
        let request = self.compose_at(revision);
        let mut rows: Vec<Row> = request
            .parts
            .iter()
            .map(|part| self.row(&request, *part, (revision, turn)))
            .collect();
        let estimate = gauge.estimator.estimate(request.bytes());
        let tool_bytes = gauge.estimator.tool_bytes();
        // The parts share what the whole is known to cost, so that they add up to it.
        let bytes: Vec<u64> = rows.iter().map(|row| row.bytes).collect();
        let (shares, tool_tokens) = gauge.estimator.shares(estimate.tokens, &bytes);
        for (row, tokens) in rows.iter_mut().zip(shares) {
            row.tokens = tokens;
        }
        let applied = self
            .condensations
            .partition_point(|done| done.revision <= revision);
        ContextView {
            turn,
            estimate,
            window: gauge.window,
            tool_bytes,
            tool_tokens,
            totals: totals(&rows),
            rows,
            condensations: self.condensations.range(0..applied).to_vec(),
        }
    }

    fn row(&self, request: &Request, part: Part, at: (Revision, Option<u32>)) -> Row {
        let entry = part.entry.and_then(|id| self.entry(id));
        let (revision, turn) = at;
        Row {
            kind: part.kind,
            entry: part.entry,
            turn: entry.map(|entry| entry.turn).filter(|turn| *turn > 0),
            time: entry.map(|entry| entry.time),
            own: entry.is_some_and(|entry| Some(entry.turn) == turn),
            bytes: part.bytes,
            tokens: 0,
            note: entry
                .and_then(|entry| note(entry, part.kind))
                .or_else(|| self.block_note(part.kind, revision)),
            text: self.part_text(request, part, entry, revision),
        }
    }

    /// What a part says.
    fn part_text(&self, request: &Request, part: Part, entry: Option<&Entry>, revision: Revision) -> Text {
        let place = |place| self.blocks.at(place, revision).cloned().unwrap_or_default();
        match (part.kind, entry.map(|entry| &entry.content)) {
            (PartKind::Facts, _) => place(Place::Facts),
            (PartKind::Earlier, _) => place(Place::Earlier),
            (PartKind::Summary, _) => place(Place::Summary),
            (PartKind::Now, _) => place(Place::Now),
            (_, Some(Content::Prompt { text })) => text.clone(),
            (_, Some(Content::Command { notice, .. })) => notice.clone(),
            (_, Some(Content::Calls { text, calls })) => {
                let calls = calls
                    .iter()
                    .map(|call| format!("{} {}", call.name, call.arguments));
                let text = (!text.is_empty()).then(|| text.as_str().to_owned());
                Text::from(text.into_iter().chain(calls).collect::<Vec<_>>().join("\n"))
            }
            _ => request
                .messages
                .get(part.message)
                .map(|message| message.content.clone())
                .unwrap_or_default(),
        }
    }

    /// Why the earlier block is there.
    fn block_note(&self, kind: PartKind, revision: Revision) -> Option<String> {
        let done = self
            .condensations
            .here()
            .iter()
            .rev()
            .find(|done| done.revision <= revision)?;
        (kind == PartKind::Earlier).then(|| {
            Some(match self.left_through(done.kept_from) {
                1 => "turn 1 left; the record keeps it".to_owned(),
                turn => format!("turns 1–{turn} left; the record keeps them"),
            })
        })?
    }
}

/// What was changed about an entry, and why.
fn note(entry: &Entry, kind: PartKind) -> Option<String> {
    match (&entry.content, kind) {
        (Content::Output(output), PartKind::Reference) => {
            let reference = output.reference.as_ref()?;
            let (bytes, turn) = (output.shown.len(), reference.turn);
            Some(format!(
                "a reference since turn {turn}: its own turn carried {}",
                counted(bytes as u64, "byte")
            ))
        }
        (Content::Output(output), _) => {
            let held = output.held_back?;
            let kept = output
                .kept
                .as_ref()
                .map(|id| format!("; kept as output {id}"))
                .unwrap_or_default();
            Some(format!(
                "{} ({}) held back on arrival{kept}",
                counted(held.lines, "line"),
                counted(held.bytes, "byte")
            ))
        }
        (Content::Reply { cuts, .. }, PartKind::CutReply) => {
            let cut = |cut: &crate::entry::Cut| {
                format!(
                    "{} copied from entry {}",
                    counted((cut.end - cut.start) as u64, "byte"),
                    cut.output
                )
            };
            Some(format!(
                "cut: {}",
                cuts.iter().map(cut).collect::<Vec<_>>().join(", ")
            ))
        }
        (
            Content::Reply {
                interrupted: true, ..
            },
            _,
        ) => Some("interrupted".to_owned()),
        _ => None,
    }
}

/// The rows by kind, in the order first met.
fn totals(rows: &[Row]) -> Vec<Total> {
    let mut totals: Vec<Total> = Vec::new();
    for row in rows {
        match totals.iter_mut().find(|total| total.kind == row.kind) {
            Some(total) => {
                total.parts += 1;
                total.bytes += row.bytes;
                total.tokens += row.tokens;
            }
            None => totals.push(Total {
                kind: row.kind,
                parts: 1,
                bytes: row.bytes,
                tokens: row.tokens,
            }),
        }
    }
    totals
}
