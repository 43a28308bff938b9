//! What models write into files: pages handed back, look-alikes, odd ends of lines, files that are run later, and wisp's
//! own settings.

use std::path::PathBuf;

use serde_json::json;
use wisp_tests::Wisp;
use wisp_tests::stub::{Stub, call};

use super::{each, play, right};

const FUNCTION: &str = "def f():\n    x = 1\n    return x\n";

/// Edits that must not be done: the file, `find`, the new content, and what the model is told.
const REFUSED: &[(&str, Option<&str>, &str, &str)] = &[
    (
        FUNCTION,
        Some("2\t    x = 1"),
        "    x = 2",
        "it begins with line numbers",
    ),
    (
        FUNCTION,
        Some("2:     x = 1\n3:     return x"),
        "    x = 2",
        "it begins with line numbers",
    ),
    (
        FUNCTION,
        Some("   2 |     x = 1"),
        "    x = 2",
        "it begins with line numbers",
    ),
    (
        FUNCTION,
        None,
        "1\tdef f():\n2\t    x = 2\n3\t    return x\n",
        "content begins each line with its number",
    ),
    (
        FUNCTION,
        None,
        "def f():\n[… 20 lines held back …]\n",
        "wisp's notice",
    ),
    (
        "x = 1   \ny = 2\n",
        Some("x = 1\ny = 2"),
        "x = 3",
        "differ only in blanks",
    ),
    (
        "\tx = 1\n",
        Some("    x = 1"),
        "    x = 3",
        "differs only in tabs and blanks",
    ),
    (
        "the list in\u{a0}use\n",
        Some("list in use"),
        "list",
        "U+00A0 (no-break space) at column 12",
    ),
    (
        "a \u{201c}heron\u{201d}\n",
        Some("a \"heron\""),
        "a tern",
        "U+201C (left double quotation mark) at column 3",
    ),
    (
        "cafe\u{301} open\n",
        Some("caf\u{e9} open"),
        "shut",
        "(U+0065 U+0301) at column 4",
    ),
    (
        "if (a < b) x();\n",
        Some("if (a &lt; b)"),
        "if (b)",
        "'<' (U+003C) at column 7",
    ),
    (
        "foo\u{200b}bar = 1\n",
        Some("foobar = 1"),
        "foobar = 2",
        "U+200B (zero width space) at column 4",
    ),
];

#[test]
fn an_edit_that_cannot_be_meant_is_refused_with_the_reason_and_changes_nothing() {
    each(
        REFUSED,
        |row| format!("{row:?}"),
        |(file, find, content, said)| {
            let mut arguments = json!({"path": "a.py", "content": content, "mode": "write"});
            if let Some(find) = find {
                arguments["mode"] = "replace".into();
                arguments["find"] = (*find).into();
            }
            let edit = call("edit_file", &arguments);
            let read = call("read_file", &json!({"path": "a.py"}));
            let played = play(&[("a.py", file)], vec![read, edit]);
            let after = std::fs::read_to_string(played.wisp.work().join("a.py")).unwrap();
            let told = played.stub.results().pop().unwrap_or_default();
            right(after == *file && told.contains(said), &played)
        },
    );
}

#[test]
fn what_looks_alike_is_written_as_given() {
    let edit = |find: &str, content: &str| {
        call(
            "edit_file",
            &json!({"path": "a.md", "mode": "replace", "find": find, "content": content}),
        )
    };
    let before = "\u{201c}heron\u{201d}\na &lt; b\ncafe\u{301}\u{a0}\u{200b}\n";
    let replies = vec![
        edit("\u{201c}heron\u{201d}", "\u{201c}tern\u{201d}"),
        edit("a &lt; b", "a &gt; b &amp;amp; c"),
    ];
    let played = play(&[("a.md", before)], replies);
    assert_eq!(
        std::fs::read_to_string(played.wisp.work().join("a.md")).unwrap(),
        "\u{201c}tern\u{201d}\na &gt; b &amp;amp; c\ncafe\u{301}\u{a0}\u{200b}\n"
    );
}

