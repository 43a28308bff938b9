//! Events as lines of plain chat: replies on stdout, everything else on stderr, nothing untrusted raw.

use std::fmt::Write as _;

use wisp_agent::protocol::{
    Difference, Event, JobStatus, NoteLevel, OutputSummary, Phase, Status, TurnEnd, TurnOutcome,
};
use wisp_term::{Markdown, Palette, Printer, Role, Tables, diff, question, safe, tty, units, width, words};

use super::tail::Tail;
use super::working::Working;

/// What has been drawn, and the two streams it is drawn on.
pub struct Renderer {
    /// Replies and what was asked for.
    pub out: Printer,
    /// Everything else.
    pub err: Printer,
    /// What is being done.
    pub working: Working,
    reply: Option<Reply>,
    thinking: Thinking,
    /// The line the reply stops in.
    tail: Tail,
    /// Whether the working line has the row below that line.
    below: bool,
    /// Whether the reply goes into a pipe whose reader shares the terminal with us (`| cat`, `| less`): once there is
    /// text of it, only warnings and errors are written to the terminal.
    shares: bool,
    /// Whether text of the reply was written.
    replied: bool,
}

/// A reply on a terminal: its tables lined up, its Markdown painted.
struct Reply {
    tables: Tables,
    markdown: Markdown,
}

impl Reply {
    fn new(palette: Palette, width: usize) -> Self {
        Self {
            tables: Tables::within(width),
            markdown: Markdown::wrapped(palette, width),
        }
    }

    fn push(&mut self, delta: &str) -> String {
        self.markdown.push(&self.tables.push(delta))
    }

    fn finish(&mut self) -> String {
        let rest = self.tables.finish();
        [self.markdown.push(&rest), self.markdown.finish()].concat()
    }
}

/// The model's thinking, folded: only that it happened, and how much.
#[derive(Default)]
struct Thinking {
    bytes: usize,
}

impl Renderer {
    /// A renderer on two streams; `animated` is false where a line cannot be redrawn.
    pub fn new(out: Printer, err: Printer, animated: bool) -> Self {
        let (working, thinking) = (Working::new(animated), Thinking::default());
        Self {
            out,
            err,
            working,
            reply: None,
            thinking,
            tail: Tail::default(),
            below: false,
            shares: false,
            replied: false,
        }
    }

    /// For a reply that is all a run prints: nothing is drawn over what the reader of a pipe shows of it.
    #[must_use]
    pub fn for_a_pipe(mut self) -> Self {
        self.shares = self.err.surface().terminal && !self.out.surface().terminal;
        self
    }

    /// Whether the terminal belongs to whoever reads the reply.
    fn is_silent(&self) -> bool {
        self.shares && self.replied
    }

    /// Draws one event. What needs an answer (approvals, choices, views, status) is the caller's.
    pub fn draw(&mut self, event: &Event) {
        match event {
            Event::Note { text, level } => self.note(text, *level),
            Event::Activity(_) | Event::Printed { .. } | Event::Event { .. } if self.is_silent() => {}
            Event::Activity(activity) => self.working.set(activity, &mut self.err),
            Event::Jobs { jobs } => {
                let line = JobStatus::line(jobs);
                self.working.beside(line, &mut self.err);
            }
            Event::Printed { lines } => self.working.printed(lines, &mut self.err),
            Event::Turn {
                phase: Phase::Start, ..
            } => self.working.begin(),
            Event::Turn {
                phase: Phase::End,
                end,
                ..
            } => self.turn_end(end.as_ref()),
            Event::Delta { text } => self.delta(text),
            Event::Thinking { text } => self.thinking.bytes += text.len(),
            Event::Output { text } => self.line_out(text),
            Event::Event { text, output, .. } => self.event(text.as_deref(), output.as_ref()),
            _ => {}
        }
    }

    fn note(&mut self, text: &str, level: NoteLevel) {
        if self.is_silent() && level == NoteLevel::Info {
            return;
        }
        self.settle();
        if self.is_silent() {
            // The pipe's reader may be in the middle of a line of the terminal.
            let _ = self.err.text("\n");
        }
        let role = match level {
            NoteLevel::Info => Role::Quiet,
            NoteLevel::Warning => Role::Warn,
            NoteLevel::Error => Role::Error,
        };
        for line in text.lines() {
            let mut line = safe::safe(line);
            if self.err.surface().terminal {
                line = words::listed(&line, columns(&self.err));
            }
            let _ = self.err.painted_line(role, &line);
        }
    }

    /// More of the reply, through Markdown on a terminal and as it came into a pipe.
    fn delta(&mut self, text: &str) {
        self.clear();
        self.thinking_done();
        if !self.out.surface().terminal {
            if self.shares {
                self.working.end(&mut self.err);
                self.replied = true;
            }
            let _ = self.out.text(text);
            self.tail.push(text);
            let _ = self.out.flush();
            return;
        }
        let palette = self.out.palette().clone();
        let width = columns(&self.out);
        let drawn = self
            .reply
            .get_or_insert_with(|| Reply::new(palette, width))
            .push(text);
        self.tail.push(&drawn);
        let _ = self.out.text(&drawn);
        let _ = self.out.flush();
    }

