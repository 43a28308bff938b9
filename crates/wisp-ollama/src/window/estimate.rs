//! How many tokens some bytes are, learned for each model from what the server reports.
//!
//! There is no tokenizer to ask on any server. A prompt's bytes over its reported tokens give a ratio; each report
//! moves the model's ratio a quarter of the way, so that it follows a conversation that turns from prose to code
//! without jumping at one odd request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where a ratio begins.
const START: f64 = 4.0;

/// What a ratio is kept within: fewer bytes a token is no text, more is no tokenizer.
const BOUNDS: (f64, f64) = (1.5, 6.0);

/// How far one report moves the ratio.
const WEIGHT: f64 = 0.25;

/// Bytes a token, for one model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Ratio {
    bytes_per_token: f64,
    reports: u64,
}

/// A ratio as it stands in a file, which may have been changed by hand.
#[derive(Deserialize)]
struct Stored {
    bytes_per_token: f64,
    #[serde(default)]
    reports: u64,
}

impl From<Stored> for Ratio {
    fn from(stored: Stored) -> Self {
        Self {
            bytes_per_token: bounded(stored.bytes_per_token),
            reports: stored.reports,
        }
    }
}

impl Default for Ratio {
    fn default() -> Self {
        Self {
            bytes_per_token: START,
            reports: 0,
        }
    }
}

impl Ratio {
    /// Bytes a token: 1.5 to 6, at first 4.
    pub fn bytes_per_token(&self) -> f64 {
        self.bytes_per_token
    }

    /// Whether at least one report stands behind it.
    pub fn is_learned(&self) -> bool {
        self.reports > 0
    }

    /// Learns from a prompt of `bytes` that the server counted as `tokens`. Empty ones teach nothing. Prompts the
    /// server cut must not be given.
    pub fn learn(&mut self, bytes: u64, tokens: u64) {
        if bytes == 0 || tokens == 0 {
            return;
        }
        let sample = bounded(as_float(bytes) / as_float(tokens));
        self.bytes_per_token = bounded(self.bytes_per_token + WEIGHT * (sample - self.bytes_per_token));
        self.reports = self.reports.saturating_add(1);
    }

    /// How many tokens `bytes` are, rounded up.
    pub fn tokens(&self, bytes: u64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the quotient of a count and a ratio of at least 1.5 is a count"
        )]
        let tokens = (as_float(bytes) / self.bytes_per_token).ceil() as u64;
        tokens
    }

    /// How many bytes `tokens` are, rounded down.
    pub fn bytes(&self, tokens: u64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count times a ratio of at most 6; beyond 2^64 it saturates"
        )]
        let bytes = (as_float(tokens) * self.bytes_per_token).floor() as u64;
        bytes
    }

    /// The next prompt's tokens: the last report, moved by the change in bytes since.
    pub fn after(&self, reported: u64, bytes_then: u64, bytes_now: u64) -> u64 {
        if bytes_now >= bytes_then {
            reported.saturating_add(self.tokens(bytes_now - bytes_then))
        } else {
            reported.saturating_sub(self.tokens(bytes_then - bytes_now))
        }
    }
}

/// The ratios of all models that were met; kept across runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ratios(BTreeMap<String, Ratio>);

impl Ratios {
    /// A model's ratio, or the one everything begins with.
    pub fn of(&self, model: &str) -> Ratio {
        self.0.get(model).copied().unwrap_or_default()
    }

    /// Learns from one report; see [`Ratio::learn`].
    pub fn learn(&mut self, model: &str, bytes: u64, tokens: u64) {
        self.0.entry(model.to_owned()).or_default().learn(bytes, tokens);
    }
}

fn bounded(ratio: f64) -> f64 {
    if ratio.is_nan() {
        return START;
    }
    ratio.clamp(BOUNDS.0, BOUNDS.1)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "prompts are far below 2^53 bytes, and an estimate needs no more"
)]
fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::{Ratio, Ratios};
    use proptest::prelude::*;

    #[test]
    fn it_begins_at_four_and_follows_reports() {
        let mut ratio = Ratio::default();
        assert_eq!((ratio.tokens(8), ratio.tokens(9), ratio.tokens(0)), (2, 3, 0));
        assert!(!ratio.is_learned());
        ratio.learn(2000, 1000);
        assert!(ratio.is_learned());
        assert_eq!((ratio.tokens(7000), ratio.bytes(2000)), (2000, 7000));
        for _ in 0..40 {
            ratio.learn(2000, 1000);
        }
        assert!((999_900..=1_000_000).contains(&ratio.tokens(2_000_000)));
    }

    #[test]
    fn reports_of_nothing_teach_nothing() {
        let mut ratio = Ratio::default();
        ratio.learn(0, 10);
        ratio.learn(10, 0);
        assert_eq!(ratio, Ratio::default());
    }

    #[test]
    fn the_next_prompt_moves_from_the_last_report() {
        let ratio = Ratio::default();
        assert_eq!(ratio.after(1000, 4000, 4400), 1100);
        assert_eq!(ratio.after(1000, 4000, 3600), 900);
        assert_eq!(ratio.after(10, 4000, 0), 0);
    }

    #[test]
    fn ratios_are_kept_and_mended() {
        let mut ratios = Ratios::default();
        ratios.learn("m", 2000, 1000);
        let text = serde_json::to_string(&ratios).expect("serialises");
        assert_eq!(text, r#"{"m":{"bytes_per_token":3.5,"reports":1}}"#);
        assert_eq!(serde_json::from_str::<Ratios>(&text).expect("reads"), ratios);
        let spoilt: Ratios = serde_json::from_str(r#"{"m":{"bytes_per_token":-9}}"#).expect("reads");
        assert_eq!(spoilt.of("m").bytes(100), 150);
        assert_eq!(spoilt.of("other"), Ratio::default());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_stays_within_its_bounds(reports in prop::collection::vec((any::<u64>(), any::<u64>()), 0..20)) {
            let mut ratio = Ratio::default();
            for (bytes, tokens) in reports {
                ratio.learn(bytes, tokens);
            }
            prop_assert!((1.5..=6.0).contains(&ratio.bytes_per_token()));
        }
    }
}
