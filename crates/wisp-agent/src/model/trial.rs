//! Trying out what a model can do, where nobody declares it: three short questions, once each, without chance. The
//! answers are kept ([`super::known`]) and the engine goes by them.
//!
//! What a model says of itself, in its template or its name, is no ability. A check shows what it did once; how well
//! it does it stays open.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use wisp_ollama::thinking::ThinkSplitter;
use wisp_ollama::{ChatRequest, Error, Message, Reply, Think, ToolDefinition, Tools, adapt, recover};

use super::known::{TOOL_CALLING, Verified};
use super::{Model, convert};

/// What a check calls the ability to reply with an object of a given form.
pub const GUIDED: &str = "guidedGeneration";
/// What a check calls a plain reply.
pub const REPLY: &str = "reply";
/// The tool the model is asked to call.
pub(super) const TOOL: &str = "record_word";
/// The word it is asked to record.
const WORD: &str = "heron";
/// Tokens a plain reply may have.
const FEW: u64 = 64;
/// Tokens a call or an object may have: a model that cannot be told not to think needs some before it.
const SOME: u64 = 512;

/// One question and how it is judged.
pub struct Question {
    /// The ability it shows.
    pub name: &'static str,
    /// The same in words for the person.
    pub words: &'static str,
    /// How long the answer may take.
    pub limit: Duration,
    ask: fn(&Model) -> ChatRequest,
    judge: fn(&ChatRequest, &Reply) -> Result<(), &'static str>,
}

/// The questions, in order. The first one's time includes the load.
pub const QUESTIONS: [Question; 3] = [
    Question {
        name: REPLY,
        words: "reply",
        limit: Duration::from_mins(3),
        ask: hello,
        judge: says_something,
    },
    Question {
        name: TOOL_CALLING,
        words: "tool calling",
        limit: Duration::from_mins(1),
        ask: record,
        judge: made_the_call,
    },
    Question {
        name: GUIDED,
        words: "structured replies",
        limit: Duration::from_mins(1),
        ask: object,
        judge: is_the_object,
    },
];

/// What came of one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// The ability.
    pub name: &'static str,
    /// Whether it was shown.
    pub passed: bool,
    /// How long the answer took, seconds.
    pub seconds: f64,
    /// Why it was not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Asks one question. The error is the server's, where it is no answer to the question: unreachable, no such model.
pub async fn ask(model: &Model, question: &Question) -> Result<Trial, Error> {
    let request = (question.ask)(model);
    let began = Instant::now();
    let answer = async { model.client.chat(&request).await?.finish().await };
    let answer = tokio::time::timeout(question.limit, answer).await;
    let reason = match answer {
        Err(_) => Some(format!("no answer within {} s", question.limit.as_secs())),
        Ok(Err(error)) if is_an_answer(&error) => Some(error.to_string()),
        Ok(Err(error)) => return Err(error),
        Ok(Ok(reply)) => (question.judge)(&request, &reply).err().map(str::to_owned),
    };
    Ok(Trial {
        name: question.name,
        passed: reason.is_none(),
        seconds: began.elapsed().as_secs_f64(),
        reason,
    })
}

/// What is kept of the trials of a model that can be talked to; nothing of one that cannot.
pub fn verified(trials: &[Trial], date: &str) -> Option<Verified> {
    let names = |passed: bool| {
        let of = trials.iter().filter(|t| t.passed == passed && t.name != REPLY);
        of.map(|t| t.name.to_owned()).collect()
    };
    trials
        .iter()
        .any(|t| t.name == REPLY && t.passed)
        .then(|| Verified {
            date: date.to_owned(),
            passed: names(true),
            failed: names(false),
        })
}

/// Whether an error tells something about the model rather than about the server or the way to it.
fn is_an_answer(error: &Error) -> bool {
    matches!(error, Error::Unfinished { .. } | Error::Unreadable { .. }) || error.refusal().is_some()
}

/// A request of one short question, greedy, in the window the model has anyway.
fn asking(model: &Model, text: &str, most: u64) -> ChatRequest {
    let system = Message::system("You are a helpful assistant. Answer briefly.");
    let mut request = ChatRequest::new(&model.name, vec![system, Message::user(text)]);
    request.options.num_ctx = Some(model.window.tokens);
    request.options.num_predict = Some(most);
    request.options.temperature = Some(0.0);
    request.truncate = Some(false);
    request.shift = model.version.shift();
    request.think = model.think(Think::Off);
    request
}

fn hello(model: &Model) -> ChatRequest {
    asking(model, "Say hello.", FEW)
}

/// Asks for one call in one line.
pub(super) fn record(model: &Model) -> ChatRequest {
    let text = "Record the word heron with the tool record_word.";
    let mut request = asking(model, text, SOME);
    request.tools = Some(Tools::new(&[ToolDefinition {
        name: TOOL.to_owned(),
        description: "Records one word.".to_owned(),
        parameters: json!({"type": "object", "required": ["word"], "properties": {"word": {"type": "string"}}}),
    }]));
    request
}

fn object(model: &Model) -> ChatRequest {
    let text = "Name a colour and a number from 1 to 10, as a JSON object with the fields \"colour\" and \"number\".";
    let mut request = asking(model, text, SOME);
    request.format = Some(json!({
        "type": "object", "required": ["colour", "number"],
        "properties": {"colour": {"type": "string"}, "number": {"type": "integer"}},
    }));
    request.think = adapt::think_with_format(&model.version, &model.show);
    request
}

