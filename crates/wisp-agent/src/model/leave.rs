//! Taking back the leave to send conversations to where a model runs. It is given where it is asked for
//! by the engine, in a conversation; it is taken back here, from a chat or from the command line.

use serde_json::json;
use wisp_audit::{AuditError, AuditLog, Event, Kind};
use wisp_host::FileError;
use wisp_ollama::Host;

use super::known::Known;

/// Why leave was not taken back.
#[derive(Debug, thiserror::Error)]
pub enum RevokeError {
    /// What is known of models cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The audit cannot be written.
    #[error("the audit cannot be written: {0}")]
    Audit(#[from] AuditError),
}

/// Where leave is kept, and where it is recorded that it was taken back.
pub struct Scene<'a> {
    /// What is known of models.
    pub known: &'a Known,
    /// The audit.
    pub audit: &'a AuditLog,
    /// The server.
    pub server: &'a Host,
    /// `cli` or `chat`, for the record.
    pub source: &'a str,
}

/// Takes back the leave for a model of a server; what the person is told.
pub fn revoke(scene: &Scene<'_>, model: &str) -> Result<String, RevokeError> {
    let Some(consent) = scene.known.of(scene.server, model).consent else {
        return Ok(format!(
            "there was no leave to send anything to where {model} runs"
        ));
    };
    scene
        .known
        .change(scene.server, model, |row| row.consent = None)?;
    let details = json!({
        "model": model, "server": scene.server.to_string(), "host": consent.host, "answer": "taken back",
        "source": scene.source,
    });
    scene.audit.append(Event::new(Kind::ModelConsent, details))?;
    Ok(format!(
        "{model}: nothing is sent to {} before you agree again",
        consent.host
    ))
}
