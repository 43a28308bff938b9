//! Sanitizers and valgrind: what is wrong, where, and who freed or allocated it.
//!
//! Written from real runs of gcc 12's and 14's AddressSanitizer, ThreadSanitizer, `LeakSanitizer` and
//! `UndefinedBehaviorSanitizer`, and valgrind 3.24; clang's print the same. The shadow bytes after the summary are
//! not needed.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, cut, place_at_start, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "sanitizer",
    tools: "AddressSanitizer, ThreadSanitizer, LeakSanitizer, MemorySanitizer, UBSan, valgrind",
    recognises: "the kind of fault, the first own frame, the frames that freed and allocated",
    version: "gcc 14, valgrind 3.24",
    triggers: &[
        "Sanitizer",
        "==ERROR:",
        "runtime error: ",
        "== Invalid ",
        "== Memcheck",
        "ERROR SUMMARY:",
        "definitely lost",
        "== Conditional jump",
        "== For lists of",
        "==ABORTING",
        "Shadow byte",
    ],
    reader: || Box::<Sanitizer>::default(),
};

#[derive(Debug, Default)]
struct Sanitizer {
    open: Option<Open>,
    shadow: bool,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    /// Whether the own frame of the current stack has been told.
    told: bool,
    /// Frames of the first stack told.
    frames: u32,
    first: bool,
    valgrind: bool,
}

