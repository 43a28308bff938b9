//! `wisp chat`: a line-based conversation. One thread owns the terminal: it draws events until input is wanted,
//! asks for a line, hands it to the engine, and draws again. The engine runs beside it.

mod ahead;
pub mod approve;
mod copying;
mod editor;
mod filter;
pub mod json;
mod question;
mod render;
mod tail;
mod working;

use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use crossterm::event::KeyCode;
use tokio::runtime::Handle as Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use wisp_agent::Handle;
use wisp_agent::protocol::{Approval, Choice, Command, Decision, Event, View, ViewKind};
use wisp_term::{Notifier, Role, safe};

use crate::pager::{self, Shown};
use crate::screen::Screen;
use crate::terminal;
pub use ahead::Ahead;
use ahead::Raw;
use editor::{Asked, Assist, Candidates, LineEditor};
pub use render::Renderer;

/// How often the working line is redrawn.
const TICK: Duration = Duration::from_secs(1);

/// Runs a conversation until it is left. `first` is the line it begins with.
pub fn run(
    runtime: &Runtime,
    handle: Handle,
    screen: Screen,
    (history, first): (PathBuf, Option<String>),
) -> ExitCode {
    let interactive = io::stdin().is_terminal();
    if interactive {
        terminal::remember();
    }
    watch_signals(runtime, &handle.commands);
    let (events, answers) = part_completions(runtime, handle.events);
    let palette = screen.err.palette().clone();
    let animated = screen.animated();
    let panics = screen.env.get("WISP_DEBUG_PANIC") == Some("prompt");
    let assist = Assist::new(handle.commands.clone(), answers, palette).panicking(panics);
    let editor = interactive.then(|| LineEditor::new(history, assist)).flatten();
    let env = screen.env.clone();
    let asks = interactive || terminal::can_ask(&screen.err);
    let renderer = Renderer::new(screen.out, screen.err, animated);
    let mut chat = Chat {
        runtime: runtime.clone(),
        commands: handle.commands,
        events,
        renderer,
        editor,
        ahead: Ahead::default(),
        env,
        interactive,
        asks,
        first,
        draft: None,
    };
    let effects: &[&str] = match (interactive, asks) {
        (true, _) => &["approve", "choose", "notify"],
        (false, true) => &["approve"],
        (false, false) => &[],
    };
    chat.send(Command::Hello {
        effects: effects.iter().map(|&effect| effect.to_owned()).collect(),
        client: "wisp chat".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    chat.run()
}

/// SIGTERM, SIGHUP and SIGQUIT put the terminal back and end wisp; Ctrl-C goes to the engine, which knows what runs.
pub fn watch_signals(runtime: &Runtime, commands: &UnboundedSender<Command>) {
    use tokio::signal::unix::{SignalKind, signal};
    let commands = commands.clone();
    runtime.spawn(async move {
        let kinds = [
            SignalKind::terminate(),
            SignalKind::hangup(),
            SignalKind::quit(),
            SignalKind::interrupt(),
        ];
        let [Ok(mut term), Ok(mut hup), Ok(mut quit), Ok(mut int)] = kinds.map(signal) else {
            return;
        };
        loop {
            let code = tokio::select! {
                _ = term.recv() => 143,
                _ = hup.recv() => 129,
                _ = quit.recv() => 131,
                _ = int.recv() => {
                    if commands.send(Command::Interrupt).is_err() { return }
                    continue;
                }
            };
            crate::exit::now(&commands, code).await;
        }
    });
}

/// Sends completions their own way: Tab waits for them while nobody draws.
fn part_completions(
    runtime: &Runtime,
    mut from: UnboundedReceiver<Event>,
) -> (UnboundedReceiver<Event>, std_mpsc::Receiver<Candidates>) {
    let (to, events) = tokio::sync::mpsc::unbounded_channel();
    let (candidates, answers) = std_mpsc::channel();
    runtime.spawn(async move {
        while let Some(event) = from.recv().await {
            if let Event::Completions {
                id,
                from,
                candidates: texts,
                ..
            } = event
            {
                let _ = candidates.send(Candidates { id, from, texts });
            } else if to.send(event).is_err() {
                return;
            }
        }
    });
    (events, answers)
}

struct Chat {
    runtime: Runtime,
    commands: UnboundedSender<Command>,
    events: UnboundedReceiver<Event>,
    renderer: Renderer,
    editor: Option<LineEditor>,
    ahead: Ahead,
    env: wisp_host::Env,
    interactive: bool,
    /// Whether somebody can be asked for an approval: at the terminal, also while lines are piped in.
    asks: bool,
    /// The line that was given on the command line.
    first: Option<String>,
    /// What the next line begins with: a message that is to be edited.
    draft: Option<String>,
}

/// What made the drawing stop.
enum Pause {
    Input,
    End(u8),
}

impl Chat {
    fn run(&mut self) -> ExitCode {
        loop {
            match self.draw_until_input() {
                Pause::End(code) => return ExitCode::from(code),
                Pause::Input if crate::exit::is_leaving() => std::thread::park(),
                Pause::Input => {
                    let line = self.given().or_else(|| self.line());
                    self.send(line.map_or(Command::Quit, |text| Command::Message { text }));
                }
            }
        }
    }

    /// The line of the command line, once, shown as if it had been typed.
    fn given(&mut self) -> Option<String> {
        let line = self.first.take()?;
        if self.interactive {
            let _ = self.renderer.err.painted(Role::Prompt, "> ");
            let _ = self.renderer.err.line(&safe::safe(&line));
            let _ = self.renderer.err.flush();
        }
        if let Some(editor) = &mut self.editor {
            editor.remember(&line);
        }
        Some(line)
    }

    fn send(&self, command: Command) {
        // The engine is gone only when the conversation is over, which the next event says.
        let _ = self.commands.send(command);
    }

    fn draw_until_input(&mut self) -> Pause {
        loop {
            let next = self
                .runtime
                .block_on(async { tokio::time::timeout(TICK, self.events.recv()).await });
            match next {
                Err(_) => self.renderer.tick(),
                Ok(None) => return Pause::End(crate::exit::FAILED),
                Ok(Some(Event::Exit { code })) => {
                    self.renderer.settle();
                    return Pause::End(code);
                }
                Ok(Some(Event::Status(status))) => {
                    if self.interactive {
                        self.renderer.status(&status);
                    }
                    return Pause::Input;
                }
                Ok(Some(event)) => self.handle(&event),
            }
        }
    }

    fn handle(&mut self, event: &Event) {
        match event {
            Event::Approval(approval) => self.approve(approval),
            Event::Choice(choice) => self.choose(choice),
            Event::View(view) => self.view(view),
            Event::Notify { title, body } => self.notify(title, body),
            Event::Copy { text, what } => {
                self.renderer.settle();
                copying::copy(text, what, &self.env, &mut self.renderer.err);
            }
            Event::Draft { text } => self.draft = Some(text.clone()),
            event => self.renderer.draw(event),
        }
    }

    fn approve(&mut self, approval: &Approval) {
        self.renderer.settle();
        self.renderer.measure();
        let answered = self
            .asks
            .then(|| approve::ask(approval, &mut self.ahead, &mut self.renderer.err));
        self.send(Command::Answer {
            id: approval.id.clone(),
            decision: answered
                .as_ref()
                .map_or(Decision::No, |answered| answered.decision),
            reason: answered.as_ref().and_then(|answered| answered.reason.clone()),
        });
        if answered.is_some_and(|answered| answered.stops) {
            self.send(Command::Interrupt);
        }
    }

    /// Tells the person through the terminal, and in a line of the chat where the terminal has but a bell.
    fn notify(&mut self, title: &str, body: &str) {
        self.renderer.settle();
        let err = &mut self.renderer.err;
        if err.surface().terminal {
            let _ = err.bytes(Notifier::of(&self.env).sequence(title, body).as_bytes());
        }
        let _ = err.words(Some(Role::Prompt), &safe::safe(&format!("{title}: {body}")));
        let _ = err.flush();
    }

    /// A numbered list; a number, a name or its beginning chooses, Enter cancels, Ctrl-C cancels and stops the turn.
    /// Anything else is asked about again where somebody is there. What was typed before the list was seen is no answer.
    fn choose(&mut self, choice: &Choice) {
        self.renderer.settle();
        self.renderer.words(Role::Prompt, &safe::safe(&choice.title));
        for (at, option) in choice.options.iter().enumerate() {
            let mark = if choice.current.as_ref() == Some(&option.value) {
                "*"
            } else {
                " "
            };
            let line = format!("{mark}{:>2}  {}  {}", at + 1, option.label, option.detail);
            let _ = self.renderer.err.words(None, safe::safe(&line).trim_end());
        }
        self.renderer.words(Role::Quiet, ways(choice));
        let _ = self.renderer.err.flush();
        let mut seen = false;
        let value = loop {
            let line = match self.answer(std::mem::replace(&mut seen, true)) {
                Asked::Line(line) => line,
                Asked::Cleared => {
                    self.send(Command::Interrupt);
                    break None;
                }
                Asked::End => break None,
            };
            let line = line.trim();
            let value = chosen(choice, line);
            if value.is_some() || line.is_empty() || line.starts_with('/') || !self.interactive {
                break value;
            }
            let wrong = format!("{line:?} is none of these: {}", ways(choice));
            self.renderer.words(Role::Quiet, &safe::safe(&wrong));
            let _ = self.renderer.err.flush();
        };
        self.send(Command::Choose {
            id: choice.id.clone(),
            value,
            values: None,
        });
    }

    /// The line that answers a list. What is typed before a list was `seen` is kept for the next line.
    fn answer(&mut self, seen: bool) -> Asked {
        let left = (self.interactive && !seen)
            .then(|| Raw::enter().and_then(|mut keys| self.ahead.gather(&mut keys)));
        match (left, &mut self.editor) {
            (Some(Ok(Some(key))), _) if key.code == KeyCode::Char('c') => Asked::Cleared,
            (Some(Ok(Some(_))), _) => Asked::End,
            (_, Some(editor)) => editor.ask(""),
            (_, None) => read_line(self.interactive, &mut self.renderer).map_or(Asked::End, Asked::Line),
        }
    }

    /// A line from the person; none at the end of input.
    fn line(&mut self) -> Option<String> {
        let Some(editor) = &mut self.editor else {
            return read_line(self.interactive, &mut self.renderer);
        };
        let mut ahead = self.draft.take().unwrap_or_default();
        ahead.push_str(&self.ahead.take());
        loop {
            match editor.ask(&std::mem::take(&mut ahead)) {
                Asked::Line(line) => return Some(line),
                Asked::Cleared => {}
                Asked::End => return None,
            }
        }
    }

    /// Shows a view whole: through the pager on a terminal, straight into a pipe.
    fn view(&mut self, view: &View) {
        self.renderer.settle();
        match (&view.output, view.kind) {
            (Some(output), ViewKind::Output) => {
                self.renderer.words(Role::HeldBack, &safe::safe(&output.about));
                let _ = self.renderer.err.flush();
                let shown = Shown {
                    path: output.path.clone(),
                    text: view.text.clone(),
                };
                if let Err(e) = pager::show(&shown, &self.env, &mut self.renderer.out) {
                    let _ = self
                        .renderer
                        .err
                        .painted_line(Role::Error, &safe::safe(&format!("{e:#}")));
                }
            }
            (_, ViewKind::Context) => self.renderer.document(&view.text),
            _ => {
                for line in view.text.lines() {
                    let text = line.to_owned();
                    self.renderer.draw(&Event::Output { text });
                }
            }
        }
    }
}

/// Without an editor (a pipe, or a terminal that cannot be edited on): a line as it comes.
fn read_line(interactive: bool, renderer: &mut Renderer) -> Option<String> {
    if interactive {
        let _ = renderer.err.text("> ");
        let _ = renderer.err.flush();
    }
    let mut line = Vec::new();
    match io::stdin().lock().read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(
            String::from_utf8_lossy(&line)
                .trim_end_matches(['\r', '\n'])
                .to_owned(),
        ),
    }
}

/// How a choice is answered.
fn ways(choice: &Choice) -> &'static str {
    match (choice.options.is_empty(), choice.accepts_text) {
        (true, _) => "type the answer, Enter alone to cancel",
        (false, true) => "number, or your own answer, Enter to cancel",
        (false, false) => "number or name, Enter to cancel",
    }
}

