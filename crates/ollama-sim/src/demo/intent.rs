//! What the person asks for.
//!
//! The rules are a table, tried in order; each gets the request without its polite words. The request is the end
//! of the last user message, since an agent may put context before it: its last paragraph is tried first, then the
//! whole, then its last line.

#![expect(
    clippy::unnecessary_wraps,
    reason = "every rule has the signature of the table"
)]

use serde_json::{Value, json};

use super::arguments::Given;
use super::note::{self, HeldBack};
use super::quoted::{backquoted, file_name, take, without_stop};
use crate::seen::Seen;

/// What to do.
#[derive(Debug, PartialEq)]
pub(super) enum Intent {
    /// Call a tool, once for each set of arguments.
    Call {
        /// The tool.
        tool: &'static str,
        /// The arguments of each call.
        arguments: Vec<Given>,
    },
    /// Only say something.
    Say(String),
}

fn call(tool: &'static str, arguments: Given) -> Intent {
    Intent::Call {
        tool,
        arguments: vec![arguments],
    }
}

/// A rule: the words a request begins with, and what it then means.
type Rule = (&'static [&'static str], fn(&str, &Seen) -> Option<Intent>);

const RULES: [Rule; 12] = [
    (&["run ", "execute "], run),
    (
        &["read ", "open ", "show me the file ", "show the file "],
        read_file,
    ),
    (&["replace ", "change "], replace),
    (&["append ", "add "], append),
    (&["write "], write),
    (&["remember "], remember),
    (
        &["more", "show me more", "show more", "next page", "page", "go on"],
        more,
    ),
    (
        &[
            "filter ",
            "matching ",
            "show me the lines matching ",
            "lines matching ",
        ],
        matching,
    ),
    (&["summarise", "summarize", "summary"], summarise),
    (&["condense "], condense),
    (&["recall ", "forget ", "facts"], memory),
    (
        &[
            "what time",
            "what date",
            "what day",
            "what is the time",
            "what's the time",
            "what is the date",
            "time",
            "date",
        ],
        |_, _| Some(call("current_date", Vec::new())),
    ),
];

/// Words before a request that change nothing.
const POLITE: [&str; 10] = [
    "please ",
    "can you ",
    "could you ",
    "would you ",
    "now ",
    "then ",
    "and ",
    "ok, ",
    "ok ",
    "let's ",
];

/// Reads the request at the end of a user message.
pub(super) fn read(message: &str, seen: &Seen) -> Option<Intent> {
    let whole = after_blocks(message.trim());
    let paragraph = whole.rsplit("\n\n").next().unwrap_or(whole);
    let line = whole.lines().next_back().unwrap_or(whole);
    [paragraph, whole, line]
        .into_iter()
        .find_map(|text| match_rules(text.trim(), seen))
}

/// Without leading `<name>…</name>` blocks.
fn after_blocks(mut text: &str) -> &str {
    while let Some(rest) = text.strip_prefix('<') {
        let name: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "_-".contains(*c))
            .collect();
        let close = format!("</{name}>");
        match text.find(&close) {
            Some(at) if !name.is_empty() => text = text[at + close.len()..].trim_start(),
            _ => break,
        }
    }
    text
}

fn match_rules(text: &str, seen: &Seen) -> Option<Intent> {
    let text = without_polite(text);
    let lower = text.to_ascii_lowercase();
    RULES.iter().find_map(|(starts, rule)| {
        let start = starts
            .iter()
            .find(|start| lower.starts_with(**start) && ends_word(&lower, start))?;
        rule(&text[start.len()..], seen)
    })
}

