//! Python tracebacks, chained or not.
//!
//! Written from real runs of Python 3.11 and 3.13. Of a chain the last exception is the failure and the first is
//! told with it; in between, the digest follows the words Python puts between them.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, cut, leading_number};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "python",
    tools: "CPython, PyPy",
    recognises: "uncaught exceptions with the innermost own frame; a chain is one failure, told by its last and its first; wrong arguments",
    version: "Python 3.13",
    triggers: &[
        "Traceback (most recent call last)",
        "Exception Group Traceback",
        "Fatal Python error: ",
        "  File \"",
        "SyntaxError: ",
        "IndentationError: ",
        "can't open file",
        "usage: ",
        "The above exception was",
        "During handling of the above",
    ],
    reader: || Box::<Python>::default(),
};

#[derive(Debug, Default)]
struct Python {
    open: Option<Chain>,
    /// The program whose usage argparse prints, for the error that comes after it.
    usage: Option<String>,
    /// The chain told last, the number of its last line and its key: the message may have gone on after an empty line.
    told: Option<(Chain, u64, String)>,
    /// The interpreter's own death, whose frames come next.
    fatal: Option<Finding>,
}

#[derive(Debug, Default, Clone)]
struct Chain {
    state: State,
    frame: Option<Location>,
    /// The blanks before its heading, which stand before its exception too.
    indent: usize,
    /// Whether the lines have the margin of an exception group.
    group: bool,
    /// Whether its heading was cut off: then only what is named like an exception is one.
    cut: bool,
    /// Each exception: its line, its text, the frame it was raised in.
    exceptions: Vec<(u64, String, Option<Location>)>,
    /// Whether the exception that comes next surfaced for the one before it, in a group.
    links: bool,
    /// Under which key it has been told, where its message went on after an empty line.
    told: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In the frames.
    #[default]
    Frames,
    /// After an exception.
    After,
    /// After the words that announce another.
    Announced,
}

impl Reader for Python {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(finding) = self.fatal.take() {
            return self.dying(finding, line, report);
        }
        if let Some(open) = &mut self.open {
            let step = if open.group {
                open.member(line)
            } else {
                open.line(line)
            };
            match step {
                Some(step) => return step,
                None => self.close(report),
            }
        }
        if let Some(step) = self.usage(line, report) {
            return step;
        }
        if is_link(line.body()) && self.resumes(line, report) {
            return Step::Hold;
        }
        if line.text.starts_with("Fatal Python error: ") {
            self.fatal = Some(Finding::new(Kind::Crash, line.text, line));
            return Step::Hold;
        }
        if line.body().starts_with("+ Exception Group Traceback") {
            self.open = Some(Chain {
                group: true,
                ..Chain::default()
            });
            return Step::Hold;
        }
        if line.body() == "Traceback (most recent call last):" {
            self.open = Some(Chain {
                indent: line.indent(),
                ..Chain::default()
            });
            return Step::Hold;
        }
        if let Some(frame) =
            frame(line.body()).filter(|_| line.text.starts_with("  File \"") && !line.text.has(" in "))
        {
            // A syntax error has no traceback, only the place.
            self.open = Some(Chain {
                frame: Some(frame),
                ..Chain::default()
            });
            return Step::Hold;
        }
        if self.headless(line) {
            return Step::Hold;
        }
        let missing = line.text.part_at(": can't open file '");
        if missing.is_some_and(|(name, rest)| !name.contains([' ', '"']) && rest.has("[Errno ")) {
            report.fail(Finding::new(Kind::Tool, line.text, line));
            return Step::Take;
        }
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        if let Some(finding) = self.fatal.take() {
            report.fail(finding);
        }
        self.close(report);
    }
}

/// How many lines of a message may stand between an exception and the words that announce the next.
const MESSAGE: u64 = 24;

/// How far into the input a traceback may be one whose heading has been cut off.
const CUT: u64 = 40;

/// `gauge.GaugeError: bad depth`: an exception's name, with or without its message.
fn is_exception(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or("");
    let last = name.rsplit('.').next().unwrap_or(name);
    !name.contains(' ')
        && last.starts_with(|first: char| first.is_ascii_uppercase())
        && ["Error", "Exception", "Exit", "Interrupt"]
            .iter()
            .any(|end| last.ends_with(end))
}

