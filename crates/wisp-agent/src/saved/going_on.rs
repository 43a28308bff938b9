//! A conversation goes on: what the person is told of it, and what they can look at again.

use std::path::Path;

use serde_json::json;
use wisp_audit::{AuditError, Event, Kind};
use wisp_context::{Content, Entry, ThreadRecord};
use wisp_output::amount::{counted, grouped};

use super::{Resumed, SavedError, Thread};
use crate::conversation::{Conversation, Shown};
use crate::protocol::NoteLevel;

/// Characters of the last message in the line a conversation goes on with.
const PROMPT_CHARS: usize = 60;
/// Lines of the last message, and of the end of its reply, that are shown when a conversation is continued.
const PROMPT_LINES: usize = 3;
const REPLY_LINES: usize = 12;

impl Conversation {
    /// Tells the person where they are, and makes what was printed and typed reachable again.
    pub(crate) fn go_on(&mut self, resumed: &Resumed) {
        if let Some(damage) = &resumed.damage {
            self.events.note(NoteLevel::Warning, damage.clone());
        }
        if let Some(later) = &resumed.later {
            self.events.note(NoteLevel::Info, later.clone());
        }
        let entries = self.record.entries();
        let typed = |entry| typed(&self.record, entry);
        let (outputs, lines): (Vec<_>, Vec<_>) = (
            entries.iter().filter_map(shown).collect(),
            entries.iter().filter_map(typed).collect(),
        );
        for output in outputs {
            self.note_shown(output);
        }
        for line in lines {
            self.typed.note(&line);
        }
        self.events
            .note(NoteLevel::Info, self.where_it_was(&resumed.name));
        let before = self.record.last_use().directory.clone();
        if let Some(moved) = before.and_then(|before| moved(Path::new(&before), &self.directory)) {
            self.events.note(NoteLevel::Warning, moved.clone());
            self.beside.notice = Some(moved);
        }
    }

    /// Shows what was said last, so that the user finds their place: the end of the last reply under its prompt.
    pub(crate) fn show_last_exchange(&self) {
        let Some(turn) = self.record.turns().last() else {
            return;
        };
        let prompt = self.record.own_words(turn.number).unwrap_or_default();
        let mut lines: Vec<String> = prompt.lines().map(|line| format!("> {line}")).collect();
        let more = lines.len().saturating_sub(PROMPT_LINES);
        if more > 0 {
            lines.truncate(PROMPT_LINES);
            lines.push(format!("> … {}", counted(more as u64, "more line")));
        }
        let replies = self.record.entries_of(turn.number).iter().rev();
        let reply = replies
            .filter(|entry| matches!(entry.content, Content::Reply { .. }))
            .map(Entry::text)
            .next()
            .unwrap_or_default();
        let reply: Vec<&str> = reply.trim_end().lines().collect();
        let earlier = reply.len().saturating_sub(REPLY_LINES);
        if earlier > 0 {
            lines.push(format!("  … {}", counted(earlier as u64, "earlier line")));
        }
        lines.extend(reply[earlier..].iter().map(|line| format!("  {line}")));
        for line in &lines {
            self.events.line(line);
        }
    }

    /// How to continue this conversation after it is left; none when nothing of it is saved.
    pub(crate) fn how_to_continue(&self) -> Option<String> {
        let thread = self.thread.as_ref().filter(|thread| thread.is_saved())?;
        let program = if self.terms.face == "tui" {
            "wisp-tui"
        } else {
            "wisp"
        };
        Some(format!("to continue: {program} --resume {}", thread.called()))
    }

    /// Continues another saved conversation, by its name or the beginning of it, in place of this one, which stays
    /// saved. On an error nothing has changed.
    pub(crate) fn resume(&mut self, name: &str) -> Result<(), ResumeError> {
        let folder = self.folder();
        let name = folder.find(name)?;
        if self.thread.as_ref().is_some_and(|thread| thread.name() == name) {
            return Err(ResumeError::ThisOne(name));
        }
        self.save();
        let (thread, mut resumed) = Thread::resumed(folder, &name)?;
        let details = json!({
            "reason": "resume", "resume": name, "model": self.model.name, "tools": self.registry.names(),
        });
        self.audit.append(Event::new(Kind::SessionStart, details))?;
        self.turns_before = self.turn_number();
        resumed.record.set_rules(self.record.rules());
        resumed.record.set_boundary(crate::open::boundary());
        resumed.record.in_session(self.audit.session().as_str());
        if resumed.record.needs_memory() {
            self.registry.offer_memory(wisp_tools::MemoryOffer::Now);
        }
        self.record = resumed.record.clone();
        self.thread = Some(thread);
        self.estimator.forget_report();
        self.counted = None;
        self.looked.send_replace(None);
        self.offer_memory_when_needed();
        self.go_on(&resumed);
        self.show_last_exchange();
        Ok(())
    }

