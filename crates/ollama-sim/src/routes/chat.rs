//! `POST /api/chat`: checked, scheduled, fitted, and only then answered by the script.

use serde_json::{Map, Value, json};

use super::Exchange;
use super::check::{Checked, check};
use super::play::{Play, play};
use super::refuse::{fail_first, format_fault, refuse};
use crate::answer::Answer;
use crate::decode::{ChatRequest, KeepAlive};
use crate::gojson;
use crate::record::ChatAccount;
use crate::render::Scene;
use crate::schedule::{Launch, Lease, NoRunner};
use crate::script::{Loss, Reply};
use crate::seen::Seen;
use crate::window::{Prompt, Refusal, Window, fit_messages, fit_tokens};
use crate::wire::Closed;

/// The scheduler's refusal; the two spaces are the server's.
pub(super) const BUSY: &str = "server busy, please try again.  maximum pending requests exceeded";

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
    super::line::finish_fields(
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
    let constrained = match format_fault(x.profile(), checked) {
        Ok(format) => format.is_some(),
        Err((status, text)) => return fail_first(x, checked.stream, status, &text).await,
    };
    account(x, checked, window, &prompt, lease);
    if x.shared.is_wedged(&x.request.body) {
        return Err(x.wire.lose(Loss::Stall).await);
    }
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
                    constrained,
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
    let reply = x.shared.script().respond(&seen)?;
    match &reply.foreign {
        Some(foreign) if foreign.feigns_success() => Err(
            "a script cannot set the status of a success: this foreign answer looks like Ollama's".to_owned(),
        ),
        _ => Ok(reply),
    }
}
