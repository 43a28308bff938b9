//! The server under test, and how it is asked.

use ollama_sim::{Profile, profile};
use serde_json::{Value, json};

use crate::common::{self, Response, ask, chat, get};

/// The request that a cancelled reply begins with: long for a real model, endless for the scripted one.
pub(crate) const LONG_COUNT: &str = "Count slowly:";

/// A server under test and the models it has.
pub(crate) struct Subject {
    /// Host and port.
    pub(crate) server: String,
    /// A model with tools that says what it is told.
    pub(crate) model: String,
    /// A model that has neither tools nor thinking, when there is one.
    pub(crate) plain: Option<String>,
    /// What its release does.
    pub(crate) profile: Profile,
}

impl Subject {
    /// The server named by the environment.
    pub(crate) fn real() -> Option<Self> {
        let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        let server = variable("WISP_REAL_OLLAMA")?;
        let server = server
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned();
        let version = get(&server, "/api/version").json()["version"].clone();
        let named = variable("WISP_REAL_PROFILE");
        let profile = match named.as_deref() {
            Some(name) => Profile::named(name).unwrap_or_else(|| panic!("no profile is named {name}")),
            None => nearest(version.as_str().unwrap_or_default()),
        };
        Some(Self {
            model: variable("WISP_REAL_MODEL").unwrap_or_else(|| {
                let tags = get(&server, "/api/tags").json();
                let first = tags["models"][0]["name"].as_str();
                first.expect("the server has a model").to_owned()
            }),
            plain: variable("WISP_REAL_PLAIN"),
            server,
            profile,
        })
    }

    /// Asks the model with one message.
    pub(crate) fn ask(&self, text: &str, more: Value) -> Response {
        self.send(&ask(&self.model, text, more))
    }

    /// Sends a chat as it is.
    pub(crate) fn send(&self, body: &Value) -> Response {
        chat(&self.server, body)
    }

    /// Asks without a stream and returns the whole answer.
    pub(crate) fn whole(&self, messages: &Value, options: Value, more: Value) -> Value {
        let mut body = more;
        body["model"] = json!(self.model);
        body["messages"] = messages.clone();
        body["stream"] = json!(false);
        body["options"] = options;
        let response = self.send(&body);
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }
}

/// The newest profile that is not newer than this version. The native path cannot be told by it.
fn nearest(version: &str) -> Profile {
    let numbers = |text: &str| -> Vec<u32> {
        text.split(['.', '-'])
            .take(3)
            .map_while(|part| part.parse().ok())
            .collect()
    };
    let known = numbers(version);
    assert!(
        known.len() == 3 && known != [0, 0, 0],
        "the server says version {version:?}: name its profile with WISP_REAL_PROFILE"
    );
    let rendered = profile::ALL
        .into_iter()
        .filter(|p| p.era != profile::Era::E4Native);
    let older = rendered.filter(|p| numbers(p.version) <= known);
    older
        .max_by_key(|p| numbers(p.version))
        .unwrap_or(profile::V0_5_7)
}

/// Options that keep a small machine's answer short.
pub(crate) fn brief(num_predict: u32) -> Value {
    json!({"num_ctx": 2048, "num_predict": num_predict, "temperature": 0, "seed": 1})
}

/// A count of a finished reply.
pub(crate) fn count(line: &Value, field: &str) -> u64 {
    line[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field} is a number in {line}"))
}

/// So many words, none of them equal to its neighbours.
pub(crate) fn words(many: usize) -> String {
    let words = [
        "lantern", "meadow", "copper", "ferry", "thistle", "harbour", "candle", "orchard",
    ];
    let text: Vec<_> = (0..many).map(|n| words[(n * n + n / 8) % 8]).collect();
    text.join(" ")
}

/// The numbers up to `last`. A small model that is told them counts them again, to their end or past it.
pub(crate) fn numbers(last: u32) -> String {
    let text: Vec<_> = (1..=last).map(|n| n.to_string()).collect();
    text.join(", ")
}

/// A message.
pub(crate) fn says(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// A number no earlier run has used, so that what begins with it is in no cache.
pub(crate) fn fresh() -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}{}", now.as_nanos(), std::process::id())
}

/// A connection that has sent a streaming chat.
pub(crate) fn open(subject: &Subject, body: &Value) -> std::net::TcpStream {
    common::send(
        &subject.server,
        "POST",
        "/api/chat",
        &[],
        body.to_string().as_bytes(),
    )
}
