//! `edit_file` and `read_file` on files that are not what the model takes them for: changed meanwhile, in another encoding,
//! with characters that look like others. Nothing is lost, and each refusal says what stands there.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and make their own files"
)]

mod support;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::{Stage, block};
use wisp_exec::Cancel;
use wisp_guard::{Level, Threshold};
use wisp_tools::{Answer, Answering, Behind, Person, Question, Request, Scene};

/// Calls one after the other in one conversation, on files that are written before them, and what each is answered.
fn answers(files: &[(&str, &[u8])], calls: &[(&str, Value)]) -> (Vec<String>, Stage) {
    block(async {
        let mut stage = Stage::new(true);
        for (name, bytes) in files {
            fs::write(stage.home.path().join(name), bytes).unwrap();
        }
        let mut answers = Vec::new();
        for (tool, arguments) in calls {
            match *tool {
                "other program" => {
                    fs::write(stage.home.path().join("a.txt"), arguments.as_str().unwrap()).unwrap();
                }
                "resumed" => stage.registry.resumed(arguments.as_i64().unwrap()),
                tool => answers.push(stage.shown(tool, arguments.clone()).await),
            }
        }
        (answers, stage)
    })
}

fn read(stage: &Stage, name: &str) -> Vec<u8> {
    fs::read(stage.home.path().join(name)).unwrap()
}

fn reads() -> (&'static str, Value) {
    ("read_file", json!({"path": "a.txt"}))
}

fn writes(content: &str) -> (&'static str, Value) {
    (
        "edit_file",
        json!({"path": "a.txt", "mode": "write", "content": content}),
    )
}

fn line(line: i64, content: &str) -> (&'static str, Value) {
    (
        "edit_file",
        json!({"path": "a.txt", "mode": "replace", "line": line, "content": content}),
    )
}

fn finds(find: &str, content: &str) -> (&'static str, Value) {
    (
        "edit_file",
        json!({"path": "a.txt", "mode": "replace", "find": find, "content": content}),
    )
}

fn other(content: &str) -> (&'static str, Value) {
    ("other program", json!(content))
}

const FILE: &[(&str, &[u8])] = &[("a.txt", b"one\ntwo\nthree\n")];

#[test]
fn what_another_program_wrote_since_the_read_is_not_overwritten() {
    for edit in [writes("mine\n"), line(2, "TWO")] {
        let theirs = "zero\none\ntwo\nthree\n";
        let (answers, stage) = answers(FILE, &[reads(), other(theirs), edit.clone(), reads(), edit]);
        let told = "a.txt has changed since it was last read or written here, so nothing was written: \n@@ -0,0 +1 @@\n+zero\n\
                    read it again with read_file, then make the edit on what stands there";
        assert!(
            answers[1].starts_with("error: ") && answers[1].ends_with(told),
            "{}",
            answers[1]
        );
        assert!(
            !answers[3].starts_with("error: "),
            "read again, it is made: {}",
            answers[3]
        );
        assert_ne!(read(&stage, "a.txt"), theirs.as_bytes());
    }
}

#[test]
fn what_was_not_read_since_a_conversation_was_resumed_is_not_overwritten() {
    for edit in [writes("mine\n"), line(2, "TWO")] {
        let resumed = ("resumed", json!(0));
        let calls = [
            resumed,
            edit.clone(),
            finds("two", "2"),
            edit.clone(),
            reads(),
            edit,
        ];
        let (answers, _) = answers(FILE, &calls);
        let told = "a.txt was changed after this conversation began and has not been read since it was resumed, so nothing \
                    was written: read it again with read_file, then make the edit on what stands there";
        assert!(answers[0].ends_with(told), "{}", answers[0]);
        assert!(
            !answers[1].starts_with("error: "),
            "what is found stands there: {}",
            answers[1]
        );
        assert!(!answers[2].starts_with("error: "), "written here: {}", answers[2]);
        assert!(!answers[4].starts_with("error: "), "read here: {}", answers[4]);
    }
    let before = ("resumed", json!(i64::MAX));
    let (answers, _) = answers(FILE, &[before, writes("mine\n")]);
    assert!(!answers[0].starts_with("error: "), "as it was: {}", answers[0]);
}

