//! A reply as it arrives: thinking taken out of content, text held back while it could still be a tool call, and at
//! the end the calls a server's parser missed.

use wisp_ollama::recover::{calls_in, could_become_calls, prose_around};
use wisp_ollama::thinking::{Split, ThinkSplitter};
use wisp_ollama::unread::{Unread, ends_inside_call, unread};
use wisp_ollama::{ChatLine, DoneReason, Reply, ToolCall, ToolDefinition};

use super::repeats::Repeats;
use crate::guided::decode::{Decoder, GuidedReply, closed, said};

/// What of a line can be shown at once. Either may be empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Thinking.
    pub thinking: String,
    /// The reply's text.
    pub content: String,
    /// Whether all text shown before was thinking.
    pub was_thinking: bool,
}

/// A whole reply, put right.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arrived {
    /// The reply.
    pub reply: Reply,
    /// Whether its calls were written as text and recovered from it.
    pub recovered: bool,
    /// A call that was written as text and not read.
    pub unread: Option<Unread>,
    /// Whether it was cut for its length inside a call.
    pub cut_call: bool,
    /// A guided reply as the model wrote it.
    pub raw: Option<String>,
    /// What of its text was not shown: all of a reply that is nothing but a call which was not read or was cut.
    pub unshown: String,
}

/// Puts a reply right as it arrives.
pub struct Arriving<'a> {
    splitter: ThinkSplitter,
    opened: bool,
    offered: &'a [ToolDefinition],
    reply: Reply,
    held: String,
    holding: bool,
    /// White space that is shown with what comes after it; none once text was shown.
    blank: Option<String>,
    repeats: Repeats,
    repeated: bool,
    /// Reads a reply that is held to the schema of an action.
    guided: Option<Decoder>,
}

impl<'a> Arriving<'a> {
    /// A reply to a request that offered these tools. `opened` says that the prompt opened the thinking, so that the
    /// reply begins inside it.
    pub fn new(opened: bool, offered: &'a [ToolDefinition]) -> Self {
        Self {
            splitter: ThinkSplitter::new(opened),
            opened,
            offered,
            reply: Reply::default(),
            held: String::new(),
            holding: !offered.is_empty(),
            blank: Some(String::new()),
            repeats: Repeats::default(),
            repeated: false,
            guided: None,
        }
    }

    /// Whether the reply is an action or an answer as JSON: of an answer the text is shown, decoded, and nothing else.
    #[must_use]
    pub fn guided(mut self, guided: bool) -> Self {
        self.guided = guided.then(Decoder::default);
        self
    }

    /// Takes a line.
    pub fn take(&mut self, line: &ChatLine) -> Shown {
        self.reply.add_calls(&line.tool_calls);
        if line.done.is_some() {
            self.reply.done.clone_from(&line.done);
        }
        if self.reply.remote_host.is_none() {
            self.reply.remote_host.clone_from(&line.remote_host);
        }
        self.repeated |= self.repeats.push(&line.thinking) || self.repeats.push(&line.content);
        let split = self.splitter.push(&line.content);
        let mut shown = self.add(split);
        if !line.thinking.is_empty() {
            self.reply.thinking.push_str(&line.thinking);
            shown.thinking.insert_str(0, &line.thinking);
        }
        shown
    }

    /// Whether the model repeats itself without end.
    pub fn is_repetition(&self) -> bool {
        self.repeated
    }

    /// Whether text is held back.
    pub fn is_holding(&self) -> bool {
        let hidden = |guided: &Decoder| !guided.raw().is_empty() && !guided.answers();
        !self.held.is_empty() || self.guided.as_ref().is_some_and(hidden)
    }

    /// What has arrived, for a reply that will not be whole. No call of it may be run.
    pub fn partial(mut self) -> Reply {
        let rest = self.splitter.finish();
        self.add(rest);
        if let Some(decoder) = self.guided.take() {
            decoder.text().clone_into(&mut self.reply.content);
        }
        self.reply
    }

    /// The whole reply, and what of it had not been shown.
    pub fn finish(mut self) -> (Arrived, Shown) {
        let rest = self.rest();
        let mut shown = self.add(rest);
        if let Some(decoder) = self.guided.take() {
            return self.finish_guided(&decoder, shown);
        }
        let mut recovered = false;
        if self.reply.tool_calls.is_empty()
            && !self.offered.is_empty()
            && let Some(calls) = calls_in(&self.reply.content, self.offered)
        {
            self.reply.tool_calls = calls;
            self.reply.content = prose_around(&self.reply.content);
            self.held.clear();
            shown.content.clear();
            recovered = true;
        }
        let mut arrived = Arrived {
            recovered,
            ..Arrived::default()
        };
        if self.reply.tool_calls.is_empty() {
            let cut = ended_for(&self.reply, &DoneReason::Length);
            arrived.cut_call = cut && ends_inside_call(&self.reply.content, self.offered);
            arrived.unread = unread(&self.reply.content, self.offered).filter(|_| !cut);
        }
        let held = std::mem::take(&mut self.held);
        let held = self.visible(held);
        if arrived.cut_call || matches!(arrived.unread, Some(Unread::Whole(_))) {
            arrived.unshown = held;
        } else {
            shown.content.push_str(&held);
        }
        arrived.reply = self.reply;
        (arrived, shown)
    }

