//! `POST /api/chat`: checked, scheduled, fitted, and only then answered by the script.

use serde_json::{Map, Value, json};

use super::Exchange;
use super::play::{Play, play};
use crate::answer::{Answer, BARE_JSON, NDJSON, nested};
use crate::decode::{
    ChatRequest, Format, FormatFault, KeepAlive, ModelName, NameFault, Options, parse_format,
};
use crate::gojson;
use crate::model::{Capability, Model};
use crate::profile::{Era, Profile, ThinkField};
use crate::record::ChatAccount;
use crate::render::Scene;
use crate::schedule::{Launch, Lease, NoRunner};
use crate::script::{Loss, Reply};
use crate::seen::Seen;
use crate::window::{Prompt, Refusal, Window, fit_messages, fit_tokens};
use crate::wire::Closed;

/// E4 with shift off, `truncate` on.
const LONGER: &str = "the prompt is longer than the context length currently available to the model; shorten the \
                      prompt, adjust the context length in settings, or use a model with a longer context length";
/// The scheduler's refusal; the two spaces are the server's.
pub(super) const BUSY: &str = "server busy, please try again.  maximum pending requests exceeded";

/// A chat whose request was found right.
pub(super) struct Checked {
    pub(super) request: ChatRequest,
    pub(super) model: Model,
    pub(super) options: Options,
    pub(super) profile: Profile,
    /// The name as the client wrote it: it comes back in every line.
    pub(super) name: String,
    /// Whether lines are streamed.
    pub(super) stream: bool,
    /// Whether the answer has the shape of `/api/generate`.
    pub(super) generate: bool,
}

/// Answers `/api/chat`.
pub(super) async fn chat(x: &mut Exchange<'_, '_>) -> Result<(), Closed> {
    let request = match ChatRequest::read(&x.request.body, x.profile()) {
        Ok(request) => request,
        Err(text) => return x.send(Answer::error(400, &text)).await,
    };
    run(x, request, false).await
}

/// Checks a decoded request and answers it.
pub(super) async fn run(
    x: &mut Exchange<'_, '_>,
    request: ChatRequest,
    generate: bool,
) -> Result<(), Closed> {
    match check(x, request, generate) {
        Ok(checked) => scheduled(x, checked).await,
        Err(answer) => x.send(answer).await,
    }
}

/// The checks before a model is loaded, in the server's order.
fn check(x: &Exchange<'_, '_>, request: ChatRequest, generate: bool) -> Result<Checked, Answer> {
    let profile = x.profile();
    let name = name_of(&request.model, profile)?;
    let model = find(x, &name)?;
    if let Some(answer) = cloud(x, &model) {
        return Err(answer);
    }
    capabilities(profile, &model, &name, &request)?;
    let options = Options::read(&request.options).map_err(|text| Answer::error(500, &text))?;
    let stream = request.stream.unwrap_or(true);
    let profile = *profile;
    Ok(Checked {
        name: request.model.clone(),
        request,
        model,
        options,
        profile,
        stream,
        generate,
    })
}

/// Reads the name; older releases have other texts.
pub(super) fn name_of(written: &str, profile: &Profile) -> Result<ModelName, Answer> {
    ModelName::read(written).map_err(|fault| match fault {
        NameFault::Invalid if profile.names_checked => Answer::error(400, "invalid model name"),
        NameFault::Invalid | NameFault::Missing => Answer::error(400, "model is required"),
    })
}

pub(super) fn find(x: &Exchange<'_, '_>, name: &ModelName) -> Result<Model, Answer> {
    let full = name.full();
    let found = x
        .shared
        .models()
        .iter()
        .find(|m| crate::same_model(&m.name, &full))
        .cloned();
    found.ok_or_else(|| {
        // A name that asks for the cloud is passed on, and the account is looked at there.
        if name.is_cloud() && x.profile().account_routes {
            return unauthorized();
        }
        let written = &name.written;
        Answer::error(
            404,
            &if x.profile().names_checked {
                format!("model '{written}' not found")
            } else {
                format!("model {written:?} not found, try pulling it first")
            },
        )
    })
}

fn unauthorized() -> Answer {
    let body = json!({"error": "unauthorized", "signin_url": "https://ollama.com/connect?name=sim&key=c2lt"});
    Answer::json(401, &body)
}

/// Why a model that runs elsewhere does not, if it does not.
fn cloud(x: &Exchange<'_, '_>, model: &Model) -> Option<Answer> {
    let remote = model.remote.as_ref()?;
    if x.shared.cloud_disabled {
        return Some(Answer::error(
            403,
            "ollama cloud is disabled: remote model is unavailable",
        ));
    }
    if !remote.signed_in {
        return Some(unauthorized());
    }
    remote.quota.as_ref().map(|text| Answer::error(429, text))
}

