//! Trying out what a model can do and how it calls tools best: a few short questions, once each, without chance. The
//! answers are kept ([`super::known`]) and the engine goes by them.
//!
//! What a model says of itself, in its template or its name, is no ability. A check shows what it did once; how well
//! it does it stays open.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use wisp_ollama::thinking::ThinkSplitter;
use wisp_ollama::{
    ChatRequest, Error, Message, Reply, Role, Think, ToolCall, ToolDefinition, Tools, adapt, recover,
};

use super::call_style::{CallStyle, is_small};
use super::known::{TOOL_CALLING, Verified};
use super::{Model, convert};
use crate::guided::decode::{GuidedReply, said};
use crate::guided::schema::{Takes, schema};

/// What a check calls the ability to reply with an object of a given form.
pub const GUIDED: &str = "guidedGeneration";
/// What a check calls a plain reply.
pub const REPLY: &str = "reply";
/// What a check calls a second call after a first one.
pub const SECOND: &str = "secondCall";
/// What a check calls a corrected call after an error.
pub const CORRECTED: &str = "correctedCall";
/// What a check calls finding a line in a long output.
pub const LONG: &str = "longOutput";
/// What a check calls an answer in words after a result.
pub const WORDS: &str = "answerInWords";
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
pub const QUESTIONS: [Question; 7] = [
    question(REPLY, "a reply", Duration::from_mins(3), hello, says_something),
    question(TOOL_CALLING, "a call", LIMIT, record, made_the_call),
    question(SECOND, "two calls in a row", LIMIT, second, made_the_second),
    question(CORRECTED, "a call after an error", LIMIT, after_error, corrected),
    question(
        LONG,
        "a line of a long output",
        LIMIT,
        long_output,
        found_the_line,
    ),
    question(WORDS, "an answer in words", LIMIT, result, answered),
    question(GUIDED, "a guided action", LIMIT, action, is_the_action),
];

/// How long an answer may take once the model is loaded.
const LIMIT: Duration = Duration::from_mins(2);

const fn question(
    name: &'static str,
    words: &'static str,
    limit: Duration,
    ask: fn(&Model) -> ChatRequest,
    judge: fn(&ChatRequest, &Reply) -> Result<(), &'static str>,
) -> Question {
    Question {
        name,
        words,
        limit,
        ask,
        judge,
    }
}

/// What came of one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// The ability.
    pub name: &'static str,
    /// Whether it was shown.
    pub passed: bool,
    /// How long the answer took, seconds.
    pub seconds: f64,
    /// Whether the call that was made came as text, which wisp reads.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_text: bool,
    /// Tokens of the prompt that were read in a second, and of the reply that were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<(f64, f64)>,
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
    let (mut as_text, mut speed) = (false, None);
    let reason = match answer {
        Err(_) => Some(format!("no answer within {} s", question.limit.as_secs())),
        Ok(Err(error)) if is_an_answer(&error) => Some(error.to_string()),
        Ok(Err(error)) => return Err(error),
        Ok(Ok(reply)) => {
            as_text =
                request.tools.is_some() && reply.tool_calls.is_empty() && calls(&request, &reply).is_some();
            speed = measured(&reply);
            (question.judge)(&request, &reply).err().map(str::to_owned)
        }
    };
    Ok(Trial {
        name: question.name,
        passed: reason.is_none(),
        seconds: began.elapsed().as_secs_f64(),
        as_text,
        speed,
        reason,
    })
}

/// How fast a reply's prompt was read and the reply written, tokens a second, where the server measured both and read
/// enough to tell.
fn measured(reply: &Reply) -> Option<(f64, f64)> {
    let metrics = &reply.done.as_ref()?.metrics;
    let rate = |tokens: Option<u64>, time: Option<Duration>| {
        let (tokens, seconds) = (u32::try_from(tokens?).ok()?, time?.as_secs_f64());
        (seconds > 0.0).then(|| f64::from(tokens) / seconds)
    };
    let enough = metrics.prompt_tokens? >= ENOUGH;
    let read = rate(metrics.prompt_tokens, metrics.prompt).filter(|_| enough)?;
    Some((read, rate(metrics.reply_tokens, metrics.generate)?))
}

/// Tokens of a prompt from which on the time of reading it says how fast that is.
const ENOUGH: u64 = 200;

/// The way in which a model's calls work best, by its trials: its own where all of them came, and for a small model only
/// when it also answered in words; else the guided one, where that works; else text that is read.
pub fn call_style(trials: &[Trial], small: bool) -> Option<CallStyle> {
    let passed = |name: &str| trials.iter().any(|t| t.name == name && t.passed);
    let as_text = trials.iter().any(|t| t.as_text && t.passed);
    let calls = passed(TOOL_CALLING) && passed(SECOND) && passed(CORRECTED);
    if calls && !as_text && (!small || passed(WORDS)) {
        return Some(CallStyle::Native);
    }
    if passed(GUIDED) && (small || !passed(TOOL_CALLING)) {
        return Some(CallStyle::Guided);
    }
    match (passed(TOOL_CALLING), as_text) {
        (true, true) => Some(CallStyle::Text),
        (true, false) => Some(CallStyle::Native),
        (false, _) => None,
    }
}

