//! The terminal's modes, taken at the start and given back however the program ends: leaving, a panic, a signal, or a
//! stop and a continue.
//!
//! What is on is kept in two process-wide flags, because a panic hook has nothing else to look at.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::layout::Size;

/// Whether the modes are in force.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// Whether the alternate screen is shown.
static FULL: AtomicBool = AtomicBool::new(false);

/// Bracketed paste and focus reports.
const BEGIN: &str = "\x1b[?2004h\x1b[?1004h";
/// The end of a synchronized update that was cut off, colours off, wrapping on, focus reports off, the cursor shown,
/// bracketed paste off.
const END: &str = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?1004l\x1b[?25h\x1b[?2004l";
/// Back to the main screen, before [`END`].
const LEAVE_FULL: &str = "\x1b[?1049l";

/// Takes the terminal: raw keys, marked pastes, focus reports. Fails when it is none.
pub fn begin() -> io::Result<()> {
    enable_raw_mode()?;
    ACTIVE.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    out.write_all(BEGIN.as_bytes())?;
    out.flush()
}

/// Columns and rows of the window, as the terminal says it; a window without any is said as it is.
pub fn window() -> io::Result<Size> {
    let size = rustix::termios::tcgetwinsize(io::stdout())?;
    Ok(Size {
        width: size.ws_col,
        height: size.ws_row,
    })
}

/// Notes that the alternate screen was entered or left.
pub fn set_full(full: bool) {
    FULL.store(full, Ordering::SeqCst);
}

/// Gives the terminal back as it was. Does nothing when it was given back already; failures of the terminal itself
/// are ignored, because nobody is left to be told.
pub fn end() {
    if !ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    if FULL.swap(false, Ordering::SeqCst) {
        let _left = out.write_all(LEAVE_FULL.as_bytes());
    }
    let _told = out.write_all(END.as_bytes()).and_then(|()| out.flush());
    let _cooked = disable_raw_mode();
}

/// Makes a panic give the terminal back before it is reported, below what stands there.
pub fn restore_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if ACTIVE.load(Ordering::SeqCst) {
            end();
            let mut out = io::stdout();
            let _moved = out.write_all(b"\r\n").and_then(|()| out.flush());
        }
        report(panic);
    }));
}