    /// A second has passed: the working line is drawn afresh, below a reply that stopped in the middle of a line.
    pub fn tick(&mut self) {
        if !self.working.is_due(&self.err) {
            return;
        }
        if self.out.surface().terminal && !self.tail.is_empty() && !self.below {
            let _ = self.out.text("\n");
            let _ = self.out.flush();
            self.below = true;
        }
        self.working.draw(&mut self.err);
    }

    /// Takes the working line away and goes back to where the reply stopped.
    fn clear(&mut self) {
        self.working.erase(&mut self.err);
        if std::mem::take(&mut self.below) {
            let back = self.tail.back(self.out.width());
            let _ = self.out.text(&back);
            let _ = self.out.flush();
        }
    }

    fn thinking_done(&mut self) {
        let bytes = std::mem::take(&mut self.thinking.bytes);
        if bytes > 0 {
            let size = units::format_bytes(bytes as u64);
            let _ = self
                .err
                .painted_line(Role::Thinking, &format!("· thought for {size}"));
        }
    }

    /// Ends an open reply line, so that what follows starts on a line of its own.
    pub fn settle(&mut self) {
        self.clear();
        if let Some(mut reply) = self.reply.take() {
            let rest = reply.finish();
            self.tail.push(&rest);
            let _ = self.out.text(&rest);
        }
        if !std::mem::take(&mut self.tail).is_empty() {
            let _ = self.out.text("\n");
        }
        let _ = self.out.flush();
    }

    /// Markdown that was asked for: as it is drawn in replies on a terminal, as it came into a pipe.
    pub fn document(&mut self, text: &str) {
        self.delta(text);
        self.settle();
    }

    fn line_out(&mut self, text: &str) {
        self.settle();
        if self.out.surface().terminal {
            self.out.set_width(columns(&self.out));
            let _ = self.out.words(None, &safe::safe(text));
        } else {
            let _ = self.out.line(text);
        }
        let _ = self.out.flush();
    }

    fn event(&mut self, text: Option<&str>, output: Option<&OutputSummary>) {
        if text.is_some() || output.is_some() {
            self.settle();
            self.thinking_done();
        }
        if let Some(text) = text {
            for line in text.lines() {
                let line = safe::safe(line);
                let line = width::truncate(&line, self.err.width().max(20) - 1).into_owned();
                let _ = self.err.painted_line(Role::Quiet, &line);
            }
        }
        if let Some(output) = output {
            self.output(output);
        }
        let _ = self.err.flush();
    }

    /// The beginning of an output, indented so that it cannot be taken for wisp's own lines, then the fold line.
    fn output(&mut self, output: &OutputSummary) {
        for (before, line) in shown(output) {
            if before > 0 {
                let gap = format!("  … {}", units::counted(before, "line"));
                let _ = self.err.painted_line(Role::HeldBack, &gap);
            }
            let line = if self.err.palette().is_coloured() {
                safe::safe_coloured(line)
            } else {
                safe::safe(line)
            };
            let _ = self.err.painted_line(Role::Quiet, &format!("  {line}"));
        }
        if let Some(note) = fold(output) {
            self.words(Role::HeldBack, &format!("  {note}"));
        }
        if let Some(changed) = &output.difference {
            self.difference(changed);
        }
    }

    /// What an edit changed, its beginning, so that it stays above whether it was asked about or not.
    fn difference(&mut self, changed: &Difference) {
        self.measure();
        let lines = diff::of_unified(&changed.text);
        for row in question::difference(&lines, self.err.width().saturating_sub(3)) {
            let _ = self.err.text("  ");
            for (role, text) in row {
                let _ = self.err.painted(role, &text);
            }
            let _ = self.err.line("");
        }
        if changed.rest() > 0 {
            let fold = diff::fold(changed.rest(), (changed.added, changed.removed));
            self.words(Role::Quiet, &format!("  {fold}"));
        }
    }

    fn turn_end(&mut self, end: Option<&TurnEnd>) {
        self.settle();
        self.thinking_done();
        self.working.end(&mut self.err);
        let Some(end) = end.filter(|_| !self.is_silent()) else {
            return;
        };
        for line in [&end.ran, &end.cited].into_iter().flatten() {
            self.words(Role::Quiet, &safe::safe(line));
        }
        self.words(Role::Quiet, &footer(end));
        let _ = self.err.flush();
    }

    /// Takes the window's width as it is now.
    pub fn measure(&mut self) {
        self.err.set_width(columns(&self.err));
    }

    /// A line of wisp's own, broken at words where the window is narrower.
    pub fn words(&mut self, role: Role, line: &str) {
        self.measure();
        let _ = self.err.words(Some(role), line);
    }

    /// The status line above the prompt.
    pub fn status(&mut self, status: &Status) {
        self.settle();
        self.working.end(&mut self.err);
        let line = safe::safe(&status_line(status, self.working.job()));
        let line = width::truncate(&line, self.err.width().max(20) - 1).into_owned();
        let _ = self.err.painted_line(Role::Status, &line);
        let _ = self.err.flush();
    }
}