/// Whether a model is fit for an agent: it calls tools in some way and answers from what they return.
pub fn is_fit(trials: &[Trial]) -> bool {
    let passed = |name: &str| trials.iter().any(|t| t.name == name && t.passed);
    (passed(TOOL_CALLING) || passed(GUIDED)) && passed(WORDS) && passed(LONG)
}

/// The model that was tried out.
#[derive(Debug, Clone, Copy, Default)]
pub struct CheckedModel<'a> {
    /// Whether it is a small one.
    pub small: bool,
    /// The digest of its file, when the server lists it.
    pub digest: Option<&'a str>,
}

impl<'a> CheckedModel<'a> {
    /// What is to be known of a model.
    pub fn model(model: &'a Model) -> Self {
        Self {
            small: is_small(&model.show),
            digest: model.digest(),
        }
    }
}

/// What is kept of the trials of a model that can be talked to; nothing of one that cannot.
pub fn verified(trials: &[Trial], date: &str, of: CheckedModel<'_>) -> Option<Verified> {
    let names = |passed: bool| {
        let of = trials.iter().filter(|t| t.passed == passed && t.name != REPLY);
        of.map(|t| t.name.to_owned()).collect()
    };
    let speed = trials.iter().rev().find_map(|t| t.speed);
    let replied = trials.iter().any(|t| t.name == REPLY && t.passed);
    replied.then(|| Verified {
        date: date.to_owned(),
        passed: names(true),
        failed: names(false),
        calls: call_style(trials, of.small).map(|way| way.word().to_owned()),
        digest: of.digest.map(str::to_owned),
        speed,
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

/// After a first call that worked, the second one is to come.
fn second(model: &Model) -> ChatRequest {
    let mut request = record(model);
    request.messages[1] =
        Message::user("Record the word stork, then the word heron, with the tool record_word.");
    tool_step(&mut request, "stork", "recorded");
    request
}

/// After a call with a wrong argument and an error that names the right one.
fn after_error(model: &Model) -> ChatRequest {
    let mut request = record(model);
    tool_step(
        &mut request,
        "Heron",
        "error: only lower-case words can be recorded; call again with the word heron",
    );
    request
}

/// A file was listed, and its lines hold one error.
fn long_output(model: &Model) -> ChatRequest {
    let mut request = asking(
        model,
        "Which header is missing in the build? Answer briefly.",
        FEW,
    );
    let line = |n: u32| match n {
        23 => "error: module_23: cannot find header \"valve.h\"".to_owned(),
        n => format!("[{n:02}] compiled module_{n}"),
    };
    let lines: Vec<String> = (1..=40).map(line).collect();
    request
        .messages
        .push(Message::assistant("I run the build first."));
    request
        .messages
        .push(Message::user(format!("It printed:\n{}", lines.join("\n"))));
    request
}

/// The call was made and its result is there: an answer in words is to follow.
fn result(model: &Model) -> ChatRequest {
    let mut request = record(model);
    request.messages[1] =
        Message::user("Record the word heron with the tool record_word and tell me its number.");
    tool_step(&mut request, WORD, "recorded as number 58");
    request
}

/// Adds a call that was made and what it returned.
fn tool_step(request: &mut ChatRequest, word: &str, returned: &str) {
    let arguments = json!({ "word": word }).as_object().cloned().unwrap_or_default();
    let mut call = ToolCall::new(TOOL, arguments);
    call.id = Some("call00001".to_owned());
    let mut made = Message::assistant("");
    made.tool_calls = vec![call];
    let mut answer = Message::new(Role::Tool, returned);
    answer.tool_name = Some(TOOL.to_owned());
    answer.tool_call_id = Some("call00001".to_owned());
    request.messages.extend([made, answer]);
}

/// Asks for an action by a schema, as a guided conversation does.
fn action(model: &Model) -> ChatRequest {
    let text = "How many lines does data.csv have?\n\n(Files here: data.csv, notes.txt)";
    let mut request = asking(model, text, SOME);
    request.messages[0] = Message::system(
        "You work in a folder. Reply with one JSON object: an action, or the answer. After an action you get its result.",
    );
    let offers = [
        ("run", vec![("command", Takes::UpTo(300))]),
        (
            "read",
            vec![("path", Takes::OneOf(vec!["data.csv", "notes.txt"]))],
        ),
    ];
    request.format = Some(schema(&offers, &[]));
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

fn made_the_second(request: &ChatRequest, reply: &Reply) -> Result<(), &'static str> {
    made_the_call(request, reply).map_err(|_| "the second call did not arrive")
}

fn corrected(request: &ChatRequest, reply: &Reply) -> Result<(), &'static str> {
    made_the_call(request, reply).map_err(|_| "the corrected call did not arrive")
}

fn found_the_line(_: &ChatRequest, reply: &Reply) -> Result<(), &'static str> {
    let found = content(reply).contains("valve.h");
    found.then_some(()).ok_or("the answer lacks what the output says")
}

fn answered(request: &ChatRequest, reply: &Reply) -> Result<(), &'static str> {
    if calls(request, reply).is_some() {
        return Err("another call came where an answer was due");
    }
    let said = content(reply).contains("58");
    said.then_some(()).ok_or("the answer lacks what the result says")
}

