//! The record of a conversation and the request composed from it.
//!
//! A small window is no reason to forget. This crate keeps one [`ThreadRecord`] per conversation that never loses
//! an entry, and composes each request afresh from it: what the model sees may differ from the record by three
//! rules only, each deterministic, each marked, each reversible by reading the record again. Outputs of earlier
//! turns are sent as short *references*; stretches of a reply that copy an output are *cut*; whole turns, oldest
//! first, are *dropped* when the context would outgrow its budget, and what the person said in them stays as lines
//! of the earlier block.
//!
//! Two more rules make that cheap for a server that caches prompts. What the model was shown of an output is
//! decided once, when it arrives, and replayed byte for byte ever after. And within a turn each request is the
//! previous one with messages added at its end.
//!
//! Everything here is pure: time and ids come in as values, files are bytes, nothing waits. Sending, saving and
//! asking a model to summarise belong to the agent.
//!
//! ```
//! use wisp_context::{Arrival, NewCall, Outcome, Role, Stamp, ThreadRecord, Time};
//!
//! let at = |second: i64| Stamp::at(Time::utc(second * 1000));
//! let mut record = ThreadRecord::new("You are wisp.", at(0));
//! record.begin_turn("How many files are there?", at(1).from("prompt-1"));
//! let first = record.request();
//!
//! let ls = NewCall::new("run_command", serde_json::json!({"command": "ls | wc -l"}));
//! let (_, calls) = record.record_calls("", vec![ls], at(2));
//! record.record_output(Arrival::new(&calls[0].id, "run_command", "42\n"), at(3));
//! let second = record.request();
//! assert_eq!(second.messages[..first.messages.len()], first.messages[..]);
//! assert_eq!(second.messages[3].role, Role::Tool);
//!
//! record.record_reply("There are 42.", false, at(4));
//! record.end_turn(Outcome::Completed);
//! assert_eq!(record.recompose(1, 0), Some(first));
//! ```

pub mod admission;
mod blocks;
mod command;
mod compose;
mod condense;
pub mod cut;
mod earlier;
mod entry;
mod estimate;
mod fork;
pub mod message;
mod notes;
mod output;
mod pressure;
mod recall;
mod record;
mod recording;
mod reference;
pub mod saved;
mod search;
mod stamp;
mod tail;
mod target;
mod text;
pub mod truncation;
mod turn;
mod view;

pub use blocks::Place;
pub use command::{INLINE_BYTES, Typed};
pub use compose::{INTERRUPTED, NO_OUTPUT, NO_RESULT};
pub use condense::{Condensation, Plan, Reason, StalePlan, Step};
pub use earlier::SQUEEZED_BYTES;
pub use entry::{Content, Cut, Dropped, Entry, EntryId, Kind, Later, Origin, Revision};
pub use estimate::{Basis, Estimate, Estimator, Miss, RATIO_BOUNDS, START_RATIO};
pub use message::{MESSAGE_FRAME, Message, Part, PartKind, Request, Role, ToolCall};
pub use notes::{Author, NOTES_A_TURN, Note, TASK_CHARS, Task, VALUE_CHARS};
pub use output::{Arrival, HeldBack, Output, Printed, Reference, Status};
pub use pressure::{Action, Pressure, reserve};
pub use recall::{Recalled, Wanted};
pub use record::{LastUse, Rules, ThreadRecord};
pub use recording::{CutMade, NewCall, TurnStart};
pub use reference::{REFERENCE_BYTES, Referenced};
pub use saved::{Files, LoadError, Loaded, Loss, Masking, ReadAt, SavedFile, load, load_with_past};
pub use search::Hit;
pub use stamp::{Stamp, Time};
pub use target::{Gauge, Phase, Target};
pub use text::Text;
pub use turn::{Outcome, Turn};
pub use view::{ContextView, Row, Total, TurnRow, turns_markdown};