fn capabilities(
    profile: &Profile,
    model: &Model,
    name: &ModelName,
    request: &ChatRequest,
) -> Result<(), Answer> {
    let has = model.capabilities_on(profile.era == Era::E4Native);
    let qualified = name.qualified();
    if !has.contains(&Capability::Completion) {
        return Err(Answer::error(
            400,
            &format!("\"{}\" does not support chat", name.written),
        ));
    }
    if !request.tools.is_empty() && !has.contains(&Capability::Tools) {
        return Err(Answer::error(400, &format!("{qualified} does not support tools")));
    }
    if request.think.wanted() && !has.contains(&Capability::Thinking) {
        let text = if profile.thinks_unasked {
            format!("\"{}\" does not support thinking", name.written)
        } else {
            format!("{qualified} does not support thinking")
        };
        return Err(Answer::error(400, &text));
    }
    if let crate::decode::Think::Level(level) = &request.think
        && profile.think == ThinkField::LevelsGptOss
        && model.parser != crate::model::Parser::Harmony
    {
        return Err(Answer::error(
            400,
            &format!("think value {level:?} is not supported for this model"),
        ));
    }
    Ok(())
}

/// Gets a runner and answers on it.
async fn scheduled(x: &mut Exchange<'_, '_>, checked: Checked) -> Result<(), Closed> {
    let empty = checked.request.messages.is_empty();
    if empty && checked.request.keep_alive == Some(KeepAlive::Now) {
        x.shared.scheduler.unload(checked.model.weights());
        return x.send(bare(x, &checked, "unload")).await;
    }
    let window = Window::of(x.profile(), &checked.model, &checked.options);
    let shift = x
        .profile()
        .era
        .is_e4()
        .then(|| checked.request.shift.unwrap_or(true));
    let launch = Launch {
        window,
        options: checked.options.load_key(),
        shift,
    };
    let keep = checked.request.keep_alive;
    let mut lease = match x.shared.scheduler.acquire(&checked.model, launch, keep).await {
        Ok(lease) => lease,
        Err(NoRunner::Busy) => return x.send(Answer::error(503, BUSY)).await,
        Err(NoRunner::Load(text)) => return x.send(Answer::error(500, &text)).await,
    };
    let outcome = if empty {
        x.send(bare(x, &checked, "load")).await
    } else {
        on_runner(x, &checked, window, &mut lease).await
    };
    if outcome != Err(Closed::Client) {
        lease.finish();
    }
    outcome
}

/// The empty success of a load or an unload.
fn bare(x: &Exchange<'_, '_>, checked: &Checked, why: &str) -> Answer {
    let mut object = Map::new();
    object.insert("model".into(), json!(checked.name));
    object.insert(
        "created_at".into(),
        json!(x.shared.clock.stamp(x.shared.clock.now())),
    );
    if checked.generate {
        object.insert("response".into(), json!(""));
    } else {
        object.insert("message".into(), json!({"role": "assistant", "content": ""}));
    }
    super::play::finish_fields(
        &mut object,
        x.profile().reason_before_done && !checked.generate,
        Some(why),
    );
    Answer::json(200, &Value::Object(object))
}

/// Fits the prompt and lets the script answer.
async fn on_runner(
    x: &mut Exchange<'_, '_>,
    checked: &Checked,
    window: Window,
    lease: &mut Lease,
) -> Result<(), Closed> {
    let prompt = match fitted(x, checked, window) {
        Ok(prompt) => prompt,
        Err(refusal) => return refuse(x, checked, &refusal).await,
    };
    if checked.request.debug_render {
        return x.send(debug_render(x, checked, &prompt)).await;
    }
    if let Err((status, text)) = format_fault(x.profile(), checked) {
        return fail_first(x, checked.stream, status, &text).await;
    }
    account(x, checked, window, &prompt, lease);
    match ask(x, checked, &prompt) {
        Ok(Reply {
            foreign: Some(foreign),
            ..
        }) => {
            let kind = foreign.content_type.as_deref();
            x.wire
                .whole(foreign.status, kind, foreign.body.as_bytes())
                .await?;
            // What is not Ollama's does not keep the connection either.
            Err(x.wire.lose(Loss::Fin).await)
        }
        Ok(reply) => {
            play(
                x,
                Play {
                    checked,
                    window,
                    prompt: &prompt,
                    lease,
                },
                reply,
            )
            .await
        }
        Err(text) => {
            x.shared.fail(text.clone());
            x.send(Answer::error(500, &format!("ollama-sim: {text}"))).await
        }
    }
}

/// Both stages of the fitting.
fn fitted(x: &Exchange<'_, '_>, checked: &Checked, window: Window) -> Result<Prompt, Refusal> {
    let request = &checked.request;
    let scene = Scene {
        profile: x.profile(),
        model: &checked.model,
        tools: &request.tools,
        think: &request.think,
    };
    let prompt = fit_messages(
        &scene,
        &request.messages,
        window,
        request.truncate.unwrap_or(true),
    )?;
    if request.debug_render {
        return Ok(prompt);
    }
    fit_tokens(x.profile(), request, &checked.options, window, prompt)
}

