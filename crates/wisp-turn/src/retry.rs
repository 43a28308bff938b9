//! What is done about an exchange that came to nothing, within one step of a turn. Nothing was executed from the reply that
//! failed, so asking again is safe; how often, and with what changed, is decided here and bounded for every fault.

use std::collections::BTreeSet;
use std::time::Duration;

/// Retries with a changed request after the model wrote something that cannot be used.
const CHANGES: u32 = 2;

/// The pauses before retries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pauses<'a> {
    /// Before each retry while a server is busy; their number is how often it is tried again.
    pub busy: &'a [Duration],
    /// Before the one retry after a crash or a lost connection.
    pub once: Duration,
}

/// What was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Only the user can do something about it.
    Fatal,
    /// The server is busy.
    Busy,
    /// The connection or the model's process was lost.
    Lost,
    /// The model wrote what the server or wisp cannot read. `may_hang`: the next request may leave the server hanging.
    Garbled {
        /// Whether this server may hang at the request after it.
        may_hang: bool,
    },
    /// The server hangs over the request.
    Hangs {
        /// Whether this server may hang at the request after it.
        may_hang: bool,
    },
    /// The model refuses `think`.
    NoThinking,
    /// The model refuses `tools`.
    NoTools,
    /// The reply was empty.
    Empty(EmptyReply),
    /// The reply ended for its length inside a tool call.
    CutCall,
    /// The reply is nothing but a tool call written as text that cannot be read.
    CallAsText,
    /// The answer of a guided model lacks what was asked for; who guides it bounds how often that is said.
    AnswerRefused,
    /// The last reply has not the form it must have. `has_tools`: it was asked for without the schema, beside tools.
    NotInForm {
        /// Whether tools were offered.
        has_tools: bool,
    },
}

/// How a reply was empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyReply {
    /// Whether it had thinking in it, and nothing else.
    pub only_thought: bool,
    /// Whether it ended because of its length.
    pub cut: bool,
    /// Whether thinking can be turned off, and that may help.
    pub can_turn_off: bool,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The step has failed.
    GiveUp,
    /// The same request after a pause.
    Again(Duration),
    /// Another seed, and a note to the model where there is one for the fault.
    Change,
    /// The same after the model was unloaded, which frees the server.
    Unload,
    /// `think` is left out.
    WithoutThink,
    /// `tools` are left out.
    WithoutTools,
    /// The model is asked not to think.
    ThinkOff,
    /// The reply is asked for with the schema as the request's format.
    Form,
}

/// What is done at most once for one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Once {
    WithoutThink,
    WithoutTools,
    Nudged,
    CallAsText,
    ThinkOff,
    Unloaded,
    MayHang,
    Formed,
    FormExplained,
}

/// The retries of one step: what was tried, and what the next request has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retry {
    tries: u32,
    seed: Option<i64>,
    done: BTreeSet<Once>,
}

impl Retry {
    /// How often it was tried again.
    pub fn tries(&self) -> u32 {
        self.tries
    }

    /// The seed of the next request, when it is another than the model's.
    pub fn seed(&self) -> Option<i64> {
        self.seed
    }

    /// Whether `think` is left out.
    pub fn is_without_think(&self) -> bool {
        self.done.contains(&Once::WithoutThink)
    }

    /// Whether `tools` are left out.
    pub fn is_without_tools(&self) -> bool {
        self.done.contains(&Once::WithoutTools)
    }

    /// Whether the model is asked not to think.
    pub fn is_think_off(&self) -> bool {
        self.done.contains(&Once::ThinkOff)
    }

    /// Whether the request before may have left the server hanging.
    pub fn may_hang(&self) -> bool {
        self.done.contains(&Once::MayHang)
    }

    /// Whether the reply is asked for in its form.
    pub fn is_formed(&self) -> bool {
        self.done.contains(&Once::Formed)
    }

    /// Another try for a reason that is decided elsewhere and bounded there: room was made, a schema left out.
    pub fn count(&mut self) {
        self.tries += 1;
    }

    /// Decides what is done about a fault. All but [`Remedy::GiveUp`] count as a try.
    pub fn on(&mut self, fault: Fault, pauses: &Pauses<'_>) -> Remedy {
        let remedy = self.decide(fault, pauses);
        if remedy != Remedy::GiveUp {
            self.tries += 1;
            self.reseed(fault);
        }
        remedy
    }

    /// The faults of what a model wrote are asked about with another seed, or it would write the same once more.
    fn reseed(&mut self, fault: Fault) {
        match fault {
            Fault::Garbled { may_hang } | Fault::Hangs { may_hang } => {
                if may_hang {
                    self.done.insert(Once::MayHang);
                }
            }
            Fault::Empty(_) | Fault::CutCall | Fault::CallAsText | Fault::AnswerRefused => {}
            _ => return,
        }
        self.seed = Some(i64::from(self.tries));
    }

