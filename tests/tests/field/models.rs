//! What models and servers were seen to send: calls written as text, calls sent twice, thinking within the content,
//! the same call again and again, half a surrogate pair, nothing at all.

use serde_json::{Value, json};
use wisp_tests::stub::{DONE, call, line, text};

use super::{Played, Reply, each, play, right};

const WRITTEN: &str = r#"{"name": "run_command", "arguments": {"command": "echo heron >> ran.txt"}}"#;

/// Texts that are one call and nothing else.
const ONE_CALL: &[(&str, &str)] = &[
    ("bare", "J"),
    ("fenced as json", "```json\nJ\n```"),
    ("fenced", "```\nJ\n```\n"),
    ("tagged", "<tool_call>\nJ\n</tool_call>"),
    ("tagged, without the end", "<tool_call>\nJ"),
    ("list of one", "[J]"),
    ("marked", "[TOOL_CALLS][J]"),
    ("after thinking", "<think>I should look.</think>\nJ"),
    (
        "parameters",
        r#"{"name": "run_command", "parameters": {"command": "echo heron >> ran.txt"}}"#,
    ),
    (
        "function object",
        r#"{"type":"function","function":{"name":"run_command","arguments":{"command":"echo heron >> ran.txt"}}}"#,
    ),
    (
        "arguments as a string",
        r#"{"name": "run_command", "arguments": "{\"command\": \"echo heron >> ran.txt\"}"}"#,
    ),
    (
        "elements",
        "<tool_call>\n<function=run_command>\n<parameter=command>\necho heron >> ran.txt\n</parameter>\n</function>\n</tool_call>",
    ),
];

