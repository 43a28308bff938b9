//! wisp's own files: no command a model asks for reaches them, by whatever name the line has for them.
//!
//! What can be told from the line is refused here; what a program works out while it runs is up to the sandbox, which
//! hides the directory.

use std::path::{Component, Path, PathBuf};

use crate::globs;

/// Where a line runs and what its `~` is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bearings<'a> {
    /// The working directory.
    pub(crate) directory: &'a Path,
    /// The user's home, when it is known.
    pub(crate) user_home: Option<&'a Path>,
    /// Whether relative paths may be counted from elsewhere: the line changes the directory, or a program in it is
    /// given text of its own to run.
    pub(crate) adrift: bool,
}

/// Whether something in the line names one of these directories or a file in it.
pub(crate) fn reaches(line: &str, homes: &[PathBuf], at: Bearings<'_>) -> bool {
    let mut plain: String = line.chars().filter(|c| !"'\"\\".contains(*c)).collect();
    if let Some(home) = at.user_home.and_then(Path::to_str) {
        plain = plain.replace("${HOME}", home).replace("$HOME", home);
    }
    let ends = |c: char| c.is_whitespace() || ";|&()<>`=,@:{}+".contains(c);
    plain
        .split(ends)
        .filter(|token| !token.is_empty())
        .any(|token| homes.iter().any(|home| names(token, home, at)))
}

fn names(token: &str, home: &Path, at: Bearings<'_>) -> bool {
    let from_home = |rest: &str| at.user_home.map(|user| user.join(rest.trim_start_matches('/')));
    let path = match token.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => from_home(rest),
        Some(_) => None,
        None if token.starts_with('$') => None,
        None => Some(at.directory.join(token)),
    };
    let within = path.is_some_and(|path| starts_with(&normal(&path), &normal(home)));
    // Where the beginning is not known, the name alone is enough, when it is one of a hidden directory.
    let unknown = token.starts_with(['~', '$']) || at.adrift;
    within || unknown && has_name(token, home)
}

fn has_name(token: &str, home: &Path) -> bool {
    let name = home.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|name| name.starts_with('.')) else {
        return false;
    };
    token
        .split('/')
        .any(|part| part.starts_with('.') && globs::meet(part, name))
}

/// A path's components after `.` and `..` are taken out.
fn normal(path: &Path) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts
}

/// Whether a path, which may have shell patterns in it, can lie at or below another.
fn starts_with(path: &[String], home: &[String]) -> bool {
    let alike = |part: &String, wanted: &String| {
        let hidden = wanted.starts_with('.') && part.starts_with(['*', '?', '[']);
        part == wanted || !hidden && globs::meet(part, wanted)
    };
    path.len() >= home.len() && path.iter().zip(home).all(|(part, wanted)| alike(part, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(line: &str, adrift: bool) -> bool {
        let at = Bearings {
            directory: Path::new("/h/a/project"),
            user_home: Some(Path::new("/h/a")),
            adrift,
        };
        reaches(line, &[PathBuf::from("/h/a/.wisp")], at)
    }

    #[test]
    fn the_home_is_known_by_every_name_a_line_has_for_it() {
        for line in [
            "cat ~/.wisp/config.json",
            "sed -i s/a/b/ ~/.wisp/config.json",
            "echo x > \"$HOME/.wisp/config.json\"",
            "cp y \"${HOME}\"/.wisp/config.json",
            "rm -f ../.wisp/audit/x",
            "rm /h/a/./b/../.wisp/x",
            "tee ~/.w'is'p/x",
            "ls ~/.w*",
            "cat ~/.*/config.json",
            "cat $X/.wisp/config.json",
            "cat ~a/.wisp/config.json",
            "dd of=/h/a/.wisp/config.json",
            "tar xf a -C/x --directory=/h/a/.wisp",
        ] {
            assert!(reached(line, false), "{line}");
        }
        for line in [
            "cd ~ && cat .wisp/x",
            "python3 -c \"open(p+'/.wisp/config.json')\"",
        ] {
            assert!(reached(line, true), "{line}");
        }
    }

    #[test]
    fn a_directory_of_the_same_name_elsewhere_is_another() {
        for line in [
            "cat .wisp/notes",
            "ls ~/.wispy",
            "cat ~/wisp/a",
            "grep -rn .wisp docs",
            "ls ~/*",
        ] {
            assert!(!reached(line, false), "{line}");
        }
    }
}
