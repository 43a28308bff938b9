//! `keep_alive`: seconds as a number, or a Go duration as a string.

use std::time::Duration;

use crate::gojson::Json;

/// How long a model stays loaded after its last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeepAlive {
    /// Unloaded as soon as the request ends.
    Now,
    /// For this long.
    For(Duration),
    /// Until the server ends.
    Forever,
}

/// Go's units, in nanoseconds.
const UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3600e9),
];

impl KeepAlive {
    /// Reads the field; the error is the server's text.
    pub(crate) fn read(value: &Json) -> Result<Self, String> {
        match value {
            Json::Number(text) => Ok(Self::seconds(text.parse().unwrap_or(f64::MAX))),
            Json::String(text) => parse(text).map(|nanos| Self::seconds(nanos / 1e9)),
            other => Err(format!("Unsupported type: '{}'", go_type(other))),
        }
    }

    fn seconds(seconds: f64) -> Self {
        if seconds < 0.0 {
            Self::Forever
        } else if seconds == 0.0 {
            Self::Now
        } else {
            Duration::try_from_secs_f64(seconds).map_or(Self::Forever, Self::For)
        }
    }
}

/// What Go's reflection calls a decoded value.
fn go_type(value: &Json) -> &'static str {
    match value {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
    }
}

/// Go's `time.ParseDuration`, in nanoseconds.
fn parse(text: &str) -> Result<f64, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0.0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let amount: f64 = rest[..digits].parse().map_err(|_| invalid())?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let unit = &rest[..end];
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {text:?}"));
        }
        let Some((_, nanos)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("time: unknown unit {unit:?} in duration {text:?}"));
        };
        total += amount * nanos;
        rest = &rest[end..];
    }
    Ok(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<KeepAlive, String> {
        KeepAlive::read(&Json::String(text.to_owned()))
    }

    #[test]
    fn strings_need_a_unit() {
        assert_eq!(
            read("-1"),
            Err("time: missing unit in duration \"-1\"".to_owned())
        );
        assert_eq!(
            read("300"),
            Err("time: missing unit in duration \"300\"".to_owned())
        );
        assert_eq!(read("bogus"), Err("time: invalid duration \"bogus\"".to_owned()));
        assert_eq!(
            read("1x"),
            Err("time: unknown unit \"x\" in duration \"1x\"".to_owned())
        );
        assert_eq!(read("10m"), Ok(KeepAlive::For(Duration::from_mins(10))));
        assert_eq!(read("1h30m"), Ok(KeepAlive::For(Duration::from_mins(90))));
        assert_eq!(read("-1m"), Ok(KeepAlive::Forever));
        assert_eq!(read("0"), Ok(KeepAlive::Now));
    }

    #[test]
    fn numbers_are_seconds() {
        assert_eq!(
            KeepAlive::read(&Json::Number("-1".into())),
            Ok(KeepAlive::Forever)
        );
        assert_eq!(KeepAlive::read(&Json::Number("0".into())), Ok(KeepAlive::Now));
        assert_eq!(
            KeepAlive::read(&Json::Number("300".into())),
            Ok(KeepAlive::For(Duration::from_mins(5)))
        );
        assert_eq!(
            KeepAlive::read(&Json::Bool(true)),
            Err("Unsupported type: 'bool'".to_owned())
        );
    }
}
