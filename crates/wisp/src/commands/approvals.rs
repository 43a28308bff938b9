//! `wisp approvals`: what was allowed for a directory or everywhere, and taking it back. What holds for a conversation
//! alone is its own: `/approvals` shows that.

use std::process::ExitCode;

use serde_json::json;
use wisp_agent::approval_row;
use wisp_audit::Kind;
use wisp_config::Config;
use wisp_guard::ApprovalFile;
use wisp_host::{Clock, Env, SystemClock};
use wisp_term::safe;

use super::paths;
use super::recorded::Recorded;
use crate::args::{Approvals, ApprovalsSub};
use crate::exit::Usage;
use crate::screen::Screen;

/// Lists, revokes or clears the stored approvals.
pub fn run(args: &Approvals, env: Env) -> anyhow::Result<ExitCode> {
    let paths = paths(&env)?;
    let config = Config::load(&paths.config())?;
    let file = ApprovalFile::new(paths.approvals());
    let now = SystemClock.now();
    let mut screen = Screen::new(env, &config.theme());
    let mut recorded = Recorded::of(&paths, &config, "approvals");
    let said = match &args.command {
        None if args.json => {
            let stored = file.read(now)?;
            screen.out.line(&serde_json::to_string(&stored)?)?;
            screen.out.flush()?;
            return Ok(ExitCode::SUCCESS);
        }
        None => {
            let stored = file.read(now)?;
            for approval in &stored {
                screen.out.line(&safe::safe(&approval_row(approval)))?;
            }
            if stored.is_empty() {
                screen.err.line("nothing is allowed beforehand")?;
            }
            screen.out.flush()?;
            return Ok(ExitCode::SUCCESS);
        }
        Some(ApprovalsSub::Revoke { id }) => {
            let stored = file.read(now)?;
            let fitting = stored
                .iter()
                .filter(|approval| approval.id.starts_with(id.as_str()));
            if id.is_empty() || fitting.count() != 1 {
                return Err(Usage(format!(
                    "no approval, or more than one, begins with {id:?}; wisp approvals lists them"
                ))
                .into());
            }
            format!("taken back: {}", approval_row(&file.revoke(id, now)?))
        }
        Some(ApprovalsSub::Clear) => format!("{} taken back", file.clear(now)?),
    };
    let details = json!({"command": "wisp approvals", "decision": "revoked", "reason": said});
    recorded.event(Kind::ApprovalDecided, details)?;
    screen.out.line(&safe::safe(&said))?;
    screen.out.flush()?;
    Ok(ExitCode::SUCCESS)
}
