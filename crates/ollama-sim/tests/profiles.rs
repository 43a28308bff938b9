//! What the releases do differently, where no recording says it: fields, thinking, tools, the cloud. What becomes of a
//! prompt that does not fit is in `windows.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "test code, called with literals"
)]

mod common;

use common::{Response, ask, chat, get, post, tool};
use ollama_sim::{Capability, Config, Match, Model, Profile, Remote, Reply, Script, Server, Step, profile};
use serde_json::{Value, json};

const EVERY: [Profile; 7] = profile::ALL;

fn serve(profile: Profile, models: impl IntoIterator<Item = Model>) -> Server {
    let reply = Reply::new().thinking("let me see").content("The answer.");
    let script = Script::new().step(Step::new(reply).repeated());
    Server::start(Config::new(script).profile(profile).models(models)).expect("a port is free")
}

fn thinker() -> Model {
    Model::new("deep").with_capabilities(&[Capability::Completion, Capability::Thinking])
}

/// Status and error text of a request.
fn refusal(profile: Profile, body: &Value) -> (u16, String) {
    let response = chat(&serve(profile, [Model::new("sim"), thinker()]), body);
    (
        response.status,
        if response.status == 200 {
            String::new()
        } else {
            response.error()
        },
    )
}

#[test]
fn every_profile_is_found_by_its_name() {
    for profile in EVERY {
        assert_eq!(Profile::named(profile.name), Some(profile));
    }
    assert_eq!(Profile::named("0.32.15-rendered"), Some(profile::V0_32_15));
    assert_eq!(Profile::named("1.0"), None);
}

#[test]
fn think_is_read_as_its_release_reads_it() {
    let body = |think: Value| ask("deep", "x", json!({"think": think}));
    let ok = (200, String::new());
    for profile in EVERY {
        assert_eq!(refusal(profile, &body(json!(true))), ok, "{profile:?}");
        assert_eq!(refusal(profile, &body(json!(false))), ok, "{profile:?}");
        assert_eq!(
            refusal(profile, &ask("sim", "x", json!({"think": false}))),
            ok,
            "{profile:?}"
        );
    }
    assert_eq!(refusal(profile::V0_5_7, &body(json!("low"))), ok, "ignored");
    let boolean = "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool";
    assert_eq!(
        refusal(profile::V0_9_6, &body(json!("low"))),
        (400, boolean.into())
    );
    let gpt_oss = "think value \"low\" is not supported for this model";
    assert_eq!(
        refusal(profile::V0_12_6, &body(json!("low"))),
        (400, gpt_oss.into())
    );
    assert_eq!(refusal(profile::V0_24_0, &body(json!("max"))), ok);
    let no_max = "invalid think value: \"max\" (must be \"high\", \"medium\", \"low\", true, or false)";
    assert_eq!(
        refusal(profile::V0_12_6, &body(json!("max"))),
        (400, no_max.into())
    );
}

#[test]
fn thinking_arrives_apart_or_as_tags_or_not_at_all() {
    let reply = |profile, more: Value| chat(&serve(profile, [thinker()]), &ask("deep", "x", more));
    let parts = |r: &Response| (r.thinking(), r.content());
    let apart = ("let me see".to_owned(), "The answer.".to_owned());
    let tags = (
        String::new(),
        "<think>\nlet me see\n</think>\n\nThe answer.".to_owned(),
    );
    let none = (String::new(), "The answer.".to_owned());
    for profile in EVERY {
        let old = profile == profile::V0_5_7;
        let omitted = if profile.thinks_unasked { &apart } else { &tags };
        assert_eq!(&parts(&reply(profile, json!({}))), omitted, "{profile:?}");
        let on = if old { &tags } else { &apart };
        assert_eq!(&parts(&reply(profile, json!({"think": true}))), on, "{profile:?}");
        let off = if old { &tags } else { &none };
        assert_eq!(
            &parts(&reply(profile, json!({"think": false}))),
            off,
            "{profile:?}"
        );
    }
}

