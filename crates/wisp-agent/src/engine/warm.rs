//! Warming up: while the person types the first message, the model is loaded and reads what every request begins with.
//!
//! The request is the first one of the conversation without its message: the same system prompt and tools, byte for byte,
//! with one token to reply. A server that keeps what it read then has only the message left to read. It is a job, given up
//! as soon as a turn begins, so that it holds no place on the server; what was read by then stays read.

use serde_json::json;
use wisp_audit::{AuditLog, Kind};
use wisp_ollama::{ChatRequest, Client, KeepAlive};

use crate::conversation::Conversation;
use crate::jobs::{Done, Job, JobId, JobKind};

/// The warm-up of a conversation's model.
#[derive(Debug, Default)]
pub struct WarmUp {
    /// Whether models are warmed up here: a person is there who will type.
    wanted: bool,
    /// The model that was warmed up last.
    model: Option<String>,
    /// Its job.
    job: Option<JobId>,
}

impl WarmUp {
    /// A warm-up that is begun only when it is wanted.
    pub fn new(wanted: bool) -> Self {
        Self {
            wanted,
            model: None,
            job: None,
        }
    }

    /// Begins it, when the conversation has a model that was not warmed up, may be asked and is on this machine.
    pub fn begin(&mut self, conversation: &Conversation) {
        let name = &conversation.model.name;
        if !self.wanted || conversation.turn_number() > 0 || self.model.as_ref() == Some(name) {
            return;
        }
        if let Some(job) = self.job.take() {
            conversation.jobs.cancel(job);
        }
        self.model = Some(name.clone());
        if !conversation.config.warm_up() {
            return;
        }
        let Some(request) = request(conversation) else {
            return;
        };
        let (audit, client) = (conversation.audit.clone(), conversation.model.client.clone());
        let window = conversation.model.window.tokens;
        let job = Job::new(JobKind::WarmUp, format!("loading {name}"), move |_| {
            read(client.clone(), request.clone(), audit.clone(), window)
        });
        self.job = Some(conversation.jobs.spawn(job.with_model()));
    }
}

/// What every request of the conversation begins with, as a request of its own; none where nothing may be sent before the
/// person has said something, or where it would be forgotten at once.
fn request(conversation: &Conversation) -> Option<ChatRequest> {
    let model = &conversation.model;
    let forgets = model.keep_alive() == Some(KeepAlive::Seconds(0));
    if model.demo || model.is_away() || !model.may_be_asked() || forgets {
        return None;
    }
    let composed = conversation.record.compose();
    // What is held to a schema is not shown the tools.
    let tools = conversation.tools.as_ref().filter(|_| !model.is_guided());
    let mut request = model.request(&composed, tools, 0);
    request.options.num_predict = Some(1);
    Some(request)
}

/// Sends it and reads the reply, of which nothing is wanted. A failure is met again by the first message, which tells it.
async fn read(client: Client, request: ChatRequest, audit: AuditLog, window: u64) -> Result<Done, String> {
    let details = json!({
        "model": request.model, "step": 0, "messages": request.messages.len(), "tools": request.tools.is_some(),
        "purpose": "warm-up", "contextSize": window,
    });
    let event = wisp_audit::Event::new(Kind::ModelRequest, details);
    audit.append(event).map_err(|error| error.to_string())?;
    let mut reply = client.chat(&request).await.map_err(|error| error.to_string())?;
    while let Some(part) = reply.next().await {
        part.map_err(|error| error.to_string())?;
    }
    Ok(Done::new("loaded"))
}