    /// A whole guided reply: its answer as the text, or its action as a call of that name, which the turn's guide puts
    /// into the terms of a tool. One that is neither is text: the server did not hold the model to the schema.
    fn finish_guided(mut self, decoder: &Decoder, mut shown: Shown) -> (Arrived, Shown) {
        let mut arrived = Arrived::default();
        let cut = ended_for(&self.reply, &DoneReason::Length);
        let raw = if cut {
            decoder.raw().trim().to_owned()
        } else {
            closed(decoder.raw())
        };
        match said(&raw) {
            GuidedReply::Answer(text) => self.reply.content = text,
            GuidedReply::Action(name, arguments) => {
                self.reply.content.clear();
                self.reply.tool_calls = vec![ToolCall::new(name, arguments)];
            }
            GuidedReply::Neither if decoder.answers() => decoder.text().clone_into(&mut self.reply.content),
            GuidedReply::Neither if cut => {
                self.reply.content.clone_from(&raw);
                arrived.cut_call = raw.starts_with('{');
            }
            GuidedReply::Neither => {
                self.reply.content.clone_from(&raw);
                let text = self.visible(raw.clone());
                shown.content.push_str(&text);
            }
        }
        arrived.raw = Some(raw);
        arrived.reply = self.reply;
        (arrived, shown)
    }

    /// What the splitter still held. A block the prompt opened and a finished reply never closed was no thinking.
    fn rest(&mut self) -> Split {
        let mut rest = self.splitter.finish();
        let stopped = ended_for(&self.reply, &DoneReason::Stop);
        let silent = self.reply.content.is_empty() && self.reply.tool_calls.is_empty();
        if self.opened && stopped && silent && rest.content.is_empty() {
            rest.content = std::mem::take(&mut self.reply.thinking) + &rest.thinking;
            rest.thinking = String::new();
        }
        rest
    }

    fn add(&mut self, split: Split) -> Shown {
        if split.was_thinking {
            let before = std::mem::take(&mut self.reply.content);
            self.reply.thinking.push_str(&before);
            self.held.clear();
            self.holding = !self.offered.is_empty();
        }
        self.reply.thinking.push_str(&split.thinking);
        if let Some(decoder) = &mut self.guided {
            let text = decoder.push(&split.content);
            return Shown {
                thinking: split.thinking,
                content: self.visible(text),
                was_thinking: false,
            };
        }
        self.reply.content.push_str(&split.content);
        let mut shown = Shown {
            thinking: split.thinking,
            content: split.content,
            was_thinking: split.was_thinking && self.blank.replace(String::new()).is_none(),
        };
        if self.holding {
            self.held.push_str(&shown.content);
            shown.content.clear();
            if !could_become_calls(&self.held, self.offered) {
                self.holding = false;
                shown.content = std::mem::take(&mut self.held);
            }
        }
        shown.content = self.visible(shown.content);
        shown
    }

    /// What can be shown of text: white space at a reply's beginning waits for something to stand before.
    fn visible(&mut self, text: String) -> String {
        let Some(blank) = &mut self.blank else {
            return text;
        };
        blank.push_str(&text);
        if blank.trim().is_empty() {
            return String::new();
        }
        self.blank.take().unwrap_or_default()
    }
}

/// Whether a reply ended for this reason.
pub fn ended_for(reply: &Reply, reason: &DoneReason) -> bool {
    reply.done.as_ref().is_some_and(|done| done.reason == *reason)
}

#[cfg(test)]
mod tests {
    use super::{Arrived, Arriving, Shown};
    use serde_json::json;
    use wisp_ollama::{ChatLine, Done, DoneReason, Metrics, ToolDefinition};