#[test]
fn fields_exist_from_their_release_on() {
    for profile in EVERY {
        let server = serve(profile, [Model::new("sim")]);
        let show = post(&server, "/api/show", &json!({"model": "sim"})).json();
        assert_eq!(
            show.get("capabilities").is_some(),
            profile.show_capabilities,
            "{profile:?}"
        );
        let tags = get(&server, "/api/tags").json();
        assert_eq!(
            tags["models"][0].get("capabilities").is_some(),
            profile.tags_capabilities,
            "{profile:?}"
        );
        assert_eq!(chat(&server, &ask("sim", "x", json!({}))).status, 200);
        let ps = get(&server, "/api/ps").json();
        assert_eq!(
            ps["models"][0].get("context_length").is_some(),
            profile.ps_window,
            "{profile:?}"
        );
        assert_eq!(
            get(&server, "/api/status").status,
            if profile.account_routes { 200 } else { 404 }
        );
        let debug = chat(
            &server,
            &ask("sim", "x", json!({"_debug_render_only": true, "stream": false})),
        );
        assert_eq!(
            debug.json().get("_debug_info").is_some(),
            profile.debug_render,
            "{profile:?}"
        );
    }
}

#[test]
fn what_a_release_does_not_know_is_listed_and_ignored() {
    let unknown = |profile, more: Value| {
        let server = serve(profile, [Model::new("sim")]);
        assert_eq!(chat(&server, &ask("sim", "x", more)).status, 200);
        server.chats()[0]
            .chat
            .clone()
            .expect("it reached the model")
            .unknown
    };
    let more =
        json!({"truncate": false, "shift": false, "think": false, "options": {"nonsense": 1}, "extra": 1});
    assert_eq!(
        unknown(profile::V0_5_7, more.clone()),
        ["truncate", "shift", "think", "extra", "options.nonsense"]
    );
    assert_eq!(
        unknown(profile::V0_9_6, more.clone()),
        ["truncate", "shift", "extra", "options.nonsense"]
    );
    assert_eq!(unknown(profile::V0_24_0, more), ["extra", "options.nonsense"]);
    let schema = json!({"type": "object", "additionalProperties": false,
        "properties": {"a": {"type": "string", "pattern": "x", "description": "d"}}});
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]);
    assert_eq!(
        unknown(profile::V0_24_0, json!({ "tools": tools })),
        [
            "tools.function.parameters.additionalProperties",
            "tools.function.parameters.properties.pattern"
        ]
    );
}

#[test]
fn an_array_of_types_is_refused_before_0_6_6() {
    let schema = json!({"type": "object", "properties": {"p": {"type": ["string", "null"]}}});
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]);
    let (status, text) = refusal(profile::V0_5_7, &ask("sim", "x", json!({"tools": tools})));
    assert_eq!(status, 400);
    assert!(
        text.starts_with("json: cannot unmarshal array into Go struct field"),
        "{text}"
    );
    assert_eq!(
        refusal(profile::V0_9_6, &ask("sim", "x", json!({"tools": tools}))).0,
        200
    );
}

#[test]
fn results_of_tools_melt_before_0_9_6() {
    let rendered = |profile: Profile| {
        let server = Server::start(
            Config::new(Script::new().when([Match::ToolResultContains("second".into())], Reply::text("ok")))
                .profile(profile),
        )
        .unwrap();
        let call = |name: &str| json!({"function": {"name": name, "arguments": {}}});
        let body = json!({"model": "sim", "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": "", "tool_calls": [call("a"), call("b")]},
            {"role": "tool", "content": "first"},
            {"role": "tool", "content": "second"},
        ]});
        assert_eq!(chat(&server, &body).status, 200);
        server.chats()[0].chat.clone().unwrap().prompt
    };
    assert!(rendered(profile::V0_5_7).contains("first\n\nsecond"));
    assert!(rendered(profile::V0_9_6).contains("first<|im_end|>\n<|im_start|>tool\nsecond"));
}

