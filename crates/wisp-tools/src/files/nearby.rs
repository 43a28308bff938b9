//! What stands near a path at which there is nothing: the names in its directory, nearest first, and files of the same
//! name below it. A model that is told them need not list the directory to go on.

use std::fs;
use std::path::{Path, PathBuf};

use similar::TextDiff;

/// The most names that are told.
const NAMES: usize = 8;
/// How alike a name must be to come before others, of 1.
const NEAR: f32 = 0.6;
/// The most characters of a name.
const CHARS: usize = 60;
/// The most entries of directories that are looked at.
const LOOKED_AT: usize = 2000;
/// How deep a file of the same name is looked for.
const DEPTH: usize = 4;
/// Directories in which it is not looked for.
const SKIPPED: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// What to say after "file not found: PATH", starting with `; `: where a file of that name is, else what its directory
/// has.
///
/// At most 2,000 entries are looked at and eight names told; hidden ones only when the path is hidden.
pub fn beside(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let mut dir = path.parent().unwrap_or(Path::new("/"));
    let mut missing = None;
    while !dir.is_dir() {
        missing = Some(dir);
        let Some(above) = dir.parent() else {
            return String::new();
        };
        dir = above;
    }
    let mut left = LOOKED_AT;
    let mut same = Vec::new();
    below(dir, &name, DEPTH, &mut left, &mut same);
    if let Some(first) = same.first() {
        let also = match same.len() {
            1 => String::new(),
            n => format!(" and {} more of that name", n - 1),
        };
        return format!("; there is {}{also}", first.display());
    }
    let wanted = missing
        .and_then(Path::file_name)
        .map_or(name, |dir| dir.to_string_lossy().into_owned());
    let gone = missing.map_or_else(String::new, |dir| {
        format!("; there is no directory {}", dir.display())
    });
    let which = if missing.is_some() {
        dir.display().to_string()
    } else {
        "the directory".to_owned()
    };
    match names(dir, &wanted) {
        names if names.is_empty() => format!("{gone}; {which} is empty"),
        names => format!("{gone}; {which} has {}", listed(&names)),
    }
}

/// What a directory has, by name, as `a, b, c/ and 4 more`; `nothing` when it is empty.
pub fn inside(dir: &Path) -> String {
    match names(dir, "") {
        names if names.is_empty() => "nothing".to_owned(),
        names => listed(&names),
    }
}

fn listed(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES).map(String::as_str).collect();
    match names.len().saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The names in a directory, nearest to `wanted` first, a directory's with a slash.
fn names(dir: &Path, wanted: &str) -> Vec<String> {
    let hidden = wanted.starts_with('.');
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().take(LOOKED_AT);
    let mut names: Vec<(String, bool)> = entries
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path().is_dir(),
            )
        })
        .filter(|(name, _)| hidden || !name.starts_with('.'))
        .collect();
    names.sort();
    let wanted = wanted.to_lowercase();
    let near = |name: &str| {
        let ratio = TextDiff::from_chars(wanted.as_str(), name.to_lowercase().as_str()).ratio();
        if ratio < NEAR { 0.0 } else { ratio }
    };
    let mut ranked: Vec<(f32, String)> = names
        .into_iter()
        .map(|(name, is_dir)| (near(&name), shown(&name, is_dir)))
        .collect();
    // Stable: equally near names stay in order.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// A name as a model can copy it: cut, and in quotes when it has blanks or control characters.
fn shown(name: &str, is_dir: bool) -> String {
    let mut cut: String = name.chars().take(CHARS).collect();
    if cut.len() < name.len() {
        cut.push('…');
    }
    if is_dir {
        cut.push('/');
    }
    let plain = !cut.chars().any(|char| char.is_whitespace() || char.is_control());
    if plain { cut } else { format!("{cut:?}") }
}

/// Files of this name below a directory, without following links.
fn below(dir: &Path, name: &str, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    let mut inner = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let Ok(kind) = entry.file_type() else { continue };
        let own = entry.file_name();
        let own = own.to_string_lossy();
        if kind.is_file() && own == name {
            found.push(entry.path());
        } else if kind.is_dir() && !own.starts_with('.') && !SKIPPED.contains(&&*own) {
            inner.push(entry.path());
        }
    }
    if depth > 1 {
        inner.sort();
        for dir in inner {
            below(&dir, name, depth - 1, left, found);
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of the test's own")]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        dir
    }

    #[test]
    fn the_nearest_names_of_the_directory_come_first() {
        let dir = tree(&["zeta.txt", "notes.md", "alpha.py", ".env", "b c.txt", "lib/x.py"]);
        assert_eq!(
            beside(&dir.path().join("note.md")),
            "; the directory has notes.md, alpha.py, \"b c.txt\", lib/, zeta.txt"
        );
        assert_eq!(
            inside(dir.path()),
            "alpha.py, \"b c.txt\", lib/, notes.md, zeta.txt"
        );
        assert_eq!(inside(tree(&[]).path()), "nothing");
    }

    #[test]
    fn a_file_of_that_name_elsewhere_is_named() {
        let dir = tree(&["src/app.py", "node_modules/app.py", ".git/app.py"]);
        let src = dir.path().join("src/app.py");
        assert_eq!(
            beside(&dir.path().join("app.py")),
            format!("; there is {}", src.display())
        );
        assert_eq!(
            beside(&dir.path().join("lib/app.py")),
            format!("; there is {}", src.display())
        );
    }

    #[test]
    fn a_directory_that_is_missing_is_named_with_what_is_there() {
        let dir = tree(&["source/a", "docs/b"]);
        let at = dir.path().display();
        assert_eq!(
            beside(&dir.path().join("sources/x/y.py")),
            format!("; there is no directory {at}/sources; {at} has source/, docs/")
        );
    }

    #[test]
    fn many_names_are_counted_and_a_long_one_is_cut() {
        let many: Vec<String> = (10..30).map(|n| format!("f{n}")).collect();
        let dir = tree(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(
            beside(&dir.path().join("zzz")).ends_with("f10, f11, f12, f13, f14, f15, f16, f17 and 12 more")
        );
        let dir = tree(&[&"x".repeat(200)]);
        assert_eq!(
            beside(&dir.path().join("zzz")),
            format!("; the directory has {}…", "x".repeat(60))
        );
    }
}
