//! Java stack traces: `Exception in thread …`, `Caused by: …`, `... 2 more`.
//!
//! Written from real runs of JDK 17; Kotlin and Scala print the same. The innermost cause is the root, the first
//! frame that is the person's own is the place, and each thread's exception is a failure of its own.

use crate::digest::{Kind, Location, Quote};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, cut};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "java",
    tools: "the JVM's stack traces (Java, Kotlin, Scala)",
    recognises: "uncaught exceptions by thread, the innermost cause, the first own frame",
    version: "JDK 17",
    triggers: &[
        "Exception in thread ",
        "Caused by: ",
        "\tat ",
        "Error occurred during initialization of VM",
    ],
    reader: || Box::<Java>::default(),
};

#[derive(Debug, Default)]
struct Java {
    open: Option<Trace>,
    /// A trace whose last exception had no frame before a line that may be its message's.
    paused: Option<Trace>,
}

/// A trace being read.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    surfaced: (u64, String),
    root: (u64, String),
    /// Its first own frame, and where that is.
    place: Option<(Quote, Location)>,
    thread: Option<String>,
    causes: Vec<Quote>,
    own: bool,
    /// The number of the line that states the exception whose frames are to come: until they do, its message goes on.
    stated: Option<u64>,
    /// The blanks before the suppressed exception being read, whose frames and causes are not the trace's.
    aside: Option<usize>,
}

/// Lines that a message of several may have.
const MESSAGE: u64 = 24;

impl Trace {
    /// A trace whose exception stands on this line.
    pub(super) fn new(text: &str, line: &Line<'_>) -> Self {
        let stated = (line.number, cut(text, crate::limits::QUOTE).to_owned());
        Self {
            surfaced: stated.clone(),
            root: stated,
            place: None,
            thread: None,
            causes: Vec::new(),
            own: false,
            stated: Some(line.number),
            aside: None,
        }
    }

    /// Whether the line may belong to the message of the exception stated last, which has had no frame yet.
    pub(super) fn says(&self, line: u64) -> bool {
        self.stated
            .is_some_and(|stated| line > stated && line - stated <= MESSAGE)
    }

    /// Takes a frame, a cause or an elision. False when the trace has ended.
    pub(super) fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        if let Some(frame) = body.strip_prefix("at ").filter(|_| line.indent() > 0) {
            self.stated = None;
            if self.aside.is_none() {
                self.frame(frame, line);
            }
            return true;
        }
        if body.starts_with("Suppressed: ") {
            self.aside.get_or_insert(line.indent());
            return true;
        }
        if let Some(cause) = body.strip_prefix("Caused by: ") {
            if self.aside.is_some_and(|aside| line.indent() >= aside) {
                return true;
            }
            (self.aside, self.stated) = (None, Some(line.number));
            self.root = (line.number, cut(cause, crate::limits::QUOTE).to_owned());
            self.own = false;
            if self.causes.len() < 8 {
                self.causes.push(line.quote());
            }
            return true;
        }
        // The JVM writes `... 2 more`, Logback `... 2 common frames omitted`.
        let elided = body.ends_with(" more") || body.ends_with(" common frames omitted");
        body.starts_with("... ") && elided
    }

    /// The first own frame of the innermost cause; until there is one, of an outer one.
    fn frame(&mut self, frame: &str, line: &Line<'_>) {
        if !self.own && is_own(frame) {
            self.own = true;
            self.place = place(frame)
                .map(|place| (line.quote(), place))
                .or(self.place.take());
        }
    }

    /// The trace as a failure.
    pub(super) fn finding(self, kind: Kind, subject: Option<&str>) -> Finding {
        let (number, root) = &self.root;
        let whole = if self.surfaced.0 == *number {
            root.clone()
        } else {
            joined![
                root,
                " (surfaced as ",
                self.surfaced.1,
                ", L",
                self.surfaced.0,
                ")"
            ]
        };
        let title = subject.map_or(whole.clone(), |subject| joined![subject, ": ", whole]);
        let mut finding = Finding::new(
            kind,
            &title,
            &Line {
                number: *number,
                text: root,
            },
        );
        finding.subject = subject.or(self.thread.as_deref()).map(str::to_owned);
        finding.explain = self.causes;
        if let Some((frame, place)) = self.place {
            finding.explain.push(frame);
            finding.location = Some(place);
        }
        // Traces that end at one place in one way have one cause.
        finding.cause = finding.location.as_ref().map(|place| joined![place, " ", root]);
        finding
    }
}

/// Not of the JDK, the language's library or a test framework.
fn is_own(frame: &str) -> bool {
    const FOREIGN: &[&str] = &[
        "java.",
        "javax.",
        "jdk.",
        "sun.",
        "com.sun.",
        "java.base/",
        "java.",
        "org.junit.",
        "junit.",
        "org.opentest4j.",
        "org.assertj.",
        "org.hamcrest.",
        "org.mockito.",
        "kotlin.",
        "kotlinx.",
        "scala.",
        "org.apache.maven.",
        "org.gradle.",
        "org.springframework.",
        "app//org.junit",
        "worker.org.gradle",
        "org.testng.",
        "jdk.internal",
    ];
    let name = frame.strip_prefix("app//").unwrap_or(frame);
    !FOREIGN.iter().any(|start| name.starts_with(start))
}

