//! The history as a guided model has it: its own replies as it wrote them, each result as a message of the user's.
//!
//! The raw replies are kept in memory, so that the server finds its cached prefix again. Those of an earlier session,
//! or of a time when the model made its calls itself, are written as the model would have written them.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use wisp_context::message as record;
use wisp_ollama::{Message, Role};

use super::actions::{action_of, object};
use super::decode::{ACTION, ANSWER, TEXT};

/// What stands below a result, and below one that changed files.
const NEXT: &str =
    "If that is all, answer my request now and quote what matters of the result; else take the next step.";
const CHANGED: &str =
    "The change is made. If my request asks for nothing else, answer now; else take the next step.";
/// The most replies that are kept.
const KEPT: usize = 512;

/// The model's own replies of this session: by the id of the call they made, or by the text of the answer.
#[derive(Debug, Clone, Default)]
pub struct RawReplies {
    by: HashMap<String, String>,
}

impl RawReplies {
    /// Keeps a reply.
    pub fn keep(&mut self, of: &str, raw: &str) {
        if self.by.len() >= KEPT {
            self.by.clear();
        }
        self.by.insert(of.to_owned(), raw.to_owned());
    }
}

/// The messages of a composed request.
pub fn messages(composed: &[record::Message], raw: &RawReplies) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    let mut actions: HashMap<&str, String> = HashMap::new();
    for message in composed {
        match message.role {
            record::Role::System => all.push(Message::system(message.content.as_str())),
            record::Role::User => user(&mut all, message.content.as_str()),
            record::Role::Assistant => {
                let mut said = Vec::new();
                for call in &message.tool_calls {
                    let (name, written) = action_of(&call.name, &call.arguments);
                    let written = raw.by.get(&call.id).cloned().unwrap_or(written);
                    actions.insert(&call.id, self::action(&written).unwrap_or(name));
                    said.push(written);
                }
                if said.is_empty() {
                    said.push(answer(message.content.as_str(), raw));
                }
                all.push(Message::assistant(said.join("\n")));
            }
            record::Role::Tool => {
                let id = message.tool_call_id.as_deref().unwrap_or_default();
                let name = actions.get(id).map_or("the action", String::as_str);
                user(&mut all, &result(name, message.content.as_str()));
            }
        }
    }
    all
}

/// A result as the model is told it: of an edit the lines that changed, of a file its lines without their numbers.
fn result(action: &str, content: &str) -> String {
    let content = content.trim_end();
    if content.ends_with(super::AGAIN) {
        return super::AGAIN.to_owned();
    }
    let changes = super::changes_in(content);
    let told: Cow<'_, str> = match (action, changes) {
        ("replace" | "append" | "write", Some(at)) => content[at..].into(),
        ("read", _) => without_numbers(content).into(),
        _ => content.into(),
    };
    let next = if changes.is_some() { CHANGED } else { NEXT };
    format!("Result of {action}:\n{told}\n\n{next}")
}

/// The lines of a page without the numbers that `read_file` puts before them.
fn without_numbers(page: &str) -> String {
    let shown = page.lines().filter(|line| {
        !line.starts_with("[more: call again with") && !wisp_tools::files::read::is_opening(line)
    });
    let bare = |line: &str| match line.split_once('\t') {
        Some((number, rest)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
            rest.to_owned()
        }
        _ => line.to_owned(),
    };
    shown.map(bare).collect::<Vec<_>>().join("\n")
}

/// Adds to the user's side; two of its messages in a row are one.
fn user(all: &mut Vec<Message>, text: &str) {
    match all.last_mut().filter(|last| last.role == Role::User) {
        Some(last) => {
            last.content.push_str("\n\n");
            last.content.push_str(text);
        }
        None => all.push(Message::user(text)),
    }
}

/// What a written action is called.
fn action(written: &str) -> Option<String> {
    let value: Value = serde_json::from_str(written.trim()).ok()?;
    value.get(ACTION)?.as_str().map(str::to_owned)
}

/// An answer as the model wrote it, or would have.
fn answer(text: &str, raw: &RawReplies) -> String {
    match raw.by.get(text) {
        Some(raw) => raw.clone(),
        None => object(&[(ACTION, ANSWER.into()), (TEXT, text.into())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wisp_context::message::ToolCall;

    fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: tool.into(),
            arguments,
        }
    }

    fn made(call: ToolCall) -> record::Message {
        record::Message {
            tool_calls: vec![call].into(),
            ..record::Message::new(record::Role::Assistant, "")
        }
    }

    #[test]
    fn a_conversation_of_another_way_reads_as_if_it_had_been_guided() {
        let read = call("a", "read_file", serde_json::json!({"path": "a.txt"}));
        let edit = call(
            "b",
            "edit_file",
            serde_json::json!({"path": "a.txt", "mode": "append", "content": "x\n"}),
        );
        let composed = [
            record::Message::new(record::Role::System, "S"),
            record::Message::new(record::Role::User, "Snapshot"),
            made(read.clone()),
            record::Message::answer(&read, "1\tone\n2\ttwo\n[end of file]"),
            made(edit.clone()),
            record::Message::answer(
                &edit,
                "appended to /w/a.txt; now 9 bytes\n[changed files]\na.txt changed:\n+x",
            ),
            record::Message::new(record::Role::Assistant, "Done."),
            record::Message::new(record::Role::User, "Thanks"),
        ];
        let mut raw = RawReplies::default();
        raw.keep("b", "{ \"action\": \"append\" }");
        let sent = messages(&composed, &raw);
        let texts: Vec<(&str, Role)> = sent.iter().map(|m| (m.content.as_str(), m.role)).collect();
        assert_eq!(
            texts,
            [
                ("S", Role::System),
                ("Snapshot", Role::User),
                ("{\"action\": \"read\", \"path\": \"a.txt\"}", Role::Assistant),
                (
                    &*format!("Result of read:\none\ntwo\n[end of file]\n\n{NEXT}"),
                    Role::User
                ),
                ("{ \"action\": \"append\" }", Role::Assistant),
                (
                    &*format!("Result of append:\na.txt changed:\n+x\n\n{CHANGED}"),
                    Role::User
                ),
                ("{\"action\": \"answer\", \"text\": \"Done.\"}", Role::Assistant),
                ("Thanks", Role::User),
            ]
        );
    }
}
