//! The shape of a chat: a stream, a whole, a call, and a script that is not kept.

mod common;

use common::{ask, chat, tool};
use ollama_sim::{Match, Reply, Script, Server};
use serde_json::json;

#[test]
fn a_stream_is_lines_with_the_counts_at_the_end() {
    let server = Server::scripted(Script::new().reply(Reply::text("Hello <there>."))).unwrap();
    let response = chat(&server, &ask("sim", "Say hi.", json!({})));
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/x-ndjson"));
    assert!(response.text().contains("\\u003c"), "{}", response.text());
    assert_eq!(response.content(), "Hello <there>.");
    let last = response.last();
    assert_eq!(last["done"], true);
    assert_eq!(last["done_reason"], "stop");
    // `Hello` ` ` `<` `there` `>` `.` and the stop token.
    assert_eq!(last["eval_count"], 7);
    let prompt = "<|im_start|>user\nSay hi.<|im_end|>\n<|im_start|>assistant\n";
    assert_eq!(last["prompt_eval_count"], ollama_sim::tokens::count(prompt));
    let seen = &server.chats()[0];
    assert_eq!(seen.chat.as_ref().unwrap().prompt, prompt);
    assert_eq!(server.finish(), Ok(()));
}

#[test]
fn a_tool_loop_reuses_its_prefix() {
    let script = Script::new()
        .when(
            [Match::ToolOffered("run".into())],
            Reply::call("run", json!({"command": "ls"})),
        )
        .when(
            [Match::ToolResultContains("main.rs".into())],
            Reply::text("One file."),
        );
    let server = Server::scripted(script).unwrap();
    let tools = json!([tool("run", "command")]);
    let first = chat(&server, &ask("sim", "List.", json!({"tools": tools})));
    let call = first.calls()[0].clone();
    assert_eq!(call["function"]["arguments"], json!({"command": "ls"}));
    assert!(call["id"].as_str().unwrap().starts_with("call_"));
    let body = json!({"model": "sim", "tools": tools, "messages": [
        {"role": "user", "content": "List."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_name": "run", "content": "main.rs"},
    ]});
    let second = chat(&server, &body);
    assert_eq!(second.content(), "One file.");
    let chats = server.chats();
    let (before, after) = (chats[0].chat.as_ref().unwrap(), chats[1].chat.as_ref().unwrap());
    assert_eq!(before.cached_tokens, 0);
    assert_eq!(after.cached_tokens, before.prompt_tokens + before.generated);
    assert_eq!(server.finish(), Ok(()));
}

#[test]
fn an_unexpected_and_a_missing_request_fail_loudly() {
    let script = Script::new().when([Match::LastContains("expected".into())], Reply::text("yes"));
    let server = Server::scripted(script).unwrap();
    let response = chat(&server, &ask("sim", "something else", json!({})));
    assert_eq!(response.status, 500);
    assert!(
        response.error().starts_with("ollama-sim: unexpected request"),
        "{}",
        response.error()
    );
    let failure = server.finish().unwrap_err();
    assert_eq!(failure.0.len(), 2, "{failure}");
}

#[test]
fn a_reply_to_a_result_must_be_guarded_by_it() {
    let server = Server::scripted(Script::new().reply(Reply::text("fine"))).unwrap();
    let body = json!({"model": "sim", "messages": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "run", "arguments": {}}}]},
        {"role": "tool", "content": "result"},
    ]});
    assert_eq!(chat(&server, &body).status, 500);
    assert!(server.finish().unwrap_err().to_string().contains("guarded"));
}
