//! Exit codes, and what a person can do about an error.

use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use wisp_agent::OpenError;
use wisp_agent::protocol::Command;
use wisp_agent::saved::SavedError;
use wisp_config::ConfigError;
use wisp_output::store::StoreError;

use crate::commands::unknown::NoCommand;
use crate::input::InputError;

/// Something failed: the server, the model, a file.
pub const FAILED: u8 = 1;
/// A call was refused, or the most requests were made before the model was done.
pub const REFUSED: u8 = 2;
/// The command line or the configuration is wrong.
pub const USAGE: u8 = 64;
/// The person stopped it.
pub const INTERRUPTED: u8 = 130;

/// How long a signal's end waits for the engine to end its processes and close the audit.
const GRACE: Duration = Duration::from_millis(2_500);

/// A usage error, told apart from other failures by its exit code.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// The exit code of an error.
pub fn code_of(error: &anyhow::Error) -> ExitCode {
    let usage = error.chain().any(|e| {
        e.is::<Usage>()
            || e.is::<NoCommand>()
            || e.downcast_ref::<SavedError>().is_some_and(SavedError::is_usage)
            || e.downcast_ref::<ConfigError>().is_some_and(ConfigError::is_usage)
            || e.downcast_ref::<OpenError>().is_some_and(OpenError::is_usage)
    });
    ExitCode::from(if usage { USAGE } else { FAILED })
}

/// What the person can do about an error, where something can be done.
pub fn hint_of(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|e| {
        let config = e.downcast_ref::<ConfigError>().map(ConfigError::hint);
        let open = e.downcast_ref::<OpenError>().and_then(OpenError::hint);
        let server = e
            .downcast_ref::<wisp_ollama::Error>()
            .and_then(wisp_ollama::Error::hint);
        let saved = e.downcast_ref::<SavedError>().and_then(SavedError::hint);
        let stored = e.downcast_ref::<StoreError>().and_then(StoreError::hint);
        let input = e.downcast_ref::<InputError>().map(InputError::hint);
        let command = e.downcast_ref::<NoCommand>().map(NoCommand::hint);
        config
            .or(open)
            .or(server)
            .or(saved)
            .or(stored)
            .or(input)
            .or(command)
    })
}

/// The exit code once a signal ends the process: nobody is asked for another line then.
static LEAVING: OnceLock<u8> = OnceLock::new();

/// Whether a signal is ending the process.
pub fn is_leaving() -> bool {
    LEAVING.get().is_some()
}

/// The code a process ends with: that of the signal which ends it, however what it did meanwhile ended.
pub fn final_code(code: ExitCode) -> ExitCode {
    LEAVING.get().map_or(code, |signal| ExitCode::from(*signal))
}

/// Ends the process after a signal, once the engine has ended what it runs or [`GRACE`] has passed. The terminal is
/// put back last, when nobody draws on it any more.
pub async fn now(commands: &UnboundedSender<Command>, code: u8) -> ! {
    let code = *LEAVING.get_or_init(|| code);
    let _ = commands.send(Command::Quit);
    let _ = tokio::time::timeout(GRACE, commands.closed()).await;
    crate::terminal::restore();
    #[expect(
        clippy::exit,
        reason = "a signal ends the process from outside the main thread"
    )]
    std::process::exit(i32::from(code))
}
