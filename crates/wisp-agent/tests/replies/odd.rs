//! What models and servers send that is no call, no answer or no end of one: it is read when it has one meaning, answered
//! when it has none, and never ends a turn.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use ollama_sim::{End, Match, Reply, Script};
use serde_json::{Value, json};
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

use super::other::{self, Bodies};
use super::{reads, stage};

/// A reply of these calls, and its end.
fn calls(calls: &Value) -> Vec<Value> {
    let end = json!({"message": {"content": ""}, "done": true, "done_reason": "stop"});
    vec![
        json!({"message": {"content": "", "tool_calls": calls}, "done": false}),
        end,
    ]
}

fn text(text: &str) -> Vec<Value> {
    vec![json!({"message": {"content": text}, "done": true, "done_reason": "stop"})]
}

fn read(name: &str) -> Vec<Value> {
    calls(&json!([{"function": {"name": "read_file", "arguments": {"path": name}}}]))
}

/// What the model was answered to its calls, in the last request, without the lines that an output stands between.
fn answers(bodies: &Bodies) -> Vec<String> {
    let bodies = bodies.lock().unwrap();
    let messages = bodies.last().unwrap()["messages"].as_array().unwrap().clone();
    let tools = messages.into_iter().filter(|m| m["role"] == "tool");
    let bare = |text: &str| {
        let lines = text
            .lines()
            .filter(|l| !l.starts_with("<output-") && !l.starts_with("</output-"));
        lines.collect::<Vec<_>>().join("\n")
    };
    tools.map(|m| bare(m["content"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn a_call_in_any_shape_with_one_meaning_runs() {
    for shape in [
        json!([{"function": {"name": "read_file", "arguments": [{"path": "a.txt"}]}}]),
        json!([{"function": {"name": "read_file", "arguments": "{\"path\": \"a.txt\"}"}}]),
        json!([{"name": "read_file", "arguments": {"path": "a.txt"}}]),
        json!({"function": "read_file", "parameters": {"path": "a.txt"}}),
    ] {
        let (stage, bodies) = other::stage(vec![calls(&shape), text("Seven.")]);
        stage.write("a.txt", "seven\n");
        let mut chat = stage.chat().await;
        assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Ok, "{shape}");
        assert_eq!(answers(&bodies), ["1\tseven\n[end of file]"], "{shape}");
    }
}

#[tokio::test]
async fn a_call_without_one_meaning_is_answered_with_what_the_tool_takes() {
    for (shape, answer) in [
        (
            json!([{"function": {"name": "run_command", "arguments": ["touch ran"]}}]),
            "error: the call cannot be read: its arguments are a list, not an object; run_command takes an object \
             {\"command\": …}; needed: command (string); optional: workingDirectory (string)",
        ),
        (
            json!([{"function": {"name": "run_command", "arguments": "touch ran"}}]),
            "error: the call cannot be read: its arguments are a text, not an object; run_command takes an object ",
        ),
        (
            json!([{"function": {"arguments": {"command": "touch ran"}}}]),
            "error: the call cannot be read: it names no tool; the tools are: current_date, run_command,",
        ),
        (
            json!([{"function": {"name": "run_command", "arguments": {"command": null}}}]),
            "error: run_command needs the argument command (string): A POSIX shell line",
        ),
        (
            json!([{"function": {"name": "edit_file", "arguments": {"path": "a", "old": "x"}}}]),
            "error: edit_file needs the argument content (string): ",
        ),
    ] {
        let (stage, bodies) = other::stage(vec![calls(&shape), text("I see.")]);
        let mut chat = stage.chat().await;
        assert_eq!(chat.say("do it").await.outcome, TurnOutcome::Ok, "{shape}");
        let answers = answers(&bodies);
        assert!(
            answers.len() == 1 && answers[0].starts_with(answer),
            "{answers:?}"
        );
        assert!(!stage.work().join("ran").exists(), "{shape}");
        assert_eq!(stage.audited("tool.call").len(), 1, "{shape}");
    }
}

#[tokio::test]
async fn one_call_sent_in_two_lines_under_one_id_runs_once() {
    let call = json!([{"id": "call_1", "function": {"name": "read_file", "arguments": {"path": "a.txt"}}}]);
    let twice = vec![
        json!({"message": {"content": "", "tool_calls": call}, "done": false}),
        json!({"message": {"content": "", "tool_calls": call}, "done": true, "done_reason": "stop"}),
    ];
    let (stage, bodies) = other::stage(vec![twice, text("Seven.")]);
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Ok);
    assert_eq!(answers(&bodies).len(), 1);
}

/// The same replies over and over, and what comes of it: the requests, and the words of the end.
async fn looped(replies: &[Vec<Value>]) -> (usize, String) {
    let (stage, bodies) = other::stage((0..20).map(|at| replies[at % replies.len()].clone()).collect());
    stage.write("a.txt", "seven\n");
    stage.write("b.txt", "eight\n");
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Error);
    let bodies = bodies.lock().unwrap();
    let last = bodies.last().unwrap()["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    let told = "Do not call a tool again. Answer my question now, in words: read it";
    assert_eq!((&last["role"], &last["content"]), (&json!("user"), &json!(told)));
    (bodies.len(), chat.notes(NoteLevel::Error))
}

#[tokio::test]
async fn the_same_call_again_after_the_model_was_told_ends_the_turn_with_a_line_that_says_so() {
    let (requests, said) = looped(&[read("a.txt")]).await;
    assert_eq!(requests, 3);
    let told = "the turn was stopped: the model made the same read_file call 3 times and did nothing new";
    assert!(said.contains(told), "{said}");
    assert!(said.contains("hint: "), "{said}");
}

#[tokio::test]
async fn two_calls_in_turn_are_a_repetition_too() {
    let (requests, said) = looped(&[read("a.txt"), read("b.txt")]).await;
    assert_eq!(requests, 6, "the first of each is new");
    assert!(said.contains("the same read_file call 3 times"), "{said}");
}

#[tokio::test]
async fn a_call_that_cannot_be_read_over_and_over_is_a_repetition_too() {
    let bad = calls(&json!([{"function": {"name": "run_command", "arguments": [1, 2]}}]));
    let (requests, said) = looped(&[bad]).await;
    assert_eq!(requests, 3);
    assert!(said.contains("the same run_command call 3 times"), "{said}");
}

#[tokio::test]
async fn a_model_that_answers_when_it_is_told_ends_the_turn_well_and_the_words_are_in_no_later_request() {
    let (stage, bodies) = other::stage(vec![read("a.txt"), read("a.txt"), text("Seven."), text("Bye.")]);
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.say("thanks").await.outcome, TurnOutcome::Ok);
    let bodies = bodies.lock().unwrap();
    let told = |body: &Value| body["messages"].to_string().contains("Do not call a tool again");
    assert_eq!(
        bodies.iter().map(told).collect::<Vec<_>>(),
        [false, false, true, false]
    );
}

#[tokio::test]
async fn the_same_call_after_an_edit_is_no_repetition() {
    let run =
        || calls(&json!([{"function": {"name": "run_command", "arguments": {"command": "cat a.txt"}}}]));
    let edit = |text: &str| {
        calls(
            &json!([{"function": {"name": "edit_file", "arguments": {"path": "a.txt", "mode": "write", "content": text}}}]),
        )
    };
    let (stage, bodies) = other::stage(vec![
        run(),
        edit("1\n"),
        run(),
        edit("2\n"),
        run(),
        edit("3\n"),
        run(),
        text("Done."),
    ]);
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("try it").await.outcome, TurnOutcome::Ok);
    let bodies = bodies.lock().unwrap();
    assert!(
        bodies
            .iter()
            .all(|body| !body["messages"].to_string().contains("Do not call a tool again"))
    );
}

