//! How many tokens a request has, between the counts a server reports.
//!
//! The last report is exact for the request it was made for, so an estimate is that figure plus the change in
//! bytes since, over a ratio of bytes to a token that is learned from the same reports, per model. Outputs that
//! became references since make the request smaller, so what they saved comes off by itself.
//!
//! Messages and tool definitions are learned apart: definitions are JSON that a template writes out in its own words,
//! and in a short conversation they are most of what is counted. The first report tells what they take, given the ratio
//! of the messages known so far; from then on the messages' ratio follows from the rest of each count.

use serde::{Deserialize, Serialize};

/// Bytes to a token before anything was reported.
pub const START_RATIO: f64 = 4.0;
/// The least and the most bytes to a token that are believed.
pub const RATIO_BOUNDS: (f64, f64) = (1.5, 6.0);
/// More bytes than a token of any text that is not mere repetition.
const SPARSEST: u64 = 8;
/// Fewer bytes than this a token never has: a tokenizer falls back to one token for each byte.
const DENSEST: u64 = 1;
/// How much a new report counts against all earlier ones.
const WEIGHT: f64 = 0.5;
/// Bytes a request must have for its ratio to say something: below it, the template's fixed frame dominates.
const LEAST_BYTES: u64 = 256;

/// Tokens, and how they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// How many.
    pub tokens: u64,
    /// How they are known.
    pub basis: Basis,
    /// How many of them are told from bytes alone, not from a report: text the server has not counted yet.
    pub uncounted: u64,
}

/// How a figure is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The server counted exactly this many bytes of request last.
    Reported,
    /// The last report and the bytes changed since.
    SinceReport,
    /// Bytes alone.
    Bytes,
}

/// The last estimate beside what the server then counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Miss {
    /// What was estimated.
    pub estimated: u64,
    /// What was counted.
    pub reported: u64,
}

impl Miss {
    /// How far the estimate was off, in percent of the count, above it positive.
    pub fn percent(self) -> f64 {
        let counted = exact(self.reported.max(1));
        (exact(self.estimated) - exact(self.reported)) / counted * 100.0
    }
}

/// A report and the bytes it was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Anchor {
    tokens: u64,
    bytes: u64,
}

/// The estimator of one model. Keep one per model; it may be saved and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimator {
    ratio: f64,
    tool_bytes: u64,
    /// Bytes to a token of the tool definitions, once a report told.
    #[serde(default)]
    tool_ratio: Option<f64>,
    anchor: Option<Anchor>,
    miss: Option<Miss>,
}

impl Default for Estimator {
    fn default() -> Self {
        Self {
            ratio: START_RATIO,
            tool_bytes: 0,
            tool_ratio: None,
            anchor: None,
            miss: None,
        }
    }
}

impl Estimator {
    /// An estimator that starts from a ratio learned before; one outside the bounds is brought inside.
    pub fn with_ratio(ratio: f64) -> Self {
        Self {
            ratio: believable(ratio),
            ..Self::default()
        }
    }

    /// Says how many bytes of tool definitions each request carries beside its messages.
    pub fn set_tool_bytes(&mut self, bytes: u64) {
        self.tool_bytes = bytes;
    }

    /// Bytes of tool definitions counted into every estimate.
    pub fn tool_bytes(&self) -> u64 {
        self.tool_bytes
    }

    /// Bytes to a token of the messages, as learned so far.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Whether the server has reported anything for this model.
    pub fn is_calibrated(&self) -> bool {
        self.anchor.is_some()
    }

    /// The last estimate beside its count.
    pub fn last_miss(&self) -> Option<Miss> {
        self.miss
    }

    /// Tokens of a request whose messages have `bytes` bytes.
    pub fn estimate(&self, bytes: u64) -> Estimate {
        let bytes = bytes + self.tool_bytes;
        let Some(anchor) = self.anchor else {
            let tokens = self.tokens(bytes - self.tool_bytes) + self.tool_tokens();
            return Estimate {
                tokens,
                basis: Basis::Bytes,
                uncounted: tokens,
            };
        };
        if anchor.bytes == bytes {
            return Estimate {
                tokens: anchor.tokens,
                basis: Basis::Reported,
                uncounted: 0,
            };
        }
        let changed = self.tokens(bytes.abs_diff(anchor.bytes));
        let tokens = if bytes > anchor.bytes {
            anchor.tokens + changed
        } else {
            let least = whole(exact(bytes) / RATIO_BOUNDS.1);
            anchor
                .tokens
                .saturating_sub(whole(exact(anchor.bytes - bytes) / self.ratio))
                .max(least)
        };
        Estimate {
            tokens,
            basis: Basis::SinceReport,
            uncounted: changed,
        }
    }

