//! A model that does not run on this machine, found out in the middle of a conversation: a server may say so only in
//! the reply itself. Nothing of such a reply is executed, and nothing more is sent before the person agrees.

use serde_json::json;
use wisp_audit::Kind;
use wisp_ollama::{Reply, host_name};

use super::{Turn, TurnError};
use crate::conversation::Conversation;
use crate::engine::consent::{Asking, consent};
use crate::open::OpenError;
use crate::protocol::NoteLevel;

impl Conversation {
    /// Before every request: there is leave to send it to where the model runs, or the turn ends.
    pub(super) async fn leave(&mut self, turn: &Turn<'_>) -> Result<(), TurnError> {
        if self.model.may_be_asked() {
            return Ok(());
        }
        let asking = Asking {
            person: Some(turn.person),
            events: &self.events,
            audit: &self.audit,
            now: self.registry.services().clock.now(),
        };
        match consent(&mut self.model, &asking).await {
            Ok(()) => Ok(()),
            Err(OpenError::Elsewhere { model, host }) => Err(TurnError::Elsewhere { model, host }),
            Err(OpenError::Audit(error)) => Err(error.into()),
            Err(other) => unreachable!("asking for leave ends in no other way: {other}"),
        }
    }

    /// Looks at where a reply, or what arrived of one, came from. True when that is a machine nobody had named: no
    /// call of the reply may be run.
    pub(super) fn came_from_elsewhere(&mut self, reply: &Reply, number: u64) -> Result<bool, TurnError> {
        let Some(host) = &reply.remote_host else {
            return Ok(false);
        };
        let named = self.model.elsewhere().map(|named| host_name(&named));
        if named.is_some_and(|named| named == host_name(host)) {
            return Ok(false);
        }
        let name = self.model.name.clone();
        let details = json!({
            "model": name, "server": self.model.client.host().to_string(), "host": host, "answer": "needed",
            "source": "reply",
        });
        self.record_event(number, Kind::ModelConsent, details)?;
        self.events.note(
            NoteLevel::Warning,
            format!(
                "this reply came from {host}: {name} does not run on this machine, and its server had not said so; \
                 what was said so far was sent there. No call of the reply is run"
            ),
        );
        self.model.show.remote_host = Some(host.clone());
        self.model.agreed = false;
        Ok(true)
    }
}