#[tokio::test]
async fn of_one_reply_thirty_two_calls_run_and_the_rest_are_answered() {
    let many = |count: usize| {
        let each = (0..count)
            .map(|n| json!({"function": {"name": "read_file", "arguments": {"path": format!("{n}.txt")}}}));
        calls(&Value::Array(each.collect()))
    };
    for (count, answered, last) in [
        (32, 32, "error: file not found"),
        (
            33,
            33,
            "error: not run: no more than 32 calls of one reply are run; make it again in your next reply",
        ),
        (
            3000,
            64,
            "make it again in your next reply (2,936 more calls of this reply were not run either)",
        ),
    ] {
        let (stage, bodies) = other::stage(vec![many(count), text("Done.")]);
        let mut chat = stage.chat().await;
        assert_eq!(chat.say("read them").await.outcome, TurnOutcome::Ok);
        let answers = answers(&bodies);
        assert_eq!(answers.len(), answered);
        assert_eq!(
            answers
                .iter()
                .filter(|text| text.contains("file not found"))
                .count(),
            32
        );
        assert!(answers[answered - 1].contains(last), "{answers:?}");
        let said = chat.notes(NoteLevel::Warning);
        assert_eq!(said.contains("of which 32 were run"), count > 32, "{said}");
    }
}

