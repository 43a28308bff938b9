//! A conversation as a file for others: Markdown, HTML or JSON, by the ending of the file's name. Secrets are masked as
//! they are in a saved conversation, and nothing of it is markup in HTML.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wisp_context::{Content, Entry, Outcome, ThreadRecord};
use wisp_host::{FileError, files};

use crate::secrets::Secrets;

/// What a file may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `.md`, `.markdown`, `.txt`.
    Markdown,
    /// `.html`, `.htm`.
    Html,
    /// `.json`.
    Json,
}

/// The endings of files, and what each holds.
const ENDINGS: [(&str, Form); 6] = [
    ("md", Form::Markdown),
    ("markdown", Form::Markdown),
    ("txt", Form::Markdown),
    ("html", Form::Html),
    ("htm", Form::Html),
    ("json", Form::Json),
];

/// Why a conversation is not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The ending says no form.
    #[error("{} ends in nothing that can be written: .md, .html or .json", .0.display())]
    Ending(PathBuf),
    /// There is a file already.
    #[error("{} exists already; name another file", .0.display())]
    Exists(PathBuf),
    /// It cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Writes a new file, which only the user may read. Errors: an unknown ending, a file that exists, the system's.
pub fn export(record: &ThreadRecord, path: &Path, secrets: &Secrets) -> Result<(), ExportError> {
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    let form = ENDINGS.iter().find(|(own, _)| ending.eq_ignore_ascii_case(own));
    let Some((_, form)) = form else {
        return Err(ExportError::Ending(path.to_owned()));
    };
    let text = text(record, *form, secrets);
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(ExportError::Exists(path.to_owned()));
    }
    let mut file = files::private_new(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|why| FileError::io("write", path, why))?;
    Ok(())
}

/// The conversation in a form.
pub fn text(record: &ThreadRecord, form: Form, secrets: &Secrets) -> String {
    let mut turns: Vec<Value> = record
        .turns()
        .iter()
        .map(|turn| {
            let parts: Vec<Value> = record.entries_of(turn.number).iter().filter_map(part).collect();
            let ended = match &turn.outcome {
                Some(Outcome::Interrupted) => "interrupted".to_owned(),
                Some(Outcome::Failed(why)) => format!("failed: {why}"),
                Some(Outcome::Completed) | None => String::new(),
            };
            json!({"turn": turn.number, "began": turn.began.clock(), "ended": ended, "parts": parts})
        })
        .collect();
    for turn in &mut turns {
        secrets.mask_value(turn);
    }
    match form {
        Form::Json => {
            serde_json::to_string_pretty(&json!({"wisp": env!("CARGO_PKG_VERSION"), "turns": turns}))
                .unwrap_or_default()
                + "\n"
        }
        Form::Markdown => turns.iter().map(markdown).collect(),
        Form::Html => html(&turns),
    }
}

/// What an entry is in an export; none for what is wisp's own.
fn part(entry: &Entry) -> Option<Value> {
    Some(match &entry.content {
        Content::Prompt { text } => json!({"kind": "prompt", "text": text.as_str()}),
        Content::Reply { text, .. } => json!({"kind": "reply", "text": text.as_str()}),
        Content::Calls { text, calls } => {
            let calls = calls
                .iter()
                .map(|call| format!("{} {}", call.name, wisp_tools::said(&call.arguments)));
            json!({"kind": "calls", "text": text.as_str(), "calls": calls.collect::<Vec<_>>()})
        }
        Content::Output(output) => {
            json!({"kind": "output", "tool": output.tool.as_str(), "text": output.shown.as_str()})
        }
        Content::Command { command, .. } => {
            json!({"kind": "command", "command": command.as_str(), "text": entry.text()})
        }
        Content::Lost => json!({"kind": "lost"}),
        Content::Instructions { .. } | Content::Thinking { .. } | Content::Later(_) => return None,
    })
}

fn of<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

fn parts(turn: &Value) -> &[Value] {
    turn["parts"].as_array().map_or(&[], Vec::as_slice)
}

