//! What a shell is told when it asks how a command line could go on (`COMPLETE` is set by the lines of
//! `wisp completions`): names from the definitions of the arguments, and values that are only known now.

use std::ffi::OsStr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::CompleteEnv;
use wisp_agent::saved::Folder;
use wisp_audit::Kind;
use wisp_config::{Config, Paths};
use wisp_host::{Clock, Env, SystemClock};
use wisp_output::store::Shelf;

use crate::args::Cli;

/// The variable by which a shell asks.
pub const VARIABLE: &str = "COMPLETE";

/// How long the server has to list its models: somebody waits at a prompt.
const PATIENCE: Duration = Duration::from_millis(800);

/// The most conversations and outputs that are offered.
const MOST: usize = 50;

/// What could stand at an argument: its value and a few words about it.
type Values = Vec<(String, String)>;

/// A subcommand, an argument of it, and what gives its values.
type Row = (&'static str, &'static str, fn(&Known) -> Values);

/// Which argument of which subcommand has which values; no subcommand stands for every one.
const VALUES: [Row; 12] = [
    ("", "model", models),
    ("", "tool", tools),
    ("", "resume", conversations),
    ("", "key", settings),
    ("", "kind", kinds),
    ("show", "id", outputs),
    ("enable", "names", models),
    ("disable", "names", models),
    ("check", "names", models),
    ("revoke", "names", models),
    ("show", "name", conversations),
    ("delete", "name", conversations),
];

/// Where wisp's files are, and what is set.
struct Known {
    env: Env,
    paths: Paths,
    config: Config,
}

/// Answers a shell that asks; none when this is an ordinary start.
pub fn answer(env: &Env) -> Option<ExitCode> {
    env.get(VARIABLE)?;
    let directory = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .try_complete(std::env::args_os(), directory.as_deref());
    match asked {
        Ok(true) => Some(ExitCode::SUCCESS),
        Ok(false) => None,
        Err(_) => Some(ExitCode::from(crate::exit::USAGE)),
    }
}

/// wisp's command line, its arguments with their values.
fn command() -> Command {
    let mut command = Cli::command();
    command.build();
    with_values(command)
}

fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|argument| valued(&name, argument))
        .mut_subcommands(with_values)
}

fn valued(subcommand: &str, argument: Arg) -> Arg {
    let fits = |(of, id, _): &&Row| (of.is_empty() || *of == subcommand) && argument.get_id() == *id;
    let Some((.., values)) = VALUES.iter().find(fits) else {
        return argument;
    };
    let values = *values;
    argument.add(ArgValueCompleter::new(move |current: &OsStr| {
        candidates(values, current)
    }))
}

fn candidates(values: fn(&Known) -> Values, current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let Some(known) = Known::found() else {
        return Vec::new();
    };
    let fits = |value: &str| value.starts_with(&*current) && value.chars().all(is_plain);
    let fitting = values(&known).into_iter().filter(|(value, _)| fits(value));
    fitting
        .map(|(value, about)| CompletionCandidate::new(value).help(Some(wisp_term::visible(&about).into())))
        .collect()
}

/// Whether a character means nothing to any shell: a server names its models as it likes.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "-_.:/@+".contains(c)
}

impl Known {
    /// None where the home or the configuration cannot be read: a completion has nowhere to say why.
    fn found() -> Option<Self> {
        let env = Env::of_process();
        let paths = Paths::of(&env, &std::env::current_dir().ok()?).ok()?;
        let config = Config::load(&paths.config()).ok()?;
        Some(Self { env, paths, config })
    }
}

fn models(known: &Known) -> Values {
    let listed = wisp_agent::client(&known.env, &known.config)
        .ok()
        .and_then(|client| {
            let runtime = crate::commands::runtime().ok()?;
            let listed = runtime.block_on(async { tokio::time::timeout(PATIENCE, client.tags()).await });
            listed.ok()?.ok()
        });
    let listed = listed.into_iter().flatten();
    listed
        .map(|model| (model.name, model.details.parameter_size))
        .collect()
}

fn tools(known: &Known) -> Values {
    let tools = wisp_agent::offer::configured(&known.config);
    let rows = tools.iter().map(|tool| tool.descriptor());
    rows.map(|row| (row.name.to_string(), first_line(&row.description)))
        .collect()
}

fn conversations(known: &Known) -> Values {
    let listed = Folder::new(known.paths.transcripts())
        .overview(MOST)
        .unwrap_or_default();
    let now = SystemClock.now();
    listed
        .iter()
        .map(|one| (one.called().to_owned(), one.about(now, &known.env)))
        .collect()
}

fn outputs(known: &Known) -> Values {
    let listed = Shelf::new(known.paths.home()).list().unwrap_or_default();
    let rows = listed.iter().take(MOST).map(|entry| &entry.record);
    rows.map(|record| {
        let about = format!("{} {}", record.tool, record.arguments);
        (record.shown_id().to_owned(), first_line(&about))
    })
    .collect()
}

fn settings(_: &Known) -> Values {
    let rows = wisp_config::SETTINGS.iter();
    rows.map(|row| (row.name.to_owned(), first_line(row.about)))
        .collect()
}

fn kinds(_: &Known) -> Values {
    Kind::ALL
        .iter()
        .map(|kind| (kind.name().to_owned(), String::new()))
        .collect()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