#[test]
fn reading_searching_and_editing_agree_on_what_a_line_is() {
    let head = "one\n\x0c\ntwo\nthree \u{2028} still\nfour\x0bstill\nfive\u{85}still\nsix\rstill\n";
    let before = format!("{head}seven TARGET\n");
    let replies = vec![
        call("read_file", &json!({"path": "a.txt"})),
        call("run_command", &json!({"command": "grep -n TARGET a.txt"})),
        call(
            "edit_file",
            &json!({"path": "a.txt", "mode": "replace", "line": 8, "content": "seven DONE"}),
        ),
    ];
    let played = play(&[("a.txt", &before)], replies);
    let results = played.stub.results();
    assert!(results[0].contains("\n8\tseven TARGET\n"), "{}", results[0]);
    assert!(results[1].contains("8:seven TARGET\n"), "{}", results[1]);
    assert_eq!(
        std::fs::read_to_string(played.wisp.work().join("a.txt")).unwrap(),
        format!("{head}seven DONE\n")
    );
}

/// Files that are run later, written by the file tool or by a command; `~` is the home.
const RUN_LATER: &[(&str, &str)] = &[
    (".git/hooks/pre-commit", ""),
    (".git/config", ""),
    (".envrc", ""),
    ("~/.bashrc", ""),
    ("~/.bash_aliases", ""),
    ("~/.zshenv", ""),
    ("~/.ssh/authorized_keys", ""),
    ("~/.gitconfig", ""),
    (".git/hooks/pre-commit", "printf heron > .git/hooks/pre-commit"),
    ("~/.bashrc", "echo heron >> ~/.bashrc"),
    ("~/.profile", "echo heron | tee -a ~/.profile"),
    (".git/config", "git config core.hooksPath /tmp/heron"),
    ("~/.gitconfig", "git config --global alias.st '!heron'"),
];

/// Ways to wisp's own settings.
const OWN_SETTINGS: &[&str] = &[
    "",
    "echo '{\"approval\":{\"threshold\":\"never\"}}' > ~/wisp/config.json",
    "printf x > y; cp y \"$HOME/wisp/config.json\"",
    "sed -i s/sim/heron/ ~/wisp/config.json",
    "python3 -c \"import os;open(os.path.expanduser('~/wisp/config.json'),'w').write('{}')\"",
];

fn in_home(wisp: &Wisp, path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => wisp.root().parent().unwrap().join(rest),
        None => wisp.work().join(path),
    }
}

/// What a write to `path` leaves there: by the file tool where `command` is empty, else by the command.
fn written(path: &str, command: &str, yes: bool) -> (bool, String) {
    let mut wisp = Wisp::new();
    wisp.configure(&json!({"model": "sim", "approval": {"threshold": "dangerous"}}));
    let file = in_home(&wisp, path);
    let request = if command.is_empty() {
        let content = "{\"heron\": true}\n";
        call(
            "edit_file",
            &json!({"path": file, "mode": "write", "content": content}),
        )
    } else {
        call("run_command", &json!({ "command": command }))
    };
    let stub = Stub::start(vec![request]);
    wisp.set("OLLAMA_HOST", &format!("127.0.0.1:{}", stub.port()));
    std::fs::create_dir_all(wisp.work().join(".git/hooks")).unwrap();
    std::fs::create_dir_all(in_home(&wisp, "~/.ssh")).unwrap();
    std::fs::write(wisp.work().join(".git/config"), "[core]\n\tbare = false\n").unwrap();
    let before = std::fs::read(&file).ok();
    let args: &[&str] = if yes { &["--yes", "go"] } else { &["go"] };
    wisp.run(args, "");
    let result = stub.results().pop().unwrap_or_default();
    (std::fs::read(&file).ok() != before, result)
}

#[test]
fn what_is_run_later_is_not_written_without_an_answer() {
    each(
        RUN_LATER,
        |row| format!("{row:?}"),
        |(path, command)| {
            let (changed, result) = written(path, command, false);
            let refused = !changed && result.contains("not approved");
            if refused { Ok(()) } else { Err(result) }
        },
    );
}

#[test]
fn wisps_own_settings_are_not_the_models_to_change_whoever_asks() {
    let rows: Vec<(&str, bool)> = OWN_SETTINGS
        .iter()
        .flat_map(|command| [(*command, false), (*command, true)])
        .collect();
    each(
        &rows,
        |row| format!("{row:?}"),
        |(command, yes)| {
            let (changed, result) = written("~/wisp/config.json", command, *yes);
            if changed || result.is_empty() {
                Err(result)
            } else {
                Ok(())
            }
        },
    );
}