fn says_something(_: &ChatRequest, reply: &Reply) -> Result<(), &'static str> {
    let said = !reply.content.trim().is_empty() || !reply.thinking.trim().is_empty();
    said.then_some(()).ok_or("the reply was empty")
}

/// How a call that was asked for came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// As a call.
    Call,
    /// As text that is one call, which wisp reads all the same.
    Text,
    /// Not: another call did.
    Another,
    /// Not at all.
    None,
}

/// Looks for the call that was asked for.
pub(super) fn came(request: &ChatRequest, reply: &Reply) -> Came {
    let right =
        |c: &wisp_ollama::ToolCall| c.name == TOOL && c.arguments.get("word").is_some_and(|w| w == WORD);
    if reply.tool_calls.iter().any(right) {
        return Came::Call;
    }
    let offered = request
        .tools
        .as_ref()
        .map(convert::definitions)
        .unwrap_or_default();
    match recover::calls_in(&content(reply), &offered) {
        Some(calls) if calls.iter().any(right) => Came::Text,
        None if reply.tool_calls.is_empty() => Came::None,
        _ => Came::Another,
    }
}

fn made_the_call(request: &ChatRequest, reply: &Reply) -> Result<(), &'static str> {
    match came(request, reply) {
        Came::Call | Came::Text => Ok(()),
        Came::Another => Err("another call than record_word with heron arrived"),
        Came::None => Err("no call to record_word arrived"),
    }
}

fn is_the_object(_: &ChatRequest, reply: &Reply) -> Result<(), &'static str> {
    let read: Result<Value, _> = serde_json::from_str(content(reply).trim());
    let fits = |v: &Value| v["colour"].is_string() && v["number"].is_i64();
    match read {
        Ok(value) if fits(&value) => Ok(()),
        Ok(_) => Err("the reply is not the object that was asked for"),
        Err(_) => Err("the reply is not JSON"),
    }
}

/// The content without a leading block of thinking, which servers before 0.9 leave in it.
fn content(reply: &Reply) -> String {
    let mut splitter = ThinkSplitter::new(false);
    let (mut first, last) = (splitter.push(&reply.content), splitter.finish());
    first.content.push_str(&last.content);
    first.content
}

#[cfg(test)]
mod tests {
    use super::{Came, TOOL, came, is_the_object, says_something, verified};
    use super::{Trial, record};
    use serde_json::json;
    use wisp_ollama::{ChatRequest, Reply, ToolCall, ToolDefinition, Tools};

    fn request() -> ChatRequest {
        let mut request = ChatRequest::new("m", vec![]);
        request.tools = Some(Tools::new(&[ToolDefinition {
            name: TOOL.to_owned(),
            description: String::new(),
            parameters: json!({"type": "object", "required": ["word"], "properties": {"word": {"type": "string"}}}),
        }]));
        request
    }

    fn said(text: &str) -> Reply {
        Reply {
            content: text.to_owned(),
            ..Reply::default()
        }
    }

    fn called(name: &str, word: &str) -> Reply {
        let arguments = json!({"word": word}).as_object().cloned().unwrap_or_default();
        Reply {
            tool_calls: vec![ToolCall::new(name, arguments)],
            ..Reply::default()
        }
    }

    #[test]
    fn the_call_counts_as_a_call_and_as_text_and_with_its_word_alone() {
        for (reply, how) in [
            (called("record_word", "heron"), Came::Call),
            (called("record_word", "stork"), Came::Another),
            (
                said("{\"name\": \"record_word\", \"arguments\": {\"word\": \"heron\"}}"),
                Came::Text,
            ),
            (
                said("<think>hm</think>{\"name\": \"record_word\", \"arguments\": {\"word\": \"heron\"}}"),
                Came::Text,
            ),
            (
                said("{\"name\": \"record_word\", \"arguments\": {\"word\": \"stork\"}}"),
                Came::Another,
            ),
            (said("I would call record_word with heron."), Came::None),
        ] {
            assert_eq!(came(&request(), &reply), how, "{reply:?}");
        }
    }

    #[test]
    fn an_object_is_judged_by_its_fields() {
        for (text, fits) in [
            ("{\"colour\": \"red\", \"number\": 4}", true),
            ("<think>red</think>\n{\"number\": 4, \"colour\": \"red\"}\n", true),
            ("{\"colour\": \"red\", \"number\": \"4\"}", false),
            ("{\"colour\": \"red\"}", false),
            ("Red and 4.", false),
            ("", false),
        ] {
            assert_eq!(is_the_object(&request(), &said(text)).is_ok(), fits, "{text}");
        }
        assert!(says_something(&request(), &said(" \n")).is_err());
    }

    #[test]
    fn nothing_is_kept_of_a_model_that_does_not_reply() {
        let trial = |name, passed| Trial {
            name,
            passed,
            seconds: 1.0,
            reason: None,
        };
        let trials = [
            trial("reply", true),
            trial("toolCalling", false),
            trial("guidedGeneration", true),
        ];
        let kept = verified(&trials, "2026-11-30").expect("it replied");
        assert_eq!(kept.passed, ["guidedGeneration"]);
        assert_eq!(kept.failed, ["toolCalling"]);
        assert_eq!(
            verified(&[trial("reply", false), trial("toolCalling", true)], "2026-11-30"),
            None
        );
        let _: fn(&super::Model) -> ChatRequest = record;
    }
}
