//! What shells and operating systems say when a command cannot run or dies, and what C programs say on the way.
//!
//! Written from real runs of bash 5.2, dash 0.5 and glibc 2.36, git 2.39; what ssh and hosts of repositories say seen in runs that
//! their users posted; zsh 5.9 from documentation.

mod git;

use self::git::Git;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "shell",
    tools: "bash, dash, zsh, glibc's abort messages, git, apt, apk",
    recognises: "commands not found, kills and crashes, failed assertions of C programs, uncaught C++ exceptions, what git was refused",
    version: "bash 5.2, glibc 2.36, git 2.39",
    triggers: &[
        "command not found",
        "WARNING: ",
        ": not found",
        "Killed",
        "Segmentation fault",
        "Aborted",
        "Bus error",
        "Assertion `",
        "Assertion failed",
        "terminate called",
        "stack smashing",
        "double free",
        "Permission denied",
        "No such file or directory",
        "fatal: ",
        "Cloning into '",
        "Failed to clone '",
        "\nE: A",
        "\nE: B",
        "\nE: C",
        "\nE: D",
        "\nE: E",
        "\nE: F",
        "\nE: G",
        "\nE: H",
        "\nE: I",
        "\nE: J",
        "\nE: K",
        "\nE: L",
        "\nE: M",
        "\nE: N",
        "\nE: O",
        "\nE: P",
        "\nE: Q",
        "\nE: R",
        "\nE: S",
        "\nE: T",
        "\nE: U",
        "\nE: V",
        "\nE: W",
        "\nE: X",
        "\nE: Y",
        "\nE: Z",
        "\nE: d",
        "\nE: g",
        "what():",
        "Illegal instruction",
        "Floating point exception",
        "syntax error near",
        "unexpected EOF while looking",
        "No space left on device",
        "Connection refused",
        "Cannot allocate memory",
        "Could not resolve host",
        "unable to select packages:",
        "ssh: connect to host ",
        "Host key verification failed",
        "ERROR: Repository not found.",
        "remote: error: ",
        " ! [re",
        " would be overwritten by ",
    ],
    reader: || Box::<Shell>::default(),
};

#[derive(Debug, Default)]
struct Shell {
    terminated: Option<Finding>,
    /// Packages that apk cannot install, which it names on the lines after.
    packages: Option<Finding>,
    /// Whether something has said why the program is about to abort.
    aborting: bool,
    git: Git,
}

impl Reader for Shell {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(mut finding) = self.terminated.take() {
            let what = line.body().strip_prefix("what():");
            if let Some(what) = what {
                finding.title = joined![finding.title, ": ", what.trim()];
                finding.add(line);
            }
            report.fail(finding);
            if what.is_some() {
                return Step::Take;
            }
        }
        if let Some(step) = self.git.line(line, report) {
            return step;
        }
        if self.apk(line, report) {
            return Step::Hold;
        }
        // apt says so where there is no terminal, and goes on.
        if line.text.starts_with("WARNING: ") || line.text.starts_with("E: Can not write log ") {
            report.warn("general", None, line);
            return Step::Common;
        }
        if line.text.starts_with("Cloning into '") {
            return Step::Take;
        }
        if line.text.starts_with("fatal: clone of '") || line.text.starts_with("Failed to clone '") {
            report.cascade(line);
            return Step::Take;
        }
        if line.text.starts_with("terminate called") {
            self.aborting = true;
            self.terminated = Some(Finding::new(Kind::Crash, line.text, line));
            return Step::Hold;
        }
        let Some((kind, location)) = told(line.text) else {
            return Step::Pass;
        };
        if std::mem::take(&mut self.aborting) && line.text.has("Aborted") {
            report.cascade(line);
            return Step::Take;
        }
        self.aborting = kind == Kind::Crash && !death(line.text);
        let mut finding = Finding::new(kind, line.text, line);
        // A message printed again is the same failure; a second death is another one.
        let death = if kind == Kind::Crash { line.number } else { 0 };
        finding.copy = Some(joined!["shell ", death, " ", line.text]);
        finding.location = location;
        report.fail(finding);
        Step::Take
    }

    fn finish(&mut self, report: &mut Report) {
        if let Some(finding) = self.terminated.take() {
            report.fail(finding);
        }
        self.git.close(report);
        self.close(report);
    }
}

impl Shell {
    /// apk's complaint and the packages under it.
    fn apk(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        if let Some(packages) = &mut self.packages {
            if line.indent() > 0 {
                if packages.explain.is_empty() {
                    let title = joined![packages.title, " ", line.body().trim_end_matches(':')];
                    packages.retitle(title);
                }
                packages.add(line);
                return true;
            }
            self.close(report);
        }
        let begins = line.text == "ERROR: unable to select packages:";
        if begins {
            let text = &line.text["ERROR: ".len()..];
            self.packages = Some(Finding::new(Kind::Dependency, text, line));
        }
        begins
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(packages) = self.packages.take() {
            let copy = joined!["shell ", packages.title];
            report.fail(packages.known_as(copy));
        }
    }
}

