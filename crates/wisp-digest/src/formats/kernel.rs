//! The Linux kernel's log, and what journald tells of services.
//!
//! Written from documentation of Linux 6.6 and systemd 255, not seen from a real run. The first oops of a boot is
//! the root; what comes after it (a second oops, a lockup, the panic) follows. Errors of the firmware's tables and
//! of probed devices are old noise.

use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, between, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "kernel",
    tools: "dmesg, journalctl (kernel and systemd)",
    recognises: "oopses with where they happened, out-of-memory kills, lockups, panics, segfaults, services that died",
    version: "Linux 6.6, systemd 255 (documentation)",
    triggers: &[
        "BUG: ",
        "Oops",
        "Kernel panic",
        "Out of memory: ",
        "oom-kill",
        "soft lockup",
        "hard LOCKUP",
        "segfault at",
        "general protection fault",
        "blocked for more than",
        "Call Trace:",
        "RIP: ",
        "---[ end ",
        "Main process exited",
        "killed by the OOM killer",
        "Failed with result",
        "Failed to start ",
        "traps: ",
        "Memory cgroup out of memory",
        "EXT4-fs error",
        "I/O error, dev",
        "Fixing recursive fault",
    ],
    reader: || Box::<Kernel>::default(),
};

#[derive(Debug, Default)]
struct Kernel {
    open: Option<Finding>,
    crashed: bool,
    service: Option<String>,
    /// The unit whose process the kernel killed for want of memory.
    starved: Option<String>,
    quoted: usize,
}

impl Reader for Kernel {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = message(line.text);
        if self.open.is_some() {
            return self.inside(text, line, report);
        }
        if let Some(step) = self.crash(text, line, report) {
            return step;
        }
        if self.crashed
            && (text.starts_with("Oops")
                || text.starts_with("---[ end ")
                || text.starts_with("RIP: ")
                || text.starts_with("Call Trace")
                || text.starts_with("Fixing recursive"))
        {
            return Step::Take;
        }
        self.others(text, line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// The text after `kernel: ` or `systemd[1]: `.
fn message(text: &str) -> &str {
    let text = without_seconds(text);
    match text.part_at(": ") {
        Some((name, rest)) if is_own(name) => rest,
        _ => text,
    }
}

/// `kernel` and `systemd[1]`, with or without a host before it.
fn is_own(name: &str) -> bool {
    let name = name
        .halves(b' ')
        .map_or(name, |(host, name)| if host.contains(':') { "" } else { name });
    name == "kernel" || (name.starts_with("systemd") && !name.contains(' '))
}

/// The text after dmesg's `[ 1201.220417] `, where a CI runner's time stands before it.
fn without_seconds(text: &str) -> &str {
    let Some((seconds, rest)) = text.strip_prefix('[').and_then(|rest| rest.part_at("] ")) else {
        return text;
    };
    let plain = seconds
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'.'));
    if plain && seconds.contains('.') {
        rest
    } else {
        text
    }
}

/// `gauge[311]: segfault at 18 ip …`.
fn segfault(text: &str) -> bool {
    text.part_at("]: segfault at ").is_some_and(|(name, _)| {
        name.ends_with(|last: char| last.is_ascii_digit()) && !name.contains(['`', '"'])
    })
}

impl Kernel {
    /// A line that begins an oops, a lockup or a panic. After the first, each is a consequence.
    fn crash(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let oops = text.starts_with("BUG: ")
            || (text.starts_with("Oops: ") && !self.crashed)
            || text.starts_with("general protection fault")
            || text.starts_with("Unable to handle kernel");
        let lockup = text.starts_with("watchdog: BUG: ")
            || (text.starts_with("INFO: task ") && text.has("blocked for more than"))
            || (states(text, "hard LOCKUP") && text.has("atchdog"));
        let panic = text.starts_with("Kernel panic - not syncing");
        if !(oops || lockup || panic) {
            return None;
        }
        report.failed(line);
        if self.crashed {
            report.cascade(line);
            return Some(Step::Take);
        }
        self.crashed = true;
        self.quoted = 0;
        let finding = Finding::new(Kind::Crash, text, line);
        if oops {
            self.open = Some(finding);
            return Some(Step::Hold);
        }
        report.fail(finding);
        Some(Step::Take)
    }

    /// The report of an oops: where it happened, who ran, the first calls.
    fn inside(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(finding) = &mut self.open {
            if let Some(place) = text.strip_prefix("RIP: ") {
                let place = place.halves(b':').map_or(place, |(_, place)| place);
                finding.subject = Some(place.to_owned());
                finding.quote(line);
            } else if text.starts_with("Workqueue: ")
                || text.starts_with("CPU: ")
                || text.starts_with("Hardware name")
            {
                finding.quote(line);
            } else if text.has("+0x") && !text.has("? ") && self.quoted < 4 {
                self.quoted += 1;
                finding.quote(line);
            }
        }
        if text.starts_with("---[ end ") {
            if let Some(finding) = self.open.take() {
                report.fail(finding);
            }
            return Step::Take;
        }
        Step::Hold
    }

    fn others(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if text.starts_with("Out of memory: Kill") || text.starts_with("Memory cgroup out of memory: Kill") {
            let name = between(text, "(", ")").unwrap_or("a process");
            report.fail(Finding::new(Kind::Crash, text, line).of(name));
            return Step::Take;
        }
        if segfault(text) || text.starts_with("traps: ") {
            report.fail(
                Finding::new(Kind::Crash, text, line)
                    .known_as(joined!["segfault ", text.split('[').next().unwrap_or(text)]),
            );
            return Step::Take;
        }
        self.service(text, line, report)
    }

    /// `foo.service: Main process exited, code=killed, status=9/KILL` and what systemd says after it.
    fn service(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> Step {
        let unit = |unit: &str| !unit.contains([' ', '`']);
        let Some((unit, rest)) = text.part_at(": ").filter(|(name, _)| unit(name)) else {
            if text.starts_with("Failed to start ") {
                report.cascade(line);
                return Step::Take;
            }
            return Step::Pass;
        };
        if rest.starts_with("A process of this unit has been killed by the OOM killer") {
            self.starved = Some(unit.to_owned());
            report.cascade(line);
            return Step::Take;
        }
        if rest.starts_with("Main process exited") && self.starved.as_deref() == Some(unit) {
            report.cascade(line);
            return Step::Take;
        }
        if rest.starts_with("Main process exited") && rest.ends_with("status=0/SUCCESS") {
            return Step::Take;
        }
        if rest.starts_with("Main process exited") && !rest.has("status=0/SUCCESS") {
            self.service = Some(unit.to_owned());
            report.fail(
                Finding::new(Kind::Crash, text, line)
                    .of(unit)
                    .known_as(joined!["unit ", unit, " ", rest]),
            );
            return Step::Take;
        }
        if rest.starts_with("Failed with result") {
            report.cascade(line);
            return Step::Take;
        }
        if text.starts_with("Failed to start ") {
            report.cascade(line);
            return Step::Take;
        }
        Step::Pass
    }
}
