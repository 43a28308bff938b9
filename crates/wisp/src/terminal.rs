//! The terminal as it was found: remembered at the start, put back at every end, also a panic's and a signal's.
//!
//! The line editor and the approval dialog switch the terminal to raw mode. They put it back themselves when they
//! return, but not when a signal ends the process under them.

use std::io::{self, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::OnceLock;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The terminal itself, and how it was set. Standard input may be another one while a line is asked for.
static FOUND: OnceLock<Option<(OwnedFd, Termios)>> = OnceLock::new();

/// Remembers how the terminal is set, and puts it back before a panic's message is written.
pub fn remember() {
    FOUND.get_or_init(|| {
        let terminal = io::stdin().as_fd().try_clone_to_owned().ok()?;
        let found = tcgetattr(&terminal).ok()?;
        Some((terminal, found))
    });
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        report(panic);
    }));
}

/// Puts the terminal back as it was found: its modes, a visible cursor, plain text, no bracketed paste.
pub fn restore() {
    let Some(Some((terminal, found))) = FOUND.get() else {
        return;
    };
    let changed = tcgetattr(terminal).is_ok_and(|now| now.local_modes != found.local_modes);
    let _ = tcsetattr(terminal, OptionalActions::Now, found);
    if changed {
        let mut err = io::stderr();
        let _ = err.write_all(b"\x1b[?2004l\x1b[?25h\x1b[0m\r\n");
        let _ = err.flush();
    }
}
