//! One line of a reply: its fields in the server's order, the calls as their release writes them, the counts.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::check::Checked;
use crate::decode::Call;
use crate::generate::Piece;
use crate::profile::{CallId, Era};

/// What evaluating one prompt token takes, in the report.
const PROMPT_TOKEN: Duration = Duration::from_millis(1);
/// What generating one token takes, in the report.
const TOKEN: Duration = Duration::from_millis(25);
/// What E4 reports for generating a single token.
const SINGLE: Duration = Duration::from_micros(1);
/// What the rest of a request takes, in the report.
const OVERHEAD: Duration = Duration::from_micros(700);

fn times(each: Duration, n: u64) -> Duration {
    each * u32::try_from(n).unwrap_or(u32::MAX)
}

/// What generating so many tokens takes, in the report.
pub(super) fn generating(tokens: u64) -> Duration {
    times(TOKEN, tokens)
}

/// A line without its end. `record` is the request's place in the log, from which call ids are made.
pub(super) fn object(checked: &Checked, stamp: String, record: usize, piece: &Piece) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("model".into(), json!(checked.name));
    object.insert("created_at".into(), Value::String(stamp));
    if let Some(remote) = &checked.model.remote {
        object.insert("remote_model".into(), json!(remote.model));
        object.insert("remote_host".into(), json!(remote.host));
    }
    if checked.generate {
        object.insert("response".into(), json!(piece.content));
        if !piece.thinking.is_empty() {
            object.insert("thinking".into(), json!(piece.thinking));
        }
        return object;
    }
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    message.insert("content".into(), json!(piece.content));
    if !piece.thinking.is_empty() {
        message.insert("thinking".into(), json!(piece.thinking));
    }
    if !piece.calls.is_empty() {
        let calls = piece
            .calls
            .iter()
            .map(|(index, read)| call(checked, record, *index, read));
        message.insert("tool_calls".into(), Value::Array(calls.collect()));
    }
    object.insert("message".into(), Value::Object(message));
    object
}

fn call(checked: &Checked, record: usize, index: usize, call: &Call) -> Value {
    let profile = &checked.profile;
    let mut function = Map::new();
    if profile.index_always || index > 0 {
        function.insert("index".into(), json!(index));
    }
    function.insert("name".into(), json!(call.name));
    function.insert("arguments".into(), Value::Object(call.arguments.clone()));
    let mut object = Map::new();
    if let Some(id) = call_id(profile.call_id, record, index) {
        object.insert("id".into(), json!(id));
    }
    object.insert("function".into(), Value::Object(function));
    Value::Object(object)
}

/// What a last line reports. Counts are tokens.
pub(super) struct Counts {
    pub(super) era: Era,
    pub(super) load: Duration,
    /// The wait for a busy runner, which shows in the total alone.
    pub(super) queued: Duration,
    pub(super) prompt: u64,
    /// Of the prompt, what was in the slot.
    pub(super) cached: u64,
    pub(super) generated: u64,
}

impl Counts {
    /// Writes counts and durations; zero is left out.
    pub(super) fn write(&self, object: &mut Map<String, Value>) {
        let prompt = times(PROMPT_TOKEN, self.prompt - self.cached);
        let eval = match (self.generated, self.era) {
            (1, Era::E3) | (0, _) => Duration::ZERO,
            (1, era) if era.is_e4() => SINGLE,
            (n, _) => generating(n),
        };
        let total = self.load + self.queued + prompt + eval + OVERHEAD;
        let nanos = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        let rows = [
            ("total_duration", nanos(total)),
            ("load_duration", nanos(self.load)),
            ("prompt_eval_count", self.prompt),
            ("prompt_eval_duration", nanos(prompt)),
            ("eval_count", self.generated),
            ("eval_duration", nanos(eval)),
        ];
        for (name, value) in rows.into_iter().filter(|(_, value)| *value > 0) {
            object.insert(name.into(), json!(value));
        }
    }
}

/// `done` and `done_reason`, in the release's order.
pub(super) fn finish_fields(object: &mut Map<String, Value>, reason_first: bool, reason: Option<&str>) {
    let mut fields = vec![("done", json!(true))];
    if let Some(reason) = reason {
        fields.insert(usize::from(!reason_first), ("done_reason", json!(reason)));
    }
    object.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
}

/// An id of the release's kind, different for every call of a server's life.
fn call_id(kind: CallId, record: usize, index: usize) -> Option<String> {
    let length = match kind {
        CallId::None => return None,
        CallId::Short => 8,
        CallId::Long => 32,
    };
    let alphabet = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let letters = if kind == CallId::Short { 36 } else { 62 };
    let mut state = (record as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (index as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d);
    let mut id = if kind == CallId::Short {
        "call_".to_owned()
    } else {
        String::new()
    };
    for _ in 0..length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let at = usize::try_from(state % letters).unwrap_or_default();
        id.push(char::from(alphabet[at]));
    }
    Some(id)
}
