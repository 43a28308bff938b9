//! Which paths and which environment variables hold credentials: the one table for what is asked about and for what
//! the sandbox hides (`assets/credentials.json`).
//!
//! Entries are globs (`*` within one component), written in the letter case they have on
//! Linux, and compared in any. `home` is relative to a home directory, `machine` absolute, `files` the last component anywhere.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use crate::globs;

/// The table.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Table {
    home: Vec<String>,
    machine: Vec<String>,
    files: Vec<String>,
    except_files: Vec<String>,
    sockets: Vec<String>,
    environment: Vec<String>,
    except_environment: Vec<String>,
    agents: Vec<String>,
}

/// The table as it is written, for whoever hides what it names.
fn written() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        serde_json::from_str(include_str!("../../../assets/credentials.json"))
            .expect("the table of credentials is read by a test")
    })
}

/// The table with its paths in lower case, to compare with.
fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = written().clone();
        for list in [
            &mut table.home,
            &mut table.machine,
            &mut table.files,
            &mut table.except_files,
        ] {
            for entry in list.iter_mut() {
                *entry = entry.to_lowercase();
            }
        }
        table
    })
}

/// Files and directories of credentials relative to a home directory; a component may be a glob.
pub fn under_home() -> &'static [String] {
    &written().home
}

/// Files and directories of credentials by absolute path; a component may be a glob.
pub fn on_machine() -> &'static [String] {
    &written().machine
}

/// Globs of file names that hold credentials in any directory. [`is_file_name`] also knows the exceptions.
pub fn file_names() -> &'static [String] {
    &written().files
}

/// Sockets of other programs that act for whoever reaches them: the container daemon, D-Bus, agents.
pub fn sockets() -> &'static [String] {
    &table().sockets
}

/// The table as regular expressions, since every word of every command is compared with all of it.
struct Compiled {
    /// A path below which credentials are: `/a/b` with a slash before each component.
    paths: Regex,
    files: Regex,
    except_files: Regex,
}

fn compiled() -> &'static Compiled {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let table = table();
        let paths = table.home.iter().chain(&table.machine);
        let paths: Vec<&str> = paths.map(|entry| entry.trim_start_matches('/')).collect();
        let regex = |text: String| Regex::new(&text).expect("the table of credentials is read by a test");
        Compiled {
            paths: regex(format!("/(?:{})(?:/|$)", alternatives(&paths))),
            files: regex(format!("^(?:{})$", alternatives(&table.files))),
            except_files: regex(format!("^(?:{})$", alternatives(&table.except_files))),
        }
    })
}

/// Globs of one component each, or of several with slashes between, as alternatives of one expression.
fn alternatives<T: AsRef<str>>(globs: &[T]) -> String {
    let expression = |glob: &T| regex::escape(glob.as_ref()).replace("\\*", "[^/]*");
    globs.iter().map(expression).collect::<Vec<_>>().join("|")
}

/// Whether a file of this name (one component) holds a credential wherever it is.
///
/// ```
/// assert!(wisp_guard::credentials::is_file_name(".env.local"));
/// assert!(!wisp_guard::credentials::is_file_name(".env.example"));
/// ```
pub fn is_file_name(name: &str) -> bool {
    is_lower_file_name(&name.to_lowercase())
}

fn is_lower_file_name(name: &str) -> bool {
    compiled().files.is_match(name) && !compiled().except_files.is_match(name)
}

/// Whether a glob of the table matches the name of a file, in any letter case.
pub fn matches(glob: &str, name: &str) -> bool {
    globs::matches(&glob.to_lowercase(), &name.to_lowercase())
}

/// Whether a path, however it is begun (`~`, `$HOME`, relative), is one of a credential or lies under one.
pub fn is_path(path: &str) -> bool {
    let lower = path.to_lowercase();
    let parts = components(&lower);
    let Some(last) = parts.last() else { return false };
    is_lower_file_name(last) || compiled().paths.is_match(&format!("/{}", parts.join("/")))
}

