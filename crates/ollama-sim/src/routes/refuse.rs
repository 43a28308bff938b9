//! Refusals of a runner: the four texts of a prompt too long, and a `format` that is none.

use serde_json::json;

use super::Exchange;
use super::check::Checked;
use crate::answer::{Answer, BARE_JSON, NDJSON, nested};
use crate::decode::{Format, FormatFault, parse_format};
use crate::gojson;
use crate::profile::{Era, Profile};
use crate::window::Refusal;
use crate::wire::Closed;

/// E4 with shift off, `truncate` on.
const LONGER: &str = "the prompt is longer than the context length currently available to the model; shorten the \
                      prompt, adjust the context length in settings, or use a model with a longer context length";
/// Sends why a prompt was refused.
pub(super) async fn refuse(
    x: &mut Exchange<'_, '_>,
    checked: &Checked,
    refusal: &Refusal,
) -> Result<(), Closed> {
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
pub(super) fn format_fault(profile: &Profile, checked: &Checked) -> Result<Option<Format>, (u16, String)> {
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
