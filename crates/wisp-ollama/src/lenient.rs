//! Numbers as servers and proxies really write them: a count may be a float, a negative or null, and none of that
//! is a reason to lose a reply.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A count: a whole number, or a float that is one; anything else is unknown.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<Value>::deserialize(deserializer)?
        .as_ref()
        .and_then(whole))
}

/// Text: a string, or the texts of a list of parts as other servers send them; anything else is unknown.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        Value::Array(parts) => Some(
            parts
                .iter()
                .filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()))
                .collect(),
        ),
        _ => None,
    })
}

/// A JSON number as a count, floats rounded down.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| value.as_f64().and_then(whole_from_float))
}

/// A float as a count, rounded down; `None` when it is negative, not a number or beyond 2^53.
pub(crate) fn whole_from_float(float: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was looked at"
    )]
    (0.0..=EXACT).contains(&float).then_some(float as u64)
}

#[cfg(test)]
mod tests {
    use super::whole;
    use serde_json::json;

    #[test]
    fn odd_numbers_are_read_or_unknown() {
        assert_eq!(whole(&json!(7)), Some(7));
        assert_eq!(whole(&json!(1.048_576e6)), Some(1_048_576));
        assert_eq!(whole(&json!(-1)), None);
        assert_eq!(whole(&json!("7")), None);
        assert_eq!(whole(&json!(1e300)), None);
    }
}
