//! Any order of inputs, also those that nobody waits for: each call is answered once, what would be sent is legal at every
//! request, and the turn ends once.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::time::Duration;

use proptest::prelude::*;
use wisp_context::message::{Message, Role};
use wisp_context::{Arrival, NewCall, Outcome, Stamp, ThreadRecord};
use wisp_turn::{Effect, EmptyReply, End, Fault, Input, Machine, Pauses, Remedy, Retry, answered};

/// Carries effects out on a record, and checks them.
struct Carrier {
    machine: Machine,
    record: ThreadRecord,
    /// The calls of the reply under way: their ids in the record.
    calls: Vec<String>,
    /// How many of them are answered.
    done: usize,
    /// The call that was to be made last.
    at: Option<usize>,
    asks: u32,
    ends: Vec<End>,
}

impl Carrier {
    fn new(max_steps: u32) -> Self {
        let mut record = ThreadRecord::new("You are wisp.", Stamp::default());
        record.begin_turn("do it", Stamp::default());
        Self {
            machine: Machine::new(max_steps),
            record,
            calls: Vec::new(),
            done: 0,
            at: None,
            asks: 0,
            ends: Vec::new(),
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "a list of inputs reads better")]
    fn feed(&mut self, input: Input) {
        let effects = self.machine.on(input.clone());
        if effects.is_empty() {
            return;
        }
        self.record_input(&input);
        for effect in effects {
            self.carry_out(effect);
        }
    }

    /// What the input that was taken has left in the record.
    fn record_input(&mut self, input: &Input) {
        match input {
            Input::Calls(calls) if *calls > 0 => {
                let call = |_| NewCall::new("read_file", serde_json::json!({ "path": "a" }));
                let calls = (0..answered(*calls)).map(call).collect();
                let (_, recorded) = self.record.record_calls("", calls, Stamp::default());
                self.calls = recorded.iter().map(|call| call.id.clone()).collect();
                self.done = 0;
            }
            Input::Replied | Input::Calls(_) => {
                self.record.record_reply("done", false, Stamp::default());
            }
            Input::CallDone { .. } => {
                assert_eq!(
                    self.at.take(),
                    Some(self.done),
                    "an answer to the call that was to be made"
                );
                self.done += 1;
            }
            _ => {}
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        assert!(self.ends.is_empty(), "{effect:?} after the end");
        match effect {
            Effect::Ask { step } => {
                self.asks += 1;
                assert_eq!(step, self.asks);
                assert_legal(&self.record.request().messages);
            }
            Effect::Call { at, .. } => {
                assert_eq!(at, self.done, "calls are made in order, each once");
                self.at = Some(at);
            }
            Effect::Finish => {
                for id in &self.calls[..self.done] {
                    let arrival = Arrival::new(id.as_str(), "read_file", "what was in it");
                    self.record.record_output(arrival, Stamp::default());
                }
            }
            Effect::End(end) => {
                let outcome = match end {
                    End::Replied => Outcome::Completed,
                    End::Interrupted => Outcome::Interrupted,
                    _ => Outcome::Failed("it ended".to_owned()),
                };
                self.record.end_turn(outcome);
                self.ends.push(end);
                self.record.begin_turn("and now", Stamp::default());
                assert_legal(&self.record.request().messages);
            }
            Effect::AskForWords { .. } | Effect::MakeRoom => {}
        }
    }
}

/// One system message, first; no two of the model's in a row; behind calls their results, one each, in order.
fn assert_legal(messages: &[Message]) {
    let systems = messages.iter().filter(|m| m.role == Role::System).count();
    assert_eq!((messages[0].role, systems), (Role::System, 1));
    let mut at = 1;
    while at < messages.len() {
        let message = &messages[at];
        assert_ne!(message.role, Role::Tool, "a result without its call");
        let next = at + 1 + message.tool_calls.len();
        let results = messages.get(at + 1..next).expect("a result for each call");
        for (call, result) in message.tool_calls.iter().zip(results) {
            assert_eq!(result.role, Role::Tool);
            assert_eq!(result.tool_call_id.as_ref(), Some(&call.id));
        }
        if message.role == Role::Assistant && next == at + 1 {
            assert!(messages.get(next).is_none_or(|m| m.role != Role::Assistant));
        }
        at = next;
    }
}

fn input() -> impl Strategy<Value = Input> {
    let done = (1..4_u32).prop_map(|in_a_row| Input::CallDone {
        tool: "read_file".to_owned(),
        in_a_row,
    });
    prop_oneof![
        8 => done,
        4 => (0..70_usize).prop_map(Input::Calls),
        4 => Just(Input::Recorded),
        2 => Just(Input::Begin),
        1 => Just(Input::Replied),
        1 => Just(Input::Cancel),
        1 => Just(Input::Interrupted),
        1 => Just(Input::DoesNotFit),
        1 => Just(Input::CallFailed),
        1 => Just(Input::Failed),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let empty = any::<(bool, bool, bool)>().prop_map(|(only_thought, cut, can_turn_off)| {
        Fault::Empty(EmptyReply {
            only_thought,
            cut,
            can_turn_off,
        })
    });
    prop_oneof![
        Just(Fault::Fatal),
        Just(Fault::Busy),
        Just(Fault::Lost),
        any::<bool>().prop_map(|may_hang| Fault::Garbled { may_hang }),
        any::<bool>().prop_map(|may_hang| Fault::Hangs { may_hang }),
        Just(Fault::NoThinking),
        Just(Fault::NoTools),
        empty,
        Just(Fault::CutCall),
        Just(Fault::CallAsText),
        any::<bool>().prop_map(|has_tools| Fault::NotInForm { has_tools }),
    ]
}

proptest! {
    // Each case composes many requests.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_order_of_inputs_leaves_a_legal_record_and_one_end(
        max_steps in 1..6_u32,
        inputs in prop::collection::vec(input(), 0..160),
    ) {
        let mut carrier = Carrier::new(max_steps);
        carrier.feed(Input::Begin);
        for input in inputs {
            carrier.feed(input);
        }
        carrier.feed(Input::Failed);
        prop_assert_eq!(carrier.ends.len(), 1);
        prop_assert!(carrier.asks <= max_steps);
    }

    #[test]
    fn a_model_that_calls_for_ever_is_ended_by_the_limit(max_steps in 1..20_u32, calls in 1..70_usize) {
        let mut carrier = Carrier::new(max_steps);
        carrier.feed(Input::Begin);
        while carrier.ends.is_empty() {
            carrier.feed(Input::Calls(calls));
            for _ in 0..answered(calls) {
                carrier.feed(Input::CallDone { tool: "read_file".to_owned(), in_a_row: 1 });
            }
            carrier.feed(Input::Recorded);
        }
        prop_assert_eq!(carrier.ends, [End::TooManySteps(max_steps)]);
    }

    #[test]
    fn any_faults_of_one_step_are_given_up_in_the_end(faults in prop::collection::vec(fault(), 60)) {
        let busy = [Duration::from_secs(1); 5];
        let pauses = Pauses { busy: &busy, once: Duration::from_secs(1) };
        let mut retry = Retry::default();
        let tried = faults.iter().filter(|f| retry.on(**f, &pauses) != Remedy::GiveUp).count();
        // While the tries are few, five at most; and each of eight remedies that are there once.
        prop_assert!(tried <= 13, "{tried} tries");
    }
}
