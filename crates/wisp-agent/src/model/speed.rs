//! How fast a server reads: learned from its own counts, so that an output costs no more time than a person waits.
//!
//! Servers report all of a prompt and the time for the part that was not in their cache, so a count by that time is no
//! speed. What was read is known in three cases: the server says how much came from its cache; the model was loaded for the
//! request, so that nothing was in it; the request is the last one of the turn and more, so that only the end was read.
//! Everywhere else the count gives a speed that is at least the true one.

use std::collections::VecDeque;
use std::time::Duration;

use wisp_ollama::Metrics;

/// Fewer tokens tell nothing about speed.
const WORTH: u64 = 64;
/// A shorter time tells nothing about speed.
const MEASURABLE: Duration = Duration::from_millis(50);
/// A load longer than this put the model into memory; a shorter one found it there.
const LOADED: Duration = Duration::from_millis(300);
/// The last so many speeds are kept; their median counts.
const KEPT: usize = 9;

/// What is known of how fast a model is read to on its server, in tokens a second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Speed {
    seen: VecDeque<f64>,
    /// What earlier conversations found.
    before: Option<f64>,
    /// The last request's count by its time: no speed is above it.
    most: Option<f64>,
    /// Tokens written in a second in the last turn, and the seconds until its first.
    last_turn: (Option<f64>, Option<f64>),
}

impl Speed {
    /// What earlier conversations found; none when they found nothing.
    pub fn of(before: Option<u64>) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "speeds stay far below 2^53")]
        let before = before.map(|speed| speed as f64);
        Self {
            before,
            ..Self::default()
        }
    }

    /// Learns from a reply. `grown` is how many tokens of its prompt had been read or written by the server in the request
    /// before, when this one is that one and more.
    pub fn learn(&mut self, metrics: &Metrics, grown: Option<u64>) {
        let (Some(prompt), Some(took)) = (metrics.prompt_tokens, metrics.prompt) else {
            return;
        };
        if prompt < WORTH || took < MEASURABLE {
            return;
        }
        self.most = Some(by(prompt, took));
        let loaded = metrics.load.is_some_and(|load| load > LOADED);
        let old = match (metrics.cached_tokens, grown) {
            (Some(cached), _) => Some(cached),
            (None, _) if loaded => Some(0),
            (None, grown) => grown,
        };
        let Some(read) = old
            .map(|old| prompt.saturating_sub(old))
            .filter(|read| *read >= WORTH)
        else {
            return;
        };
        self.seen.push_back(by(read, took));
        if self.seen.len() > KEPT {
            self.seen.pop_front();
        }
    }

    /// Tokens read in a second; none while nothing is known.
    pub fn tokens(&self) -> Option<f64> {
        let mut seen: Vec<f64> = self.seen.iter().copied().collect();
        seen.sort_by(f64::total_cmp);
        let median = seen.get(seen.len() / 2).copied().or(self.before);
        match (median, self.most) {
            (Some(speed), Some(most)) => Some(speed.min(most)),
            (speed, most) => speed.or(most),
        }
    }

    /// Notes how the last turn went: tokens written in a second, and the seconds until the first.
    pub fn end_turn(&mut self, written: Option<f64>, first: Option<f64>) {
        self.last_turn = (written, first);
    }

    /// `reads about 340 tokens/s; the last turn: 24.3 tokens/s written, the first after 0.8 s`; none while nothing was
    /// measured.
    pub fn words(&self) -> Option<String> {
        let reads = self
            .tokens()
            .map(|speed| format!("reads about {speed:.0} tokens/s"));
        let written = self
            .last_turn
            .0
            .map(|speed| format!("{speed:.1} tokens/s written"));
        let first = self
            .last_turn
            .1
            .map(|seconds| format!("the first after {seconds:.1} s"));
        let turn: Vec<String> = written.into_iter().chain(first).collect();
        let turn = (!turn.is_empty()).then(|| format!("the last turn: {}", turn.join(", ")));
        let parts: Vec<String> = reads.into_iter().chain(turn).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// What is to be kept for the next conversation; none when this one measured nothing.
    pub fn measured(&self) -> Option<u64> {
        if self.seen.is_empty() {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a speed is positive and small"
        )]
        self.tokens().map(|speed| speed.round() as u64)
    }

    /// The bytes that are read in so many seconds, at so many bytes a token; none while the speed is unknown.
    pub fn bytes_in(&self, seconds: u64, ratio: f64) -> Option<u64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a positive product, which saturates"
        )]
        self.tokens().map(|speed| (speed * seconds as f64 * ratio) as u64)
    }
}

fn by(tokens: u64, took: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "prompts stay far below 2^53 tokens")]
    let tokens = tokens as f64;
    tokens / took.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(prompt: u64, millis: u64) -> Metrics {
        Metrics {
            prompt_tokens: Some(prompt),
            prompt: Some(Duration::from_millis(millis)),
            ..Metrics::default()
        }
    }

    fn speed(of: &Speed) -> Option<u64> {
        of.bytes_in(1, 1.0)
    }

    #[test]
    fn only_what_was_read_counts() {
        let mut known = Speed::default();
        known.learn(
            &Metrics {
                load: Some(Duration::from_secs(3)),
                ..reply(1000, 25_000)
            },
            None,
        );
        assert_eq!(speed(&known), Some(40));
        let mut known = Speed::default();
        known.learn(
            &Metrics {
                cached_tokens: Some(1600),
                ..reply(2000, 10_000)
            },
            None,
        );
        assert_eq!(speed(&known), Some(40));
        let mut known = Speed::default();
        known.learn(&reply(2000, 10_000), Some(1600));
        assert_eq!((speed(&known), known.measured()), (Some(40), Some(40)));
    }

    #[test]
    fn a_cached_prefix_of_unknown_length_only_bounds_the_speed() {
        let mut known = Speed::default();
        known.learn(&reply(2000, 100), None);
        assert_eq!((speed(&known), known.measured()), (Some(20_000), None));
        let mut known = Speed::of(Some(500));
        known.learn(&reply(2000, 50_000), None);
        assert_eq!(
            speed(&known),
            Some(40),
            "it reads no faster than all of it by the time"
        );
    }

    #[test]
    fn only_what_was_measured_is_told() {
        let mut known = Speed::of(Some(340));
        known.end_turn(Some(24.34), Some(0.84));
        let said = "reads about 340 tokens/s; the last turn: 24.3 tokens/s written, the first after 0.8 s";
        assert_eq!(known.words().as_deref(), Some(said));
        assert_eq!(Speed::default().words(), None);
    }

    #[test]
    fn one_odd_measurement_changes_nothing() {
        let mut known = Speed::default();
        for millis in [10_000, 10_000, 500_000, 10_000] {
            known.learn(&reply(2000, millis), Some(1600));
        }
        assert_eq!(speed(&known), Some(40));
    }

    #[test]
    fn few_tokens_short_times_and_absent_counts_tell_nothing() {
        let mut known = Speed::of(None);
        known.learn(&reply(63, 10_000), Some(0));
        known.learn(&reply(5000, 49), Some(0));
        known.learn(&Metrics::default(), Some(0));
        assert_eq!(speed(&known), None);
        assert_eq!(speed(&Speed::of(Some(70))), Some(70));
    }
}
