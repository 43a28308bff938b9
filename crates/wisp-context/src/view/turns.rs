//! The turns of a conversation in a table: what each cost and what changed at it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::entry::Content;
use crate::record::ThreadRecord;
use crate::reference::shorten;
use crate::stamp::Time;
use crate::target::Gauge;
use crate::turn::Outcome;
use wisp_amount::grouped;

/// Characters of a prompt in the table.
const PROMPT_CHARS: usize = 60;

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnRow {
    /// Its number.
    pub turn: u32,
    /// When it began.
    pub time: Time,
    /// About how many tokens its last request had, tool definitions included: what it took of the window.
    pub tokens: u64,
    /// What changed: `condensed`, `referenced 2`, `cut 1`, `interrupted`, `failed`.
    pub changed: Vec<String>,
    /// Whether it has left the context.
    pub dropped: bool,
    /// How its prompt begins.
    pub prompt: String,
}

/// What changed at a turn.
#[derive(Debug, Default)]
struct Changes {
    referenced: u32,
    cut: u32,
}

impl ThreadRecord {
    /// Every turn in memory, in order; of a record of which nothing was put away that is every turn.
    pub fn context_turns(&self, gauge: &Gauge<'_>) -> Vec<TurnRow> {
        let changes = self.changes();
        let first_kept = self
            .entries
            .get(self.literal_start(self.revision))
            .map_or(u32::MAX, |entry| entry.turn);
        let row = |turn: &crate::turn::Turn| TurnRow {
            turn: turn.number,
            time: turn.began,
            tokens: self.revision_of(turn.number).map_or(0, |at| {
                gauge.estimator.estimate(self.compose_at(at).bytes()).tokens
            }),
            changed: self.changed(turn.number, changes.get(&turn.number)),
            dropped: turn.number < first_kept,
            prompt: self
                .entry(turn.prompt)
                .map_or_else(String::new, |entry| shorten(entry.text(), PROMPT_CHARS)),
        };
        self.turns.here().iter().map(row).collect()
    }

    /// References by the turn they began at, cuts by the turn of their reply.
    fn changes(&self) -> BTreeMap<u32, Changes> {
        let mut changes: BTreeMap<u32, Changes> = BTreeMap::new();
        for entry in self.entries.here() {
            match &entry.content {
                Content::Output(output) => {
                    if let Some(reference) = &output.reference {
                        changes.entry(reference.turn).or_default().referenced += 1;
                    }
                }
                Content::Reply { cuts, .. } if !cuts.is_empty() => {
                    let count = u32::try_from(cuts.len()).unwrap_or(u32::MAX);
                    changes.entry(entry.turn).or_default().cut += count;
                }
                _ => {}
            }
        }
        changes
    }

    fn changed(&self, turn: u32, changes: Option<&Changes>) -> Vec<String> {
        let condensed = self
            .condensations
            .here()
            .iter()
            .filter(|done| done.turn == turn)
            .count();
        let mut words: Vec<String> = Vec::new();
        if condensed > 0 {
            words.push("condensed".to_owned());
        }
        let (referenced, cut) = changes.map_or((0, 0), |changes| (changes.referenced, changes.cut));
        for (word, count) in [("referenced", referenced), ("cut", cut)] {
            if count > 0 {
                words.push(format!("{word} {count}"));
            }
        }
        match self.turn(turn).and_then(|turn| turn.outcome.as_ref()) {
            Some(Outcome::Interrupted) => words.push("interrupted".to_owned()),
            Some(Outcome::Failed(_)) => words.push("failed".to_owned()),
            Some(Outcome::Completed) | None => {}
        }
        words
    }
}

/// The turns as a Markdown table.
pub fn turns_markdown(rows: &[TurnRow]) -> String {
    let mut lines = vec![
        "| turn | time | tokens | changed | prompt |".to_owned(),
        "|---:|---|---:|---|---|".to_owned(),
    ];
    lines.extend(rows.iter().map(|row| {
        let number = if row.dropped {
            format!("({})", row.turn)
        } else {
            row.turn.to_string()
        };
        let prompt = row.prompt.replace('|', "\\|");
        format!(
            "| {number} | {} | {} | {} | {prompt} |",
            row.time.clock(),
            grouped(row.tokens),
            row.changed.join(", ")
        )
    }));
    lines.push("\nA number in brackets is a turn that has left the context; the record keeps it.".to_owned());
    lines.join("\n") + "\n"
}
