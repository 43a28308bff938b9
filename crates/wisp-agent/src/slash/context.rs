//! `/inspect context`, `/tokens`: what the model is sent, what it costs, and how that is known.

use wisp_context::{Author, Basis, Content, Estimate};
use wisp_host::files;
use wisp_output::amount::{counted, grouped, percent};

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::{Event, NoteLevel};

/// `context next`, `context N` and `context turns` show; `context` alone writes what the next request has to files.
pub(super) async fn inspect(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    let what = rest.strip_prefix("context").unwrap_or(rest).trim();
    let view = match what {
        "" => return keep(conversation),
        "next" => conversation.context(None),
        "turns" => conversation.context_turns(),
        number => match number.parse() {
            Ok(number) => conversation.context(Some(number)),
            Err(_) => Err(format!(
                "there is no context {number:?}: next, turns, or the number of a turn"
            )),
        },
    };
    match view {
        Ok(view) => conversation.events.send(Event::View(view)),
        Err(why) => conversation.events.note(NoteLevel::Error, why),
    }
    Next::Go
}

/// Writes the next request's context as Markdown and as JSON, and says where.
fn keep(conversation: &Conversation) -> Next {
    if !conversation.audit.is_on() {
        let text = "the audit is off, so no context is written; /inspect context next shows it";
        conversation.events.note(NoteLevel::Error, text);
        return Next::Go;
    }
    let mut view = conversation.record.context_next(&conversation.gauge());
    // As all that is written is.
    crate::looking::mask(&mut view, &conversation.secrets);
    let json = serde_json::to_vec_pretty(&view).unwrap_or_default();
    let session = conversation.audit.session();
    let name = format!("{session}-turn{}", conversation.turn_number() + 1);
    let folder = conversation.paths.contexts();
    let paths = [("md", view.markdown().into_bytes()), ("json", json)]
        .map(|(ending, bytes)| (folder.join(format!("{name}.{ending}")), bytes));
    let written = files::private_dir(&folder).and_then(|()| {
        paths
            .iter()
            .try_for_each(|(path, bytes)| files::replace(path, bytes))
    });
    match written {
        Ok(()) => {
            let text = format!(
                "the next request has about {} tokens; it is written to {} and, as JSON, beside it",
                grouped(view.estimate.tokens),
                paths[0].0.display()
            );
            conversation.events.line(text);
        }
        Err(e) => conversation.events.note(NoteLevel::Error, e.to_string()),
    }
    Next::Go
}

/// Makes room now, down to half of what is used.
pub(super) async fn compact(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    if !rest.is_empty() {
        let text = "/compact takes no focus: old turns leave whole and none is summarised by a model, so nothing was done\n\
                    hint: /compact alone makes room";
        conversation.events.note(NoteLevel::Error, text);
        return Next::Go;
    }
    match conversation.compact() {
        Ok(true) => {}
        Ok(false) => {
            let text = "there is nothing to compact: the window has the instructions and the last turn only";
            conversation.events.line(text);
        }
        Err(error) => conversation.events.note(NoteLevel::Error, error.to_string()),
    }
    Next::Go
}

pub(super) async fn tokens(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let now = conversation
        .estimator
        .estimate(conversation.record.compose().bytes());
    conversation
        .events
        .line(used(&now, conversation.model.window.tokens));
    for line in facts(conversation) {
        conversation.events.line(line);
    }
    Next::Go
}

/// How full the window is with a request.
pub(crate) fn used(request: &Estimate, window: u64) -> String {
    let how = match request.basis {
        Basis::Reported => "reported by the server",
        Basis::SinceReport => "the last report and what changed since",
        Basis::Bytes => "estimated from bytes",
    };
    let percent = percent(request.tokens, window);
    let (tokens, window) = (grouped(request.tokens), grouped(window));
    format!("{tokens} of {window} tokens ({percent} %), {how}")
}

/// How that is known, a line each.
pub(crate) fn facts(conversation: &Conversation) -> Vec<String> {
    let estimator = &conversation.estimator;
    let mut lines = vec![format!(
        "{:.1} bytes a token; tool definitions are {} bytes of each request",
        estimator.ratio(),
        grouped(estimator.tool_bytes())
    )];
    lines.extend(estimator.last_miss().map(|miss| {
        let (said, was) = (grouped(miss.estimated), grouped(miss.reported));
        let percent = miss.percent();
        format!("the last estimate was {said} where the server counted {was} ({percent:+.1} %)")
    }));
    lines.extend(conversation.speed.words());
    lines.push(turns(
        conversation.record.turn_count().into(),
        conversation.record.condensation_count() as u64,
    ));
    lines
}

/// Shows what the conversation is to do, or sets it as the user's, which the model cannot change.
pub(super) async fn task(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    if rest.is_empty() {
        let tasks = conversation.record.tasks();
        let line = tasks.last().map(wisp_context::Task::line);
        let line = line.unwrap_or_else(|| "no task is noted; /task TEXT notes one".to_owned());
        conversation.events.line(line);
        return Next::Go;
    }
    let time = conversation.stamp().time;
    match conversation.record.set_task(rest, Author::Person, time) {
        Ok(line) => conversation.events.line(line),
        Err(error) => conversation.events.note(NoteLevel::Error, error),
    }
    Next::Go
}

/// Shows the last thinking that was kept.
pub(super) async fn thinking(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let entries = conversation.record.entries();
    let thought = entries.iter().rev().find_map(|entry| match &entry.content {
        Content::Thinking { text } => Some(text.as_str()),
        _ => None,
    });
    let Some(thought) = thought else {
        conversation
            .events
            .line("the model has not thought, or its server does not send it");
        return Next::Go;
    };
    for line in thought.trim().lines() {
        conversation.events.line(line);
    }
    Next::Go
}

/// `12 turns; older ones left the context twice`: how long the conversation is, and how often room was made in it.
fn turns(turns: u64, left: u64) -> String {
    let turns = counted(turns, "turn");
    match left {
        0 => turns,
        1 => format!("{turns}; older ones left the context once"),
        2 => format!("{turns}; older ones left the context twice"),
        times => format!("{turns}; older ones left the context {} times", grouped(times)),
    }
}

#[cfg(test)]
mod tests {
    use super::turns;

    #[test]
    fn what_never_happened_is_not_told() {
        assert_eq!(turns(0, 0), "0 turns");
        assert_eq!(turns(1, 0), "1 turn");
        assert_eq!(turns(12, 1), "12 turns; older ones left the context once");
        assert_eq!(
            turns(1_234, 40),
            "1,234 turns; older ones left the context 40 times"
        );
    }
}
