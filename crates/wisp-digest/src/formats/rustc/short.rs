//! Diagnostics of one line: `src/lib.rs:2:40: error[E0425]: text`, as `--message-format=short` has them.

use super::{header, is_unresolved};
use crate::digest::Kind;
use crate::line::{Line, has_extension, place, quoted};
use crate::report::{Finding, Report};

/// Reports the line if it is one.
pub(super) fn short(line: &Line<'_>, report: &mut Report) -> bool {
    let Some((place, rest)) = place(line.text).filter(|(place, _)| has_extension(place.path, &["rs"])) else {
        return false;
    };
    let Some(said) = rest.strip_prefix(": ").filter(|_| place.column.is_some()) else {
        return false;
    };
    let Some(header) = header(said) else {
        return false;
    };
    let (code, message) = (&said[header.code], &said[header.message..]);
    if header.error {
        let named = is_unresolved(code).then(|| quoted(message)).flatten();
        let cause = named.map(|name| format!("missing {name}"));
        let finding = Finding::new(Kind::Compile, said, line).at(place.location());
        report.fail(finding.because(cause));
    } else {
        let kind = if code.is_empty() { "rustc" } else { code };
        report.warn_at(kind, Some(place), line);
    }
    true
}
