//! The terminal as it was found: remembered at the start, put back at every end, also a panic's and a signal's.
//!
//! The line editor and the approval dialog switch the terminal to raw mode. They put it back themselves when they
//! return, but not when a signal ends the process under them.

use std::io::{self, IsTerminal as _, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::OnceLock;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The terminal itself, and how it was set. Standard input may be another one while a line is asked for.
static FOUND: OnceLock<Option<(OwnedFd, Termios)>> = OnceLock::new();

/// Remembers how the terminal is set, and puts it back before a panic's message is written. Only the first call does
/// anything.
pub fn remember() {
    if FOUND.set(found()).is_err() {
        return;
    }
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        report(panic);
    }));
}

/// Standard input's terminal, or the one wisp was started on when something is piped in, and how it is set.
fn found() -> Option<(OwnedFd, Termios)> {
    let terminal = if io::stdin().is_terminal() {
        io::stdin().as_fd().try_clone_to_owned().ok()?
    } else {
        std::fs::File::open("/dev/tty").ok()?.into()
    };
    let found = tcgetattr(&terminal).ok()?;
    Some((terminal, found))
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

/// Whether a question can be put on standard error and answered at the terminal wisp was started on, whatever standard
/// input and output are.
pub fn can_ask(err: &wisp_term::Printer) -> bool {
    err.surface().terminal && std::fs::File::open("/dev/tty").is_ok()
}
