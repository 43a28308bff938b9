//! `ollama-sim`: the simulator as a program.
//!
//! Prints its address on the first line of its output, then serves until it is interrupted or its input ends
//! (with `--until-eof`). When it ends, it says on standard error what of the script was not kept.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program speaks to its terminal"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use ollama_sim::{Clock, Config, Profile, ScriptFile, Server, demo};

/// A scripted Ollama on 127.0.0.1.
#[derive(Parser)]
#[command(name = "ollama-sim", version)]
struct Arguments {
    /// The script, a JSON file; without one, the demo model answers
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The release to imitate: 0.5.7, 0.9.6, 0.11.4, 0.12.6, 0.24.0, 0.32.15 or 0.32.15-native
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The port; 0 is any free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Let loads and silences take no time
    #[arg(long)]
    instant: bool,
    /// End when standard input ends
    #[arg(long)]
    until_eof: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(text) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}

/// Serves; whether the script was kept.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let server = Server::start(config(arguments)?).map_err(|e| format!("cannot listen: {e}"))?;
    println!("{}", server.url());
    if arguments.until_eof {
        // A failed read ends it as well.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    } else {
        interrupted()?;
    }
    match server.finish() {
        Ok(()) => Ok(true),
        Err(error) => {
            eprintln!("{error}");
            Ok(false)
        }
    }
}

fn config(arguments: &Arguments) -> Result<Config, String> {
    let clock = if arguments.instant {
        Clock::instant()
    } else {
        Clock::real()
    };
    let mut config = match &arguments.script {
        None => demo::config(),
        Some(path) => {
            let text =
                std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            let file = ScriptFile::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
            from_file(file)
        }
    };
    if let Some(name) = &arguments.profile {
        config.profile = Profile::named(name).ok_or_else(|| format!("no profile is called {name:?}"))?;
    }
    config.port = arguments.port;
    Ok(config.clock(clock))
}

fn from_file(file: ScriptFile) -> Config {
    let mut config = Config::new(file.script)
        .chunker(file.chunker)
        .dressing(file.dressing);
    config.profile = file.profile.unwrap_or(config.profile);
    if !file.models.is_empty() {
        config.models = file.models;
    }
    config
}

/// Waits for Ctrl-C or SIGTERM.
fn interrupted() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| format!("cannot wait for a signal: {e}"))?;
    runtime.block_on(async {
        let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
            .map_err(|e| format!("cannot wait for a signal: {e}"))?;
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = term.recv() => {}
        }
        Ok(())
    })
}