/// `test.grebe.Main.read(Main.java:9)`.
fn place(frame: &str) -> Option<Location> {
    let (_, inside) = frame.halves(b'(')?;
    let (file, line) = inside.trim_end_matches(')').halves(b':')?;
    Some(Location {
        path: file.to_owned(),
        line: line
            .trim_end_matches(|each: char| !each.is_ascii_digit())
            .parse()
            .ok(),
        column: None,
    })
}

impl Reader for Java {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(open) = &mut self.open {
            if open.line(line) {
                return Step::Hold;
            }
            self.paused = self.open.take_if(|open| open.says(line.number));
            self.close(report);
        }
        if self.resumes(line, report) {
            return Step::Hold;
        }
        if let Some((thread, exception)) = in_thread(line.text) {
            let mut trace = Trace::new(exception, line);
            trace.surfaced.1 = joined![exception, " in thread ", thread];
            trace.thread = Some(joined!["thread ", thread]);
            self.open = Some(trace);
            return Step::Hold;
        }
        self.headless(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.open = self.open.take().or(self.paused.take());
        self.close(report);
    }
}

/// `Exception in thread "main" java.lang.IllegalStateException: text`.
fn in_thread(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("Exception in thread \"")?;
    rest.part_at("\" ")
}

impl Java {
    /// Whether the frames or the cause of a paused trace go on here. Where they can no longer, it is told.
    fn resumes(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let Some(mut trace) = self.paused.take() else {
            return false;
        };
        let stated = trace.stated.unwrap_or(line.number);
        if !trace.says(line.number) || in_thread(line.text).is_some() {
            self.open = Some(trace);
            self.close(report);
            return false;
        }
        if !trace.line(line) {
            self.paused = Some(trace);
            return false;
        }
        (stated + 1..line.number).for_each(|within| report.unknowns.forget(within));
        self.open = Some(trace);
        true
    }

    /// A frame or a cause whose exception stood on the line before, in no other words than its name.
    fn headless(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if !line.text.starts_with("\tat ") && !line.text.starts_with("Caused by: ") {
            return Step::Pass;
        }
        // A message may go on for some lines, but not past a frame.
        let above = (line.number.saturating_sub(4)..line.number).rev();
        let stated = above
            .filter_map(|number| report.recent.at(number))
            .take_while(|quote| !quote.text.trim_start().starts_with("at "))
            .find(|quote| is_exception(&quote.text));
        let mut trace = match &stated {
            Some(quote) => Trace::new(
                quote.text.trim(),
                &Line {
                    number: quote.line,
                    text: &quote.text,
                },
            ),
            None if line.text.starts_with("Caused by: ") => Trace::new(line.text, line),
            None => return Step::Pass,
        };
        if let Some(quote) = &stated {
            (quote.line..line.number).for_each(|within| report.unknowns.forget(within));
        }
        trace.line(line);
        self.open = Some(trace);
        Step::Hold
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(trace) = self.open.take() {
            let key = joined!["java trace ", trace.root.0];
            report.fail(trace.finding(Kind::Exception, None).known_as(key));
        }
    }
}

/// `java.lang.IllegalStateException: text`: a qualified name of a throwable.
fn is_exception(text: &str) -> bool {
    let name = text.trim().split([':', ' ']).next().unwrap_or("");
    name.contains('.')
        && (name.ends_with("Exception")
            || name.ends_with("Error")
            || name.ends_with("Throwable")
            || name.ends_with("Failure"))
}

#[cfg(test)]
mod tests {
    use crate::{Digest, Options};

    #[test]
    fn a_chain_goes_on_after_frames_that_logback_left_out() {
        for elided in ["... 12 common frames omitted", "... 12 more"] {
            let log = format!(
                "Exception in thread \"main\" tern.OpenException: no table\n\
                 \tat tern.Table.open(Table.java:9)\n\
                 Caused by: tern.LoadException: not read\n\
                 \tat tern.Load.read(Load.java:12)\n\
                 \t{elided}\n\
                 Caused by: java.io.IOException: disk full\n\
                 \tat tern.Disk.write(Disk.java:7)\n\
                 \t{elided}\n"
            );
            let digest = Digest::of(log.as_bytes(), Options { exit: Some(1) });
            let roots: Vec<u64> = digest
                .failures
                .iter()
                .map(|failure| failure.lines.first)
                .collect();
            assert_eq!(roots, [6], "{elided}");
            assert_eq!(
                digest.failures[0].location.as_ref().and_then(|place| place.line),
                Some(7)
            );
        }
    }
}