/// `turn 3 · 09:00 · interrupted`.
fn heading(turn: &Value) -> String {
    let heading = format!("turn {} · {}", turn["turn"], of(turn, "began"));
    match of(turn, "ended") {
        "" => heading,
        ended => format!("{heading} · {ended}"),
    }
}

/// What was called, one line each.
fn calls(part: &Value) -> impl Iterator<Item = &str> {
    part["calls"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn markdown(turn: &Value) -> String {
    let mut text = format!("## {}\n\n", heading(turn));
    for part in parts(turn) {
        let said = of(part, "text").trim_end();
        let _ = match of(part, "kind") {
            "prompt" => {
                let lines: Vec<String> = said.lines().map(|line| format!("> {line}")).collect();
                writeln!(text, "{}\n", lines.join("\n"))
            }
            "calls" => {
                let calls: Vec<String> = calls(part).map(|call| format!("- {}", code(call))).collect();
                let said = if said.is_empty() {
                    String::new()
                } else {
                    format!("{said}\n\n")
                };
                writeln!(text, "{said}{}\n", calls.join("\n"))
            }
            "command" => writeln!(
                text,
                "- {}\n\n{}\n",
                code(&format!("!{}", of(part, "command"))),
                fenced(said)
            ),
            "output" => writeln!(text, "{}\n", fenced(said)),
            "lost" => writeln!(text, "(this entry was lost)\n"),
            _ => writeln!(text, "{said}\n"),
        };
    }
    text
}

/// The longest run of backticks in a text.
fn ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A text as code within a line.
fn code(text: &str) -> String {
    let fence = "`".repeat(ticks(text) + 1);
    let space = if text.contains('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", text.replace('\n', " "))
}

/// A text between fences that it cannot end.
fn fenced(text: &str) -> String {
    let fence = "`".repeat((ticks(text) + 1).max(3));
    format!("{fence}\n{text}\n{fence}")
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}\
blockquote,.reply{white-space:pre-wrap;overflow-wrap:anywhere}blockquote{border-left:4px solid #888;margin:0;padding-left:1rem}\
pre{background:#8882;padding:.5rem;overflow:auto}";

fn html(turns: &[Value]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>wisp conversation</title>\n<style>{STYLE}</style>\n"
    );
    for turn in turns {
        let _ = writeln!(page, "<h2>{}</h2>", escaped(&heading(turn)));
        for part in parts(turn) {
            let said = escaped(of(part, "text").trim_end());
            let _ = match of(part, "kind") {
                "prompt" => writeln!(page, "<blockquote>{said}</blockquote>"),
                "calls" => {
                    let said = if said.is_empty() {
                        said
                    } else {
                        format!("<div class=\"reply\">{said}</div>\n")
                    };
                    let items: Vec<String> = calls(part)
                        .map(|call| format!("<li><code>{}</code></li>", escaped(call)))
                        .collect();
                    writeln!(page, "{said}<ul>{}</ul>", items.concat())
                }
                "command" => writeln!(page, "<pre>!{}\n{said}</pre>", escaped(of(part, "command"))),
                "output" => writeln!(page, "<pre>{said}</pre>"),
                "lost" => writeln!(page, "<p>(this entry was lost)</p>"),
                _ => writeln!(page, "<div class=\"reply\">{said}</div>"),
            };
        }
    }
    page + "</html>\n"
}

/// A text that is no markup; what commands a terminal, or hides, is written out as its number.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {
                let _ = write!(out, "\u{fffd}");
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        let hostile = "<script>alert('x')</script>&lt; \"q\" \u{1b}[31m";
        assert_eq!(
            escaped(hostile),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;lt; &quot;q&quot; \u{fffd}[31m"
        );
    }

    #[test]
    fn a_text_cannot_end_its_fence() {
        assert_eq!(fenced("a"), "```\na\n```");
        assert_eq!(fenced("```\nb\n````"), "`````\n```\nb\n````\n`````");
        assert_eq!(code("echo `id`"), "`` echo `id` ``");
    }
}
