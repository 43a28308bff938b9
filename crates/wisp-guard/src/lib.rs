//! What may run: a shell line is taken apart, held against the policy, judged, and let through or asked about.
//!
//! [`split`] reads a line with a real shell grammar and finds every command in it, also those within
//! substitutions, `sh -c`, `eval` and wrappers such as `env` and `xargs`; what it cannot read with certainty is taken
//! for dangerous. [`Policy`] refuses; [`risk`] gives a [`Level`] with reasons by the tables in `assets/`, where what
//! nothing is known about is moderate. [`Gate::decide`] puts these together with what the person has allowed already
//! ([`Approvals`]) into a [`Decision`]. [`secrets`] finds credentials in text and masks them.
//!
//! Decisions are functions of their inputs: the caller runs the commands, asks the person, finds out where a path
//! leads, and passes the time. Only [`ApprovalFile`], [`Surroundings::look`] and [`links`] touch files.
//!
//! ```
//! use wisp_guard::{Level, risk, split};
//! let parts = split("cd build && find . -exec rm -rf {} +").unwrap();
//! assert_eq!(parts.len(), 3);
//! let verdict = risk("cd build && find . -exec rm -rf {} +");
//! assert_eq!(verdict.level, Level::Dangerous);
//! assert_eq!(verdict.reasons[0], "destroys every file it finds");
//! ```

mod approvals;
mod checks;
mod collect;
pub mod command;
mod confine;
pub mod credentials;
mod gate;
mod globs;
mod launchers;
mod level;
mod look;
mod mode;
mod moves;
mod named;
mod openers;
mod own;
pub mod paths;
mod pattern;
mod policy;
mod readonly;
mod refusal;
mod risk;
mod rules;
pub mod scan;
pub mod secrets;
mod shapes;
mod split;
mod store;
mod tree;
mod variables;
mod words;
mod wrappers;

pub use approvals::{Approval, Approvals, Grant, Scope, Thing};
pub use checks::git_config_programs;
pub use command::{Redirect, Shape, SimpleCommand, Word};
pub use confine::{Confinement, Profile};
pub use gate::{Decision, ForeignTool, Gate, Place, Question, Request};
pub use level::{Level, Threshold, Verdict};
pub use look::links;
pub use mode::{Mode, Ruling, UnknownMode};
pub use pattern::Pattern;
pub use policy::{InvalidPattern, Policy};
pub use refusal::Refusal;
pub use risk::{Surroundings, risk, risk_in, risk_of_part, risk_of_parts};
pub use split::{MAX_SCRIPTS, split};
pub use store::{ApprovalFile, StoreError};
pub use tree::{MAX_LINE, Unreadable};
