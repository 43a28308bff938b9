//! Which calls a turn has already made, so that a repeated one is answered with a line that says so.

use std::collections::HashMap;

use serde_json::Value;

/// Counts the calls of the turn under way by tool and arguments (ADR 0050, "A repeated call is answered with a line,
/// not refused").
#[derive(Debug, Default)]
pub struct CallLedger {
    turn: u64,
    calls: HashMap<String, u32>,
}

impl CallLedger {
    /// Notes a call and returns how many equal ones this turn made before it. A new turn starts from nothing.
    pub fn note(&mut self, turn: u64, tool: &str, arguments: &Value) -> u32 {
        if turn != self.turn {
            *self = Self {
                turn,
                calls: HashMap::new(),
            };
        }
        let count = self
            .calls
            .entry(format!("{tool} {}", canonical(arguments)))
            .or_default();
        let before = *count;
        *count += 1;
        before
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
pub fn repeated(tool: &str, before: u32) -> String {
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
        assert_eq!(ledger.note(1, "inspect", &json!({"what": "audit", "last": 5})), 0);
        assert_eq!(ledger.note(1, "inspect", &json!({"last": 5, "what": "audit"})), 1);
        assert_eq!(ledger.note(1, "inspect", &json!({"what": "audit", "last": 6})), 0);
        assert_eq!(
            ledger.note(1, "read_file", &json!({"what": "audit", "last": 5})),
            0
        );
        assert_eq!(ledger.note(1, "inspect", &json!({"what": "audit", "last": 5})), 2);
        assert_eq!(ledger.note(2, "inspect", &json!({"what": "audit", "last": 5})), 0);
    }

    #[test]
    fn the_line_counts_the_earlier_calls() {
        assert!(repeated("inspect", 1).contains("as 1 earlier call this turn"));
        assert!(repeated("inspect", 2).contains("as 2 earlier calls this turn"));
    }
}
