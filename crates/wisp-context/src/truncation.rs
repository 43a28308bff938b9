//! Telling from a server's counts that it cut the prompt without saying so.
//!
//! Old servers, and proxies that strip fields, drop the front of a prompt that is too long, the system message
//! first, and answer as if nothing had happened. The counts are the only trace.

use serde::{Deserialize, Serialize};

use crate::estimate::Estimator;
use crate::message::{Request, size};

/// Share of a calibrated estimate, in percent, below which a count means that something was left out.
const LEAST_SHARE: u64 = 70;

/// What the server counted for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Tokens generated, when reported.
    pub reply: Option<u64>,
}

/// A request as far as its counts can be judged by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Bytes of its messages.
    pub bytes: u64,
    /// Bytes among them that a template may leave out: what the model thought.
    pub optional: u64,
}

impl From<u64> for Sent {
    /// Messages of so many bytes, none of them thinking.
    fn from(bytes: u64) -> Self {
        Self { bytes, optional: 0 }
    }
}

impl From<&Request> for Sent {
    fn from(request: &Request) -> Self {
        let thinking = request
            .messages
            .iter()
            .filter_map(|message| message.thinking.as_ref());
        Self {
            bytes: request.bytes(),
            optional: thinking.map(|text| size(text.len())).sum(),
        }
    }
}

/// What the counts of one request say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole prompt was read.
    Whole,
    /// The prompt was cut: `counted` tokens of about `estimated`.
    Cut {
        /// The server's count.
        counted: u64,
        /// What the request should have had.
        estimated: u64,
    },
    /// The prompt was read, but the window filled during the reply and the front was forgotten.
    Shifted,
}

/// Judges the counts of a request, sent for a window of `window` tokens. To be asked before [`Estimator::report`].
///
/// A count well below the estimate says that something was left out only when no text could explain it: prose after
/// dense data has more bytes to a token than was learned, and thinking may not be rendered at all.
pub fn verdict(estimator: &Estimator, sent: impl Into<Sent>, counts: Counts, window: u64) -> Verdict {
    let sent = sent.into();
    let estimated = estimator.estimate(sent.bytes).tokens;
    let counted = counts.prompt;
    if counted == 0 {
        return Verdict::Whole;
    }
    let least = estimator.least(sent.bytes, sent.optional);
    let short = counted * 100 < estimated * LEAST_SHARE && least.is_some_and(|least| counted < least);
    // Only a prompt that did not fit is cut; a shorter one has such a count by chance now and then.
    let may_exceed = estimator.most(sent.bytes) >= window;
    if short || (may_exceed && counted < estimated && is_cut_size(counted, window)) {
        return Verdict::Cut { counted, estimated };
    }
    // A prompt of more than the window that was read says that the window is larger than that.
    if counted <= window && counted + counts.reply.unwrap_or(0) > window {
        Verdict::Shifted
    } else {
        Verdict::Whole
    }
}

