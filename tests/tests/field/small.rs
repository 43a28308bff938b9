//! What small models write instead of a right call, and what they say instead of doing it.

use serde_json::{Value, json};

use crate::{Played, each, play, right};
use wisp_tests::stub::{call, text};

fn after(played: &Played, name: &str) -> String {
    std::fs::read_to_string(played.wisp.work().join(name)).unwrap_or_default()
}

#[test]
fn calls_with_dummies_other_names_and_quoted_numbers_do_what_they_mean() {
    let rows: Vec<(Value, &str)> = vec![
        (
            json!({"path": "a.txt", "mode": "replace", "find": "teh", "content": "the", "line": 0, "all": false}),
            "the\nb\n",
        ),
        (
            json!({"file_path": "a.txt", "old_string": "teh", "new_string": "the"}),
            "the\nb\n",
        ),
        (
            json!({"filename": "a.txt", "mode": "replace", "search": "teh", "replace": "the", "line": "null"}),
            "the\nb\n",
        ),
        (
            json!({"path": "a.txt", "mode": "replace", "find": "teh", "content": "the", "line": "2"}),
            "the\nb\n",
        ),
        (
            json!({"path": "a.txt", "mode": "append", "content": "c\n", "find": "", "line": 0}),
            "teh\nb\nc\n",
        ),
        (
            json!({"path": "a.txt", "mode": "write", "new_string": ""}),
            "teh\nb\n",
        ),
    ];
    each(
        &rows,
        |row| row.0.to_string(),
        |(arguments, content)| {
            let played = play(&[("a.txt", "teh\nb\n")], vec![call("edit_file", arguments)]);
            right(after(&played, "a.txt") == *content, &played)
        },
    );
}

#[test]
fn a_call_in_the_only_fence_of_a_reply_is_made_and_an_example_is_not() {
    let fenced = |before: &str| {
        let call = json!({"name": "run_command", "arguments": {"cmd": "echo x > made.txt"}});
        text(&format!("{before}\n\n```json\n{call}\n```\n"))
    };
    let rows = [("I will make the file.", 1), ("For example, you can send:", 0)];
    each(
        &rows,
        |row| row.0.to_owned(),
        |(before, lines)| {
            let played = play(&[], vec![fenced(before)]);
            right(played.lines_of("made.txt") == *lines, &played)
        },
    );
}

#[test]
fn errors_say_what_to_do_next() {
    let rows: Vec<(&str, Value, &str)> = vec![
        ("read_file", json!({"path": "b.txt"}), "a.txt"),
        ("read_file", json!({"path": "app.py"}), "there is "),
        ("read_file", json!({"path": "."}), "it has a.txt, src/"),
        (
            "edit_file",
            json!({"path": "a.txt", "mode": "replace", "find": "foo", "content": "x"}),
            "\"foo\" is on lines 1 and 2: say which with `line`, or `all: true`",
        ),
        (
            "edit_file",
            json!({"path": "a.txt", "mode": "replace", "find": "last", "content": "x"}),
            "to add at the end use mode append",
        ),
        (
            "run_command",
            json!({"command": "no-such-program-here"}),
            "there is no no-such-program-here here: do it with another program",
        ),
    ];
    each(
        &rows,
        |row| format!("{} {}", row.0, row.1),
        |(tool, arguments, said)| {
            let stub = wisp_tests::stub::Stub::start(vec![call(tool, arguments)]);
            let wisp = crate::home(&stub);
            std::fs::write(wisp.work().join("a.txt"), "foo\nfoo\n").unwrap();
            std::fs::create_dir(wisp.work().join("src")).unwrap();
            std::fs::write(wisp.work().join("src/app.py"), "").unwrap();
            let ran = wisp.run(&["--yes", "look at the tide"], "");
            let played = Played { wisp, stub, ran };
            let told = played.stub.results().pop().unwrap_or_default();
            right(told.contains(said), &played)
        },
    );
}

#[test]
fn a_reply_that_claims_what_was_not_done_is_marked_and_advice_is_not() {
    let rows = [
        (
            "I ran the tests and they pass.",
            "ran: nothing, though the reply says: I ran the tests and they pass.",
        ),
        ("You can run the tests with make.", ""),
    ];
    each(
        &rows,
        |row| row.0.to_owned(),
        |(reply, told)| {
            let played = play(&[], vec![text(reply)]);
            let marked = played.told().contains("ran: nothing");
            right(marked != told.is_empty() && played.told().contains(told), &played)
        },
    );
}
