//! `wisp tools`: what a model may call, from the same rows the model is sent.

use std::process::ExitCode;

use wisp_config::Config;
use wisp_host::Env;
use wisp_tools::{BuiltinOptions, Descriptor, builtin};

use super::paths;
use crate::args::Tools;
use crate::screen::Screen;

/// Prints the tools that are not disabled.
pub fn run(args: &Tools, env: Env) -> anyhow::Result<ExitCode> {
    let config = Config::load(&paths(&env)?.config())?;
    let disabled = config.disabled_tools();
    let tools = builtin(&BuiltinOptions {
        command_timeout: config.command_timeout(),
    });
    let rows: Vec<Descriptor> = tools
        .iter()
        .map(|t| t.descriptor())
        .filter(|d| !disabled.iter().any(|n| n == d.name))
        .collect();
    let mut screen = Screen::new(env, &config.theme());
    if args.json {
        let definitions: Vec<_> = rows.iter().map(Descriptor::definition).collect();
        screen.out.line(&serde_json::to_string_pretty(&definitions)?)?;
    } else if args.markdown {
        for row in &rows {
            screen.out.text(&row.markdown())?;
        }
    } else {
        for row in &rows {
            screen
                .out
                .line(&format!("{:<14} {}", row.name, row.description))?;
        }
    }
    screen.out.flush()?;
    Ok(ExitCode::SUCCESS)
}