fn chosen(choice: &Choice, line: &str) -> Option<String> {
    // A path is an answer where words are; elsewhere it is a command typed too late.
    if line.is_empty() || line.starts_with('/') && !choice.accepts_text {
        return None;
    }
    let by_number = line
        .parse::<usize>()
        .ok()
        .and_then(|n| choice.options.get(n.checked_sub(1)?));
    let by_value = choice.options.iter().find(|o| o.value == line || o.label == line);
    let mut beginning = choice.options.iter().filter(|o| o.value.starts_with(line));
    let by_beginning = match (beginning.next(), beginning.next()) {
        (Some(one), None) if !choice.accepts_text => Some(one),
        _ => None,
    };
    let option = by_number.or(by_value).or(by_beginning).map(|o| o.value.clone());
    option.or_else(|| choice.accepts_text.then(|| line.to_owned()))
}

#[cfg(test)]
mod tests {
    use wisp_agent::protocol::ChoiceOption;

    use super::*;

    #[test]
    fn a_choice_is_made_by_number_or_by_value() {
        let option = |value: &str| ChoiceOption {
            value: value.into(),
            label: value.into(),
            ..ChoiceOption::default()
        };
        let choice = Choice {
            options: vec![option("a"), option("b")],
            ..Choice::default()
        };
        assert_eq!(chosen(&choice, "2"), Some("b".into()));
        assert_eq!(chosen(&choice, "a"), Some("a".into()));
        assert_eq!(chosen(&choice, "0"), None);
        assert_eq!(chosen(&choice, "c"), None);
        assert_eq!(chosen(&choice, ""), None);
        assert_eq!(
            (ways(&choice), chosen(&choice, "/a")),
            ("number or name, Enter to cancel", None)
        );
        let free = Choice {
            accepts_text: true,
            ..Choice::default()
        };
        assert_eq!(ways(&free), "type the answer, Enter alone to cancel");
        assert_eq!(chosen(&free, "/usr/local"), Some("/usr/local".into()));
        assert_eq!(chosen(&free, "2"), Some("2".into()));
    }
}
