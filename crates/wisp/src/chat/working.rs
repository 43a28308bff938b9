//! The working line: one line at the bottom, redrawn each second, that says what is being done and for how long; above it
//! the last lines of what runs.

use std::time::Instant;

use wisp_agent::protocol::Activity;
use wisp_term::{Printer, Role, safe, width};

/// The working line of a turn. Drawn on a terminal only, and erased before anything else is written.
#[derive(Debug, Default)]
pub struct Working {
    doing: Option<Doing>,
    turn_began: Option<Instant>,
    /// The last lines of what runs.
    printed: Vec<String>,
    /// The work beside the turns.
    beside: Option<String>,
    /// Rows that are drawn.
    drawn: usize,
    animated: bool,
}

#[derive(Debug)]
struct Doing {
    what: String,
    since: Instant,
    hint: &'static str,
}

impl Working {
    /// A working line; `animated` is false where the terminal cannot redraw a line (`TERM=dumb`).
    pub fn new(animated: bool) -> Self {
        Self {
            animated,
            ..Self::default()
        }
    }

    /// A turn or a typed command begins.
    pub fn begin(&mut self) {
        self.turn_began = Some(Instant::now());
    }

    /// Nothing is being done any more.
    pub fn end(&mut self, err: &mut Printer) {
        self.erase(err);
        self.doing = None;
        self.printed.clear();
        self.turn_began = None;
    }

    /// Takes what is being done now; the same thing again keeps its time.
    pub fn set(&mut self, activity: &Activity, err: &mut Printer) {
        let now = activity.doing.as_ref().filter(|_| !activity.asking);
        let same = self.doing.as_ref().map(|d| &d.what) == now;
        if same {
            return;
        }
        self.erase(err);
        self.printed.clear();
        let hint = match (activity.stopping, activity.stoppable) {
            (true, _) => " · Ctrl-C again kills it",
            (false, true) => " · Ctrl-C stops it",
            (false, false) => "",
        };
        self.doing = now.map(|what| Doing {
            what: what.clone(),
            since: Instant::now(),
            hint,
        });
        self.turn_began.get_or_insert_with(Instant::now);
    }

    /// Takes what is done beside the turns.
    pub fn beside(&mut self, line: Option<String>, err: &mut Printer) {
        self.beside = line;
        self.draw(err);
    }

    /// What is done beside the turns.
    pub fn job(&self) -> Option<&str> {
        self.beside.as_deref()
    }

    /// Takes the last lines of what runs.
    pub fn printed(&mut self, lines: &[String], err: &mut Printer) {
        self.printed = lines.to_vec();
        self.draw(err);
    }

    /// Whether there is a line to draw: none before a second has passed, so that quick work does not flicker.
    pub fn is_due(&self, err: &Printer) -> bool {
        let late = self
            .turn_began
            .is_some_and(|began| began.elapsed().as_millis() >= 900);
        err.surface().terminal && self.animated && late && self.doing.is_some()
    }

    /// Draws the line afresh, when there is one.
    pub fn draw(&mut self, err: &mut Printer) {
        if !self.is_due(err) {
            return;
        }
        let (Some(doing), Some(began)) = (&self.doing, self.turn_began) else {
            return;
        };
        let mut own = line(doing, began.elapsed().as_secs());
        if let Some(job) = &self.beside {
            own = format!("{own} · beside it: {job}");
        }
        let most = err.width().saturating_sub(1);
        let fitting = |line: &str| width::truncate(&safe::safe(line), most).into_owned();
        let printed = self
            .printed
            .iter()
            .map(|line| fitting(&format!("  {}", width::expand_tabs(line, 2))));
        let rows: Vec<String> = printed.chain([fitting(&own)]).collect();
        self.erase(err);
        for (at, row) in rows.iter().enumerate() {
            let _ = err.text(if at > 0 { "\r\n\x1b[K" } else { "\r\x1b[K" });
            let _ = err.painted(Role::Quiet, row);
        }
        let _ = err.flush();
        self.drawn = rows.len();
    }

    /// Takes the line off the screen.
    pub fn erase(&mut self, err: &mut Printer) {
        let drawn = std::mem::take(&mut self.drawn);
        if drawn > 0 {
            let above = "\x1b[A\x1b[K".repeat(drawn - 1);
            let _ = err.text(&format!("\r\x1b[K{above}"));
            let _ = err.flush();
        }
    }
}

fn line(doing: &Doing, turn_seconds: u64) -> String {
    let what = &doing.what;
    let own = doing.since.elapsed().as_secs();
    let own = if own == turn_seconds {
        String::new()
    } else {
        format!(" ({own} s)")
    };
    format!("… {turn_seconds} s · {what}{own}{}", doing.hint)
}
