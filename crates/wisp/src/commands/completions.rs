//! `wisp completions`: the few lines by which a shell asks wisp itself how a line could go on.

use std::process::ExitCode;

use clap_complete::env::Shells;
use wisp_host::Env;

use crate::args::Completions;
use crate::complete::VARIABLE;
use crate::exit::Usage;
use crate::screen::Screen;

/// Prints them.
pub fn run(args: &Completions, env: Env) -> anyhow::Result<ExitCode> {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&args.shell) else {
        return Err(Usage(format!("there are no completions for {}", args.shell)).into());
    };
    let mut lines = Vec::new();
    shell.write_registration(VARIABLE, "wisp", "wisp", "wisp", &mut lines)?;
    let mut screen = Screen::new(env, "auto");
    screen.out.bytes(&lines)?;
    screen.out.flush()?;
    Ok(ExitCode::SUCCESS)
}
