//! `wisp "prompt"`: one prompt in, one reply out.

use std::io::{Cursor, IsTerminal, Read};
use std::process::ExitCode;

use anyhow::Context;
use serde_json::json;
use wisp_agent::protocol::{Command, Event, NoteLevel, Phase, TurnOutcome};
use wisp_agent::{Handle, Launch, ground, start, start_with};
use wisp_host::Env;

use super::{runtime, setup};
use crate::args::Respond;
use crate::chat::Renderer;
use crate::exit::{FAILED, INTERRUPTED, Usage};
use crate::screen::Screen;

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
    let screen = Screen::new(env, &ground.config.theme());
    let runtime = runtime()?;
    let (handle, prompt) = match input {
        Some(input) => runtime.block_on(start_with(ground, &words, input))?,
        None => (runtime.block_on(start(ground, Launch::default()))?, words),
    };
    crate::chat::watch_signals(runtime.handle(), &handle.commands);
    let animated = screen.animated();
    let renderer = Renderer::new(screen.out, screen.err, animated);
    let outcome = runtime.block_on(one_turn(handle, prompt, renderer, args.json));
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

async fn one_turn(
    mut handle: Handle,
    prompt: String,
    mut renderer: Renderer,
    json: bool,
) -> Option<TurnOutcome> {
    let mut said = Said::default();
    let mut outcome = None;
    let send = |command| handle.commands.send(command).is_ok();
    if !send(Command::Hello {
        effects: Vec::new(),
        client: "wisp respond".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }) {
        return None;
    }
    send(Command::Message { text: prompt });
    while let Some(event) = handle.events.recv().await {
        said.note(&event);
        if let Event::Turn {
            phase: Phase::End,
            end: Some(end),
            ..
        } = &event
        {
            outcome = Some(end.outcome);
            said.usage =
                json!({"input": end.input_tokens, "output": end.output_tokens, "seconds": end.seconds});
            send(Command::Quit);
        }
        match event {
            Event::Exit { .. } => break,
            Event::Status(_) => {}
            _ if json => {}
            event => renderer.draw(&event),
        }
    }
    renderer.settle();
    if json {
        said.print(&mut renderer, outcome);
    }
    outcome
}

/// What `--json` prints.
#[derive(Default)]
struct Said {
    reply: String,
    calls: Vec<serde_json::Value>,
    errors: Vec<String>,
    usage: serde_json::Value,
}

impl Said {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Delta { text } => self.reply.push_str(text),
            Event::Note {
                text,
                level: NoteLevel::Error,
            } => self.errors.push(text.clone()),
            Event::Event {
                kind,
                call,
                details,
                output: Some(output),
                ..
            } if kind == "tool.result" => {
                self.calls.push(json!({
                    "call": call, "tool": details["tool"], "outcome": details["outcome"], "seconds": details["seconds"],
                    "output": if output.stored { Some(&output.id) } else { None },
                    "bytes": output.bytes, "lines": output.lines,
                }));
            }
            _ => {}
        }
    }

    fn print(&self, renderer: &mut Renderer, outcome: Option<TurnOutcome>) {
        let object = json!({
            "reply": self.reply, "outcome": outcome, "calls": self.calls, "usage": self.usage, "errors": self.errors,
        });
        let _ = renderer.out.line(&wisp_term::safe::json(&object.to_string()));
        let _ = renderer.out.flush();
    }
}
