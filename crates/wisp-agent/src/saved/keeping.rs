//! A conversation saved as it goes: when a turn ends, and within it as long as that is quick, with one line when that fails and one when it works again.

use std::borrow::Cow;

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::{LastUse, ThreadRecord};

use super::{Folder, SavedError, Thread};
use crate::conversation::Conversation;
use crate::protocol::NoteLevel;

impl Conversation {
    /// Saves the conversation when it has changed and anything has been said in it. A failure is told once, and the
    /// next change tries again; what was saved before stays as it is.
    pub(crate) fn save(&mut self) {
        let first = self.first_words();
        let Some(thread) = &mut self.thread else { return };
        if self.record.turn_count() == 0 || !thread.is_behind(&self.record) {
            return;
        }
        if self.estimator.is_calibrated() {
            self.record.set_ratio(&self.model.name, self.estimator.ratio());
        }
        self.record.set_last_use(LastUse {
            model: (!self.model.demo).then(|| self.model.name.clone()),
            directory: Some(self.directory.display().to_string()),
            first,
        });
        let failed_before = thread.has_failed();
        let done = thread.save(&mut self.record, self.secrets.masking());
        match done {
            Err(error) if !failed_before => self.not_saved(&error),
            Ok(()) if failed_before => self
                .events
                .note(NoteLevel::Info, "the conversation is being saved again"),
            _ => {}
        }
    }

    /// The first words of the first message, its secrets masked. They are found once: the message may leave memory.
    fn first_words(&self) -> Option<String> {
        let known = self.record.last_use().first.clone();
        known.or_else(|| {
            let prompt = self
                .record
                .turn(1)
                .and_then(|turn| self.record.entry(turn.prompt))?;
            let mut first = serde_json::Value::from(super::first_words(prompt.text()));
            self.secrets.mask_value(&mut first);
            first.as_str().map(str::to_owned)
        })
    }

    /// Saves within a turn, so that a kill in a long one takes little with it, while that costs next to nothing.
    pub(crate) fn save_midway(&mut self) {
        if self.thread.as_ref().is_some_and(Thread::is_cheap) {
            self.save();
        }
    }

    fn not_saved(&self, error: &SavedError) {
        let hint = error.hint();
        let text = format!("the conversation could not be saved: {error}");
        let details = json!({"message": text, "context": "saving", "hint": hint});
        // On a full disk the audit may fail too; the note says it all the same.
        let _ = self.record_event(self.turn_number(), Kind::Error, details);
        let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        let text = format!("{text}; what was saved before is intact, and each turn tries again{hint}");
        self.events.note(NoteLevel::Error, text);
    }

    /// Saves the conversation under a new name, which it keeps; an unnamed copy goes. On an error it is saved where it was
    /// before, and nothing is under the new name.
    pub(crate) fn save_as(&mut self, name: &str) -> Result<(), SavedError> {
        if self.thread.as_ref().is_some_and(|thread| thread.name() == name) {
            return self.save_now();
        }
        let thread = Thread::named(self.folder(), name)?;
        // The new name has a past of its own, from the beginning.
        let whole = self.whole_record()?.into_owned();
        let parted = std::mem::replace(&mut self.record, whole);
        let before = self.thread.replace(thread);
        if let Err(error) = self.save_now() {
            // The record goes back to what the files of the old name have the rest of.
            self.record = parted;
            let begun = std::mem::replace(&mut self.thread, before);
            // What cannot be removed is a whole save or nothing, and the error says that there may be one.
            let _ = begun.map_or(Ok(()), Thread::forget);
            return Err(error);
        }
        if let Some(thread) = before.filter(|thread| !thread.is_named()) {
            let name = thread.name().to_owned();
            if let Err(error) = thread.forget() {
                let text = format!("{error}; the copy without a name stays, as {name}, until it is swept");
                self.events.note(NoteLevel::Warning, text);
            }
        }
        Ok(())
    }

    /// Saves the conversation whether or not it has changed.
    pub(crate) fn save_now(&mut self) -> Result<(), SavedError> {
        let Some(thread) = &mut self.thread else {
            return Ok(());
        };
        thread.save(&mut self.record, self.secrets.masking())?;
        Ok(())
    }

    /// The record with all of it in memory: what was put away is read back, which costs the more the longer the
    /// conversation is, and so is done only when somebody asks for it.
    pub(crate) fn whole_record(&self) -> Result<Cow<'_, ThreadRecord>, SavedError> {
        match &self.thread {
            Some(thread) if !self.record.is_whole() => thread.whole(&self.record).map(Cow::Owned),
            _ => Ok(Cow::Borrowed(&self.record)),
        }
    }

    /// After `/new`: the old conversation stays as it was saved, the new one is unnamed.
    pub(crate) fn save_elsewhere(&mut self) {
        if self.thread.is_none() {
            return;
        }
        self.conversations += 1;
        let session = self.audit.session().as_str().to_owned();
        self.thread = Some(Thread::unnamed(self.folder(), &session, self.conversations));
    }

    /// Where conversations are saved.
    pub(crate) fn folder(&self) -> Folder {
        Folder::new(self.paths.transcripts())
    }
}
