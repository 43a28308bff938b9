//! kubectl and helm: what the cluster refused, what never became ready, the state of pods.
//!
//! Written from documentation and published logs of kubectl 1.32 and helm 3.16, and seen in runs of kubectl, helm 3 and
//! helm 4 that their users posted. A pod's state in a table or a description is a warning: listing it is no failure.

mod lint;

use self::lint::Lint;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, between, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "kubernetes",
    tools: "kubectl, helm",
    recognises: "objects that the cluster refused with their file, rollouts that did not end, charts that do not render or that lint complains of, pods in a bad state as warnings",
    version: "kubectl 1.32, helm 3 and 4 (runs posted by their users)",
    triggers: &[
        "Error from server",
        " is invalid:",
        "\nerror: ",
        "Unable to connect to the server",
        "The connection to the server",
        " FAILED: ",
        "Error: template: ",
        "Error: YAML parse error",
        "Error: execution error at (",
        "Error: values don't meet the specifications",
        "Error: Kubernetes cluster unreachable: ",
        " failed\" name=",
        "Reason:       Error",
        "chart(s) linted",
        "==> Linting ",
        "Error: failed to download \"",
        "Error: looks like \"",
        "Error: accumulating resources: ",
        "BackOff",
        "ErrImagePull",
        "OOMKilled",
        "CreateContainer",
        "Warning  ",
        "successfully rolled out",
        "STATUS: deployed",
        "Happy Helming!",
    ],
    reader: || Box::<Kubernetes>::default(),
};

/// What kubectl says after `error: `.
const KUBECTL: &[&str] = &[
    "error validating ",
    "error parsing ",
    "unable to recognize ",
    "unable to decode ",
    "resource mapping not found for name: ",
    "no matches for kind ",
    "timed out waiting for the condition",
    "You must be logged in to the server",
    "the server doesn't have a resource type ",
    "the path \"",
    "no objects passed to ",
    "accumulating resources: ",
    "no matching resources found",
    "error loading config file \"",
    "unable to read client-",
];

/// States of a pod that do not recover by themselves.
const STATES: &[&str] = &[
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "ErrImagePull",
    "OOMKilled",
    "CreateContainerConfigError",
    "CreateContainerError",
];

#[derive(Debug, Default)]
struct Kubernetes {
    /// What was refused for several reasons, one a line.
    open: Option<Finding>,
    lint: Option<Lint>,
}

