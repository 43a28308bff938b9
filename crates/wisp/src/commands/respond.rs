//! `wisp "prompt"`: one prompt in, one reply out.

use std::io::{Cursor, IsTerminal, Read};
use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Value, json};
use wisp_agent::protocol::{Approval, Command, Event, NoteLevel, Phase, TurnEnd, TurnOutcome};
use wisp_agent::{Handle, Launch, ground, start, start_with};
use wisp_host::Env;

use super::{runtime, setup};
use crate::args::Respond;
use crate::chat::{Ahead, Renderer, approve};
use crate::exit::{FAILED, INTERRUPTED, Usage};
use crate::screen::Screen;

/// How the record words a call that the person or nobody allowed, and one that the policy forbids.
const DECLINED: &str = "declined";
const DENIED: &str = "denied by policy";

/// How much of standard input is looked at to tell whether there is any, in bytes.
const START: u64 = 4096;

/// Sends the prompt, shows the turn, ends with the turn's outcome.
pub fn run(args: &Respond, env: Env) -> anyhow::Result<ExitCode> {
    let words = args.prompt.join(" ");
    let input = input()?;
    if words.trim().is_empty() && input.is_none() {
        return Err(
            Usage("the prompt is empty: give it as an argument or on standard input".to_owned()).into(),
        );
    }
    let setup = setup(&args.talk, env.clone(), "respond")?;
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
    let asks = !args.json && crate::terminal::can_ask(&screen.err);
    let turn = OneTurn {
        handle,
        renderer: Renderer::new(screen.out, screen.err, animated).for_a_pipe(),
        said: Said {
            session,
            ..Said::default()
        },
        json: args.json,
        asks,
        held: (args.json || !std::io::stdout().is_terminal()).then(String::new),
    };
    let outcome = runtime.block_on(turn.run(prompt));
    runtime.shutdown_timeout(std::time::Duration::from_secs(3));
    Ok(match outcome {
        Some(TurnOutcome::Ok) => ExitCode::SUCCESS,
        Some(TurnOutcome::Interrupted) => ExitCode::from(INTERRUPTED),
        _ => ExitCode::from(FAILED),
    })
}

/// What is piped in; none on a terminal, and none when there is nothing but space.
fn input() -> anyhow::Result<Option<impl Read + Send>> {
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

/// One prompt on its way: the engine, what draws, and what is gathered for `--json`.
struct OneTurn {
    handle: Handle,
    renderer: Renderer,
    said: Said,
    /// Whether `--json` was asked for: nothing else is printed then.
    json: bool,
    /// Whether somebody is at the terminal who can be asked.
    asks: bool,
    /// The text of the step that is being written, where it is not printed as it comes: what a file, a pipe or `--json`
    /// gets cannot be taken back, and the try it is of may yet fail, or all of it turn out to be thinking.
    held: Option<String>,
}

impl OneTurn {
    /// Sends the prompt and draws the turn to its end. None when it never began.
    async fn run(mut self, prompt: String) -> Option<TurnOutcome> {
        let effects = if self.asks { &["approve"][..] } else { &[] };
        let hello = Command::Hello {
            effects: effects.iter().map(|&effect| effect.to_owned()).collect(),
            client: "wisp respond".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        if !self.send(hello) {
            return None;
        }
        self.send(Command::Message { text: prompt });
        let mut outcome = None;
        while let Some(event) = self.handle.events.recv().await {
            match event {
                Event::Exit { .. } => break,
                Event::Status(_) => {}
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
        if self.json {
            self.said.print(&mut self.renderer);
        }
        outcome
    }

    /// Whether the event is text that waits for its step to be whole. A call, and the end of the turn, say that it is:
    /// then the text is shown before them.
    fn holds_back(&mut self, event: &Event) -> bool {
        match (event, &mut self.held) {
            (Event::Delta { text }, Some(held)) => {
                held.push_str(text);
                return true;
            }
            (Event::Discarded, Some(held)) => held.clear(),
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
        if !self.json {
            self.renderer.draw(event);
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

/// What `--json` prints.
#[derive(Default)]
struct Said {
    session: String,
    /// The text of each step: a reply's up to its calls.
    steps: Vec<String>,
    /// Whether the next text begins a step.
    between: bool,
    calls: Vec<Value>,
    errors: Vec<String>,
    end: Option<TurnEnd>,
    refused: bool,
}

impl Said {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Delta { text } => self.text(text),
            Event::Note {
                text,
                level: NoteLevel::Error,
            } => self.errors.push(text.clone()),
            Event::Event {
                kind, call, details, ..
            } if kind == "tool.call" => {
                self.between = true;
                self.calls.push(json!({
                    "call": call, "tool": details["tool"], "arguments": details["arguments"],
                }));
            }
            Event::Event {
                kind,
                call,
                details,
                output: Some(output),
                ..
            } if kind == "tool.result" => {
                let outcome = &details["outcome"];
                self.refused |= [DECLINED, DENIED].iter().any(|refused| outcome == refused);
                self.ended(
                    call.as_deref(),
                    &json!({
                        "outcome": outcome, "seconds": details["seconds"],
                        "output": output.stored.then_some(&output.id), "bytes": output.bytes, "lines": output.lines,
                    }),
                );
            }
            Event::Turn { end: Some(end), .. } => self.end = Some(end.clone()),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let begins = std::mem::take(&mut self.between);
        if begins || self.steps.is_empty() {
            self.steps.push(String::new());
        }
        if let Some(step) = self.steps.last_mut() {
            step.push_str(text);
        }
    }

    /// Adds what came of a call to it.
    fn ended(&mut self, call: Option<&str>, result: &Value) {
        let begun = self.calls.iter_mut().find(|row| row["call"].as_str() == call);
        let (Some(Value::Object(row)), Value::Object(result)) = (begun, result) else {
            return;
        };
        row.extend(result.clone());
    }

    /// The reply is the text after the last call; the steps are all texts, the reply last.
    fn print(&self, renderer: &mut Renderer) {
        let reply = if self.between { None } else { self.steps.last() };
        let end = self.end.as_ref();
        let outcome = match end.map(|end| end.outcome) {
            Some(TurnOutcome::Ok) if self.refused => json!("refused"),
            outcome => json!(outcome),
        };
        let kept = |row: &&Value| !row["output"].is_null();
        let outputs: Vec<Value> = self
            .calls
            .iter()
            .filter(kept)
            .map(|row| json!({"id": row["output"], "bytes": row["bytes"], "lines": row["lines"]}))
            .collect();
        let object = json!({
            "reply": reply.map_or("", String::as_str), "steps": self.steps, "outcome": outcome,
            "session": self.session, "calls": self.calls, "outputs": outputs,
            "receipt": end.and_then(|end| end.ran.as_ref()), "cited": end.and_then(|end| end.cited.as_ref()),
            "usage": {
                "input": end.and_then(|end| end.input_tokens), "output": end.and_then(|end| end.output_tokens),
                "seconds": end.map(|end| end.seconds),
            },
            "errors": self.errors,
        });
        let _ = renderer.out.line(&object.to_string());
        let _ = renderer.out.flush();
    }
}
