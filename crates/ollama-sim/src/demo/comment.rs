//! A short, true comment on tool results.

use super::note;
use crate::Message;
use crate::seen::Seen;

/// Comments on the results at the end of the conversation, a sentence or two each.
pub(super) fn on_results(seen: &Seen) -> String {
    let first = seen
        .messages
        .iter()
        .rposition(|m| m.role != "tool")
        .map_or(0, |at| at + 1);
    let names = seen.messages[..first].iter().rev().find(|m| !m.calls.is_empty());
    let results = seen.messages[first..].iter().enumerate();
    let comments = results.map(|(at, result)| {
        let call = names.and_then(|m| m.calls.get(at));
        let name = call.map_or(result.tool_name.as_str(), |call| call.name.as_str());
        on_result(name, result, seen)
    });
    comments.collect::<Vec<_>>().join("\n")
}

/// What is said of a tool's result.
type Comment = fn(&str) -> String;

const COMMENTS: [(&str, Comment); 5] = [
    ("run_command", command),
    ("read_file", file),
    ("edit_file", same_line),
    ("current_date", date),
    ("memory", memory),
];

fn on_result(name: &str, result: &Message, seen: &Seen) -> String {
    let text = bare(&result.content);
    let text = text.trim();
    let failure = text.lines().next().filter(|line| line.starts_with("error"));
    let mut comment = match failure {
        Some(line) => format!("{name} did not do it: {line}"),
        None => COMMENTS.iter().find(|(n, _)| *n == name).map_or_else(
            || format!("{name} answered with {}.", lines(text)),
            |(_, comment)| comment(text),
        ),
    };
    if let Some(amount) = note::amount(text) {
        comment.push_str(&held_back(&amount, text, seen));
    }
    comment
}

/// A result without the two lines that wisp sends an output between.
fn bare(content: &str) -> String {
    let boundary = |line: &str| line.starts_with("<output-") || line.starts_with("</output-");
    content
        .split_inclusive('\n')
        .filter(|line| !boundary(line))
        .collect()
}

fn held_back(amount: &str, text: &str, seen: &Seen) -> String {
    let whole = match note::read(text) {
        Some(held) => format!("/last or /show {} shows you the whole of it", held.id()),
        None => "/last shows you the whole of it".to_owned(),
    };
    let page = if seen.offers("memory") {
        "; say \"more\", \"matching PATTERN\" or \"summarise\" and I look at the rest"
    } else {
        ""
    };
    format!(" {amount} were held back from me: {whole}{page}.")
}

fn command(text: &str) -> String {
    let status = text.lines().find_map(|line| line.strip_prefix("exit status"));
    let printed = sections(text);
    let printed = if printed == 0 {
        "printed nothing".to_owned()
    } else {
        "printed what you see above".to_owned()
    };
    if let Some(status) = status.map(|s| s.trim_start_matches(':').trim()) {
        return format!("The command ended with exit status {status} and {printed}.");
    }
    let first = text.lines().next().unwrap_or_default();
    format!("The command {printed}; its result begins with {first:?}.")
}

/// How many lines of a command's result are not headings.
fn sections(text: &str) -> usize {
    let heading = |line: &&str| {
        line.starts_with("exit status")
            || matches!(line.trim_end(), "stdout:" | "stderr:" | "")
            || line.starts_with("(no output")
    };
    text.lines().filter(|line| !heading(line)).count()
}

fn file(text: &str) -> String {
    let shown = text.lines().filter(|line| line.contains('\t')).count();
    let more = note::goes_on(text);
    let rest = if more {
        "There is more of it; say \"more\" for the next page."
    } else {
        "That is its end."
    };
    let noun = if shown == 1 { "line" } else { "lines" };
    format!("I was shown {shown} {noun} of the file. {rest}")
}

fn same_line(text: &str) -> String {
    format!("Done: {}", text.lines().next().unwrap_or_default())
}

fn date(text: &str) -> String {
    format!("It is {}.", text.lines().next().unwrap_or_default())
}

fn memory(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    if text.lines().count() <= 1 {
        return format!("The memory tool answered: {first}");
    }
    let more = note::read(text).is_some();
    let rest = if more {
        " Say \"more\" for the next page."
    } else {
        ""
    };
    format!(
        "The memory tool gave me {}, beginning with {first:?}.{rest}",
        lines(text)
    )
}

fn lines(text: &str) -> String {
    match text.lines().count() {
        0 => "nothing".to_owned(),
        1 => "one line".to_owned(),
        n => format!("{n} lines"),
    }
}
