//! The decisions of one turn, pure: what happened goes in as an [`Input`], what is to be done comes out as [`Effect`]s.
//!
//! Nothing here waits, reads a clock, or knows a server, a file or a tool. Whoever carries the effects out (the turn of
//! `wisp-agent`) answers each with the input it leads to. So the rules that are hard to get right (how many requests a turn
//! has, which calls are run, when a repeated call ends it, what a retry changes) are driven in tests by lists of inputs.
//!
//! ```
//! use wisp_turn::{Effect, End, Input, Machine};
//! let mut machine = Machine::new(50);
//! assert_eq!(machine.on(Input::Begin), [Effect::Ask { step: 1 }]);
//! assert_eq!(machine.on(Input::Calls(1)), [Effect::Call { at: 0, bar: None }]);
//! let done = Input::CallDone { tool: "read_file".into(), in_a_row: 1 };
//! assert_eq!(machine.on(done), [Effect::Finish]);
//! assert_eq!(machine.on(Input::Recorded), [Effect::Ask { step: 2 }]);
//! assert_eq!(machine.on(Input::Replied), [Effect::End(End::Replied)]);
//! ```

mod calls;
mod jobs;
mod machine;
mod retry;

pub use calls::{ANSWERED, Bar, MAX_CALLS, REPEATS_END, REPEATS_TOLD, answered};
pub use jobs::{JobEffect, JobId, JobInput, JobOver, JobTerms, Preempted, Schedule};
pub use machine::{Effect, End, Input, Machine};
pub use retry::{EmptyReply, Fault, Pauses, Remedy, Retry};
