//! A reply as blocks: fenced code without its fences, and paragraphs.

use super::lines;

/// One block of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte, the last line's end not included.
    pub(super) end: usize,
    /// Nothing but blank lines lies between it and the block before.
    pub(super) adjoins: bool,
    /// Words, formatting left out.
    pub(super) words: u32,
}

impl Block {
    /// Its lines as they are compared.
    pub(super) fn lines(&self, reply: &str, numbers: bool) -> Vec<Vec<u8>> {
        lines::all(&reply[self.start..self.end], numbers)
    }
}

/// The blocks of a reply, in order.
pub(super) fn of(reply: &str) -> Vec<Block> {
    let mut split = Split {
        reply,
        blocks: Vec::new(),
        open: None,
        fence: None,
        adjoins: false,
    };
    let mut at = 0;
    for line in reply.split_inclusive('\n') {
        split.line(at, line.trim_end_matches(['\n', '\r']));
        at += line.len();
    }
    split.close();
    split.blocks
}

/// The walk over a reply's lines.
struct Split<'a> {
    reply: &'a str,
    blocks: Vec<Block>,
    /// Start and end of the block being read.
    open: Option<(usize, usize)>,
    /// The fence that must close the code being read.
    fence: Option<&'a str>,
    /// Nothing but blank lines since the last block.
    adjoins: bool,
}

impl<'a> Split<'a> {
    fn line(&mut self, at: usize, line: &'a str) {
        let mark = fence(line);
        match (self.fence, mark) {
            (Some(open), Some(mark)) if mark.starts_with(open) && line.trim() == mark => {
                self.close();
                (self.fence, self.adjoins) = (None, false);
            }
            (None, Some(mark)) => {
                self.close();
                (self.fence, self.adjoins) = (Some(mark), false);
            }
            (None, None) if line.trim().is_empty() => self.close(),
            (Some(_), _) | (None, None) => self.extend(at, line),
        }
    }

    fn extend(&mut self, at: usize, line: &str) {
        let end = at + line.len();
        self.open = Some((self.open.map_or(at, |(start, _)| start), end));
    }

    fn close(&mut self) {
        let Some((start, end)) = self.open.take() else {
            return;
        };
        let lines = lines::all(&self.reply[start..end], false);
        let words = lines
            .iter()
            .map(|line| line.split(|&byte| byte == b' ').count())
            .sum::<usize>();
        let words = u32::try_from(words).unwrap_or(u32::MAX);
        self.blocks.push(Block {
            start,
            end,
            adjoins: self.adjoins,
            words,
        });
        self.adjoins = true;
    }
}

/// The run of backticks or tildes a fence line begins with, three at least.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let end = line.find(|other| other != mark).unwrap_or(line.len());
    (end >= 3).then(|| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_not_part_of_code_and_part_stretches() {
        let reply = "Here:\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\nDone.\n\nBye.\n";
        let found: Vec<_> = of(reply)
            .iter()
            .map(|b| (&reply[b.start..b.end], b.adjoins))
            .collect();
        assert_eq!(
            found,
            [
                ("Here:", false),
                ("let a = 1;\n\nlet b = 2;", false),
                ("Done.", false),
                ("Bye.", true)
            ]
        );
    }

    #[test]
    fn an_unclosed_fence_runs_to_the_end_and_a_shorter_one_does_not_close_it() {
        let reply = "````\na\n```\nb";
        let blocks = of(reply);
        assert_eq!(blocks.len(), 1);
        assert_eq!(&reply[blocks[0].start..blocks[0].end], "a\n```\nb");
    }
}
