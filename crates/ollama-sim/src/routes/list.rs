//! Liveness, version, the installed and the loaded models.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Exchange;
use crate::answer::Answer;
use crate::model::{Capability, Model};
use crate::profile::Profile;
use crate::wire::Closed;

/// `expires_at` of a model that never expires: the year is in the server's own habit.
const NEVER: &str = "2318-12-31T23:59:59.999999999Z";

pub(super) fn root(_: &Exchange<'_, '_>) -> Answer {
    Answer {
        content_type: Some("text/plain; charset=utf-8"),
        ..Answer::text(200, "Ollama is running")
    }
}

pub(super) fn version(x: &Exchange<'_, '_>) -> Answer {
    Answer::json(200, &json!({"version": x.profile().version}))
}

pub(super) fn tags(x: &Exchange<'_, '_>) -> Answer {
    let rows: Vec<Value> = x.shared.models().iter().map(|model| tag(x, model)).collect();
    Answer::json(200, &json!({ "models": rows }))
}

fn tag(x: &Exchange<'_, '_>, model: &Model) -> Value {
    let mut row = json!({
        "name": model.name,
        "model": model.name,
    });
    if let Some(remote) = model.listed_remote() {
        row["remote_model"] = json!(remote.model);
        row["remote_host"] = json!(remote.host);
    }
    row["modified_at"] = json!(x.shared.clock.stamp(std::time::Duration::ZERO));
    row["size"] = json!(model.size);
    row["digest"] = json!(model.digest());
    let mut details = details(model);
    if x.profile().tags_capabilities {
        details["context_length"] = json!(model.context_length);
        details["embedding_length"] = json!(576);
    }
    row["details"] = details;
    if x.profile().tags_capabilities {
        // As the list of a real server says it: by the template in its own language, whatever path is taken.
        row["capabilities"] = named(&model.capabilities);
    }
    row
}

/// What a model can do on the profile's path, by name.
pub(super) fn capabilities(profile: &Profile, model: &Model) -> Value {
    let native = profile.era == crate::profile::Era::E4Native;
    named(model.capabilities_on(native))
}

fn named(capabilities: &[Capability]) -> Value {
    json!(capabilities.iter().map(|c| c.name()).collect::<Vec<_>>())
}

/// What every listing says of a model.
pub(super) fn details(model: &Model) -> Value {
    if model.listed_remote().is_some() {
        return json!({"parent_model": "", "format": "", "family": "sim", "families": null,
                      "parameter_size": "", "quantization_level": ""});
    }
    json!({"parent_model": "", "format": "gguf", "family": "llama", "families": ["llama"],
           "parameter_size": worded(model.parameter_count), "quantization_level": "Q4_1"})
}

/// A count of parameters as the server words it: `134.52M`, `8.0B`.
fn worded(count: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "two digits of it are shown")]
    let count = count as f64;
    if count >= 1e9 {
        format!("{:.1}B", count / 1e9)
    } else if count >= 1e6 {
        format!("{:.2}M", count / 1e6)
    } else {
        format!("{:.2}K", count / 1e3)
    }
}

pub(super) async fn ps(x: &mut Exchange<'_, '_>) -> Result<(), Closed> {
    if x.profile().ps_waits {
        x.shared.scheduler.loads_over().await;
    }
    let models = x.shared.models().clone();
    let mut rows = Vec::new();
    for (name, window, loaded) in x.shared.scheduler.list() {
        let Some(model) = models.iter().find(|m| m.name == name) else {
            continue;
        };
        let expires = match loaded.map(|l| l.expires()) {
            Some(None) => NEVER.to_owned(),
            Some(Some(at)) => x.shared.clock.stamp(at),
            // Still loading.
            None => "0001-01-01T00:00:00Z".to_owned(),
        };
        let mut row = json!({
            "name": model.name, "model": model.name, "size": model.size, "digest": model.digest(),
            "details": details(model), "expires_at": expires, "size_vram": model.size_vram,
        });
        if x.profile().ps_window {
            row["context_length"] = json!(window.asked);
        }
        rows.push(row);
    }
    x.send(Answer::json(200, &json!({ "models": rows }))).await
}

pub(super) fn openai_models(x: &Exchange<'_, '_>) -> Answer {
    let models = x.shared.models();
    let row =
        |m: &Model| json!({"id": m.name, "object": "model", "created": 1_767_225_600, "owned_by": "library"});
    let list = json!({"object": "list", "data": models.iter().map(row).collect::<Vec<_>>()});
    let mut answer = Answer::json(200, &list);
    answer.content_type = Some("application/json");
    // Writing to a string cannot fail.
    let _ = writeln!(answer.body);
    answer
}
