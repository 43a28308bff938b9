//! An error with its causes as one line. Many errors of libraries repeat their cause in their own text; a person reads
//! each part once.

use std::error::Error;

/// The error's text, then the text of each cause that was not said yet.
///
/// ```
/// use std::io::{Error, ErrorKind};
/// let cause = Error::new(ErrorKind::NotFound, "no such file");
/// assert_eq!(wisp_term::causes::words(&cause), "no such file");
/// ```
pub fn words(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !words.contains(&text) {
            words.push_str(": ");
            words.push_str(&text);
        }
        next = cause.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Outer(&'static str, #[source] std::io::Error);

    #[test]
    fn a_cause_that_was_said_is_not_said_again() {
        let cause = || std::io::Error::other("disk full");
        assert_eq!(
            words(&Outer("cannot write x: disk full", cause())),
            "cannot write x: disk full"
        );
        assert_eq!(
            words(&Outer("cannot write x", cause())),
            "cannot write x: disk full"
        );
    }
}
