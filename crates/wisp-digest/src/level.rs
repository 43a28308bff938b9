//! A log entry's severity: declared by the entry, or told from its words.

use serde::Serialize;

use crate::find::Find;
use crate::looks::{Words, claimed};

/// How serious an entry is. The order is the order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The program cannot go on.
    Fatal,
    /// Something failed.
    Error,
    /// Something may fail.
    Warning,
    /// Anything else.
    Info,
}

const NAMES: &[(&str, Severity)] = &[
    ("TRACE", Severity::Info),
    ("DEBUG", Severity::Info),
    ("DBG", Severity::Info),
    ("INFO", Severity::Info),
    ("INF", Severity::Info),
    ("NOTICE", Severity::Info),
    ("WARN", Severity::Warning),
    ("WARNING", Severity::Warning),
    ("WRN", Severity::Warning),
    ("ERROR", Severity::Error),
    ("ERR", Severity::Error),
    ("SEVERE", Severity::Error),
    ("FATAL", Severity::Fatal),
    ("CRITICAL", Severity::Fatal),
    ("CRIT", Severity::Fatal),
    ("FTL", Severity::Fatal),
    ("PANIC", Severity::Fatal),
    ("EMERG", Severity::Fatal),
    ("ALERT", Severity::Fatal),
    ("FAULT", Severity::Fatal),
];

/// The severity a word names, in capitals or small letters.
pub(crate) fn named(word: &str) -> Option<Severity> {
    if !(3..=8).contains(&word.len()) {
        return None;
    }
    NAMES
        .iter()
        .find(|(name, _)| word.eq_ignore_ascii_case(name))
        .map(|(_, severity)| *severity)
}

/// The level an entry declares at its start or as `level=…`.
pub(crate) fn declared(text: &str) -> Option<Severity> {
    at_start(text).or_else(|| logfmt(text)).or_else(|| glog(text))
}

/// `INFO  http: …`, `[ERROR] …`, `<warn> …`, `INFO:root:…`, and `[main] INFO …` with one field before it.
fn at_start(text: &str) -> Option<Severity> {
    let marks = text
        .bytes()
        .take_while(|byte| matches!(byte, b'[' | b'<' | b'(' | b'|' | b' '))
        .count();
    let first = &text[marks..];
    let word = leading_word(first);
    named(word)
        .filter(|_| is_upper_or_marked(text, word))
        .or_else(|| {
            let rest = text.strip_prefix('[')?.halves(b']')?.1.trim_start();
            let word = leading_word(rest.trim_start_matches('['));
            named(word).filter(|_| word.bytes().all(|byte| byte.is_ascii_uppercase()))
        })
}

fn leading_word(text: &str) -> &str {
    let end = text
        .bytes()
        .position(|byte| !byte.is_ascii_alphabetic())
        .unwrap_or(text.len());
    &text[..end]
}

fn is_upper_or_marked(text: &str, word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_uppercase()) || text.starts_with(['[', '<', '|'])
}

fn logfmt(text: &str) -> Option<Severity> {
    let head = crate::line::cut(text, 160);
    // Both names have the letter, and few words have.
    memchr::memchr(b'v', head.as_bytes())?;
    let (_, rest) = head
        .part_at("level=")
        .or_else(|| head.part_at("\"level\":"))
        .or_else(|| head.part_at("lvl="))?;
    named(leading_word(rest.trim_start_matches(['"', ' '])))
}

/// `E0302 10:14:07.123456 …`.
fn glog(text: &str) -> Option<Severity> {
    let bytes = text.as_bytes();
    let dated = bytes.len() > 6 && bytes[1..5].iter().all(u8::is_ascii_digit) && bytes[5] == b' ';
    match bytes.first().filter(|_| dated)? {
        b'I' => Some(Severity::Info),
        b'W' => Some(Severity::Warning),
        b'E' => Some(Severity::Error),
        b'F' => Some(Severity::Fatal),
        _ => None,
    }
}

const FATAL: &Words = &Words::new(&[
    "fatal", "panic", "panicked", "critical", "crash", "crashed", "segfault", "aborted", "oops",
]);
const ERROR: &Words = &Words::new(&[
    "error",
    "errors",
    "failed",
    "failure",
    "fails",
    "exception",
    "denied",
    "refused",
    "timeout",
    "unable",
]);
const WARNING: &Words = &Words::new(&["warn", "warning", "deprecated"]);

/// `systemd[1]: Started crash-tools.service - …`: what a unit is called says nothing of how it went.
fn is_job(text: &str) -> bool {
    const JOBS: &[&str] = &[
        "Started ",
        "Starting ",
        "Stopped ",
        "Stopping ",
        "Finished ",
        "Reached target ",
        "Listening on ",
        "Mounted ",
        "Condition check resulted in ",
    ];
    let said = text.strip_prefix("systemd[").and_then(|rest| rest.part_at("]: "));
    said.is_some_and(|(_, said)| JOBS.iter().any(|job| said.starts_with(job)))
}

/// The severity its words suggest, for an entry that declares none.
pub(crate) fn guessed(text: &str) -> Severity {
    if is_job(text) {
        return Severity::Info;
    }
    match claimed(text, &[FATAL, ERROR, WARNING]) {
        Some(0) => Severity::Fatal,
        Some(1) => Severity::Error,
        Some(_) => Severity::Warning,
        None => Severity::Info,
    }
}
