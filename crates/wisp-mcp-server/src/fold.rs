//! What a turn came to, folded from its events in the audit: the caller gets what ran from the record, never from the
//! model's retelling.

use serde_json::{Value, json};
use wisp_agent::protocol::TurnEnd;
use wisp_audit::Record;

/// The most rows of any list.
const ROWS: usize = 64;

/// What a turn's events say.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    /// What was refused, each with why.
    pub(crate) refusals: Vec<Value>,
    /// The account of the turn.
    pub(crate) receipt: Value,
    /// The calls with their outputs, or where these are.
    pub(crate) calls: Vec<Value>,
    /// Notifications that were shown or tried.
    pub(crate) notifications: Vec<Value>,
    /// Whether earlier turns were left out.
    pub(crate) condensed: bool,
}

/// Folds the events of turn `number`. Outputs of more than `inline` bytes are given as an address below `base`.
pub(crate) fn fold(events: &[Record], number: u64, end: &TurnEnd, (base, inline): (&str, u64)) -> Folded {
    let turn: Vec<&Record> = events.iter().filter(|event| event.turn == Some(number)).collect();
    let of = |kind: &'static str| turn.iter().filter(move |event| event.kind == kind);
    let some = |rows: Vec<Value>| rows.into_iter().take(ROWS).collect::<Vec<_>>();
    let refusals = of("policy.decision").filter(|event| event.details["verdict"] != "allowed");
    let refusals: Vec<Value> = refusals
        .map(|event| json!({"command": event.details["command"], "reason": event.details["reason"]}))
        .collect();
    let denials = of("policy.decision").filter(|event| event.details["verdict"] != "allowed");
    let denials: Vec<Value> = denials.map(|event| event.details.clone()).collect();
    let condensed = of("context.condensation").next().is_some();
    let tools = of("tool.result").map(|event| {
        let asked = of("tool.call").find(|call| call.call == event.call);
        json!({
            "name": event.details["tool"], "arguments": asked.map(|call| call.details["arguments"].clone()),
            "bytes": event.details["bytes"], "seconds": event.details["seconds"], "outcome": event.details["outcome"],
        })
    });
    let picked = |kind: &'static str, fields: &'static [&'static str]| {
        let rows = of(kind).map(|event| {
            let row = fields
                .iter()
                .map(|name| ((*name).to_owned(), event.details[*name].clone()));
            Value::Object(row.collect())
        });
        rows.take(ROWS).collect::<Vec<_>>()
    };
    let receipt = json!({
        "turn": number,
        "tools": some(tools.collect()),
        "commands": picked("command.outcome", &["command", "exitStatus", "timedOut", "truncated", "seconds"]),
        "files": picked("file.write", &["path", "mode", "created", "bytesAfter"]),
        "denials": some(denials),
        "approvals": picked("approval.decided", &["command", "decision", "scope", "reason"]),
        "errors": picked("error", &["message", "context"]),
        "condensed": condensed,
        "seconds": end.seconds,
        "usage": {"input": end.input_tokens, "output": end.output_tokens},
    });
    Folded {
        refusals: some(refusals),
        receipt,
        calls: of("tool.result")
            .take(ROWS)
            .map(|event| call(event, &turn, (base, inline)))
            .collect(),
        notifications: picked(
            "notification",
            &["title", "body", "source", "outcome", "route", "reason"],
        ),
        condensed,
    }
}

/// A call with its output, or the address of it.
fn call(result: &Record, turn: &[&Record], (base, inline): (&str, u64)) -> Value {
    let same = |kind: &str| {
        turn.iter()
            .find(|event| event.kind == kind && event.call == result.call)
    };
    let mut row = json!({
        "id": result.id.as_str(), "call": result.call, "tool": result.details["tool"],
        "arguments": same("tool.call").map(|call| call.details["arguments"].to_string()),
        "bytes": result.details["bytes"], "outcome": result.details["outcome"],
    });
    if let Some(ran) = same("command.outcome") {
        row["command"] = ran.details["command"].clone();
        row["exitStatus"] = ran.details["exitStatus"].clone();
    }
    let output = result.details["output"].as_str().unwrap_or_default();
    let bytes = result.details["bytes"].as_u64().unwrap_or(u64::MAX);
    match &result.call {
        Some(call) if bytes.max(output.len() as u64) > inline => {
            row["outputURI"] = format!("{base}/output/{call}").into();
        }
        _ => row["output"] = output.into(),
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seq: u64, kind: &str, call: Option<&str>, details: &Value) -> Record {
        let row = json!({
            "schema": 1, "id": format!("{seq:016x}"), "seq": seq, "time": "2026-12-01T10:00:00.000Z", "version": "0",
            "pid": 1, "session": "s", "turn": 2, "call": call, "kind": kind, "details": details, "prev": "0",
        });
        serde_json::from_value(row).unwrap()
    }

    fn end() -> TurnEnd {
        serde_json::from_value(
            json!({"seconds": 1.5, "outcome": "ok", "inputTokens": 10, "outputTokens": 2, "ran": null}),
        )
        .unwrap()
    }

    #[test]
    fn what_ran_comes_from_the_record_inline_up_to_the_bound() {
        let (a, b) = (Some("aaaaaaaaaaaaaaaa"), Some("bbbbbbbbbbbbbbbb"));
        let events = [
            record(
                1,
                "tool.call",
                a,
                &json!({"tool": "run_command", "arguments": {"command": "ls"}}),
            ),
            record(
                2,
                "policy.decision",
                a,
                &json!({"command": "ls", "verdict": "allowed"}),
            ),
            record(
                3,
                "command.outcome",
                a,
                &json!({"command": "ls", "exitStatus": 0, "seconds": 0.1}),
            ),
            record(
                4,
                "tool.result",
                a,
                &json!({"tool": "run_command", "output": "x".repeat(1024), "bytes": 1024, "outcome": "exit 0"}),
            ),
            record(
                5,
                "tool.call",
                b,
                &json!({"tool": "run_command", "arguments": {"command": "rm"}}),
            ),
            record(
                6,
                "policy.decision",
                b,
                &json!({"command": "rm", "verdict": "disapproved", "reason": "nobody"}),
            ),
            record(
                7,
                "tool.result",
                b,
                &json!({"tool": "run_command", "output": "y", "bytes": 1025, "outcome": "declined"}),
            ),
        ];
        let folded = fold(&events, 2, &end(), ("wisp://threads/t", 1024));
        assert_eq!(folded.calls[0]["output"].as_str().map(str::len), Some(1024));
        assert_eq!(folded.calls[0]["exitStatus"], 0);
        assert_eq!(
            folded.calls[1]["outputURI"],
            "wisp://threads/t/output/bbbbbbbbbbbbbbbb"
        );
        assert!(folded.calls[1].get("output").is_none());
        assert_eq!(folded.refusals, [json!({"command": "rm", "reason": "nobody"})]);
        assert_eq!(folded.receipt["commands"].as_array().map(Vec::len), Some(1));
        assert_eq!(folded.receipt["usage"]["output"], 2);
        assert!(!folded.condensed);
        assert!(
            fold(&events, 1, &end(), ("wisp://threads/t", 1024))
                .calls
                .is_empty()
        );
    }
}