async fn refuse(x: &mut Exchange<'_, '_>, checked: &Checked, refusal: &Refusal) -> Result<(), Closed> {
    let (status, text) = match refusal {
        Refusal::Template(complaint) => (500, nested(500, complaint, "server_error", &[])),
        Refusal::InputLength => (400, "the input length exceeds the context length".to_owned()),
        Refusal::LongerThanWindow => (400, LONGER.to_owned()),
        Refusal::Exceeds { tokens, window } => {
            let message = format!(
                "request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it"
            );
            let more = [("n_prompt_tokens", *tokens), ("n_ctx", *window)];
            (400, nested(400, &message, "exceed_context_size_error", &more))
        }
    };
    fail_first(x, checked.stream, status, &text).await
}

/// An error before the first event: behind 200 in old releases, with its status and a bare type in later ones.
pub(super) async fn fail_first(
    x: &mut Exchange<'_, '_>,
    stream: bool,
    status: u16,
    text: &str,
) -> Result<(), Closed> {
    if !stream {
        return x.send(Answer::error(status, text)).await;
    }
    let body = gojson::encode(&json!({ "error": text }));
    if x.profile().era.hides_first_error() {
        x.wire.start(200, NDJSON).await?;
        x.wire.line(&body).await?;
    } else {
        x.wire.start(status, BARE_JSON).await?;
        x.wire.raw(body.as_bytes()).await?;
    }
    x.wire.end().await
}

/// What the runner says of a bad `format`.
fn format_fault(profile: &Profile, checked: &Checked) -> Result<Option<Format>, (u16, String)> {
    let Some(format) = &checked.request.format else {
        return Ok(None);
    };
    parse_format(format).map_err(|fault| match fault {
        FormatFault::NotAFormat(text) => (
            500,
            format!("invalid format: {text:?}; expected \"json\" or a valid JSON Schema object"),
        ),
        FormatFault::NotASchema(_) if !profile.era.is_e4() => {
            (500, "invalid JSON schema in format".to_owned())
        }
        FormatFault::NotASchema(schema) => {
            let lead = if profile.era == Era::E4Native {
                "Unable to generate parser for this template. Automatic parser generation failed: "
            } else {
                "Field 'json_schema': \"json_schema\": "
            };
            let message = format!("{lead}JSON schema conversion failed:\nUnrecognized schema: {schema}");
            (400, nested(400, &message, "invalid_request_error", &[]))
        }
    })
}

fn debug_render(x: &Exchange<'_, '_>, checked: &Checked, prompt: &Prompt) -> Answer {
    let images: usize = checked.request.messages.iter().map(|m| m.images).sum();
    let mut info = json!({"rendered_template": prompt.text});
    if images > 0 {
        info["image_count"] = json!(images);
    }
    let body = json!({
        "model": checked.name,
        "created_at": x.shared.clock.stamp(x.shared.clock.now()),
        "message": {"role": "", "content": ""},
        "done": false,
        "_debug_info": info,
    });
    Answer::json(200, &body)
}

/// Enters into the record what the model is given.
fn account(x: &Exchange<'_, '_>, checked: &Checked, window: Window, prompt: &Prompt, lease: &Lease) {
    let request = &checked.request;
    let scene = Scene {
        profile: x.profile(),
        model: &checked.model,
        tools: &request.tools,
        think: &request.think,
    };
    let whole = scene.render(&request.messages).unwrap_or_default();
    let cached = lease.reuse(&crate::tokens::ids(&prompt.text)) as u64;
    let mut unknown = request.unknown.clone();
    unknown.extend(
        checked
            .options
            .unknown
            .iter()
            .map(|name| format!("options.{name}")),
    );
    let account = ChatAccount {
        prompt: prompt.text.clone(),
        tokens_sent: crate::tokens::count(&whole),
        prompt_tokens: prompt.tokens,
        cached_tokens: cached,
        dropped_messages: prompt.dropped,
        cut_tokens: prompt.tokens_before_cut - prompt.tokens,
        window: window.asked,
        loaded: lease.loaded,
        unknown,
        ..ChatAccount::default()
    };
    x.shared.note(x.record, |r| r.chat = Some(account));
}

/// Asks the script.
fn ask(x: &Exchange<'_, '_>, checked: &Checked, prompt: &Prompt) -> Result<Reply, String> {
    let request = &checked.request;
    let seen = Seen {
        model: checked.model.name.clone(),
        profile: *x.profile(),
        messages: prompt
            .kept
            .iter()
            .map(|&at| request.messages[at].clone())
            .collect(),
        prompt: prompt.text.clone(),
        prompt_tokens: prompt.tokens,
        tools: request
            .tools
            .iter()
            .map(crate::decode::ToolDef::to_value)
            .collect(),
        request: gojson::parse(&x.request.body).map_or(Value::Null, |json| json.to_value()),
    };
    x.shared.script().respond(&seen)
}
