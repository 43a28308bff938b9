//! Thinking out of content, for servers and models that leave it there.
//!
//! Servers before 0.9 know no thinking at all, and a model made from a bare file prints its tags whatever the server
//! knows. One *leading* `<think>…</think>` is taken out of the content, as it streams: a tag may be cut anywhere, so
//! what could still become one is held. A template may also have opened the block in the prompt without saying so, and
//! then only `</think>` shows: the first one at a border of a line, outside of code, ends thinking that began with the
//! reply. Any other tag is text: a person may be talking about them.

use crate::prose::Prose;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What a piece of content turned out to be. Either part may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// Belongs to the thinking.
    pub thinking: String,
    /// Belongs to the reply.
    pub content: String,
    /// Whether the content of every piece before this one was thinking: its end came without a beginning.
    pub was_thinking: bool,
}

impl Split {
    /// Adds what came next.
    pub fn add(&mut self, next: &Self) {
        if next.was_thinking {
            self.thinking.push_str(&std::mem::take(&mut self.content));
            self.was_thinking = true;
        }
        self.thinking.push_str(&next.thinking);
        self.content.push_str(&next.content);
    }
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
    prose: Prose,
    stray: Stray,
}

/// What a closing tag within the reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stray {
    /// The end of thinking that began with the reply.
    Ends,
    /// Nothing, where it has a line of its own.
    Nothing,
    /// Text.
    Text,
}

