//! Which calls a turn has already made, so that a repeated one is answered with a line that says so, and a turn that does
//! nothing else is stopped.

use std::collections::HashMap;
use std::hash::{Hash as _, Hasher as _};

use serde_json::Value;

/// Counts the calls of the turn under way by tool and arguments: a repeated call is answered with
/// a line, not refused.
#[derive(Debug, Default)]
pub struct CallLedger {
    turn: u64,
    calls: HashMap<String, Counts>,
    /// Calls that were new when they were made, or found something else than before.
    news: u32,
    /// Replies of the turn whose calls have been finished.
    replies: u32,
}

#[derive(Debug, Default)]
struct Counts {
    all: u32,
    /// Those since the last news, and how many news there were by then.
    since: (u32, u32),
    /// The reply that made it last.
    reply: u32,
    /// What it found last.
    state: State,
}

/// What the ledger knows of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noted {
    /// How many equal calls the turn made before it.
    pub before: u32,
    /// In how many replies, this one counted, equal calls were made since the turn last learned something: from a call
    /// that was new, or from an equal one that found something else. An edit between two runs of a test is new; two calls
    /// in turn are not.
    pub in_a_row: u32,
}

/// What a call found, as a hash in which lengths of time do not count: a test that takes 0.02 s and then 0.03 s found the
/// same.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct State(u64);

impl State {
    /// What was found is this text.
    pub fn of(text: &[u8]) -> Self {
        Self::default().and(text)
    }

    /// This text was found as well.
    #[must_use]
    pub fn and(self, text: &[u8]) -> Self {
        let mut hasher = std::hash::DefaultHasher::new();
        self.0.hash(&mut hasher);
        without_times(text).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The text without numbers that a unit of time follows.
fn without_times(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(u8::is_ascii_digit) {
        out.extend_from_slice(&rest[..at]);
        let digits = &rest[at..];
        let end = digits
            .iter()
            .position(|byte| !byte.is_ascii_digit() && ![b'.', b':'].contains(byte))
            .unwrap_or(digits.len());
        if !is_time(&digits[end..]) {
            out.extend_from_slice(&digits[..end]);
        }
        rest = &digits[end..];
    }
    out.extend_from_slice(rest);
    out
}

/// Whether a text begins with a unit of time that is a whole word.
fn is_time(text: &[u8]) -> bool {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_alphabetic() && byte.is_ascii())
        .unwrap_or(text.len());
    let units: [&[u8]; 9] = [
        b"s",
        b"ms",
        b"us",
        "µs".as_bytes(),
        b"ns",
        b"sec",
        b"secs",
        b"second",
        b"seconds",
    ];
    units.contains(&&text[..end])
}

impl CallLedger {
    /// Notes a call and what it found. A new turn starts from nothing.
    pub fn note(&mut self, turn: u64, tool: &str, arguments: &Value, state: State) -> Noted {
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
        if before == 0 || counts.state != state {
            self.news += 1;
        }
        let (count, news) = counts.since;
        // Of two equal calls in one reply the model had seen the result of neither.
        let again = u32::from(before == 0 || counts.reply != self.replies);
        let count = if news == self.news { count + again } else { 1 };
        *counts = Counts {
            all: counts.all,
            since: (count, self.news),
            reply: self.replies,
            state,
        };
        Noted {
            before,
            in_a_row: count,
        }
    }

    /// The calls of one reply are done.
    pub fn replied(&mut self) {
        self.replies += 1;
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
    let calls = if before == 1 {
        "1 earlier call".to_owned()
    } else {
        format!("{before} earlier calls")
    };
    format!(
        "[repeated call: this is the same {tool} call, with the same arguments, as {calls} this turn; the earlier result is already in your context]"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_calls_of_one_turn_are_counted_whatever_the_order_of_their_keys() {
        let mut ledger = CallLedger::default();
        let mut before = |turn, tool, arguments| ledger.note(turn, tool, &arguments, State::default()).before;
        assert_eq!(before(1, "inspect", json!({"what": "audit", "last": 5})), 0);
        assert_eq!(before(1, "inspect", json!({"last": 5, "what": "audit"})), 1);
        assert_eq!(before(1, "inspect", json!({"what": "audit", "last": 6})), 0);
        assert_eq!(before(1, "read_file", json!({"what": "audit", "last": 5})), 0);
        assert_eq!(before(1, "inspect", json!({"what": "audit", "last": 5})), 2);
        assert_eq!(before(2, "inspect", json!({"what": "audit", "last": 5})), 0);
    }

    /// Calls by their letters; `|` ends a reply, and a capital letter is the call of the small one that found something
    /// else.
    fn in_a_row(calls: &str) -> Vec<u32> {
        let mut ledger = CallLedger::default();
        let mut counts = Vec::new();
        for call in calls.chars() {
            if call == '|' {
                ledger.replied();
                continue;
            }
            let state = State::of(call.to_string().as_bytes());
            let arguments = json!({"command": call.to_ascii_lowercase().to_string()});
            counts.push(ledger.note(1, "run_command", &arguments, state).in_a_row);
        }
        counts
    }

    #[test]
    fn what_brings_nothing_new_is_in_a_row_also_when_it_alternates() {
        assert_eq!(in_a_row("a|a|a|a"), [1, 2, 3, 4]);
        assert_eq!(in_a_row("a|b|a|b|a|b"), [1, 1, 1, 2, 2, 3]);
        assert_eq!(in_a_row("a|b|c|a|b|c|a|b|c"), [1, 1, 1, 1, 1, 2, 2, 2, 3]);
    }

    #[test]
    fn a_call_after_something_new_begins_anew() {
        assert_eq!(in_a_row("t|1|t|2|t|3|t|4|t|5|t"), [1; 11]);
        assert_eq!(in_a_row("a|a|b|a|a"), [1, 2, 1, 1, 2]);
    }

    #[test]
    fn a_call_that_finds_something_else_is_new() {
        assert_eq!(in_a_row("a|A|a|A|A|A"), [1, 1, 1, 1, 2, 3]);
    }

    #[test]
    fn equal_calls_in_one_reply_count_once() {
        assert_eq!(in_a_row("aaaa|a|aa"), [1, 1, 1, 1, 2, 3, 3]);
    }

    #[test]
    fn how_long_it_took_is_nothing_new() {
        let same = |a: &str, b: &str| State::of(a.as_bytes()) == State::of(b.as_bytes());
        assert!(same("1 failed in 0.02s\n", "1 failed in 0.13s\n"));
        assert!(same("took 3 seconds (12 ms, 4µs)", "took 9 seconds (1 ms, 77µs)"));
        assert!(!same("1 failed in 0.02s", "2 failed in 0.02s"));
        assert!(!same("3 sheep", "4 sheep"));
        assert!(!same("port 80", "port 81"));
        assert!(!same("7", "8"));
    }

    #[test]
    fn the_line_counts_the_earlier_calls() {
        let line = |before, in_a_row| repeated("inspect", Noted { before, in_a_row });
        assert!(
            line(1, 2)
                .ends_with("as 1 earlier call this turn; the earlier result is already in your context]")
        );
        assert!(
            line(4, 1)
                .ends_with("as 4 earlier calls this turn; the earlier result is already in your context]")
        );
    }
}
