//! What to do about a command that the shell did not find (exit 127) or could not run (exit 126): the program that is
//! here instead, or how to run the file.

use std::path::{Path, PathBuf};

use wisp_exec::{Ending, Outcome};
use wisp_host::Env;

/// Programs that stand in for others where those are missing, in the order they are tried.
const INSTEAD: &[(&str, &[&str])] = &[
    ("python", &["python3"]),
    ("python3", &["python"]),
    ("python2", &["python3"]),
    ("pip", &["pip3", "python3 -m pip"]),
    ("pip3", &["pip", "python3 -m pip"]),
    ("pytest", &["python3 -m pytest"]),
    ("rg", &["grep -rn"]),
    ("ag", &["grep -rn"]),
    ("ack", &["grep -rn"]),
    ("fd", &["find . -name"]),
    ("tree", &["find ."]),
    ("bat", &["cat"]),
    ("open", &["cat"]),
    ("dir", &["ls"]),
    ("ll", &["ls -l"]),
    ("nodejs", &["node"]),
    ("node", &["nodejs"]),
    ("gcc", &["cc", "clang"]),
    ("cc", &["gcc", "clang"]),
    ("g++", &["c++", "clang++"]),
    ("gmake", &["make"]),
    ("gsed", &["sed"]),
    ("gawk", &["awk"]),
    ("docker-compose", &["docker compose"]),
    ("wget", &["curl -LO"]),
    ("curl", &["wget -qO-"]),
    ("md5", &["md5sum"]),
    ("shasum", &["sha256sum"]),
];

/// How shells say that there is no such program.
const MISSING: [&str; 3] = ["command not found", "not found", "No such file or directory"];
/// How shells say that a file is no program.
const DENIED: [&str; 3] = [
    "Permission denied",
    "Exec format error",
    "cannot execute binary file",
];
/// The most characters of a name.
const CHARS: usize = 60;

/// The line below the output of a command that ended with 127 or 126; none for any other, and when nothing is known.
pub fn not_run(outcome: &Outcome, env: &Env) -> Option<String> {
    let Ending::Exited { code } = outcome.ending else {
        return None;
    };
    let stderr = [outcome.stderr.head(), outcome.stderr.tail()].concat();
    let path = env
        .get("PATH")
        .unwrap_or("/usr/local/bin:/usr/bin:/bin")
        .to_owned();
    let is_here = |name: &str| path.split(':').any(|dir| PathBuf::from(dir).join(name).is_file());
    said(code, &String::from_utf8_lossy(&stderr), &is_here)
}

/// The line for an exit status and what was printed on standard error.
fn said(code: i32, printed: &str, is_here: &dyn Fn(&str) -> bool) -> Option<String> {
    let named = |ends: &[&str]| printed.lines().find_map(|line| named(line, ends));
    match code {
        127 => Some(instead(&named(&MISSING)?, is_here)),
        126 => named(&DENIED).map(|name| {
            format!(
                "{name} cannot be run as it is: run it with its interpreter, such as sh {name} or python3 {name}"
            )
        }),
        _ => None,
    }
}

fn instead(name: &str, is_here: &dyn Fn(&str) -> bool) -> String {
    if name.contains('/') {
        let parent = Path::new(name).parent().unwrap_or(Path::new("."));
        return format!(
            "there is no program {name}: look for it with run_command: ls {}",
            parent.display()
        );
    }
    let others = INSTEAD
        .iter()
        .find(|(own, _)| *own == name)
        .map_or(&[] as &[&str], |(_, others)| others);
    let found = others
        .iter()
        .find(|other| is_here(other.split(' ').next().unwrap_or_default()));
    match found {
        Some(other) => format!("there is no {name} here: use {other} instead"),
        None => format!(
            "there is no {name} here: do it with another program, or tell the user that {name} is missing"
        ),
    }
}

/// The program in a shell's complaint that ends in one of `ends`, as in `sh: 1: python: not found`.
fn named(line: &str, ends: &[&str]) -> Option<String> {
    let line = line.trim();
    let rest = ends.iter().find_map(|end| line.strip_suffix(end))?;
    let rest = rest.trim_end().strip_suffix(':')?;
    let quotes = ['\'', '"', '`', '\u{2018}', '\u{2019}'];
    let name = rest.rsplit(": ").next()?.trim().trim_matches(quotes);
    let sane = !name.is_empty() && !name.chars().any(|char| char.is_whitespace() || char.is_control());
    (sane && name.chars().count() <= CHARS).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(code: i32, printed: &str) -> Option<String> {
        said(code, printed, &|name| ["python3", "grep", "cat"].contains(&name))
    }

    #[test]
    fn the_program_that_is_here_instead_is_named() {
        for (printed, told) in [
            (
                "sh: 1: python: not found\n",
                "there is no python here: use python3 instead",
            ),
            (
                "bash: line 1: rg: command not found\n",
                "there is no rg here: use grep -rn instead",
            ),
            (
                "noise\n/bin/sh: 1: pip: not found",
                "there is no pip here: use python3 -m pip instead",
            ),
            (
                "/usr/bin/env: \u{2018}node\u{2019}: No such file or directory\n",
                "there is no node here: do it with another program, or tell the user that node is missing",
            ),
            (
                "sh: 1: ./bin/x: not found",
                "there is no program ./bin/x: look for it with run_command: ls ./bin",
            ),
            (
                "sh: 1: frob: not found",
                "there is no frob here: do it with another program, or tell the user that frob is missing",
            ),
        ] {
            assert_eq!(line(127, printed).as_deref(), Some(told), "{printed}");
        }
    }

    #[test]
    fn a_file_that_is_no_program_is_run_with_its_interpreter() {
        assert_eq!(
            line(126, "sh: 1: ./run.py: Permission denied\n").as_deref(),
            Some(
                "./run.py cannot be run as it is: run it with its interpreter, such as sh ./run.py or python3 ./run.py"
            )
        );
    }

    #[test]
    fn any_other_end_and_words_that_name_nothing_say_nothing() {
        assert_eq!(line(1, "sh: 1: python: not found"), None);
        assert_eq!(line(127, "some text\n"), None);
        assert_eq!(line(127, "the file you want was not found\n"), None);
        assert_eq!(line(0, ""), None);
    }
}
