//! What must hold of a digest of any bytes at all, for fuzzing and property tests.

use crate::digest::Digest;
use crate::digester::{Digester, Options};
use crate::limits;
use crate::render::View;

/// Digests the bytes in several ways and says which promise is broken, if any: the same digest however the
/// bytes are cut, text that fits its room in both views, line numbers within the input, lists within bounds.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let whole = Digest::of(bytes, Options::default());
    let piece = bytes.len() / 7 + 1;
    let mut digester = Digester::new(Options::default());
    bytes.chunks(piece).for_each(|part| digester.push(part));
    if digester.finish() != whole {
        return Err(format!("pieces of {piece} bytes give another digest"));
    }
    fits(&whole)?;
    in_bounds(&whole)
}

fn fits(digest: &Digest) -> Result<(), String> {
    for view in [View::Notable, View::Overview] {
        let whole = digest.render(usize::MAX, view);
        for most in [0, 1, 40, 200, 1_000, whole.len(), whole.len().saturating_sub(1)] {
            let length = digest.render(most, view).len();
            if length > most {
                return Err(format!("{length} bytes of text in a room of {most}"));
            }
        }
    }
    Ok(())
}

fn in_bounds(digest: &Digest) -> Result<(), String> {
    if digest.failures.len() > limits::FAILURES * 2 || digest.sections.len() > limits::SECTIONS {
        return Err("a list is longer than its bound".to_owned());
    }
    for failure in &digest.failures {
        let span = failure.lines;
        if span.first == 0 || span.first > span.last || span.last > digest.lines {
            return Err(format!("{span} of {} lines: {}", digest.lines, failure.title));
        }
    }
    Ok(())
}
