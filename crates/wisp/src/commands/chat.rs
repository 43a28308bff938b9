//! `wisp chat`.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use wisp_agent::{Launch, ground, start};
use wisp_config::Config;
use wisp_host::Env;
use wisp_term::Role;

use super::{paths, runtime, setup};
use crate::args::Chat;
use crate::screen::Screen;

/// Runs the chat until it is left.
pub fn run(args: &Chat, env: Env) -> anyhow::Result<ExitCode> {
    let interactive = std::io::stdin().is_terminal();
    if interactive && !args.json && !args.plain {
        instead(&env)?;
    }
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
                prompts: false,
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
            prompts: false,
        },
    ))?;
    let first = Some(args.prompt.join(" ")).filter(|prompt| !prompt.trim().is_empty());
    let code = crate::chat::run(runtime.handle(), handle, screen, (history, first));
    runtime.shutdown_timeout(std::time::Duration::from_secs(3));
    Ok(code)
}

/// The full-screen front end, beside this program or on the way of programs.
const TUI: &str = "wisp-tui";

/// Becomes wisp-tui, with the same arguments, where the settings ask for it and the terminal can draw it. Says once, in a
/// home without a conversation, that there is one.
fn instead(env: &Env) -> anyhow::Result<()> {
    let draws = std::io::stdout().is_terminal() && env.get("TERM").is_some_and(|term| term != "dumb");
    let paths = paths(env)?;
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(TUI));
    let beside = beside.filter(|program| program.is_file());
    match Config::load(&paths.config())?.ui().as_deref() {
        Some("tui") if draws => {}
        None if draws && beside.is_some() && !paths.transcripts().exists() => {
            let mut screen = Screen::new(env.clone(), "auto");
            let text = "wisp-tui is the same conversation with an input box, menus and panels; to open it from now on: wisp config set ui tui";
            screen.err.words(Some(Role::Quiet), text)?;
            screen.err.flush()?;
            return Ok(());
        }
        _ => return Ok(()),
    }
    let program = beside.map_or_else(|| TUI.into(), std::path::PathBuf::into_os_string);
    let given: Vec<_> = std::env::args_os().skip(1).collect();
    let given = given.strip_prefix(&[OsString::from("chat")]).unwrap_or(&given);
    let argv: Vec<OsString> = std::iter::once(program).chain(given.iter().cloned()).collect();
    let failed = wisp_exec::become_program(&argv);
    Err(anyhow::Error::new(failed)
        .context("wisp-tui cannot be opened, which the setting ui asks for; wisp chat --plain does without"))
}
