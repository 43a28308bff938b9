//! Which calls a turn has already made, so that a repeated one is answered with a line that says so, and a turn that does
//! nothing else is stopped.

use std::collections::HashMap;

use serde_json::Value;

/// How often an equal call is made without anything new before the model is told to stop.
pub const TOLD: u32 = 3;
/// How often it is made before the turn ends.
pub const ENDS: u32 = 6;

/// Counts the calls of the turn under way by tool and arguments: a repeated call is answered with
/// a line, not refused.
#[derive(Debug, Default)]
pub struct CallLedger {
    turn: u64,
    calls: HashMap<String, Counts>,
    /// Calls that were new when they were made.
    news: u32,
}

#[derive(Debug, Default)]
struct Counts {
    all: u32,
    /// Those since the last call that was new, and how many were new by then.
    since: (u32, u32),
}

/// What the ledger knows of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noted {
    /// How many equal calls the turn made before it.
    pub before: u32,
    /// How many equal calls, this one counted, were made since the turn last made one that was new. An edit between two
    /// runs of a test is new; two calls in turn are not.
    pub in_a_row: u32,
}

impl CallLedger {
    /// Notes a call. A new turn starts from nothing.
    pub fn note(&mut self, turn: u64, tool: &str, arguments: &Value) -> Noted {
        if turn != self.turn {
            *self = Self {
                turn,
                ..Self::default()
            };
        }
        let counts = self
            .calls
            .entry(format!("{tool} {}", canonical(arguments)))
            .or_default();
        let before = counts.all;
        counts.all += 1;
        if before == 0 {
            self.news += 1;
        }
        let (count, news) = counts.since;
        let count = if news == self.news { count + 1 } else { 1 };
        counts.since = (count, self.news);
        Noted {
            before,
            in_a_row: count,
        }
    }
}

/// The arguments with sorted keys: the order a model writes them in means nothing.
fn canonical(arguments: &Value) -> String {
    match arguments {
        Value::Object(map) => {
            let mut fields: Vec<String> = map
                .iter()
                .map(|(k, v)| format!("{k:?}:{}", canonical(v)))
                .collect();
            fields.sort();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        plain => plain.to_string(),
    }
}

/// The line above a repeated call's result.
pub fn repeated(tool: &str, noted: Noted) -> String {
    let before = noted.before;
    let stop = if noted.in_a_row < TOLD {
        String::new()
    } else {
        format!(
            ". Nothing new came of it {} times in a row: do something else, or answer with what you have; after {ENDS} the turn is ended",
            noted.in_a_row
        )
    };
    let calls = if before == 1 {
        "1 earlier call".to_owned()
    } else {
        format!("{before} earlier calls")
    };
    format!(
        "[repeated call: this is the same {tool} call, with the same arguments, as {calls} this turn; the earlier result is already in your context{stop}]"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_calls_of_one_turn_are_counted_whatever_the_order_of_their_keys() {
        let mut ledger = CallLedger::default();
        let mut before = |turn, tool, arguments| ledger.note(turn, tool, &arguments).before;
        assert_eq!(before(1, "inspect", json!({"what": "audit", "last": 5})), 0);
        assert_eq!(before(1, "inspect", json!({"last": 5, "what": "audit"})), 1);
        assert_eq!(before(1, "inspect", json!({"what": "audit", "last": 6})), 0);
        assert_eq!(before(1, "read_file", json!({"what": "audit", "last": 5})), 0);
        assert_eq!(before(1, "inspect", json!({"what": "audit", "last": 5})), 2);
        assert_eq!(before(2, "inspect", json!({"what": "audit", "last": 5})), 0);
    }

    fn in_a_row(calls: &str) -> Vec<u32> {
        let mut ledger = CallLedger::default();
        let mut count = |call: char| {
            ledger
                .note(1, "run_command", &json!({"command": call.to_string()}))
                .in_a_row
        };
        calls.chars().map(&mut count).collect()
    }

    #[test]
    fn what_brings_nothing_new_is_in_a_row_also_when_it_alternates() {
        assert_eq!(in_a_row("aaaaaa"), [1, 2, 3, 4, 5, 6]);
        assert_eq!(in_a_row("ababab"), [1, 1, 1, 2, 2, 3]);
        assert_eq!(in_a_row("abcabcabc"), [1, 1, 1, 1, 1, 2, 2, 2, 3]);
    }

    #[test]
    fn a_call_after_something_new_begins_anew() {
        assert_eq!(in_a_row("t1t2t3t4t5t6t7"), [1; 14]);
        assert_eq!(in_a_row("aaaaabaaaaa"), [1, 2, 3, 4, 5, 1, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn the_line_counts_the_earlier_calls_and_from_the_third_says_what_to_do() {
        let line = |before, in_a_row| repeated("inspect", Noted { before, in_a_row });
        assert!(
            line(1, 2)
                .ends_with("as 1 earlier call this turn; the earlier result is already in your context]")
        );
        assert!(
            line(4, 1)
                .ends_with("as 4 earlier calls this turn; the earlier result is already in your context]")
        );
        assert!(line(2, 3).ends_with(
            "already in your context. Nothing new came of it 3 times in a row: do something else, or answer with what you \
             have; after 6 the turn is ended]"
        ));
    }
}
