//! The ratatui face.

mod ansi;
pub mod app;
pub mod effect;
pub mod input;
pub mod keys;
pub mod link;
mod looks;
pub mod outside;
pub mod panel;
pub mod replay;
pub mod run;
pub mod screen;
pub mod session;
mod sgr;
pub mod signals;
mod table;
pub mod terminal;
pub mod view;
pub mod wrap;

pub use app::{App, Input, Settings};
pub use effect::Effect;
pub use looks::Looks;
pub use screen::{Reflow, Screen};
