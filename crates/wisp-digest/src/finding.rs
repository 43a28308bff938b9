//! A failure as a reader states it.

use std::borrow::Cow;

use crate::block::trimmed;
use crate::digest::{Kind, Location, Quote, Span};
use crate::hashing::{hash, hash_placed};
use crate::limits;
use crate::line::{Line, Place, cut, without_indent};

/// A failure as a reader states it, before copies and causes are looked at.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub kind: Kind,
    pub title: String,
    pub subject: Option<String>,
    pub location: Option<Location>,
    pub lines: Span,
    pub explain: Vec<Quote>,
    /// Two findings of one cause have one key; none when the finding stands for itself.
    pub cause: Option<String>,
    /// Two prints of one finding have one key; by default its title and location.
    pub copy: Option<String>,
    /// Whether it goes under an earlier finding of its cause even when it comes first.
    pub secondary: bool,
    /// Whether it will only be counted, so that nothing need explain it.
    pub counted: bool,
}

impl Finding {
    /// A failure stated by this line.
    pub(crate) fn new<'a>(kind: Kind, title: impl Into<Cow<'a, str>>, line: &Line<'_>) -> Self {
        Self {
            kind,
            title: titled(title.into()),
            subject: None,
            location: None,
            lines: line.span(),
            explain: Vec::new(),
            cause: None,
            copy: None,
            secondary: false,
            counted: false,
        }
    }

    /// Says it in other words, of at most [`limits::TITLE`] bytes.
    pub(crate) fn retitle<'a>(&mut self, text: impl Into<Cow<'a, str>>) {
        match text.into() {
            Cow::Borrowed(text) => {
                cut(trimmed(without_indent(text)), limits::TITLE).clone_into(&mut self.title);
            }
            owned @ Cow::Owned(_) => self.title = titled(owned),
        }
    }

    /// Names where to look.
    pub(crate) fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// Names the test, target or module that failed.
    pub(crate) fn of(mut self, subject: &str) -> Self {
        self.subject = Some(cut(subject, limits::TITLE).to_owned());
        self
    }

    /// Gives the key of its cause.
    pub(crate) fn because(mut self, cause: Option<String>) -> Self {
        self.cause = cause;
        self
    }

    /// Gives the key under which a copy is known.
    pub(crate) fn known_as(mut self, copy: impl Into<String>) -> Self {
        self.copy = Some(copy.into());
        self
    }

    /// Keeps nothing that explains it when the list is full already. It has a key of its own and no cause.
    pub(crate) fn counted_when(mut self, full: bool) -> Self {
        self.counted = full;
        self
    }

    /// Adds an explaining line, and stretches the root lines over it.
    pub(crate) fn add(&mut self, line: &Line<'_>) {
        if line.is_blank() {
            return;
        }
        self.lines.reach(line.number);
        self.quote(line);
    }

    /// Adds an explaining line that is not among the root lines.
    pub(crate) fn quote(&mut self, line: &Line<'_>) {
        if !self.counted && self.explain.len() < limits::EXPLAIN && !line.is_blank() {
            if self.explain.is_empty() {
                self.explain.reserve(limits::EXPLAIN / 2);
            }
            self.explain.push(line.quote());
        }
    }

    /// The hash under which a copy is known.
    pub(crate) fn copy_key(&self) -> Option<u64> {
        match (&self.copy, &self.location) {
            (Some(copy), _) => Some(hash(copy)),
            (None, Some(location)) => Some(hash_placed(&self.title, Place::of(location))),
            (None, None) => None,
        }
    }
}

/// A text as a title, copied only where it must be.
fn titled(text: Cow<'_, str>) -> String {
    let body = without_indent(&text);
    let kept = cut(trimmed(body), limits::TITLE).len();
    match text {
        Cow::Owned(mut text) if body.len() == text.len() && text.len() <= limits::TITLE => {
            text.truncate(kept);
            text
        }
        text => without_indent(&text)[..kept].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::Finding;
    use crate::digest::Kind;
    use crate::line::Line;

    #[test]
    fn what_is_only_counted_keeps_nothing_that_explains_it() {
        let line = |number| Line {
            number,
            text: "not ok",
        };
        for full in [false, true] {
            let mut finding = Finding::new(Kind::Test, "a test", &line(1)).counted_when(full);
            finding.add(&line(2));
            assert_eq!(
                (finding.explain.len(), finding.lines.last),
                (usize::from(!full), 2)
            );
        }
    }

    #[test]
    fn a_title_is_trimmed_and_cut_whether_it_is_made_for_the_finding_or_not() {
        let line = Line { number: 1, text: "x" };
        let long = "é".repeat(201);
        for (text, title) in [
            ("  a b \u{2003}", "a b"),
            ("a", "a"),
            (" \t", ""),
            (long.as_str(), &long[..400]),
        ] {
            for finding in [
                Finding::new(Kind::Test, text, &line),
                Finding::new(Kind::Test, text.to_owned(), &line),
            ] {
                assert_eq!(finding.title, title, "{text:?}");
                let mut again = finding;
                again.retitle(text);
                assert_eq!(again.title, title, "{text:?}");
                again.retitle(text.to_owned());
                assert_eq!(again.title, title, "{text:?}");
            }
        }
    }
}
