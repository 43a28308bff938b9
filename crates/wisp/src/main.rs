//! `wisp`: the arguments, the runtime, the subcommand, the exit code. Everything else is elsewhere.

mod args;
mod chat;
mod commands;
mod complete;
mod exit;
mod input;
mod pager;
mod screen;
mod terminal;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use wisp_host::Env;
use wisp_term::{Role, causes, safe, words};

use args::{Cli, Sub};
use screen::Screen;

fn main() -> ExitCode {
    // Before anything else: the sandbox's helper is this program too, and costs every command its start.
    if let Some(code) = wisp_exec::helper() {
        return code;
    }
    let env = Env::of_process();
    if let Some(code) = complete::answer(&env) {
        return code;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    log_to_stderr(&env);
    exit::final_code(match run(cli, env.clone()) {
        Ok(code) => code,
        Err(error) => tell(&error, env),
    })
}

/// clap's own text, with wisp's exit code for a wrong command line.
fn usage(error: &clap::Error) -> ExitCode {
    let mut screen = Screen::new(Env::of_process(), "auto");
    let printer = if error.use_stderr() {
        &mut screen.err
    } else {
        &mut screen.out
    };
    // What was typed stands in it, and may have come from a script.
    let text = error.render();
    let _ = if printer.surface().terminal && screen.env.get("NO_COLOR").is_none() {
        printer.text(&safe::safe_coloured(&text.ansi().to_string()))
    } else {
        printer.text(&safe::safe(&text.to_string()))
    };
    let _ = printer.flush();
    if error.use_stderr() {
        ExitCode::from(exit::USAGE)
    } else {
        ExitCode::SUCCESS
    }
}

/// Diagnostics of the libraries go to stderr when `WISP_LOG` names a level.
fn log_to_stderr(env: &Env) {
    let Some(level) = env.get("WISP_LOG") else { return };
    let filter = tracing_subscriber::EnvFilter::new(level);
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init();
}

fn run(cli: Cli, env: Env) -> anyhow::Result<ExitCode> {
    match cli.command {
        Some(Sub::Chat(args)) => commands::chat::run(&args, env),
        Some(Sub::Respond(args)) => commands::respond::run(&args, env),
        Some(Sub::Outputs(args)) => commands::outputs::run(&args, env),
        Some(Sub::Show(args)) => commands::show::run(&args, env),
        Some(Sub::Summarise(args)) => commands::summarise::run(&args, env),
        Some(Sub::Scan(args)) => commands::scan::run(&args, env),
        Some(Sub::Redact(args)) => commands::redact::run(&args, env),
        Some(Sub::Models(args)) => commands::models::run(&args, env),
        Some(Sub::Doctor(args)) => commands::doctor::run(&args, env),
        Some(Sub::Logs(args)) => commands::logs::run(&args, env),
        Some(Sub::Tools(args)) => commands::tools::run(&args, env),
        Some(Sub::Threads(args)) => commands::threads::run(args, env),
        Some(Sub::Config(args)) => commands::config::run(args, env),
        Some(Sub::Approvals(args)) => commands::approvals::run(&args, env),
        #[cfg(feature = "acp")]
        Some(Sub::Acp(args)) => commands::acp::run(&args, env),
        #[cfg(feature = "mcp")]
        Some(Sub::Mcp(args)) => commands::mcp::run(args, env),
        Some(Sub::Completions(args)) => commands::completions::run(&args, env),
        Some(Sub::Man(args)) => commands::man::run(&args),
        None if cli.respond.begins_a_chat() && std::io::stdin().is_terminal() => {
            let args = args::Chat {
                talk: cli.respond.talk,
                saved: cli.respond.saved,
                ..args::Chat::default()
            };
            commands::chat::run(&args, env)
        }
        None => {
            commands::unknown::elsewhere(&cli.respond.prompt)?;
            commands::unknown::slip(&cli.respond.prompt)?;
            commands::respond::run(&cli.respond, env)
        }
    }
}

/// Says what went wrong and what to do, on stderr.
fn tell(error: &anyhow::Error, env: Env) -> ExitCode {
    let mut screen = Screen::new(env, "auto");
    told(
        &mut screen,
        (Role::Error, "error:"),
        &causes::words(error.as_ref()),
    );
    if let Some(hint) = exit::hint_of(error) {
        told(&mut screen, (Role::Quiet, "hint:"), &hint);
    }
    exit::code_of(error)
}

/// A line on stderr that begins with a word of its role, on a terminal broken at words.
fn told(screen: &mut Screen, (role, begins): (Role, &str), text: &str) {
    let mut line = format!("{begins} {}", safe::safe(text));
    if screen.err.surface().terminal {
        line = words::listed(&line, screen.err.width());
    }
    let rest = line.strip_prefix(begins).unwrap_or_default();
    let _ = screen.err.painted(role, begins);
    let _ = screen.err.line(rest);
}
