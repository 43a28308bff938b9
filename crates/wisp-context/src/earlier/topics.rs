//! What a line is about, so that a newer line about the same thing stands with an older one, or instead of it.
//!
//! Nobody says "I change my mind about the cache". They say "Drop SQLite, flat files it is", thirty turns after "The cache is
//! kept in SQLite". What the two share is a word that few other lines have. So a line's topics are its words without those
//! that every sentence has, cut to a stem, and a topic that many lines have tells nothing.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Line;

/// Characters of a word that tell it from others: `deploy` of `deploys` and `deployment`.
const STEM: usize = 6;
/// The shortest word that is a topic, characters.
const SHORTEST: usize = 3;
/// Lines that may share a topic, and the share of all lines that may: one in so many.
const FEW: u32 = 3;
const SHARE: u32 = 12;

/// Words that say nothing of what a sentence is about.
const COMMON: &[&str] = &[
    "about", "after", "again", "all", "also", "and", "any", "are", "ask", "back", "because", "been",
    "before", "but", "call", "can", "come", "could", "did", "does", "don", "done", "down", "each", "else",
    "even", "every", "few", "file", "files", "find", "first", "fix", "for", "forget", "from", "get", "give",
    "goes", "going", "good", "had", "has", "have", "her", "here", "him", "his", "how", "into", "its", "just",
    "keep", "kept", "know", "last", "let", "like", "line", "list", "look", "made", "make", "many", "may",
    "more", "most", "move", "much", "must", "name", "need", "never", "new", "next", "not", "now", "off",
    "old", "one", "only", "other", "our", "out", "over", "own", "part", "please", "put", "read", "run",
    "said", "same", "say", "see", "set", "shall", "she", "should", "show", "some", "still", "stop", "such",
    "sure", "take", "tell", "than", "thank", "thanks", "that", "the", "their", "them", "then", "there",
    "these", "they", "thing", "this", "time", "too", "turn", "two", "under", "until", "use", "used", "using",
    "very", "want", "was", "way", "well", "were", "what", "when", "where", "which", "while", "who", "whole",
    "why", "will", "with", "work", "would", "write", "yes", "you", "your",
];

/// What a text is about, each topic once, as a number.
pub(super) fn of(text: &str) -> Box<[u64]> {
    let mut topics: Vec<u64> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .map(str::to_lowercase)
        .filter(|word| {
            let long = word.chars().count() >= SHORTEST;
            let named = word.chars().any(char::is_alphabetic);
            long && named && !COMMON.contains(&word.as_str())
        })
        .map(|word| number(&word))
        .collect();
    topics.sort_unstable();
    topics.dedup();
    topics.into()
}

fn number(word: &str) -> u64 {
    let singular = match word.strip_suffix('s') {
        Some(rest) if !rest.ends_with('s') && rest.chars().count() >= SHORTEST => rest,
        _ => word,
    };
    let stem: String = singular.chars().take(STEM).collect();
    let mut hasher = DefaultHasher::new();
    stem.hash(&mut hasher);
    hasher.finish()
}

/// How many lines have each topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    of: HashMap<u64, u32>,
    lines: u32,
}

impl Counts {
    /// Counts a line.
    pub(super) fn add(&mut self, line: &Line) {
        self.lines += 1;
        for topic in &line.topics {
            *self.of.entry(*topic).or_default() += 1;
        }
    }

    /// Whether so few lines have a topic that it tells what they are about.
    fn tells(&self, topic: u64) -> bool {
        let count = self.of.get(&topic).copied().unwrap_or_default();
        count <= FEW.max(self.lines / SHARE)
    }
}

/// The newest line about each topic.
pub(super) struct Newest<'a> {
    counts: Counts,
    by_topic: HashMap<u64, &'a Line>,
}

impl<'a> Newest<'a> {
    /// Of these lines, `newer` ones among them, which are not counted yet. A question changes nothing, so it is none.
    pub(super) fn of(lines: impl Iterator<Item = &'a Line>, newer: &'a [Line], counts: &Counts) -> Self {
        let mut counts = counts.clone();
        for line in newer {
            counts.add(line);
        }
        let mut by_topic: HashMap<u64, &Line> = HashMap::new();
        for line in lines.chain(newer).filter(|line| !line.text.ends_with('?')) {
            for topic in line.topics.iter().filter(|topic| counts.tells(**topic)) {
                let newest = by_topic.entry(*topic).or_insert(line);
                if (newest.turn, newest.entry) <= (line.turn, line.entry) {
                    *newest = line;
                }
            }
        }
        Self { counts, by_topic }
    }

    /// The newest line about each thing that a line is about, where that is a newer one; the newest first, each once.
    pub(super) fn than(&self, line: &Line) -> Vec<&'a Line> {
        let topics = line.topics.iter().filter(|topic| self.counts.tells(**topic));
        let mut newer: Vec<&Line> = topics
            .filter_map(|topic| self.by_topic.get(topic).copied())
            .filter(|newest| newest.entry > line.entry && newest.text != line.text)
            .collect();
        newer.sort_by_key(|line| std::cmp::Reverse(line.entry));
        newer.dedup_by_key(|line| (line.entry, line.text.clone()));
        newer
    }
}
