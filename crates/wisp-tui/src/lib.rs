//! The ratatui face: a conversation in a band over the terminal's own scrollback.
//!
//! Three parts, and nothing of one in another:
//!
//! - [`App`] is the face as a value. Keys, pastes and the engine's events go in with the moment they came
//!   ([`Input`]); what is to be done comes out ([`Effect`]). It knows no terminal, no clock and no channel, so a test
//!   is a list of inputs, and the same inputs give the same screen.
//! - [`view::band`] makes rows of it: the line of a reply that is being written, then a question, a panel or the box,
//!   then the status row. Lines that are finished are no part of the band: [`App::take_finished`] gives them out once,
//!   and from then on they are the terminal's, to select, search and keep.
//! - [`Screen`] writes both, with relative moves only, so that neither a resize nor another program's output makes it
//!   write over a finished line. [`run::Runner`] is the loop around the three; [`session`] takes the terminal's modes
//!   and gives them back however the program ends.
//!
//! What grows is a table: keys and what they do ([`keys::ACTIONS`]), colours (`wisp-term`'s themes). What the engine
//! sends is made safe where it enters the face, and once more has no way to be anything but letters in cells.
//!
//! ```
//! use std::time::Duration;
//! use ratatui::layout::Size;
//! use wisp_agent::protocol::Event;
//! use wisp_tui::{App, Input, Settings, keys::Bindings, view};
//!
//! let settings = Settings {
//!     palette: wisp_term::Palette::plain(),
//!     bindings: Bindings::new(&Default::default()).unwrap(),
//!     size: Size { width: 40, height: 10 },
//!     notifications: 0,
//! };
//! let mut app = App::new(settings);
//! let reply = Event::Delta { text: "One line.\nAnd anoth".into() };
//! app.on(Input::Event(Box::new(reply)), Duration::ZERO);
//! assert_eq!(app.take_finished()[0].to_string(), "One line.");
//! assert_eq!(view::band(&app).rows[0].to_string(), "And anoth");
//! ```

mod ansi;
pub mod app;
pub mod effect;
mod highlight;
pub mod input;
pub mod keyboard;
pub mod keys;
pub mod link;
mod looks;
pub mod outside;
pub mod panel;
pub mod replay;
mod row;
pub mod run;
pub mod screen;
pub mod session;
mod sgr;
pub mod signals;
pub mod terminal;
pub mod view;
pub mod wrap;

pub use app::{App, Input, Settings};
pub use effect::Effect;
pub use looks::Looks;
pub use screen::{Reflow, Screen};
