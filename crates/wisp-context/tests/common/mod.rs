//! Conversations for the tests, small enough to read.
#![allow(dead_code, reason = "each test file uses a part")]

use serde_json::json;
use wisp_context::{Arrival, EntryId, NewCall, Outcome, Request, Role, Stamp, Status, ThreadRecord, Time};

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
