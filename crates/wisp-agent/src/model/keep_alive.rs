//! How long the server keeps the model loaded, told as people count time: for how long still, not until which nanosecond.

use jiff::Timestamp;
use wisp_config::Config;
use wisp_ollama::{KeepAlive, Loaded};
use wisp_output::amount::span;

use super::check::Finding;

/// Seconds after which "until" means nothing: a server that keeps a model for ever names a year centuries from now.
const EVER: i64 = 100 * 365 * 86_400;

/// What is set, and how long the model stays loaded as it is.
pub(super) fn keep_alive(config: &Config, loaded: Option<&Loaded>, now: Timestamp) -> Finding {
    let set = config.keep_alive().map_or_else(
        || "the server's own (ollama.keepAlive is not set)".to_owned(),
        |text| format!("{}, set by ollama.keepAlive", period(&text)),
    );
    let still = loaded.and_then(|l| still(&l.expires_at, now));
    let still = still.map_or_else(String::new, |still| format!("; {still}"));
    Finding::good("keep-alive", format!("{set}{still}"))
}

/// A configured value in words: `300` and `5m` are `5 min`.
fn period(text: &str) -> String {
    match KeepAlive::parse(text) {
        Some(KeepAlive::Forever) => "for ever".to_owned(),
        Some(KeepAlive::Seconds(0)) => "not at all".to_owned(),
        Some(KeepAlive::Seconds(seconds)) => span(seconds),
        None => text.to_owned(),
    }
}

/// How long the model stays loaded, from the moment a server names; nothing where it names none.
fn still(expires_at: &str, now: Timestamp) -> Option<String> {
    let none = expires_at.is_empty() || expires_at.starts_with("0001-");
    let until: Timestamp = (!none).then(|| expires_at.parse().ok())??;
    let seconds = until.duration_since(now).as_secs();
    Some(match u64::try_from(seconds) {
        Ok(left) if seconds < EVER && left > 0 => {
            format!("loaded for {} more if nothing is asked of it", span(left))
        }
        Ok(0) | Err(_) => "about to be unloaded".to_owned(),
        Ok(_) => "loaded until it is unloaded by hand or makes room".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_in_a_persons_units() {
        let now: Timestamp = "2026-11-30T09:00:00Z".parse().unwrap();
        let left = |expires: &str| still(expires, now);
        let more = |span: &str| Some(format!("loaded for {span} more if nothing is asked of it"));
        assert_eq!(left("2026-11-30T09:04:59.987654321Z"), more("4 min 59 s"));
        assert_eq!(left("2026-11-30T12:30:00.123456789+01:00"), more("2 h 30 min"));
        assert_eq!(left("2026-12-02T09:00:00.5Z"), more("2 days"));
        assert_eq!(
            left("2026-11-30T09:00:00.4Z").as_deref(),
            Some("about to be unloaded")
        );
        assert_eq!(
            left("2026-11-30T08:59:00Z").as_deref(),
            Some("about to be unloaded")
        );
        assert_eq!(
            left("2318-03-12T01:02:03.123456789Z").as_deref(),
            Some("loaded until it is unloaded by hand or makes room")
        );
        for none in ["", "0001-01-01T00:00:00Z", "soon"] {
            assert_eq!(left(none), None, "{none}");
        }
    }

    #[test]
    fn what_is_set_is_told_in_a_persons_units() {
        for (set, said) in [
            ("300", "5 min"),
            ("5m", "5 min"),
            ("1h30m", "1 h 30 min"),
            ("0", "not at all"),
            ("-1", "for ever"),
            ("-5m", "for ever"),
        ] {
            assert_eq!(period(set), said, "{set}");
        }
    }
}