#[tokio::test]
async fn a_call_written_in_another_form_is_told_to_model_and_person_and_not_run() {
    let text = "{'name': 'read_file', 'arguments': {'path': 'a.txt'}}";
    let script = Script::new().reply(Reply::text(text)).when(
        [Match::LastContains(
            "Your last reply was a tool call written as text, and it was not run".into(),
        )],
        Reply::text("Sorry."),
    );
    let stage = stage(script);
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.reply(), "Sorry.", "the call is not shown as an answer");
    assert!(!chat.called());
    let said = chat.notes(NoteLevel::Warning);
    assert!(
        said.contains("the model wrote a tool call as text, which was not run"),
        "{said}"
    );
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn a_model_that_writes_it_so_again_is_shown_and_the_person_told() {
    let text = "{'name': 'read_file', 'arguments': {'path': 'a.txt'}}";
    let stage = stage(Script::new().reply(Reply::text(text)).reply(Reply::text(text)));
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.reply(), text);
    let said = chat.notes(NoteLevel::Warning);
    assert!(
        said.contains("the reply holds a tool call written as text, which was not run"),
        "{said}"
    );
}

#[tokio::test]
async fn a_call_behind_prose_is_an_answer_and_the_person_is_told() {
    let text = "I will read it now.\n\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}";
    let stage = stage(Script::new().reply(Reply::text(text)));
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.reply(), text);
    assert!(!chat.called());
    let said = chat.notes(NoteLevel::Warning);
    assert!(said.contains("written as text, which was not run"), "{said}");
}

#[tokio::test]
async fn a_model_that_is_cut_inside_a_call_is_told_and_the_limit_named() {
    let half = || Reply::text("{\"name\": \"read_file\", \"arguments\": {\"path\": \"a").ending(End::Length);
    let told = || Match::LastContains("tokens, inside a tool call, so the call was not run".into());
    let script = Script::new()
        .reply(half())
        .when([told()], reads("a.txt"))
        .when([Match::ToolResultContains("seven".into())], Reply::text("Seven."));
    let stage = stage(script);
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.reply(), "Seven.", "half a call is not shown as an answer");
    stage.server.finish().unwrap();

    let script = Script::new()
        .reply(half())
        .when([told()], half())
        .when([told()], half());
    let stage = super::stage(script);
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Error);
    let said = chat.notes(NoteLevel::Error);
    assert!(
        said.contains("tokens inside a tool call, also when it was asked again"),
        "{said}"
    );
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn an_empty_reply_that_was_cut_names_the_limit() {
    let cut = || Reply::new().ending(End::Length);
    let script = Script::new().reply(cut()).when(
        [Match::LastContains(
            "tokens before it said anything. If it was a tool call".into(),
        )],
        cut(),
    );
    let stage = stage(script);
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Error);
    let limit = stage.bodies()[1]["options"]["num_predict"].as_u64().unwrap();
    let limit = wisp_output::amount::grouped(limit);
    let said = chat.notes(NoteLevel::Error);
    let told = format!(
        "the model's reply was cut at {limit} tokens before it said anything, also when it was asked again"
    );
    assert!(said.contains(&told), "{said}");
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn thinking_whose_beginning_is_missing_is_none_of_the_answer() {
    let script = Script::new()
        .reply(Reply::text("Let me think of 42.\n</think>\n\nThe answer is 7."))
        .when(
            [
                Match::PromptContains("The answer is 7.".into()),
                Match::PromptLacks("think of 42".into()),
            ],
            Reply::text("Yes."),
        );
    let stage = stage(script);
    let mut chat = stage.chat().await;
    chat.say("what is it?").await;
    assert_eq!(
        stage.audited("response")[0]["details"]["text"],
        "The answer is 7."
    );
    chat.say("sure?").await;
    stage.server.finish().unwrap();
}
