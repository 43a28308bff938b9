//! The labels of parallel jobs: `#12 3.4 `, `[web] `, `web:build: `, `packages/web build: `, `web-1  | `.

use crate::near::near;

/// Words that a log declares a level or a verdict by: no label, though they stand where one would.
const LEVELS: &[&str] = &[
    "error", "err", "warn", "warning", "info", "debug", "trace", "note", "fatal", "notice", "hint", "help",
    "crit", "critical", "doctest", "command", "failed", "passed", "ok", "stdout", "stderr",
];

/// The label that a text begins with, and what follows it.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    match text.as_bytes().first() {
        Some(b'#') => docker_step(text),
        Some(b'[') => bracketed(text),
        Some(b'a'..=b'z' | b'@' | b'.') => named(text),
        _ => None,
    }
}

/// BuildKit's plain progress: `#12 3.4 text` and `#12 text`.
fn docker_step(text: &str) -> Option<(&str, &str)> {
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    let rest = text[1 + digits..].strip_prefix(' ')?;
    if digits == 0 {
        return None;
    }
    Some((&text[..=digits], without_seconds(rest)))
}

/// The copy of a failed step's output has the seconds without the step: `2.310 text`.
pub(super) fn build_seconds(text: &str) -> &str {
    let whole = text.bytes().take_while(u8::is_ascii_digit).count();
    let exact = text[whole..].strip_prefix('.').is_some_and(|rest| {
        let part = rest.bytes().take_while(u8::is_ascii_digit).count();
        // Four digits in all, as BuildKit rounds: `0.630`, `37.02`, `178.4`.
        (part == 3 || (part > 0 && part + whole == 4))
            && matches!(rest.as_bytes().get(part), None | Some(b' '))
    });
    if exact { without_seconds(text) } else { text }
}

/// Takes `3.412 ` off; BuildKit writes three decimals.
fn without_seconds(text: &str) -> &str {
    let whole = text.bytes().take_while(u8::is_ascii_digit).count();
    let Some(rest) = text[whole..].strip_prefix('.') else {
        return text;
    };
    let part = rest.bytes().take_while(u8::is_ascii_digit).count();
    if whole == 0 || !(1..=3).contains(&part) {
        return text;
    }
    match &rest[part..] {
        "" => "",
        rest => rest.strip_prefix(' ').unwrap_or(text),
    }
}

/// `[web] text`, as concurrently and many task runners write.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let end = memchr::memchr(b']', &text.as_bytes()[..text.len().min(48)])?;
    let name = &text[1..end];
    let rest = text[end + 1..].strip_prefix(' ')?;
    // Ant's tasks under Gradle say what they are; the line is of the build.
    (is_label(name) && !is_level(name) && !name.starts_with("ant:")).then_some((name, rest))
}

fn is_label(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_lowercase() || byte == b'@')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"@/._:-".contains(&byte))
}

fn is_level(name: &str) -> bool {
    LEVELS.iter().any(|level| name.eq_ignore_ascii_case(level))
}

/// The labels that begin with a letter: Turborepo's, pnpm's and Compose's.
pub(super) fn named(text: &str) -> Option<(&str, &str)> {
    let head = &text.as_bytes()[..text.len().min(96)];
    let space = near(b' ', head, 0);
    if let Some(end) = space {
        let first = &head[..end];
        if let [.., before, b':'] = first {
            // `src/a.c:3:4:` is a place, `error[E1]:` a severity, and neither is a label.
            return if before.is_ascii_digit() || *before == b']' || *before == b')' {
                None
            } else {
                task(text, end)
            };
        }
        if memchr::memchr(b'/', first).is_some() || first == b"." {
            return script(text, end);
        }
    } else if head.last() == Some(&b':') && text.len() <= head.len() {
        return task(text, text.len());
    }
    memchr::memchr(b'|', &head[..head.len().min(64)]).and_then(|bar| service(text, bar))
}

/// Turborepo's `web:build: text`.
fn task(text: &str, space: usize) -> Option<(&str, &str)> {
    let label = text[..space].strip_suffix(':')?;
    let colon = label.bytes().rposition(|byte| byte == b':')?;
    let (package, task) = (&label[..colon], &label[colon + 1..]);
    let named = is_label(package) && is_label(task) && !task.contains(['/', '.']) && !is_level(task);
    let file = package.rsplit_once('.').is_some_and(|(_, end)| end.len() <= 4);
    (named && !file && !is_level(package)).then(|| (label, text.get(space + 1..).unwrap_or("")))
}

/// pnpm's `packages/web build: text` and `packages/web build$ command`.
fn script(text: &str, space: usize) -> Option<(&str, &str)> {
    let (folder, rest) = (&text[..space], &text[space + 1..]);
    let end = memchr::memchr(b' ', rest.as_bytes()).unwrap_or(rest.len());
    let word = rest[..end].strip_suffix([':', '$'])?;
    let place = folder == "." || (!folder.contains(':') && is_label(folder));
    let file = folder
        .rsplit('/')
        .next()
        .is_some_and(|last| last.contains('.') && folder != ".");
    let named = place && !file && is_label(word) && !is_level(word);
    named.then(|| (&text[..space + end], rest.get(end + 1..).unwrap_or("")))
}

/// Compose's `web-1  | text`.
fn service(text: &str, bar: usize) -> Option<(&str, &str)> {
    let name = text[..bar].trim_end_matches(' ');
    let padding = bar - name.len();
    let number = name.rsplit_once(['-', '_']).map_or("", |(_, number)| number);
    let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let rest = &text[bar + 1..];
    let marked = rest.is_empty() || rest.starts_with(' ');
    let labelled = padding >= 1 && marked && is_label(name) && (numbered || padding >= 2);
    labelled.then(|| (name, rest.strip_prefix(' ').unwrap_or(rest)))
}
