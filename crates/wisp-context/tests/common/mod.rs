//! Conversations for the tests, small enough to read.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "tests of small sizes"
)]

use proptest::prelude::*;
use serde_json::json;
use wisp_context::{
    Action, Arrival, EntryId, Estimator, Gauge, NewCall, Outcome, Phase, Plan, Reason, Request, Role, Stamp,
    Status, Target, ThreadRecord, Time, Typed,
};

/// 2026-11-30 14:05:12 UTC.
pub(crate) const TIME: Time = Time::utc(1_796_047_512_000);

pub(crate) fn stamp() -> Stamp {
    Stamp::at(TIME)
}

pub(crate) fn record() -> ThreadRecord {
    ThreadRecord::new("You are wisp.", stamp())
}

/// A turn of a prompt and a reply.
pub(crate) fn talk(record: &mut ThreadRecord, prompt: &str, reply: &str) {
    record.begin_turn(prompt, stamp());
    record.request();
    record.record_reply(reply, false, stamp());
    record.end_turn(Outcome::Completed);
}

/// One call of `run_command` and its output, within the open turn.
pub(crate) fn run(record: &mut ThreadRecord, command: &str, output: &str) -> EntryId {
    let call = NewCall::new("run_command", json!({ "command": command }));
    let (_, calls) = record.record_calls("", vec![call], stamp());
    let arrival = Arrival {
        status: Status::Exit(0),
        ..Arrival::new(&calls[0].id, "run_command", output)
    };
    record.record_output(arrival, stamp())
}

/// A turn that runs one command.
pub(crate) fn work(record: &mut ThreadRecord, prompt: &str, output: &str, reply: &str) {
    record.begin_turn(prompt, stamp());
    record.request();
    run(record, "make", output);
    record.request();
    record.record_reply(reply, false, stamp());
    record.end_turn(Outcome::Completed);
}

/// `role: content`, one line a message.
pub(crate) fn lines(request: &Request) -> Vec<String> {
    request
        .messages
        .iter()
        .map(|message| {
            let role = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
            };
            let calls: Vec<&str> = message.tool_calls.iter().map(|call| call.name.as_str()).collect();
            format!("{role}: {}{}", message.content, calls.concat())
        })
        .collect()
}

/// What every server's template asks of a request.
pub(crate) fn assert_legal(request: &Request) {
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles[0], Role::System);
    assert!(roles[1..].iter().all(|role| *role != Role::System), "{roles:?}");
    for pair in roles.windows(2) {
        assert!(
            pair[0] != pair[1] || pair[0] == Role::Tool,
            "two in a row: {roles:?}"
        );
    }
    if let Some(second) = roles.get(1) {
        assert_eq!(*second, Role::User);
    }
    let mut waiting: std::collections::VecDeque<&str> = std::collections::VecDeque::new();
    for message in &request.messages {
        if message.role == Role::Tool {
            assert_eq!(
                waiting.pop_front(),
                message.tool_call_id.as_deref(),
                "results in call order"
            );
            assert!(!message.content.is_empty());
        } else {
            assert!(waiting.is_empty(), "a call without a result before {message:?}");
        }
        waiting.extend(message.tool_calls.iter().map(|call| call.id.as_str()));
    }
    assert!(waiting.is_empty(), "a call without a result at the end");
    assert_eq!(
        request.parts.iter().map(|part| part.bytes).sum::<u64>(),
        request.bytes(),
        "parts cover all bytes"
    );
}

/// One thing that can happen in a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Happens {
    Turn(String),
    Calls(usize, usize),
    Thinking,
    Reply(String, bool),
    Command(String),
    End(bool),
    Steer(String),
}

pub(crate) fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        3 => "[a-z ]{0,20}".prop_map(Happens::Turn),
        4 => (1usize..4, 0usize..4).prop_map(|(calls, outputs)| Happens::Calls(calls, outputs)),
        1 => Just(Happens::Thinking),
        3 => ("[a-z\n]{0,40}", any::<bool>()).prop_map(|(text, whole)| Happens::Reply(text, whole)),
        1 => "[a-z]{0,600}".prop_map(Happens::Command),
        2 => any::<bool>().prop_map(Happens::End),
        1 => "[a-z ]{0,20}".prop_map(Happens::Steer),
    ]
}

pub(crate) fn apply(record: &mut ThreadRecord, happens: &Happens) {
    match happens {
        Happens::Turn(prompt) => drop(record.begin_turn(prompt.as_str(), stamp())),
        Happens::Calls(calls, outputs) => {
            let made = (0..*calls)
                .map(|n| NewCall::new("run_command", json!({ "n": n })))
                .collect();
            let (_, calls) = record.record_calls("", made, stamp());
            for call in calls.iter().rev().take(*outputs) {
                record.record_output(
                    Arrival::new(&call.id, "run_command", "out\n".repeat(200)),
                    stamp(),
                );
            }
        }
        Happens::Thinking => drop(record.record_thinking("hm", stamp())),
        Happens::Reply(text, whole) => drop(record.record_reply(text.as_str(), !whole, stamp())),
        Happens::Command(output) => {
            let typed = Typed {
                output: output.as_str().into(),
                ..Typed::default()
            };
            record.record_command(typed, stamp());
        }
        Happens::Steer(text) => drop(record.record_steering(text.as_str(), stamp())),
        Happens::End(true) => drop(record.end_turn(Outcome::Completed)),
        Happens::End(false) => drop(record.end_turn(Outcome::Failed("x".to_owned()))),
    }
}