    /// `tokens` of a request shared out among its parts of so many bytes, and what is the tool definitions': together they
    /// are exactly `tokens`.
    pub(crate) fn shares(&self, tokens: u64, parts: &[u64]) -> (Vec<u64>, u64) {
        // In thousandths of a token, so that small parts are told apart.
        let weight = |bytes: u64, ratio: f64| whole(exact(bytes) / ratio * 1_000.0);
        let tools = weight(self.tool_bytes, self.tool_ratio.unwrap_or(self.ratio));
        let weights = parts.iter().map(|bytes| weight(*bytes, self.ratio));
        let weights: Vec<u64> = weights.chain([tools]).collect();
        let mut shares = wisp_amount::shared(tokens, &weights);
        let tools = shares.pop().unwrap_or(0);
        (shares, tools)
    }

    /// The fewest tokens a whole request of `bytes` bytes can have counted, given the last report, when `optional` of
    /// its bytes may not have been rendered; `None` without a report.
    pub(crate) fn least(&self, bytes: u64, optional: u64) -> Option<u64> {
        let anchor = self.anchor?;
        let bytes = (bytes + self.tool_bytes).saturating_sub(optional);
        Some(if bytes >= anchor.bytes {
            anchor.tokens + (bytes - anchor.bytes) / SPARSEST
        } else {
            anchor.tokens.saturating_sub((anchor.bytes - bytes) / DENSEST)
        })
    }

    /// The fewest tokens a request of `bytes` bytes can come to, by the last report where there is one.
    pub(crate) fn at_least(&self, bytes: u64) -> u64 {
        let by_bytes = (bytes + self.tool_bytes) / SPARSEST;
        self.least(bytes, 0).unwrap_or(by_bytes)
    }

    /// The most tokens a request of `bytes` bytes can have counted, given the last report.
    pub(crate) fn most(&self, bytes: u64) -> u64 {
        let bytes = bytes + self.tool_bytes;
        match self.anchor {
            Some(anchor) => anchor.tokens + bytes.saturating_sub(anchor.bytes) / DENSEST,
            None => bytes / DENSEST,
        }
    }

    /// Tokens of `bytes` bytes of text by the ratio alone, rounded up.
    pub fn tokens(&self, bytes: u64) -> u64 {
        whole((exact(bytes) / self.ratio).ceil())
    }

    /// Takes the server's count of the prompt of a request whose messages had `bytes` bytes. A count of 0 is a
    /// server that did not count, and is ignored. A count that a cut prompt would explain must not come here: see
    /// [`crate::truncation::verdict`].
    pub fn report(&mut self, bytes: u64, tokens: u64) {
        if tokens == 0 {
            return;
        }
        self.miss = Some(Miss {
            estimated: self.estimate(bytes).tokens,
            reported: tokens,
        });
        if bytes >= LEAST_BYTES {
            let rest = tokens.saturating_sub(self.learn_tools(bytes, tokens)).max(1);
            let seen = believable(exact(bytes) / exact(rest));
            // The first report counts whole: what it replaces was a guess about no model in particular. With
            // definitions in it that guess is what told them apart, so there is nothing to replace it by.
            let weight = if self.anchor.is_some() || self.tool_bytes > 0 {
                WEIGHT
            } else {
                1.0
            };
            self.ratio = believable(self.ratio + weight * (seen - self.ratio));
        }
        let bytes = bytes + self.tool_bytes;
        self.anchor = Some(Anchor { tokens, bytes });
    }

    /// Assumes a count for a request whose messages have `bytes` bytes, and that all of it, definitions included, has
    /// the ratio that follows: for the worst case, where nothing was learned.
    pub fn assume(&mut self, bytes: u64, tokens: u64) {
        let bytes = bytes + self.tool_bytes;
        let ratio = believable(exact(bytes) / exact(tokens.max(1)));
        self.ratio = ratio;
        self.tool_ratio = (self.tool_bytes > 0).then_some(ratio);
        self.anchor = Some(Anchor { tokens, bytes });
    }

    /// Tokens of the tool definitions.
    fn tool_tokens(&self) -> u64 {
        let ratio = self.tool_ratio.unwrap_or(self.ratio);
        whole((exact(self.tool_bytes) / ratio).ceil())
    }

    /// Tokens of the tool definitions in a request of `bytes` bytes of messages that counted `tokens`: what the messages
    /// leave of it when that is not known yet.
    fn learn_tools(&mut self, bytes: u64, tokens: u64) -> u64 {
        if self.tool_bytes == 0 {
            return 0;
        }
        if self.tool_ratio.is_none() {
            let rest = tokens.saturating_sub(self.tokens(bytes)).max(1);
            self.tool_ratio = Some(believable(exact(self.tool_bytes) / exact(rest)));
        }
        self.tool_tokens()
    }

