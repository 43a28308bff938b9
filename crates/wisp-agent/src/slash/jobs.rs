//! `/ps`, `/kill`: the commands that run in the background of the conversation, and wisp's own jobs beside its turns.

use wisp_host::ids;
use wisp_output::amount::span;

use wisp_tools::{JobRow, Registry};

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::jobs::JobId;
use crate::protocol::{JobStatus, NoteLevel};

/// Lists them.
pub(super) async fn ps(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    conversation.see_jobs().await;
    let commands = commands(&conversation.registry);
    let own = conversation.jobs.status();
    listed(&commands, &own).for_each(|line| conversation.events.line(line));
    Next::Go
}

/// A line for each background command.
pub(crate) fn commands(registry: &Registry) -> Vec<String> {
    let line = |job: JobRow| {
        let (runs, id) = (span(job.runs.as_secs()), ids::shown(&job.id));
        let (number, line) = (job.number, job.line);
        format!("{number:>3}  {runs}  {line}  (/show {id}, /kill {number})")
    };
    registry.jobs().into_iter().map(line).collect()
}

/// All that runs beside the turns: background commands, then wisp's own jobs; or that there is nothing.
pub(crate) fn listed(commands: &[String], own: &[JobStatus]) -> impl Iterator<Item = String> {
    let none = (commands.is_empty() && own.is_empty())
        .then(|| "nothing runs in the background; !COMMAND & keeps a command running".to_owned());
    let own = own.iter().map(|job| {
        let waits = if job.running { "" } else { ", waits for the model" };
        format!(
            "{:>3}  {}: {}{waits}  (/kill {})",
            job.id, job.kind, job.title, job.id
        )
    });
    none.into_iter().chain(commands.iter().cloned()).chain(own)
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