#[test]
fn ones_own_edits_and_a_find_that_still_stands_are_no_reason_to_refuse() {
    let (answers, stage) = answers(
        FILE,
        &[
            reads(),
            line(1, "ONE"),
            line(2, "TWO"),
            writes("a\nb\n"),
            line(2, "B"),
            other("x\na\nB\n"),
            finds("a", "A"),
        ],
    );
    assert!(
        answers.iter().all(|answer| !answer.starts_with("error: ")),
        "{answers:?}"
    );
    assert_eq!(read(&stage, "a.txt"), b"x\nA\nB\n");
}

#[test]
fn a_file_that_came_since_it_was_looked_for_is_not_overwritten() {
    let (answers, stage) = answers(&[], &[reads(), other("theirs\n"), writes("mine\n")]);
    assert!(
        answers[1].contains("so nothing was written: it did not exist then, and does now\n"),
        "{}",
        answers[1]
    );
    assert_eq!(read(&stage, "a.txt"), b"theirs\n");
}

#[test]
fn a_link_that_leads_elsewhere_since_the_read_is_not_followed() {
    block(async {
        let mut stage = Stage::new(true);
        let at = |name: &str| stage.home.path().join(name);
        let (old, new, link) = (at("old"), at("new"), at("a.txt"));
        fs::write(&old, "same\n").unwrap();
        fs::write(&new, "same\n").unwrap();
        std::os::unix::fs::symlink(&old, &link).unwrap();
        let _ = stage.shown("read_file", reads().1).await;
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&new, &link).unwrap();
        let answer = stage.shown("edit_file", writes("mine\n").1).await;
        assert!(
            answer.contains("it led to ") && answer.contains("/new now\n"),
            "{answer}"
        );
        assert_eq!(fs::read(&new).unwrap(), b"same\n");
    });
}

/// Says yes, and something writes to the file before.
struct Slow(PathBuf);

impl Person for Slow {
    fn ask(&self, _: Question) -> Answering<'_> {
        fs::write(&self.0, "theirs\n").unwrap();
        Box::pin(async { Some(Answer::Once) })
    }

    fn doing(&self, _: &str) {}
}

#[test]
fn what_is_written_while_the_person_is_asked_is_not_overwritten() {
    for (edit, made) in [
        (writes("mine\n"), false),
        (finds("two", "TWO"), false),
        (line(2, "TWO"), false),
    ] {
        block(async {
            let mut stage = Stage::asking(true, Threshold::From(Level::Moderate));
            let file = stage.home.path().join("a.txt");
            fs::write(&file, FILE[0].1).unwrap();
            let person = Slow(file.clone());
            let scene = Scene {
                turn: 1,
                person: &person,
                cancel: &Cancel::new(),
                behind: Behind::default(),
            };
            let request = Request {
                tool: edit.0,
                arguments: &edit.1,
            };
            let pending = stage.registry.run(request, &scene).await.unwrap();
            let answer = stage.finish(vec![pending]).remove(0).pending.admitted.shown;
            assert!(
                answer.contains("has changed while this edit was asked about, so nothing was written"),
                "{answer}"
            );
            assert!(answer.contains("+theirs"), "{answer}");
            assert_eq!(fs::read(&file).unwrap() != b"theirs\n", made);
        });
    }
}

