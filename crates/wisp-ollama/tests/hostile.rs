//! Whatever a server, a proxy or a model sends is read or refused, never a panic and never a call nobody offered.

use proptest::prelude::*;
use serde_json::{Value, json};
use wisp_ollama::window::{Cost, Memory, size};
use wisp_ollama::{Error, Host, ServerVersion, Show, ToolDefinition, error, read_line, recover, thinking};

/// JSON of any shape whose keys are the wire's own, so that it reaches past the first check.
fn wire() -> impl Strategy<Value = Value> {
    let keys = "message|done|error|content|thinking|tool_calls|function|name|arguments|type|n_ctx|done_reason|eval_count";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z{}\\[\\]\":<>/= ]{0,12}|map\\[message:x type:y\\]|\\{\"error\":\"x\"\\}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(keys, inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn offered() -> [ToolDefinition; 1] {
    [ToolDefinition {
        name: "name".into(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": {"type": {"type": "string"}}}),
    }]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_line_is_a_part_of_a_reply_or_an_error(value in wire(), status in 200u16..600) {
        let text = value.to_string();
        if let Ok(line) = read_line("http://h", text.as_bytes()) {
            let object = value.as_object().expect("only an object is a line");
            prop_assert!(object.contains_key("message") || object.contains_key("done"));
            prop_assert!(object.get("error").is_none_or(Value::is_null));
            prop_assert_eq!(line.done.is_some(), object.get("done") == Some(&Value::Bool(true)));
        }
        let error = Error::from_body("http://h", status, text.as_bytes());
        prop_assert!(!error.to_string().is_empty());
        let _ = (error.hint(), error.remedy());
    }

    #[test]
    fn any_bytes_are_an_error_at_most(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_line("http://h", &bytes);
        let _ = error::body::read(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let _ = (Host::parse(&text), ServerVersion::parse(&text).era());
    }

    #[test]
    fn an_address_that_parses_is_one_that_can_be_asked(text in "(http://|https://)?[a-z0-9.:\\[\\]@/ -]{0,24}") {
        if let Ok(host) = Host::parse(&text) {
            let again = Host::parse(&host.to_string()).expect("its own form");
            prop_assert_eq!(again.to_string(), host.to_string());
            prop_assert!(!host.url("/api/chat").ends_with("//api/chat"));
        }
    }

    #[test]
    fn only_offered_tools_are_recovered(text in "[ \n]?(name|<tool_call>|\\[ARGS\\]|\\{\"name\": ?\"name\", ?\"arguments\": ?\\{\\}\\}|</tool_call>|x|```\n|```json\n|\\{\\}){0,5}") {
        if let Some(calls) = recover::calls_in(&text, &offered()) {
            prop_assert!(!calls.is_empty() && calls.iter().all(|call| call.name == "name"));
            prop_assert!(recover::could_become_calls(&text, &offered()), "{}", text);
            for (end, _) in text.char_indices() {
                prop_assert!(recover::could_become_calls(&text[..end], &offered()), "{:?}", &text[..end]);
            }
        }
    }

    #[test]
    fn splitting_thinking_loses_no_letter(text in "[a-c<>/think ]{0,40}", opened: bool) {
        let split = thinking::split(&text, opened);
        let letters = |s: &str| s.chars().filter(|c| "abc".contains(*c)).count();
        prop_assert_eq!(letters(&split.thinking) + letters(&split.content), letters(&text));
    }

    #[test]
    fn any_metadata_is_sized_within_the_trained_length(
        fields in prop::collection::vec(any::<u64>(), 12),
        interval in 0u64..9,
        kv in prop::collection::vec(any::<u32>(), 0..6),
        maximum: u64, weights: u64, available: u64, total: u64,
    ) {
        let show: Show = serde_json::from_value(json!({"modelfile": "DRAFT x\nPARAMETER draft_num_predict 99999999999", "model_info": {
            "general.architecture": "a", "a.block_count": fields[0] % 5000, "a.attention.head_count": fields[1],
            "a.attention.head_count_kv": kv, "a.attention.key_length": fields[2] % (2 << 20),
            "a.attention.value_length": fields[3] % (2 << 20), "a.nextn_predict_layers": fields[4] % 9,
            "a.full_attention_interval": interval, "a.ssm.conv_kernel": fields[5] % (2 << 20),
            "a.ssm.inner_size": fields[6] % (2 << 20), "a.ssm.state_size": fields[7] % (2 << 20),
            "a.ssm.group_count": fields[8] % (2 << 20), "a.attention.sliding_window": fields[9],
        }})).expect("reads");
        if let Some(cost) = Cost::of(&show) {
            let memory = Memory { available, total, held: fields[10] };
            let sized = size(cost, weights, maximum, memory);
            prop_assert!(sized.window <= maximum);
            prop_assert!(sized.window >= maximum.min(8192));
            prop_assert_eq!(sized.fits, sized.need <= memory.budget());
        }
    }
}
