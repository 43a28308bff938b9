//! `/copy`, `/export`, `/retry`: what was said, taken elsewhere or asked again.

use wisp_context::{Content, Entry};

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::{Event, NoteLevel};
use crate::saved::export;

/// The last reply, or a code block of it, to the clipboard: the front end has the terminal.
pub(super) async fn copy(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    let entries = conversation.record.entries();
    let replies = entries.iter().rev();
    let reply = replies
        .filter(|entry| matches!(entry.content, Content::Reply { .. }))
        .map(Entry::text)
        .next();
    let copied = match (reply, rest) {
        (None, _) => Err("there is no reply yet to copy".to_owned()),
        (Some(reply), "") => Ok((reply.trim_end().to_owned(), "the last reply".to_owned())),
        (Some(reply), number) => block(reply, number),
    };
    match copied {
        Ok((text, what)) => conversation.events.send(Event::Copy { text, what }),
        Err(why) => conversation.events.note(NoteLevel::Error, why),
    }
    Next::Go
}

/// A code block of a reply by its number, from 1.
fn block(reply: &str, number: &str) -> Result<(String, String), String> {
    let blocks = blocks(reply);
    let at = number
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_sub(1));
    let block = at.and_then(|at| blocks.get(at));
    block
        .map(|block| (block.clone(), format!("code block {number}")))
        .ok_or_else(|| match blocks.len() {
            0 => "the last reply has no code block; /copy alone copies all of it".to_owned(),
            1 => format!("there is no code block {number}: the last reply has 1"),
            count => format!("there is no code block {number}: the last reply has {count}"),
        })
}

/// The texts between fences, in order; one that is not ended goes to the end.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let fence: String = ['`', '~']
            .into_iter()
            .map(|mark| trimmed.chars().take_while(|c| *c == mark).collect::<String>())
            .find(|fence| fence.len() >= 3)
            .unwrap_or_default();
        match &mut open {
            None if !fence.is_empty() => open = Some((fence, String::new())),
            Some((opened, _)) if fence.starts_with(opened.as_str()) && trimmed.trim_end() == fence => {
                blocks.extend(open.take().map(|(_, text)| text));
            }
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    blocks.extend(open.map(|(_, text)| text));
    blocks
}

/// Writes the conversation to a new file.
pub(super) async fn export(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    let name = conversation
        .thread
        .as_ref()
        .map_or("conversation", |thread| thread.called());
    let named = match rest {
        "" => format!("wisp-{name}.md"),
        rest => rest.to_owned(),
    };
    let home = conversation.env.get("HOME").map(std::path::Path::new);
    let path = match (named.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => conversation.directory.join(&named),
    };
    let record = match conversation.whole_record() {
        Ok(record) => record,
        Err(error) => {
            conversation.events.note(NoteLevel::Error, error.to_string());
            return Next::Go;
        }
    };
    match export::export(&record, &path, &conversation.secrets) {
        Ok(()) => {
            let text = format!("written to {}; secrets are masked in it", path.display());
            conversation.events.line(text);
        }
        Err(error) => conversation.events.note(NoteLevel::Error, error.to_string()),
    }
    Next::Go
}

/// Asks the last message again, as a new turn.
pub(super) async fn retry(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let last = conversation.record.turn_count();
    let Some(prompt) = conversation.record.own_words(last) else {
        let text = "there is no message yet to ask again";
        conversation.events.note(NoteLevel::Error, text);
        return Next::Go;
    };
    Next::Message(prompt)
}

/// With nothing under way it is a message like any other.
pub(super) async fn now(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    if rest.is_empty() {
        let text = "/now TEXT tells the model something while it works, at the next result of a tool";
        conversation.events.note(NoteLevel::Error, text);
        return Next::Go;
    }
    Next::Message(rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_blocks_are_counted_and_end_at_their_own_fence() {
        let reply = "Do:\n```sh\nls\n```\nor\n~~~~\n```\nx\n~~~\n~~~~\n  ```\nopen";
        assert_eq!(blocks(reply), ["ls\n", "```\nx\n~~~\n", "open\n"]);
        assert_eq!(
            block(reply, "1").unwrap(),
            ("ls\n".to_owned(), "code block 1".to_owned())
        );
        for wrong in ["0", "4", "x", "-1"] {
            let why = block(reply, wrong).unwrap_err();
            assert_eq!(
                why,
                format!("there is no code block {wrong}: the last reply has 3")
            );
        }
        assert!(block("none", "1").unwrap_err().contains("no code block"));
    }
}
