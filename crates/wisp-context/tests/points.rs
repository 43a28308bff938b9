//! One conversation of two tasks, a ban and calls in pairs, condensed after each of its steps in turn, saved and read
//! back: whatever the point, no call is parted from its result, and what was asked and forbidden is still there.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use common::{assert_legal, record, stamp};
use serde_json::json;
use wisp_context::{
    Arrival, EntryId, Estimator, Gauge, NewCall, Outcome, Phase, Reason, Role, Target, ThreadRecord,
    ToolCall, Wanted, load,
};

const FIRST: &str = "Find why the tide table is wrong and fix it. Do not touch legacy.c.";
const SECOND: &str = "Then change it to h + 2.";

/// One step of the conversation.
enum Step {
    Asks(&'static str),
    Calls(&'static str, &'static [(&'static str, &'static str)]),
    /// The result of the call of this number among the latest ones; kept under an id when it was held back.
    Prints(usize, &'static str, Option<&'static str>),
    Says(&'static str),
}

/// The conversation; its last call has no result, since the run was interrupted.
const STEPS: [Step; 11] = [
    Step::Asks(FIRST),
    Step::Calls("", &[("read_file", "tide.c")]),
    Step::Prints(0, "int tide(int h) { return h + 1; }", None),
    Step::Calls(
        "Two more looks.",
        &[("run_command", "make"), ("read_file", "table.c")],
    ),
    Step::Prints(0, "make: *** [Makefile:7: tide.o] Error 1", Some("3f9a2c1b")),
    Step::Prints(1, "int table[] = {3, 5, 8};", None),
    Step::Says("The offset is wrong."),
    Step::Asks(SECOND),
    Step::Calls("", &[("edit_file", "tide.c")]),
    Step::Prints(0, "tide.c: 1 replacement", None),
    Step::Calls("Running the tests.", &[("run_command", "make test")]),
];

fn take(record: &mut ThreadRecord, step: &Step, open: &mut Vec<ToolCall>) {
    match step {
        Step::Asks(text) => {
            record.begin_turn(*text, stamp());
        }
        Step::Calls(text, calls) => {
            let calls = calls
                .iter()
                .map(|(tool, on)| NewCall::new(*tool, json!({ "on": on })));
            *open = record.record_calls(*text, calls.collect(), stamp()).1;
        }
        Step::Prints(of, text, kept) => {
            let call = &open[*of];
            let arrival = Arrival {
                kept: kept.map(Into::into),
                ..Arrival::new(&call.id, call.name.as_str(), *text)
            };
            record.record_output(arrival, stamp());
        }
        Step::Says(text) => {
            record.record_reply(*text, false, stamp());
            record.end_turn(Outcome::Completed);
        }
    }
}

/// Lets everything leave that may.
fn condense(record: &mut ThreadRecord, window: u64, event: &str) {
    let estimator = Estimator::default();
    let target = Target {
        target: 0.0,
        ..Target::default()
    };
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(window),
        target,
    };
    let phase = if record.open_turn().is_some() {
        Phase::ToolLoop
    } else {
        Phase::Idle
    };
    let plan = record.plan(&gauge, phase, Reason::Overflow).unwrap();
    if plan.changes() {
        record.condense(plan, event).unwrap();
    }
}

/// What must hold of the next request after so many steps.
fn check(record: &mut ThreadRecord, steps: usize, of: &str) {
    let request = record.request();
    assert_legal(&request);
    assert_eq!(
        (request.messages[0].role, request.messages[0].content.as_str()),
        (Role::System, "You are wisp."),
        "{of}"
    );
    let texts: Vec<&str> = request.messages.iter().map(|m| m.content.as_str()).collect();
    let text = texts.join("\n");
    assert!(text.contains(FIRST), "{of}: {text}");
    assert!(steps < 8 || text.contains(SECOND), "{of}: {text}");
    if steps >= 5 {
        let printed =
            (2..=record.entry_count()).map(|n| record.recall(&Wanted::parse(&format!("entry {n}"))));
        let kept: Vec<_> = printed.filter_map(|one| one.ok()?.kept).collect();
        assert_eq!(kept, ["3f9a2c1b"], "{of}: what was held back is found");
    }
}

#[test]
fn at_every_point_a_call_keeps_its_result_and_what_was_asked_stays() {
    // In a window of 2,048 the last complete turn stays; one of 96 holds nothing that can leave.
    let points = |window| (1..=STEPS.len()).map(move |at| (window, at));
    let mut left = 0;
    for (window, at) in points(2048).chain(points(96)) {
        let of = format!("condensed after step {at} at {window}");
        let (mut record, mut open) = (record(), Vec::new());
        for (done, step) in STEPS.iter().enumerate() {
            take(&mut record, step, &mut open);
            if done + 1 == at {
                condense(&mut record, window, "event-1");
                left += usize::from(record.entry(EntryId(2)).is_some_and(|entry| !entry.is_active()));
            }
            // While results are waited for there is no request.
            let waiting = matches!(step, Step::Calls(..)) || matches!(step, Step::Prints(0, _, Some(_)));
            if !waiting {
                check(&mut record, done + 1, &of);
            }
        }
        // The run was interrupted: read back, it goes on.
        let files = record.save();
        let mut record = load(&files.transcript, &files.store).unwrap().record;
        record.begin_turn("And now?", stamp());
        check(&mut record, STEPS.len(), &of);
        let request = record.request();
        let called = request
            .messages
            .iter()
            .position(|m| m.tool_calls.iter().any(|c| c.arguments["on"] == "make test"));
        let result = called.map(|at| request.messages[at + 1].content.as_str().to_owned());
        assert!(
            result.as_ref().is_none_or(|text| text.contains("interrupted")),
            "{of}: {result:?}"
        );
        condense(&mut record, window, "event-2");
        assert_eq!(
            record.condensations().last().map(|done| done.event.as_str()),
            Some("event-2"),
            "{of}"
        );
        check(&mut record, STEPS.len(), &of);
    }
    assert_eq!(
        left, 4,
        "turn 1 leaves at each point at which a request after it is under way"
    );
}
