//! wisp's settings, and where it keeps things.
//!
//! [`SETTINGS`] is the one table: name, what the setting takes, its default, what it does. Loading checks the file
//! against it, `wisp config` reads and writes by it, completion and the documentation are printed from it. The
//! person's file is strict JSON and stays the person's: keys wisp does not know are kept and said, with the name
//! that was probably meant, and a change rewrites the file in one step with everything else as it was. A file that
//! cannot be used is an error with line, column, what is allowed and what to do; wisp never starts with half of
//! somebody's settings.
//!
//! ```
//! use wisp_config::{Config, Paths};
//! let paths = Paths::under("/home/ada/.wisp");
//! let text = "{\"approval\": {\"threshold\": \"always\"}}";
//! let wrong = Config::from_text(&paths.config(), text).unwrap_err();
//! assert_eq!(
//!     wrong.to_string(),
//!     "/home/ada/.wisp/config.json:1:15: approval.threshold must be safe, moderate, dangerous or never, not \"always\"",
//! );
//! ```

pub mod custom;
pub mod docs;
pub mod edit;
pub mod error;
pub mod hooks;
pub mod load;
mod locate;
mod nearest;
pub mod paths;
pub mod servers;
pub mod setting;
pub mod table;
mod typed;

pub use custom::CustomTool;
pub use edit::Changed;
pub use error::ConfigError;
pub use load::Config;
pub use locate::Place;
pub use nearest::nearest;
pub use paths::Paths;
pub use servers::McpServer;
pub use setting::{Kind, Setting};
pub use table::{SETTINGS, setting};
