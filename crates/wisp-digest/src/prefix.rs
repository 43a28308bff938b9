//! What logs put in front of a line: times, CI marks, container and package labels.
//!
//! A prefix is taken off before any reader sees the line. A label (`[web] `, `web:build: `, `#12 3.4 `,
//! `web-1  | `) names the stream the line belongs to, so that lines of parallel jobs are read apart.

mod label;

use label::{build_seconds, named};

use crate::diag;
use crate::find::Find;
use crate::line::place;
use crate::stamp::{self, Stamp};

/// A line taken apart.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Parts<'a> {
    /// When it was written, by the log's own clock.
    pub stamp: Option<Stamp>,
    /// That time as written.
    pub stamp_text: &'a str,
    /// Whether the time was put there by a CI runner, which says nothing about the line.
    pub by_runner: bool,
    /// The stream it belongs to.
    pub label: Option<&'a str>,
    /// What is left.
    pub text: &'a str,
    /// The program that a system's log has the line of, `tern[812]`, and what that program wrote.
    pub program: Option<(&'a str, &'a str)>,
}

impl<'a> Parts<'a> {
    /// What the tool that wrote the line wrote.
    pub(crate) fn written(&self) -> &'a str {
        self.program.map_or(self.text, |(_, written)| written)
    }
}

/// Takes times and at most one label off the line.
pub(crate) fn split(text: &str) -> Parts<'_> {
    let parts = Parts {
        text,
        ..Parts::default()
    };
    if may_have_one(text, true) {
        take_off(parts)
    } else {
        parts
    }
}

/// Whether there may be anything to take off the line, or to part it at, when tabs may stand in it. Of most lines there
/// is not.
#[inline]
pub(crate) fn may_have_one(text: &str, tabs: bool) -> bool {
    let has_step = || tabs && after_step(text).len() < text.len();
    match text.as_bytes().first() {
        Some(b'a'..=b'z' | b'@' | b'.') => is_marked(text) || has_step(),
        Some(b'A'..=b'Z') => stamp::at_start(text).is_some() || has_step(),
        Some(b'#' | b'[' | b'0'..=b'9') => true,
        _ => false,
    }
}

/// Whether a line that begins with a small letter, and has no tab, has a label or a mark.
#[inline]
pub(crate) fn is_marked(text: &str) -> bool {
    named(text).is_some() || text.starts_with(SECTION)
}

/// What GitLab's section marks begin with.
const SECTION: &str = "section_";

/// Such a line begins with a time or a label, or may.
fn take_off(mut parts: Parts<'_>) -> Parts<'_> {
    parts.text = of_fastlane(after_step(without_millis(parts.text)));
    if parts.text.starts_with(|first: char| first.is_ascii_digit()) {
        parts.text = build_seconds(parts.text);
    }
    for _ in 0..3 {
        if !take_stamp(&mut parts) && !take_label(&mut parts) {
            break;
        }
        parts.text = of_fastlane(parts.text);
    }
    if parts.stamp.is_some() && parts.label.is_none() && !parts.by_runner {
        parts.program = program(parts.text);
    }
    parts
}

/// The line without what Flutter's verbose output has before it: `[  +12 ms] `, and `[        ] ` where none have passed.
fn without_millis(text: &str) -> &str {
    if !text.starts_with("[ ") && !text.starts_with("[+") {
        return text;
    }
    let Some((time, rest)) = text[1..].halves(b']').filter(|(time, _)| time.len() <= 12) else {
        return text;
    };
    let blank = time.len() >= 8 && time.bytes().all(|byte| byte == b' ');
    let passed = || {
        let number = time.trim_start().strip_prefix('+')?.strip_suffix(" ms")?;
        number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b',')
            .then_some(())
    };
    if blank || passed().is_some() {
        rest.strip_prefix(' ').unwrap_or(rest)
    } else {
        text
    }
}

/// What a tool wrote that fastlane ran, `[17:11:12]: ▸ text`, and what fastlane says of it. Its time is of no log.
fn of_fastlane(text: &str) -> &str {
    const OWN: &[&str] = &[
        "Exit status: ",
        "Error ",
        "fastlane ",
        "Called from Fastfile",
        "```",
        "$ ",
    ];
    let head = text.as_bytes();
    if head.first() != Some(&b'[') || !matches!(head.get(9..12), Some(b"]: ")) {
        return text;
    }
    let time = head[1..9].iter().enumerate().all(|(at, byte)| match at {
        2 | 5 => *byte == b':',
        _ => byte.is_ascii_digit(),
    });
    let rest = &text[12..];
    match rest.strip_prefix("▸ ") {
        Some(rest) if time => rest,
        None if time && OWN.iter().any(|own| rest.starts_with(own)) => rest,
        _ => text,
    }
}

