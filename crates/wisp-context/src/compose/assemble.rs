//! Putting entries together into messages whose roles every template accepts, and in which no text but the system
//! message and the person's own prompts holds a token of a template.

use std::borrow::Cow;
use std::ops::Range;

use wisp_template_tokens::boundary;

use crate::entry::{Content, Cut, Entry, Revision};
use crate::message::{MESSAGE_FRAME, Message, Part, PartKind, Request, Role, ToolCall, size};
use crate::output::Output;
use crate::record::ThreadRecord;
use crate::text::Text;
use crate::turn::Outcome;

use super::{INTERRUPTED, NO_OUTPUT, NO_RESULT};

/// A request in the making.
pub(super) struct Assembly<'a> {
    request: Request,
    revision: Revision,
    /// The mark that outputs stand between.
    boundary: Option<&'a Text>,
    open: Option<u32>,
    /// Texts of the person's side that wait to become one message.
    asked: Vec<Text>,
    /// What the model thought, waiting for the message it belongs to.
    thinking: Option<&'a Text>,
    /// Calls whose results are being collected.
    calls: Vec<(&'a ToolCall, Option<&'a Entry>)>,
    /// Whether the turn being assembled has something the model should have answered.
    unanswered: bool,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(record: &'a ThreadRecord, revision: Revision, open: Option<u32>) -> Self {
        let mut request = Request::default();
        let system = Message::new(Role::System, record.instructions());
        request.parts.push(Part {
            message: 0,
            kind: PartKind::Instructions,
            entry: Some(crate::entry::EntryId(1)),
            bytes: system.bytes(),
        });
        request.messages.push(system);
        Self {
            request,
            revision,
            boundary: record.boundary.as_ref(),
            open,
            asked: Vec::new(),
            thinking: None,
            calls: Vec::new(),
            unanswered: false,
        }
    }

    pub(super) fn is_open(&self, turn: u32) -> bool {
        self.open == Some(turn)
    }

    pub(super) fn nothing_open(&self) -> bool {
        self.open.is_none()
    }

    /// Adds one of wisp's own blocks to the person's side.
    pub(super) fn block(&mut self, kind: PartKind, text: &'a Text) {
        self.ask(kind, None, text);
    }

    /// Adds the now block, when there is one.
    pub(super) fn now(&mut self, text: Option<&'a Text>) {
        if let Some(text) = text {
            self.ask(PartKind::Now, None, text);
        }
    }

    /// Adds one entry.
    pub(super) fn entry(&mut self, entry: &'a Entry) {
        match &entry.content {
            Content::Prompt { text } => {
                self.unanswered = true;
                self.ask(PartKind::Prompt, Some(entry), text);
            }
            Content::Command { notice, .. } => self.ask(PartKind::Command, Some(entry), notice),
            Content::Thinking { text } => self.thinking = self.is_open(entry.turn).then_some(text),
            Content::Calls { text, calls } => self.make_calls(entry, text, calls),
            Content::Output(output) => self.collect(entry, output),
            Content::Reply { .. } => self.reply(entry),
            Content::Instructions { .. } | Content::Lost | Content::Later(_) => {}
        }
    }

    /// Closes a turn that is over: if the model never answered, a line says so, so that roles keep alternating.
    pub(super) fn close_turn(&mut self, outcome: Option<&Outcome>) {
        self.answer_calls();
        if std::mem::take(&mut self.unanswered) {
            let said = match outcome {
                Some(Outcome::Interrupted) => "(no reply: the person interrupted this turn)",
                Some(Outcome::Failed(_)) => "(no reply: this turn failed)",
                Some(Outcome::Completed) | None => "(no reply was recorded for this turn)",
            };
            self.say(PartKind::Stub, None, Message::new(Role::Assistant, said));
        }
    }

    pub(super) fn finish(mut self) -> Request {
        self.answer_calls();
        self.flush_asked();
        self.request
    }

    /// Puts a text on the person's side, beside what already waits there: a prompt as it was typed, all else inert.
    fn ask(&mut self, kind: PartKind, entry: Option<&Entry>, text: &'a Text) {
        self.answer_calls();
        let text = match kind {
            PartKind::Prompt => text.clone(),
            PartKind::Command => self.framed(text, quoted_in(text)),
            _ => inert(text),
        };
        let first = self.asked.is_empty();
        let frame = if first {
            MESSAGE_FRAME
        } else {
            size(SEPARATOR.len())
        };
        self.part(kind, entry, size(text.len()) + frame);
        self.asked.push(text);
    }

    /// Makes one message of everything waiting on the person's side.
    fn flush_asked(&mut self) {
        let message = match self.asked.as_slice() {
            [] => return,
            [one] => Message::new(Role::User, one.clone()),
            many => {
                let texts: Vec<&str> = many.iter().map(Text::as_str).collect();
                Message::new(Role::User, texts.join(SEPARATOR))
            }
        };
        self.request.messages.push(message);
        self.asked.clear();
    }

    fn make_calls(&mut self, entry: &'a Entry, text: &Text, calls: &'a [ToolCall]) {
        let mut message = Message::new(Role::Assistant, own(text));
        message.tool_calls = calls.iter().map(own_call).collect();
        self.unanswered = true;
        self.say(PartKind::Calls, Some(entry), message);
        self.calls = calls.iter().map(|call| (call, None)).collect();
    }

    /// Keeps an output until its calls are all answered in order. One that answers no call is left out.
    fn collect(&mut self, entry: &'a Entry, output: &Output) {
        let slot = self
            .calls
            .iter_mut()
            .find(|(call, answer)| call.id == output.call && answer.is_none());
        if let Some((_, answer)) = slot {
            *answer = Some(entry);
        }
    }

    /// Writes the results of the calls made last.
    fn answer_calls(&mut self) {
        for (call, answer) in std::mem::take(&mut self.calls) {
            let output = answer.and_then(Entry::output);
            let (kind, content) = match output.map(|output| (output, output.sent(self.revision))) {
                None => (PartKind::Stub, Text::from(NO_RESULT)),
                Some((_, (text, _))) if text.is_empty() => (PartKind::Output, Text::from(NO_OUTPUT)),
                Some((output, (text, reference))) => {
                    let kind = if reference {
                        PartKind::Reference
                    } else {
                        PartKind::Output
                    };
                    (kind, self.framed(text, output.data(text, reference)))
                }
            };
            let mut message = Message::answer(call, content);
            message.tool_name = Some(own(&call.name));
            self.part(kind, answer, message.bytes());
            self.request.messages.push(message);
        }
    }

    /// A text with the stretch of it that a tool returned between the lines of the conversation's mark, and its tokens
    /// inert.
    fn framed(&self, text: &Text, data: Range<usize>) -> Text {
        match self.boundary {
            Some(mark) if !data.is_empty() => {
                let framed = boundary::framed(text, data, mark);
                inert(&Text::from(framed))
            }
            _ => inert(text),
        }
    }

    fn reply(&mut self, entry: &'a Entry) {
        let Content::Reply {
            text,
            interrupted,
            cuts,
            cut_revision,
        } = &entry.content
        else {
            return;
        };
        let cut = !cuts.is_empty() && *cut_revision <= self.revision;
        let mut content = own(&if cut { without(text, cuts) } else { text.clone() });
        if *interrupted {
            content = Text::from(join(&content, INTERRUPTED));
        } else if content.is_empty() {
            content = Text::from("(empty reply)");
        }
        self.unanswered = false;
        let kind = if cut { PartKind::CutReply } else { PartKind::Reply };
        self.say(kind, Some(entry), Message::new(Role::Assistant, content));
    }

    /// Adds an assistant message, or adds it to the one just before it.
    fn say(&mut self, kind: PartKind, entry: Option<&Entry>, mut message: Message) {
        self.answer_calls();
        self.flush_asked();
        message.thinking = self.thinking.take().map(own);
        if self.request.messages.len() == 1 {
            let start = Message::new(Role::User, "(the start of this conversation was lost)");
            self.part(PartKind::Stub, None, start.bytes());
            self.request.messages.push(start);
        }
        let bytes = match self.request.messages.last_mut() {
            Some(last) if last.role == Role::Assistant => merge(last, message),
            _ => {
                let bytes = message.bytes();
                self.request.messages.push(message);
                bytes
            }
        };
        let index = self.request.messages.len() - 1;
        self.request.parts.push(Part {
            message: index,
            kind,
            entry: entry.map(|entry| entry.id),
            bytes,
        });
    }

    /// Notes a stretch of the message that is about to be pushed.
    fn part(&mut self, kind: PartKind, entry: Option<&Entry>, bytes: u64) {
        let message = self.request.messages.len();
        self.request.parts.push(Part {
            message,
            kind,
            entry: entry.map(|entry| entry.id),
            bytes,
        });
    }
}

