//! `wisp models enable` and `disable`. What a model can do that nobody says is tried out before it is enabled, and that
//! decides: one that gives no reply stays disabled, one that makes no calls is for talking only.

use std::process::ExitCode;

use wisp_agent::model::disabled;
use wisp_agent::model::known::Known;
use wisp_config::Config;
use wisp_term::{Role, safe};

use super::check::{Checked, Checking};
use crate::commands::recorded::Recorded;
use crate::commands::runtime;
use crate::exit::FAILED;
use crate::screen::Screen;

/// Enables each model, after a check where its server does not say what it can do. The exit code says whether all are
/// enabled.
pub fn enable(
    names: &[String],
    config: &mut Config,
    known: &Known,
    recorded: &mut Recorded<'_>,
    screen: &mut Screen,
) -> anyhow::Result<ExitCode> {
    say_what_is_not_there(names, config, screen)?;
    let mut all = true;
    for name in names {
        let checked = checked(name, config, known, recorded, screen)?;
        if matches!(checked, Checked::Talks) {
            let text = format!("{name} makes no calls: it is for talking only");
            screen.out.line(&safe::safe(&text))?;
        }
        let on = !matches!(checked, Checked::Mute);
        all &= on;
        turn(name, on, config, recorded, screen)?;
    }
    Ok(ExitCode::from(if all { 0 } else { FAILED }))
}

/// Disables each model.
pub fn disable(
    names: &[String],
    config: &mut Config,
    recorded: &mut Recorded<'_>,
    screen: &mut Screen,
) -> anyhow::Result<ExitCode> {
    say_what_is_not_there(names, config, screen)?;
    for name in names {
        turn(name, false, config, recorded, screen)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A name that no model of the server has is done as asked, for a model that may come yet, and said: it may be a slip.
fn say_what_is_not_there(names: &[String], config: &Config, screen: &mut Screen) -> anyhow::Result<()> {
    let client = wisp_agent::client(&screen.env, config)?;
    let Ok(listed) = runtime()?.block_on(client.tags()) else {
        return Ok(());
    };
    for name in names {
        if !listed
            .iter()
            .any(|model| wisp_ollama::same_model(&model.name, name))
        {
            let text = format!("the server has no model {name}; wisp models --all lists what it has");
            screen.err.words(Some(Role::Warn), &safe::safe(&text))?;
        }
    }
    Ok(())
}

fn checked(
    name: &str,
    config: &Config,
    known: &Known,
    recorded: &mut Recorded<'_>,
    screen: &mut Screen,
) -> anyhow::Result<Checked> {
    let client = wisp_agent::client(&screen.env, config)?;
    let checking = Checking {
        config,
        known,
        client: &client,
        json: false,
        trigger: "enable",
    };
    runtime()?.block_on(checking.if_unknown(name, recorded, screen))
}

fn turn(
    name: &str,
    on: bool,
    config: &mut Config,
    recorded: &mut Recorded<'_>,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let turned = disabled::turn(config, name, on)?;
    if let Some(changed) = &turned.changed {
        recorded.changed(changed)?;
    }
    screen.out.line(&safe::safe(&turned.text))?;
    Ok(())
}
