//! Changes made from the command line, in the audit as those of a chat are: each run that changes something is a
//! session of its own, begun with its first event.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use wisp_audit::{AuditError, AuditLog, Event, Key, Kind, SessionId};
use wisp_config::{Changed, Config, Paths};
use wisp_guard::secrets::Masker;
use wisp_host::{Env, RandomIds, SystemClock};

/// The audit of one run. Nothing is written before there is something to record.
pub struct Recorded<'a> {
    home: &'a Path,
    on: bool,
    command: &'static str,
    key: Option<PathBuf>,
    log: Option<AuditLog>,
}

impl<'a> Recorded<'a> {
    /// The audit of a command, which the person may have turned off.
    pub fn of(paths: &'a Paths, config: &Config, command: &'static str) -> Self {
        Self {
            home: paths.home(),
            on: config.audit(),
            command,
            key: config.audit_key(Env::of_process().get("HOME")),
            log: None,
        }
    }

    /// The same, for a change that may have turned the audit off or on: either way it is recorded.
    #[must_use]
    pub fn also_when(self, before: bool) -> Self {
        Self {
            on: self.on || before,
            ..self
        }
    }

    /// The log, begun when it was not yet.
    pub fn log(&mut self) -> Result<&AuditLog, AuditError> {
        if self.log.is_none() {
            self.log = Some(self.begun()?);
        }
        Ok(self.log.as_ref().expect("the log was begun above"))
    }

    fn begun(&self) -> Result<AuditLog, AuditError> {
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
        if !self.on {
            return Ok(AuditLog::off());
        }
        let session = SessionId::new(&*clock, &*ids);
        let key = self.key.as_deref().map(Key::read).transpose()?;
        let log = AuditLog::open_with(self.home, &session, (clock, ids), key)?;
        let mut masker = Masker::new(false);
        log.mask_with(move |details| masker.mask_value(details));
        let details = json!({"entryPoint": self.command, "home": self.home.display().to_string()});
        log.append(Event::new(Kind::SessionStart, details))?;
        Ok(log)
    }

    /// Records an event.
    pub fn event(&mut self, kind: Kind, details: Value) -> Result<(), AuditError> {
        self.log()?.append(Event::new(kind, details)).map(drop)
    }

    /// Records a changed setting.
    pub fn changed(&mut self, changed: &Changed) -> Result<(), AuditError> {
        let details = json!({"path": changed.key, "old": changed.old, "new": changed.new, "source": "cli"});
        self.event(Kind::ConfigChange, details)
    }

    /// Ends the session, when one was begun.
    pub fn close(self) -> Result<(), AuditError> {
        let Some(log) = self.log else { return Ok(()) };
        log.append(Event::new(Kind::SessionEnd, json!({"reason": "closed"})))?;
        log.sync()
    }
}