/// The calls of a reply, as calls or as text that is nothing else.
fn calls(request: &ChatRequest, reply: &Reply) -> Option<Vec<ToolCall>> {
    if !reply.tool_calls.is_empty() {
        return Some(reply.tool_calls.clone());
    }
    let offered = request
        .tools
        .as_ref()
        .map(convert::definitions)
        .unwrap_or_default();
    recover::calls_in(&content(reply), &offered)
}

fn is_the_action(_: &ChatRequest, reply: &Reply) -> Result<(), &'static str> {
    match said(&content(reply)) {
        GuidedReply::Action(name, given) if name == "run" => {
            let line = given.get("command").and_then(Value::as_str).unwrap_or_default();
            line.contains("data.csv")
                .then_some(())
                .ok_or("the command does not name the file")
        }
        GuidedReply::Action(_, given) => {
            let right = given.get("path").is_some_and(|path| path == "data.csv");
            right.then_some(()).ok_or("another file was read")
        }
        GuidedReply::Answer(_) => Err("it answered without looking"),
        GuidedReply::Neither => Err("the reply is not the object that was asked for"),
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
    use super::*;
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
    fn an_action_is_judged_by_what_it_would_do() {
        for (text, fits) in [
            ("{\"action\": \"run\", \"command\": \"wc -l data.csv\"}", true),
            (
                "<think>hm</think>\n{\"action\": \"read\", \"path\": \"data.csv\"}\n",
                true,
            ),
            ("{\"action\": \"read\", \"path\": \"notes.txt\"}", false),
            ("{\"action\": \"run\", \"command\": \"ls\"}", false),
            ("{\"action\": \"answer\", \"text\": \"12\"}", false),
            ("wc -l data.csv", false),
            ("", false),
        ] {
            assert_eq!(is_the_action(&request(), &said(text)).is_ok(), fits, "{text}");
        }
        assert!(says_something(&request(), &said(" \n")).is_err());
    }

    #[test]
    fn an_answer_in_words_has_what_the_result_says_and_no_call() {
        assert!(answered(&request(), &said("It has the number 58.")).is_ok());
        assert!(answered(&request(), &said("It is recorded.")).is_err());
        assert!(answered(&request(), &called("record_word", "58")).is_err());
        assert!(found_the_line(&request(), &said("valve.h is missing")).is_ok());
        assert!(found_the_line(&request(), &said("none")).is_err());
    }

    fn trials(passed: &[&'static str], as_text: bool) -> Vec<Trial> {
        let trial = |q: &Question| Trial {
            name: q.name,
            passed: passed.contains(&q.name),
            seconds: 1.0,
            as_text: as_text && q.name == TOOL_CALLING,
            speed: None,
            reason: None,
        };
        QUESTIONS.iter().map(trial).collect()
    }

    #[test]
    fn the_way_to_call_follows_from_what_came() {
        let all = [REPLY, TOOL_CALLING, SECOND, CORRECTED, LONG, WORDS, GUIDED];
        for (passed, as_text, small, expected) in [
            (&all[..], false, true, Some(CallStyle::Native)),
            (&all[..], true, true, Some(CallStyle::Guided)),
            (&all[..], true, false, Some(CallStyle::Text)),
            (
                &[REPLY, TOOL_CALLING, GUIDED][..],
                false,
                true,
                Some(CallStyle::Guided),
            ),
            (
                &[REPLY, TOOL_CALLING, GUIDED][..],
                false,
                false,
                Some(CallStyle::Native),
            ),
            (&[REPLY, GUIDED][..], false, false, Some(CallStyle::Guided)),
            (&[REPLY][..], false, true, None),
        ] {
            assert_eq!(
                call_style(&trials(passed, as_text), small),
                expected,
                "{passed:?} {as_text} {small}"
            );
        }
        assert!(is_fit(&trials(&[REPLY, GUIDED, WORDS, LONG], false)));
        assert!(!is_fit(&trials(&[REPLY, GUIDED, WORDS], false)));
    }
}