    /// Takes an overflow: the server refused a request whose messages had `bytes` bytes. `tokens` is its own count
    /// when it gave one; otherwise the request is taken to be just over `window`, unless it was estimated higher.
    pub fn overflowed(&mut self, bytes: u64, tokens: Option<u64>, window: u64) {
        let least = window.saturating_add(1);
        let tokens = tokens.unwrap_or_else(|| self.estimate(bytes).tokens.max(least));
        self.report(bytes, tokens);
    }

    /// Forgets the last report but not the ratio: after a silent cut, whose count says nothing.
    pub fn forget_report(&mut self) {
        self.anchor = None;
    }
}

fn believable(ratio: f64) -> f64 {
    if ratio.is_finite() {
        ratio.clamp(RATIO_BOUNDS.0, RATIO_BOUNDS.1)
    } else {
        START_RATIO
    }
}

/// A count as a real number. Exact below 2⁵³, which no window reaches.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of bytes and tokens stay far below 2^53"
)]
pub(crate) fn exact(count: u64) -> f64 {
    count as f64
}

/// A real number as a count: its whole part, 0 when negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is meant"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_any_report_four_bytes_are_a_token() {
        let mut estimator = Estimator::default();
        assert_eq!(
            estimator.estimate(4001),
            Estimate {
                tokens: 1001,
                basis: Basis::Bytes,
                uncounted: 1001
            }
        );
        estimator.set_tool_bytes(400);
        assert_eq!(estimator.estimate(4000).tokens, 1100);
    }

    #[test]
    fn between_reports_the_change_in_bytes_counts() {
        let mut estimator = Estimator::default();
        estimator.report(4000, 1000);
        assert_eq!(
            estimator.estimate(4000),
            Estimate {
                tokens: 1000,
                basis: Basis::Reported,
                uncounted: 0
            }
        );
        assert_eq!(
            estimator.estimate(4400),
            Estimate {
                tokens: 1100,
                basis: Basis::SinceReport,
                uncounted: 100
            }
        );
        // What references saved since comes off.
        assert_eq!(estimator.estimate(3000).tokens, 750);
        // Never less than the largest believable ratio leaves.
        let mut estimator = Estimator::default();
        estimator.report(600, 400);
        estimator.report(6000, 1000);
        assert_eq!(estimator.estimate(600).tokens, 100);
    }

    #[test]
    fn the_ratio_follows_the_reports_within_its_bounds() {
        let mut estimator = Estimator::default();
        estimator.report(2000, 1000);
        assert!((estimator.ratio() - 2.0).abs() < 1e-9);
        assert_eq!(
            estimator.last_miss(),
            Some(Miss {
                estimated: 500,
                reported: 1000
            })
        );
        assert!((estimator.last_miss().unwrap().percent() + 50.0).abs() < 1e-9);
        estimator.report(4000, 1000);
        assert!((estimator.ratio() - 3.0).abs() < 1e-9);
        for _ in 0..40 {
            estimator.report(1000, 10_000);
        }
        assert!((estimator.ratio() - 1.5).abs() < 1e-6);
        for _ in 0..40 {
            estimator.report(1_000_000, 1);
        }
        assert!((estimator.ratio() - 6.0).abs() < 1e-6);
        assert!((Estimator::with_ratio(f64::NAN).ratio() - 4.0).abs() < 1e-9);
    }

    /// A first prompt of a few words carries the definitions of all tools: 1,200 bytes of messages at 4 bytes a token
    /// and 4,500 bytes of definitions at 2.5 are 2,100 tokens. What that says of 16,800 bytes of prose is nothing.
    #[test]
    fn definitions_say_nothing_of_the_messages() {
        let mut estimator = Estimator::default();
        estimator.set_tool_bytes(4500);
        estimator.report(1200, 2100);
        assert!((estimator.ratio() - 4.0).abs() < 0.01, "{}", estimator.ratio());
        assert_eq!(estimator.estimate(1200 + 16_800).tokens, 2100 + 4200);
        // A model whose words are longer is learned from what is said, whatever its definitions take.
        for _ in 0..8 {
            estimator.report(1200 + 50_000, 1800 + 10_240);
        }
        assert!((estimator.ratio() - 5.0).abs() < 0.05, "{}", estimator.ratio());
    }

    #[test]
    fn a_missing_count_changes_nothing_and_an_overflow_without_one_means_over_the_window() {
        let mut estimator = Estimator::default();
        estimator.report(4000, 0);
        assert!(!estimator.is_calibrated());
        estimator.overflowed(4000, None, 2048);
        assert_eq!(estimator.estimate(4000).tokens, 2049);
        estimator.overflowed(4000, Some(3000), 2048);
        assert_eq!(estimator.estimate(4000).tokens, 3000);
    }
}
