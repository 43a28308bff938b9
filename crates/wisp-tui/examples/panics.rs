//! Takes the terminal as wisp-tui does, draws a band and panics: what is left of the terminal is tested from outside.

use std::io;

use ratatui::layout::Size;
use ratatui::text::Line;
use wisp_tui::{Reflow, Screen, session};

fn main() -> io::Result<()> {
    session::restore_on_panic();
    session::begin()?;
    let mut screen = Screen::new(
        io::stdout(),
        Size {
            width: 40,
            height: 10,
        },
        Reflow::Breaks,
    );
    screen.enter_full()?;
    session::set_full(true);
    screen.frame(
        Vec::new(),
        &[Line::from("a band"), Line::from("of two rows")],
        None,
    )?;
    let never: Option<String> = std::env::args().nth(1);
    drop(never.expect("the forced panic"));
    Ok(())
}
