//! The first error of an output, for the note on a part that was held back.

use std::io::Read;

use serde::Serialize;

use crate::digest::{Digest, Failure};
use crate::digester::{Digester, Options};

/// The first line that states a failure in a known format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirstError {
    /// Its line, from 1.
    pub line: u64,
    /// What it says, with its place in the source before it when there is one.
    pub text: String,
}

impl FirstError {
    fn of(failure: &Failure) -> Self {
        let text = match &failure.location {
            Some(location) if !failure.title.contains(&location.path) => {
                format!("{location}: {}", failure.title)
            }
            _ => failure.title.clone(),
        };
        Self {
            line: failure.lines.first,
            text,
        }
    }
}

/// The first error in these bytes: one pass, at the speed of a digest. None when no format states one.
pub fn first_error(bytes: &[u8]) -> Option<FirstError> {
    let mut digester = Digester::new(Options::default());
    digester.push(bytes);
    first_of(&digester.finish())
}

/// The first error in what a reader gives. Fails as the reader fails.
pub fn first_error_of(reader: impl Read) -> std::io::Result<Option<FirstError>> {
    Ok(first_of(&crate::digest_reader(reader, Options::default())?))
}

fn first_of(digest: &Digest) -> Option<FirstError> {
    digest.first_failure().map(FirstError::of)
}
