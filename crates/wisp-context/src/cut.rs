//! Cuts: stretches of a reply that retype an output of the same turn exactly.
//!
//! Once shown to the person, such a copy has done its job, and carrying it doubles what the output costs. Only
//! exact copies are cut: one changed character, an added line or a reordered one, and the text stays, because it
//! then says something the output does not.
//!
//! The reply is turned into a search automaton over whole lines; each output is streamed through it once. Time is
//! linear in both, memory is bounded by the reply, so an output of 16 MiB is no trouble.

mod blocks;
mod lines;
mod search;

use crate::entry::{Content, Cut, Entry, EntryId};
use crate::text::Text;

use blocks::Block;
use search::Search;

/// Fewest words a stretch must have to be cut, about two lines of prose.
pub const LEAST_WORDS: u32 = 24;

/// The tool whose output has line numbers in front, which are formatting.
const NUMBERED_TOOL: &str = "read_file";

/// Looks for stretches of one reply in the outputs of its turn.
///
/// ```
/// use wisp_context::{EntryId, cut::Finder};
/// let output = "alpha beta gamma delta\n".repeat(7);
/// let mut finder = Finder::new(&output);
/// finder.scan(EntryId(4), "run_command", [output.as_bytes()]);
/// assert_eq!(finder.cuts()[0].marker(), "(showed the person the run_command output, entry 4)");
/// ```
#[derive(Debug)]
pub struct Finder {
    blocks: Vec<Block>,
    plain: Search,
    numbered: Search,
    outputs: Vec<Scanned>,
}

/// Which blocks one output reproduces.
#[derive(Debug)]
struct Scanned {
    entry: EntryId,
    tool: Text,
    found: Vec<bool>,
}

impl Finder {
    /// Prepares a search for stretches of `reply`.
    pub fn new(reply: &str) -> Self {
        let blocks = blocks::of(reply);
        let search = |numbers| Search::new(blocks.iter().map(|block| block.lines(reply, numbers)), numbers);
        let (plain, numbered) = (search(false), search(true));
        Self {
            blocks,
            plain,
            numbered,
            outputs: Vec::new(),
        }
    }

    /// Streams one output through the search, in chunks that may break anywhere.
    pub fn scan<'a>(
        &mut self,
        entry: EntryId,
        tool: impl Into<Text>,
        chunks: impl IntoIterator<Item = &'a [u8]>,
    ) {
        let tool = tool.into();
        let search = if tool == NUMBERED_TOOL {
            &mut self.numbered
        } else {
            &mut self.plain
        };
        let found = search.scan(chunks);
        self.outputs.push(Scanned { entry, tool, found });
    }

    /// What all of it took so far: bytes read, bytes of lines looked up, and moves between states of the search. Grows with
    /// the sizes of the reply and the outputs and with nothing else, whatever they hold.
    pub fn work(&self) -> u64 {
        self.plain.work() + self.numbered.work()
    }

    /// The stretches to cut, in order, none touching another.
    pub fn cuts(&self) -> Vec<Cut> {
        let mut cuts: Vec<Cut> = Vec::new();
        let mut last: Option<(usize, usize)> = None;
        for (index, block) in self.blocks.iter().enumerate() {
            let Some(output) = self.output_for(index, last) else {
                continue;
            };
            let scanned = &self.outputs[output];
            match cuts.last_mut() {
                Some(cut) if block.adjoins && last == Some((index.wrapping_sub(1), output)) => {
                    cut.end = block.end;
                    cut.words += block.words;
                }
                _ => cuts.push(Cut {
                    start: block.start,
                    end: block.end,
                    output: scanned.entry,
                    tool: scanned.tool.clone(),
                    words: block.words,
                }),
            }
            last = Some((index, output));
        }
        cuts.retain(|cut| cut.words >= LEAST_WORDS && cut.end - cut.start > cut.marker().len());
        cuts
    }

    /// The output that reproduces block `index`: that of the block before if it can be, else the first.
    fn output_for(&self, index: usize, last: Option<(usize, usize)>) -> Option<usize> {
        let reproduces = |output: usize| self.outputs[output].found[index];
        last.map(|(_, output)| output)
            .filter(|&output| reproduces(output))
            .or_else(|| (0..self.outputs.len()).find(|&output| reproduces(output)))
    }
}

/// The cuts of every reply among the entries of one turn.
pub(crate) fn of_turn(entries: &[Entry]) -> Vec<(EntryId, Vec<Cut>)> {
    let replies = entries.iter().filter_map(|entry| match &entry.content {
        Content::Reply {
            text,
            interrupted: false,
            ..
        } => Some((entry.id, text)),
        _ => None,
    });
    replies
        .map(|(id, text)| (id, of_reply(text, entries)))
        .filter(|(_, cuts)| !cuts.is_empty())
        .collect()
}

/// The cuts of one reply against the outputs of its turn.
fn of_reply(reply: &str, entries: &[Entry]) -> Vec<Cut> {
    let enough = usize::try_from(LEAST_WORDS).unwrap_or(usize::MAX);
    if reply.split_whitespace().take(enough).count() < enough {
        return Vec::new();
    }
    let mut outputs = entries
        .iter()
        .filter_map(|entry| Some((entry.id, entry.output()?)))
        .peekable();
    if outputs.peek().is_none() {
        return Vec::new();
    }
    let mut finder = Finder::new(reply);
    for (id, output) in outputs {
        finder.scan(id, output.tool.clone(), [output.whole().as_bytes()]);
    }
    finder.cuts()
}

#[cfg(test)]
mod hard;
#[cfg(test)]
mod tests;
