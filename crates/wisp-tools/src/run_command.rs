//! `run_command`: one line for `/bin/sh`, decided, run confined to its own process group, its output kept whole.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use wisp_audit::Kind;
use wisp_exec::{CommandSpec, Ending as Ended, Outcome, SpillTo, reading_git};
use wisp_guard::Profile;

use crate::arguments;
use crate::arguments::Arguments;
use crate::call::{Call, Keep, Scene, Services};
use crate::tool::{Body, Descriptor, Ending, Returned, Running, Tool};

arguments! {
    /// What `run_command` is called with.
    pub struct RunCommandArguments {
        command: String = "command", "A POSIX shell line, run by /bin/sh -c without a terminal or standard input";
        working_directory: Option<String> = "workingDirectory", "Where to run it (default: the conversation's directory)";
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
                return Returned::error("command is empty: give a shell line");
            }
            let wanted = Wanted {
                line: &arguments.command,
                directory: arguments.working_directory.as_deref(),
                timeout: None,
            };
            run_line(wanted, call).await
        })
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
}

/// Decides about a line and runs it: policy, risk, the person, the runner, the record.
pub(crate) async fn run_line(wanted: Wanted<'_>, call: &mut Call<'_>) -> Returned {
    let named = wanted.directory.filter(|d| !d.trim().is_empty());
    let directory = named.map_or_else(|| call.services.directory.clone(), |d| call.services.path(d));
    if let Err(e) = wisp_exec::check_directory(&directory) {
        return Returned::error(e);
    }
    let line = wanted.line;
    let profile = match call.clear_command(line, &directory).await {
        Ok(profile) => profile,
        Err(refusal) => return refusal,
    };
    call.scene.person.doing(&format!("running {line}"));
    let mut spec = spec(line, directory.clone(), call.services, call.scene);
    let start = call.services.confining.start(profile, &call.services.directory);
    spec.sandbox = start.sandbox;
    spec.env = start.env;
    spec.timeout = wanted.timeout.or(spec.timeout);
    if profile == Profile::Read {
        spec.env.extend(reading_git());
    }
    match wisp_exec::run(spec).await {
        Ok(outcome) => {
            // The command has run; its result arrives even when this record cannot be written.
            let _ = call.audit(Kind::CommandOutcome, details(line, &outcome));
            returned(outcome, call.services)
        }
        Err(wisp_exec::ExecError::NotStarted) => Returned::refused(
            "the person stopped the turn before the command was started",
            Ending::Interrupted,
        ),
        Err(e) => Returned::error(e),
    }
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
    if services.options.command_timeout.is_some() && matches!(outcome.ending, Ended::TimedOut { .. }) {
        lines.push("a longer limit is the setting commandTimeoutSeconds".to_owned());
    }
    lines.join("\n")
}

fn left_behind(outcome: &Outcome) -> String {
    let names: Vec<String> = outcome
        .left_behind
        .iter()
        .map(|p| format!("{} ({})", p.name, p.pid))
        .collect();
    let held = if outcome.pipe_held {
        "a background process still held the output; "
    } else {
        ""
    };
    if names.is_empty() {
        return format!("{held}what it prints later is not kept");
    }
    let ended = outcome.left_behind.iter().all(|p| p.ended);
    let how = if ended {
        "ended with the command"
    } else {
        "could not all be ended"
    };
    format!("{held}left running and {how}: {}", names.join(", "))
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
    if !outcome.left_behind.is_empty() {
        let pids: Vec<i32> = outcome.left_behind.iter().map(|p| p.pid).collect();
        details["leftBehind"] = json!(pids);
    }
    details
}
