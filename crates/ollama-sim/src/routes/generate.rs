//! `POST /api/generate`: one prompt, through the same runner as a chat.

use super::Exchange;
use super::chat::run;
use crate::answer::Answer;
use crate::decode::{ChatRequest, Faults, Message, body, key};
use crate::wire::Closed;

pub(super) async fn generate(x: &mut Exchange<'_, '_>) -> Result<(), Closed> {
    match read(x) {
        Ok(request) => run(x, request, true).await,
        Err(text) => x.send(Answer::error(400, &text)).await,
    }
}

/// The chat a completion amounts to: its system text and its prompt.
fn read(x: &Exchange<'_, '_>) -> Result<ChatRequest, String> {
    let bytes = &x.request.body;
    let fields = body(bytes, "api.GenerateRequest")?;
    let mut faults = Faults::new();
    let mut text = |wanted: &str| {
        let field = fields.iter().rev().find(|(name, _)| key(name) == wanted);
        field
            .map(|(_, value)| faults.string(value, &format!("GenerateRequest.{wanted}")))
            .unwrap_or_default()
    };
    let (system, prompt) = (text("system"), text("prompt"));
    faults.finish()?;
    let mut request = ChatRequest::read(bytes, x.profile())?;
    let message = |role: &str, content: String| Message {
        role: role.into(),
        content,
        ..Message::default()
    };
    request.messages = match (system.is_empty(), prompt.is_empty()) {
        (_, true) => Vec::new(),
        (true, false) => vec![message("user", prompt)],
        (false, false) => vec![message("system", system), message("user", prompt)],
    };
    Ok(request)
}
