//! `wisp "prompt"`: one prompt in, one reply out.

mod said;

use std::io::{Cursor, IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use wisp_agent::form::Form;
use wisp_agent::protocol::{Approval, Command, Event, Phase, TurnOutcome};
use wisp_agent::{Handle, Launch, ground, start, start_with};
use wisp_host::Env;

use super::{runtime, setup};
use crate::args::Respond;
use crate::chat::json;
use crate::chat::{Ahead, Renderer, approve};
use crate::exit::{FAILED, INTERRUPTED, REFUSED, Usage};
use crate::input;
use crate::screen::Screen;
use said::Said;

/// How much of standard input is looked at to tell whether there is any, in bytes.
const START: u64 = 4096;

/// Sends the prompt, shows the turn, ends with the turn's outcome.
pub fn run(args: &Respond, env: Env) -> anyhow::Result<ExitCode> {
    let words = args.prompt.join(" ");
    let input = piped()?;
    if words.trim().is_empty() && input.is_none() {
        return Err(
            Usage("the prompt is empty: give it as an argument or on standard input".to_owned()).into(),
        );
    }
    let mut setup = setup(&args.talk, env.clone(), "respond")?;
    args.saved.apply(&mut setup);
    setup.form = args.schema.as_deref().map(form).transpose()?;
    setup.max_steps = args.max_turns.unwrap_or(setup.max_steps);
    let ground = ground(setup)?;
    let session = ground.audit.session().as_str().to_owned();
    let screen = Screen::new(env, &ground.config.theme());
    let runtime = runtime()?;
    let (handle, prompt) = match input {
        Some(input) => runtime.block_on(start_with(ground, &words, input))?,
        None => (runtime.block_on(start(ground, Launch::default()))?, words),
    };
    crate::chat::watch_signals(runtime.handle(), &handle.commands);
    let animated = screen.animated();
    let prints = match (args.json, args.stream_json, &args.schema) {
        (true, ..) => Prints::Object,
        (_, true, _) => Prints::Events,
        (.., Some(_)) => Prints::Last,
        (.., None) => Prints::Reply,
    };
    let asks = matches!(prints, Prints::Reply | Prints::Last) && crate::terminal::can_ask(&screen.err);
    let held = prints != Prints::Reply || !std::io::stdout().is_terminal();
    let turn = OneTurn {
        handle,
        renderer: Renderer::new(screen.out, screen.err, animated).for_a_pipe(),
        said: Said::of(session),
        prints,
        asks,
        held: held.then(String::new),
    };
    let code = runtime.block_on(turn.run(prompt));
    runtime.shutdown_timeout(std::time::Duration::from_secs(3));
    Ok(ExitCode::from(code))
}

/// The exit code of a turn that ended so; none when it never began.
fn code(outcome: Option<TurnOutcome>, refused: bool) -> u8 {
    match outcome {
        Some(TurnOutcome::Ok) if refused => REFUSED,
        Some(TurnOutcome::Ok) => 0,
        Some(TurnOutcome::Limit) => REFUSED,
        Some(TurnOutcome::Interrupted) => INTERRUPTED,
        Some(TurnOutcome::Error) | None => FAILED,
    }
}

/// The schema in the file of `--schema`.
fn form(path: &Path) -> anyhow::Result<Form> {
    let mut text = String::new();
    let mut file = input::open(path)?;
    let read = file.read_to_string(&mut text);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Form::parse(&text)
        .map_err(|why| Usage(format!("{} cannot be used as a schema: {why}", path.display())).into())
}

/// What is piped in; none on a terminal, and none when there is nothing but space.
fn piped() -> anyhow::Result<Option<impl Read + Send>> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let mut start = Vec::new();
    stdin
        .by_ref()
        .take(START)
        .read_to_end(&mut start)
        .context("cannot read standard input")?;
    let nothing = (start.len() as u64) < START && start.trim_ascii().is_empty();
    Ok((!nothing).then(|| Cursor::new(start).chain(stdin)))
}

/// What standard output gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prints {
    /// The text of every step.
    Reply,
    /// The last reply alone: it has a form.
    Last,
    /// One JSON object at the end.
    Object,
    /// Every event, a line each.
    Events,
}

