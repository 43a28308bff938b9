//! `wisp man`: a page of the manual for wisp and for each subcommand, from the definitions that `--help` is made of.

use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;

use crate::args::{Cli, Man};

/// Writes them.
pub fn run(args: &Man) -> anyhow::Result<ExitCode> {
    let mut wisp = Cli::command();
    wisp.build();
    let written = clap_mangen::generate_to(wisp, &args.directory);
    written.with_context(|| format!("cannot write into {}", args.directory.display()))?;
    Ok(ExitCode::SUCCESS)
}