    fn decide(&mut self, fault: Fault, pauses: &Pauses<'_>) -> Remedy {
        match fault {
            Fault::Busy => pauses
                .busy
                .get(self.tries as usize)
                .copied()
                .map_or(Remedy::GiveUp, Remedy::Again),
            Fault::Lost if self.tries == 0 => Remedy::Again(pauses.once),
            Fault::Garbled { .. } | Fault::CutCall if self.tries < CHANGES => Remedy::Change,
            Fault::AnswerRefused => Remedy::Change,
            Fault::Hangs { .. } => self.once(Once::Unloaded, Remedy::Unload),
            Fault::NoThinking => self.once(Once::WithoutThink, Remedy::WithoutThink),
            Fault::NoTools => self.once(Once::WithoutTools, Remedy::WithoutTools),
            Fault::CallAsText => self.once(Once::CallAsText, Remedy::Change),
            Fault::Empty(how) => self.empty(how),
            Fault::NotInForm { has_tools } => self.not_in_form(has_tools),
            Fault::Fatal | Fault::Lost | Fault::Garbled { .. } | Fault::CutCall => Remedy::GiveUp,
        }
    }

    fn once(&mut self, what: Once, remedy: Remedy) -> Remedy {
        if self.done.insert(what) {
            remedy
        } else {
            Remedy::GiveUp
        }
    }

    /// The model is told, then asked not to think. A reply that ran out of room while thinking would only do so again.
    fn empty(&mut self, how: EmptyReply) -> Remedy {
        let ran_out = how.only_thought && how.cut;
        let may_tell = !(ran_out && how.can_turn_off);
        if may_tell && self.done.insert(Once::Nudged) {
            Remedy::Change
        } else if how.can_turn_off {
            self.once(Once::ThinkOff, Remedy::ThinkOff)
        } else {
            Remedy::GiveUp
        }
    }

    /// First the schema as the request's format, unless it was there already; then the model is told what is wrong.
    fn not_in_form(&mut self, has_tools: bool) -> Remedy {
        if self.done.insert(Once::Formed) && has_tools {
            Remedy::Form
        } else {
            self.once(Once::FormExplained, Remedy::Change)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(500);
    const BUSY: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

    fn all(faults: impl IntoIterator<Item = Fault>) -> Vec<Remedy> {
        let mut retry = Retry::default();
        let pauses = Pauses {
            busy: &BUSY,
            once: PAUSE,
        };
        faults.into_iter().map(|fault| retry.on(fault, &pauses)).collect()
    }

    #[test]
    fn a_busy_server_is_waited_for_as_often_as_there_are_pauses() {
        let [first, second] = BUSY.map(Remedy::Again);
        assert_eq!(all([Fault::Busy; 3]), [first, second, Remedy::GiveUp]);
    }

    #[test]
    fn a_lost_connection_is_tried_once_and_not_after_another_fault() {
        assert_eq!(all([Fault::Lost; 2]), [Remedy::Again(PAUSE), Remedy::GiveUp]);
        assert_eq!(
            all([Fault::NoTools, Fault::Lost]),
            [Remedy::WithoutTools, Remedy::GiveUp]
        );
    }

    #[test]
    fn what_cannot_be_read_is_changed_twice() {
        let garbled = Fault::Garbled { may_hang: false };
        let expected = [Remedy::Change, Remedy::Change, Remedy::GiveUp];
        assert_eq!(all([garbled; 3]), expected);
        assert_eq!(all([Fault::CutCall; 3]), expected);
    }

    #[test]
    fn a_server_that_hangs_is_freed_once() {
        let hangs = Fault::Hangs { may_hang: true };
        assert_eq!(all([hangs; 2]), [Remedy::Unload, Remedy::GiveUp]);
    }

    #[test]
    fn an_empty_reply_is_told_then_asked_for_without_thinking() {
        let empty = |only_thought, cut, can_turn_off| {
            Fault::Empty(EmptyReply {
                only_thought,
                cut,
                can_turn_off,
            })
        };
        let both = [Remedy::Change, Remedy::ThinkOff, Remedy::GiveUp];
        assert_eq!(all([empty(true, false, true); 3]), both);
        assert_eq!(
            all([empty(false, false, false); 2]),
            [Remedy::Change, Remedy::GiveUp]
        );
        let ran_out = [Remedy::ThinkOff, Remedy::GiveUp];
        assert_eq!(all([empty(true, true, true); 2]), ran_out);
    }

    #[test]
    fn a_form_is_asked_for_as_a_format_and_then_explained() {
        let beside = Fault::NotInForm { has_tools: true };
        assert_eq!(all([beside; 3]), [Remedy::Form, Remedy::Change, Remedy::GiveUp]);
        let alone = Fault::NotInForm { has_tools: false };
        assert_eq!(all([alone; 2]), [Remedy::Change, Remedy::GiveUp]);
    }

    #[test]
    fn a_seed_is_the_number_of_the_try_and_a_formed_reply_keeps_the_models() {
        let mut retry = Retry::default();
        let pauses = Pauses {
            busy: &BUSY,
            once: PAUSE,
        };
        retry.on(Fault::NotInForm { has_tools: true }, &pauses);
        assert_eq!(retry.seed(), None);
        retry.on(Fault::CutCall, &pauses);
        assert_eq!(retry.seed(), Some(2));
    }
}
