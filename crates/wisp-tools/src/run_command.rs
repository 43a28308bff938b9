//! `run_command`: one line for `/bin/sh`, decided, run confined to its own process group, its output kept whole.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use wisp_audit::Kind;
use wisp_exec::{CommandSpec, Ending as Ended, LeftBehind, Outcome, SpillTo, reading_git};
use wisp_guard::Profile;

use crate::arguments;
use crate::arguments::Arguments;
use crate::call::{Call, Keep, Scene, Services};
use crate::confine::refused::{self, Refused};
use crate::confine::{self, network};
use crate::files::nearby;
use crate::jobs::Began;
use crate::not_run::not_run;
use crate::tool::{Body, Descriptor, Ending, Returned, Running, Tool};

arguments! {
    /// What `run_command` is called with.
    pub struct RunCommandArguments {
        command: String = "command", "A POSIX shell line, run by /bin/sh -c without a terminal or standard input";
        working_directory: Option<String> = "workingDirectory", "Where (default: the working directory)";
        timeout_seconds: Option<i64> = "timeoutSeconds", "Its limit, where the usual one is too short";
        background: Option<bool> = "background", "Let it run on, as a server does";
    }
}

/// The tool.
#[derive(Debug, Default, Clone)]
pub struct RunCommand {
    /// The limits under the options in force, for people.
    pub limits: String,
}

impl Tool for RunCommand {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "run_command".into(),
            description: "Run a shell command; returns its exit status, stdout and stderr.".into(),
            parameters: RunCommandArguments::PARAMETERS.into(),
            limits: self.limits.clone(),
            example: "Run the tests and tell me what fails.".into(),
            reads_only: false,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            let arguments = match RunCommandArguments::from_value(arguments) {
                Ok(arguments) => arguments,
                Err(e) => return Returned::error(e),
            };
            if arguments.command.trim().is_empty() {
                return Returned::error("command is empty: give `command`, a shell line such as ls -la");
            }
            let timeout = match limit(arguments.timeout_seconds) {
                Ok(timeout) => timeout,
                Err(error) => return error,
            };
            let wanted = Wanted {
                line: &arguments.command,
                directory: arguments.working_directory.as_deref(),
                timeout,
                background: arguments.background.unwrap_or(false),
            };
            run_line(wanted, call).await
        })
    }
}

/// The most seconds that a call may ask for.
const MOST_SECONDS: i64 = 86_400;

/// The limit that a call asks for.
fn limit(seconds: Option<i64>) -> Result<Option<Duration>, Returned> {
    match seconds {
        None => Ok(None),
        Some(seconds @ 1..=MOST_SECONDS) => Ok(Some(Duration::from_secs(seconds.unsigned_abs()))),
        Some(other) => Err(Returned::error(format!(
            "timeoutSeconds is {other}, and must be from 1 to {MOST_SECONDS}; leave it out for the usual limit"
        ))),
    }
}

/// A line to run.
pub(crate) struct Wanted<'a> {
    /// For `/bin/sh -c`.
    pub line: &'a str,
    /// Where; the conversation's directory when it is not named.
    pub directory: Option<&'a str>,
    /// How long it may run; unset as long as any command.
    pub timeout: Option<Duration>,
    /// Whether it runs on while the conversation does.
    pub background: bool,
}

/// Why nothing can run in a directory, and where it can.
fn not_a_place(directory: &Path, own: &Path) -> Option<Returned> {
    let error = wisp_exec::check_directory(directory).err()?;
    let next = if wisp_exec::check_directory(own).is_err() {
        format!(
            "; {}, the conversation's directory, is gone: name one that is there as workingDirectory",
            own.display()
        )
    } else {
        let near = nearby::beside(directory);
        format!("{near}; leave workingDirectory out to run it in the conversation's directory")
    };
    Some(Returned::error(format!("{error}{next}")))
}

/// Decides about a line and runs it: policy, risk, the person, the runner, the record.
pub(crate) async fn run_line(wanted: Wanted<'_>, call: &mut Call<'_>) -> Returned {
    let named = wanted.directory.filter(|d| !d.trim().is_empty());
    let directory = named.map_or_else(|| call.services.directory.clone(), |d| call.services.path(d));
    if let Some(no) = not_a_place(&directory, &call.services.directory) {
        return no;
    }
    let line = wanted.line;
    let cleared = match call.clear_command(line, &directory).await {
        Ok(cleared) => cleared,
        Err(refusal) => return refusal,
    };
    call.scene.person.doing(&format!("running {line}"));
    let network = cleared.answered && network::needs(line);
    let how = How {
        timeout: wanted.timeout,
        start: Some((cleared.profile, network)),
    };
    if wanted.background {
        return run_on(line, &directory, how, call).await;
    }
    let (outcome, refused) = match run_once(line, &directory, how, call).await {
        Ok(ran) => ran,
        Err(returned) => return returned,
    };
    let Some(refused) = refused else {
        return returned(outcome, call.services);
    };
    let asks_for_network = refused.network && call.services.confining.asks_for_network();
    if refused.network && !asks_for_network {
        // The settings have answered already.
        return refused_by_sandbox(
            returned(outcome, call.services),
            &refused,
            "sandbox.network is off",
        );
    }
    match call.clear_outside(line, &directory, &refused).await {
        Err(refusal) => refusal,
        Ok(false) => refused_by_sandbox(
            returned(outcome, call.services),
            &refused,
            "the user has not let it run outside",
        ),
        Ok(true) => {
            let how = How {
                timeout: wanted.timeout,
                start: asks_for_network.then_some((cleared.profile, true)),
            };
            match run_once(line, &directory, how, call).await {
                Ok((outcome, _)) => returned(outcome, call.services),
                Err(returned) => returned,
            }
        }
    }
}

