//! RSpec: numbered failures, pending examples that look like failures, errors outside of examples.
//!
//! Written from real runs of RSpec 3.12 and 3.13; Haskell's hspec, which prints the same with the place above the number,
//! seen in runs that its users posted. Under `Pending:` nothing has failed; under `Failures:` each
//! number has.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, has_extension, leading_number, number_before, place, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "rspec",
    tools: "rspec, hspec",
    recognises: "failed examples with message and place, pending ones told apart, errors outside of examples, the sum",
    version: "RSpec 3.13",
    triggers: &[
        "Failures:",
        "Pending:",
        "An error occurred while loading",
        "An error occurred in a",
        " examples, ",
        " example, ",
        "Failed examples:",
        "rspec ./",
        "Failure/Error:",
        " (FAILED - ",
        " (PENDING: ",
        "Finished in ",
    ],
    reader: || Box::<Rspec>::default(),
};

#[derive(Debug, Default)]
struct Rspec {
    part: Part,
    open: Option<Open>,
    /// hspec's place of the failure whose number comes next.
    place: Option<Location>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Outside,
    Pending,
    Failures,
    Loading,
    List,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    name: String,
    statement: Option<String>,
    message: Vec<(u64, String)>,
    /// The class and the message of the exception that is named as the cause last.
    cause: Option<(u64, String)>,
}