/// Texts that are meant as a call: read, or the person is told that it was not run.
const MEANT: &[(&str, &str)] = &[
    ("python", r#"[run_command(command="echo heron >> ran.txt")]"#),
    (
        "single quotes",
        "{'name': 'run_command', 'arguments': {'command': 'echo heron >> ran.txt'}}",
    ),
    (
        "trailing comma",
        r#"{"name": "run_command", "arguments": {"command": "echo heron >> ran.txt",}}"#,
    ),
    (
        "action",
        r#"{"action": "run_command", "action_input": {"command": "echo heron >> ran.txt"}}"#,
    ),
    (
        "tool",
        r#"{"tool": "run_command", "args": {"command": "echo heron >> ran.txt"}}"#,
    ),
    ("behind prose", "I will look at it now.\n\nJ"),
    ("two", "J\nJ"),
    ("python tag", "<|python_tag|>J"),
    (
        "channel",
        r#"<|channel|>commentary to=functions.run_command <|constrain|>json<|message|>{"command":"echo heron >> ran.txt"}<|call|>"#,
    ),
];

/// Texts that are no call of the model's own.
const NO_CALL: &[(&str, &str)] = &[
    ("example", "One would send:\n```json\nJ\n```\nbut I did not."),
    ("thought", "<think>perhaps J</think>\nNothing is to be done."),
    ("thought without an end", "<think>J"),
    (
        "quoted",
        r#"The note says: "{\"name\": \"run_command\", \"arguments\": {\"command\": \"echo heron >> ran.txt\"}}""#,
    ),
    (
        "schema",
        r#"{"name": "run_command", "description": "Run a command", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}"#,
    ),
    ("number", r#"{"name": "tide", "arguments": 3}"#),
    (
        "unknown tool",
        r#"{"name": "TideTable", "arguments": {"port": "tern"}}"#,
    ),
];

fn wrote(row: &(&str, &str)) -> Played {
    play(&[], vec![text(&row.1.replace('J', WRITTEN))])
}

#[test]
fn a_text_that_is_one_call_and_nothing_else_runs_once() {
    each(
        ONE_CALL,
        |row| row.0.to_owned(),
        |row| {
            let played = wrote(row);
            let ran = played.lines_of("ran.txt") == 1 && played.ran.text() == "fine\n";
            right(ran && played.ran.code == Some(0), &played)
        },
    );
}

#[test]
fn a_text_that_is_meant_as_a_call_runs_or_the_person_is_told() {
    each(
        MEANT,
        |row| row.0.to_owned(),
        |row| {
            let played = wrote(row);
            let told = played.told();
            let said = told.contains("tool call") && told.contains("which was not run");
            right(played.lines_of("ran.txt") == usize::from(!said), &played)
        },
    );
}

#[test]
fn an_example_a_thought_and_a_quotation_run_nothing() {
    each(
        NO_CALL,
        |row| row.0.to_owned(),
        |row| {
            let played = wrote(row);
            right(played.lines_of("ran.txt") == 0, &played)
        },
    );
}

#[test]
fn one_call_sent_twice_under_one_id_runs_once_and_two_without_ids_twice() {
    let append = |id: Option<&str>| {
        let mut call =
            json!({"function": {"name": "run_command", "arguments": {"command": "echo heron >> ran.txt"}}});
        if let Some(id) = id {
            call["id"] = id.into();
        }
        line(&json!({ "tool_calls": [call] }))
    };
    for (id, times) in [(Some("call_1"), 1), (None, 2)] {
        let played = play(&[], vec![vec![append(id), append(id), DONE.into()]]);
        assert_eq!(played.lines_of("ran.txt"), times, "{id:?}: {}", played.ran.err);
    }
}

/// A reply in pieces of content.
fn pieces(pieces: &[&str]) -> Reply {
    let mut lines: Reply = pieces.iter().map(|p| line(&json!({ "content": p }))).collect();
    lines.push(DONE.into());
    lines
}

#[test]
fn thinking_within_the_content_is_none_of_the_answer() {
    let answer = "The tide is 7.\n";
    let tags = "Write `<think>` and `</think>` around it. The tide is 7.";
    let rows: Vec<(&str, Reply, String)> = vec![
        (
            "closed",
            pieces(&["<think>Of 42.</think>\n\nThe tide is 7."]),
            answer.into(),
        ),
        (
            "without a beginning",
            pieces(&["Of 42.\n</think>\n\nThe tide is 7."]),
            answer.into(),
        ),
        (
            "cut",
            pieces(&["<th", "ink>Of 42", ".</thi", "nk>The tide is 7."]),
            answer.into(),
        ),
        (
            "a field",
            vec![
                line(&json!({"thinking": "Of 42."})),
                line(&json!({"content": "The tide is 7."})),
                DONE.into(),
            ],
            answer.into(),
        ),
        ("as text", pieces(&[tags]), format!("{tags}\n")),
        // Only thinking is an empty reply: it is asked for again.
        (
            "without an end",
            pieces(&["<think>Of 42 for ever"]),
            "fine\n".into(),
        ),
        (
            "alone",
            vec![line(&json!({"thinking": "Of 42."})), DONE.into()],
            "fine\n".into(),
        ),
    ];
    each(
        &rows,
        |row| row.0.to_owned(),
        |(_, reply, answer)| {
            let played = play(&[], vec![reply.clone()]);
            right(
                played.ran.text() == *answer && played.ran.code == Some(0),
                &played,
            )
        },
    );
}

#[test]
fn the_same_calls_again_and_again_end_the_turn_and_both_are_told() {
    let run = |command: &str| call("run_command", &json!({ "command": command }));
    let rows: Vec<(&str, Vec<Reply>, usize)> = vec![
        ("one", vec![run("echo heron >> ran.txt"); 40], 3),
        (
            "unknown",
            vec![call("tide_table", &json!({"port": "tern"})); 40],
            3,
        ),
        (
            "two in turn",
            (0..20)
                .flat_map(|_| [run("echo A >> ran.txt"), run("echo B >> ran.txt")])
                .collect(),
            6,
        ),
    ];
    each(
        &rows,
        |row| row.0.to_owned(),
        |(_, replies, asked)| {
            let played = play(&[], replies.clone());
            let chats = played.stub.chats();
            let messages = chats.last().and_then(|chat| chat["messages"].as_array());
            let last = messages.and_then(|all| all.last()).cloned().unwrap_or_default();
            let model = last["role"] == "user"
                && last["content"]
                    .as_str()
                    .is_some_and(|text| text.starts_with("Do not call a tool again."));
            let person = played.told().contains("3 times and did nothing new") && played.ran.code == Some(1);
            right(model && person && played.stub.chats().len() == *asked, &played)
        },
    );
}

/// A line whose content is these bytes between quotation marks.
fn raw(content: &[u8]) -> Vec<u8> {
    [
        &br#"{"model":"sim","message":{"role":"assistant","content":""#[..],
        content,
        br#""},"done":false}"#,
    ]
    .concat()
}

#[test]
fn half_a_surrogate_and_bad_utf_8_end_no_answer() {
    /// A name, the pieces of the reply, and the answers that are right.
    type Row = (&'static str, &'static [&'static [u8]], &'static [&'static str]);
    let rows: &[Row] = &[
        ("high", &[br"tide \ud83c", b" is in"], &["tide \u{fffd} is in\n"]),
        ("low", &[br"tide \udf0a is", b" in"], &["tide \u{fffd} is in\n"]),
        (
            "a pair, cut",
            &[br"tide \ud83c", br"\udf0a is in"],
            &["tide \u{1f30a} is in\n", "tide \u{fffd}\u{fffd} is in\n"],
        ),
        (
            "bad bytes",
            &[b"tide \xf0\x9f is in"],
            &["tide \u{fffd} is in\n", "tide \u{fffd}\u{fffd} is in\n"],
        ),
    ];
    each(
        rows,
        |row| row.0.to_owned(),
        |(_, contents, answers)| {
            let mut lines: Reply = contents.iter().map(|c| raw(c)).collect();
            lines.push(DONE.into());
            let played = play(&[], vec![lines]);
            let answer = played.ran.text();
            right(answers.contains(&&*answer) && played.ran.code == Some(0), &played)
        },
    );
}

#[test]
fn half_a_surrogate_in_a_command_runs_as_u_fffd_and_is_not_sent_back() {
    let calls = br#"{"model":"sim","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"run_command","arguments":{"command":"echo \ud83c tide"}}}]},"done":false}"#;
    let played = play(&[], vec![vec![calls.to_vec(), DONE.into()]]);
    assert!(
        played.stub.results()[0].contains("\u{fffd} tide\n"),
        "{:?}",
        played.stub.results()
    );
    let chats = played.stub.chats();
    assert!(
        chats.len() == 2 && chats.iter().all(Value::is_object),
        "{chats:?}"
    );
    let sent = &chats[1]["messages"].to_string();
    assert!(sent.contains("echo \u{fffd} tide"), "{sent}");
}

#[test]
fn empty_replies_are_asked_for_again_a_few_times_and_then_said() {
    let done = |reason: &str| -> Vec<u8> { DONE.replace("\"stop\"", &format!("\"{reason}\"")).into() };
    let thought = || line(&json!({"thinking": "Let me think of the tide."}));
    let nothing = vec![DONE.as_bytes().to_vec()];
    let print = call("run_command", &json!({"command": "echo heron"}));
    let rows: Vec<(&str, Vec<Reply>, &str)> = vec![
        (
            "nothing",
            vec![nothing.clone(); 12],
            "gave an empty reply, also when it was asked again",
        ),
        (
            "blanks",
            vec![pieces(&["\n\n "]); 12],
            "gave an empty reply, also when it was asked again",
        ),
        (
            "after a tool",
            [vec![print], vec![nothing.clone(); 12]].concat(),
            "gave an empty reply, also when it was asked again",
        ),
        (
            "loaded",
            vec![vec![done("load")]; 12],
            "only loaded the model and gave no reply",
        ),
        (
            "thinking",
            vec![vec![thought(), DONE.into()]; 12],
            "it only thought, and said nothing",
        ),
        (
            "cut",
            vec![vec![done("length")]; 12],
            "tokens before it said anything, also when it was asked again",
        ),
        (
            "thinking, cut",
            vec![vec![thought(), done("length")]; 12],
            "tokens before it said anything, also when it was asked again",
        ),
    ];
    each(
        &rows,
        |row| row.0.to_owned(),
        |(_, replies, said)| {
            let played = play(&[], replies.clone());
            let quiet = played.ran.out.is_empty() && played.ran.code == Some(1);
            let bounded = played.stub.chats().len() <= 4;
            right(quiet && bounded && played.told().contains(said), &played)
        },
    );
    let once = play(&[], vec![nothing]);
    assert_eq!((once.ran.text().as_str(), once.ran.code), ("fine\n", Some(0)));
}
