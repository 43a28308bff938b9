//! The demo model, asked as a person asks it.

mod common;

use common::{chat, get, post};
use ollama_sim::Server;
use serde_json::{Value, json};

fn tools() -> Value {
    let tool = |name: &str, properties: Value| {
        json!({"type": "function", "function": {"name": name, "description": "",
               "parameters": {"type": "object", "properties": properties}}})
    };
    json!([
        tool(
            "run_command",
            json!({"command": {"type": "string"}, "workingDirectory": {"type": "string"}})
        ),
        tool(
            "read_file",
            json!({"path": {"type": "string"}, "offset": {"type": "integer"}, "limit": {"type": "integer"}})
        ),
        tool(
            "edit_file",
            json!({"path": {"type": "string"}, "mode": {"type": "string"}, "content": {"type": "string"},
                                 "find": {"type": "string"}, "line": {"type": "integer"}})
        ),
        tool("current_date", json!({"timeZone": {"type": "string"}})),
        tool("memory", json!({"request": {"type": "string"}})),
    ])
}

/// The calls made of one question, as name and arguments.
fn calls(server: &Server, question: &str) -> Vec<(String, Value)> {
    let body =
        json!({"model": "demo", "tools": tools(), "messages": [{"role": "user", "content": question}]});
    let calls = chat(server, &body).calls();
    let pair = |c: &Value| {
        (
            c["function"]["name"]
                .as_str()
                .expect("a call has a name")
                .to_owned(),
            c["function"]["arguments"].clone(),
        )
    };
    calls.iter().map(pair).collect()
}

#[test]
fn requests_become_calls() {
    let server = Server::start_demo().unwrap();
    let table = [
        (
            "run `seq 1 200000`",
            "run_command",
            json!({"command": "seq 1 200000"}),
        ),
        (
            "Please run seq 1 200000",
            "run_command",
            json!({"command": "seq 1 200000"}),
        ),
        (
            "can you run cargo test.",
            "run_command",
            json!({"command": "cargo test"}),
        ),
        ("run ls .", "run_command", json!({"command": "ls ."})),
        (
            "run `ls` in /tmp",
            "run_command",
            json!({"command": "ls", "workingDirectory": "/tmp"}),
        ),
        (
            "<now>\nTask: x\n</now>\n\nrun `ls`",
            "run_command",
            json!({"command": "ls"}),
        ),
        (
            "Facts so far.\nA: b\n\nrun `ls`",
            "run_command",
            json!({"command": "ls"}),
        ),
        ("read src/main.rs", "read_file", json!({"path": "src/main.rs"})),
        (
            "Read `a b.txt` lines 10-20.",
            "read_file",
            json!({"path": "a b.txt", "offset": 10, "limit": 11}),
        ),
        (
            "read a.txt from line 7",
            "read_file",
            json!({"path": "a.txt", "offset": 7}),
        ),
        (
            "replace \"teh\" with \"the\" in notes.txt",
            "edit_file",
            json!({"path": "notes.txt", "mode": "replace", "content": "the", "find": "teh"}),
        ),
        (
            "append \"- milk\" to list.md",
            "edit_file",
            json!({"path": "list.md", "mode": "append", "content": "- milk\n"}),
        ),
        (
            "write hello to a.txt",
            "edit_file",
            json!({"path": "a.txt", "mode": "write", "content": "hello\n"}),
        ),
        ("what time is it?", "current_date", json!({})),
        (
            "remember that tests run with make",
            "memory",
            json!({"request": "note fact remark = tests run with make"}),
        ),
        (
            "remember that the storage is SQLite",
            "memory",
            json!({"request": "note fact the storage = SQLite"}),
        ),
    ];
    for (question, name, arguments) in table {
        assert_eq!(
            calls(&server, question),
            [(name.to_owned(), arguments)],
            "{question}"
        );
    }
    assert_eq!(calls(&server, "run `a` and `b`").len(), 2);
}

#[test]
fn it_says_what_it_is_once_and_what_it_can() {
    let server = Server::start_demo().unwrap();
    let body =
        json!({"model": "demo", "messages": [{"role": "user", "content": "Write me a poem about trees"}]});
    let first = chat(&server, &body);
    assert!(
        first
            .content()
            .starts_with("I am the demo model: a small set of rules"),
        "{}",
        first.content()
    );
    assert!(first.content().contains("run `COMMAND`"));
    assert!(first.chunks.len() > 20, "it streams in small pieces");
    let body = json!({"model": "demo", "messages": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": first.content()},
        {"role": "user", "content": "run `ls`"},
    ]});
    let second = chat(&server, &body);
    assert_eq!(
        second.content(),
        "The tool run_command is not offered in this conversation, so I cannot do that."
    );
}

