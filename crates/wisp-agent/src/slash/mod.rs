//! Slash commands: one table, from which the parser, `/help` and completion are made, so that a command cannot exist
//! without help.

mod beside;
mod carry;
pub(crate) mod context;
pub(crate) mod conversation;
mod edit;
mod help;
pub(crate) mod jobs;
mod mcp;
mod models;
pub(crate) mod outputs;
pub mod permissions;
mod saved;
mod undo;

use std::pin::Pin;

use crate::conversation::Conversation;
use crate::engine::Next;
use crate::engine::desk::Asker;
use crate::engine::side::Side;

/// What a slash command is run with.
pub struct Scene<'a> {
    /// Whom it can ask.
    pub person: &'a Asker,
}

/// A command under way.
pub type Running<'a> = Pin<Box<dyn Future<Output = Next> + Send + 'a>>;

/// One row of the table.
pub struct Row {
    /// Its name, with the slash.
    pub name: &'static str,
    /// Other words for it, some without a slash.
    pub aliases: &'static [&'static str],
    /// What may follow it, for the help.
    pub arguments: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Under which heading the help lists it.
    pub group: &'static str,
    /// Answers it while something else has the conversation, for those that only look; false when it cannot.
    pub beside: Option<fn(&Side, &str) -> bool>,
    /// Runs it with what followed.
    pub run: for<'a> fn(&'a mut Conversation, &'a str, &'a Scene<'a>) -> Running<'a>,
}

/// A row whose command is a function of the conversation, what followed and the scene.
macro_rules! row {
    ($name:literal, $aliases:expr, $arguments:literal, $about:literal, $group:literal, $run:path) => {
        row!($name, $aliases, $arguments, $about, $group, $run, None)
    };
    ($name:literal, $aliases:expr, $arguments:literal, $about:literal, $group:literal, $run:path, $beside:expr) => {
        Row {
            name: $name,
            aliases: &$aliases,
            arguments: $arguments,
            about: $about,
            group: $group,
            beside: $beside,
            run: |conversation, rest, scene| Box::pin($run(conversation, rest, scene)),
        }
    };
}

