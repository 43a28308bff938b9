//! `wisp-tui`: the ratatui face. Arguments, settings and the engine are put together here; the rest is the library.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use wisp_agent::args::{Saved, Talk};
use wisp_agent::{Launch, ground, start};
use wisp_config::{Config, Paths};
use wisp_host::Env;
use wisp_term::palette::{ColourChoice, Palette, depth};
use wisp_tui::keys::{Bindings, KeysError};
use wisp_tui::link::{self, Link};
use wisp_tui::run::{Ending, Runner};
use wisp_tui::{App, Screen, Settings, replay, session, terminal};

/// The most notifications in a minute: more than that is noise.
const NOTIFICATIONS: usize = 5;

/// The exit code of a command line or a configuration that cannot be used.
const USAGE: u8 = 64;

/// Talk to a local model in an inline band over the terminal's own scrollback.
#[derive(Debug, Parser)]
#[command(name = "wisp-tui", version)]
struct Arguments {
    /// What to begin with
    #[arg(conflicts_with = "replay")]
    prompt: Vec<String>,
    /// Model and tools.
    #[command(flatten)]
    talk: Talk,
    /// Whether the conversation is saved, and which one it goes on with.
    #[command(flatten)]
    saved: Saved,
    /// Colours: auto, dark, light, ansi16 or none
    #[arg(long, value_name = "NAME", value_parser = ["auto", "dark", "light", "ansi16", "none"])]
    theme: Option<String>,
    /// Show a recorded conversation again instead of having one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save", "resume"])]
    replay: Option<PathBuf>,
}

fn main() -> ExitCode {
    // Before anything else: the sandbox's helper is this program too, and costs every command its start.
    if let Some(code) = wisp_exec::helper() {
        return code;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    session::restore_on_panic();
    let ended = begin(&arguments);
    session::end();
    match ended {
        Ok(Ending::Left(code)) => ExitCode::from(code),
        Ok(Ending::Signal(number)) => {
            ExitCode::from(128_u8.saturating_add(u8::try_from(number).unwrap_or(0)))
        }
        Ok(Ending::EngineGone) => failed(&anyhow::anyhow!(
            "the engine stopped without ending the conversation"
        )),
        Err(error) => failed(&error),
    }
}

/// clap's own text, with wisp's exit code for a wrong command line.
fn usage(error: &clap::Error) -> ExitCode {
    let _told = error.print();
    ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
}

#[expect(
    clippy::print_stderr,
    reason = "a binary reports its failure once, when the band is gone"
)]
fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("wisp-tui: {}", wisp_term::causes::words(error.as_ref()));
    let open = error.downcast_ref::<wisp_agent::OpenError>();
    if let Some(hint) = open.and_then(wisp_agent::OpenError::hint) {
        eprintln!("hint: {hint}");
    }
    let usage = open.is_some_and(wisp_agent::OpenError::is_usage)
        || error.downcast_ref::<KeysError>().is_some()
        || error.downcast_ref::<wisp_config::ConfigError>().is_some();
    ExitCode::from(if usage { USAGE } else { 1 })
}

fn begin(arguments: &Arguments) -> anyhow::Result<Ending> {
    let env = Env::of_process();
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        anyhow::bail!("standard input and output must be a terminal; without one, use `wisp chat`");
    }
    if env.get("TERM").is_none_or(|term| term == "dumb") {
        anyhow::bail!("this terminal cannot move its cursor; use `wisp chat`");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let ended = runtime.block_on(converse(arguments, env));
    runtime.shutdown_timeout(std::time::Duration::from_secs(3));
    ended
}

async fn converse(arguments: &Arguments, env: Env) -> anyhow::Result<Ending> {
    let directory = std::env::current_dir().context("cannot read the working directory")?;
    let (config, link) = match &arguments.replay {
        Some(recording) => (config(&env, &directory)?, play(recording)?),
        None => open(arguments, &env, directory).await?,
    };
    let size = session::window().context("cannot read the window's size")?;
    let theme = arguments.theme.clone().unwrap_or_else(|| config.theme());
    let settings = Settings {
        palette: Palette::new(&theme, depth(&env, ColourChoice::Auto, true), &env),
        bindings: Bindings::new(&chosen_keys(&config)).context("the setting `keys`")?,
        size,
        notifications: if config.notifications() { NOTIFICATIONS } else { 0 },
    };
    let screen = Screen::new(io::stdout(), size, terminal::reflow(&env));
    session::begin().context("cannot take the terminal")?;
    let mut app = App::new(settings);
    app.begin_with(&arguments.prompt.join(" "));
    let runner = Runner::new(app, screen, link, env)?;
    Ok(runner.run().await?)
}

/// Opens a conversation with the engine.
async fn open(arguments: &Arguments, env: &Env, directory: PathBuf) -> anyhow::Result<(Config, Link)> {
    let mut setup = arguments.talk.setup(env.clone(), directory, "tui");
    setup.demo = true;
    arguments.saved.apply(&mut setup);
    let ground = ground(setup)?;
    let config = ground.config.clone();
    let launch = Launch {
        chooses: true,
        banner: true,
        warms: true,
        reads: true,
        prompts: false,
    };
    let handle = start(ground, launch).await?;
    let link = Link {
        commands: handle.commands,
        events: handle.events,
    };
    Ok((config, link))
}

/// A recording in place of the engine.
fn play(path: &Path) -> anyhow::Result<Link> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let steps = replay::read(&text).with_context(|| path.display().to_string())?;
    let (link, far) = link::pair();
    tokio::spawn(replay::play(steps, far));
    Ok(link)
}

fn config(env: &Env, directory: &Path) -> anyhow::Result<Config> {
    let paths = Paths::of(env, directory)?;
    Ok(Config::load(&paths.config())?)
}

/// The keys the person chose: a comma between two keys of one action.
fn chosen_keys(config: &Config) -> BTreeMap<String, Vec<String>> {
    let split = |keys: String| match keys.trim() {
        "," => vec![",".to_owned()],
        keys => keys
            .split(',')
            .map(|key| key.trim().to_owned())
            .filter(|key| !key.is_empty())
            .collect(),
    };
    let chosen = config.keys().into_iter();
    chosen.map(|(action, keys)| (action, split(keys))).collect()
}
