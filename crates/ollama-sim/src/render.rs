//! The prompt a conversation becomes.
//!
//! One documented template in the `ChatML` form. Tools and the system text share the first block, tools first, so that a
//! change to either is a change at the very front, as in most real templates:
//!
//! ```text
//! <|im_start|>system
//! <tools>
//! {"type":"function","function":{…}}
//! </tools>
//! Call a tool by writing <tool_call>{"name": NAME, "arguments": OBJECT}</tool_call>
//!
//! SYSTEM TEXT<|im_end|>
//! <|im_start|>user
//! …<|im_end|>
//! <|im_start|>assistant
//! ```
//!
//! Where Ollama renders, two messages of one role in a row melt into one and the second's calls, thinking and
//! images are lost. Where the model's own template runs, they do not melt, no thinking is passed on, a missing
//! system message is filled in, and one that is not the first may be refused.

use serde_json::{Map, Value};

use crate::decode::{Call, Message, Think, ToolDef, tools_to_value};
use crate::model::{Capability, Model, Parser};
use crate::profile::Profile;

/// What follows the tools.
const HOW_TO_CALL: &str =
    r#"Call a tool by writing <tool_call>{"name": NAME, "arguments": OBJECT}</tool_call>"#;
/// What strict templates say of a late system message.
const LATE_SYSTEM: &str = "System message must be at the beginning.";
/// What strict templates say of a history without a question.
const NO_USER: &str = "No user query found in messages.";

/// Everything the prompt depends on.
pub(crate) struct Scene<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) model: &'a Model,
    pub(crate) tools: &'a [ToolDef],
    pub(crate) think: &'a Think,
}

impl Scene<'_> {
    fn native(&self) -> bool {
        self.profile.era == crate::profile::Era::E4Native
    }

    /// Renders the messages; the error is the template's own complaint.
    pub(crate) fn render(&self, messages: &[Message]) -> Result<String, String> {
        if self.native() {
            self.check_strict(messages)?;
            return Ok(self.native_prompt(messages));
        }
        let melted = melt(messages, self.profile.tool_messages_apart);
        Ok(if self.model.gathers_system {
            self.gathered(&melted)
        } else {
            self.in_place(&melted)
        })
    }

    fn check_strict(&self, messages: &[Message]) -> Result<(), String> {
        if !self.model.strict_system {
            return Ok(());
        }
        if messages.iter().skip(1).any(|m| m.role == "system") {
            return Err(LATE_SYSTEM.to_owned());
        }
        if !messages.iter().any(|m| m.role == "user") {
            return Err(NO_USER.to_owned());
        }
        Ok(())
    }

    fn native_prompt(&self, messages: &[Message]) -> String {
        let (system, rest) = match messages.split_first() {
            Some((first, rest)) if first.role == "system" => (first.content.as_str(), rest),
            _ => (self.model.native_system.as_str(), messages),
        };
        let mut out = self.first_block(system);
        self.turns(rest, &mut out);
        out
    }

    /// All system messages in one block at the front.
    fn gathered(&self, messages: &[Message]) -> String {
        let system: Vec<_> = messages
            .iter()
            .filter(|m| m.role == "system")
            .map(|m| m.content.as_str())
            .collect();
        let system = if system.is_empty() {
            self.model.system.clone()
        } else {
            system.join("\n\n")
        };
        let mut out = self.first_block(&system);
        let rest: Vec<_> = messages.iter().filter(|m| m.role != "system").cloned().collect();
        self.turns(&rest, &mut out);
        out
    }

    /// System messages where they stand.
    fn in_place(&self, messages: &[Message]) -> String {
        let mut out = self.first_block("");
        self.turns(messages, &mut out);
        out
    }

    fn first_block(&self, system: &str) -> String {
        let mut inner = String::new();
        if !self.tools.is_empty() {
            inner = format!("<tools>\n{}\n</tools>\n{HOW_TO_CALL}", tools_to_value(self.tools));
        }
        if let (Think::Level(level), Parser::Harmony) = (self.think, self.model.parser) {
            inner.push_str("\nReasoning: ");
            inner.push_str(level);
        }
        if !inner.is_empty() && !system.is_empty() {
            inner.push_str("\n\n");
        }
        inner.push_str(system);
        if inner.is_empty() {
            inner
        } else {
            block("system", &inner)
        }
    }

    fn turns(&self, messages: &[Message], out: &mut String) {
        let last_user = messages.iter().rposition(|m| m.role == "user").unwrap_or(0);
        for (at, message) in messages.iter().enumerate() {
            let thinking = at > last_user && !self.native();
            out.push_str(&block(&message.role, &self.body(message, thinking)));
        }
        out.push_str("<|im_start|>assistant\n");
        let can_think = self
            .model
            .capabilities_on(self.native())
            .contains(&Capability::Thinking);
        if *self.think == Think::Off && can_think {
            out.push_str("<think>\n\n</think>\n\n");
        }
    }

    fn body(&self, message: &Message, thinking: bool) -> String {
        let mut body = String::new();
        if thinking && !message.thinking.is_empty() {
            body.push_str(&thinking_text(&message.thinking));
        }
        body.push_str(&message.content);
        for call in &message.calls {
            body.push_str(&call_text(call, self.native()));
        }
        body
    }
}