impl Reader for Rspec {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(step) = self.marks(line, report) {
            return step;
        }
        // The documentation's form marks each example where it stands.
        let marked = || {
            [" (FAILED - ", " (PENDING: "]
                .iter()
                .any(|mark| line.text.has(mark))
        };
        if self.part == Part::Outside && line.text.ends_with(')') && marked() {
            return Step::Take;
        }
        match self.part {
            Part::Pending => Step::Hold,
            Part::Failures => self.failure(line, report),
            Part::Loading => self.loading(line),
            Part::List if line.is_blank() || line.text.starts_with("rspec ") => Step::Hold,
            _ => self.outside(line),
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// hspec's `  test/DepthSpec.hs:12:21:`.
fn spec_place(line: &Line<'_>) -> Option<Location> {
    let (place, rest) = place(line.body())?;
    (rest == ":" && line.indent() == 2 && has_extension(place.path, &["hs"])).then(|| place.location())
}

impl Rspec {
    fn marks(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        let part = if text == "Failures:" {
            Part::Failures
        } else if text.starts_with("Pending: (Failures listed here are expected") {
            Part::Pending
        } else if text.starts_with("Failed examples:") {
            Part::List
        } else if text.starts_with("An error occurred while loading ")
            || text.starts_with("An error occurred in a")
        {
            self.close(report);
            self.open = Some(Open::loading(line));
            Part::Loading
        } else if (text.starts_with("Finished in ") && text.has("(files took")) || sum(line, report) {
            Part::Outside
        } else {
            return None;
        };
        if part != Part::Loading {
            self.close(report);
        }
        self.part = part;
        Some(if part == Part::Outside {
            Step::Take
        } else {
            Step::Hold
        })
    }

    /// `  1) Hoard sorts shiny first` and what stands under it.
    fn failure(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let numbered = leading_number(line.body())
            .and_then(|(_, rest)| rest.strip_prefix(") "))
            .filter(|_| line.indent() <= 4);
        if let Some(name) = numbered {
            self.close(report);
            let mut open = Open::new(name, line);
            open.finding.location = self.place.take();
            self.open = Some(open);
        } else if let Some(place) = spec_place(line) {
            self.close(report);
            self.place = Some(place);
        } else if let Some(open) = &mut self.open {
            open.line(line);
        }
        Step::Hold
    }

    fn loading(&mut self, line: &Line<'_>) -> Step {
        if let Some(open) = &mut self.open {
            open.line(line);
        }
        Step::Hold
    }

    /// A line an example printed that quotes RSpec's own words, and the words around the dots.
    fn outside(&mut self, line: &Line<'_>) -> Step {
        self.part = Part::Outside;
        let dots = line
            .text
            .split("Failure/Error:")
            .next()
            .is_some_and(|start| !start.is_empty() && start.bytes().all(|byte| b".F*E".contains(&byte)));
        if dots { Step::Take } else { Step::Pass }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(open) = self.open.take() {
            report.fail(open.close());
        }
    }
}

impl Open {
    fn new(name: &str, line: &Line<'_>) -> Self {
        let finding =
            Finding::new(Kind::Test, name, line)
                .of(name)
                .known_as(joined!["rspec ", line.number, " ", name]);
        Self {
            finding,
            name: name.to_owned(),
            statement: None,
            message: Vec::new(),
            cause: None,
        }
    }

    fn loading(line: &Line<'_>) -> Self {
        let name = line
            .text
            .past("An error occurred ")
            .before(" - ")
            .trim_end_matches('.')
            .to_owned();
        let finding = Finding::new(Kind::Configure, &name, line);
        Self {
            finding,
            name,
            statement: None,
            message: Vec::new(),
            cause: None,
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        if let Some(place) = body.strip_prefix("# ") {
            self.caused(place, line);
            if self.finding.location.is_none() {
                self.finding.location = place_at_start(place)
                    .map(|(location, _)| location)
                    .filter(|location| !location.path.has("/gems/"));
            }
        } else if let Some(statement) = body.strip_prefix("Failure/Error:") {
            self.statement = Some(statement.trim().to_owned());
            self.finding.quote(line);
        } else if !line.is_blank() && self.statement.is_some() && self.finding.location.is_none() {
            self.message.push((line.number, body.to_owned()));
            self.message.truncate(limits::EXPLAIN);
            self.finding.quote(line);
        }
    }

    /// `# --- Caused by: ---`, and under it `# Errno::ENOSPC:` and `#   No space left on device`.
    fn caused(&mut self, text: &str, line: &Line<'_>) {
        if text.starts_with("--- Caused by: ---") {
            self.cause = Some((line.number, String::new()));
        } else if let Some((number, cause)) = &mut self.cause {
            let class = cause.is_empty() && text.ends_with(':');
            let message = cause.ends_with(':') && text.starts_with("  ");
            if class || message {
                *number = line.number;
                let said = joined![*cause, if class { "" } else { " " }, text.trim()];
                *cause = said;
                self.finding.quote(line);
            }
        }
    }

    /// The root is the sentence after `SomeError:`, or the two sides of an expectation.
    fn close(mut self) -> Finding {
        let header = self
            .message
            .iter()
            .position(|(_, text)| text.ends_with("Error:") || text.ends_with("Exception:"));
        let sides: Vec<_> = self
            .message
            .iter()
            .filter(|(_, text)| text.starts_with("expected") || text.starts_with("got:"))
            .collect();
        let said = match header.and_then(|at| Some((self.message.get(at)?, self.message.get(at + 1)?))) {
            Some((error, sentence)) => {
                self.finding.lines = crate::digest::Span::line(sentence.0);
                Some(joined![error.1, " ", sentence.1])
            }
            None => sides.first().zip(sides.last()).map(|(first, last)| {
                self.finding.lines = crate::digest::Span {
                    first: first.0,
                    last: last.0,
                };
                sides
                    .iter()
                    .map(|(_, text)| text.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            }),
        };
        let said = said
            .or_else(|| self.message.first().map(|(_, text)| text.clone()))
            .or(self.statement);
        if let Some(said) = said {
            // Examples that share a broken hook fail at its place with its words.
            let place = self.finding.location.as_ref();
            let reason = self.cause.filter(|(_, cause)| !cause.is_empty());
            let said = match reason {
                Some((number, cause)) => {
                    let surfaced = joined![" (surfaced as ", said, ", L", self.finding.lines.first, ")"];
                    self.finding.lines = crate::digest::Span::line(number);
                    self.finding.cause = place.map(|place| joined![place, " ", cause]);
                    self.finding.retitle(joined![self.name, ": ", cause, surfaced]);
                    return self.finding;
                }
                None => said,
            };
            self.finding.cause = place.map(|place| joined![place, " ", said]);
            self.finding.retitle(joined![self.name, ": ", said]);
        }
        self.finding
    }
}

/// `6 examples, 2 failures, 2 pending`, and `1 error occurred outside of examples`.
fn sum(line: &Line<'_>, report: &mut Report) -> bool {
    if !line.text.starts_with(|first: char| first.is_ascii_digit()) || !line.text.has(" example") {
        return false;
    }
    let number =
        |one: &str, many: &str| number_before(line.text, many).or_else(|| number_before(line.text, one));
    let (Some(examples), Some(failures)) = (number("example", "examples"), number("failure", "failures"))
    else {
        return false;
    };
    let errors = number("error occurred outside", "errors occurred outside").unwrap_or(0);
    let mut counts = vec![("examples", examples), ("failures", failures)];
    counts.extend(number_before(line.text, "pending").map(|pending| ("pending", pending)));
    if errors > 0 {
        counts.push(("errors outside of examples", errors));
    }
    report.set_tally("rspec", &counts, line);
    if failures + errors > 0 {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
    true
}
