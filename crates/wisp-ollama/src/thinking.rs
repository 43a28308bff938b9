//! Thinking out of content, for servers and models that leave it there.
//!
//! Servers before 0.9 know no thinking at all, and a model made from a bare file prints its tags whatever the server
//! knows. One *leading* `<think>…</think>` is taken out of the content, as it streams: a tag may be cut anywhere, so
//! what could still become one is held. Tags further on are text: a person may be talking about them.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What a piece of content turned out to be. Either part may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// Belongs to the thinking.
    pub thinking: String,
    /// Belongs to the reply.
    pub content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but white space and the beginning of a tag so far.
    Undecided,
    /// Behind the opening tag; white space at its very start is dropped.
    Opened,
    /// In the thinking.
    Thinking,
    /// Behind the closing tag; white space before the reply is dropped.
    Closed,
    /// In the reply, to its end.
    Reply,
}

/// Splits a reply's content as it arrives.
#[derive(Debug, Clone)]
pub struct ThinkSplitter {
    state: State,
    held: String,
}

impl ThinkSplitter {
    /// A splitter for one reply. `opened` says that the prompt itself opened the thinking
    /// ([`Show::opens_thinking`](crate::Show::opens_thinking)), so that only the closing tag will show.
    pub fn new(opened: bool) -> Self {
        Self {
            state: if opened { State::Opened } else { State::Undecided },
            held: String::new(),
        }
    }

    /// Takes the next piece of content.
    pub fn push(&mut self, piece: &str) -> Split {
        self.held.push_str(piece);
        let mut split = Split::default();
        while self.step(&mut split) {}
        split
    }

    /// What was still held when the reply ended. Thinking that was never closed stays thinking.
    pub fn finish(&mut self) -> Split {
        let rest = std::mem::take(&mut self.held);
        match self.state {
            State::Opened | State::Thinking => Split {
                thinking: rest,
                content: String::new(),
            },
            State::Undecided | State::Closed | State::Reply => Split {
                thinking: String::new(),
                content: rest,
            },
        }
    }

    /// Decides on some of what is held; `false` when more has to arrive first.
    fn step(&mut self, split: &mut Split) -> bool {
        match self.state {
            State::Undecided => self.decide(),
            State::Opened => self.skip_space(State::Thinking),
            State::Closed => self.skip_space(State::Reply),
            State::Thinking => self.think(split),
            State::Reply => {
                split.content.push_str(&self.held);
                self.held.clear();
                false
            }
        }
    }

    fn decide(&mut self) -> bool {
        let seen = self.held.trim_start();
        if let Some(rest) = seen.strip_prefix(OPEN) {
            self.held = rest.to_owned();
            self.state = State::Opened;
        } else if OPEN.starts_with(seen) {
            return false;
        } else {
            self.state = State::Reply;
        }
        true
    }

    fn skip_space(&mut self, next: State) -> bool {
        self.held = self.held.trim_start().to_owned();
        if self.held.is_empty() {
            return false;
        }
        self.state = next;
        true
    }

    fn think(&mut self, split: &mut Split) -> bool {
        if let Some((thought, rest)) = self.held.split_once(CLOSE) {
            split.thinking.push_str(thought);
            self.held = rest.to_owned();
            self.state = State::Closed;
            return true;
        }
        let kept = beginning_of_close(&self.held);
        let rest = self.held.split_off(self.held.len() - kept);
        split.thinking.push_str(&self.held);
        self.held = rest;
        false
    }
}

/// Splits a whole content.
pub fn split(content: &str, opened: bool) -> Split {
    let mut splitter = ThinkSplitter::new(opened);
    let mut whole = splitter.push(content);
    let rest = splitter.finish();
    whole.thinking.push_str(&rest.thinking);
    whole.content.push_str(&rest.content);
    whole
}

/// How many of the last bytes could be the beginning of a closing tag.
fn beginning_of_close(text: &str) -> usize {
    (1..CLOSE.len())
        .rev()
        .find(|length| text.ends_with(&CLOSE[..*length]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Split, ThinkSplitter, split};
    use proptest::prelude::*;

    fn parts(thinking: &str, content: &str) -> Split {
        Split {
            thinking: thinking.into(),
            content: content.into(),
        }
    }

    #[test]
    fn only_a_leading_block_is_thinking() {
        for (text, thinking, content) in [
            ("<think>a</think>b", "a", "b"),
            ("\n <think>\na\n</think>\n\nb </think> c", "a\n", "b </think> c"),
            ("b <think>a</think>", "", "b <think>a</think>"),
            ("<thin", "", "<thin"),
            ("<thinking>x", "", "<thinking>x"),
            ("<think>never closed </thin", "never closed </thin", ""),
            ("<think></think>", "", ""),
            ("", "", ""),
            ("  \n", "", "  \n"),
            ("<think>a < b </ c</think>d", "a < b </ c", "d"),
        ] {
            assert_eq!(split(text, false), parts(thinking, content), "{text:?}");
        }
    }

    #[test]
    fn a_prompt_may_have_opened_the_block() {
        assert_eq!(split("so\n</think>\n\nyes", true), parts("so\n", "yes"));
        assert_eq!(split("no tag at all", true), parts("no tag at all", ""));
    }

    #[test]
    fn what_is_decided_is_given_at_once() {
        let mut splitter = ThinkSplitter::new(false);
        assert_eq!(splitter.push("<th"), parts("", ""));
        assert_eq!(splitter.push("ink>ab</"), parts("ab", ""));
        assert_eq!(splitter.push("i"), parts("</i", ""));
        assert_eq!(splitter.push("</think>c"), parts("", "c"));
        assert_eq!(splitter.push("d"), parts("", "d"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn cuts_change_nothing(
            parts in prop::collection::vec(prop::sample::select(vec!["<", "think>", "/think>", "é", " ", "\n", "ab"]), 0..16),
            opened: bool,
        ) {
            let text = parts.concat();
            let mut splitter = ThinkSplitter::new(opened);
            let mut found = Split::default();
            for piece in text.split_inclusive(|_| true).map(|c| splitter.push(c)).collect::<Vec<_>>() {
                found.thinking.push_str(&piece.thinking);
                found.content.push_str(&piece.content);
            }
            let rest = splitter.finish();
            found.thinking.push_str(&rest.thinking);
            found.content.push_str(&rest.content);
            prop_assert_eq!(found, split(&text, opened));
        }
    }
}