/// What follows the job and the step that `gh run view --log` puts before each line: `build (linux)\tRun make\t` and
/// the runner's time.
fn after_step(text: &str) -> &str {
    const SHORTEST: usize = "j\ts\t2026-03-02T10:14:07.0138781Z".len();
    let bytes = text.as_bytes();
    if bytes.len() < SHORTEST {
        return text;
    }
    let Some(job) = memchr::memchr(b'\t', &bytes[..bytes.len().min(96)]) else {
        return text;
    };
    let near = &bytes[job + 1..bytes.len().min(job + 160)];
    let rest = memchr::memchr(b'\t', near).map(|step| &text[job + step + 2..]);
    let by_runner = |rest: &&str| stamp::at_start(rest).is_some_and(|(_, by_runner, _)| by_runner);
    rest.filter(by_runner).unwrap_or(text)
}

/// journald's and syslog's `tern[812]: text`, with or without a host before it. What the kernel and systemd say is
/// theirs to say.
fn program(text: &str) -> Option<(&str, &str)> {
    let head = &text.as_bytes()[..text.len().min(96)];
    let close = memchr::memchr(b']', head)?;
    let written = text[close + 1..].strip_prefix(':')?;
    let open = memchr::memrchr(b'[', &head[..close])?;
    let pid = &head[open + 1..close];
    let start = memchr::memrchr(b' ', &head[..open]).map_or(0, |at| at + 1);
    let name = &text[start..open];
    let host = text[..start].trim_end_matches(' ');
    let good = !pid.is_empty()
        && pid.iter().all(u8::is_ascii_digit)
        && !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_./@".contains(&byte))
        && !host.contains(' ')
        && name != "kernel"
        && !name.starts_with("systemd");
    good.then(|| (&text[start..=close], written.strip_prefix(' ').unwrap_or(written)))
}

/// The line that a tool wrote and a runner's problem matcher has marked as an error or a warning; what an action itself
/// calls an error stays marked.
pub(crate) fn unmatched(text: &str) -> &str {
    let rest = text
        .strip_prefix("##[error]")
        .or_else(|| text.strip_prefix("##[warning]"));
    let tools = |rest: &&str| {
        rest.starts_with([' ', '\t'])
            || diag::placed(rest).is_some()
            || diag::paren(rest).is_some()
            || place(rest).is_some_and(|(place, rest)| {
                place.column.is_some() && place.path.contains('.') && rest.starts_with(": ")
            })
    };
    rest.filter(tools).unwrap_or(text)
}

/// `GitLab`'s section marks at the start of a cleaned line, and what follows them: a line of its own.
pub(crate) fn section_marks(text: &str) -> (&str, &str) {
    if !text.starts_with(SECTION) {
        return ("", text);
    }
    let mut end = 0;
    for word in text.split(' ') {
        if !word.starts_with("section_start:") && !word.starts_with("section_end:") {
            break;
        }
        end = (end + word.len() + 1).min(text.len());
    }
    (text[..end].trim_end(), &text[end..])
}

fn take_stamp(parts: &mut Parts<'_>) -> bool {
    if parts.stamp.is_some() {
        return false;
    }
    let Some((stamp, by_runner, rest)) = stamp::at_start(parts.text) else {
        return false;
    };
    parts.stamp = Some(stamp);
    parts.stamp_text = parts
        .text
        .get(stamp.offset..stamp.offset + stamp.length)
        .unwrap_or("");
    parts.by_runner = by_runner;
    parts.text = rest;
    true
}

fn take_label(parts: &mut Parts<'_>) -> bool {
    if parts.label.is_some() {
        return false;
    }
    let Some((label, rest)) = label::split(parts.text) else {
        return false;
    };
    parts.label = Some(label);
    parts.text = rest;
    true
}

#[cfg(test)]
mod tests {
    use super::{section_marks, split};

    fn label(text: &str) -> Option<(&str, &str)> {
        let parts = split(text);
        parts.label.map(|label| (label, parts.text))
    }

    #[test]
    fn what_fastlane_puts_before_a_line_is_taken_off() {
        let text = |text| super::split(text).text;
        assert_eq!(
            text("[17:11:12]: ▸ ❌  /srv/Depth.swift:12:9: text"),
            "❌  /srv/Depth.swift:12:9: text"
        );
        assert_eq!(text("[17:11:16]: Exit status: 65"), "Exit status: 65");
        assert_eq!(
            super::of_fastlane("[17:11:16]: listening"),
            "[17:11:16]: listening"
        );
        assert_eq!(super::of_fastlane("[17-11-16]: ▸ x"), "[17-11-16]: ▸ x");
        assert_eq!(super::of_fastlane("[aä:11:16]: ▸"), "[aä:11:16]: ▸");
    }

