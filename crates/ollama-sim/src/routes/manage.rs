//! `DELETE /api/delete` and `POST /api/copy`.

use super::Exchange;
use super::show::model_field;
use crate::answer::Answer;
use crate::decode::{Faults, ModelName, body, key};

pub(super) fn delete(x: &Exchange<'_, '_>) -> Answer {
    let written = match model_field(&x.request.body, "api.DeleteRequest", "DeleteRequest") {
        Ok(written) => written,
        Err(text) => return Answer::error(400, &text),
    };
    let Ok(name) = ModelName::read(&written) else {
        return Answer::error(400, &format!("name {written:?} is invalid"));
    };
    let mut models = x.shared.models();
    let Some(at) = models
        .iter()
        .position(|m| crate::same_model(&m.name, &name.full()))
    else {
        return Answer::error(404, &format!("model '{written}' not found"));
    };
    let gone = models.remove(at);
    if models.iter().all(|m| m.weights() != gone.weights()) {
        x.shared.scheduler.unload(gone.weights());
    }
    Answer::empty(200)
}

pub(super) fn copy(x: &Exchange<'_, '_>) -> Answer {
    let fields = match body(&x.request.body, "api.CopyRequest") {
        Ok(fields) => fields,
        Err(text) => return Answer::error(400, &text),
    };
    let mut faults = Faults::new();
    let mut text = |wanted: &str| {
        let field = fields.iter().find(|(name, _)| key(name) == wanted);
        field
            .map(|(_, value)| faults.string(value, &format!("CopyRequest.{wanted}")))
            .unwrap_or_default()
    };
    let (source, destination) = (text("source"), text("destination"));
    if let Err(text) = faults.finish() {
        return Answer::error(400, &text);
    }
    let (Ok(from), Ok(to)) = (ModelName::read(&source), ModelName::read(&destination)) else {
        let bad = if ModelName::read(&source).is_err() {
            ("source", source)
        } else {
            ("destination", destination)
        };
        return Answer::error(400, &format!("{} {:?} is invalid", bad.0, bad.1));
    };
    let mut models = x.shared.models();
    let Some(model) = models
        .iter()
        .find(|m| crate::same_model(&m.name, &from.full()))
        .cloned()
    else {
        return Answer::error(404, &format!("model '{source}' not found"));
    };
    models.retain(|m| !crate::same_model(&m.name, &to.full()));
    models.insert(
        0,
        crate::Model {
            name: to.full(),
            weights: Some(model.weights().to_owned()),
            ..model
        },
    );
    Answer::empty(200)
}
