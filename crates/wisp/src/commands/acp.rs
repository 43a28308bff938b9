//! `wisp acp`: wisp inside an editor, over the Agent Client Protocol.

use std::process::ExitCode;

use wisp_acp::Options;
use wisp_host::Env;

use super::{paths, runtime, setup};
use crate::args::Acp;

/// Serves until the editor is gone. Standard output is the protocol's alone.
pub fn run(args: &Acp, env: Env) -> anyhow::Result<ExitCode> {
    let setup = setup(&args.talk, env.clone(), "acp")?;
    paths(&env)?.prepare()?;
    let options = Options {
        model: setup.model,
        tools: setup.tools,
        yes: setup.yes,
        env,
    };
    let runtime = runtime()?;
    let served = runtime.block_on(wisp_acp::serve(options));
    runtime.shutdown_background();
    served.map_err(anyhow::Error::msg)?;
    Ok(ExitCode::SUCCESS)
}
