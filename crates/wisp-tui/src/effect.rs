//! What the app asks of the world. The app itself only changes values; the loop that owns the terminal and the
//! channel does these things, one after the other.

use std::path::PathBuf;

use wisp_agent::protocol::Command;

/// One thing to do outside the app.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send a command to the engine.
    Send(Command),
    /// Put a text on the clipboard, through the terminal.
    Copy(String),
    /// Show a stored output in the person's pager.
    Page(PathBuf),
    /// Open a text in the person's editor; what comes back is given to [`crate::App::edited`].
    Edit(String),
    /// Stop as Ctrl-Z does, giving the terminal to the shell.
    Suspend,
    /// Draw every row again.
    Redraw,
    /// Tell the person something while they are elsewhere.
    Notify {
        /// A few words.
        title: String,
        /// One sentence.
        body: String,
    },
    /// Leave, with the exit code the engine gave.
    Exit(u8),
}
