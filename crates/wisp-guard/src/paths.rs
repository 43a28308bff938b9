//! Paths by what their names say they hold, in any letter case.

use crate::credentials;
use crate::level::Level;
use crate::rules::{Pattern, risks};

fn any(patterns: &[Pattern], path: &str) -> bool {
    let lower = path.to_lowercase();
    patterns.iter().any(|pattern| pattern.matches(&lower))
}

/// Whether a path is shaped like one of a credential: `.ssh/`, `.env`, `*.pem`, …
pub fn is_credential(path: &str) -> bool {
    credentials::is_path(path)
}

/// Whether a path is shaped like one of something private that is no credential by name: a history, a database.
pub fn is_sensitive(path: &str) -> bool {
    any(&risks().sensitive, path)
}

/// Whether a change at a path makes something run later: shell start-up files, git hooks, system directories.
pub fn is_startup(path: &str) -> bool {
    any(&risks().runs_later, path) || any(&risks().system, &normal(path))
}

/// An absolute path without `.`, `..` and doubled slashes; any other as it is.
pub(crate) fn normal(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// What is to be said of a path that is read.
pub(crate) fn reading(path: &str) -> Option<(Level, String)> {
    if is_credential(path) {
        return Some((Level::Dangerous, format!("{path} is shaped like a credential")));
    }
    is_sensitive(path).then(|| (Level::Moderate, format!("{path} may hold something private")))
}

/// What is to be said of a path that is written.
pub(crate) fn writing(path: &str) -> Option<(Level, String)> {
    if is_credential(path) {
        return Some((Level::Dangerous, format!("{path} is shaped like a credential")));
    }
    is_startup(path).then(|| {
        (
            Level::Dangerous,
            format!("what is written to {path} may run later"),
        )
    })
}

/// What is to be said of a path a program names that is not known to read only: the name alone says it runs later.
/// System directories are left out, since much that is read is in them.
pub(crate) fn writing_by_name(path: &str) -> Option<(Level, String)> {
    any(&risks().runs_later, path).then(|| {
        (
            Level::Dangerous,
            format!("what is written to {path} may run later"),
        )
    })
}

/// What is to be said of a directory that is written into without a name: a home, the root, a directory of programs.
pub(crate) fn writing_over(path: &str) -> Option<(Level, String)> {
    any(&risks().homes, path).then(|| {
        (
            Level::Dangerous,
            format!("what is written into {path} may replace files that run later"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_name_in_any_case() {
        for path in [
            "/home/a/.ssh/config",
            "~/.SSH/id_ed25519",
            ".env",
            "app/.env.production",
            "server.PEM",
            "a/b.key",
            "/etc/shadow",
            "/proc/self/environ",
            ".npmrc",
        ] {
            assert!(is_credential(path), "{path}");
        }
        for path in [
            ".env.example",
            "src/main.rs",
            "environment.md",
            "keyboard.rs",
            "src/ssh/mod.rs",
            "monkey",
            "docs/tokens.md",
        ] {
            assert!(!is_credential(path), "{path}");
        }
    }
}
