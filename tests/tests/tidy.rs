//! The tree checked against its own rules: module docs, sizes, layers, banned calls, words that may not stand in what
//! wisp tells a model. A rule that only people remember is a rule that is broken by the tenth change.

use std::fs;
use std::path::{Path, PathBuf};

/// Files that may pass the size limit because they are a table, each with its reason.
const LONG_TABLES: &[(&str, &str)] = &[];

/// The most lines of a file that is not a table, its tests left out.
const FILE_LINES: usize = 700;
/// The most lines of a function.
const FUNCTION_LINES: usize = 60;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ has a parent")
        .to_owned()
}

/// A folder that is not there is a fault: rules about no file would hold.
fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(dir);
    assert!(entries.is_ok(), "{} is not there", dir.display());
    for entry in entries.into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            walk(&path, files);
        } else if path.is_file() {
            files.push(path);
        }
    }
}

/// Every file under `crates/`, as (path from the root, text).
fn sources(extension: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    walk(&root().join("crates"), &mut files);
    files.sort();
    files
        .into_iter()
        .filter(|f| f.extension().is_some_and(|e| e == extension))
        .filter_map(|f| {
            let name = f.strip_prefix(root()).ok()?.to_string_lossy().into_owned();
            Some((name, fs::read_to_string(&f).ok()?))
        })
        .collect()
}

/// Sources of the program itself: not `tests/`, `examples/`, `benches/`, `build.rs`.
fn program() -> Vec<(String, String)> {
    sources("rs")
        .into_iter()
        .filter(|(name, _)| name.contains("/src/"))
        .collect()
}

/// The part of a file before its unit tests.
fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod ").map_or(text, |at| &text[..at])
}

fn report(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

#[test]
fn every_file_says_what_it_holds() {
    let faults: Vec<String> = sources("rs")
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(name, _)| name)
        .collect();
    report("a file must open with `//!`", &faults);
}

#[test]
fn files_stay_readable() {
    let long = |(name, text): (String, String)| {
        let lines = without_tests(&text).lines().count();
        let table = LONG_TABLES.iter().any(|(path, _)| *path == name);
        (lines > FILE_LINES && !table).then(|| format!("{name}: {lines} lines"))
    };
    let faults: Vec<String> = program().into_iter().filter_map(long).collect();
    report(
        "a file has at most 700 lines (a table is listed with its reason)",
        &faults,
    );
}

/// The functions of a formatted source, as (line, name, lines).
fn functions(text: &str) -> Vec<(usize, String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let head = body.split("fn ").next().unwrap_or_default();
        let is_fn = body.contains("fn ")
            && head
                .split_whitespace()
                .all(|w| ["pub", "async", "const", "unsafe"].contains(&w) || w.starts_with("pub("));
        if !is_fn {
            continue;
        }
        let close = format!("{}}}", " ".repeat(indent));
        let end = lines[at..].iter().position(|l| **l == *close).unwrap_or(0);
        let name = body.split("fn ").nth(1).unwrap_or_default();
        let name = name.split(['(', '<']).next().unwrap_or_default();
        found.push((at + 1, name.to_owned(), end + 1));
    }
    found
}

#[test]
fn functions_stay_readable() {
    let mut faults = Vec::new();
    for (name, text) in program() {
        for (line, function, lines) in functions(without_tests(&text)) {
            if lines > FUNCTION_LINES {
                faults.push(format!("{name}:{line}: {function} has {lines} lines"));
            }
        }
    }
    report("a function has at most 60 lines", &faults);
}

/// The names of our own crates in a manifest's `[dependencies]` (not those for tests).
fn own_dependencies(manifest: &str) -> Vec<String> {
    let from = manifest
        .find("[dependencies]")
        .map_or(manifest.len(), |at| at + "[dependencies]".len());
    let section = manifest[from..].split("\n[").next().unwrap_or_default();
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
    section
        .lines()
        .map(name)
        .filter(|n| n.starts_with("wisp-") || n == "ollama-sim")
        .collect()
}