/// Cells of a row at this moment: the window may have changed since the start.
fn columns(printer: &Printer) -> usize {
    tty::window_size().map_or_else(|| printer.width(), |(columns, _)| usize::from(columns))
}

/// `3.1 s · ↓4,009 ↑79 · 24.3 tokens/s · first after 0.8 s`.
fn footer(end: &TurnEnd) -> String {
    let mut line = format!("{:.1} s", end.seconds);
    if let (Some(read), Some(written)) = (end.input_tokens, end.output_tokens) {
        let _ = write!(
            line,
            " · ↓{} ↑{}",
            units::thousands(read),
            units::thousands(written)
        );
    }
    for pace in units::pace(end.tokens_per_second, end.first_token_seconds) {
        let _ = write!(line, " · {pace}");
    }
    if end.outcome == TurnOutcome::Interrupted {
        line.push_str(" · interrupted");
    }
    line
}

/// `qwen3:8b:15% used · ~/src/wisp:main+12-3 · approve at moderate`.
fn status_line(status: &Status, job: Option<&str>) -> String {
    let mut model = status.model.clone();
    if let Some(used) = status.context_used {
        let _ = write!(model, ":{}% used", units::percent_of(used));
    }
    let mut place = status.directory.clone();
    if let Some(branch) = &status.branch {
        let _ = write!(place, ":{branch}");
    }
    match (status.added, status.removed) {
        (Some(added), Some(removed)) if added + removed > 0 => {
            let _ = write!(place, "+{added}-{removed}");
        }
        _ if status.dirty => place.push('*'),
        _ => {}
    }
    let task = status.task.as_ref();
    let task = task.map_or_else(String::new, |task| format!("task: {task}"));
    let job = job.map_or_else(String::new, |job| format!("… {job}"));
    [model, place, status.approval.clone(), task, job]
        .into_iter()
        .filter(|p| !p.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// The lines that are shown of an output, each with how many are left out before it.
fn shown(output: &OutputSummary) -> impl Iterator<Item = (u64, &str)> {
    output.stretches().flat_map(|(before, stretch)| {
        let befores = std::iter::once(before).chain(std::iter::repeat(0));
        befores.zip(stretch.text.split('\n'))
    })
}

/// The line that says what is not shown.
fn fold(output: &OutputSummary) -> Option<String> {
    let bytes = units::format_bytes(output.bytes);
    let more = match output.left_out() {
        0 => "more".to_owned(),
        lines => units::counted(lines, "more line"),
    };
    (output.is_folded() && !output.id.is_empty()).then(|| {
        format!(
            "… {more}, {bytes} in all: /show {}",
            wisp_host::ids::shown(&output.id)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wisp_agent::protocol::Stretch;

    fn stretch(from_line: u64, text: &str) -> Stretch {
        Stretch {
            from_line,
            text: text.into(),
        }
    }

    #[test]
    fn what_is_left_out_is_counted_where_it_stood_and_in_all() {
        let output = OutputSummary {
            id: "3f9a2c1b00000000".into(),
            lines: 200_000,
            bytes: 1_288_894,
            excerpt: vec![stretch(1, "a\nb"), stretch(199_999, "y\n")],
            ..OutputSummary::default()
        };
        assert_eq!(
            shown(&output).collect::<Vec<_>>(),
            [(0, "a"), (0, "b"), (199_996, "y"), (0, "")]
        );
        assert_eq!(
            fold(&output).unwrap(),
            "… 199,996 more lines, 1.3 MiB in all: /show 3f9a2c1b"
        );
    }

    #[test]
    fn only_an_output_that_is_not_whole_has_a_fold_line() {
        let whole = OutputSummary {
            id: "x".into(),
            lines: 1,
            bytes: 2,
            excerpt: vec![stretch(1, "a")],
            ..OutputSummary::default()
        };
        assert_eq!(fold(&whole), None);
        let cut = OutputSummary { bytes: 3, ..whole };
        assert_eq!(fold(&cut).unwrap(), "… more, 3 bytes in all: /show x");
    }

    #[test]
    fn the_status_line_leaves_out_what_is_unknown() {
        let status = Status {
            model: "demo".into(),
            directory: "~/src".into(),
            branch: Some("main".into()),
            added: Some(12),
            removed: Some(3),
            approval: "approve at moderate".into(),
            context_used: Some(0.154),
            ..Status::default()
        };
        assert_eq!(
            status_line(&status, None),
            "demo:15% used · ~/src:main+12-3 · approve at moderate"
        );
        assert_eq!(
            status_line(
                &Status {
                    model: "demo".into(),
                    ..Status::default()
                },
                None
            ),
            "demo"
        );
        let with_job = status_line(&status, Some("loading qwen3:8b (+1)"));
        assert!(with_job.ends_with(" · … loading qwen3:8b (+1)"), "{with_job}");
    }
}
