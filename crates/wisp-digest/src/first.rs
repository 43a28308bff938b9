//! The first error of an output, for the note on a part that was held back.

use std::io::Read;

use serde::Serialize;

use crate::digest::{Digest, Failure, Quote};
use crate::digester::{Digester, Options};

/// The first line that states a failure in a known format; where none does, the first that looks like one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirstError {
    /// Its line, from 1.
    pub line: u64,
    /// What it says, with its place in the source before it when there is one.
    pub text: String,
    /// Whether a known format states it; else it only looks like a failure, and no reader has explained it.
    pub known: bool,
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
            known: true,
        }
    }

    fn unexplained(quote: &Quote) -> Self {
        Self {
            line: quote.line,
            text: quote.text.clone(),
            known: false,
        }
    }
}

/// The first error in these bytes: one pass, at the speed of a digest. None when no line states one or looks like it.
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
    let unexplained = || digest.unexplained.first.first().map(FirstError::unexplained);
    digest.first_failure().map(FirstError::of).or_else(unexplained)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_no_known_format_is_the_first_error_when_no_other_is() {
        let mut log = "copied block\n".repeat(5_000);
        log.push_str("error: signature differs from the one on record\n");
        log.push_str(&"copied block\n".repeat(5_000));
        let found = first_error(log.as_bytes()).unwrap();
        assert_eq!(
            (found.line, found.text.as_str(), found.known),
            (5_001, "error: signature differs from the one on record", false)
        );
        assert_eq!(first_error(b"copied block 1\ncopied block 2\n"), None);
    }
}