/// Where it happened, when the line says so.
struct Place(Option<Location>);

/// What the line states and where.
fn told(text: &str) -> Option<(Kind, Option<Location>)> {
    if let Some(Place(place)) = not_run(text) {
        return Some((Kind::Tool, place));
    }
    if death(text) {
        return Some((Kind::Crash, None));
    }
    if let Some(Place(location)) = assertion(text) {
        return Some((Kind::Crash, location));
    }
    let closing = [
        "*** stack smashing detected ***",
        "double free or corruption",
        "free(): ",
        "malloc(): ",
        "corrupted size vs. prev_size",
    ];
    if closing.iter().any(|start| text.starts_with(start)) {
        return Some((Kind::Crash, None));
    }
    let tool = (text.starts_with("fatal: ") && !text.starts_with("fatal: error")) || text.starts_with("E: ");
    tool.then_some((Kind::Tool, None))
}

/// `./scripts/docs.sh: line 7: plantuml: command not found`, `sh: 1: foo: not found`, `zsh: command not found: x`.
fn not_run(text: &str) -> Option<Place> {
    let zsh = text.starts_with("zsh: ") || text.starts_with("zsh:");
    if zsh
        && (text.has("command not found: ")
            || text.has("no such file or directory: ")
            || text.has("permission denied: "))
    {
        return Some(Place(None));
    }
    let shell = shell_place(text)?;
    let ends = [
        "command not found",
        ": not found",
        ": No such file or directory",
        ": Permission denied",
        ": No space left on device",
        ": Cannot allocate memory",
        ": cannot execute: required file not found",
    ];
    let syntax = || {
        text.has(": syntax error near unexpected token")
            || text.has(": unexpected EOF while looking for matching")
    };
    (ends.iter().any(|end| text.ends_with(end)) || syntax()).then_some(shell)
}

/// `NAME: line 7: ` of bash, `NAME: 7: ` of dash, and a shell's own name.
fn shell_place(text: &str) -> Option<Place> {
    let (name, rest) = text.part_at(": ")?;
    if name.contains(' ') || name.is_empty() {
        return None;
    }
    let number = rest
        .strip_prefix("line ")
        .and_then(leading_number)
        .or_else(|| leading_number(rest))
        .filter(|(_, rest)| rest.starts_with(": "));
    if let Some((line, _)) = number {
        return Some(Place(Some(Location {
            path: name.to_owned(),
            line: Some(line),
            column: None,
        })));
    }
    let base = name.rsplit('/').next().unwrap_or(name).trim_start_matches('-');
    let shell = [
        "bash", "sh", "dash", "ksh", "env", "sudo", "exec", "nohup", "timeout", "xargs", "time",
    ]
    .contains(&base);
    shell.then_some(Place(None))
}

/// A death told by the shell: `Killed`, `Segmentation fault (core dumped)`, with bash's place before it.
fn death(text: &str) -> bool {
    const DEATHS: &[&str] = &[
        "Killed",
        "Segmentation fault",
        "Aborted",
        "Bus error",
        "Illegal instruction",
        "Floating point exception",
    ];
    let text = text.short_of(" (core dumped)");
    if DEATHS.contains(&text) {
        return true;
    }
    // bash: `./run.sh: line 3:  4312 Killed                  ./server --port 80`
    let named = |name: &str| !name.contains([' ', '`', '"']);
    let Some((_, rest)) = text.part_at(": line ").filter(|(name, _)| named(name)) else {
        return false;
    };
    let Some((_, rest)) = leading_number(rest) else {
        return false;
    };
    let Some((_, rest)) = rest
        .strip_prefix(": ")
        .and_then(|rest| leading_number(rest.trim_start()))
    else {
        return false;
    };
    DEATHS.iter().any(|word| rest.trim_start().starts_with(word))
}

/// glibc's `prog: file.c:12: main: Assertion 'x > 0' failed.`, with a backtick first, and macOS's `Assertion failed: …`.
fn assertion(text: &str) -> Option<Place> {
    if text.has(": Assertion `") && text.ends_with("failed.") {
        let place = text.part_at(": ").and_then(|(_, rest)| place_at_start(rest));
        return Some(Place(place.map(|(location, _)| location)));
    }
    let (_, rest) = text.strip_prefix("Assertion failed: ")?.part_at(", file ")?;
    let (path, line) = rest.part_at(", line ")?;
    Some(Place(Some(Location {
        path: path.to_owned(),
        line: leading_number(line).map(|(line, _)| line),
        column: None,
    })))
}
