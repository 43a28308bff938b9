//! The only thing a binary prints through: one stream with its colours and its width.
//!
//! `wisp … | head -n 1` closes the pipe early; that is a reader who has seen enough, not a failure. The printer
//! remembers it, goes on in silence, and [`Printer::is_closed`] lets long work stop.

use std::io::{self, IsTerminal, Write};

use wisp_host::Env;

use crate::palette::{ColourChoice, Palette, depth};
use crate::theme::Role;
use crate::words;

/// The width taken when nothing says one.
pub const DEFAULT_WIDTH: usize = 80;

/// What a stream is: a terminal or not, how wide, in which colours.
#[derive(Debug, Clone)]
pub struct Surface {
    /// Whether the stream is a terminal.
    pub terminal: bool,
    /// Cells in a row.
    pub width: usize,
    /// The colours in use.
    pub palette: Palette,
}

impl Surface {
    /// A stream that is no terminal: no colours, [`DEFAULT_WIDTH`].
    pub fn plain() -> Self {
        Self {
            terminal: false,
            width: DEFAULT_WIDTH,
            palette: Palette::plain(),
        }
    }

    /// What a descriptor is: the terminal's width, else `COLUMNS`, else 80.
    fn of(
        stream: &(impl IsTerminal + std::os::fd::AsFd),
        env: &Env,
        theme: &str,
        choice: ColourChoice,
    ) -> Self {
        let terminal = stream.is_terminal();
        let own = rustix::termios::tcgetwinsize(stream)
            .ok()
            .map(|size| usize::from(size.ws_col));
        let columns = env.get("COLUMNS").and_then(|v| v.parse().ok());
        let width = own.filter(|w| *w > 0).or(columns).filter(|w| *w > 0);
        Self {
            terminal,
            width: width.unwrap_or(DEFAULT_WIDTH),
            palette: Palette::new(theme, depth(env, choice, terminal), env),
        }
    }
}

/// A stream to print to.
pub struct Printer {
    out: Box<dyn Write + Send>,
    surface: Surface,
    closed: bool,
}

impl std::fmt::Debug for Printer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Printer")
            .field("surface", &self.surface)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

impl Printer {
    /// Standard output, for replies and what was asked for.
    pub fn stdout(env: &Env, theme: &str, choice: ColourChoice) -> Self {
        let stream = io::stdout();
        let surface = Surface::of(&stream, env, theme, choice);
        Self::to(Box::new(stream), surface)
    }

    /// Standard error, for everything else.
    pub fn stderr(env: &Env, theme: &str, choice: ColourChoice) -> Self {
        let stream = io::stderr();
        let surface = Surface::of(&stream, env, theme, choice);
        Self::to(Box::new(stream), surface)
    }

    /// Any writer, as the given surface: tests, pagers.
    pub fn to(out: Box<dyn Write + Send>, surface: Surface) -> Self {
        Self {
            out,
            surface,
            closed: false,
        }
    }

    /// What the stream is.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The colours in use.
    pub fn palette(&self) -> &Palette {
        &self.surface.palette
    }

    /// Cells in a row.
    pub fn width(&self) -> usize {
        self.surface.width
    }

    /// Takes a new width, after the terminal was resized.
    pub fn set_width(&mut self, width: usize) {
        self.surface.width = width.max(1);
    }

    /// Whether the reader has gone: nothing printed from now on is seen.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Prints text as it is: wisp's own words, or text that went through [`crate::safe`].
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Prints text and a newline.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.text(text)?;
        self.text("\n")
    }

    /// Prints text in a role's colour.
    pub fn painted(&mut self, role: Role, text: &str) -> io::Result<()> {
        let painted = self.surface.palette.paint(role, text);
        self.text(&painted)
    }

    /// Prints text in a role's colour and a newline.
    pub fn painted_line(&mut self, role: Role, text: &str) -> io::Result<()> {
        self.painted(role, text)?;
        self.text("\n")
    }

    /// Prints wisp's own words and a newline: on a terminal broken at words where they are wider than a row.
    pub fn words(&mut self, role: Option<Role>, text: &str) -> io::Result<()> {
        let text = if self.surface.terminal {
            words::listed(text, self.width())
        } else {
            text.to_owned()
        };
        match role {
            Some(role) => self.painted_line(role, &text),
            None => self.line(&text),
        }
    }

    /// Copies bytes to a stream that is no terminal (`/show` into a pipe), where the exact bytes are what was
    /// asked for. On a terminal, use [`crate::SafeText`] first.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let written = self.out.write_all(bytes);
        self.settle(written)
    }

    /// Sends on what a buffer holds.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.settle(flushed)
    }

    fn settle(&mut self, result: io::Result<()>) -> io::Result<()> {
        match result {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn what_is_printed_arrives_without_escapes_on_a_plain_stream() {
        let shared = Shared::default();
        let mut printer = Printer::to(Box::new(shared.clone()), Surface::plain());
        printer.painted_line(Role::Error, "no").unwrap();
        printer.line("yes").unwrap();
        assert_eq!(*shared.0.lock().unwrap(), b"no\nyes\n");
    }

    #[test]
    fn a_reader_who_left_is_a_quiet_end_and_other_errors_are_not() {
        let mut gone = Printer::to(Box::new(Failing(io::ErrorKind::BrokenPipe)), Surface::plain());
        gone.line("x").unwrap();
        gone.flush().unwrap();
        assert!(gone.is_closed());
        let mut full = Printer::to(Box::new(Failing(io::ErrorKind::StorageFull)), Surface::plain());
        assert_eq!(full.line("x").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(!full.is_closed());
    }
}