impl ThinkSplitter {
    /// A splitter for one reply. `opened` says that the prompt itself opened the thinking
    /// ([`Show::opens_thinking`](crate::Show::opens_thinking)), so that only the closing tag will show.
    pub fn new(opened: bool) -> Self {
        Self {
            state: if opened { State::Opened } else { State::Undecided },
            held: String::new(),
            prose: Prose::default(),
            stray: Stray::Ends,
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
        let mut split = Split::default();
        if self.state == State::Reply {
            self.reply(&mut split, true);
        }
        let rest = std::mem::take(&mut self.held);
        match self.state {
            State::Opened | State::Thinking => split.thinking.push_str(&rest),
            State::Undecided | State::Closed | State::Reply => split.content.push_str(&rest),
        }
        split
    }

    /// Decides on some of what is held; `false` when more has to arrive first.
    fn step(&mut self, split: &mut Split) -> bool {
        match self.state {
            State::Undecided => self.decide(),
            State::Opened => self.skip_space(State::Thinking),
            State::Closed => self.closed(),
            State::Thinking => self.think(split),
            State::Reply => self.reply(split, false),
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

    /// Behind a closing tag: white space is dropped, and so is the tag once more.
    fn closed(&mut self) -> bool {
        self.stray = Stray::Nothing;
        self.held = self.held.trim_start().to_owned();
        if let Some(rest) = self.held.strip_prefix(CLOSE) {
            self.held = rest.to_owned();
            return true;
        }
        if !self.held.is_empty() && CLOSE.starts_with(&self.held) {
            return false;
        }
        self.skip_space(State::Reply)
    }

    /// Gives the reply's text up to the next tag and decides what that one is. `ended` says that no more will come.
    fn reply(&mut self, split: &mut Split, ended: bool) -> bool {
        let next = [OPEN, CLOSE]
            .into_iter()
            .filter_map(|tag| Some((self.held.find(tag)?, tag)));
        let Some((at, tag)) = next.min() else {
            let kept = if ended {
                0
            } else {
                beginning_of(&self.held, OPEN).max(beginning_of(&self.held, CLOSE))
            };
            self.give(self.held.len() - kept, split);
            return false;
        };
        self.give(at, split);
        if tag == OPEN {
            if !self.prose.is_code() {
                self.stray = Stray::Text;
            }
            self.give(tag.len(), split);
            return true;
        }
        let next = self.held[tag.len()..].chars().next();
        if next.is_none() && !ended {
            return false;
        }
        match self.stray {
            Stray::Ends if self.prose.ends_before(next) => {
                split.add(&Split {
                    was_thinking: true,
                    ..Split::default()
                });
                self.held.drain(..tag.len());
                self.state = State::Closed;
            }
            Stray::Ends | Stray::Nothing if self.prose.is_dropped_before(next) => {
                self.held.drain(..tag.len());
            }
            Stray::Ends | Stray::Nothing | Stray::Text => self.give(tag.len(), split),
        }
        true
    }

    /// Gives so many held bytes as content.
    fn give(&mut self, bytes: usize, split: &mut Split) {
        let rest = self.held.split_off(bytes);
        self.prose.push(&self.held);
        split.content.push_str(&self.held);
        self.held = rest;
    }

    fn think(&mut self, split: &mut Split) -> bool {
        if let Some((thought, rest)) = self.held.split_once(CLOSE) {
            split.thinking.push_str(thought);
            self.held = rest.to_owned();
            self.state = State::Closed;
            return true;
        }
        let kept = beginning_of(&self.held, CLOSE);
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
    whole.add(&splitter.finish());
    whole
}

/// How many of the last bytes could be the beginning of a tag.
fn beginning_of(text: &str, tag: &str) -> usize {
    (1..tag.len())
        .rev()
        .find(|length| text.ends_with(&tag[..*length]))
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
            was_thinking: false,
        }
    }

    /// What a whole content comes to, as thinking and reply.
    fn both(text: &str) -> (String, String) {
        let found = split(text, false);
        (found.thinking, found.content)
    }

    #[test]
    fn a_closing_tag_alone_ends_thinking_that_began_with_the_reply() {
        for (text, thinking, content) in [
            (
                "so 42.\n</think>\n\nThe answer is 7.",
                "so 42.\n",
                "The answer is 7.",
            ),
            ("so 42.</think>The answer is 7.", "so 42.", "The answer is 7."),
            ("so 42 </think>\nThe answer is 7.", "so 42 ", "The answer is 7."),
            ("</think>\n\nThe answer is 7.", "", "The answer is 7."),
            ("</think></think>yes", "", "yes"),
            ("</think> <", "", "<"),
            ("say `x` and\n</think>\nyes", "say `x` and\n", "yes"),
            ("```\nx\n```\n</think>\nyes", "```\nx\n```\n", "yes"),
            ("only thinking\n</think>\n", "only thinking\n", ""),
            ("The answer is 7. </think>", "", "The answer is 7. "),
            (
                "<think>a</think>The answer is 7.\n</think>",
                "a",
                "The answer is 7.\n",
            ),
            ("a\n</think>\nb\n</think>\nc", "a\n", "b\n\nc"),
        ] {
            assert_eq!(both(text), (thinking.to_owned(), content.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn a_closing_tag_that_is_talked_about_is_text() {
        for text in [
            "Write `<think>` and `</think>` around it. The answer is 7.",
            "the tag </think> ends it",
            "the tag \"</think>\" ends it",
            "the tag (</think>) ends it",
            "```\n</think>\n```\nis the tag",
            "~~~html\nx\n</think>\n~~~",
            "a block is\n<think>\nx\n</think>\nas a rule",
            "`\n</think>\n` is one too",
        ] {
            assert_eq!(both(text), (String::new(), text.to_owned()), "{text:?}");
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
            parts in prop::collection::vec(
                prop::sample::select(vec!["<", "think>", "/think>", "</think>", "é", " ", "\n", "ab", ".", "`", "```"]), 0..16),
            opened: bool,
        ) {
            let text = parts.concat();
            let mut splitter = ThinkSplitter::new(opened);
            let mut found = Split::default();
            for piece in text.split_inclusive(|_| true) {
                found.add(&splitter.push(piece));
            }
            found.add(&splitter.finish());
            prop_assert_eq!(found, split(&text, opened));
        }
    }
}