#[test]
fn a_second_system_message_fails_where_the_template_is_strict() {
    let server = serve(profile::V0_32_15_NATIVE, [Model::new("sim")]);
    let body = json!({"model": "sim", "stream": false, "messages": [
        {"role": "user", "content": "x"}, {"role": "system", "content": "late"}, {"role": "user", "content": "y"}]});
    let response = chat(&server, &body);
    assert_eq!(response.status, 500);
    let inner: Value = serde_json::from_str(&response.error()).unwrap();
    assert_eq!(
        inner["error"]["message"],
        "System message must be at the beginning."
    );
}

#[test]
fn the_cloud_refuses_in_its_own_ways_and_marks_its_lines() {
    let remote = |signed_in, quota: Option<&str>| Model {
        remote: Some(Remote {
            host: "https://ollama.com:443".into(),
            model: "big".into(),
            signed_in,
            quota: quota.map(str::to_owned),
        }),
        ..Model::new("big:cloud")
    };
    let ask_it = |model: Model, disabled: bool| {
        let script = Script::new().step(Step::new(Reply::text("far")).repeated());
        let config = Config {
            cloud_disabled: disabled,
            ..Config::new(script).models([model])
        };
        chat(&Server::start(config).unwrap(), &ask("big:cloud", "x", json!({})))
    };
    let unsigned = ask_it(remote(false, None), false);
    assert_eq!(
        (unsigned.status, unsigned.error().as_str()),
        (401, "unauthorized")
    );
    assert!(
        unsigned.json()["signin_url"]
            .as_str()
            .unwrap()
            .starts_with("https://ollama.com/connect")
    );
    let quota = "you (name) have reached your weekly usage limit";
    assert_eq!(ask_it(remote(true, Some(quota)), false).status, 429);
    let disabled = ask_it(remote(true, None), true);
    assert_eq!(
        disabled.error(),
        "ollama cloud is disabled: remote model is unavailable"
    );
    let far = ask_it(remote(true, None), false);
    assert_eq!(far.lines()[0]["remote_host"], "https://ollama.com:443");
    assert_eq!(
        ask_it(Model::new("small"), false).status,
        401,
        "an unknown cloud name is passed on"
    );
}

#[test]
fn pulls_fail_at_200_go_back_and_go_on() {
    let server = serve(profile::V0_24_0, [Model::new("sim")]);
    let pull = |name: &str| post(&server, "/api/pull", &json!({"model": name}));
    let statuses = |r: &Response| -> Vec<String> {
        r.lines()
            .iter()
            .filter_map(|l| l["status"].as_str().map(str::to_owned))
            .collect()
    };
    let good = pull("tiny");
    assert_eq!(statuses(&good).first().unwrap(), "pulling manifest");
    assert_eq!(statuses(&good).last().unwrap(), "success");
    let done: Vec<u64> = good
        .lines()
        .iter()
        .filter_map(|l| l["completed"].as_u64())
        .collect();
    assert!(done.windows(2).any(|w| w[1] < w[0]), "{done:?}");
    assert!(
        good.lines()[1].get("completed").is_none(),
        "nothing yet, so nothing said"
    );
    assert_eq!(
        get(&server, "/api/tags").json()["models"][0]["name"],
        "tiny:latest"
    );
    let flaky = pull("flaky/model");
    assert_eq!(
        (flaky.status, flaky.error().as_str()),
        (200, "max retries exceeded: EOF")
    );
    let again = pull("flaky/model");
    assert_eq!(statuses(&again).last().unwrap(), "success");
    assert_eq!(again.lines()[1]["completed"], 500_000, "it goes on where it was");
    assert_eq!(
        pull("missing-model").error(),
        "pull model manifest: file does not exist"
    );
    assert!(pull("broken/x").error().starts_with("digest mismatch"));
}

