//! The points of a turn at which hooks of the person's run.

use serde_json::{Value, json};
use wisp_ollama::ToolCall;
use wisp_tools::Pending;

use super::place::Place;
use super::{Progress, Turn, TurnError};
use crate::conversation::Conversation;
use crate::protocol::{NoteLevel, TurnOutcome};

/// The most bytes of a result that a hook is told.
const TOLD: usize = 64 * 1024;

impl Conversation {
    /// Runs a call between the hooks for it. One that refuses it is told to the model as the reason why it was not run.
    pub(super) async fn run_hooked(
        &mut self,
        (call, place): (&ToolCall, Place),
        bar: Option<String>,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<Pending, TurnError> {
        let input = input(call);
        let mut said = None;
        let mut bar = bar;
        if bar.is_none() && call.fault.is_none() {
            let more = json!({ "tool_input": input });
            let outcome = self
                .hooked("PreToolUse", Some(&call.name), more, &turn.stop)
                .await;
            said = outcome.said;
            bar = outcome
                .blocked
                .map(|why| format!("not run: the user's hook refused it: {why}"));
        }
        let ran = bar.is_none();
        let mut pending = self.run_call((call, place), bar, turn, progress).await?;
        if let Some(said) = said {
            pending.admitted.add_below(&said);
        }
        if ran {
            let mut end = TOLD.min(pending.admitted.shown.len());
            while !pending.admitted.shown.is_char_boundary(end) {
                end -= 1;
            }
            let response = json!({
                "output": pending.admitted.shown[..end], "outcome": pending.ending.words(), "difference": pending.difference,
            });
            let more = json!({"tool_input": input, "tool_response": response});
            let outcome = self
                .hooked("PostToolUse", Some(&call.name), more, &turn.stop)
                .await;
            let refused = outcome
                .blocked
                .map(|why| format!("[the user's hook after this call: {why}]"));
            for said in [outcome.said, refused].into_iter().flatten() {
                pending.admitted.add_below(&wisp_template_tokens::inert(&said));
            }
        }
        Ok(pending)
    }

    /// Runs the hooks for a message. Returns what goes with it. Errors: one refused it.
    pub(super) async fn prompt_hooked(
        &self,
        prompt: &str,
        turn: &Turn<'_>,
    ) -> Result<Option<String>, TurnError> {
        let more = json!({ "prompt": prompt });
        let outcome = self.hooked("UserPromptSubmit", None, more, &turn.stop).await;
        match outcome.blocked {
            Some(why) => Err(TurnError::Hook(why)),
            None => Ok(outcome.said),
        }
    }

    /// Runs the hooks for the end of a turn that came to its end. One that refuses it has the model go on, once, where a
    /// person holds the conversation.
    pub(super) async fn stop_hooked(&mut self, outcome: TurnOutcome, turn: &Turn<'_>) {
        if outcome != TurnOutcome::Ok {
            return;
        }
        let again = self.beside.continuing;
        let outcome = self
            .hooked("Stop", None, json!({ "stop_hook_active": again }), &turn.stop)
            .await;
        let Some(why) = outcome.blocked else { return };
        if again || !matches!(self.terms.face, "chat" | "tui") {
            let text = format!("your hook wants the model to go on, which it does once in a chat: {why}");
            self.events.note(NoteLevel::Info, text);
        } else {
            self.beside.go_on = Some(format!(
                "[the user's hook at the end of your turn]\n{}",
                wisp_template_tokens::inert(&why)
            ));
        }
    }
}

/// The arguments as a hook is told them: also under the name that others have for a path.
fn input(call: &ToolCall) -> Value {
    let mut input = Value::Object(call.arguments.clone());
    if let Some(path) = call
        .arguments
        .get("path")
        .filter(|_| !call.arguments.contains_key("file_path"))
    {
        input["file_path"] = path.clone();
    }
    input
}