/// Between texts that share a message, as templates that merge messages put it.
const SEPARATOR: &str = "\n\n";

/// Adds `more` to an assistant message and returns the bytes that added. Templates that merge two would lose the
/// second one's calls.
fn merge(last: &mut Message, more: Message) -> u64 {
    let before = last.bytes();
    last.content = Text::from(join(&last.content, &more.content));
    if last.thinking.is_none() {
        last.thinking = more.thinking;
    }
    if last.tool_calls.is_empty() {
        last.tool_calls = more.tool_calls;
    }
    last.bytes() - before
}

fn join(one: &str, other: &str) -> String {
    if one.is_empty() || other.is_empty() {
        format!("{one}{other}")
    } else {
        format!("{one}{SEPARATOR}{other}")
    }
}

/// The stretch of a typed command's notice that the command printed: what follows the notice's own words.
fn quoted_in(notice: &str) -> Range<usize> {
    let end = notice.len();
    notice.find("]\n").map_or(end, |at| at + 2)..end
}

/// A text that only quotes what a chat template is made of: its tokens with a mark, the same text each time.
fn inert(text: &Text) -> Text {
    shared(text, wisp_template_tokens::inert(text))
}

/// What the model wrote, as it wrote it but for a token of a template.
fn own(text: &Text) -> Text {
    shared(text, wisp_template_tokens::own(text))
}

/// The text itself, not a copy, when nothing was changed.
fn shared(text: &Text, changed: Cow<'_, str>) -> Text {
    match changed {
        Cow::Borrowed(_) => text.clone(),
        Cow::Owned(changed) => Text::from(changed),
    }
}

/// A call as the model wrote it, but for tokens of a template.
fn own_call(call: &ToolCall) -> ToolCall {
    ToolCall {
        id: call.id.clone(),
        name: own(&call.name),
        arguments: wisp_template_tokens::own_value(&call.arguments).unwrap_or_else(|| call.arguments.clone()),
    }
}

/// A reply with its cut stretches replaced by their markers.
fn without(text: &str, cuts: &[Cut]) -> Text {
    let mut shown = String::new();
    let mut from = 0;
    for cut in cuts {
        shown += text.get(from..cut.start).unwrap_or_default();
        shown += &cut.marker();
        from = cut.end;
    }
    shown += text.get(from..).unwrap_or_default();
    Text::from(shown)
}
