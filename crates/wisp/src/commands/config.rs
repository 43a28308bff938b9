//! `wisp config`: the settings, their values and their meaning; changes that leave the rest of the file alone.

use std::process::ExitCode;

use wisp_config::{Changed, Config, ConfigError, Paths, SETTINGS, setting};
use wisp_host::Env;
use wisp_term::{Role, safe};

use super::paths;
use super::recorded::Recorded;
use crate::args::{Config as Args, ConfigSub};
use crate::exit::Usage;
use crate::screen::Screen;

/// Lists, prints or changes settings.
pub fn run(args: Args, env: Env) -> anyhow::Result<ExitCode> {
    let paths = paths(&env)?;
    let command = args.command.unwrap_or(ConfigSub::List);
    // What is wrong in the file does not keep it from being corrected.
    let mut config = match command {
        ConfigSub::List | ConfigSub::Get { .. } => Config::load(&paths.config())?,
        ConfigSub::Set { .. } | ConfigSub::Unset { .. } => Config::load_to_correct(&paths.config())?.0,
    };
    let mut screen = Screen::new(env, &config.theme());
    for warning in config.warnings() {
        screen.err.words(Some(Role::Warn), &safe::safe(warning))?;
    }
    match command {
        ConfigSub::List => list(&config, &mut screen)?,
        ConfigSub::Get { key } => get(&config, &key, &mut screen)?,
        ConfigSub::Set { key, value } => {
            let change = |config: &mut Config| config.set(&key, &value);
            said(&changed(&paths, &mut config, change)?, &mut screen)?;
            still_wrong(&paths, &mut screen)?;
        }
        ConfigSub::Unset { key } => {
            let change = |config: &mut Config| config.unset(&key);
            said(&changed(&paths, &mut config, change)?, &mut screen)?;
            still_wrong(&paths, &mut screen)?;
        }
    }
    screen.out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn list(config: &Config, screen: &mut Screen) -> anyhow::Result<()> {
    for row in SETTINGS {
        let value = value(config, row.name);
        if screen.out.surface().terminal {
            let line = format!("{:<32} {value:<20} {}", row.name, row.about);
            screen.out.words(None, &line)?;
        } else {
            screen
                .out
                .line(&format!("{}\t{value}\t{}", row.name, row.about))?;
        }
    }
    Ok(())
}

fn value(config: &Config, name: &str) -> String {
    match (config.get(name), config.is_set(name)) {
        (Some(value), true) => value.to_string(),
        (Some(value), false) => format!("{value} (default)"),
        (None, _) => "(not set)".to_owned(),
    }
}

fn get(config: &Config, key: &str, screen: &mut Screen) -> anyhow::Result<()> {
    let row = setting(key).ok_or_else(|| {
        let near = wisp_config::nearest(key, SETTINGS.iter().map(|s| s.name));
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        Usage(format!("no setting is called {key}{near}"))
    })?;
    screen.out.line(&safe::safe(&value(config, row.name)))?;
    screen.err.words(
        Some(Role::Quiet),
        &format!("{}; it takes {}", row.about, row.allowed()),
    )?;
    Ok(())
}

/// Makes a change and records it, unless the audit was and is off.
fn changed(
    paths: &Paths,
    config: &mut Config,
    change: impl FnOnce(&mut Config) -> Result<Changed, ConfigError>,
) -> anyhow::Result<Changed> {
    paths.prepare()?;
    let before = config.audit();
    let changed = change(config)?;
    let mut recorded = Recorded::of(paths, config, "config").also_when(before);
    recorded.changed(&changed)?;
    recorded.close()?;
    Ok(changed)
}

/// Says what else is wrong in the file, and what to do about it.
fn still_wrong(paths: &Paths, screen: &mut Screen) -> anyhow::Result<()> {
    let (_, wrong) = Config::load_to_correct(&paths.config())?;
    for error in wrong {
        let text = format!("still wrong: {error}; {}", error.hint());
        screen.err.words(Some(Role::Warn), &safe::safe(&text))?;
    }
    Ok(())
}

fn said(changed: &Changed, screen: &mut Screen) -> anyhow::Result<()> {
    let now = changed
        .new
        .as_ref()
        .map_or_else(|| "its default".to_owned(), ToString::to_string);
    screen
        .err
        .line(&safe::safe(&format!("{} is now {now}", changed.key)))?;
    if let Some(note) = changed.note {
        screen.err.words(Some(Role::Warn), note)?;
    }
    Ok(())
}
