//! `wisp chat`.

use std::io::IsTerminal;
use std::process::ExitCode;

use wisp_agent::{Launch, ground, start};
use wisp_host::Env;

use super::{runtime, setup};
use crate::args::Chat;
use crate::screen::Screen;

/// Runs the chat until it is left.
pub fn run(args: &Chat, env: Env) -> anyhow::Result<ExitCode> {
    let interactive = std::io::stdin().is_terminal();
    let mut setup = setup(&args.talk, env.clone(), "chat")?;
    setup.demo = true;
    args.saved.apply(&mut setup);
    let ground = ground(setup)?;
    let screen = Screen::new(env, &ground.config.theme());
    let history = ground.paths.history();
    let runtime = runtime()?;
    if args.json {
        let handle = runtime.block_on(start(
            ground,
            Launch {
                chooses: true,
                banner: true,
                warms: false,
                reads: false,
            },
        ))?;
        return Ok(crate::chat::json::run(&runtime, handle));
    }
    let handle = runtime.block_on(start(
        ground,
        Launch {
            chooses: interactive,
            banner: interactive,
            warms: interactive,
            reads: interactive,
        },
    ))?;
    let first = Some(args.prompt.join(" ")).filter(|prompt| !prompt.trim().is_empty());
    let code = crate::chat::run(runtime.handle(), handle, screen, (history, first));
    runtime.shutdown_timeout(std::time::Duration::from_secs(3));
    Ok(code)
}