    fn tools() -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: "list_dir".into(),
            description: String::new(),
            parameters: json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}}),
        }]
    }

    fn content(text: &str) -> ChatLine {
        ChatLine {
            content: text.into(),
            ..ChatLine::default()
        }
    }

    fn end() -> ChatLine {
        ChatLine {
            done: Some(Done {
                reason: DoneReason::Stop,
                metrics: Metrics::default(),
            }),
            ..ChatLine::default()
        }
    }

    fn play(opened: bool, offered: &[ToolDefinition], lines: &[ChatLine]) -> (Vec<Shown>, Arrived) {
        let mut arriving = Arriving::new(opened, offered);
        let mut shown: Vec<Shown> = lines.iter().map(|line| arriving.take(line)).collect();
        let (arrived, last) = arriving.finish();
        shown.push(last);
        (shown, arrived)
    }

    fn said(shown: &[Shown]) -> String {
        shown.iter().map(|s| s.content.as_str()).collect()
    }

    #[test]
    fn a_call_written_as_text_is_never_shown_and_becomes_a_call() {
        let lines = [
            content("{\"name\": \"list_dir\","),
            content(" \"arguments\": {\"path\": \"src\"}}"),
            end(),
        ];
        let (shown, arrived) = play(false, &tools(), &lines);
        assert_eq!(said(&shown), "");
        assert!(arrived.recovered);
        assert_eq!(arrived.reply.content, "");
        assert_eq!(arrived.reply.tool_calls[0].arguments["path"], "src");
    }

    #[test]
    fn the_prose_around_a_call_in_a_fence_stays_the_replys_text() {
        let lines = [
            content("I look at it.\n\n```json\n{\"name\": \"list_dir\","),
            content(" \"arguments\": {\"path\": \"src\"}}\n```\n"),
            end(),
        ];
        let (_, arrived) = play(false, &tools(), &lines);
        assert!(arrived.recovered);
        assert_eq!(arrived.reply.content, "I look at it.");
        assert_eq!(arrived.reply.tool_calls[0].arguments["path"], "src");
    }

    #[test]
    fn text_that_turns_out_to_be_none_is_shown_whole() {
        let lines = [content("{\"a\":"), content(" 1} is JSON"), end()];
        let (shown, arrived) = play(false, &tools(), &lines);
        assert_eq!(said(&shown), "{\"a\": 1} is JSON");
        assert!(!arrived.recovered && arrived.reply.tool_calls.is_empty());
        let (shown, _) = play(false, &tools(), &[content("Yes"), content(", it is"), end()]);
        assert_eq!(shown[0].content, "Yes");
    }

    #[test]
    fn without_tools_nothing_is_held_back() {
        let (shown, arrived) = play(false, &[], &[content("{\"na"), content("me\": 1}"), end()]);
        assert_eq!(shown[0].content, "{\"na");
        assert!(!arrived.recovered);
    }

    #[test]
    fn a_block_of_thinking_never_lands_in_content() {
        let lines = [
            content("<thi"),
            content("nk>hm"),
            content("m</think>\n\nYes."),
            end(),
        ];
        let (shown, arrived) = play(false, &tools(), &lines);
        assert_eq!(
            (arrived.reply.thinking.as_str(), arrived.reply.content.as_str()),
            ("hmm", "Yes.")
        );
        assert_eq!(said(&shown), "Yes.");
    }

    #[test]
    fn a_block_the_prompt_opened_is_thinking_only_when_it_is_closed() {
        let (_, closed) = play(true, &[], &[content("so</think>yes"), end()]);
        assert_eq!(
            (closed.reply.thinking.as_str(), closed.reply.content.as_str()),
            ("so", "yes")
        );
        let (_, never) = play(true, &[], &[content("plain "), content("text"), end()]);
        assert_eq!(
            (never.reply.thinking.as_str(), never.reply.content.as_str()),
            ("", "plain text")
        );
    }

    #[test]
    fn thinking_whose_end_alone_shows_is_none_of_the_reply_wherever_it_is_cut() {
        let whole = [
            content("Let me think of 42.\n</think>\n\nThe answer is 7."),
            end(),
        ];
        let (shown, arrived) = play(false, &tools(), &whole);
        assert_eq!(said(&shown), "The answer is 7.");
        assert!(shown.iter().all(|s| !s.was_thinking));
        assert_eq!(arrived.reply.content, "The answer is 7.");
        let cut = [
            content("Let me think of 42."),
            content("\n</th"),
            content("ink>\n\nThe answer is 7."),
            end(),
        ];
        let (shown, arrived) = play(false, &tools(), &cut);
        assert!(shown[2].was_thinking, "what was shown is taken back: {shown:?}");
        assert_eq!(
            (arrived.reply.thinking.as_str(), arrived.reply.content.as_str()),
            ("Let me think of 42.\n", "The answer is 7.")
        );
        let call =
            content("I run it.\n</think>\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"src\"}}");
        let (shown, arrived) = play(false, &tools(), &[call, end()]);
        assert_eq!((said(&shown).as_str(), arrived.recovered), ("", true));
    }

    #[test]
    fn a_reply_of_nothing_but_white_space_shows_nothing() {
        let (shown, _) = play(false, &tools(), &[content("\n\n "), content("\n"), end()]);
        assert_eq!(said(&shown), "");
        let (shown, arrived) = play(false, &[], &[content("\n "), content("Yes\n"), end()]);
        assert_eq!(
            (said(&shown).as_str(), arrived.reply.content.as_str()),
            ("\n Yes\n", "\n Yes\n")
        );
    }

    #[test]
    fn what_had_arrived_of_a_broken_reply_is_kept_with_its_text() {
        let tools = tools();
        let mut arriving = Arriving::new(false, &tools);
        arriving.take(&content(
            "{\"name\": \"list_dir\", \"arguments\": {\"path\": \"src\"}}",
        ));
        let partial = arriving.partial();
        assert!(partial.tool_calls.is_empty());
        assert!(partial.content.starts_with("{\"name\""));
    }
}
