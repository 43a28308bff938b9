//! What the engine says, taken in: each kind of event changes one part of the face.

use std::time::Duration;

use wisp_agent::protocol::{
    Command, Event, NoteLevel, OutputSummary, Status, TurnEnd, TurnOutcome, View, ViewKind,
};
use wisp_term::Role;
use wisp_term::clipboard::MAX_COPY;
use wisp_term::units::{format_bytes, format_duration, pace, thousands};
use wisp_term::words::hanging;

use super::{App, Input, LONG_TURN};
use crate::ansi;
use crate::effect::Effect;
use crate::panel::{About, Panel, TextPanel};
use crate::wrap;

impl App {
    pub(super) fn on_event(&mut self, event: Event) {
        match event {
            Event::Note { text, level } => self.note(&text, level),
            Event::Status(status) => self.input_wanted(status),
            Event::Activity(activity) => self.activity(activity),
            Event::Jobs { jobs } => self.jobs = jobs,
            Event::Printed { lines } => self.work.printed(lines),
            Event::Turn {
                end: Some(end), turn, ..
            } => self.turn_ended(turn, end),
            Event::Turn { .. } => self.work.busy = true,
            Event::Delta { text } => self.delta(&text),
            Event::Thinking { text } => self.work.thought(&text, self.now),
            // The note beside it says so; what stands above stays.
            Event::Discarded => {}
            Event::Queue { waiting } => self.queue = waiting,
            Event::Taken { text } => self.taken(&text),
            Event::TakenBack { lines } => self.taken_back(&lines),
            Event::Output { text } => self.printed(&text),
            Event::Event {
                kind, text, output, ..
            } => self.recorded(&kind, text.as_deref(), output.as_ref()),
            Event::View(view) => self.view(&view),
            Event::Approval(approval) => self.ask_approval(approval),
            Event::Withdrawn { id } => self.withdraw(&id),
            Event::Completions {
                id,
                from,
                candidates,
                about,
            } => {
                if !self.menu_answer(&id, &candidates, about) {
                    self.completions(&id, from, candidates);
                }
            }
            Event::Found {
                id,
                pattern,
                line,
                page,
            } => self.found(&id, &pattern, line.zip(page)),
            Event::Choice(choice) => self.open_choice(choice),
            Event::Notify { title, body } => self.notified(&title, &body),
            Event::Copy { text, what } => self.copy_said(text, &what),
            Event::Draft { text } => self.draft_given(&text),
            Event::Exit { code } => {
                self.say_unsent();
                self.effects.push(Effect::Exit(code));
            }
        }
    }

    /// Puts a text of the conversation on the clipboard, and says so or why not.
    fn copy_said(&mut self, text: String, what: &str) {
        if text.len() > MAX_COPY {
            let (size, limit) = (format_bytes(text.len() as u64), format_bytes(MAX_COPY as u64));
            let why = format!(
                "{what} was not copied: it has {size}, and a terminal takes {limit}; /export writes a file"
            );
            return self.say(Role::Error, &why);
        }
        self.say(
            Role::Quiet,
            &format!("copied {what} ({})", format_bytes(text.len() as u64)),
        );
        self.effects.push(Effect::Copy(text));
    }

    fn note(&mut self, text: &str, level: NoteLevel) {
        let role = match level {
            NoteLevel::Info => Role::Quiet,
            NoteLevel::Warning => Role::Warn,
            NoteLevel::Error => Role::Error,
        };
        self.say(role, text);
    }

    /// A row of wisp's own that stays one row's worth: text that is visible already.
    pub(super) fn say_one(&mut self, role: Role, text: &str) {
        let rows = self.looks.prose(role, text, self.width());
        self.finish_rows(rows);
    }

    fn activity(&mut self, activity: wisp_agent::protocol::Activity) {
        if !activity.thinking {
            self.end_thinking();
        }
        self.work.now_doing(activity, self.now);
    }

    fn delta(&mut self, text: &str) {
        self.end_thinking();
        self.work.busy = true;
        self.reply.push(text, self.width());
    }

    /// Thinking is folded to a row that says how long it took.
    fn end_thinking(&mut self) {
        if let Some((took, characters)) = self.work.thinking_over(self.now) {
            let shown = format_duration(took);
            let text = format!("∴ thought for {shown} · {} characters", thousands(characters));
            self.say_one(Role::Thinking, &text);
        }
    }

    fn printed(&mut self, text: &str) {
        let width = self.width();
        let lines = ansi::untrusted(text);
        let rows = lines
            .iter()
            .flat_map(|line| {
                let text: String = line.iter().map(|span| span.content.as_ref()).collect();
                wrap::hung(line, width, false, hanging(&text, width))
            })
            .collect();
        self.finish_rows(rows);
    }

    fn recorded(&mut self, kind: &str, text: Option<&str>, output: Option<&OutputSummary>) {
        self.end_thinking();
        let said = kind == "approval.decided" && self.answered > 0;
        self.answered -= usize::from(said);
        if let Some(text) = text.filter(|_| !said) {
            self.say(role_of(kind), text);
        }
        if let Some(output) = output {
            let rows = self.output_rows(output);
            self.finish_rows(rows);
        }
    }