/// The arrows of `docs/architecture.md`, as (crate, the crates it uses), from the bottom up.
fn arrows() -> Vec<(String, Vec<String>)> {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap_or_default();
    let own = |name: &&str| name.starts_with("wisp") || *name == "ollama-sim";
    page.lines()
        .filter_map(|line| line.split_once(" → "))
        .map(|(krate, uses)| (krate.trim(), uses))
        .filter(|(krate, _)| own(krate) && !krate.contains(' '))
        .map(|(krate, uses)| {
            let uses = match uses {
                "nothing of wisp" => Vec::new(),
                uses => uses.split(' ').map(str::to_owned).collect(),
            };
            (krate.to_owned(), uses)
        })
        .collect()
}

#[test]
fn the_arrows_in_the_documentation_are_those_of_the_manifests() {
    let drawn = arrows();
    let mut faults = Vec::new();
    for (path, manifest) in sources("toml")
        .into_iter()
        .filter(|(p, _)| p.ends_with("/Cargo.toml"))
    {
        let krate = path.split('/').nth(1).unwrap_or_default();
        let Some((_, uses)) = drawn.iter().find(|(name, _)| name == krate) else {
            faults.push(format!("{krate}: not among the arrows"));
            continue;
        };
        let declared = own_dependencies(&manifest);
        let beyond = declared.iter().filter(|name| !uses.contains(name));
        faults.extend(beyond.map(|name| format!("{krate} uses {name}, which is not drawn")));
        let idle = uses.iter().filter(|name| !declared.contains(name));
        faults.extend(idle.map(|name| format!("{krate} does not use {name}, which is drawn")));
    }
    report(
        "the arrows of docs/architecture.md are those of the manifests",
        &faults,
    );
}

#[test]
fn arrows_point_down() {
    let drawn = arrows();
    let mut faults = Vec::new();
    for (at, (krate, uses)) in drawn.iter().enumerate() {
        let below = |name: &String| drawn[..at].iter().any(|(lower, _)| lower == name);
        let up = uses.iter().filter(|name| !below(name));
        faults.extend(up.map(|name| format!("{krate} uses {name}, which is not below it")));
    }
    report("a crate uses only crates that are listed above it", &faults);
}

#[test]
fn pure_crates_read_no_clock_and_do_no_io() {
    let banned = [
        "std::fs",
        "std::net",
        "tokio",
        "Instant::now",
        "SystemTime",
        "std::process",
        "async fn",
        ".await",
    ];
    let mut faults = Vec::new();
    for (name, text) in program() {
        if ["wisp-context", "wisp-digest", "wisp-turn"]
            .iter()
            .any(|pure| name.starts_with(&format!("crates/{pure}/")))
        {
            let code = without_tests(&text)
                .lines()
                .filter(|l| !l.trim_start().starts_with("//"));
            let code: String = code.collect::<Vec<_>>().join("\n");
            faults.extend(
                banned
                    .iter()
                    .filter(|b| code.contains(**b))
                    .map(|b| format!("{name}: {b}")),
            );
        }
    }
    report("a pure crate reaches outside", &faults);
}

#[test]
fn no_text_for_a_model_tells_it_to_run_a_command_again() {
    let banned = [
        "run it again",
        "re-run",
        "rerun the",
        "run the command again",
        "try the command again",
    ];
    let mut faults = Vec::new();
    for (name, text) in program() {
        if ["wisp-output", "wisp-tools", "wisp-context", "wisp-agent"]
            .iter()
            .all(|c| !name.contains(c))
        {
            continue;
        }
        for (at, line) in without_tests(&text).lines().enumerate() {
            let comment = line.trim_start().starts_with("//");
            let lower = line.to_lowercase().replace("do not run the command again", "");
            if !comment && banned.iter().any(|b| lower.contains(b)) {
                faults.push(format!("{name}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    report("a command is never run again to see its output", &faults);
}

#[test]
fn text_ends_with_a_newline_and_has_no_tabs() {
    let bad = |(name, text): (String, String)| {
        let tab = text.lines().any(|l| l.starts_with('\t'));
        (tab || !text.ends_with('\n')).then_some(name)
    };
    report(
        "formatting",
        &program().into_iter().filter_map(bad).collect::<Vec<_>>(),
    );
}
