//! Ruby's uncaught exceptions and syntax errors.
//!
//! Written from real runs of Ruby 3.1, and from documentation of 3.4, which quotes names otherwise. The place and the
//! message stand on one line, the class in parentheses after it; `from` lines follow.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "ruby",
    tools: "ruby, rake, bundle exec",
    recognises: "uncaught exceptions with the first own frame, what they were caused by, syntax errors",
    version: "Ruby 3.1",
    triggers: &[":in `", ":in '", ": syntax error, "],
    reader: || Box::<Ruby>::default(),
};

#[derive(Debug, Default)]
struct Ruby {
    open: Option<Finding>,
    /// Whether its frames have begun: source is shown before them only.
    framed: bool,
}

impl Reader for Ruby {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(open) = &mut self.open {
            if let Some(frame) = line.text.strip_prefix("\tfrom ") {
                self.framed = true;
                let known = open.location.as_ref().is_some_and(|place| is_own(&place.path));
                if let Some(place) = place(frame).filter(|place| !known && is_own(&place.path)) {
                    open.location = Some(place);
                }
                return Step::Hold;
            }
            // The cause comes after what it caused.
            if let Some((_, message, class)) = stated(line.text) {
                open.retitle(joined![open.title, "; cause: ", class, ": ", message]);
                open.quote(line);
                return Step::Hold;
            }
            if !self.framed && open.lines.first + 5 > line.number {
                open.quote(line);
                return Step::Lean;
            }
            self.close(report);
        }
        if let Some((place, message, class)) = stated(line.text) {
            let title = joined![class, ": ", message];
            self.open = Some(Finding::new(Kind::Exception, title, line).at(place));
            return Step::Lean;
        }
        if let Some((place, rest)) = crate::line::place(line.text)
            && let Some(message) = rest.strip_prefix(": syntax error, ")
            && !has_extension(place.path, &["php"])
        {
            let title = joined!["SyntaxError: ", message];
            self.open = Some(Finding::new(Kind::Compile, title, line).at(place.location()));
            return Step::Lean;
        }
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Ruby {
    fn close(&mut self, report: &mut Report) {
        self.framed = false;
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// ``t.rb:5:in `depth': key not found: :depth (KeyError)``: the place, the message, the class.
fn stated(text: &str) -> Option<(Location, &str, &str)> {
    let (_, rest) = text.part_at(":in `").or_else(|| text.part_at(":in '"))?;
    let (_, rest) = rest.part_at("': ")?;
    let (message, class) = rest.strip_suffix(')')?.last_part_at(" (")?;
    let named = class.starts_with(|first: char| first.is_ascii_uppercase())
        && class
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_'));
    named.then_some(())?;
    Some((place(text)?, message, class))
}

/// The place before a frame's name; `<internal:…>` is one too.
fn place(text: &str) -> Option<Location> {
    let (before, _) = text.part_at(":in ")?;
    let (path, row) = before.rsplit_once(':')?;
    Some(Location {
        path: path.to_owned(),
        line: Some(row.parse().ok()?),
        column: None,
    })
}

fn is_own(path: &str) -> bool {
    !path.starts_with('<') && !path.has("/gems/") && !path.has("/lib/ruby/")
}
