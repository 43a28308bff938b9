//! What is recorded when a conversation begins.

use serde_json::json;
use wisp_audit::{Event as Audited, Kind};
use wisp_config::Changed;

use super::{OpenError, Setup, sweeps};
use crate::conversation::Conversation;
use crate::saved::Resumed;

/// Records how the conversation began, with what the sweeps of old outputs and old records removed.
pub(super) fn record(
    conversation: &mut Conversation,
    setup: &Setup,
    resume: Option<&Resumed>,
    kept: Option<Changed>,
) -> Result<(), OpenError> {
    let (outputs, audit) = (
        sweeps::outputs(conversation, setup),
        sweeps::audit(conversation, setup),
    );
    let mut details = json!({
        "entryPoint": setup.face,
        "directory": setup.directory.display().to_string(),
        "home": conversation.paths.home().display().to_string(),
        "tools": conversation.registry.names(),
        "model": conversation.model.name,
        "autoApprove": setup.yes,
    });
    let files: Vec<_> = conversation
        .agents
        .files
        .iter()
        .map(|file| json!({"path": file.path.display().to_string(), "sha256": file.digest}))
        .collect();
    if !files.is_empty() {
        details["instructions"] = files.into();
    }
    if let Some(resumed) = resume {
        details["resume"] = resumed.name.as_str().into();
        let from: Vec<&str> = conversation.record.sessions().collect();
        details["carriedFrom"] = from.into();
        if resumed.normalised > 0 {
            details["normalised"] = resumed.normalised.into();
        }
    }
    if let Some(swept) = outputs {
        details["outputSweep"] = swept;
    }
    if let Some(swept) = audit {
        details["auditSweep"] = swept;
    }
    if let Some(sweep) = sweeps::threads(conversation, setup) {
        details["threadSweep"] = sweep;
    }
    conversation
        .audit
        .append(Audited::new(Kind::SessionStart, details))?;
    let model = &conversation.model;
    let details = json!({
        "model": model.name, "backend": "ollama", "capabilities": model.show.capabilities, "tools": model.tools,
        "contextSize": model.window.tokens, "contextNote": model.window.why,
    });
    conversation
        .audit
        .append(Audited::new(Kind::ModelResolved, details))?;
    let session = conversation.audit.session().as_str();
    conversation.record.in_session(session);
    record_kept(conversation, kept)
}

/// Records that the person's choice was kept as the model, when it was.
fn record_kept(conversation: &Conversation, kept: Option<Changed>) -> Result<(), OpenError> {
    let Some(kept) = kept else { return Ok(()) };
    let details = json!({"path": kept.key, "old": kept.old, "new": kept.new, "source": "chat"});
    let event = Audited::new(Kind::ConfigChange, details);
    conversation.audit.append(event)?;
    Ok(())
}
