//! tasty's tree of tests: `name:   FAIL (0.02s)`, and deeper than it what went wrong.

use crate::digest::{Kind, Location, Quote};
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, cut, has_extension, leading_number, number_before, place_at_start};
use crate::reader::Step;
use crate::report::{Finding, Report};

#[derive(Debug, Default)]
pub(super) struct Tasty {
    /// A line that ends as a failed test's does. The next one, deeper, will say so.
    maybe: Option<Open>,
    open: Option<Open>,
    tree: Tree,
}

/// Where the tree of a running suite is, so that a passing test may be called anything.
#[derive(Debug, Default)]
enum Tree {
    #[default]
    None,
    /// Between two tests, or under one that passed, which stands this deep.
    At(usize),
    /// After what is the name of a group if the next line stands deeper.
    Group(usize, Quote),
}

#[derive(Debug)]
struct Open {
    indent: usize,
    name: String,
    quote: Quote,
    finding: Finding,
    said: Option<String>,
    whole: bool,
}

impl Tasty {
    pub(super) fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(open) = self.maybe.take() {
            if !line.is_blank() && line.indent() > open.indent {
                self.open = Some(open);
            } else {
                report.unclaimed(&Line {
                    number: open.quote.line,
                    text: &open.quote.text,
                });
            }
        }
        if let Some(open) = self.open.as_mut() {
            if line.indent() > open.indent && !line.is_blank() {
                open.line(line);
                return Some(Step::Hold);
            }
            self.close(report);
        }
        if let Some(name) = result(line.text, " FAIL") {
            self.maybe = Some(Open::new(name, line));
            if !matches!(self.tree, Tree::None) {
                self.tree = Tree::At(line.indent());
            }
            return Some(Step::Try);
        }
        if sum(line, report) {
            self.tree = Tree::None;
            return Some(Step::Take);
        }
        self.tree(line, report)
    }

    /// A suite begins to run.
    pub(super) fn begin(&mut self) {
        self.tree = Tree::At(0);
    }

    /// A line of the tree that tells of no failure.
    fn tree(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let indent = line.indent();
        let passed = result(line.text, " OK").is_some();
        match std::mem::take(&mut self.tree) {
            Tree::None => return None,
            Tree::Group(above, quote) if indent <= above => {
                report.unclaimed(&Line {
                    number: quote.line,
                    text: &quote.text,
                });
                return None;
            }
            Tree::At(above) if line.is_blank() || (indent > above && above > 0 && !passed) => {
                self.tree = Tree::At(above);
            }
            _ if passed => self.tree = Tree::At(indent),
            _ if is_other(line.text) => return None,
            _ => self.tree = Tree::Group(indent, line.quote()),
        }
        Some(Step::Hold)
    }

    pub(super) fn close(&mut self, report: &mut Report) {
        if let Some(mut open) = self.open.take() {
            if let Some(said) = &open.said {
                open.finding.retitle(joined![open.name, ": ", said]);
            }
            report.fail(open.finding);
        }
    }
}

/// The name in `    rounds half to even:   FAIL (0.02s)`.
fn result<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_end_matches(' ');
    let text = text
        .strip_suffix("s)")
        .and_then(|rest| rest.last_part_at(" ("))
        .filter(|(_, time)| time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
        .map_or(text, |(rest, _)| rest);
    let name = text.strip_suffix(word)?.trim_end_matches(' ').strip_suffix(':')?;
    let name = name.trim_start_matches(' ');
    (!name.is_empty() && !name.starts_with("Test suite ")).then_some(name)
}

/// What no group is called: a message, a place, hspec's `reads [✔]`.
fn is_other(text: &str) -> bool {
    text.has(": ") || text.has(".hs:") || text.ends_with([':', ']'])
}

impl Open {
    fn new(name: &str, line: &Line<'_>) -> Self {
        let name = cut(name, limits::QUOTE);
        Self {
            indent: line.indent(),
            name: name.to_owned(),
            quote: line.quote(),
            finding: Finding::new(Kind::Test, name, line).of(name).known_as(joined![
                "tasty ",
                line.number,
                " ",
                name
            ]),
            said: None,
            whole: false,
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        // How to run it again.
        if body.starts_with("Use -") || body.starts_with("Use '-") {
            return;
        }
        self.finding.add(line);
        if let Some(location) = place(body) {
            self.finding.location.get_or_insert(location);
        } else if body.starts_with("expected: ") || body.starts_with("*** Failed!") {
            // The steps of a test are printed before what went wrong with it.
            self.said = Some(cut(body, limits::QUOTE).to_owned());
            self.whole = body.starts_with("***");
        } else if let Some(got) = body.strip_prefix("but got: ").filter(|_| !self.whole) {
            if let Some(said) = &mut self.said {
                said.push_str(", but got: ");
                said.push_str(cut(got, limits::QUOTE));
            }
            self.whole = true;
        } else if self.said.is_none() {
            self.said = Some(cut(body, limits::QUOTE).to_owned());
        }
    }
}

/// `test/Tern/DepthTest.hs:41:`, and a call stack's `error, called at src/Tern/Depth.hs:19:7 in …`.
fn place(body: &str) -> Option<Location> {
    let called = body.part_at(", called at ");
    let (location, rest) = place_at_start(called.map_or(body, |(_, place)| place))?;
    let ends = called.is_some() || matches!(rest, "" | ":");
    (ends && has_extension(&location.path, &["hs", "lhs"])).then_some(location)
}

/// `2 out of 5 tests failed (0.25s)` and `All 5 tests passed (0.06s)`.
fn sum(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.text;
    if !text.ends_with("s)") {
        return false;
    }
    if text.starts_with("All ") && text.has(" tests passed (") {
        let Some(tests) = number_before(text, "tests") else {
            return false;
        };
        report.set_tally("tasty", &[("tests", tests), ("failed", 0)], line);
        report.succeeded(line);
        return true;
    }
    let counted = leading_number(text)
        .and_then(|(failed, rest)| Some((failed, leading_number(rest.strip_prefix(" out of ")?)?)));
    match counted {
        Some((failed, (tests, rest))) if rest.starts_with(" tests failed (") => {
            report.set_tally("tasty", &[("tests", tests), ("failed", failed)], line);
            report.failed(line);
            true
        }
        _ => false,
    }
}
