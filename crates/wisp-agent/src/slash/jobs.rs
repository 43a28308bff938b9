//! `/ps`, `/kill`: the commands that run in the background of the conversation.

use wisp_host::ids;
use wisp_output::amount::span;

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::NoteLevel;

/// Lists them.
pub(super) async fn ps(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    conversation.see_jobs().await;
    let jobs = conversation.registry.jobs();
    if jobs.is_empty() {
        conversation
            .events
            .line("nothing runs in the background; !COMMAND & keeps a command running");
    }
    for job in jobs {
        let runs = span(job.runs.as_secs());
        let line = format!(
            "{:>3}  {runs}  {}  (/show {}, /kill {})",
            job.number,
            job.line,
            ids::shown(&job.id),
            job.number
        );
        conversation.events.line(line);
    }
    Next::Go
}

/// Ends one.
pub(super) async fn kill(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    let number = rest.trim_start_matches('%').parse::<u32>().ok();
    if let Some(number) = number.filter(|number| conversation.registry.kill_job(*number)) {
        let text = format!("job {number} is asked to end; /kill {number} again kills it");
        conversation.events.line(text);
    } else {
        let text = "/kill NUMBER ends a background command; /ps lists them";
        conversation.events.note(NoteLevel::Error, text);
    }
    Next::Go
}