/// Every slash command.
pub static TABLE: &[Row] = &[
    row!(
        "/help",
        ["/?", "help", "?"],
        "",
        "every command",
        "this chat",
        help::help,
        Some(beside::help)
    ),
    row!(
        "/quit",
        ["/exit", "/q", "quit", "exit", "q"],
        "",
        "leave (also Ctrl-D)",
        "this chat",
        conversation::quit
    ),
    row!(
        "/new",
        ["/clear"],
        "",
        "start over; what was printed stays reachable",
        "this chat",
        conversation::new
    ),
    row!(
        "/history",
        [],
        "",
        "what you typed in this chat",
        "this chat",
        conversation::history
    ),
    row!(
        "/status",
        [],
        "",
        "session, model, window, tools, approvals, files",
        "this chat",
        conversation::status,
        Some(beside::status)
    ),
    row!(
        "/mode",
        [],
        "[read-only | ask | edit | auto | next]",
        "what is done without a question in this conversation",
        "this chat",
        permissions::mode
    ),
    row!(
        "/approvals",
        [],
        "[revoke ID | clear]",
        "what you allowed, and taking it back",
        "this chat",
        permissions::approvals
    ),
    row!(
        "/tokens",
        [],
        "",
        "how full the window is, and how that is known",
        "this chat",
        context::tokens,
        Some(beside::tokens)
    ),
    row!(
        "/ps",
        ["/jobs"],
        "",
        "commands that run in the background (!COMMAND & begins one), and wisp's own jobs",
        "this chat",
        jobs::ps,
        Some(beside::ps)
    ),
    row!(
        "/mcp",
        [],
        "[SERVER]",
        "the MCP servers and their tools",
        "this chat",
        mcp::mcp
    ),
    row!(
        "/kill",
        [],
        "NUMBER",
        "end a background command (again: kill it), or a job of wisp's own (j1)",
        "this chat",
        jobs::kill,
        Some(beside::kill)
    ),
    row!(
        "/task",
        [],
        "[TEXT; objective: DONE]",
        "what is to be done, as you or the model noted it; with TEXT, set it",
        "this chat",
        context::task
    ),
    row!(
        "/thinking",
        [],
        "",
        "what the model thought before its last reply",
        "this chat",
        context::thinking
    ),
    row!(
        "/compact",
        [],
        "",
        "make room in the window now",
        "this chat",
        context::compact
    ),
    row!(
        "/inspect",
        ["/context"],
        "[context] [next | N | turns]",
        "what the model is sent: next, in turn N, or the turns",
        "this chat",
        context::inspect,
        Some(beside::inspect)
    ),
    row!(
        "/save",
        ["/name"],
        "[NAME]",
        "give this conversation a name",
        "this chat",
        saved::save
    ),
    row!(
        "/resume",
        [],
        "[NAME]",
        "continue another conversation; without a name, from a list",
        "this chat",
        saved::resume
    ),
    row!(
        "/copy",
        [],
        "[N]",
        "the last reply to the clipboard, or its code block N",
        "this chat",
        carry::copy
    ),
    row!(
        "/export",
        [],
        "[FILE]",
        "write the conversation to a file: .md, .html or .json",
        "this chat",
        carry::export
    ),
    row!(
        "/now",
        [],
        "TEXT",
        "while the model works: tell it at the next result of a tool, not after the turn",
        "this chat",
        carry::now
    ),
    row!(
        "/retry",
        [],
        "",
        "ask the last message again",
        "this chat",
        carry::retry
    ),
    row!(
        "/edit",
        [],
        "[N [TEXT]]",
        "change an earlier message and continue from there; the old conversation stays saved",
        "this chat",
        edit::edit
    ),
    row!(
        "/threads",
        [],
        "",
        "the conversations that are saved",
        "this chat",
        saved::threads
    ),
    row!(
        "/undo",
        [],
        "[turn [N]]",
        "undo the last edit, the last turn's, or all since turn N; asks first",
        "files",
        undo::undo
    ),
    row!(
        "/diff",
        [],
        "",
        "what the edits of this conversation changed",
        "files",
        undo::diff
    ),
    row!(
        "/show",
        [],
        "[ID]",
        "an output whole; without an id, the last",
        "outputs",
        outputs::show,
        Some(beside::show)
    ),
    row!(
        "/last",
        [],
        "",
        "the last output whole",
        "outputs",
        outputs::last,
        Some(beside::last)
    ),
    row!(
        "/outputs",
        [],
        "",
        "what was printed in this chat",
        "outputs",
        outputs::list,
        Some(beside::outputs)
    ),
    row!(
        "/summarise",
        ["/summarize"],
        "[ID]",
        "what matters in an output, without a model",
        "outputs",
        outputs::summarise,
        Some(beside::summarise)
    ),
    row!(
        "/model",
        [],
        "[NAME]",
        "the model in use, or another one",
        "models and tools",
        models::model
    ),
    row!(
        "/models",
        [],
        "[enable|disable NAME]",
        "the models of the server; which may be chosen",
        "models and tools",
        models::models
    ),
    row!(
        "/tools",
        [],
        "",
        "the tools the model may call",
        "models and tools",
        models::tools
    ),
];

/// A command that was entered: its row, or none for an unknown one, and what followed.
pub struct Called {
    /// The row; none when no command has this name.
    pub row: Option<&'static Row>,
    /// The word as entered.
    pub word: String,
    /// What followed.
    pub rest: String,
}

/// Reads a line as a slash command; none when it is a message. Bare words such as `quit` count when they stand alone.
pub fn parse(line: &str) -> Option<Called> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let row = TABLE.iter().find(|r| r.name == word || r.aliases.contains(&word));
    let bare = !word.starts_with('/');
    // `/usr/bin/env says …` is a message about a path, not a command.
    let path = word.strip_prefix('/').is_some_and(|rest| rest.contains('/'));
    if (bare && (row.is_none() || !rest.trim().is_empty())) || (row.is_none() && path) {
        return None;
    }
    Some(Called {
        row,
        word: word.to_owned(),
        rest: rest.trim().to_owned(),
    })
}

