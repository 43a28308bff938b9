//! What a conversation is opened with that follows from the configuration.

use std::path::{Path, PathBuf};

use wisp_audit::AuditLog;
use wisp_config::{Config, Paths};
use wisp_context::{Rules, Stamp, Target, ThreadRecord, Time};
use wisp_exec::Limits;
use wisp_host::{Env, IdSource, RandomIds};
use wisp_output::ToolBudget;
use wisp_tools::{Confining, Keep, Network, SandboxOptions, Services, ToolOptions};

use super::Setup;
use crate::instructions;
use crate::saved::Resumed;

/// What the tools work with, for a window of so many tokens.
pub(super) fn services(
    setup: &Setup,
    paths: &Paths,
    config: &Config,
    (audit, keep): (AuditLog, Keep),
    window: u64,
) -> Services {
    let command_bytes = config
        .command_max_output_bytes()
        .and_then(|b| usize::try_from(b).ok());
    Services {
        clock: setup.clock.clone(),
        ids: setup.ids.clone(),
        audit,
        keep,
        budget: ToolBudget::for_window(window).with_command_override(command_bytes),
        directory: setup.directory.clone(),
        home: paths.home().to_owned(),
        env: setup.env.clone(),
        options: ToolOptions {
            command_timeout: config.command_timeout(),
            output_ceiling: config.output_ceiling(),
            shown_lines: usize::try_from(config.shown_output_lines()).unwrap_or(usize::MAX),
        },
        confining: confining(config, &setup.env, paths.home(), &setup.directory),
    }
}

/// The sandbox as the settings have it, over wisp's home and a directory.
pub fn confining(config: &Config, env: &Env, wisp: &Path, directory: &Path) -> Confining {
    let home = env.get("HOME").map(PathBuf::from);
    let place = |named: String| match (named.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => directory.join(named),
    };
    let options = SandboxOptions {
        on: config.sandbox(),
        network: match config.sandbox_network().as_str() {
            "on" => Network::On,
            "off" => Network::Off,
            _ => Network::Ask,
        },
        writable: config.sandbox_writable().into_iter().map(place).collect(),
        pass: config.passed_environment(),
        limits: Limits {
            memory: config.sandbox_memory().unwrap_or_else(|| wisp_exec::memory() / 2),
            file: config.sandbox_file(),
            processes: config.sandbox_processes(),
        },
    };
    Confining::new(options, wisp_exec::own_helper(), env.clone(), wisp.to_owned())
}

/// The sandbox as the settings have it, for `doctor`, which runs nothing.
pub fn sandbox(config: &Config, env: &Env) -> Confining {
    let wisp = env.wisp_home().unwrap_or_default();
    confining(config, env, &wisp, Path::new("/"))
}

/// The marks condensing works by.
pub(super) fn target(config: &Config, margin: f64) -> Target {
    Target {
        margin,
        target: config.context_target(),
        headroom_turns: u32::try_from(config.headroom_turns()).unwrap_or(8),
        ..Target::default()
    }
}

/// The record to go on with, its instructions as they were; else an empty one.
pub(super) fn record(
    resumed: Option<&Resumed>,
    config: &Config,
    setup: &Setup,
    memory: bool,
) -> ThreadRecord {
    let rules = Rules {
        memory,
        ..setup.rules
    };
    let mut record = if let Some(resumed) = resumed {
        resumed.record.clone()
    } else {
        let stamp = Stamp::at(Time::utc(setup.clock.now().as_millisecond()));
        ThreadRecord::new(instructions::full(config, memory), stamp)
    };
    record.set_boundary(boundary());
    record.with_rules(rules)
}

/// A mark that outputs are sent between, which nobody can know beforehand.
pub(crate) fn boundary() -> String {
    let mut mark = RandomIds.next();
    mark.truncate(wisp_template_tokens::boundary::MARK_CHARS);
    mark
}
