//! The tools a model may call, and the audited registry through which every call goes.
//!
//! A tool is a [`Descriptor`] row and a function; what it may be called with is a table beside its fields
//! ([`arguments!`]). It never throws and never bounds its own output: the [`Registry`] records the call, runs the
//! tool, keeps the whole output when it exceeds the conversation's budget, and gives the model what fits with an
//! exact account of the rest. Before anything runs, reads or writes it passes the [`Gatekeeper`]: policy, risk, the
//! person.
//!
//! Adding a tool is a file with its descriptor and a row in [`builtin`]:
//!
//! ```
//! let tools = wisp_tools::builtin(&wisp_tools::BuiltinOptions::default());
//! let names: Vec<_> = tools.iter().map(|tool| tool.descriptor().name).collect();
//! assert_eq!(names[..4], ["current_date", "run_command", "read_file", "edit_file"]);
//! ```

pub mod arguments;
pub mod ask;
pub mod behind;
mod call;
pub mod confine;
pub mod current_date;
pub mod custom;
pub mod edit_file;
pub mod files;
mod gate;
pub mod inspect;
mod jobs;
pub mod ledger;
mod live;
pub mod memory;
mod not_run;
pub mod notify;
pub mod read_file;
mod registry;
pub mod run_command;
pub mod search;
pub mod system_info;
mod tool;
pub mod written;

use std::time::Duration;

pub use behind::Behind;
pub use call::{Answering, Call, Choosing, Keep, Person, Scene, Services, ToolOptions};
pub use confine::{Confining, Network, SandboxOptions};
pub use gate::{Answer, Asking, Gatekeeper, Question};
pub use jobs::JobRow;
pub use registry::{
    Admitted, Attachment, Excerpt, Finished, HeldRange, KeptRecord, MemoryOffer, NotRecorded, Pending,
    Registry, Request, cap_at_send, one_line, said,
};
pub use tool::{Body, Descriptor, Ending, Returned, Running, Tool};

/// The name of the tool that reads what was held back; it is offered by its own rule (`context.memory`).
pub const MEMORY: &str = "memory";

/// The tools that search files; they are offered where the first request stays short with them.
pub const SEARCH: [&str; 2] = ["find_files", "search_text"];

/// The status in the words that say how a command ended (`exit status 1`); none for one that was stopped or killed.
pub fn exit_status(words: &str) -> Option<i32> {
    words.strip_prefix("exit status ")?.parse().ok()
}

/// What the built-in tools' descriptions say of the options in force.
#[derive(Debug, Clone, Default)]
pub struct BuiltinOptions {
    /// How long a command may run; none for as long as it likes.
    pub command_timeout: Option<Duration>,
}

/// The built-in tools, in the order they are offered.
pub fn builtin(options: &BuiltinOptions) -> Vec<Box<dyn Tool>> {
    let limit = match options.command_timeout {
        Some(limit) => format!("stopped after {} s", limit.as_secs()),
        None => "no time limit".to_owned(),
    };
    let limits = format!("{limit}; output beyond the tool-output budget is kept and can be paged");
    vec![
        Box::new(current_date::CurrentDate),
        Box::new(run_command::RunCommand { limits }),
        Box::new(read_file::ReadFile),
        Box::new(edit_file::EditFile),
        Box::new(search::find_files::FindFiles),
        Box::new(search::search_text::SearchText),
        Box::new(inspect::Inspect),
        Box::new(system_info::SystemInfo),
        Box::new(ask::Ask),
        Box::new(notify::Notify::default()),
        Box::new(memory::Memory),
    ]
}