impl Python {
    /// What follows the interpreter's own death: the frame it died in, if there is one.
    fn dying(&mut self, mut finding: Finding, line: &Line<'_>, report: &mut Report) -> Step {
        finding.location = frame(line.body());
        let more =
            line.is_blank() || line.text.has("thread 0x") || line.text.starts_with("Python runtime state");
        if more && finding.location.is_none() {
            self.fatal = Some(finding);
            return Step::Hold;
        }
        report.fail(finding);
        if line.indent() > 0 { Step::Take } else { Step::Pass }
    }

    /// argparse's `usage: prog [options]`, whose last line is `prog: error: unrecognized arguments: --x`.
    fn usage(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(program) = self.usage.take() {
            let said = line.text.strip_prefix(program.as_str());
            if said.is_some_and(|said| said.starts_with(": error: ") || said.has(": error: argument")) {
                report.fail(Finding::new(Kind::Tool, line.text, line));
                return Some(Step::Take);
            }
            if line.indent() > 0 {
                self.usage = Some(program);
                return Some(Step::Hold);
            }
            return None;
        }
        let usage = line
            .text
            .strip_prefix("ERROR: ")
            .unwrap_or(line.text)
            .strip_prefix("usage: ")?;
        let program = usage.split(' ').next().filter(|program| !program.is_empty())?;
        self.usage = Some(program.to_owned());
        Some(Step::Try)
    }

    /// The frames of a traceback whose heading is not in the input.
    fn headless(&mut self, line: &Line<'_>) -> bool {
        let Some(frame) = frame(line.body())
            .filter(|_| line.number < CUT && line.text.starts_with("  File \"") && line.text.has(", in "))
        else {
            return false;
        };
        self.open = Some(Chain {
            frame: Some(frame),
            cut: true,
            ..Chain::default()
        });
        true
    }
}

impl Python {
    /// Whether these words go on with the chain told last: what stands between was its exception's message.
    fn resumes(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let near = |(_, last, _): &mut (Chain, u64, String)| line.number - *last <= MESSAGE;
        let Some((mut chain, last, key)) = self.told.take_if(near) else {
            return false;
        };
        (last..line.number).for_each(|within| report.unknowns.forget(within));
        chain.state = State::Announced;
        chain.told = Some(key);
        self.open = Some(chain);
        true
    }
}

impl Chain {
    /// What the line is to the chain; none when the chain has ended before it.
    fn line(&mut self, line: &Line<'_>) -> Option<Step> {
        match self.state {
            State::Frames if self.cut && line.indent() == 0 && !is_exception(line.text) => return None,
            // A traceback in a docstring has dots in place of frames.
            State::Frames if self.frame.is_none() && !line.is_blank() && line.indent() <= self.indent => {
                return None;
            }
            State::Frames => self.in_frames(line),
            State::After | State::Announced if line.is_blank() => {}
            State::After if is_link(line.body()) => self.state = State::Announced,
            State::Announced if line.body().starts_with("Traceback (most") => self.state = State::Frames,
            _ => return None,
        }
        Some(Step::Hold)
    }

    /// A line of an exception group: what stands right of the margin.
    fn member(&mut self, line: &Line<'_>) -> Option<Step> {
        let body = line.body();
        if body.starts_with("+-") || body.starts_with("+ Exception Group") {
            self.state = State::Frames;
            return Some(Step::Hold);
        }
        let inside = body.strip_prefix('|')?;
        let inside = match inside.strip_prefix([' ', '\t']) {
            Some(inside) => inside,
            None if inside.is_empty() => inside,
            None => return None,
        };
        match self.state {
            _ if inside.starts_with("Traceback (most") => {
                self.links |= self.state == State::Announced;
                self.state = State::Frames;
            }
            State::After if is_link(inside) => self.state = State::Announced,
            State::Frames => self.in_frames(&Line {
                number: line.number,
                text: inside,
            }),
            // The message goes on.
            State::After | State::Announced => {}
        }
        Some(Step::Hold)
    }

