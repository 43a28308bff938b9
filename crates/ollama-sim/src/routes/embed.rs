//! `POST /api/embed`: made-up vectors where the engine is in the server, a refusal where it is not.

use serde_json::{Value, json};

use super::Exchange;
use super::chat::BUSY;
use super::check::{find, name_of};
use crate::answer::Answer;
use crate::decode::{Faults, KeepAlive, Options, body, key};
use crate::gojson::Json;
use crate::schedule::{Launch, NoRunner};
use crate::tokens;
use crate::window::Window;
use crate::wire::Closed;

/// Numbers in a vector.
const DIMENSIONS: usize = 576;

/// What is asked to be embedded.
#[derive(Default)]
struct Embedding {
    model: String,
    inputs: Vec<String>,
    options: Vec<(String, Json)>,
    keep_alive: Option<KeepAlive>,
    truncate: Option<bool>,
}

pub(super) async fn embed(x: &mut Exchange<'_, '_>) -> Result<(), Closed> {
    let answer = match read(&x.request.body) {
        Ok(request) => embedded(x, &request).await,
        Err(text) => Err(Answer::error(400, &text)),
    };
    x.send(answer.unwrap_or_else(|refusal| refusal)).await
}

fn read(bytes: &[u8]) -> Result<Embedding, String> {
    let mut request = Embedding::default();
    let mut faults = Faults::new();
    for (name, value) in &body(bytes, "api.EmbedRequest")? {
        match key(name).as_str() {
            "model" => request.model = faults.string(value, "EmbedRequest.model"),
            "input" => request.inputs = inputs(value)?,
            "options" => {
                let fields = faults.object(value, "EmbedRequest.options", "map[string]interface {}");
                request.options = fields.to_vec();
            }
            "truncate" => request.truncate = faults.boolean(value, "EmbedRequest.truncate"),
            "keep_alive" => request.keep_alive = KeepAlive::read(value).map(Some)?,
            _ => {}
        }
    }
    faults.finish()?;
    Ok(request)
}

/// A text, or several.
fn inputs(value: &Json) -> Result<Vec<String>, String> {
    let one = |item: &Json| match item {
        Json::String(text) => Ok(text.clone()),
        _ => Err("invalid input type".to_owned()),
    };
    match value {
        Json::Array(items) => items.iter().map(one).collect(),
        Json::Null => Ok(Vec::new()),
        item => one(item).map(|text| vec![text]),
    }
}

async fn embedded(x: &Exchange<'_, '_>, request: &Embedding) -> Result<Answer, Answer> {
    let profile = x.profile();
    let model = find(x, &name_of(&request.model, profile)?)?;
    let options = Options::read(&request.options).map_err(|text| Answer::error(500, &text))?;
    let window = Window::of(profile, &model, &options);
    let launch = Launch {
        window,
        options: options.load_key(),
        shift: profile.era.is_e4().then_some(true),
    };
    let lease = x
        .shared
        .scheduler
        .acquire(&model, launch, request.keep_alive)
        .await;
    let mut lease = lease.map_err(|why| match why {
        NoRunner::Busy => Answer::error(503, BUSY),
        NoRunner::Load(text) => Answer::error(500, &text),
    })?;
    lease.finish();
    if profile.era.is_e4() {
        let refusal = "This server does not support embeddings. Start it with `--embeddings`";
        return Err(Answer::error(501, refusal));
    }
    let counts: Vec<u64> = request.inputs.iter().map(|text| tokens::count(text)).collect();
    if request.truncate == Some(false) && counts.iter().any(|n| *n > window.allotted) {
        return Err(Answer::error(400, "the input length exceeds the context length"));
    }
    let load = u64::try_from(lease.load.as_nanos()).unwrap_or(u64::MAX);
    let queued = u64::try_from(lease.queued.as_nanos()).unwrap_or(u64::MAX);
    let count: u64 = counts.iter().map(|n| n.min(&window.allotted)).sum();
    Ok(Answer::json(
        200,
        &json!({
            "model": request.model,
            "embeddings": request.inputs.iter().map(|text| vector(text)).collect::<Vec<_>>(),
            "total_duration": load + queued + count * 1_000_000,
            "load_duration": load,
            "prompt_eval_count": count,
        }),
    ))
}

/// A vector of length one that is the same for the same text.
fn vector(text: &str) -> Value {
    let mut state = tokens::ids(text)
        .into_iter()
        .fold(1_u64, |a, id| a.rotate_left(5) ^ id)
        | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Sixteen bits are exact in a float.
        f64::from(u16::try_from(state >> 48).unwrap_or_default()) / 65536.0 - 0.5
    };
    let numbers: Vec<f64> = (0..DIMENSIONS).map(|_| next()).collect();
    let length = numbers.iter().map(|n| n * n).sum::<f64>().sqrt();
    numbers.into_iter().map(|n| json!(n / length)).collect()
}