/// One prompt on its way: the engine, what draws, and what is gathered for `--json`.
struct OneTurn {
    handle: Handle,
    renderer: Renderer,
    said: Said,
    prints: Prints,
    /// Whether somebody is at the terminal who can be asked.
    asks: bool,
    /// The text of the step that is being written, where it is not printed as it comes: what a file, a pipe or `--json`
    /// gets cannot be taken back, and the try it is of may yet fail, or all of it turn out to be thinking.
    held: Option<String>,
}

impl OneTurn {
    /// Sends the prompt, draws the turn to its end and gives the exit code.
    async fn run(mut self, prompt: String) -> u8 {
        let effects = if self.asks { &["approve"][..] } else { &[] };
        let hello = Command::Hello {
            effects: effects.iter().map(|&effect| effect.to_owned()).collect(),
            client: "wisp respond".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        if !self.send(hello) {
            return FAILED;
        }
        self.send(Command::Message { text: prompt });
        let (mut outcome, mut lines) = (None, 0);
        while let Some(event) = self.handle.events.recv().await {
            match event {
                Event::Exit { .. } => break,
                Event::Status(status) => {
                    lines += 1;
                    // Another line is wanted and there was no turn: the prompt was refused, and a note says why.
                    if lines > 1 && outcome.is_none() {
                        self.send(Command::Quit);
                    }
                    if self.prints == Prints::Events {
                        self.show(&Event::Status(status));
                    }
                }
                Event::Approval(approval) => self.approve(&approval),
                event => {
                    if let Event::Turn {
                        phase: Phase::End,
                        end: Some(end),
                        ..
                    } = &event
                    {
                        outcome = Some(end.outcome);
                        self.send(Command::Quit);
                    }
                    if !self.holds_back(&event) {
                        self.show(&event);
                    }
                }
            }
        }
        self.release();
        self.renderer.settle();
        let code = code(outcome, self.said.refused);
        match self.prints {
            Prints::Object => self.said.print(&mut self.renderer),
            Prints::Events => self.show(&Event::Exit { code }),
            Prints::Reply | Prints::Last => {}
        }
        code
    }

    /// Whether the event is text that waits for its step to be whole. A call, and the end of the turn, say that it is:
    /// then the text is shown before them.
    fn holds_back(&mut self, event: &Event) -> bool {
        if self.prints == Prints::Events {
            return false;
        }
        match (event, &mut self.held) {
            (Event::Delta { text }, Some(held)) => {
                held.push_str(text);
                return true;
            }
            (Event::Discarded, Some(held)) => held.clear(),
            (Event::Event { kind, .. }, Some(held)) if kind == "tool.call" && self.prints == Prints::Last => {
                held.clear();
            }
            // What came of a turn that failed has not the form that was asked for.
            (Event::Turn { end: Some(end), .. }, Some(held))
                if self.prints == Prints::Last && end.outcome != TurnOutcome::Ok =>
            {
                held.clear();
            }
            (Event::Event { kind, .. }, _) if kind == "tool.call" => self.release(),
            (
                Event::Turn {
                    phase: Phase::End, ..
                },
                _,
            ) => self.release(),
            _ => {}
        }
        false
    }

    /// Shows the text that was held back.
    fn release(&mut self) {
        let text = self.held.as_mut().map(std::mem::take).unwrap_or_default();
        if !text.is_empty() {
            self.show(&Event::Delta { text });
        }
    }

    fn show(&mut self, event: &Event) {
        self.said.note(event);
        match self.prints {
            Prints::Reply | Prints::Last => self.renderer.draw(event),
            // A reader that went away is no reason to stop: the turn is recorded all the same.
            Prints::Events => drop(json::write(event)),
            Prints::Object => {}
        }
    }

    fn send(&self, command: Command) -> bool {
        self.handle.commands.send(command).is_ok()
    }

    /// Asks on the terminal, whatever standard input and output are.
    fn approve(&mut self, approval: &Approval) {
        self.renderer.settle();
        self.renderer.measure();
        let answered = approve::ask(approval, &mut Ahead::default(), &mut self.renderer.err);
        self.send(Command::Answer {
            id: approval.id.clone(),
            decision: answered.decision,
            reason: answered.reason,
        });
        if answered.stops {
            self.send(Command::Interrupt);
        }
    }
}
