//! Completing `@path` by a fuzzy match over the files of the directory, and the paths of a typed command by their beginning.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};
use wisp_tools::search::walk::{self, Scope};

use super::begins_word;

/// The most candidates.
const MOST: usize = 20;
/// The most files that are looked at, and how long: a key was pressed and an answer is waited for.
const LOOKED_AT: usize = 50_000;
const LIMIT: Duration = Duration::from_millis(400);

/// Where paths are looked for.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    /// The directory of the conversation.
    pub directory: PathBuf,
    /// The user's home, which a `~` stands for.
    pub home: Option<PathBuf>,
    /// wisp's own files, which are not offered.
    pub own: PathBuf,
}

/// A path that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    /// Where what is replaced begins, in characters.
    from: usize,
    /// What there is of it.
    word: String,
    /// Whether it follows an `@`; else it is of a command.
    attached: bool,
}

/// The path at the cursor; none when there is none to complete.
pub(crate) fn typed(line: &str, cursor: usize) -> Option<Typed> {
    let before: String = line.chars().take(cursor).collect();
    if let Some(command) = before.strip_prefix('!') {
        let start = command
            .char_indices()
            .rfind(|(at, char)| char.is_whitespace() && !command[..*at].ends_with('\\'))
            .map_or(0, |(at, char)| at + char.len_utf8());
        let word = command[start..].replace('\\', "");
        let quoted = word.contains(['"', '\'', '$', '`']);
        let is_path = start > 0 || word.contains('/');
        return (is_path && !quoted).then(|| Typed {
            from: 1 + command[..start].chars().count(),
            word,
            attached: false,
        });
    }
    let at = before.rfind('@').filter(|at| begins_word(&before[..*at]))?;
    let word = &before[at + 1..];
    let (word, quoted) = word.strip_prefix('"').map_or((word, false), |word| (word, true));
    let ended = word.contains('"') || (!quoted && word.contains(char::is_whitespace));
    (!ended).then(|| Typed {
        from: before[..at].chars().count(),
        word: word.to_owned(),
        attached: true,
    })
}

/// What it could become, best first, and where in the line that stands, in characters.
pub(crate) fn candidates(typed: &Typed, roots: &Roots) -> (usize, Vec<String>) {
    let word = typed.word.as_str();
    let texts = if typed.attached {
        let outside = word.starts_with(['/', '~']) || word.starts_with("..");
        let paths = if outside {
            beginning(word, roots)
        } else {
            alike(word, roots)
        };
        paths.into_iter().map(|path| mention(&path)).collect()
    } else {
        beginning(word, roots).iter().map(|path| escaped(path)).collect()
    };
    (typed.from, texts)
}

/// A path after its `@`, in quotes where it has blanks.
fn mention(path: &str) -> String {
    if path.contains(char::is_whitespace) {
        format!("@\"{path}\"")
    } else {
        format!("@{path}")
    }
}

/// A path as a shell takes it for one word.
fn escaped(path: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "/._-+,:@%~=".contains(char);
    let mut text = String::new();
    for char in path.chars() {
        if !plain(char) {
            text.push('\\');
        }
        text.push(char);
    }
    text
}

