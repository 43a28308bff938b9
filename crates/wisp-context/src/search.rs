//! Finding text in all of a conversation, also in what the model no longer sees.

use serde::Serialize;

use crate::entry::{Content, Entry, EntryId, Kind};
use crate::record::ThreadRecord;

/// Bytes of text shown around a match, on each side.
const AROUND: usize = 120;

/// An entry that has what was sought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The entry.
    pub entry: EntryId,
    /// Its turn.
    pub turn: u32,
    /// What it is.
    pub kind: Kind,
    /// Whether it has left the context.
    pub dropped: bool,
    /// The line of the entry the excerpt is from, from 1.
    pub line: u64,
    /// The text around the match, on one line.
    pub excerpt: String,
    /// How well it fits; only the order of hits says something.
    #[serde(skip)]
    rank: Rank,
}

/// How well an entry fits: smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Phrase,
    OneLine,
    SomeLines,
}

impl ThreadRecord {
    /// Entries that have every word of `words`, in any case: first those with the words as one phrase, then those
    /// with all of them on one line, then the rest; among equals the latest first. At most `most`. The instructions
    /// are not searched. Without words nothing is found.
    pub fn search(&self, words: &str, most: usize) -> Vec<Hit> {
        let query = Query::new(words);
        if query.words.is_empty() {
            return Vec::new();
        }
        // What the turn under way asks, and its call that searches, are in view and match every time.
        let open = self.open_turn().map(|turn| turn.number);
        let asks =
            |entry: &Entry| Some(entry.turn) == open && matches!(entry.kind(), Kind::Prompt | Kind::Calls);
        let entries = self
            .entries
            .here()
            .iter()
            .rev()
            .filter(|entry| entry.kind() != Kind::Instructions && !asks(entry));
        let mut hits: Vec<Hit> = entries.filter_map(|entry| query.find(entry)).collect();
        hits.sort_by_key(|hit| hit.rank);
        hits.truncate(most);
        hits
    }
}

/// What is sought, in lower case.
struct Query {
    phrase: String,
    words: Vec<String>,
}

impl Query {
    fn new(words: &str) -> Self {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        Self {
            phrase: words.join(" "),
            words,
        }
    }

    fn find(&self, entry: &Entry) -> Option<Hit> {
        let searched = text(entry);
        let lower = searched.to_lowercase();
        if !self.words.iter().all(|word| lower.contains(word)) {
            return None;
        }
        let (rank, line, at) = self.best_line(&lower)?;
        let shown = searched.lines().nth(line).unwrap_or_default();
        Some(Hit {
            entry: entry.id,
            turn: entry.turn,
            kind: entry.kind(),
            dropped: !entry.is_active(),
            line: crate::message::size(line) + 1,
            excerpt: around(shown, at),
            rank,
        })
    }

    /// The line that fits best: its rank, its index and where in it the match begins.
    fn best_line(&self, lower: &str) -> Option<(Rank, usize, usize)> {
        let ranked = lower.lines().enumerate().filter_map(|(index, line)| {
            let all = || self.words.iter().all(|word| line.contains(word));
            match line.find(&self.phrase) {
                Some(at) => Some((Rank::Phrase, index, at)),
                None if all() => Some((Rank::OneLine, index, line.find(&self.words[0])?)),
                None => Some((Rank::SomeLines, index, line.find(&self.words[0])?)),
            }
        });
        ranked.min_by_key(|(rank, index, _)| (*rank, *index))
    }
}

/// What of an entry is searched: its text, and of calls their arguments too.
fn text(entry: &Entry) -> std::borrow::Cow<'_, str> {
    match &entry.content {
        Content::Calls { text, calls } => {
            let calls = calls
                .iter()
                .map(|call| format!("{} {}", call.name, call.arguments));
            std::iter::once(text.as_str().to_owned())
                .chain(calls)
                .collect::<Vec<_>>()
                .join("\n")
                .into()
        }
        Content::Command { command, output, .. } => format!("{command}\n{output}").into(),
        _ => entry.text().into(),
    }
}

/// The part of a line around byte `at` of its lower-case form, which may differ in length from the line by a little.
fn around(line: &str, at: usize) -> String {
    let from = line.floor_char_boundary(at.saturating_sub(AROUND));
    let to = line.ceil_char_boundary((at + AROUND).min(line.len()));
    let (before, after) = (
        if from > 0 { "…" } else { "" },
        if to < line.len() { "…" } else { "" },
    );
    format!("{before}{}{after}", line[from.min(to)..to].trim())
}
