//! `POST /api/create`, as far as deriving a model goes: `from`, `system`, `template`, `parameters`.

use serde_json::{Value, json};

use super::Exchange;
use crate::answer::{Answer, NDJSON};
use crate::decode::{ModelName, body};
use crate::gojson::{Json, encode};
use crate::model::Model;
use crate::wire::Closed;

pub(super) async fn create(x: &mut Exchange<'_, '_>) -> Result<(), Closed> {
    let request = match body(&x.request.body, "api.CreateRequest") {
        Ok(fields) => Json::Object(fields).to_value(),
        Err(text) => return x.send(Answer::error(400, &text)).await,
    };
    let Ok(name) = ModelName::read(request["model"].as_str().unwrap_or_default()) else {
        return x.send(Answer::error(400, "invalid model name")).await;
    };
    let Some(model) = derive(x, &name, &request) else {
        return x
            .send(Answer::error(400, "neither 'from' or 'files' was specified"))
            .await;
    };
    let layers = [
        format!("using existing layer sha256:{}", model.digest()),
        "writing manifest".to_owned(),
        "success".to_owned(),
    ];
    x.shared.models().insert(0, model);
    x.wire.start(200, NDJSON).await?;
    for status in layers {
        x.wire.line(&encode(&json!({ "status": status }))).await?;
    }
    x.wire.end().await
}

fn derive(x: &Exchange<'_, '_>, name: &ModelName, request: &Value) -> Option<Model> {
    let from = ModelName::read(request["from"].as_str()?).ok()?;
    let mut models = x.shared.models();
    let base = models
        .iter()
        .find(|m| crate::same_model(&m.name, &from.full()))
        .cloned()?;
    models.retain(|m| !crate::same_model(&m.name, &name.full()));
    let weights = Some(base.weights().to_owned());
    let mut model = Model {
        name: name.full(),
        weights,
        ..base
    };
    // What is not named stays as the model it derives from has it.
    for (name, value) in request["parameters"].as_object().into_iter().flatten() {
        match (name.as_str(), value.as_u64(), value.as_f64()) {
            ("num_ctx", Some(window), _) => model.num_ctx = Some(window),
            ("repeat_penalty", _, Some(penalty)) => model.repeat_penalty = Some(penalty),
            _ => {
                model.parameters.insert(name.clone(), value.clone());
            }
        }
    }
    if let Some(system) = request["system"].as_str() {
        system.clone_into(&mut model.system);
    }
    if let Some(template) = request["template"].as_str() {
        model.gathers_system = template.contains(".System");
    }
    Some(model)
}