fn block(role: &str, body: &str) -> String {
    format!("<|im_start|>{role}\n{body}<|im_end|>\n")
}

/// Thinking as the template writes it and the model generates it.
pub(crate) fn thinking_text(thinking: &str) -> String {
    format!("<think>\n{thinking}\n</think>\n\n")
}

/// A call as the template writes it and the model generates it. A Go template sorts the arguments.
pub(crate) fn call_text(call: &Call, ordered: bool) -> String {
    let arguments = if ordered {
        call.arguments.clone()
    } else {
        sorted(&call.arguments)
    };
    format!(
        "<tool_call>{{\"name\": \"{}\", \"arguments\": {}}}</tool_call>",
        call.name,
        Value::Object(arguments)
    )
}

/// An object with its keys in order, as Go's maps are written.
pub(crate) fn sorted(object: &Map<String, Value>) -> Map<String, Value> {
    let mut pairs: Vec<_> = object.iter().collect();
    pairs.sort_by_key(|(name, _)| name.as_str());
    pairs
        .into_iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Melts neighbours of one role: the texts are joined by a blank line, the rest of the second is lost.
fn melt(messages: &[Message], tools_apart: bool) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    for message in messages {
        match out.last_mut() {
            Some(last) if last.role == message.role && !(tools_apart && message.role == "tool") => {
                last.content.push_str("\n\n");
                last.content.push_str(&message.content);
            }
            _ => out.push(message.clone()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    fn say(role: &str, content: &str) -> Message {
        Message {
            role: role.to_owned(),
            content: content.to_owned(),
            ..Message::default()
        }
    }

    fn render(profile: &Profile, model: &Model, messages: &[Message]) -> Result<String, String> {
        Scene {
            profile,
            model,
            tools: &[],
            think: &Think::Omitted,
        }
        .render(messages)
    }

    #[test]
    fn neighbours_melt_where_ollama_renders() {
        let model = Model {
            gathers_system: false,
            ..Model::new("m")
        };
        let messages = [
            say("system", "A"),
            say("user", "hi"),
            say("user", "two"),
            say("system", "B"),
        ];
        let prompt = render(&profile::V0_24_0, &model, &messages).unwrap();
        assert_eq!(
            prompt,
            "<|im_start|>system\nA<|im_end|>\n<|im_start|>user\nhi\n\ntwo<|im_end|>\n\
             <|im_start|>system\nB<|im_end|>\n<|im_start|>assistant\n"
        );
    }

    #[test]
    fn system_messages_are_gathered_where_the_template_does() {
        let messages = [
            say("system", "A"),
            say("user", "hi"),
            say("system", "B"),
            say("user", "again"),
        ];
        let prompt = render(&profile::V0_24_0, &Model::new("m"), &messages).unwrap();
        assert!(prompt.starts_with("<|im_start|>system\nA\n\nB<|im_end|>\n<|im_start|>user\nhi<|im_end|>"));
    }

    #[test]
    fn a_late_system_message_is_refused_natively() {
        let messages = [say("user", "hi"), say("system", "B")];
        let refused = render(&profile::V0_32_15_NATIVE, &Model::new("m"), &messages);
        assert_eq!(refused, Err(LATE_SYSTEM.to_owned()));
    }
}
