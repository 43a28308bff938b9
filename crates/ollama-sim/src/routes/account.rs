//! The account of a server that is not signed in, and what it says of the cloud.

use serde_json::json;

use super::Exchange;
use crate::answer::Answer;

pub(super) fn me(_: &Exchange<'_, '_>) -> Answer {
    Answer::error(503, "account unavailable")
}

pub(super) fn status(x: &Exchange<'_, '_>) -> Answer {
    let disabled = x.shared.cloud_disabled;
    let source = if disabled { "env" } else { "none" };
    Answer::json(200, &json!({"cloud": {"disabled": disabled, "source": source}}))
}