#[test]
fn results_are_commented_and_what_was_held_back_is_paged() {
    let server = Server::start_demo().unwrap();
    let result = "exit status: 0\nstdout:\n1\n2\n[… 199,000 lines (1.3 MiB) held back …]\n200000\n\
                  held back: stdout lines 44–199,043 (1.3 MiB); exit status 0; the whole output is kept as output \
                  3f9a2c1b (200,000 lines); memory \"recall output 3f9a2c1b from line 44\" pages it";
    let mut messages = vec![
        json!({"role": "user", "content": "run `seq 1 200000`"}),
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "run_command", "arguments": {"command": "seq 1 200000"}}}]}),
        json!({"role": "tool", "tool_name": "run_command", "content": result}),
    ];
    let body = json!({"model": "demo", "tools": tools(), "messages": messages});
    let comment = chat(&server, &body).content();
    assert_eq!(
        comment,
        "The command ended with exit status 0 and printed what you see above. 199,000 lines (1.3 MiB) were held back \
         from me: /last or /show 3f9a2c1b shows you the whole of it; say \"more\", \"matching PATTERN\" or \
         \"summarise\" and I look at the rest."
    );
    messages.push(json!({"role": "assistant", "content": comment}));
    let table = [
        ("more", "recall output 3f9a2c1b from line 44"),
        ("show me more", "recall output 3f9a2c1b from line 44"),
        ("matching 777$", "recall output 3f9a2c1b matching 777$"),
        ("summarise", "summarise output 3f9a2c1b"),
    ];
    for (question, request) in table {
        let mut messages = messages.clone();
        messages.push(json!({"role": "user", "content": question}));
        let reply = chat(
            &server,
            &json!({"model": "demo", "tools": tools(), "messages": messages}),
        );
        assert_eq!(
            reply.calls()[0]["function"]["arguments"],
            json!({"request": request}),
            "{question}"
        );
        let without = chat(&server, &json!({"model": "demo", "messages": messages}));
        assert!(without.content().contains("/last"), "{}", without.content());
    }
}

#[test]
fn it_is_listed_with_what_it_can() {
    let server = Server::start_demo().unwrap();
    assert_eq!(
        get(&server, "/api/tags").json()["models"][0]["name"],
        "demo:latest"
    );
    let show = post(&server, "/api/show", &json!({"model": "demo"})).json();
    assert_eq!(show["capabilities"], json!(["completion", "tools"]));
    assert_eq!(show["model_info"]["llama.context_length"], 8192);
}

#[test]
fn pages_are_followed_to_the_end() {
    let server = Server::start_demo().unwrap();
    let call = |name: &str, arguments: Value| json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]});
    let ask = |page: &str| {
        let body = json!({"model": "demo", "tools": tools(), "messages": [
            {"role": "user", "content": "run `seq 9`"},
            call("run_command", json!({"command": "seq 9"})),
            {"role": "tool", "content": "[… 7 lines (14 B) held back …]\nthe whole output is kept as output ab12 (9 lines)"},
            {"role": "assistant", "content": "Some were held back."},
            {"role": "user", "content": "more"},
            call("memory", json!({"request": "recall output ab12"})),
            {"role": "tool", "content": page},
            {"role": "assistant", "content": "A page."},
            {"role": "user", "content": "more"},
        ]});
        chat(&server, &body)
    };
    let next = ask("output ab12, lines 1-4 of 9\n1\n2\n[more: memory \"recall output ab12 from line 5\"]");
    assert_eq!(
        next.calls()[0]["function"]["arguments"]["request"],
        "recall output ab12 from line 5"
    );
    let end = ask("output ab12, lines 5-9 of 9\n5\n9");
    assert_eq!(
        end.content(),
        "That was the end of it: nothing more is held back."
    );
}

#[test]
fn a_file_is_read_page_by_page() {
    let server = Server::start_demo().unwrap();
    let body = json!({"model": "demo", "tools": tools(), "messages": [
        {"role": "user", "content": "read a.txt"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "read_file", "arguments": {"path": "a.txt"}}}]},
        {"role": "tool", "content": "1\tone\n2\ttwo\n[more: call again with offset 3]"},
        {"role": "assistant", "content": "A page."},
        {"role": "user", "content": "more"},
    ]});
    let call = &chat(&server, &body).calls()[0]["function"];
    assert_eq!(
        (call["name"].clone(), call["arguments"].clone()),
        (json!("read_file"), json!({"path": "a.txt", "offset": 3}))
    );
}

#[test]
fn structured_output_is_the_smallest_the_schema_allows() {
    let server = Server::start_demo().unwrap();
    let schema = json!({"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]});
    let body =
        json!({"model": "demo", "format": schema, "messages": [{"role": "user", "content": "Facts?"}]});
    assert_eq!(chat(&server, &body).content(), r#"{"facts":[]}"#);
}
