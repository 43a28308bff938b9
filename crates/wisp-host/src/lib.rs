//! What wisp takes from the machine it runs on, each through one door: private files, the clock, random ids and
//! the environment.
//!
//! The rest of the workspace is banned from the functions behind these doors (`clippy.toml`), for two reasons. A
//! file that wisp writes holds what a person's commands printed, so it is always 0600 in a 0700 directory and is
//! always replaced whole; that is easier to hold in one module than in ten. And a test that fixes the clock and
//! the ids can compare whole audit files and whole screens.
//!
//! ```
//! use wisp_host::{Clock, FixedClock};
//! let clock = FixedClock::at("2026-11-30T09:00:00Z");
//! assert_eq!(clock.now().to_string(), "2026-11-30T09:00:00Z");
//! ```

pub mod clock;
pub mod env;
pub mod faults;
pub mod files;
pub mod ids;
pub mod process;

pub use wisp_amount as amount;

pub use clock::{Clock, FixedClock, SystemClock};
pub use env::Env;
pub use files::FileError;
pub use ids::{FixedIds, IdSource, RandomIds};
