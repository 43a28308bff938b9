//! `POST /api/embed`: refused, as by a server whose models do not embed.

use super::Exchange;
use super::show::model_field;
use crate::answer::Answer;
use crate::decode::ModelName;

pub(super) fn embed(x: &Exchange<'_, '_>) -> Answer {
    let written = match model_field(&x.request.body, "api.EmbedRequest", "EmbedRequest") {
        Ok(written) => written,
        Err(text) => return Answer::error(400, &text),
    };
    let name = ModelName::read(&written)
        .map(|name| name.full())
        .unwrap_or_default();
    if !x
        .shared
        .models()
        .iter()
        .any(|m| crate::same_model(&m.name, &name))
    {
        return Answer::error(404, &format!("model '{written}' not found"));
    }
    Answer::error(
        501,
        "This server does not support embeddings. Start it with `--embeddings`",
    )
}
