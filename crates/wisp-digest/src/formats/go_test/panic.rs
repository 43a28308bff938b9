//! A Go panic: its message, and the first frame that is neither the runtime's nor the test harness's.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension, place_at_start};
use crate::report::{Finding, Report};

use super::tree::Tree;

/// A panic being read.
#[derive(Debug)]
pub(super) struct Panic {
    finding: Finding,
    in_test: bool,
    frames: usize,
    /// Whether a goroutine's trace has followed: a program may print the words itself.
    traced: bool,
    /// The first of the tests that ran when the time was up.
    running: Option<String>,
}

impl Panic {
    /// `panic: message` or the runtime's `fatal error: all goroutines are asleep - deadlock!`.
    pub(super) fn start(line: &Line<'_>, in_test: bool) -> Option<Self> {
        let runtime = [
            "all goroutines",
            "concurrent map",
            "stack overflow",
            "out of memory",
            "unexpected signal",
        ];
        let fatal = line
            .text
            .strip_prefix("fatal error: ")
            .is_some_and(|rest| runtime.iter().any(|words| rest.has(words)));
        if !line.text.starts_with("panic: ") && !fatal {
            return None;
        }
        let finding = Finding::new(Kind::Crash, unrecovered(line.text), line);
        Some(Self {
            finding,
            in_test,
            frames: 0,
            traced: fatal,
            running: None,
        })
    }

    /// A line of its trace. False when it turns out that there is none.
    pub(super) fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        self.traced |= body.starts_with("goroutine ");
        if !self.traced {
            if line.text.starts_with("\t\t") && self.running.is_none() {
                self.running = body.split(' ').next().map(str::to_owned);
            }
            return line.is_blank()
                || body.starts_with("panic: ")
                || body.starts_with("[signal ")
                || body.starts_with("running tests:")
                || line.text.starts_with('\t');
        }
        if let Some(location) = frame(line) {
            self.frames += 1;
            if self.finding.location.is_none() {
                self.finding.location = Some(location);
                self.finding.quote(line);
            } else if self.finding.explain.len() < 2 {
                self.finding.quote(line);
            }
        }
        true
    }

    /// The line that claimed to be a panic.
    pub(super) fn claim(&self) -> (u64, &str) {
        (self.finding.lines.first, &self.finding.title)
    }

    /// Whether it is one.
    pub(super) fn is_real(&self) -> bool {
        self.traced
    }

    /// The panic fails its test and ends its package.
    pub(super) fn report(self, test: Option<String>, tree: &mut Tree, report: &mut Report) {
        let mut finding = self.finding;
        let timed_out = finding.title.has("test timed out after ");
        let test = test.or(self.running.filter(|_| timed_out));
        let number = finding.lines.first;
        if let Some(name) = test.filter(|_| self.in_test || timed_out) {
            tree.took_panic(&name);
            finding.kind = Kind::Test;
            finding.title = joined![name, ": ", finding.title];
            report.note(
                format!("the package stopped at the panic of {name}: tests after it have no result"),
                number,
            );
            let key = joined!["go panic ", finding.title];
            finding = finding.of(&name).known_as(key);
        }
        report.fail(finding);
    }
}

/// The message without the runtime's word that a test recovered it and panicked again.
fn unrecovered(text: &str) -> &str {
    text.short_of(" [recovered]").short_of(" [recovered, repanicked]")
}

/// Gives the finding the first own frame as its place.
pub(super) fn own_frame(line: &Line<'_>, finding: &mut Finding) {
    if finding.location.is_none() {
        finding.location = frame(line);
    }
}

/// `\t/path/file.go:12 +0x1d`, when the file is the person's own.
fn frame(line: &Line<'_>) -> Option<Location> {
    let (location, _) = place_at_start(line.text.trim_start())?;
    let foreign = [
        "/src/testing/",
        "/src/runtime/",
        "/src/net/",
        "/src/reflect/",
        "/go-1.",
        "/usr/local/go/",
        "/pkg/mod/",
        "_testmain.go",
    ];
    let own = has_extension(&location.path, &["go"])
        && line.indent() > 0
        && !foreign.iter().any(|part| location.path.has(part));
    own.then_some(location)
}
