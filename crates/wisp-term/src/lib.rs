//! What the faces that draw on a terminal share: text made safe, measured in cells, coloured by role, printed.
//!
//! The crate has two halves. One stands between the outside and the terminal: [`Untrusted`] marks text of a model,
//! a tool, a file name or a server by type, and [`safe`] is the only way from there to something printable. The
//! other half is the looks: [`Theme`] data by [`Role`], a [`Palette`] that knows how deep the terminal's colours
//! go, [`Markdown`] that streams, [`diff`], [`width`] and [`units`]. Everything is a function of its inputs; only
//! [`Printer`] and [`tty`] touch a stream, and only binaries make one. Nothing here knows the agent.
//!
//! ```
//! use wisp_term::{Palette, Role, Untrusted, units};
//! let name = Untrusted::new("bill\u{202e}fdp.exe");
//! let line = Palette::plain().paint(Role::Warn, &name.line());
//! assert_eq!(line, "bill\\u{202e}fdp.exe");
//! assert_eq!(units::format_bytes(16_777_216), "16 MiB");
//! ```

pub mod causes;
pub mod clipboard;
pub mod diff;
mod inline;
pub mod keys;
pub mod markdown;
pub mod notifier;
pub mod pager;
pub mod palette;
pub mod printer;
pub mod question;
pub mod safe;
mod sgr;
pub mod style;
pub mod table;
pub mod tables;
pub mod theme;
pub mod tty;
pub mod units;
pub mod width;
pub mod words;

pub use markdown::Markdown;
pub use notifier::Notifier;
pub use pager::PagerCommand;
pub use palette::{ColourChoice, Palette};
pub use printer::{Printer, Surface};
pub use safe::{SafeText, Untrusted, visible, visible_bytes};
pub use style::{Colour, Depth, Style};
pub use table::Table;
pub use tables::Tables;
pub use theme::{Role, Theme};