    /// `going on with work: 12 turns, the last begun 2026-11-30 14:05 with "Fix the parser"`.
    fn where_it_was(&self, name: &str) -> String {
        let turns = u64::from(self.record.turn_count());
        let turns = if turns == 1 {
            "1 turn".to_owned()
        } else {
            format!("{} turns", grouped(turns))
        };
        let Some(last) = self.record.turns().last() else {
            return format!("going on with {name}: {turns}");
        };
        let began = jiff::Timestamp::from_millisecond(last.began.millis)
            .map(|at| at.to_zoned_datetime(jiff::tz::TimeZone::system()))
            .map_or_else(
                |_| last.began.clock(),
                |at| at.strftime("%Y-%m-%d %H:%M").to_string(),
            );
        let prompt = self.record.entry(last.prompt).map_or("", Entry::text);
        let line = prompt.lines().next().unwrap_or_default();
        let mut short: String = line.chars().take(PROMPT_CHARS).collect();
        if short.len() < prompt.trim_end().len() {
            short.push('…');
        }
        format!("going on with {name}: {turns}, the last begun {began} with \"{short}\"")
    }
}

/// Why another conversation is not continued.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResumeError {
    /// There is none, several, or it cannot be opened.
    #[error(transparent)]
    Saved(#[from] SavedError),
    /// It is the one that is open.
    #[error("{0} is this conversation")]
    ThisOne(String),
    /// It cannot be recorded.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

impl ResumeError {
    /// What the user can do.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Saved(error) => error.hint(),
            Self::ThisOne(_) => Some("/resume without a name lists the others".to_owned()),
            Self::Audit(_) => None,
        }
    }
}

/// What has to be said when a conversation goes on in another directory than it was held in.
fn moved(before: &Path, now: &Path) -> Option<String> {
    if before == now {
        return None;
    }
    let gone = if before.is_dir() { "" } else { ", which is gone" };
    Some(format!(
        "this conversation was held in {}{gone}; commands now run in {}",
        before.display(),
        now.display()
    ))
}

/// What `/show` and `/last` find of an output of before.
pub(crate) fn shown(entry: &Entry) -> Option<Shown> {
    let Content::Output(output) = &entry.content else {
        return None;
    };
    if output.tool.as_str() == wisp_tools::MEMORY {
        return None;
    }
    let event = || entry.sources.first().cloned().unwrap_or_default();
    Some(Shown {
        id: output
            .kept
            .as_ref()
            .map_or_else(event, |id| id.as_str().to_owned()),
        title: output.tool.as_str().to_owned(),
        text: output.whole().to_owned(),
        bytes: output.bytes,
        lines: output.lines,
        out_lines: output.out_lines,
        held: Vec::new(),
        kept: output.kept.is_some(),
        not_kept: None,
    })
}

/// What the person entered.
fn typed(record: &ThreadRecord, entry: &Entry) -> Option<String> {
    match &entry.content {
        Content::Prompt { .. } => record.own_words(entry.turn),
        Content::Command { command, .. } => Some(format!("!{command}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_directory_is_named_and_whether_the_old_one_is_gone() {
        let now = tempfile::tempdir().expect("a directory");
        let before = tempfile::tempdir().expect("a directory");
        let (here, there) = (now.path(), before.path().to_owned());
        assert_eq!(moved(here, here), None);
        let said = |gone| {
            format!(
                "this conversation was held in {}{gone}; commands now run in {}",
                there.display(),
                here.display()
            )
        };
        assert_eq!(moved(&there, here), Some(said("")));
        drop(before);
        assert_eq!(moved(&there, here), Some(said(", which is gone")));
    }
}