    fn in_frames(&mut self, line: &Line<'_>) {
        if let Some(frame) = frame(line.body()) {
            let known = self.frame.as_ref().is_some_and(|known| is_own(&known.path));
            if is_own(&frame.path) || !known {
                self.frame = Some(frame);
            }
        } else if !line.is_blank() && line.indent() <= self.indent {
            let text = cut(line.body(), crate::limits::QUOTE).to_owned();
            let exception = (line.number, text, self.frame.take());
            let reason = self.exceptions.last_mut().filter(|_| self.group);
            if let (true, Some(reason)) = (std::mem::take(&mut self.links), reason) {
                reason.1 = joined![reason.1, " (surfaced as ", exception.1, ", L", exception.0, ")"];
                self.state = State::After;
                return;
            }
            if self.exceptions.len() < 8 {
                self.exceptions.push(exception);
            } else {
                self.exceptions[7] = exception;
            }
            self.state = State::After;
        }
    }
}

impl Chain {
    /// A group is told by its first member; the others stand in the title.
    fn group_finding(&self) -> Finding {
        let (number, _, place) = &self.exceptions[1];
        let mut members: Vec<&str> = self.exceptions[1..]
            .iter()
            .map(|(_, text, _)| text.as_str())
            .collect();
        members.dedup_by_key(|text| text.before(" (surfaced as "));
        let title = joined![self.exceptions[0].1, ": ", members.join("; ")];
        let mut finding = Finding::new(
            Kind::Exception,
            &title,
            &Line {
                number: *number,
                text: members[0],
            },
        );
        finding.location = place.clone().or_else(|| self.exceptions[0].2.clone());
        finding.known_as(joined!["traceback ", number])
    }
}

/// The words between the exceptions of a chain.
pub(super) fn is_link(text: &str) -> bool {
    text.starts_with("The above exception was the direct cause")
        || text.starts_with("During handling of the above exception")
}

/// Whether a file is neither of the interpreter's library nor an installed package.
pub(super) fn is_own(path: &str) -> bool {
    !path.has("site-packages")
        && !path.has("dist-packages")
        && !path.has("/lib/python")
        && !path.starts_with('<')
}

/// `File "/srv/job.py", line 18, in settings`.
pub(super) fn frame(body: &str) -> Option<Location> {
    let (path, rest) = body.strip_prefix("File \"")?.part_at("\", line ")?;
    let line = leading_number(rest)?.0;
    Some(Location {
        path: path.to_owned(),
        line: Some(line),
        column: None,
    })
}

impl Python {
    fn close(&mut self, report: &mut Report) {
        let Some(chain) = self.open.take() else { return };
        if chain.group && chain.exceptions.len() > 1 {
            return report.fail(chain.group_finding());
        }
        let Some((number, text, location)) = chain.exceptions.last().cloned() else {
            return;
        };
        let mut finding = Finding::new(Kind::Exception, &text, &Line { number, text: &text });
        finding.location = location;
        let earlier = &chain.exceptions[..chain.exceptions.len() - 1];
        for (at, text, place) in earlier {
            let place = place
                .as_ref()
                .map_or(String::new(), |place| joined![" (", place, ")"]);
            finding.explain.push(crate::digest::Quote {
                line: *at,
                text: joined!["after ", text, place],
            });
        }
        if let Some((at, first, _)) = earlier.first() {
            finding.retitle(joined![text, "; first: ", first, " (L", at, ")"]);
        }
        let place = finding.location.as_ref().map(ToString::to_string);
        let key = joined![
            "traceback ",
            text,
            " ",
            place.unwrap_or_else(|| number.to_string())
        ];
        if let Some(told) = chain.told.as_ref().and_then(|told| report.known(told)) {
            // The last exception is the failure, as in a chain read in one go.
            (told.title, told.location) = (finding.title, finding.location);
            (told.lines, told.explain) = (finding.lines, finding.explain);
        } else {
            report.fail(finding.known_as(&*key));
        }
        let key = chain.told.clone().unwrap_or(key);
        self.told = Some((chain, number, key));
    }
}
