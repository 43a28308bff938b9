//! GHC, cabal and stack.
//!
//! Written from real runs of GHC 9.0 and 9.6; cabal 3.8 to 3.11, stack and tasty seen in runs that their users posted. The message
//! stands indented under the place; where stack builds several packages, each line has its package before it.

mod tasty;

use self::tasty::Tasty;
use crate::diag::{Diagnostic, Level, check_at_end, colon, missing_name};
use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "ghc",
    tools: "ghc, cabal, stack, tasty",
    recognises: "errors with their indented message, warnings by flag, failed suites, tasty's failed tests, versions that do not agree",
    version: "GHC 9.6, cabal 3.8 to 3.11 and stack (runs posted by their users)",
    triggers: &[
        ".hs:",
        ".lhs:",
        "Error: cabal",
        "Error: [Cabal",
        "Test suite ",
        "test suites (",
        "> test (suite: ",
        "Failed to build",
        "Error: [S-",
        "failed in phase `",
        "panic! (the 'impossible' happened)",
        "Tests failed for ",
        " [✔]",
        " [✘]",
        " FAIL",
        " tests failed (",
        " tests passed (",
    ],
    reader: || Box::<Ghc>::default(),
};

#[derive(Debug, Default)]
struct Ghc {
    open: Option<(Finding, bool)>,
    warned: bool,
    block: Option<Block>,
    tasty: Tasty,
}

/// What stack and cabal say of a failure on more than one line.
#[derive(Debug)]
enum Block {
    /// stack's plan, and what stopped it where it says so.
    Plan {
        number: u64,
        text: String,
        cause: Option<Finding>,
    },
    /// cabal's search for versions that agree.
    Search(Finding),
    /// cabal's sentence on a package that was not built.
    Sentence { number: u64, text: String, killed: bool },
}

impl Reader for Ghc {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let line = &Line {
            text: without_package(line.text),
            ..*line
        };
        if let Some(block) = &mut self.block {
            if block.line(line) {
                return Step::Hold;
            }
            self.close_block(report);
        }
        if let Some(step) = self.tasty.line(line, report) {
            return step;
        }
        if let Some(found) =
            colon(line.text).filter(|each| has_extension(&each.location.path, &["hs", "lhs"]))
        {
            self.diagnostic(found, line, report);
            return Step::Hold;
        }
        let block = line.indent() > 0 || is_source(line.text);
        if let Some((finding, empty)) = self.open.as_mut().filter(|_| block) {
            if std::mem::take(empty) {
                let title = joined![finding.title, " ", line.body().past("• ")];
                finding.retitle(title);
            }
            finding.add(line);
            return Step::Hold;
        }
        if self.warned && block {
            return Step::Hold;
        }
        self.warned = false;
        self.close(report);
        if let Some(block) = Block::begin(line) {
            self.block = Some(block);
            return Step::Hold;
        }
        if (line.text.starts_with("Test suite ") && line.text.ends_with(": RUNNING..."))
            || line.text.starts_with("test (suite: ")
        {
            self.tasty.begin();
            return Step::Hold;
        }
        words(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.tasty.close(report);
        self.close(report);
        self.close_block(report);
    }
}

/// The line without stack's `tide       > `.
fn without_package(text: &str) -> &str {
    let Some(end) = memchr::memchr(b'>', &text.as_bytes()[..text.len().min(64)]) else {
        return text;
    };
    let name = text[..end].trim_end_matches(' ');
    let named = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let rest = &text[end + 1..];
    match rest.strip_prefix(' ') {
        Some(rest) if named => rest,
        None if named && rest.is_empty() => rest,
        _ => text,
    }
}

impl Block {
    fn begin(line: &Line<'_>) -> Option<Self> {
        let text = line.text;
        let (number, owned) = (line.number, || line.quote().text);
        if text.starts_with("Error: [S-") {
            Some(Self::Plan {
                number,
                text: owned(),
                cause: None,
            })
        } else if text == "Error: [Cabal-7107]"
            || text.starts_with("Error: cabal: Could not resolve dependencies")
        {
            Some(Self::Search(Finding::new(
                Kind::Dependency,
                "Could not resolve dependencies",
                line,
            )))
        } else if text.starts_with("Error: cabal: Failed to build") && !text.ends_with('.') {
            Some(Self::Sentence {
                number,
                text: owned(),
                killed: false,
            })
        } else {
            None
        }
    }

