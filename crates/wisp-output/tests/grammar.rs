//! Requests to `memory`: forgiving in spelling, strict in meaning.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use proptest::prelude::*;
use wisp_output::recall::{Filter, Start};
use wisp_output::request::{Grammar, Request, Row, Target};

fn read(text: &str) -> Request {
    Grammar::of_outputs()
        .read(text)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn reason(text: &str) -> String {
    Grammar::<Request>::of_outputs().read(text).unwrap_err().reason
}

fn output() -> Target {
    Target::Output("3f9a2c1b".into())
}

fn recalled(filter: Filter, line: u64) -> Request {
    Request::Recall {
        target: output(),
        filter,
        from: Start::line(line),
    }
}

#[test]
fn a_recall_is_read_in_many_spellings() {
    for text in [
        "recall output 3f9a2c1b from line 44",
        "\"recall output 3f9a2c1b from line 44\"",
        "`Recall Output 3F9A2C1B, starting at line 44`",
        "recall: output: 3f9a2c1b from line 44.",
        "recall output=3f9a2c1b at line 44",
        "recall the output 3f9a2c1b from 44",
        "recall output '3f9a2c1b' from offset 44",
        "recall 3f9a2c1b from line 44",
    ] {
        assert_eq!(read(text), recalled(Filter::All, 44), "{text}");
    }
    assert_eq!(read("recall output 3f9a2c1b"), recalled(Filter::All, 1));
    assert_eq!(
        read("recall output 3f9a2c1b from line 1,205"),
        recalled(Filter::All, 1_205)
    );
    let entry = Request::Recall {
        target: Target::Entry(7),
        filter: Filter::Tail(20),
        from: Start::default(),
    };
    assert_eq!(read("recall entry #7 tail 20 lines"), entry);
    let byte = Request::Recall {
        target: output(),
        filter: Filter::All,
        from: Start { line: 3, byte: 4_001 },
    };
    assert_eq!(read("recall output 3f9a2c1b from line 3 byte 4001"), byte);
}

#[test]
fn filters_are_read_with_what_follows_them() {
    let table = [
        ("matching error", Filter::Matching("error".into()), 1),
        (
            "matching: error|warning from line 9",
            Filter::Matching("error|warning".into()),
            9,
        ),
        (
            "matching \"from line 3\"",
            Filter::Matching("from line 3".into()),
            1,
        ),
        ("matching 'a b', from line 3", Filter::Matching("a b".into()), 3),
        ("matching it's here", Filter::Matching("it's here".into()), 1),
        (
            "MATCHING ^foo: [0-9]+$",
            Filter::Matching("^foo: [0-9]+$".into()),
            1,
        ),
        ("lines 5-10", Filter::Lines(5, 10), 1),
        ("lines 5 to 10", Filter::Lines(5, 10), 1),
        ("lines 5–10 from line 7", Filter::Lines(5, 10), 7),
        ("line 1,205", Filter::Lines(1_205, 1_205), 1),
        ("head 20", Filter::Head(20), 1),
        ("first 20 lines", Filter::Head(20), 1),
        ("tail 5, from line 100", Filter::Tail(5), 100),
    ];
    for (text, filter, line) in table {
        assert_eq!(
            read(&format!("recall output 3f9a2c1b {text}")),
            recalled(filter, line),
            "{text}"
        );
    }
}

#[test]
fn summaries_and_questions_are_read() {
    let summary = |overview| Request::Summarise {
        target: output(),
        overview,
    };
    assert_eq!(read("summarise output 3f9a2c1b"), summary(false));
    assert_eq!(read("Summarize output 3f9a2c1b (overview)"), summary(true));
    let question = Request::Condense {
        target: output(),
        question: "why did it fail: a or b?".into(),
    };
    assert_eq!(
        read("condense output 3f9a2c1b: why did it fail: a or b?"),
        question
    );
    assert_eq!(
        read("condense output 3f9a2c1b \"why did it fail: a or b?\""),
        question
    );
}

#[test]
fn what_says_no_one_thing_is_answered_with_the_grammar() {
    let table = [
        ("", "the request is empty"),
        ("show me more", "no request starts with `show`"),
        ("recall", "the request does not say which output"),
        ("recall 7", "`7` is neither `output ID` nor `entry N`"),
        (
            "recall output build",
            "`build` is not an output id, which is 8 hex digits",
        ),
        ("recall entry none", "`none` is not the number of an entry"),
        ("recall output 3f9a2c1b lines 9-3", "lines 9-3 do not exist"),
        ("recall output 3f9a2c1b lines 0-3", "lines 0-3 do not exist"),
        (
            "recall output 3f9a2c1b head",
            "`head` is followed by no number of lines",
        ),
        (
            "recall output 3f9a2c1b matching",
            "`matching` is followed by no pattern",
        ),
        (
            "recall output 3f9a2c1b backwards",
            "`backwards` is not understood",
        ),
        (
            "recall output 3f9a2c1b from line zero",
            "`from line zero` is not understood",
        ),
        (
            "summarise output 3f9a2c1b in verse",
            "a summary is of the notable lines or an `overview`, not `in verse`",
        ),
        (
            "condense output 3f9a2c1b",
            "`condense` is followed by no question",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(reason(text), expected, "{text}");
    }
    let answer = Grammar::<Request>::of_outputs()
        .read("more")
        .unwrap_err()
        .to_string();
    assert_eq!(
        answer,
        "no request starts with `more`\nrequests are:\n  recall output ID [matching PATTERN | lines A-B | head N | tail N] [from line N]\n  \
         recall entry N [matching PATTERN | lines A-B | head N | tail N] [from line N]\n  summarise output ID [overview]\n  \
         summarise entry N [overview]\n  condense output ID: QUESTION\n  condense entry N: QUESTION\nfor example: recall output 3f9a2c1b matching error from line 44"
    );
}

#[test]
fn every_example_and_every_row_added_can_be_read() {
    let row = Row {
        verb: "task",
        spellings: &[],
        forms: &["task TEXT"],
        example: "task mend the build",
        read: |rest: &str| {
            Ok(Request::Condense {
                target: Target::Entry(1),
                question: rest.to_owned(),
            })
        },
    };
    let grammar = Grammar::of_outputs().with(row);
    assert!(
        matches!(grammar.read("task: mend the build"), Ok(Request::Condense { question, .. }) if question == "mend the build")
    );
    assert!(grammar.to_text().contains("\n  task TEXT\n"));
    for example in [
        "recall output 3f9a2c1b matching error from line 44",
        "summarise output 3f9a2c1b",
        "condense output 3f9a2c1b: which test failed first, and why?",
    ] {
        assert!(grammar.read(example).is_ok());
    }
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "\\PC{0,80}") {
        let _ = Grammar::<Request>::of_outputs().read(&text);
    }

    #[test]
    fn any_text_after_a_verb_is_answered(text in "(recall|summarise|condense) (output 3f9a2c1b|entry 7|output|) ?(matching|lines|head|tail|from|)\\PC{0,40}") {
        let _ = Grammar::<Request>::of_outputs().read(&text);
    }
}