/// How a cleared line is run.
struct How {
    timeout: Option<Duration>,
    /// Its profile, and whether it has the network; none outside the sandbox.
    start: Option<(Profile, bool)>,
}

/// Runs a line; also what the sandbox refused it, when it failed for that.
async fn run_once(
    line: &str,
    directory: &Path,
    how: How,
    call: &Call<'_>,
) -> Result<(Outcome, Option<Refused>), Returned> {
    let (spec, confinement) = prepared(line, directory, &how, call);
    match crate::live::run(spec, call.scene.person).await {
        Ok(outcome) => {
            // The command has run; its result arrives even when this record cannot be written.
            let mut details = details(line, &outcome);
            details["sandbox"] = match &confinement {
                Some(confinement) => confinement.profile.word(),
                None => "none",
            }
            .into();
            let refused = confinement.and_then(|held| refused::refused(&outcome, &held, directory));
            if let Some(refused) = &refused {
                details["sandboxRefusal"] = refused.line.as_str().into();
            }
            let _ = call.audit(Kind::CommandOutcome, details);
            Ok((outcome, refused))
        }
        Err(wisp_exec::ExecError::NotStarted) => Err(Returned::refused(
            "the person stopped the turn before the command was started",
            Ending::Interrupted,
        )),
        Err(e) => Err(Returned::error(e)),
    }
}

/// What is run, and how it is confined.
fn prepared(
    line: &str,
    directory: &Path,
    how: &How,
    call: &Call<'_>,
) -> (CommandSpec, Option<wisp_exec::Confinement>) {
    let services = call.services;
    let mut spec = spec(line, directory.to_owned(), services, call.scene);
    let start = match how.start {
        Some((profile, network)) => services.confining.start(confine::Wanted {
            profile,
            directory: &services.directory,
            runs_in: directory,
            network,
        }),
        None => services.confining.outside(),
    };
    let confinement = start
        .sandbox
        .as_ref()
        .and_then(|sandbox| sandbox.confinement.clone());
    spec.sandbox = start.sandbox;
    spec.env = start.env;
    spec.timeout = how.timeout.or(spec.timeout);
    if matches!(how.start, Some((Profile::Read, _))) {
        spec.env.extend(reading_git());
    }
    (spec, confinement)
}

/// Begins a line that runs on while the conversation does.
async fn run_on(line: &str, directory: &Path, how: How, call: &mut Call<'_>) -> Returned {
    let (spec, _) = prepared(line, directory, &how, call);
    match call.jobs.start((call.id, line), spec, &call.services.home).await {
        Ok(Began::Running(row)) => Returned::text(row.told_model()),
        Ok(Began::Over(ended)) => match *ended {
            Ok(outcome) => {
                // As of any command that has run.
                let _ = call.audit(Kind::CommandOutcome, details(line, &outcome));
                returned(outcome, call.services)
            }
            Err(error) => Returned::error(error),
        },
        Err(error) => Returned::error(error),
    }
}

/// A result with a line on what the sandbox refused.
fn refused_by_sandbox(mut returned: Returned, refused: &Refused, why: &str) -> Returned {
    if let Body::Command { footer, .. } = &mut returned.body {
        let what = if refused.network {
            "wisp's sandbox gives it no network"
        } else {
            "wisp's sandbox may be why it failed"
        };
        let line = format!("{what} ({}); {why}", refused.line);
        if !footer.is_empty() {
            footer.push('\n');
        }
        footer.push_str(&line);
    }
    returned
}

/// The command as the runner takes it, under the conversation's options.
pub fn spec(line: &str, directory: PathBuf, services: &Services, scene: &Scene<'_>) -> CommandSpec {
    let mut spec = CommandSpec::shell(line);
    spec.dir = Some(directory);
    spec.timeout = services.options.command_timeout;
    spec.bound = services.budget.command_bytes();
    spec.cancel = scene.cancel.clone();
    // A store that cannot be made, or is no folder of wisp's own, spills nothing; the note on the result says why.
    if let Keep::In(store) = &services.keep
        && let Ok(dir) = store.make_dir()
    {
        spec.spill = Some(SpillTo {
            dir,
            ceiling: services.options.output_ceiling,
        });
    }
    spec
}

