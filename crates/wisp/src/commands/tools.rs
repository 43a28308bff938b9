//! `wisp tools`: what a model may call, from the same rows the model is sent.

use std::process::ExitCode;

use wisp_agent::offer::configured;
use wisp_config::Config;
use wisp_host::Env;
use wisp_term::safe;
use wisp_tools::Descriptor;

use super::paths;
use crate::args::Tools;
use crate::screen::Screen;

/// Prints the tools that are not disabled, the person's own last.
pub fn run(args: &Tools, env: Env) -> anyhow::Result<ExitCode> {
    let config = Config::load(&paths(&env)?.config())?;
    let tools = configured(&config);
    let rows: Vec<Descriptor> = tools.iter().map(|t| t.descriptor()).collect();
    let mut screen = Screen::new(env, &config.theme());
    if args.json {
        let definitions: Vec<_> = rows.iter().map(Descriptor::definition).collect();
        screen
            .out
            .line(&safe::json(&serde_json::to_string_pretty(&definitions)?))?;
    } else if args.markdown {
        for row in &rows {
            screen.out.text(&row.markdown())?;
        }
    } else {
        for row in &rows {
            let line = format!("{:<14} {}", row.name, row.description);
            screen.out.words(None, &line)?;
        }
    }
    screen.out.flush()?;
    Ok(ExitCode::SUCCESS)
}
