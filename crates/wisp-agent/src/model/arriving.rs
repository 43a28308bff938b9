//! A reply as it arrives: thinking taken out of content, text held back while it could still be a tool call, and at
//! the end the calls a server's parser missed.

use wisp_ollama::recover::{calls_in, could_become_calls};
use wisp_ollama::thinking::{Split, ThinkSplitter};
use wisp_ollama::{ChatLine, DoneReason, Reply, ToolDefinition};

use super::repeats::Repeats;

/// What of a line can be shown at once. Either may be empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Thinking.
    pub thinking: String,
    /// The reply's text.
    pub content: String,
}

/// A whole reply, put right.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arrived {
    /// The reply.
    pub reply: Reply,
    /// Whether its calls were written as text and recovered from it.
    pub recovered: bool,
}

/// Puts a reply right as it arrives.
pub struct Arriving<'a> {
    splitter: ThinkSplitter,
    opened: bool,
    offered: &'a [ToolDefinition],
    reply: Reply,
    held: String,
    holding: bool,
    repeats: Repeats,
    repeated: bool,
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
            repeats: Repeats::default(),
            repeated: false,
        }
    }

    /// Takes a line.
    pub fn take(&mut self, line: &ChatLine) -> Shown {
        self.reply.tool_calls.extend_from_slice(&line.tool_calls);
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
        !self.held.is_empty()
    }

    /// What has arrived, for a reply that will not be whole. No call of it may be run.
    pub fn partial(mut self) -> Reply {
        let rest = self.splitter.finish();
        self.reply.thinking.push_str(&rest.thinking);
        self.reply.content.push_str(&rest.content);
        self.reply
    }

    /// The whole reply, and what of it had not been shown.
    pub fn finish(mut self) -> (Arrived, Shown) {
        let rest = self.rest();
        let mut shown = self.add(rest);
        let mut recovered = false;
        if self.reply.tool_calls.is_empty()
            && !self.offered.is_empty()
            && let Some(calls) = calls_in(&self.reply.content, self.offered)
        {
            self.reply.tool_calls = calls;
            self.reply.content.clear();
            self.held.clear();
            shown.content.clear();
            recovered = true;
        }
        shown.content.push_str(&std::mem::take(&mut self.held));
        let reply = self.reply;
        (Arrived { reply, recovered }, shown)
    }

    /// What the splitter still held. A block the prompt opened and a finished reply never closed was no thinking.
    fn rest(&mut self) -> Split {
        let mut rest = self.splitter.finish();
        let stopped = self
            .reply
            .done
            .as_ref()
            .is_some_and(|d| d.reason == DoneReason::Stop);
        let silent = self.reply.content.is_empty() && self.reply.tool_calls.is_empty();
        if self.opened && stopped && silent && rest.content.is_empty() {
            rest.content = std::mem::take(&mut self.reply.thinking) + &rest.thinking;
            rest.thinking = String::new();
        }
        rest
    }

    fn add(&mut self, split: Split) -> Shown {
        self.reply.thinking.push_str(&split.thinking);
        self.reply.content.push_str(&split.content);
        let mut shown = Shown {
            thinking: split.thinking,
            content: split.content,
        };
        if self.holding {
            self.held.push_str(&shown.content);
            shown.content.clear();
            if !could_become_calls(&self.held, self.offered) {
                self.holding = false;
                shown.content = std::mem::take(&mut self.held);
            }
        }
        shown
    }
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
