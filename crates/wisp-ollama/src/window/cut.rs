//! Whether a server cut a prompt without saying so, read from its counts.
//!
//! Needed for servers that do not know `truncate` and for proxies that strip it: there the only trace of a cut is a
//! count that cannot be. From a turn that was cut no call is run; the conversation is made shorter and asked again.

use crate::version::Era;

/// Tokens of the prompt's front that a cut keeps unless told otherwise.
const NUM_KEEP: u64 = 4;

/// A count below this share of a learned estimate is a cut, in percent.
const FAR_BELOW_PERCENT: u64 = 70;

/// What one exchange looked like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// The window that was sent as `num_ctx`.
    pub window: u64,
    /// The server's era; `None` when its version is not known.
    pub era: Option<Era>,
    /// The estimate of the prompt's tokens; `None` while nothing has been learned about the model.
    pub estimate: Option<u64>,
    /// The server's count of the prompt. To be left out for 0.30.0, which does not count what was cached.
    pub prompt_tokens: Option<u64>,
    /// The server's count of the reply.
    pub reply_tokens: Option<u64>,
    /// The count of the request before, when this one is that one and more, and no thinking left it since.
    pub grown_from: Option<u64>,
}

/// How a cut shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SilentCut {
    /// Far fewer tokens were read than were sent.
    FarBelow {
        /// Tokens read.
        read: u64,
        /// Tokens sent, by estimate.
        sent: u64,
    },
    /// The count is one that only a cut leaves, and less than was sent.
    CutSize {
        /// Tokens read.
        read: u64,
        /// Tokens sent, by estimate.
        sent: u64,
    },
    /// A prompt that only grew was counted as smaller.
    Shrank {
        /// Tokens read now.
        read: u64,
        /// Tokens read before.
        before: u64,
    },
    /// Prompt and reply together are more than the window holds: the front was forgotten while generating.
    Shifted {
        /// Tokens of prompt and reply.
        held: u64,
    },
}

/// Looks for a cut. `None` when the counts can be, or are not there.
pub fn silent_cut(seen: &Observation) -> Option<SilentCut> {
    let read = seen.prompt_tokens?;
    if let Some(before) = seen.grown_from.filter(|before| read < *before) {
        return Some(SilentCut::Shrank { read, before });
    }
    if let Some(sent) = seen.estimate {
        if u128::from(read) * 100 < u128::from(sent) * u128::from(FAR_BELOW_PERCENT) {
            return Some(SilentCut::FarBelow { read, sent });
        }
        if sent > read && is_cut_size(read, seen.window) {
            return Some(SilentCut::CutSize { read, sent });
        }
    }
    let held = read.saturating_add(seen.reply_tokens.unwrap_or_default());
    (held > holds(seen)).then_some(SilentCut::Shifted { held })
}

/// Whether a count is what one of the server's cuts leaves: the window, one less, or the half-window cut.
fn is_cut_size(read: u64, window: u64) -> bool {
    let half = |keep: u64| window - window.saturating_sub(keep) / 2;
    let near_half = half(NUM_KEEP) - 1..=half(NUM_KEEP + 1) + 1;
    read == window || read + 1 == window || near_half.contains(&read)
}

/// The most tokens that fit without a shift. Servers of the third era stop one token late; the fourth's engine allots
/// windows in multiples of 256.
fn holds(seen: &Observation) -> u64 {
    match seen.era {
        Some(Era::E1 | Era::E2) => seen.window,
        Some(Era::E3) => seen.window + 1,
        Some(Era::E4) | None => seen.window.next_multiple_of(256) + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{Observation, SilentCut, silent_cut};
    use crate::version::Era;

    fn seen(window: u64, estimate: u64, read: u64) -> Observation {
        Observation {
            window,
            era: Some(Era::E2),
            estimate: Some(estimate),
            prompt_tokens: Some(read),
            reply_tokens: Some(10),
            grown_from: None,
        }
    }

    #[test]
    fn far_below_the_estimate_is_a_cut() {
        assert_eq!(
            silent_cut(&seen(8192, 1000, 699)),
            Some(SilentCut::FarBelow {
                read: 699,
                sent: 1000
            })
        );
        assert_eq!(silent_cut(&seen(8192, 1000, 700)), None);
        assert_eq!(silent_cut(&seen(8192, 1000, 1300)), None);
    }

    #[test]
    fn a_cut_leaves_known_sizes() {
        for read in [4096, 4095] {
            let found = silent_cut(&Observation {
                reply_tokens: None,
                ..seen(4096, 4500, read)
            });
            assert_eq!(found, Some(SilentCut::CutSize { read, sent: 4500 }), "{read}");
        }
        for (window, half) in [(4096, 2050), (4096, 2051), (32_768, 16_386), (65_536, 32_770)] {
            let found = silent_cut(&seen(window, half + 500, half));
            assert_eq!(
                found,
                Some(SilentCut::CutSize {
                    read: half,
                    sent: half + 500
                }),
                "{window}"
            );
        }
        assert_eq!(silent_cut(&seen(4096, 2400, 2048)), None);
        assert_eq!(silent_cut(&seen(4096, 2400, 2053)), None);
        assert_eq!(silent_cut(&seen(4096, 2050, 2050)), None, "nothing more was sent");
    }

    #[test]
    fn a_grown_prompt_cannot_have_shrunk() {
        let grown = |read| Observation {
            grown_from: Some(900),
            ..seen(8192, 1000, read)
        };
        assert_eq!(
            silent_cut(&grown(899)),
            Some(SilentCut::Shrank {
                read: 899,
                before: 900
            })
        );
        assert_eq!(silent_cut(&grown(900)), None);
    }

    #[test]
    fn more_than_the_window_is_a_shift() {
        let shifted = |era, window, prompt, reply| {
            silent_cut(&Observation {
                era,
                reply_tokens: Some(reply),
                ..seen(window, prompt, prompt)
            })
        };
        assert_eq!(shifted(Some(Era::E2), 64, 18, 46), None);
        assert_eq!(
            shifted(Some(Era::E2), 64, 18, 47),
            Some(SilentCut::Shifted { held: 65 })
        );
        assert_eq!(
            shifted(Some(Era::E3), 64, 18, 47),
            None,
            "stopped at the window's end"
        );
        assert_eq!(
            shifted(Some(Era::E3), 64, 18, 48),
            Some(SilentCut::Shifted { held: 66 })
        );
        assert_eq!(shifted(Some(Era::E4), 64, 18, 238), None, "256 were allotted");
        assert_eq!(
            shifted(Some(Era::E4), 64, 18, 240),
            Some(SilentCut::Shifted { held: 258 })
        );
    }

    #[test]
    fn missing_counts_say_nothing() {
        let nothing = Observation {
            prompt_tokens: None,
            ..seen(4096, 9000, 0)
        };
        assert_eq!(silent_cut(&nothing), None);
        let unlearned = Observation {
            estimate: None,
            ..seen(4096, 0, 4096)
        };
        assert_eq!(
            silent_cut(&Observation {
                reply_tokens: None,
                ..unlearned
            }),
            None
        );
    }
}
