//! Tool outputs in wisp: how much of one a model is shown, and how nothing of the rest is lost.
//!
//! A tool may print five lines or five million. The model's window decides what it can be shown of them, the
//! [`ToolBudget`]; [`present()`] shows that much, head and tail, with an exact account of what lies between, and keeps
//! the whole in the [`Store`]. What is kept is the bytes as the tool produced them; what is shown is a clean view of
//! them ([`clean`]), line for line the same. From then on everything reads the stored file: the person by
//! [`pages`], the model by requests that filter and page it, a batch of results that has to shrink by [`batch`].
//! Nothing is ever started a second time to see its output.
//!
//! The crate runs nothing, draws nothing and knows no tool. What it needs to know of an output beyond its bytes
//! (how a command ended, the first error in it) comes in as values, and what happened goes out as values, such as
//! the [`Record`] from which the audit's `output.kept` event is written.
//!
//! ```
//! use wisp_output::{Context, Output, Place, Store, ToolBudget, present};
//! # let home = tempfile::tempdir().unwrap();
//! let store = Store::new(home.path(), "5e1f0c2a").unwrap();
//! let budget = ToolBudget::for_window(8_192);
//! let log = "a line of a log\n".repeat(10_000);
//! let context = Context {
//!     id: "3f9a2c1b00000001",
//!     about: wisp_output::store::About { tool: "read_file".into(), ..Default::default() },
//!     budget: budget.bytes(),
//!     memory: true,
//!     command: false,
//!     now: "2026-11-30T09:00:00Z".parse().unwrap(),
//!     first_error: None,
//! };
//! let presented = present(Output::text(log.as_bytes()), Place::Store(&store), &context);
//! assert!(presented.text.len() <= 4_096);
//! assert!(presented.text.contains("the whole output is kept as output 3f9a2c1b (10,000 lines)"));
//! assert_eq!(presented.kept.unwrap().record.bytes, 160_000);
//! ```

pub mod batch;
pub mod budget;
pub mod chunks;
pub mod clean;
pub mod content;
pub mod fit;
pub mod output;
pub mod pages;
pub mod present;
pub mod recall;
pub mod receive;
pub mod request;
pub mod search;
pub mod store;
pub mod streams;

pub use budget::ToolBudget;
pub use fit::{HeldBack, fit};
pub use output::{Measured, Output, Piece, Stream};
pub use pages::{Page, Pages};
pub use present::{Context, Place, Presented, present, refit};
pub use receive::receive;
pub use store::{Kept, Record, Shelf, Store};
pub use streams::Streams;
pub use wisp_host::amount;
