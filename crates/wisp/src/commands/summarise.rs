//! `wisp summarise FILE|-`: what matters in a log, read exactly and without a model.

use std::process::ExitCode;

use wisp_digest::{Options, View, digest_reader};
use wisp_host::Env;
use wisp_term::safe;

use crate::args::Summarise;
use crate::input;
use crate::screen::Screen;

/// The most bytes of a digest's text.
const ROOM: usize = 64 * 1024;

/// Prints the digest.
pub fn run(args: &Summarise, env: Env) -> anyhow::Result<ExitCode> {
    let reader = input::open(&args.file)?;
    let digest = digest_reader(reader, Options { exit: args.exit })?;
    let mut screen = Screen::new(env, "auto");
    if args.json {
        screen
            .out
            .line(&safe::json(&serde_json::to_string_pretty(&digest.to_json())?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let view = if args.overview {
        View::Overview
    } else {
        View::Notable
    };
    let text = digest.render(ROOM, view);
    // At once: a digest has hundreds of lines, and each by itself would be a call of the system's.
    let mut told = String::with_capacity(text.len() + 1);
    for line in text.lines().take(args.lines.unwrap_or(usize::MAX)) {
        told.push_str(&safe::safe(line));
        told.push('\n');
    }
    screen.out.text(&told)?;
    screen.out.flush()?;
    Ok(ExitCode::SUCCESS)
}