/// The command that says something to the turn under way.
pub const STEER: &str = "/now";

/// What a line says to the turn under way; none for any other line.
pub fn steering(line: &str) -> Option<&str> {
    let text = line.trim().strip_prefix(STEER)?;
    let text = text.strip_prefix(char::is_whitespace)?.trim();
    (!text.is_empty()).then_some(text)
}

/// Runs a command.
pub async fn run(conversation: &mut Conversation, called: Called, scene: &Scene<'_>) -> Next {
    if let Some(row) = called.row {
        return (row.run)(conversation, &called.rest, scene).await;
    }
    let near = wisp_config::nearest(&called.word, TABLE.iter().map(|r| r.name));
    let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    conversation.events.line(format!(
        "no command is called {}{near} (/help lists them)",
        called.word
    ));
    Next::Go
}

/// What is followed by a model's name.
const NAMES_A_MODEL: [&str; 4] = [
    "/model ",
    "/models enable ",
    "/models disable ",
    "/models revoke ",
];

/// How a line could go on: where the candidates start (in characters), and what they are.
pub fn complete(line: &str, cursor: usize, models: &[String]) -> (usize, Vec<String>) {
    let before: String = line.chars().take(cursor).collect();
    if !before.starts_with('/') {
        return (cursor, Vec::new());
    }
    let (from, word) = match before.rfind(' ') {
        None => (0, before.as_str()),
        Some(at) => (before[..=at].chars().count(), &before[at + 1..]),
    };
    let mut candidates: Vec<String> = if from == 0 {
        TABLE.iter().map(|r| r.name.to_owned()).collect()
    } else if NAMES_A_MODEL.iter().any(|command| before.starts_with(command)) {
        models.to_vec()
    } else {
        Vec::new()
    };
    candidates.retain(|c| c.starts_with(word));
    candidates.sort();
    (from, candidates)
}

/// What completed commands do, a line each; empty when none of them is a command.
pub fn about(candidates: &[String]) -> Vec<String> {
    let about = |name: &String| {
        let row = TABLE.iter().find(|row| row.name == name);
        row.map_or_else(String::new, |row| {
            let gap = if row.arguments.is_empty() { "" } else { " · " };
            format!("{}{gap}{}", row.about, row.arguments)
        })
    };
    let lines: Vec<String> = candidates.iter().map(about).collect();
    if lines.iter().all(String::is_empty) {
        return Vec::new();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(line: &str) -> Option<&'static str> {
        parse(line).and_then(|c| c.row).map(|r| r.name)
    }

    #[test]
    fn commands_are_told_from_messages() {
        assert_eq!(name("/show 3f9a2c1b"), Some("/show"));
        assert_eq!(name("quit"), Some("/quit"));
        assert_eq!(name("?"), Some("/help"));
        assert!(parse("quit smoking").is_none());
        assert!(parse("/usr/bin/env is a program").is_none());
        assert!(parse("what is /show?").is_none());
        assert!(parse("/shwo").is_some_and(|c| c.row.is_none()));
    }

    proptest::proptest! {
        /// A line in any script begins with a letter of more than one byte now and then.
        #[test]
        fn any_line_is_read(line in "\\PC{0,12}", rest in "(/?\\PC{0,4}){0,3}") {
            let read = parse(&line).into_iter().chain(parse(&format!("/{rest}")));
            for called in read {
                proptest::prop_assert!(called.row.is_some() || called.word.starts_with('/'));
            }
        }
    }

    #[test]
    fn completion_names_commands_and_models() {
        assert_eq!(
            complete("/mo", 3, &[]),
            (
                0,
                vec!["/mode".to_owned(), "/model".to_owned(), "/models".to_owned()]
            )
        );
        let models = ["qwen3:8b".to_owned(), "granite".to_owned()];
        assert_eq!(complete("/model q", 8, &models), (7, vec!["qwen3:8b".to_owned()]));
        assert_eq!(complete("hello", 5, &models), (5, vec![]));
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let mut words: Vec<&str> = TABLE
            .iter()
            .flat_map(|r| r.aliases.iter().copied().chain([r.name]))
            .collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }
}