impl Reader for Kubernetes {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some(lint) = &mut self.lint {
            if lint.line(line, report) {
                return Step::Hold;
            }
            self.close(report);
        }
        if let Some(lint) = Lint::begin(text) {
            self.lint = Some(lint);
            return Step::Hold;
        }
        if let Some(open) = &mut self.open {
            if goes_on(line) {
                open.add(line);
                return Step::Hold;
            }
            self.close(report);
        }
        // helm 4 logs what it then says.
        if text.starts_with("level=") && text.has(" failed\" name=") {
            report.announce(line);
            return Step::Take;
        }
        if text.starts_with("The ") && text.has("\" is invalid:") {
            report.failed(line);
            self.open = Some(Finding::new(Kind::Configure, text, line));
            return Step::Hold;
        }
        if let Some(finding) = refused(line) {
            report.failed(line);
            if text.starts_with("Error: ") {
                self.open = Some(finding);
                return Step::Hold;
            }
            report.fail(finding);
            return Step::Take;
        }
        others(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Kubernetes {
    fn close(&mut self, report: &mut Report) {
        if let Some(mut lint) = self.lint.take() {
            lint.close(report);
        }
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// Another reason, or the rest of helm's one: a hook, a member of the chart's schema, the deadline.
fn goes_on(line: &Line<'_>) -> bool {
    let body = line.body();
    let member = |name: &str| !name.is_empty() && !name.contains([' ', ':']);
    body.starts_with("* ")
        || body.starts_with("- ")
        || body == "context deadline exceeded"
        || body.starts_with("conflict with ")
        || body.strip_suffix(':').is_some_and(member)
}

/// A line that states why something was not applied.
fn refused(line: &Line<'_>) -> Option<Finding> {
    let text = line.text;
    if !matches!(text.as_bytes().first(), Some(b'e' | b'E' | b'U' | b'T')) {
        return None;
    }
    let kubectl = text.strip_prefix("error: ").is_some_and(|rest| {
        KUBECTL.iter().any(|start| rest.starts_with(start))
            || rest.ends_with("exceeded its progress deadline")
    });
    let server = text.starts_with("Error from server");
    let connection = text.starts_with("Unable to connect to the server: ")
        || text.starts_with("The connection to the server ")
        || text.starts_with("Error: Kubernetes cluster unreachable: ");
    let helm = text.strip_prefix("Error: ").is_some_and(|rest| {
        [
            "INSTALLATION FAILED: ",
            "UPGRADE FAILED: ",
            "template: ",
            "YAML parse error on ",
            "execution error at (",
            "values don't meet the specifications",
            "Kubernetes cluster unreachable: ",
            "failed to download \"",
            "looks like \"",
            "accumulating resources: ",
        ]
        .iter()
        .any(|start| rest.starts_with(start))
    });
    if !(kubectl || server || connection || helm) {
        return None;
    }
    let kind = if connection {
        Kind::Dependency
    } else {
        Kind::Configure
    };
    let mut finding = Finding::new(kind, text, line).known_as(joined!["kubernetes ", text]);
    finding.location = place(text);
    if server {
        // Objects of one file or another that miss the same thing.
        finding.cause = text.last_part_at(": ").map(|(_, cause)| cause.to_owned());
    }
    Some(finding)
}

/// The manifest or the line of the template.
fn place(text: &str) -> Option<Location> {
    if let Some((_, rest)) = text.part_at("template: ") {
        return place_at_start(rest).map(|(location, _)| location);
    }
    if let Some(place) = between(text, "execution error at (", ")") {
        return place_at_start(place).map(|(location, _)| location);
    }
    let path = between(text, "error when creating \"", "\"")
        .or_else(|| between(text, "error when applying patch: \"", "\""))
        .or_else(|| between(text, "error validating \"", "\""))
        .or_else(|| between(text, "unable to recognize \"", "\""))
        .or_else(|| between(text, " from \"", "\""))
        .or_else(|| between(text, "YAML parse error on ", ":"))?;
    Some(Location {
        path: path.to_owned(),
        line: None,
        column: None,
    })
}

/// Sums, successes and what tables and events tell of pods.
fn others(line: &Line<'_>, report: &mut Report) -> Step {
    let text = line.text;
    if text.ends_with("Happy Helming!") {
        return Step::Take;
    }
    if text.ends_with(" successfully rolled out") || text == "STATUS: deployed" {
        report.succeeded(line);
        return Step::Take;
    }
    if text.starts_with(|first: char| first.is_ascii_digit() || first == 'E')
        && text.has(" chart(s) linted, ")
    {
        if text.has(", 0 chart(s) failed") {
            report.succeeded(line);
        } else {
            report.failed(line);
            report.announce(line);
        }
        return Step::Take;
    }
    let mut words = text.split_ascii_whitespace();
    if line.body().starts_with("Warning  ") {
        words.next();
        report.warn(words.next().unwrap_or("event"), None, line);
        return Step::Take;
    }
    if let Some(reason) = line.body().strip_prefix("Reason:").map(str::trim_start) {
        if reason == "Error" || STATES.contains(&reason) {
            report.warn(reason, None, line);
            return Step::Take;
        }
        return Step::Pass;
    }
    // Each state has one of these letters, which most lines have not.
    if memchr::memchr3(b'B', b'E', b'O', text.as_bytes()).is_none() {
        return Step::Pass;
    }
    let mut state = words.nth(2).unwrap_or("");
    while let Some(rest) = state.strip_prefix("Init:") {
        state = rest;
    }
    if STATES.contains(&state) {
        report.warn(state, None, line);
        return Step::Take;
    }
    Step::Pass
}
