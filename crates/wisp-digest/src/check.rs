//! What must hold of a digest of any bytes at all, for fuzzing and property tests.

use crate::digest::Digest;
use crate::digester::{Digester, Options};
use crate::limits;
use crate::render::View;

/// Digests the bytes in several ways and says which promise is broken, if any: the same digest however the
/// bytes are cut, text that fits its room in both views, line numbers within the input, lists within bounds.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let whole = Digest::of(bytes, Options::default());
    let ends = || memchr::memchr_iter(b'\n', bytes).map(|end| end + 1);
    let piece = bytes.len() / 7 + 1;
    let cuts = [
        ("in seven", cut(bytes, (1..7).map(|at| at * piece))),
        ("at the ends of lines", cut(bytes, ends())),
        (
            "after the first bytes of lines",
            cut(bytes, ends().map(|end| end + 1)),
        ),
    ];
    if let Some((how, _)) = cuts.iter().find(|(_, digest)| *digest != whole) {
        return Err(format!("cut {how} the bytes give another digest"));
    }
    fits(&whole)?;
    in_bounds(&whole)
}

/// The digest of the bytes cut at these places, which come in order.
fn cut(bytes: &[u8], places: impl Iterator<Item = usize>) -> Digest {
    let mut digester = Digester::new(Options::default());
    let mut from = 0;
    for place in places.map(|place| place.min(bytes.len())) {
        digester.push(&bytes[from..place]);
        from = place;
    }
    digester.push(&bytes[from..]);
    digester.finish()
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