#[test]
fn only_a_content_that_is_given_empties_a_file() {
    for (arguments, told) in [
        (
            json!({"path": "a.txt", "mode": "write"}),
            "error: edit_file needs the argument content (string)",
        ),
        (
            json!({"path": "a.txt", "mode": "write", "content": null}),
            "error: edit_file needs the argument content (string)",
        ),
        (
            json!({"path": "a.txt", "content": ""}),
            "error: edit_file needs the argument mode (string)",
        ),
        (
            json!({"path": "a.txt", "mode": "write", "words": "x"}),
            "it takes path, mode, content, find, line, all",
        ),
        (
            json!({"path": "a.txt", "mode": "write", "content": {}}),
            "error: the argument content must be string",
        ),
        (
            json!({"path": "a.txt", "mode": "replace", "content": ""}),
            "error: mode replace needs find",
        ),
        (
            json!({"path": "a.txt", "mode": "replace", "find": "", "content": ""}),
            "error: mode replace needs find",
        ),
        (
            json!({"path": "a.txt", "mode": "replace", "line": 0, "content": ""}),
            "error: mode replace needs find",
        ),
        (
            json!({"path": "a.txt", "mode": "write", "new_string": ""}),
            "error: edit_file needs the argument content (string)",
        ),
        (
            json!({"path": "a.txt", "mode": "write", "new_string": "", "old_string": ""}),
            "error: edit_file needs the argument content (string)",
        ),
        (
            json!({"path": "a.txt", "mode": "write", "content": "", "new_string": "x"}),
            "error: edit_file got two values for content: content and new_string; give content once",
        ),
        (
            json!({"path": "a.txt", "mode": "change", "content": ""}),
            "error: mode must be write, append, or replace, not \"change\": to change one place use mode replace with find",
        ),
        (
            json!({"path": "a.txt", "mode": "write", "find": "two", "content": "TWO"}),
            "error: mode write replaces the whole file",
        ),
        (
            json!({"path": "a.txt", "mode": "write", "line": 2, "content": "TWO"}),
            "error: mode write replaces the whole file",
        ),
    ] {
        let (answers, stage) = answers(FILE, &[("edit_file", arguments.clone())]);
        assert!(answers[0].contains(told), "{arguments}: {}", answers[0]);
        assert_eq!(read(&stage, "a.txt"), FILE[0].1, "{arguments}");
    }
    let (_, stage) = answers(FILE, &[writes("")]);
    assert_eq!(read(&stage, "a.txt"), b"");
}

#[test]
fn arguments_as_other_agents_tools_have_them_are_read() {
    for (arguments, after) in [
        (
            json!({"file_path": "a.txt", "old_string": "two", "new_string": "TWO"}),
            "one\nTWO\nthree\n",
        ),
        (
            json!({"filename": "a.txt", "mode": "replace", "search": "two", "replace": "TWO", "line": 0, "all": ""}),
            "one\nTWO\nthree\n",
        ),
        (
            json!({"path": "a.txt", "mode": "replace", "find": "two\n", "content": "", "line": "null"}),
            "one\nthree\n",
        ),
        (
            json!({"path": "a.txt", "mode": "replace", "find": "e\n", "content": "E\n", "all": "true"}),
            "onE\ntwo\nthreE\n",
        ),
        (
            json!({"path": "a.txt", "mode": "replace", "find": "two", "content": 2, "line": 1}),
            "one\n2\nthree\n",
        ),
        (
            json!({"path": "a.txt", "mode": "append", "content": "four\n", "find": null, "line": 0}),
            "one\ntwo\nthree\nfour\n",
        ),
        (
            json!({"path": "a.txt", "mode": "overwrite", "text": "x\n", "find": ""}),
            "x\n",
        ),
    ] {
        let (answers, stage) = answers(FILE, &[("edit_file", arguments.clone())]);
        let shown = String::from_utf8(read(&stage, "a.txt")).unwrap();
        assert_eq!(shown, after, "{arguments}: {}", answers[0]);
    }
}

#[test]
fn the_next_step_after_a_refused_edit_makes_it() {
    let file: &[(&str, &[u8])] = &[("a.txt", b"foo = 1\nbar\nfoo = 2\n")];
    let twice = finds("foo", "baz");
    let mut second = twice.clone();
    second.1["line"] = 3.into();
    let (told, stage) = answers(file, &[twice.clone(), second]);
    assert_eq!(
        told[0],
        "error: \"foo\" is on lines 1 and 3: say which with `line`, or `all: true`"
    );
    assert_eq!(read(&stage, "a.txt"), b"foo = 1\nbar\nbaz = 2\n");
    let mut all = twice.clone();
    all.1["all"] = true.into();
    let (_, stage) = answers(file, &[twice, all]);
    assert_eq!(read(&stage, "a.txt"), b"baz = 1\nbar\nbaz = 2\n");
}

