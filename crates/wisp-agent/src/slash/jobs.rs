//! `/ps`, `/kill`: the commands that run in the background of the conversation, and wisp's own jobs beside its turns.

use wisp_host::ids;
use wisp_output::amount::span;

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::jobs::JobId;
use crate::protocol::NoteLevel;

/// Lists them.
pub(super) async fn ps(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    conversation.see_jobs().await;
    let jobs = conversation.registry.jobs();
    let own = conversation.jobs.status();
    if jobs.is_empty() && own.is_empty() {
        conversation
            .events
            .line("nothing runs in the background; !COMMAND & keeps a command running");
    }
    for job in own {
        let waits = if job.running { "" } else { ", waits for the model" };
        let line = format!(
            "{:>3}  {}: {}{waits}  (/kill {})",
            job.id, job.kind, job.title, job.id
        );
        conversation.events.line(line);
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
    let own = conversation.jobs.status();
    if let Some(job) = own.iter().find(|job| job.id == rest)
        && let Some(id) = JobId::named(rest)
    {
        conversation.jobs.cancel(id);
        conversation
            .events
            .line(format!("{} is cancelled: {}", job.id, job.title));
        return Next::Go;
    }
    let number = rest.trim_start_matches('%').parse::<u32>().ok();
    if let Some(number) = number.filter(|number| conversation.registry.kill_job(*number)) {
        let text = format!("job {number} is asked to end; /kill {number} again kills it");
        conversation.events.line(text);
    } else {
        let text = "/kill NUMBER ends a background command, /kill j1 one of wisp's own jobs; /ps lists them";
        conversation.events.note(NoteLevel::Error, text);
    }
    Next::Go
}