    fn turn_ended(&mut self, turn: u64, end: TurnEnd) {
        self.turns = turn;
        self.end_thinking();
        if end.outcome == TurnOutcome::Interrupted {
            self.say_one(Role::Warn, "■ interrupted");
        }
        for line in [&end.ran, &end.cited].into_iter().flatten() {
            self.say(Role::Quiet, &line.clone());
        }
        let figures = figures(&end);
        let pace = pace(end.tokens_per_second, end.first_token_seconds);
        let parts = std::iter::once(figures.clone()).chain(pace);
        self.say_one(Role::Quiet, &parts.collect::<Vec<_>>().join(" · "));
        if Duration::try_from_secs_f64(end.seconds).unwrap_or_default() >= LONG_TURN {
            let outcome = match end.outcome {
                TurnOutcome::Ok => "wisp has replied",
                TurnOutcome::Error | TurnOutcome::Limit => "the turn failed",
                TurnOutcome::Interrupted => "the turn was stopped",
            };
            self.tell(outcome, &figures);
        }
        self.last_turn = Some(end);
    }

    /// Input is wanted, unless lines wait that are taken up first.
    fn input_wanted(&mut self, status: Status) {
        let waiting = status.waiting;
        self.status = Some(status);
        let open = self.reply.finish(self.width());
        self.finished.extend(open);
        if waiting > 0 {
            // What waits is taken up before anything is wanted.
            return;
        }
        self.work.end();
        if let Some(first) = self.first.take() {
            self.editor.set(&first);
            self.submit();
        }
    }

    fn view(&mut self, view: &View) {
        let (height, asked) = (self.panel_height(), self.was_asked_for(view));
        match (view.kind, &mut self.panel) {
            (ViewKind::Output, Some(Panel::Output(panel))) if asked => {
                if panel.take(view, height) {
                    self.go_on_copying();
                }
            }
            (ViewKind::Digest, Some(Panel::Output(panel))) if asked => {
                let digest = TextPanel::markdown(About::Digest, "digest", &view.text, &self.looks);
                panel.digest = Some(digest);
            }
            (ViewKind::Output | ViewKind::Digest, _) if asked => {}
            (ViewKind::Output, _) => self.open_output_of(view),
            (ViewKind::Digest, _) => self.open_text(About::Digest, "digest", &view.text),
            (ViewKind::Context, _) => {
                let of_turn = |turn| format!("the request of turn {turn}");
                let title = view.turn.map_or("the next request".to_owned(), of_turn);
                self.open_text(About::Context(view.turn), &title, &view.text);
            }
        }
    }

    /// Whether a panel asked for a view. Its panel may have been closed since; then nobody wants it any more.
    fn was_asked_for(&mut self, view: &View) -> bool {
        let at = match (view.kind, &view.output) {
            (ViewKind::Output, Some(info)) => self
                .asked
                .iter()
                .position(|(id, page)| *id == info.id && *page == Some(info.page)),
            (ViewKind::Digest, _) => self.asked.iter().position(|(_, page)| page.is_none()),
            _ => None,
        };
        at.map(|at| self.asked.remove(at)).is_some()
    }

    /// Something worth the person's notice: in the terminal when they are there, through it when not.
    fn notified(&mut self, title: &str, body: &str) {
        self.tell(title, body);
        self.say(Role::Warn, &format!("{title}: {body}"));
    }

    fn found(&mut self, id: &str, pattern: &str, place: Option<(u64, u64)>) {
        let height = self.panel_height();
        if let Some(Panel::Output(panel)) = self.panel.as_mut()
            && panel.id == id
        {
            panel.found(pattern, place, height);
        }
    }

    /// Asks for the page the output panel needs, if it needs one.
    pub(super) fn ask_for_page(&mut self) {
        let height = self.panel_height();
        if let Some(Panel::Output(panel)) = self.panel.as_mut()
            && let Some(command) = panel.wanted(height)
        {
            self.send(command);
        }
    }

    /// Sends a line the person entered. During a turn it waits until that is over.
    pub(super) fn send_line(&mut self, text: String) {
        if !self.work.busy {
            self.work.begin(self.now);
        }
        self.send(Command::Message { text });
    }

    /// A list of inputs at one moment, for tests and replays.
    pub fn on_all(&mut self, inputs: impl IntoIterator<Item = Input>, now: Duration) -> Vec<Effect> {
        inputs.into_iter().flat_map(|input| self.on(input, now)).collect()
    }
}

/// `3.1 s · ↓4,009 ↑79`.
pub(crate) fn figures(end: &TurnEnd) -> String {
    let seconds = Duration::try_from_secs_f64(end.seconds).unwrap_or_default();
    let mut text = format_duration(seconds);
    let mut separator = " · ";
    for (arrow, tokens) in [('↓', end.input_tokens), ('↑', end.output_tokens)] {
        if let Some(tokens) = tokens {
            text = format!("{text}{separator}{arrow}{}", thousands(tokens));
            separator = " ";
        }
    }
    text
}

/// The role of a recorded event's row, by its audit kind.
fn role_of(kind: &str) -> Role {
    const ROLES: [(&str, Role); 3] = [
        ("approval", Role::Warn),
        ("policy", Role::Warn),
        ("model.fallback", Role::Warn),
    ];
    let known = ROLES.iter().find(|(start, _)| kind.starts_with(start));
    known.map_or(Role::Quiet, |(_, role)| *role)
}