#[test]
fn a_file_in_another_encoding_is_named_and_never_written_back_with_u_fffd() {
    let latin: &[u8] = b"caf\xE9 au lait\n";
    for edit in [
        writes("caf\u{fffd} au lait!\n"),
        finds("lait", "thé"),
        line(1, "caf\u{fffd}"),
        (
            "edit_file",
            json!({"path": "a.txt", "mode": "append", "content": "thé\n"}),
        ),
    ] {
        let (answers, stage) = answers(&[("a.txt", latin)], &[reads(), edit]);
        let told = "1\tcaf\u{fffd} au lait\n[not UTF-8, likely windows-1252: bytes that are no text are shown as \u{fffd} (the \
                    first is at offset 3); edit_file does not edit such a file, convert it with iconv]\n[end of file]";
        assert_eq!(answers[0], told);
        assert!(
            answers[1].starts_with("error: ") && answers[1].contains("likely windows-1252"),
            "{}",
            answers[1]
        );
        assert_eq!(read(&stage, "a.txt"), latin);
    }
    let (answers, stage) = answers(&[("a.txt", latin)], &[writes("café au lait\n")]);
    assert!(
        answers[0].ends_with("; it was likely windows-1252, and is UTF-8 now"),
        "{}",
        answers[0]
    );
    assert_eq!(read(&stage, "a.txt"), "café au lait\n".as_bytes());
    let wide: &[u8] = b"\xFF\xFEa\0\n\0";
    let append = json!({"path": "a.txt", "mode": "append", "content": "b\n"});
    let (told, stage) = self::answers(&[("a.txt", wide)], &[reads(), ("edit_file", append)]);
    assert!(
        told[0].starts_with("error: not UTF-8: ") && told[0].contains("iconv -f UTF-16LE"),
        "{}",
        told[0]
    );
    assert!(
        told[1].starts_with("error: ") && told[1].contains("UTF-16LE"),
        "{}",
        told[1]
    );
    assert_eq!(read(&stage, "a.txt"), wide);
}

#[test]
fn a_pages_numbers_and_notices_do_not_get_into_a_file() {
    for edit in [
        writes("1\tone\n2\tTWO\n3\tthree\n"),
        writes("one\n[… 20 lines held back …]\n"),
        finds("2\ttwo", "TWO"),
        finds("two", "2\tTWO"),
        line(2, "2\tTWO"),
        (
            "edit_file",
            json!({"path": "a.txt", "mode": "append", "content": "[end of file]\n"}),
        ),
    ] {
        let (answers, stage) = answers(FILE, &[reads(), edit.clone()]);
        assert!(answers[1].starts_with("error: "), "{edit:?}: {}", answers[1]);
        assert_eq!(read(&stage, "a.txt"), FILE[0].1, "{edit:?}");
    }
    let (answers, _) = answers(&[], &[writes("1\tone\n2\ttwo\n")]);
    assert!(
        answers[0].contains("; note: each line of it begins with a number and a tab"),
        "{}",
        answers[0]
    );
}

#[test]
fn characters_that_look_alike_are_named_in_the_page_and_in_the_refusal_and_kept_on_disk() {
    let file = "in\u{a0}use\nfoo\u{200b}bar\n";
    let (answers, stage) = answers(
        &[("a.txt", file.as_bytes())],
        &[reads(), finds("in use", "x"), finds("foobar", "x")],
    );
    let told = "[line 1, column 3: U+00A0 (no-break space); line 2, column 4: U+200B (zero width space)]\n[end of file]";
    assert!(answers[0].ends_with(told), "{}", answers[0]);
    assert!(
        answers[1].contains("the file has U+00A0 (no-break space) at column 3"),
        "{}",
        answers[1]
    );
    assert!(
        answers[2].contains("the file has U+200B (zero width space) at column 4"),
        "{}",
        answers[2]
    );
    assert_eq!(read(&stage, "a.txt"), file.as_bytes());
}
