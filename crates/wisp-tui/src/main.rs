//! `wisp-tui`: the ratatui face. Arguments, settings and the engine are put together here; the rest is the library.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use ratatui::layout::Size;
use wisp_config::{Config, Paths};
use wisp_host::Env;
use wisp_term::palette::{ColourChoice, Palette, depth};
use wisp_tui::keys::Bindings;
use wisp_tui::link::{self, Link};
use wisp_tui::run::{Ending, Runner};
use wisp_tui::{App, Screen, Settings, replay, session, terminal};

/// Talk to a local model in an inline band over the terminal's own scrollback.
#[derive(Debug, Parser)]
#[command(name = "wisp-tui", version)]
struct Arguments {
    /// Show a recorded conversation again instead of having one
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Colours: auto, dark, light, ansi16 or none
    #[arg(long, value_name = "NAME")]
    theme: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    session::restore_on_panic();
    let ended = start(&arguments);
    session::end();
    match ended {
        Ok(Ending::Left) => ExitCode::SUCCESS,
        Ok(Ending::Signal(number)) => {
            ExitCode::from(128_u8.saturating_add(u8::try_from(number).unwrap_or(0)))
        }
        Ok(Ending::EngineGone) => failed(&anyhow::anyhow!(
            "the engine stopped without ending the conversation"
        )),
        Err(error) => failed(&error),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a binary reports its failure once, when the band is gone"
)]
fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("wisp-tui: {error:#}");
    ExitCode::FAILURE
}

fn start(arguments: &Arguments) -> anyhow::Result<Ending> {
    let env = Env::of_process();
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        anyhow::bail!("standard input and output must be a terminal; without one, use `wisp chat --plain`");
    }
    if env.get("TERM").is_none_or(|term| term == "dumb") {
        anyhow::bail!("this terminal cannot move its cursor; use `wisp chat --plain`");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(converse(arguments, env))
}

async fn converse(arguments: &Arguments, env: Env) -> anyhow::Result<Ending> {
    let config = config(&env)?;
    let (width, height) = crossterm::terminal::size().context("cannot read the window's size")?;
    let size = Size { width, height };
    let theme = arguments.theme.clone().unwrap_or_else(|| config.theme());
    let settings = Settings {
        palette: Palette::new(&theme, depth(&env, ColourChoice::Auto, true), &env),
        bindings: Bindings::new(&chosen_keys(&config)).context("the setting `keys`")?,
        size,
        notify: config.notifications(),
    };
    let link = connect(arguments)?;
    let screen = Screen::new(io::stdout(), size, terminal::reflow(&env));
    session::begin().context("cannot take the terminal")?;
    let runner = Runner::new(App::new(settings), screen, link, env)?;
    Ok(runner.run().await?)
}

fn config(env: &Env) -> anyhow::Result<Config> {
    let cwd = std::env::current_dir().context("cannot read the working directory")?;
    let paths = Paths::of(env, &cwd)?;
    Ok(Config::load(&paths.config())?)
}

/// The keys the person chose: a comma between two keys of one action.
fn chosen_keys(config: &Config) -> BTreeMap<String, Vec<String>> {
    let split = |keys: String| match keys.trim() {
        "" => Vec::new(),
        "," => vec![",".to_owned()],
        keys => keys
            .split(',')
            .map(|key| key.trim().to_owned())
            .filter(|key| !key.is_empty())
            .collect(),
    };
    config
        .keys()
        .into_iter()
        .map(|(action, keys)| (action, split(keys)))
        .collect()
}

/// The conversation's other end: a recording, when one was named.
fn connect(arguments: &Arguments) -> anyhow::Result<Link> {
    let path = arguments
        .replay
        .as_ref()
        .context("no engine yet: name a recording with --replay")?;
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let steps = replay::read(&text).with_context(|| path.display().to_string())?;
    let (link, far) = link::pair();
    tokio::spawn(replay::play(steps, far));
    Ok(link)
}