/// Whether a server that cuts a prompt for `window` leaves exactly this many tokens: all of the window, all but
/// one, or what is left after half of it is discarded, with four or five tokens kept at the front.
fn is_cut_size(counted: u64, window: u64) -> bool {
    let half = |keep: u64| window - window.saturating_sub(keep) / 2;
    counted == window
        || counted + 1 == window
        || [half(4), half(5)].iter().any(|&size| counted.abs_diff(size) <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(prompt: u64) -> Counts {
        Counts {
            prompt,
            reply: Some(10),
        }
    }

    #[test]
    fn the_sizes_servers_cut_to_are_known() {
        let estimator = Estimator::default();
        let bytes = 4 * 5000;
        for counted in [2050, 2051, 2049, 4095, 4096] {
            let cut = Verdict::Cut {
                counted,
                estimated: 5000,
            };
            assert_eq!(verdict(&estimator, bytes, counts(counted), 4096), cut);
        }
        assert_eq!(verdict(&estimator, bytes, counts(4000), 4096), Verdict::Whole);
        assert_eq!(verdict(&estimator, 4 * 2000, counts(2050), 4096), Verdict::Whole);
        for (window, left) in [(32_768, 16_386), (65_536, 32_770)] {
            assert!(matches!(
                verdict(&estimator, 4 * 70_000, counts(left), window),
                Verdict::Cut { .. }
            ));
        }
    }

    #[test]
    fn a_prompt_that_fits_has_such_a_count_by_chance() {
        let mut estimator = Estimator::default();
        estimator.report(10_000, 3900);
        let sent = 10_600;
        assert!(estimator.estimate(sent).tokens > 4100);
        assert_eq!(verdict(&estimator, sent, counts(4100), 8192), Verdict::Whole);
        // The same count of a prompt that may have had more than the window is a cut.
        let sent = 10_000 + 3 * 4292;
        assert!(matches!(
            verdict(&estimator, sent, counts(4100), 8192),
            Verdict::Cut { counted: 4100, .. }
        ));
    }

    #[test]
    fn below_seventy_percent_of_a_calibrated_estimate_is_a_cut() {
        let mut estimator = Estimator::default();
        assert_eq!(verdict(&estimator, 4000, counts(600), 8192), Verdict::Whole);
        estimator.report(4000, 1000);
        assert_eq!(verdict(&estimator, 4000, counts(700), 8192), Verdict::Whole);
        assert_eq!(
            verdict(&estimator, 4000, counts(699), 8192),
            Verdict::Cut {
                counted: 699,
                estimated: 1000
            }
        );
    }

    #[test]
    fn prose_after_dense_data_and_thinking_that_is_not_rendered_are_no_cut() {
        let mut estimator = Estimator::default();
        estimator.report(6000, 3000);
        // 20,000 bytes at 4.5 bytes to a token: 57 % of the estimate, and whole.
        assert_eq!(verdict(&estimator, 26_000, counts(7444), 16_384), Verdict::Whole);
        assert!(matches!(
            verdict(&estimator, 26_000, counts(3100), 16_384),
            Verdict::Cut { .. }
        ));
        let thought = Sent {
            bytes: 16_000,
            optional: 9_800,
        };
        assert_eq!(verdict(&estimator, thought, counts(3100), 16_384), Verdict::Whole);
        assert!(matches!(
            verdict(&estimator, 16_000, counts(3100), 16_384),
            Verdict::Cut { .. }
        ));
    }

    /// Text of one token a byte is the densest there is, and what remains once it has left is no cut prompt.
    #[test]
    fn what_is_left_when_dense_text_has_gone_is_no_cut() {
        let mut estimator = Estimator::default();
        estimator.report(3000, 2000);
        assert_eq!(estimator.estimate(1600).tokens, 1067);
        assert_eq!(verdict(&estimator, 1600, counts(601), 4096), Verdict::Whole);
        assert!(matches!(
            verdict(&estimator, 1600, counts(599), 4096),
            Verdict::Cut { counted: 599, .. }
        ));
        // And it may exceed a window that three quarters of its bytes would not.
        assert!(matches!(
            verdict(&estimator, 3000 + 2200, counts(2050), 4096),
            Verdict::Cut { counted: 2050, .. }
        ));
    }

    #[test]
    fn a_reply_past_the_window_was_shifted() {
        let estimator = Estimator::default();
        let at = |reply| verdict(&estimator, 4000, Counts { prompt: 1000, reply }, 2048);
        assert_eq!(at(Some(1048)), Verdict::Whole);
        assert_eq!(at(Some(1049)), Verdict::Shifted);
        assert_eq!(at(None), Verdict::Whole);
        let read_more = Counts {
            prompt: 2100,
            reply: Some(9),
        };
        assert_eq!(verdict(&estimator, 8000, read_more, 2048), Verdict::Whole);
    }
}
