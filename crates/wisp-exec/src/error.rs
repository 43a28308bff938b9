//! Why a command could not be run at all. A command that ran and failed is an outcome, not an error.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// What stopped a command before it ran, or kept its end from being learnt.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The directory to run in is missing.
    #[error("working directory does not exist: {}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// What was given as the directory to run in is something else.
    #[error("working directory is not a directory: {}", path.display())]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },
    /// The program could not be started.
    #[error("could not launch {}: {source}", program.display())]
    Launch {
        /// The program.
        program: OsString,
        /// The system's reason.
        source: io::Error,
    },
    /// An argument list without a program.
    #[error("no program to run was named")]
    NoProgram,
    /// The person had cancelled before the command was started; it was not.
    #[error("cancelled before the command was started")]
    NotStarted,
    /// What was to be fed to a pager could not be read. The pager showed what came before.
    #[error("could not read all of what {} was to show: {source}", program.display())]
    Feed {
        /// The pager.
        program: OsString,
        /// The reason.
        source: io::Error,
    },
    /// The sandbox could not be set up; nothing was executed.
    #[error("the sandbox could not be set up, so {} was not run: {reason}", program.display())]
    Sandbox {
        /// The program.
        program: OsString,
        /// What failed.
        reason: String,
    },
    /// The system failed while the command ran.
    #[error("lost track of {}: {source}", program.display())]
    Lost {
        /// The program.
        program: OsString,
        /// The system's reason.
        source: io::Error,
    },
}

/// Checks that a command can be run in a directory. Errors: [`ExecError::Directory`], [`ExecError::NotADirectory`].
pub fn check_directory(path: &Path) -> Result<(), ExecError> {
    let path = path.to_owned();
    match path.metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(ExecError::NotADirectory { path }),
        Err(_) => Err(ExecError::Directory { path }),
    }
}
