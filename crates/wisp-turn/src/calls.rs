//! Which calls of a reply are run, and how often an equal one may be made. Every call that is answered is answered once,
//! also when it is not run: a server renders a call without its result into a prompt that the model cannot follow.

/// The most calls of one reply that are run.
pub const MAX_CALLS: usize = 32;
/// The most calls of one reply that are answered one by one; those after them are counted in the last answer.
pub const ANSWERED: usize = 2 * MAX_CALLS;
/// How often an equal call is made, with nothing new found, before the model is asked to answer in words.
pub const REPEATS_TOLD: u32 = 2;
/// How often it is made before the turn ends.
pub const REPEATS_END: u32 = 3;

/// Why a call is answered without being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bar {
    /// The user stopped the turn before it.
    Stopped,
    /// The turn ends, because the same call was made over and over.
    Repeated,
    /// The reply held more calls than are run. `unanswered` of them have no answer of their own.
    TooMany {
        /// Calls that this answer speaks for besides its own; 0 but for the last that is answered.
        unanswered: usize,
    },
}

/// How many of so many calls are answered one by one.
pub fn answered(calls: usize) -> usize {
    calls.min(ANSWERED)
}

/// What bars the call at `at`, from 0, of a reply of so many; none when it is run.
pub(crate) fn bar(at: usize, calls: usize, stopped: bool, repeated: bool) -> Option<Bar> {
    if stopped {
        return Some(Bar::Stopped);
    }
    if repeated {
        return Some(Bar::Repeated);
    }
    let is_last = at + 1 == ANSWERED;
    (at >= MAX_CALLS).then(|| Bar::TooMany {
        unanswered: if is_last {
            calls.saturating_sub(ANSWERED)
        } else {
            0
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thirty_third_call_is_answered_and_not_run() {
        assert_eq!(bar(31, 33, false, false), None);
        assert_eq!(bar(32, 33, false, false), Some(Bar::TooMany { unanswered: 0 }));
    }

    #[test]
    fn the_last_answer_counts_the_calls_after_it() {
        assert_eq!(bar(63, 64, false, false), Some(Bar::TooMany { unanswered: 0 }));
        assert_eq!(bar(63, 100, false, false), Some(Bar::TooMany { unanswered: 36 }));
        assert_eq!(answered(100), 64);
    }

    #[test]
    fn that_the_user_stopped_is_said_before_anything_else() {
        assert_eq!(bar(40, 100, true, true), Some(Bar::Stopped));
        assert_eq!(bar(40, 100, false, true), Some(Bar::Repeated));
    }
}