/// Whether a word with shell patterns in it may turn out to be the path of a credential.
///
/// ```
/// use wisp_guard::credentials::may_be_path;
/// assert!(may_be_path(".e*") && may_be_path("~/.s?h/id"));
/// assert!(!may_be_path("*.txt") && !may_be_path("src/*.rs"));
/// ```
pub fn may_be_path(pattern: &str) -> bool {
    let lower = pattern.to_lowercase();
    let parts = components(&lower);
    // A leading `*` does not match a leading dot, and `*.txt` is not meant for a `secrets.txt`.
    let meets = |part: &str, entry: &str| match part.starts_with(['*', '?']) {
        true if entry.starts_with('.') => false,
        true => globs::meet(part, entry.trim_end_matches(".*").trim_end_matches('*')),
        false => globs::meet(part, entry),
    };
    let below = |entry: &String| {
        let wanted = components(entry);
        let meet = |window: &[&str]| window.iter().zip(&wanted).all(|(part, entry)| meets(part, entry));
        parts.windows(wanted.len()).any(meet)
    };
    let named = |last: &&str| table().files.iter().any(|entry| meets(last, entry));
    parts.last().is_some_and(named) || table().home.iter().any(below) || table().machine.iter().any(below)
}

/// Whether a variable of this name holds a credential; commands do not get it.
pub fn is_variable(name: &str) -> bool {
    let name = name.to_uppercase();
    any(&table().environment, &name) && !any(&table().except_environment, &name)
}

/// Whether a variable names a socket or agent that acts for the user: unset where a command may only read.
pub fn is_agent_variable(name: &str) -> bool {
    any(&table().agents, &name.to_uppercase())
}

/// The paths of [`under_home`] that have no glob, under this home directory.
pub fn plain_under(home: &Path) -> Vec<PathBuf> {
    let plain = written().home.iter().filter(|entry| !entry.contains(['*', '[']));
    plain.map(|entry| home.join(entry)).collect()
}

fn any(entries: &[String], name: &str) -> bool {
    entries.iter().any(|entry| globs::matches(entry, name))
}

/// The components of a path, without empty ones and `.`; a name before `..` is dropped with it.
fn components(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_known_however_they_are_begun() {
        for path in [
            "~/.ssh/config",
            "$HOME/.aws/credentials",
            ".env.bak",
            "a/./.env",
            "terraform.tfstate",
            "~/.config/rclone/rclone.conf",
            "/home/a/.config/op/config",
            "~/.S3CFG",
            "~/.m2/settings.xml",
            "~/.nuget/NuGet.Config",
            "secrets.yml.enc",
            "/proc/self/environ",
            "/proc/self/task/1/environ",
            "/etc/./shadow",
            "/etc/x/../shadow",
            "~/.zsh_history",
            "server.PEM",
        ] {
            assert!(is_path(path), "{path}");
        }
        for path in [
            ".env.example",
            "src/credentials.rs",
            "monkey",
            "keyboard.rs",
            "docs/tokens.md",
            "ssh/mod.rs",
            "",
        ] {
            assert!(!is_path(path), "{path}");
        }
    }

    #[test]
    fn a_pattern_that_can_be_a_credential_is_known() {
        for pattern in [
            ".e*",
            "./.en?",
            ".??v",
            "~/.s*/id_*",
            "*",
            "*.p[e]m",
            "/e*/s?adow",
            "/proc/*/environ",
            "[.]env",
        ] {
            assert!(may_be_path(pattern), "{pattern}");
        }
        for pattern in ["*.txt", "src/*.rs", "?nvx", "a?c"] {
            assert!(!may_be_path(pattern), "{pattern}");
        }
    }

    #[test]
    fn variables_are_known_by_name() {
        for name in [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "DATABASE_URL",
            "npm_config__authToken",
        ] {
            assert!(is_variable(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "LANG",
            "PWD",
            "TOKENIZERS_PARALLELISM",
            "KEYMAP",
            "SSH_AUTH_SOCK",
        ] {
            assert!(!is_variable(name), "{name}");
        }
        assert!(is_agent_variable("SSH_AUTH_SOCK") && is_agent_variable("DBUS_SESSION_BUS_ADDRESS"));
        assert!(!is_agent_variable("PATH"));
    }

    #[test]
    fn plain_entries_lie_under_the_home_given() {
        let paths = plain_under(Path::new("/h"));
        assert!(paths.contains(&PathBuf::from("/h/.ssh")));
        assert!(paths.iter().all(|path| !path.to_string_lossy().contains('*')));
    }
}
