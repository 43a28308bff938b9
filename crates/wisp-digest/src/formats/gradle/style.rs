//! What ktlint, detekt and Checkstyle say in the output of a task: a place and a message a line.

use crate::digest::Kind;
use crate::find::Find;
use crate::line::{Line, has_extension, place_at_start};
use crate::report::{Finding, Report};

/// The task in whose output such rows stand.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// No task of these tools, as far as is known.
    #[default]
    Unknown,
    /// One that had not failed when its output was printed.
    Running,
    Failed,
}

impl Style {
    /// The task of a heading.
    pub(super) fn of(heading: &str) -> Self {
        let name = heading.past("> Task ").split(' ').next().unwrap_or("");
        let own = ["tlint", "detekt", "checkstyle"]
            .iter()
            .any(|tool| name.has(tool));
        match (own, heading.ends_with(" FAILED")) {
            (false, _) => Self::Unknown,
            (true, true) => Self::Failed,
            (true, false) => Self::Running,
        }
    }

    /// Reads a row. False when it is none.
    pub(super) fn row(self, line: &Line<'_>, report: &mut Report) -> bool {
        let checked = line.text.strip_prefix("[ant:checkstyle] ");
        if self == Self::Unknown && checked.is_none() {
            return false;
        }
        let body = checked.unwrap_or(line.text);
        let (mild, body) = match body.strip_prefix("[ERROR] ") {
            Some(rest) => (false, rest),
            None => match body
                .strip_prefix("[WARN] ")
                .or_else(|| body.strip_prefix("[INFO] "))
            {
                Some(rest) => (true, rest),
                None => (false, body),
            },
        };
        let Some((place, rest)) = place_at_start(body) else {
            return false;
        };
        let message = rest.trim_start_matches(':').trim();
        let mine =
            checked.is_some() || (place.column.is_some() && has_extension(&place.path, &["kt", "kts"]));
        if !mine || message.is_empty() {
            return false;
        }
        if mild || self == Self::Running || message.starts_with("warning: ") {
            report.warn("style", Some(place), line);
        } else {
            report.fail(Finding::new(Kind::Lint, message, line).at(place));
        }
        true
    }
}
