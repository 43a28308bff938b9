//! The calls of one reply: run in order, finished as one batch, recorded in order.

use serde_json::{Value, json};
use wisp_audit::Kind;
use wisp_context::{Arrival, HeldBack, NewCall, Status};
use wisp_ollama::ToolCall;
use wisp_tools::{Ending, Finished, Pending, Request, Scene};

use super::judge::How;
use super::{Progress, Step, Turn, TurnError};
use crate::conversation::Conversation;
use crate::model::arriving::Arrived;
use crate::protocol::Event;

impl Conversation {
    pub(super) async fn run_calls(
        &mut self,
        arrived: Arrived,
        step: u32,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<Step, TurnError> {
        let how = if arrived.recovered {
            How::Recovered
        } else {
            How::Whole
        };
        let reply = arrived.reply;
        let stamp = self.response(&reply, step, progress.number, how)?;
        let thinking = self.stamp();
        self.record.record_thinking(reply.thinking.as_str(), thinking);
        progress.reply.push_str(&reply.content);
        let calls = reply.tool_calls.iter().map(new_call).collect();
        let (_, recorded) = self.record.record_calls(reply.content.as_str(), calls, stamp);
        let mut batch = Vec::new();
        for call in &reply.tool_calls {
            batch.push(self.run_call(call, turn, progress).await?);
        }
        let finished = self.registry.finish(progress.number, batch);
        for (call, finished) in recorded.iter().zip(finished) {
            self.admit(&call.id, &finished);
        }
        self.offer_memory_when_needed();
        Ok(if turn.stop.is_cancelled() {
            Step::Stopped
        } else {
            Step::Called
        })
    }

    async fn run_call(
        &mut self,
        call: &ToolCall,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<Pending, TurnError> {
        let arguments = Value::Object(call.arguments.clone());
        let request = Request {
            tool: &call.name,
            arguments: &arguments,
        };
        let pending = if turn.stop.is_cancelled() {
            self.registry.not_run(
                request,
                progress.number,
                "not run: the person stopped the turn before this call",
            )?
        } else {
            turn.doing
                .say(format!("{} {}", call.name, wisp_tools::one_line(&arguments)));
            let scene = Scene {
                turn: progress.number,
                person: turn.person,
                cancel: &turn.cancel,
            };
            self.registry.run(request, &scene).await?
        };
        progress.receipt.note(&pending.tool, &pending.ending);
        self.show_result(&pending, progress.number);
        Ok(pending)
    }

    /// Shows the person a result as soon as it is there, before the batch is finished.
    fn show_result(&self, pending: &Pending, turn: u64) {
        let admitted = &pending.admitted;
        let details = json!({
            "tool": pending.tool, "bytes": admitted.bytes, "seconds": pending.seconds, "outcome": pending.ending.words(),
        });
        self.events.send(Event::Event {
            kind: Kind::ToolResult.name().to_owned(),
            call: Some(pending.call.clone()),
            turn: Some(turn),
            details,
            text: Some(result_line(pending)),
            output: Some(self.summary(admitted, &pending.call)),
        });
    }

    /// Takes a finished result into the record: from now on every request carries exactly these bytes.
    fn admit(&mut self, call: &str, finished: &Finished) {
        let pending = &finished.pending;
        let admitted = &pending.admitted;
        let mut arrival = Arrival::new(call, pending.tool.as_str(), admitted.shown.as_str());
        arrival.bytes = admitted.bytes;
        arrival.lines = admitted.lines;
        arrival.held_back = held_back(admitted);
        arrival.kept = admitted.kept.as_ref().map(|_| pending.call.as_str().into());
        arrival.status = status(&pending.ending);
        arrival.reads_only = pending.reads_only;
        let stamp = self.stamp();
        let stamp = match &finished.event {
            Some(event) => stamp.from(event.clone()),
            None => stamp,
        };
        self.record.record_output(arrival, stamp);
        self.remember(finished);
    }

    /// In a small window `memory` joins the tools with the first output that is held back (`context.memory: auto`).
    fn offer_memory_when_needed(&mut self) {
        let auto = self.config.memory() == "auto";
        let held = self.shown.last().is_some_and(|s| !s.held.is_empty());
        if auto && held && !self.registry.has_memory() {
            self.registry.offer_memory(true);
            self.set_tools();
        }
    }
}

fn new_call(call: &ToolCall) -> NewCall {
    NewCall::new(call.name.as_str(), Value::Object(call.arguments.clone()))
}

fn held_back(admitted: &wisp_tools::Admitted) -> Option<HeldBack> {
    let bytes = admitted.held.iter().map(|h| h.bytes).sum();
    let lines = admitted.held.iter().map(wisp_tools::HeldRange::lines).sum();
    (!admitted.held.is_empty()).then_some(HeldBack { bytes, lines })
}

fn status(ending: &Ending) -> Status {
    match ending {
        Ending::Done => Status::Ok,
        Ending::Exit(code) => Status::Exit(*code),
        Ending::Failed(how) if how == "error" => Status::Failed,
        other => Status::Other(other.words().into()),
    }
}

/// The line under a call: `↳ exit 0`, or what the tool answered.
fn result_line(pending: &Pending) -> String {
    let words = match &pending.ending {
        Ending::Done => format!("{} in {:.1} s", bytes(pending.admitted.bytes), pending.seconds),
        other => other.words(),
    };
    format!("↳ {words}")
}

fn bytes(count: u64) -> String {
    if count == 1 {
        "1 byte".to_owned()
    } else {
        format!("{count} bytes")
    }
}
