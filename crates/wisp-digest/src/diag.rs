//! The diagnostic line that most compilers share: `PATH:LINE:COL: severity: message`, and what it may be caused by.

use std::sync::OnceLock;

use crate::block::trimmed;
use crate::digest::Location;
use crate::find::Find;
use crate::line::{Place, any_of, paren_place_at_start, place, quoted, without_indent};
use crate::literals::Literals;

/// How serious a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Warning,
    Note,
}

/// A diagnostic line taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diagnostic<'a> {
    pub location: Location,
    pub level: Level,
    /// What stands between the severity and the message in MSBuild's and tsc's form: `TS2307`.
    pub code: Option<&'a str>,
    pub message: &'a str,
}

/// Severities as compilers write them, in the languages gcc and clang are most often met in, but for `error:` and
/// `warning:`. The commonest stand first.
const LEVELS: &[(&str, Level)] = &[
    ("note:", Level::Note),
    ("fatal error:", Level::Error),
    ("internal compiler error:", Level::Error),
    ("remark:", Level::Note),
    ("info:", Level::Note),
    ("help:", Level::Note),
    ("Error:", Level::Error),
    ("Warning:", Level::Warning),
    ("Note:", Level::Note),
    ("ERROR:", Level::Error),
    ("schwerwiegender Fehler:", Level::Error),
    ("Fehler:", Level::Error),
    ("Warnung:", Level::Warning),
    ("Anmerkung:", Level::Note),
    ("erreur fatale :", Level::Error),
    ("erreur fatale:", Level::Error),
    ("erreur :", Level::Error),
    ("erreur:", Level::Error),
    ("attention :", Level::Warning),
    ("avertissement :", Level::Warning),
    ("avertissement:", Level::Warning),
    ("error fatal:", Level::Error),
    ("aviso:", Level::Warning),
    ("erro:", Level::Error),
    ("nota:", Level::Note),
    ("errore:", Level::Error),
    ("attenzione:", Level::Warning),
    ("ошибка:", Level::Error),
    ("предупреждение:", Level::Warning),
    ("错误：", Level::Error),
    ("致命错误：", Level::Error),
    ("警告：", Level::Warning),
    ("エラー:", Level::Error),
    ("警告:", Level::Warning),
];

/// The severity at the start of the text and the message after it.
pub(crate) fn level_at_start(text: &str) -> Option<(Level, &str)> {
    let text = without_indent(text);
    // The words of nearly all are compared as numbers, without a call.
    let (level, rest) = if let Some(rest) = text.strip_prefix("error:") {
        (Level::Error, rest)
    } else if let Some(rest) = text.strip_prefix("warning:") {
        (Level::Warning, rest)
    } else {
        other_level(text)?
    };
    Some((level, without_indent(rest)))
}

fn other_level(text: &str) -> Option<(Level, &str)> {
    let first = text.as_bytes().first();
    let mut levels = LEVELS.iter().filter(|(name, _)| name.as_bytes().first() == first);
    levels.find_map(|(name, level)| Some((*level, text.strip_prefix(name)?)))
}

/// `PATH:LINE[:COL]: severity: message`.
pub(crate) fn colon(text: &str) -> Option<Diagnostic<'_>> {
    placed(text).map(|(place, level, message)| Diagnostic {
        location: place.location(),
        level,
        code: None,
        message,
    })
}

/// As [`colon`], without a copy of the path.
pub(crate) fn placed(text: &str) -> Option<(Place<'_>, Level, &str)> {
    let (place, rest) = place(text)?;
    let (level, message) = level_at_start(rest.strip_prefix(':')?)?;
    Some((place, level, message))
}

/// `PATH(LINE,COL): severity CODE: message`, as tsc, MSBuild, csc and Visual C++ write it.
pub(crate) fn paren(text: &str) -> Option<Diagnostic<'_>> {
    let (location, rest) = paren_place_at_start(text)?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    coded(rest).map(|(level, code, message)| Diagnostic {
        location,
        level,
        code,
        message,
    })
}

/// `severity CODE: message` at the start.
pub(crate) fn coded(text: &str) -> Option<(Level, Option<&str>, &str)> {
    let (word, rest) = text.halves(b' ')?;
    let (word, rest) = if word == "fatal" {
        rest.halves(b' ')?
    } else {
        (word, rest)
    };
    let level = match word.trim_end_matches(':') {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "message" | "info" | "note" => Level::Note,
        _ => return None,
    };
    if word.ends_with(':') {
        return Some((level, None, rest.trim()));
    }
    let (code, message) = rest.halves(b':')?;
    let code = code.trim();
    let is_code =
        !code.is_empty() && code.len() <= 16 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_code.then_some((level, Some(code), message.trim()))
}

/// Phrases of messages that say a name is missing: the same message twice is one cause twice met.
const MISSING: &[&str] = &[
    "undeclared",
    "not declared",
    "cannot find",
    "Cannot find",
    "could not find",
    "not found",
    "no member named",
    "has no member",
    "undefined",
    "unresolved",
    "no matching function",
    "No such file",
    "not defined",
    "does not exist",
    "not a member of",
    "has no exported member",
    "no such module",
    "not in scope",
    "no required module",
    "is not in std",
    "unknown type name",
    "Cannot resolve",
    "Unresolved reference",
    "does not contain a definition",
    "could not be found",
    "no attribute",
    "nicht deklariert",
    "non déclaré",
    "pas été déclaré",
];

fn missing() -> &'static Literals {
    static PHRASES: OnceLock<Literals> = OnceLock::new();
    PHRASES.get_or_init(|| Literals::new(MISSING.iter().map(|phrase| (*phrase, 1))))
}

/// The key of the cause a message shares with others like it: a missing name. None for any other message.
pub(crate) fn missing_name(message: &str) -> Option<String> {
    if !missing().any(message.as_bytes()) {
        return None;
    }
    match quoted(message).filter(|name| !name.is_empty()) {
        Some(name) if message.has("no matching function") => Some(format!("call {name}")),
        Some(name) => Some(format!("missing {name}")),
        None => Some(format!("missing {message}")),
    }
}

/// `[-Wunused-variable]` or `[unused-import]` at the end of a message: the name of the check.
pub(crate) fn check_at_end(message: &str) -> Option<&str> {
    let inside = trimmed(message).strip_suffix(']')?;
    let open = memchr::memrchr(b'[', inside.as_bytes())?;
    let name = &inside[open + 1..];
    if name.is_empty() || any_of(&ODD_IN_CHECK, name.as_bytes()) {
        return None;
    }
    Some(name.strip_prefix("-W").unwrap_or(name))
}

/// Bytes that the name of a check does not have.
static ODD_IN_CHECK: [bool; 256] = {
    let mut odd = [true; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        odd[byte as usize] = !(byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'=' | b'+' | b'/' | b'.' | b',' | b':' | b'#'));
        byte += 1;
    }
    odd
};