/// A command's outcome as a tool's result.
pub fn returned(outcome: Outcome, services: &Services) -> Returned {
    let ending = ending(&outcome);
    let header = header(&outcome);
    let footer = footer(&outcome, services);
    Returned {
        body: Body::Command {
            header,
            outcome: Box::new(outcome),
            footer,
        },
        ending,
        difference: None,
    }
}

fn ending(outcome: &Outcome) -> Ending {
    match outcome.ending {
        Ended::Exited { code } => Ending::Exit(code),
        Ended::Cancelled => Ending::Interrupted,
        other => Ending::Failed(other.to_string()),
    }
}

fn header(outcome: &Outcome) -> String {
    match outcome.ending {
        Ended::Cancelled => {
            "interrupted by the person after ".to_owned()
                + &seconds(outcome)
                + "; what it had printed follows"
        }
        other => other.to_string(),
    }
}

fn seconds(outcome: &Outcome) -> String {
    format!("{:.1} s", outcome.duration.as_secs_f64())
}

/// Lines below the streams: what was left running, what could not be kept.
fn footer(outcome: &Outcome, services: &Services) -> String {
    let mut lines = Vec::new();
    if outcome.pipe_held || !outcome.left_behind.is_empty() {
        lines.push(left_behind(outcome));
    }
    let failures = [&outcome.stdout, &outcome.stderr]
        .into_iter()
        .filter_map(|s| s.spill_failure());
    lines.extend(failures.map(|why| format!("not all of the output could be kept: {why}")));
    lines.extend(outcome.disabled.iter().map(|one| {
        format!(
            "it made {}, which other programs run by themselves; wisp's sandbox renamed it to {}",
            one.path, one.now
        )
    }));
    if outcome.out_of_memory {
        lines.push(
            "it had about as much memory as a command may have (the setting sandbox.memoryMiB)".to_owned(),
        );
    }
    if let Ended::Signalled {
        name: Some("SIGXFSZ"),
        ..
    } = outcome.ending
    {
        lines.push(
            "a file became as large as a command may make one (the setting sandbox.fileMiB)".to_owned(),
        );
    }
    if let Ended::TooManyProcesses { .. } = outcome.ending {
        lines.push("the most processes of a command are the setting sandbox.processes".to_owned());
    }
    lines.extend(not_run(outcome, &services.env));
    if services.options.command_timeout.is_some() && matches!(outcome.ending, Ended::TimedOut { .. }) {
        lines.push(
            "for more time: timeoutSeconds in the call, or the setting commandTimeoutSeconds".to_owned(),
        );
    }
    lines.join("\n")
}

fn left_behind(outcome: &Outcome) -> String {
    let held = if outcome.pipe_held {
        "a background process still held the output; "
    } else {
        ""
    };
    match left_running(outcome) {
        Some(left) => format!("{held}{left}"),
        None => format!("{held}what it prints later is not kept"),
    }
}

/// What the command left running and what became of it, on one line: `left running and ended with the command: sleep
/// (4711), python3 (4712, which listened on port 8000)`; none when it left nothing.
pub fn left_running(outcome: &Outcome) -> Option<String> {
    let left = &outcome.left_behind;
    let ended = left.iter().all(|p| p.ended);
    let how = if ended {
        "ended with the command"
    } else {
        "could not all be ended"
    };
    let names: Vec<String> = left.iter().map(one_left).collect();
    (!left.is_empty()).then(|| format!("left running and {how}: {}", names.join(", ")))
}

fn one_left(process: &LeftBehind) -> String {
    let ports: Vec<String> = process.ports.iter().map(u16::to_string).collect();
    let listened = match &ports[..] {
        [] => String::new(),
        [port] => format!(", which listened on port {port}"),
        _ => format!(", which listened on ports {}", ports.join(", ")),
    };
    format!("{} ({}{listened})", process.name, process.pid)
}

/// The details of `command.outcome`. Sizes only: the output itself is in the result and in the store.
pub fn details(line: &str, outcome: &Outcome) -> Value {
    let mut details = json!({
        "command": line,
        "stdout": outcome.stdout.bytes(),
        "stderr": outcome.stderr.bytes(),
        "seconds": (outcome.duration.as_secs_f64() * 1000.0).round() / 1000.0,
    });
    match outcome.ending {
        Ended::Exited { code } => details["exitStatus"] = code.into(),
        Ended::Signalled { number, .. } => details["signal"] = number.into(),
        Ended::TooManyProcesses { most } => details["tooManyProcesses"] = most.into(),
        Ended::TimedOut { .. } => details["timedOut"] = true.into(),
        Ended::Cancelled => details["cancelled"] = true.into(),
    }
    if outcome.pipe_held {
        details["pipeHeld"] = true.into();
    }
    if !outcome.disabled.is_empty() {
        let made: Vec<&str> = outcome.disabled.iter().map(|one| one.path.as_str()).collect();
        details["disabled"] = json!(made);
    }
    if !outcome.left_behind.is_empty() {
        let pids: Vec<i32> = outcome.left_behind.iter().map(|p| p.pid).collect();
        details["leftBehind"] = json!(pids);
    }
    details
}