    /// Takes a line of it. False when it has ended.
    fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        match self {
            Self::Plan { cause, .. } => {
                if body.is_empty() {
                    return true;
                }
                // Under its number stack says which package; anything else it met itself.
                let own = body.starts_with("[S-")
                    || body.starts_with("Stack failed to execute")
                    || body.starts_with("While ")
                    || body.starts_with("Process exited with code")
                    || body.starts_with('/');
                if line.indent() > 0 && !own && cause.is_none() {
                    *cause = Some(Finding::new(Kind::Tool, body, line));
                }
                line.indent() > 0
            }
            Self::Search(finding) => {
                let why = body
                    .strip_prefix("[__")
                    .and_then(|rest| rest.part_at("] "))
                    .map(|(_, why)| why);
                let stated = why.filter(|why| {
                    why.starts_with("unknown package")
                        || (why.starts_with("rejecting: ") && why.contains('('))
                });
                if let Some(why) = stated.filter(|_| finding.title == "Could not resolve dependencies") {
                    finding.retitle(joined!["Could not resolve dependencies: ", why]);
                }
                let mine = why.is_some()
                    || line.indent() > 0
                    || ["Could not resolve", "After searching", "Try running"]
                        .iter()
                        .any(|start| body.starts_with(start));
                if mine {
                    finding.add(line);
                }
                mine
            }
            Self::Sentence { text, killed, .. } => {
                if text.ends_with('.') || body.is_empty() {
                    return false;
                }
                *killed |= body.has("was killed") || body.has("(i.e. SIGKILL)");
                crate::line::cut(body, crate::limits::QUOTE).clone_into(text);
                true
            }
        }
    }
}

/// `3 | x = y`.
fn is_source(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && text[digits..].starts_with(" |")
}

impl Ghc {
    fn diagnostic(&mut self, found: Diagnostic<'_>, line: &Line<'_>, report: &mut Report) {
        self.close(report);
        self.warned = found.level == Level::Warning;
        match found.level {
            Level::Error => {
                let empty = found.message.is_empty() || found.message.starts_with('[');
                self.open = Some((
                    Finding::new(Kind::Compile, found.message, line).at(found.location),
                    empty,
                ));
            }
            Level::Warning => report.warn(
                check_at_end(found.message).unwrap_or("ghc"),
                Some(found.location),
                line,
            ),
            Level::Note => {}
        }
    }

    fn close_block(&mut self, report: &mut Report) {
        match self.block.take() {
            Some(Block::Plan { number, text, cause }) => {
                let line = Line { number, text: &text };
                report.failed(&line);
                if let Some(cause) = cause.filter(|_| report.failures.is_empty()) {
                    report.fail(cause);
                }
                report.announce(&line);
            }
            Some(Block::Search(finding)) => report.fail(finding),
            Some(Block::Sentence { number, killed, .. }) => {
                let line = Line {
                    number,
                    text: "Error: cabal: Failed to build",
                };
                report.failed(&line);
                if killed {
                    report.fail(Finding::new(
                        Kind::Crash,
                        "the build process was killed (SIGKILL)",
                        &line,
                    ));
                } else {
                    report.cascade(&line);
                }
            }
            None => {}
        }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some((finding, _)) = self.open.take() {
            let cause = missing_name(&finding.title).or_else(|| {
                let name = finding
                    .title
                    .part_at("not in scope: ")
                    .map(|(_, name)| name.split(' ').next().unwrap_or(name));
                name.map(|name| joined!["missing ", name])
            });
            report.fail(finding.because(cause));
        }
    }
}

fn words(line: &Line<'_>, report: &mut Report) -> Step {
    let text = line.text;
    if text.starts_with("Error: cabal")
        || text.starts_with("Error: [Cabal")
        || text.starts_with("Failed to build ")
    {
        report.failed(line);
        report.cascade(line);
        return Step::Take;
    }
    if text.has("panic! (the 'impossible' happened)") {
        report.fail(Finding::new(Kind::Crash, text, line));
        return Step::Take;
    }
    // What hspec prints as it goes.
    if text.ends_with(" [✔]") {
        return Step::Take;
    }
    if text.ends_with(" [✘]") {
        report.announce(line);
        return Step::Take;
    }
    if text.has("' failed in phase `") || text.starts_with("Tests failed for ") {
        report.cascade(line);
        return Step::Take;
    }
    let suite = text.starts_with("Test suite ");
    if suite && (text.ends_with(": FAIL") || text.ends_with(" failed")) {
        report.failed(line);
        report.cascade(line);
        return Step::Take;
    }
    if text.has(" test suites (") && text.ends_with(" passed.") {
        return Step::Take;
    }
    if text.starts_with("Test suite ") {
        Step::Take
    } else {
        Step::Pass
    }
}
