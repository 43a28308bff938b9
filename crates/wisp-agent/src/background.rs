//! Commands that run in the background of the conversation: their ends are told between turns, to the user at once and to
//! the model with the next message.

use wisp_host::ids;

use crate::conversation::{Conversation, Shown};
use crate::protocol::NoteLevel;
use crate::typed;

impl Conversation {
    /// Tells of the background commands that have ended since, and keeps their outputs at hand.
    pub(crate) async fn see_jobs(&mut self) {
        for (row, pending) in self.registry.ended_jobs(self.turn_number()).await {
            let how = pending.ending.words();
            let (number, id) = (row.number, ids::shown(&row.id));
            let text = format!("job {number} has ended: {how} · {} · /show {id}", row.line);
            self.events.note(NoteLevel::Info, text);
            typed::remember(self, &row.line, &pending);
            let news = format!("background job {number} ({}) has ended: {how}", row.line);
            self.beside.notice = Some(match self.beside.notice.take() {
                Some(before) => format!("{before}; {news}"),
                None => news,
            });
        }
    }

    /// Puts what the running background commands have printed so far among the outputs at hand.
    pub(crate) fn note_jobs(&mut self) {
        for row in self.registry.jobs() {
            let text = row.printed();
            self.note_shown(Shown {
                id: row.id.clone(),
                title: format!("! {} (still running)", row.line),
                bytes: text.len() as u64,
                lines: text.lines().count() as u64,
                out_lines: None,
                text,
                held: Vec::new(),
                kept: false,
                not_kept: None,
            });
        }
    }
}