/// Whether the words end where a word ends: `more` is no start of `moreover`.
fn ends_word(text: &str, start: &str) -> bool {
    start.ends_with(' ') || !text[start.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn without_polite(mut text: &str) -> &str {
    while let Some(word) = POLITE.iter().find(|w| text.to_ascii_lowercase().starts_with(**w)) {
        text = text[word.len()..].trim_start();
    }
    text
}

fn run(rest: &str, _: &Seen) -> Option<Intent> {
    let quoted = backquoted(rest);
    let commands = if rest.trim_start().starts_with('`') && !quoted.is_empty() {
        quoted
    } else {
        let line = rest.trim();
        let line = line.strip_prefix("the command ").unwrap_or(line);
        vec![
            take(line, "")
                .map(|(command, _)| without_stop(command))
                .filter(|c| !c.is_empty())?,
        ]
    };
    let directory = rest
        .rsplit_once("` in ")
        .map(|(_, dir)| file_name(dir))
        .filter(|dir| dir.starts_with('/'));
    let arguments = commands.into_iter().map(|command| {
        let mut given: Given = vec![("command", json!(command))];
        given.extend(directory.map(|dir| ("workingDirectory", json!(dir))));
        given
    });
    Some(Intent::Call {
        tool: "run_command",
        arguments: arguments.collect(),
    })
}

fn read_file(rest: &str, _: &Seen) -> Option<Intent> {
    let rest = rest.trim().strip_prefix("the file ").unwrap_or(rest.trim());
    let lower = rest.to_ascii_lowercase();
    let lines = [" from line ", ", lines ", " lines ", " line "]
        .iter()
        .find_map(|word| {
            let at = lower.rfind(word)?;
            Some((at, numbers(&lower[at + word.len()..]), word.contains("from")))
        });
    let (name, from, to) = match lines {
        Some((at, (Some(from), to), open)) => {
            let to = if open { to } else { to.or(Some(from)) };
            (&rest[..at], Some(from), to)
        }
        _ => (rest, None, None),
    };
    let name = file_name(name);
    if name.is_empty() || name.contains('\n') {
        return None;
    }
    let mut given: Given = vec![("path", json!(name))];
    given.extend(from.map(|n| ("offset", json!(n))));
    given.extend(
        from.zip(to)
            .map(|(from, to)| ("limit", json!(to.saturating_sub(from) + 1))),
    );
    Some(call("read_file", given))
}

/// The first two numbers of a text.
fn numbers(text: &str) -> (Option<u64>, Option<u64>) {
    let mut found = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok());
    (found.next(), found.next())
}

fn replace(rest: &str, _: &Seen) -> Option<Intent> {
    let (between, old, after) = [" with ", " to ", " by "].iter().find_map(|word| {
        let (old, after) = take(rest, word)?;
        Some((word, old, after))
    })?;
    let (new, after) = take(&after[between.len()..], " in ")?;
    let path = file_name(after.strip_prefix(" in ")?);
    edit(path, "replace", new, Some(old))
}

fn append(rest: &str, _: &Seen) -> Option<Intent> {
    let (text, after) = take(rest, " to ")?;
    edit(
        file_name(after.strip_prefix(" to ")?),
        "append",
        &with_newline(text),
        None,
    )
}

fn write(rest: &str, _: &Seen) -> Option<Intent> {
    let (text, after) = take(rest, " to ").or_else(|| take(rest, " into "))?;
    let path = after
        .strip_prefix(" to ")
        .or_else(|| after.strip_prefix(" into "))?;
    edit(file_name(path), "write", &with_newline(text), None)
}

fn with_newline(text: &str) -> String {
    if text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}

fn edit(path: &str, mode: &str, content: &str, find: Option<&str>) -> Option<Intent> {
    if path.is_empty() || path.contains('\n') {
        return None;
    }
    let mut given: Given = vec![
        ("path", json!(path)),
        ("mode", json!(mode)),
        ("content", json!(content)),
    ];
    given.extend(find.map(|find| ("find", json!(find))));
    Some(call("edit_file", given))
}

/// What is said where there is no memory to ask.
const NO_MEMORY: &str = "The memory tool is not offered in this conversation. What was held back is kept: /last shows \
                         the last output whole, /show ID any other.";

fn ask_memory(seen: &Seen, request: &str) -> Intent {
    if !seen.offers("memory") {
        return Intent::Say(NO_MEMORY.to_owned());
    }
    call("memory", vec![("request", json!(request))])
}

/// The last output that was held back, or what to say when there is none.
fn held(seen: &Seen) -> Result<HeldBack, Intent> {
    if !seen.offers("memory") {
        return Err(Intent::Say(NO_MEMORY.to_owned()));
    }
    note::latest(seen).ok_or_else(|| Intent::Say("I see no output of which a part was held back.".to_owned()))
}

/// `memory` notes a subject, a name and a value. `X is Y` and `X = Y` are a fact of that name; anything else is the
/// value of one named `remark`.
fn remember(rest: &str, seen: &Seen) -> Option<Intent> {
    let text = rest.trim();
    let text = text.strip_prefix("that ").unwrap_or(text);
    let (name, value) = [" = ", " is ", " are "]
        .iter()
        .find_map(|between| text.split_once(between))
        .unwrap_or(("remark", text));
    Some(ask_memory(seen, &format!("note fact {name} = {value}")))
}

fn memory(_: &str, seen: &Seen) -> Option<Intent> {
    let asked = seen.last_of("user")?.content.trim();
    let line = without_polite(asked.lines().next_back()?.trim());
    Some(ask_memory(seen, line))
}

fn more(rest: &str, seen: &Seen) -> Option<Intent> {
    if rest.split_whitespace().count() > 4 {
        return None;
    }
    if let Some((path, offset)) = note::unread(seen) {
        return Some(call(
            "read_file",
            vec![("path", Value::String(path)), ("offset", json!(offset))],
        ));
    }
    if note::at_the_end(seen) {
        return Some(Intent::Say(
            "That was the end of it: nothing more is held back.".to_owned(),
        ));
    }
    match held(seen) {
        Ok(held) => Some(ask_memory(seen, &held.next_page())),
        Err(say) => Some(say),
    }
}

fn matching(rest: &str, seen: &Seen) -> Option<Intent> {
    let pattern = take(rest.strip_prefix("for ").unwrap_or(rest), "")?.0;
    match held(seen) {
        Ok(held) => Some(ask_memory(
            seen,
            &format!("recall {} matching {pattern}", held.target),
        )),
        Err(say) => Some(say),
    }
}

fn summarise(_: &str, seen: &Seen) -> Option<Intent> {
    match held(seen) {
        Ok(held) => Some(ask_memory(seen, &format!("summarise {}", held.target))),
        Err(say) => Some(say),
    }
}

fn condense(rest: &str, seen: &Seen) -> Option<Intent> {
    let question = rest.trim().trim_start_matches(':').trim();
    if question.starts_with("output ") || question.starts_with("entry ") {
        return Some(ask_memory(seen, &format!("condense {question}")));
    }
    match held(seen) {
        Ok(held) => Some(ask_memory(seen, &format!("condense {}: {question}", held.target))),
        Err(say) => Some(say),
    }
}
