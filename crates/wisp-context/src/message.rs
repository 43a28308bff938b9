//! What a request is made of, in no server's dialect.
//!
//! The adapter that talks to a server converts these; nothing here knows how they are sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::entry::EntryId;
use crate::text::Text;

/// Bytes counted for a message's frame: the role marker and separators a chat template puts around it.
pub const MESSAGE_FRAME: u64 = 16;

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The instructions. Exactly one message of a request, the first.
    System,
    /// The person's side: prompts, typed commands, and the blocks wisp puts beside them.
    User,
    /// The model.
    Assistant,
    /// The result of one call.
    Tool,
}

/// One call a model made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// wisp's own id for the call: nine letters and digits, the strictest form a template asks for.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: Text,
    /// The arguments, an object as a rule; whatever the model sent otherwise.
    pub arguments: Value,
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// Its text, possibly empty beside calls.
    pub content: Text,
    /// What the model thought before it, sent back only within the turn that produced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Text>,
    /// The calls of an assistant message, in the order made.
    #[serde(default, skip_serializing_if = "<[ToolCall]>::is_empty")]
    pub tool_calls: Box<[ToolCall]>,
    /// On a tool message: the tool called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<Text>,
    /// On a tool message: the id of the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A message of text alone.
    pub fn new(role: Role, content: impl Into<Text>) -> Self {
        Self {
            role,
            content: content.into(),
            thinking: None,
            tool_calls: Box::default(),
            tool_name: None,
            tool_call_id: None,
        }
    }

    /// The answer to `call`.
    pub fn answer(call: &ToolCall, content: impl Into<Text>) -> Self {
        Self {
            tool_name: Some(call.name.clone()),
            tool_call_id: Some(call.id.clone()),
            ..Self::new(Role::Tool, content)
        }
    }

    /// Bytes this message adds to a request: its texts, its calls as JSON, and [`MESSAGE_FRAME`].
    pub fn bytes(&self) -> u64 {
        let thinking = self.thinking.as_ref().map_or(0, |text| text.len());
        let calls: u64 = self.tool_calls.iter().map(call_bytes).sum();
        MESSAGE_FRAME + size(self.content.len() + thinking) + calls
    }
}

/// Bytes of one call: its name, its arguments as JSON, and the frame a template gives it.
pub(crate) fn call_bytes(call: &ToolCall) -> u64 {
    size(call.name.len()) + json_bytes(&call.arguments) + MESSAGE_FRAME
}

/// Bytes of a value written as JSON, counted without writing it.
fn json_bytes(value: &Value) -> u64 {
    struct Count(u64);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += size(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) | Err(_) => count.0,
    }
}

/// A length in memory as the 64-bit count that estimates are made of.
pub(crate) fn size(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// What a stretch of a request is, for the person who looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// The system message.
    Instructions,
    /// Standing facts. Empty until a facts layer fills it.
    Facts,
    /// The running summary. Empty until a summary layer fills it.
    Summary,
    /// What the person said in turns that are no longer shown.
    Earlier,
    /// A prompt of a literal turn.
    Prompt,
    /// A command the person typed themselves.
    Command,
    /// A reply, whole.
    Reply,
    /// A reply with at least one stretch cut.
    CutReply,
    /// An assistant message that makes calls.
    Calls,
    /// An output as it was admitted.
    Output,
    /// An output sent as its reference.
    Reference,
    /// A line wisp wrote where something is missing: a call without a result, a turn without a reply.
    Stub,
    /// What holds now: passing facts and the task. Empty until a facts layer fills it.
    Now,
}

impl PartKind {
    /// The words views use for it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Facts => "facts",
            Self::Summary => "summary",
            Self::Earlier => "said earlier",
            Self::Prompt => "prompt",
            Self::Command => "typed command",
            Self::Reply => "reply",
            Self::CutReply => "reply, cut",
            Self::Calls => "tool calls",
            Self::Output => "output",
            Self::Reference => "reference",
            Self::Stub => "filled in by wisp",
            Self::Now => "now",
        }
    }
}

/// One stretch of a request: which message it is in, what it is, and what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Index of the message that holds it.
    pub message: usize,
    /// What it is.
    pub kind: PartKind,
    /// The entry it shows, when it shows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    /// Bytes it adds to the request, its share of message frames included.
    pub bytes: u64,
}

/// A whole request, ready to be converted and sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Request {
    /// The system message first, then the conversation in order.
    pub messages: Vec<Message>,
    /// The same content, stretch by stretch, in the order sent.
    pub parts: Vec<Part>,
}

impl Request {
    /// Bytes of all messages. Tool definitions are not among them.
    pub fn bytes(&self) -> u64 {
        self.messages.iter().map(Message::bytes).sum()
    }
}
