//! What a single prompt came to: gathered from the events for `--json` and for the exit code.

use serde_json::{Value, json};
use wisp_agent::protocol::{Event, NoteLevel, TurnEnd, TurnOutcome};

use crate::chat::Renderer;

/// How the record words a call that the person or nobody allowed, and one that the policy forbids.
const DECLINED: &str = "declined";
const DENIED: &str = "denied by policy";

/// What `--json` prints.
#[derive(Default)]
pub struct Said {
    session: String,
    /// The text of each step: a reply's up to its calls.
    steps: Vec<String>,
    /// Whether the next text begins a step.
    between: bool,
    calls: Vec<Value>,
    errors: Vec<String>,
    end: Option<TurnEnd>,
    /// Whether a call was refused: by the user, by nobody being there, or by the policy.
    pub refused: bool,
}

impl Said {
    /// Nothing yet, of the audit session `session`.
    pub fn of(session: String) -> Self {
        Self {
            session,
            ..Self::default()
        }
    }

    /// Takes what an event says.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Delta { text } => self.text(text),
            Event::Note {
                text,
                level: NoteLevel::Error,
            } => self.errors.push(text.clone()),
            Event::Event {
                kind, call, details, ..
            } if kind == "tool.call" => {
                self.between = true;
                self.calls.push(json!({
                    "call": call, "tool": details["tool"], "arguments": details["arguments"],
                }));
            }
            Event::Event {
                kind,
                call,
                details,
                output: Some(output),
                ..
            } if kind == "tool.result" => {
                let outcome = &details["outcome"];
                self.refused |= [DECLINED, DENIED].iter().any(|refused| outcome == refused);
                self.ended(
                    call.as_deref(),
                    &json!({
                        "outcome": outcome, "seconds": details["seconds"],
                        "output": output.stored.then_some(&output.id), "bytes": output.bytes, "lines": output.lines,
                    }),
                );
            }
            Event::Turn { end: Some(end), .. } => self.end = Some(end.clone()),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let begins = std::mem::take(&mut self.between);
        if begins || self.steps.is_empty() {
            self.steps.push(String::new());
        }
        if let Some(step) = self.steps.last_mut() {
            step.push_str(text);
        }
    }

    /// Adds what came of a call to it.
    fn ended(&mut self, call: Option<&str>, result: &Value) {
        let begun = self.calls.iter_mut().find(|row| row["call"].as_str() == call);
        let (Some(Value::Object(row)), Value::Object(result)) = (begun, result) else {
            return;
        };
        row.extend(result.clone());
    }

    /// The reply is the text after the last call; the steps are all texts, the reply last.
    pub fn print(&self, renderer: &mut Renderer) {
        let reply = if self.between { None } else { self.steps.last() };
        let end = self.end.as_ref();
        let outcome = match end.map(|end| end.outcome) {
            Some(TurnOutcome::Ok) if self.refused => json!("refused"),
            outcome => json!(outcome),
        };
        let kept = |row: &&Value| !row["output"].is_null();
        let outputs: Vec<Value> = self
            .calls
            .iter()
            .filter(kept)
            .map(|row| json!({"id": row["output"], "bytes": row["bytes"], "lines": row["lines"]}))
            .collect();
        let object = json!({
            "reply": reply.map_or("", String::as_str), "steps": self.steps, "outcome": outcome,
            "session": self.session, "calls": self.calls, "outputs": outputs,
            "receipt": end.and_then(|end| end.ran.as_ref()), "cited": end.and_then(|end| end.cited.as_ref()),
            "usage": {
                "input": end.and_then(|end| end.input_tokens), "output": end.and_then(|end| end.output_tokens),
                "seconds": end.map(|end| end.seconds),
            },
            "errors": self.errors,
        });
        let _ = renderer.out.line(&object.to_string());
        let _ = renderer.out.flush();
    }
}