/// A server that counts tokens in its own way, and the loop that feeds it.
pub(crate) struct Sim {
    pub(crate) window: u64,
    /// Bytes to a token, as the server counts.
    pub(crate) ratio: f64,
    pub(crate) tools: u64,
    pub(crate) target: Target,
    pub(crate) estimator: Estimator,
    pub(crate) record: ThreadRecord,
    /// Turns in which a condensation that changed something was applied.
    pub(crate) condensed: Vec<u32>,
    /// Requests the server counted as over its window.
    pub(crate) over: u32,
    /// Requests not sent because they did not fit.
    pub(crate) refused: u32,
}

impl Sim {
    pub(crate) fn new(window: u64, ratio: f64) -> Self {
        let mut estimator = Estimator::default();
        estimator.set_tool_bytes(2000);
        Self {
            window,
            ratio,
            tools: 2000,
            target: Target::default(),
            estimator,
            record: record(),
            condensed: Vec::new(),
            over: 0,
            refused: 0,
        }
    }

    /// The server's own count of a request.
    pub(crate) fn count(&self, request: &Request) -> u64 {
        let tokens = |bytes: usize| (bytes as f64 / self.ratio).ceil() as u64;
        let message = |message: &wisp_context::Message| {
            let calls: usize = message
                .tool_calls
                .iter()
                .map(|call| call.name.len() + call.arguments.to_string().len() + 10)
                .sum();
            let thinking = message.thinking.as_ref().map_or(0, |text| text.len());
            // No two texts have quite the same bytes to a token.
            let bytes = message.content.len() + thinking + calls;
            let density = 0.92 + (bytes % 17) as f64 / 100.0;
            (tokens(bytes) as f64 * density).ceil() as u64 + 4
        };
        request.messages.iter().map(message).sum::<u64>() + tokens(self.tools as usize)
    }

    fn gauge(&self) -> Gauge<'_> {
        Gauge {
            estimator: &self.estimator,
            window: Some(self.window),
            target: self.target,
        }
    }

    /// Condenses as planned and checks what a condensation promises.
    pub(crate) fn condense(&mut self, phase: Phase, reason: Reason) -> Plan {
        let plan = self.record.plan(&self.gauge(), phase, reason).unwrap();
        assert!(plan.floor || plan.fill_after <= plan.goal, "{plan:?}");
        if plan.changes() {
            self.record
                .condense(plan.clone(), format!("event-{}", self.record.revision()))
                .unwrap();
            let measured = self.record.pressure(&self.gauge(), phase).estimate;
            let planned = plan.fill_after + if phase == Phase::Idle { 0 } else { plan.prompt };
            assert!(
                measured <= planned,
                "{measured} measured, {planned} planned: {plan:?}"
            );
            self.condensed.push(self.record.turn_count());
        }
        plan
    }

    /// One request: measured, condensed when due, sent when it fits, retried once on overflow. False when refused.
    pub(crate) fn send(&mut self, phase: Phase) -> bool {
        let pressure = self.record.pressure(&self.gauge(), phase);
        if pressure.action == Action::Condense {
            let plan = self.condense(phase, Reason::Budget);
            if pressure.after(&plan).action == Action::Refuse {
                self.refused += 1;
                return false;
            }
        }
        for attempt in 0..2 {
            let request = self.record.request();
            assert_legal(&request);
            let count = self.count(&request);
            if count <= self.window {
                self.estimator.report(request.bytes(), count);
                return true;
            }
            self.over += 1;
            self.estimator
                .overflowed(request.bytes(), Some(count), self.window);
            if attempt == 0 && !self.condense(phase, Reason::Overflow).fits {
                break;
            }
        }
        self.refused += 1;
        false
    }

    /// A whole turn: a prompt of `prompt` bytes, one call per size in `outputs`, a reply of `reply` bytes.
    pub(crate) fn turn(&mut self, prompt: &str, outputs: &[usize], reply: usize) {
        self.record.begin_turn(prompt, stamp());
        let mut phase = Phase::TurnStart;
        for size in outputs {
            if !self.send(phase) {
                self.record.end_turn(Outcome::Failed("does not fit".to_owned()));
                return;
            }
            run(&mut self.record, "make", &"output text\n".repeat(size / 12));
            phase = Phase::ToolLoop;
        }
        if self.send(phase) {
            self.record
                .record_reply("word ".repeat(reply / 5), false, stamp());
            self.record.end_turn(Outcome::Completed);
        } else {
            self.record.end_turn(Outcome::Failed("does not fit".to_owned()));
        }
    }
}