#[test]
fn tools_are_kept_for_the_template_and_the_script() {
    let script = Script::new().when([Match::ToolOffered("run".into())], Reply::text("ok"));
    let server = Server::scripted(script).unwrap();
    assert_eq!(
        chat(
            &server,
            &ask("sim", "x", json!({"tools": [tool("run", "command")]}))
        )
        .content(),
        "ok"
    );
    let prompt = server.chats()[0].chat.clone().unwrap().prompt;
    assert!(
        prompt.starts_with("<|im_start|>system\n<tools>\n{\"type\":\"function\""),
        "{prompt}"
    );
}

#[test]
fn what_is_kept_of_a_property_grew() {
    let property = json!({"type": "array", "description": "d", "items": {"type": "string"},
                          "anyOf": [{"type": "string"}], "properties": {"p": {"type": "string"}}});
    let schema = json!({"type": "object", "properties": {"a": property}});
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]);
    let kept = |profile| {
        let server = serve(profile, [Model::new("sim")]);
        assert_eq!(
            chat(&server, &ask("sim", "x", json!({ "tools": tools }))).status,
            200
        );
        let prompt = server.chats()[0].chat.clone().unwrap().prompt;
        ["items", "anyOf", "\"p\""].map(|key| prompt.contains(key))
    };
    assert_eq!(kept(profile::V0_5_7), [false, false, false]);
    assert_eq!(kept(profile::V0_9_6), [true, false, false]);
    assert_eq!(kept(profile::V0_12_6), [true, true, false]);
    assert_eq!(kept(profile::V0_24_0), [true, true, true]);
}

#[test]
fn the_list_speaks_of_another_template_than_show_where_the_files_own_is_taken() {
    let model = || Model {
        native_capabilities: Some(vec![Capability::Completion]),
        ..Model::new("sim")
    };
    for (profile, shown) in [
        (profile::V0_32_15, json!(["completion", "tools"])),
        (profile::V0_32_15_NATIVE, json!(["completion"])),
    ] {
        let server = serve(profile, [model()]);
        let listed = get(&server, "/api/tags").json()["models"][0]["capabilities"].clone();
        assert_eq!(listed, json!(["completion", "tools"]), "{profile:?}");
        let show = post(&server, "/api/show", &json!({"model": "sim"})).json();
        assert_eq!(show["capabilities"], shown, "{profile:?}");
    }
}

#[test]
fn a_derived_model_keeps_the_parameters_it_was_given_and_those_it_derives_from() {
    let base = Model {
        num_ctx: Some(4096),
        repeat_penalty: Some(1.1),
        ..Model::new("sim")
    };
    let server = serve(profile::V0_32_15, [base]);
    let made = json!({"model": "derived", "from": "sim", "system": "S",
                      "parameters": {"num_ctx": 1_048_576, "temperature": 0.1, "stop": ["a", "b"]}});
    assert_eq!(post(&server, "/api/create", &made).status, 200);
    let parameters =
        |name: &str| post(&server, "/api/show", &json!({ "model": name })).json()["parameters"].clone();
    let row = |name: &str, value: &str| format!("{name:<30} {value}");
    let derived = [
        row("num_ctx", "1.048576e+06"),
        row("repeat_penalty", "1.1"),
        row("stop", "\"a\""),
        row("stop", "\"b\""),
        row("temperature", "0.1"),
    ];
    assert_eq!(parameters("derived"), derived.join("\n"));
    let again = json!({"model": "again", "from": "derived", "parameters": {"temperature": 1}});
    assert_eq!(post(&server, "/api/create", &again).status, 200);
    let text = parameters("again").as_str().unwrap().to_owned();
    assert!(
        text.contains(&row("stop", "\"b\"")) && text.ends_with(&row("temperature", "1")),
        "{text}"
    );
}
