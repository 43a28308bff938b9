//! The subcommands, one file each, and what they share: the runtime and the setup of a conversation.

#[cfg(feature = "acp")]
pub mod acp;
pub mod approvals;
pub mod chat;
pub mod completions;
pub mod config;
pub mod doctor;
pub mod logs;
pub mod man;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod models;
pub mod outputs;
mod recorded;
pub mod redact;
pub mod respond;
pub mod scan;
pub mod show;
pub mod summarise;
pub mod threads;
pub mod tools;
pub mod unknown;

use std::path::PathBuf;

use anyhow::Context;
use tokio::runtime::Runtime;
use wisp_agent::Setup;
use wisp_config::Paths;
use wisp_host::Env;

use crate::args::Talk;

/// A runtime beside the main thread, which belongs to the terminal.
pub fn runtime() -> anyhow::Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.context("cannot start the runtime")
}

/// The directory wisp was started in.
pub fn directory() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("the working directory is gone")
}

/// Where wisp's files are.
pub fn paths(env: &Env) -> anyhow::Result<Paths> {
    Ok(Paths::of(env, &directory()?)?)
}

/// The setup of a conversation from its arguments.
pub fn setup(talk: &Talk, env: Env, face: &'static str) -> anyhow::Result<Setup> {
    Ok(talk.setup(env, directory()?, face))
}