impl Reader for Sanitizer {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if self.shadow {
            self.shadow = !text.ends_with("==ABORTING");
            return if self.shadow
                && (text.starts_with("  ") || text.starts_with("=>") || text.starts_with("Shadow"))
            {
                Step::Hold
            } else {
                self.after(text)
            };
        }
        if let Some(fault) = fault(text) {
            self.close(report);
            self.open = Some(Open::new(fault, line));
            return Step::Hold;
        }
        if self.open.is_some() {
            return self.inside(line, report);
        }
        if let Some((location, rest)) =
            place_at_start(text).filter(|(_, rest)| rest.starts_with(": runtime error: "))
        {
            let message = rest.past(": ");
            let cause = place_key(&location);
            report.fail(
                Finding::new(Kind::Crash, message, line)
                    .at(location)
                    .because(Some(cause)),
            );
            return Step::Take;
        }
        stray(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// What a line says is wrong.
fn fault(text: &str) -> Option<&str> {
    if !text.starts_with("==") && !text.starts_with("WARNING: ThreadSanitizer: ") {
        return None;
    }
    if let Some((_, rest)) = text.part_at("==ERROR: ") {
        return Some(rest);
    }
    if let Some(rest) = text
        .strip_prefix("WARNING: ThreadSanitizer: ")
        .or_else(|| text.part_at("==WARNING: ").map(|(_, rest)| rest))
    {
        return Some(rest);
    }
    let (_, rest) = text.strip_prefix("==")?.part_at("== ")?;
    let valgrind = [
        "Invalid read",
        "Invalid write",
        "Invalid free",
        "Conditional jump",
        "Use of uninitialised",
        "Mismatched free",
        "Process terminating",
    ];
    let lost = rest.has(" definitely lost in loss record ");
    (lost || valgrind.iter().any(|start| rest.starts_with(start))).then_some(rest)
}

impl Sanitizer {
    fn inside(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.starts_with("SUMMARY: ") || (text.starts_with("==") && states(text, "ERROR SUMMARY: ")) {
            self.close(report);
            report.failed(line);
            report.cascade(line);
            self.shadow = text.has("AddressSanitizer: ") && !text.has("leaked");
            return if self.shadow { Step::Hold } else { Step::Take };
        }
        let Some(open) = &mut self.open else {
            return Step::Pass;
        };
        if open.valgrind && text.ends_with("== ") | text.ends_with("==") {
            self.close(report);
            return Step::Take;
        }
        open.line(line);
        Step::Hold
    }

    fn after(&mut self, text: &str) -> Step {
        self.shadow = false;
        if text.ends_with("==ABORTING") {
            Step::Take
        } else {
            Step::Pass
        }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(mut open) = self.open.take() {
            let lost = open.finding.title.has(" lost in loss record ");
            let place = open.finding.location.as_ref().filter(|_| !lost);
            open.finding.cause = place.map(place_key);
            report.fail(open.finding);
        }
    }
}

/// Two faults told of one line, by whatever path, have one cause.
fn place_key(location: &Location) -> String {
    let name = location.path.rsplit(['/', '\\']).next().unwrap_or(&location.path);
    joined![name, ":", location.line.unwrap_or(0)]
}

/// The sums of a report whose beginning is not in the input, and those that find nothing.
fn stray(line: &Line<'_>, report: &mut Report) -> Step {
    let text = line.text;
    if text.has("== Memcheck, ")
        || text.has("ERROR SUMMARY: 0 errors")
        || text.has("== For lists of detected and suppressed errors")
        || text.ends_with("==ABORTING")
    {
        return Step::Take;
    }
    if text.starts_with("SUMMARY: ") && text.has("Sanitizer") || states(text, "ERROR SUMMARY: ") {
        report.failed(line);
        report.cascade(line);
        return Step::Take;
    }
    Step::Pass
}

impl Open {
    fn new(fault: &str, line: &Line<'_>) -> Self {
        let title = fault.before(" at pc ");
        let valgrind = !fault.has("Sanitizer") && line.text.starts_with("==") && !line.text.has("ERROR");
        Self {
            finding: Finding::new(Kind::Crash, title, line),
            told: false,
            frames: 0,
            first: true,
            valgrind,
        }
    }

    /// A stack's heading, or one of its frames.
    fn line(&mut self, line: &Line<'_>) {
        let body = line
            .text
            .strip_prefix("==")
            .and_then(|rest| rest.part_at("== "))
            .map_or(line.body(), |(_, rest)| rest.trim_start());
        if let Some(own) = own_frame(body) {
            self.frame(own, line);
            return;
        }
        let heading = [
            "freed by",
            "previously allocated",
            "allocated by",
            "Previous ",
            "Direct leak",
            "Indirect leak",
            "READ of",
            "WRITE of",
            "Write of",
            "Read of",
            "  Read",
            "  Write",
        ];
        let may = body.starts_with(['f', 'p', 'a', 'P', 'D', 'I', 'R', 'W']);
        if may && heading.iter().any(|start| body.starts_with(start.trim_start())) {
            self.told = false;
            if self.finding.location.is_some() {
                self.first = false;
            }
            self.frames = 0;
            self.finding.quote(line);
        }
    }

    /// The own frame of each stack, and who called it in the first.
    fn frame(&mut self, own: (Location, &str), line: &Line<'_>) {
        if self.frames >= 2 {
            return;
        }
        self.frames += 1;
        let (location, function) = own;
        if self.finding.location.is_none() {
            self.finding.location = Some(location);
            self.finding.subject = Some(cut(function, crate::limits::QUOTE).to_owned());
        }
        self.finding.quote(line);
    }
}

/// `#0 0x5632276de273 in use /srv/nudi/slug.c:6` and valgrind's `at 0x10915E: use (slug.c:6)`.
fn own_frame(body: &str) -> Option<(Location, &str)> {
    const FOREIGN: &[&str] = &[
        "libsanitizer",
        "compiler-rt",
        "sysdeps/",
        "/csu/",
        "vg_replace_malloc",
        "/usr/include",
        "/usr/lib",
        "nptl/",
    ];
    if !body.starts_with(['#', 'a', 'b']) || FOREIGN.iter().any(|part| body.has(part)) {
        return None;
    }
    if body.starts_with('#') {
        let rest = body.part_at(" in ").map_or_else(
            || body.halves(b' ').map_or("", |(_, rest)| rest),
            |(_, rest)| rest,
        );
        let (function, place) = rest
            .part_at(" /")
            .map(|(function, _)| (function, &rest[function.len() + 1..]))
            .or_else(|| rest.rsplit_once(' '))?;
        let (location, _) = place_at_start(place)?;
        return Some((location, function));
    }
    let rest = body.strip_prefix("at ").or_else(|| body.strip_prefix("by "))?;
    let (_, rest) = rest.part_at(": ")?;
    let (function, inside) = rest.last_part_at(" (")?;
    let (location, _) = place_at_start(inside.trim_end_matches(')'))?;
    Some((location, function))
}
