//! What a guide offers, takes and refuses, in folders of its own.

#![allow(
    clippy::disallowed_methods,
    reason = "a folder of the user's is what a guide looks at"
)]

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::GuidedTurn;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        put(home.path(), name, text);
    }
    home
}

fn put(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("written");
}

fn guide(folder: &tempfile::TempDir, request: &str) -> GuidedTurn {
    GuidedTurn::new(folder.path().to_owned(), "", request)
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

/// The actions on offer: for each its name and what its texts may be.
fn offers(guide: &GuidedTurn) -> Vec<String> {
    let schema = guide.schema(&[]);
    let one = |of: &Value| {
        let texts = of["properties"].as_object().expect("properties").iter().skip(1);
        let texts = texts.map(|(name, takes)| match takes.get("enum") {
            Some(listed) => format!("{name}={listed}"),
            None => name.clone(),
        });
        let name = of["properties"]["action"]["const"].as_str().expect("a name");
        format!("{name} {}", texts.collect::<Vec<_>>().join(" "))
    };
    schema["oneOf"]
        .as_array()
        .expect("a list")
        .iter()
        .map(one)
        .collect()
}

/// Takes an action and, when it is to be run, notes that it was.
fn does(guide: &mut GuidedTurn, action: &str, given: &Value) -> Option<String> {
    let given = object(given);
    let taken = guide.take(action, &given);
    let _ = guide.after(action, &given, taken.bar.is_none());
    taken.bar
}

#[test]
fn a_question_is_offered_no_edit() {
    let home = folder(&[("settings.ini", "port = 8173\n")]);
    assert_eq!(
        offers(&guide(&home, "Which port is in settings.ini?")),
        ["run command", "read path=[\"settings.ini\"]", "answer text"]
    );
}

#[test]
fn a_file_is_replaced_in_by_its_lines_once_it_was_read() {
    let home = folder(&[
        ("report.txt", "Report\nStatus: draft\n"),
        ("other.txt", "draft\n"),
    ]);
    let mut guide = guide(&home, "In report.txt, change draft to final.");
    assert_eq!(offers(&guide), ["read path=[\"report.txt\"]", "answer text"]);
    assert_eq!(does(&mut guide, "read", &json!({"path": "report.txt"})), None);
    assert_eq!(
        offers(&guide)[1..3],
        [
            "read path=[\"other.txt\"]",
            "replace path=[\"report.txt\"] old=[\"Status: draft\"] new"
        ]
    );
    let given = object(&json!({"path": "report.txt", "old": "Status: draft", "new": "Status: final"}));
    let taken = guide.take("replace", &given);
    assert_eq!(taken.call.name, "edit_file");
    assert_eq!(
        Value::Object(taken.call.arguments),
        json!({"path": "report.txt", "mode": "replace", "line": 2, "content": "Status: final"})
    );
    put(home.path(), "report.txt", "Report\nStatus: final\n");
    assert_eq!(
        guide.after("replace", &given, true),
        "[changed files]\nreport.txt changed:\n-Status: draft\n+Status: final"
    );
    // Nothing else in it has to do with the request.
    assert_eq!(offers(&guide), ["answer text"]);
}

#[test]
fn a_request_that_leaves_open_what_is_to_be_changed_is_offered_every_line() {
    let home = folder(&[("stats.py", "def mean(values):\n    return sum(values) / 2\n")]);
    let mut guide = guide(&home, "The function mean in stats.py divides wrongly. Fix it.");
    does(&mut guide, "read", &json!({"path": "stats.py"}));
    assert!(
        offers(&guide).contains(
            &"replace path=[\"stats.py\"] old=[\"def mean(values):\",\"    return sum(values) / 2\"] new"
                .to_owned()
        ),
        "{:?}",
        offers(&guide)
    );
}

#[test]
fn lines_with_a_word_that_was_replaced_or_asked_for_are_offered_after_the_first_change() {
    let home = folder(&[("shop.py", "def calc(a):\n    return a\n\nx = calc(1)\ny = 2\n")]);
    let mut guide = guide(&home, "Rename calc to total in shop.py");
    does(&mut guide, "read", &json!({"path": "shop.py"}));
    let given = json!({"path": "shop.py", "old": "def calc(a):", "new": "def total(a):"});
    let given = object(&given);
    let _ = guide.take("replace", &given);
    put(
        home.path(),
        "shop.py",
        "def total(a):\n    return a\n\nx = calc(1)\ny = 2\n",
    );
    let _ = guide.after("replace", &given, true);
    assert!(
        offers(&guide).contains(&"replace path=[\"shop.py\"] old=[\"x = calc(1)\"] new".to_owned()),
        "{:?}",
        offers(&guide)
    );
}

#[test]
fn a_line_with_a_quotation_mark_is_replaced_as_free_text() {
    let home = folder(&[("a.toml", "url = \"x\"\nretries = 2\n")]);
    let mut guide = guide(&home, "Set retries to 5 in a.toml");
    does(&mut guide, "read", &json!({"path": "a.toml"}));
    let offered = offers(&guide);
    assert!(
        offered.contains(&"replace path=[\"a.toml\"] old=[\"retries = 2\"] new".to_owned()),
        "{offered:?}"
    );
    assert!(
        offered.contains(&"replace path=[\"a.toml\"] old new".to_owned()),
        "{offered:?}"
    );
}

#[test]
fn a_new_file_is_written_under_the_name_that_was_said() {
    let home = folder(&[]);
    let offered = offers(&guide(&home, "Write a script squares.py and run it."));
    assert_eq!(offered, ["write path=[\"squares.py\"] content", "answer text"]);
    let offered = offers(&guide(&home, "Write a haiku into a new file."));
    assert!(offered.contains(&"write path content".to_owned()), "{offered:?}");
}

#[test]
fn what_was_done_is_not_done_again_while_nothing_changed() {
    let home = folder(&[("a.txt", "one\n")]);
    let mut guide = guide(&home, "Append two to a.txt");
    let list = json!({"command": "ls"});
    assert_eq!(does(&mut guide, "run", &list), None);
    let again = does(&mut guide, "run", &list).expect("refused");
    assert!(again.starts_with("You did this already."), "{again}");
    assert_eq!(offers(&guide), ["answer text"]);
    // With a change a look is another one; an edit stays the same.
    guide.answer_only = false;
    put(home.path(), "a.txt", "one\ntwo\n");
    let _ = guide.after("", &Map::new(), false);
    assert_eq!(does(&mut guide, "run", &list), None);
    let append = json!({"path": "a.txt", "text": "two"});
    assert_eq!(does(&mut guide, "append", &append), None);
    put(home.path(), "a.txt", "one\ntwo\ntwo\n");
    let _ = guide.after("", &Map::new(), false);
    assert!(does(&mut guide, "append", &append).is_some());
}

#[test]
fn an_answer_before_the_change_is_refused_once() {
    let home = folder(&[("a.txt", "one\n")]);
    let mut asks = guide(&home, "What is in a.txt?");
    assert_eq!(asks.refuse_answer("Done."), None);
    let mut changes = guide(&home, "Append two to a.txt");
    assert!(
        changes
            .refuse_answer("Done.")
            .is_some_and(|note| note.starts_with("No file has been changed"))
    );
    assert_eq!(changes.refuse_answer("Done."), None);
    let mut done = guide(&home, "Append two to a.txt");
    put(home.path(), "a.txt", "one\ntwo\n");
    let _ = done.after("run", &Map::new(), true);
    assert_eq!(done.refuse_answer("Done."), None);
}

#[test]
fn a_write_that_loses_most_lines_is_not_made() {
    let home = folder(&[("a.toml", "url = 1\nretries = 2\ntimeout = 45\n")]);
    let mut guide = guide(&home, "Set retries to 5");
    let why = does(
        &mut guide,
        "write",
        &json!({"path": "a.toml", "content": "retries = 5"}),
    )
    .expect("refused");
    assert!(
        why.starts_with("not written: a.toml has 3 lines, and only 1 would be left"),
        "{why}"
    );
    assert!(why.contains("timeout = 45"), "{why}");
    let whole = json!({"path": "a.toml", "content": "url = 1\nretries = 5\n"});
    assert_eq!(does(&mut guide, "write", &whole), None);
}

#[test]
fn an_empty_old_appends() {
    let home = folder(&[("a.txt", "one")]);
    let mut guide = guide(&home, "Add two to a.txt");
    let given = object(&json!({"path": "a.txt", "old": "", "new": "two"}));
    assert_eq!(
        Value::Object(guide.take("replace", &given).call.arguments),
        json!({"path": "a.txt", "mode": "append", "content": "\ntwo\n"})
    );
}

/// A folder of 91 files, 90 of them in `src`.
fn large() -> tempfile::TempDir {
    let home = folder(&[("README.md", "x\n")]);
    fs::create_dir(home.path().join("src")).expect("made");
    for n in 0..90 {
        put(home.path(), &format!("src/f{n}.py"), "rate = 7\n");
    }
    home
}

#[test]
fn in_a_large_folder_files_are_offered_that_were_named_or_printed() {
    let home = large();
    let mut guide = guide(&home, "Set rate to 9 where the class Meter is.");
    assert_eq!(guide.files(), "(Files here: README.md; and 90 more in src)");
    assert_eq!(
        offers(&guide),
        ["run command", "read path=[\"README.md\"]", "answer text"]
    );
    does(&mut guide, "run", &json!({"command": "grep -rn Meter ."}));
    guide.note_run(0, "./src/f41.py:3:class Meter:\n");
    assert_eq!(offers(&guide)[1], "read path=[\"README.md\",\"src/f41.py\"]");
    does(&mut guide, "read", &json!({"path": "src/f41.py"}));
    assert_eq!(
        offers(&guide)[2],
        "replace path=[\"src/f41.py\"] old=[\"rate = 7\"] new"
    );
    assert!(guide.refuse_answer("Done.").is_some(), "nothing has changed yet");
    put(home.path(), "src/f41.py", "rate = 9\n");
    assert_eq!(
        guide.after("replace", &object(&json!({"path": "src/f41.py"})), true),
        "[changed files]\nsrc/f41.py changed:\n-rate = 7\n+rate = 9"
    );
}

#[test]
fn a_file_that_was_named_by_its_last_part_is_read_first_and_no_new_one() {
    let home = large();
    let mut guide = guide(&home, "In f41.py, change rate to 9.");
    assert_eq!(offers(&guide), ["read path=[\"src/f41.py\"]", "answer text"]);
    does(&mut guide, "read", &json!({"path": "src/f41.py"}));
    assert_eq!(
        offers(&guide),
        [
            "run command",
            "read path=[\"README.md\"]",
            "replace path=[\"src/f41.py\"] old=[\"rate = 7\"] new",
            "answer text"
        ]
    );
}

#[test]
fn a_command_that_changed_nothing_says_so_and_is_not_tried_again() {
    let home = large();
    let mut guide = guide(&home, "Change rate to 9 in f41.py, and in f42.py");
    let blind = object(&json!({"command": "sed -i 's/rate = 5/rate = 9/' src/f41.py src/f42.py"}));
    assert_eq!(guide.after("run", &blind, true), "(this changed no file)");
    assert_eq!(
        offers(&guide),
        [
            "replace path=[\"src/f41.py\"] old=[\"rate = 7\"] new",
            "replace path=[\"src/f42.py\"] old=[\"rate = 7\"] new",
            "answer text"
        ]
    );
}

#[test]
fn after_an_answer_without_a_change_a_repeated_command_gives_way_to_edits() {
    let home = folder(&[("a.txt", "rate = 7\n")]);
    let mut guide = guide(&home, "Set rate to 9 in a.txt");
    let list = json!({"command": "cat a.txt"});
    assert_eq!(does(&mut guide, "run", &list), None);
    assert!(does(&mut guide, "run", &list).is_some_and(|bar| bar.starts_with("You did this already")));
    assert_eq!(offers(&guide), ["answer text"]);
    assert!(guide.refuse_answer("It is set.").is_some());
    assert_eq!(
        offers(&guide),
        ["replace path=[\"a.txt\"] old=[\"rate = 7\"] new", "answer text"]
    );
}

#[test]
fn a_file_that_holds_a_name_of_the_request_is_offered() {
    let home = large();
    put(home.path(), "src/f7.py", "MAX_TRIES = 17\n");
    let guide = guide(&home, "What is the value of MAX_TRIES?");
    assert_eq!(
        guide.files(),
        "(Files here: README.md, src/f7.py (has MAX_TRIES); and 89 more in src)"
    );
    assert_eq!(offers(&guide)[1], "read path=[\"README.md\",\"src/f7.py\"]");
}

#[test]
fn a_server_that_refuses_lists_has_free_paths() {
    let home = folder(&[("a.txt", "x\n")]);
    let mut refused = guide(&home, "What is in a.txt?");
    assert!(refused.go_plain());
    assert!(!refused.go_plain());
    assert_eq!(offers(&refused), ["run command", "read path", "answer text"]);
    let mut change = guide(&home, "Replace x with y in a.txt");
    assert!(change.go_plain());
    assert_eq!(
        offers(&change),
        ["run command", "read path", "replace path old new", "answer text"]
    );
}

#[test]
fn the_folders_files_stand_below_the_request() {
    assert_eq!(guide(&folder(&[]), "hi").files(), "(Files here: none)");
    assert_eq!(
        guide(&folder(&[("b", ""), ("a", "")]), "hi").files(),
        "(Files here: a, b)"
    );
}

#[test]
fn an_answer_about_what_was_to_be_run_has_what_came_of_it() {
    let home = folder(&[("squares.py", "print(16)\n")]);
    let written = || {
        let mut guide = guide(&home, "Write squares.py and run it.");
        put(home.path(), "squares.py", "print(25)\n");
        let _ = guide.after("run", &Map::new(), true);
        put(home.path(), "squares.py", "print(16)\n");
        guide
    };
    let mut failed = written();
    failed.note_run(126, "Permission denied");
    assert!(
        failed
            .refuse_answer("It failed.")
            .is_some_and(|note| note.starts_with("That failed."))
    );
    assert_eq!(failed.refuse_answer("It failed."), None, "once");
    let mut lacks = written();
    lacks.note_run(0, "9\n16\n");
    assert_eq!(lacks.refuse_answer("It printed 9 and 16."), None);
    assert!(
        lacks
            .refuse_answer("It printed squares.")
            .is_some_and(|note| note.contains("lacks"))
    );
    let mut asked = guide(&home, "Run the tests and tell me which fails.");
    asked.note_run(1, "FAILED");
    assert_eq!(asked.refuse_answer("test_a fails"), None);
}

#[test]
fn a_script_that_is_not_executable_is_run_by_its_interpreter_next() {
    let home = folder(&[("squares.py", "print(16)\n")]);
    let mut guide = guide(&home, "Write squares.py and run it.");
    let _ = guide.take("run", &object(&json!({"command": "./squares.py"})));
    guide.note_instead("python3 squares.py".to_owned());
    assert_eq!(
        offers(&guide),
        ["run command=[\"python3 squares.py\"]", "answer text"]
    );
    let _ = guide.take("run", &object(&json!({"command": "python3 squares.py"})));
    assert!(offers(&guide).contains(&"run command".to_owned()));
}
