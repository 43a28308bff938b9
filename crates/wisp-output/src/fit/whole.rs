//! The whole of an output, when it fits.

use std::io;

use crate::clean::{CleanLines, View};
use crate::content::Stretch;

use super::Whole;

/// The cleaned whole when it is text of at most `budget` bytes with nothing missing; `None` otherwise. Reads
/// little more than `budget` bytes of an output that does not fit, unless it is cleaned to less.
pub(super) fn cleaned(whole: Whole<'_>, budget: usize) -> io::Result<Option<String>> {
    let content = whole.content;
    let bytes = content.bytes();
    if whole.sections.iter().any(|section| section.binary) || content.readable_to(0) < bytes {
        return Ok(None);
    }
    let mut text = String::new();
    let mut lines = CleanLines::new(Stretch::all(content), View::Plain);
    while let Some(line) = lines.next_line()? {
        text.push_str(&line.text);
        if line.newline {
            text.push('\n');
        }
        if text.len() > budget {
            return Ok(None);
        }
    }
    Ok(Some(text))
}