    #[test]
    fn labels_of_parallel_runners_are_taken() {
        assert_eq!(label("[web] error: x"), Some(("web", "error: x")));
        assert_eq!(label("#12 3.412   error: x"), Some(("#12", "  error: x")));
        assert_eq!(label("#7 0.412"), Some(("#7", "")));
        assert_eq!(
            label("@acme/web:build: src/a.ts(1,2): error TS1: x"),
            Some(("@acme/web:build", "src/a.ts(1,2): error TS1: x"))
        );
        assert_eq!(
            label("packages/web build: ok"),
            Some(("packages/web build", "ok"))
        );
        assert_eq!(
            label("packages/web test$ vitest run"),
            Some(("packages/web test", "vitest run"))
        );
        assert_eq!(label("web-1  | listening"), Some(("web-1", "listening")));
    }

    #[test]
    fn what_only_looks_like_a_label_stays() {
        for text in [
            "[INFO] Scanning",
            "[error] x",
            "[3/9] Emitting",
            "[ RUN      ] A.B",
            "src/a.c:3:4: error: x",
            "make: *** x",
            "main.c: In function 'a':",
            "a | b",
            "error: test failed",
            "/usr/bin/ld: x",
            "npm error code 1",
            "5 | code",
        ] {
            assert_eq!(label(text), None, "{text}");
        }
    }

    #[test]
    fn section_marks_are_parted_from_the_line_they_stand_before() {
        for (text, parts) in [
            ("section_end:1:a", ("section_end:1:a", "")),
            (
                "section_end:1:a section_start:2:b[collapsed=true] $ make",
                ("section_end:1:a section_start:2:b[collapsed=true]", "$ make"),
            ),
            ("the section_end:1:a", ("", "the section_end:1:a")),
            ("", ("", "")),
        ] {
            assert_eq!(section_marks(text), parts);
        }
    }

    #[test]
    fn a_systems_log_has_the_program_before_what_it_wrote() {
        for (text, program) in [
            (
                "Nov 30 10:14:07 pond tern[812]: error: x",
                Some(("tern[812]", "error: x")),
            ),
            (
                "2026-11-30T10:14:07+0000 pond tern[812]:   x",
                Some(("tern[812]", "  x")),
            ),
            ("Nov 30 10:14:07 pond tern[812]:", Some(("tern[812]", ""))),
            ("Nov 30 10:14:07 pond systemd[1]: x", None),
            ("Nov 30 10:14:07 pond kernel: x", None),
            ("10:14:07 index [5]: x", None),
            ("10:14:07 a b c[5]: x", None),
            ("tern[812]: x", None),
        ] {
            assert_eq!(split(text).program, program, "{text}");
        }
    }

    #[test]
    fn the_job_and_the_step_go_before_a_runners_time() {
        for (text, rest) in [
            (
                "build (linux)\tRun make\t2026-03-02T10:14:07.0138781Z ##[error]x",
                "##[error]x",
            ),
            ("build\tUNKNOWN STEP\t2026-03-02T10:14:07.0138781Z   x", "  x"),
            (
                "FAIL\texample.test/gauge\t0.004s",
                "FAIL\texample.test/gauge\t0.004s",
            ),
            ("a\tb\t2026-03-02T10:14:07Z x", "a\tb\t2026-03-02T10:14:07Z x"),
        ] {
            assert_eq!(split(text).text, rest, "{text}");
        }
    }

    #[test]
    fn flutters_milliseconds_go() {
        for (text, rest) in [
            ("[  +12 ms] error: x", "error: x"),
            ("[+4,312 ms] > Task :app:x FAILED", "> Task :app:x FAILED"),
            ("[        ]    > x", "   > x"),
            ("[        ]", ""),
            ("[ RUN      ] A.B", "[ RUN      ] A.B"),
            ("[ ] to do", "[ ] to do"),
        ] {
            assert_eq!(split(text).text, rest, "{text}");
        }
    }

    #[test]
    fn a_time_goes_before_and_after_a_label() {
        let parts = split("2026-03-02T10:14:07.0138781Z ##[error]x");
        assert!(parts.by_runner);
        assert_eq!(parts.text, "##[error]x");
        assert_eq!(split("web-1  | 2026-03-02T10:14:07Z INFO up").text, "INFO up");
    }
}
