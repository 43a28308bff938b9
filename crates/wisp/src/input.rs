//! A file that a person named on the command line, or standard input.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Why a named file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It cannot be opened.
    #[error("cannot open {}: {}", path.display(), words(why))]
    Open {
        /// As it was named.
        path: PathBuf,
        /// What the system said: in the words already, so not its source.
        why: io::Error,
    },
    /// It is a directory.
    #[error("{} is a directory", .0.display())]
    Directory(PathBuf),
}

impl InputError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Open { why, .. } if why.kind() == ErrorKind::PermissionDenied => {
                "ask its owner for leave to read it, or pipe it in as another user and give `-`".to_owned()
            }
            Self::Open { .. } => "give the path of a file, or `-` to read standard input".to_owned(),
            Self::Directory(path) => format!("give one file, such as {}", path.join("build.log").display()),
        }
    }
}

/// The system's words without its number: `No such file or directory`.
fn words(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Opens a file, or standard input for `-`.
pub fn open(path: &Path) -> Result<Box<dyn Read>, InputError> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?.is_dir(), file)));
    match opened {
        Ok((true, _)) => Err(InputError::Directory(path.to_owned())),
        Ok((false, file)) => Ok(Box::new(file)),
        Err(why) => Err(InputError::Open {
            path: path.to_owned(),
            why,
        }),
    }
}