/// Files and folders whose path has the letters of `word` in order, the best match first.
fn alike(word: &str, roots: &Roots) -> Vec<String> {
    let mut scope = Scope::of(roots.directory.clone());
    scope.own.clone_from(&roots.own);
    scope.limit = LIMIT;
    let mut paths = Vec::new();
    scope.walk(|entry, _| {
        if (entry.depth() == 1 || !word.is_empty()) && !walk::holds_credentials(entry.path()) {
            let slash = if walk::is_folder(entry) { "/" } else { "" };
            paths.push(format!("{}{slash}", scope.told(entry.path())));
        }
        paths.len() < LOOKED_AT
    });
    paths.retain(|path| !path.contains(['"', '\n']));
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let pattern = Pattern::new(word, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    let mut ranked = pattern.match_list(paths, &mut matcher);
    ranked.sort_by(|(a, best), (b, other)| {
        let order = other.cmp(best).then(a.len().cmp(&b.len()));
        order.then_with(|| a.cmp(b))
    });
    ranked.into_iter().take(MOST).map(|(path, _)| path).collect()
}

/// Paths that begin with `word`, as a shell completes them; hidden ones only where a dot was typed.
fn beginning(word: &str, roots: &Roots) -> Vec<String> {
    let (folder, name) = word.rfind('/').map_or(("", word), |at| word.split_at(at + 1));
    let place = match (folder.strip_prefix("~/"), &roots.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => roots.directory.join(folder),
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut paths: Vec<String> = entries
        .take(LOOKED_AT)
        .filter_map(|entry| {
            let own = entry.file_name().into_string().ok()?;
            let begins = own.starts_with(name) && (name.starts_with('.') || !own.starts_with('.'));
            let slash = if is_folder(&entry.path()) { "/" } else { "" };
            (begins && !own.contains(['"', '\n'])).then(|| format!("{folder}{own}{slash}"))
        })
        .collect();
    paths.sort();
    paths
}

fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "the tests lay out a directory")]
    use super::*;

    fn roots(files: &[&str]) -> (tempfile::TempDir, Roots) {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join("work").join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let roots = Roots {
            directory: dir.path().join("work"),
            home: Some(dir.path().to_owned()),
            own: dir.path().join("work/.wisp"),
        };
        (dir, roots)
    }

    fn complete(line: &str, roots: &Roots) -> (usize, Vec<String>) {
        let typed = typed(line, line.chars().count()).expect("a path is typed");
        candidates(&typed, roots)
    }

    #[test]
    fn letters_in_order_find_a_path_and_the_best_is_first() {
        let (_dir, roots) = roots(&["src/main.rs", "src/domain.rs", "README.md"]);
        let found = complete("explain @main", &roots);
        assert_eq!(
            found,
            (8, vec!["@src/main.rs".to_owned(), "@src/domain.rs".to_owned()])
        );
        assert_eq!(complete("é @reme", &roots), (2, vec!["@README.md".to_owned()]));
    }

    #[test]
    fn ignored_files_credentials_and_wisps_own_are_not_offered() {
        let (_dir, roots) = roots(&[
            "target/out.txt",
            "out.txt",
            ".wisp/out.txt",
            ".git/out.txt",
            ".env",
        ]);
        std::fs::write(roots.directory.join(".gitignore"), "target/\n").unwrap();
        assert_eq!(complete("@out", &roots).1, ["@out.txt"]);
        assert_eq!(complete("@env", &roots).1, Vec::<String>::new());
    }

    #[test]
    fn nothing_typed_lists_the_directory_and_blanks_get_quotes() {
        let (_dir, roots) = roots(&["b/deep.txt", "a file.txt"]);
        assert_eq!(complete("@", &roots).1, ["@b/", "@\"a file.txt\""]);
        assert_eq!(
            complete("@\"a f", &roots),
            (0, vec!["@\"a file.txt\"".to_owned()])
        );
    }

    #[test]
    fn a_path_outside_is_completed_by_its_beginning() {
        let (dir, roots) = roots(&["x.txt"]);
        std::fs::write(dir.path().join("notes.txt"), "").unwrap();
        assert_eq!(complete("@~/no", &roots).1, ["@~/notes.txt"]);
        assert_eq!(complete("@../no", &roots).1, ["@../notes.txt"]);
    }

    #[test]
    fn a_typed_commands_paths_are_completed_as_a_shell_does() {
        let (_dir, roots) = roots(&["src/main.rs", "src/my file.rs", ".hidden"]);
        assert_eq!(complete("!cat sr", &roots), (5, vec!["src/".to_owned()]));
        assert_eq!(
            complete("!cat src/m", &roots).1,
            ["src/main.rs", "src/my\\ file.rs"]
        );
        assert_eq!(
            complete("!cat src/my\\ f", &roots),
            (5, vec!["src/my\\ file.rs".to_owned()])
        );
        assert_eq!(complete("!cat .h", &roots).1, [".hidden"]);
        assert_eq!(complete("!ls ", &roots).1, ["src/"]);
        assert_eq!(complete("!src/ma", &roots), (1, vec!["src/main.rs".to_owned()]));
    }

    #[test]
    fn only_what_is_a_path_at_the_cursor_is_completed() {
        for line in [
            "hello",
            "ada@example",
            "@a b",
            "@\"a\" b",
            "!ls",
            "!echo \"a",
            "!echo $HO",
        ] {
            assert_eq!(typed(line, line.chars().count()), None, "{line}");
        }
        assert!(typed("@ab cd", 2).is_some_and(|typed| typed.word == "a"));
    }
}
