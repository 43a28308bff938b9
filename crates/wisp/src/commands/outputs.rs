//! `wisp outputs`: what is kept, over all conversations.

use std::process::ExitCode;

use serde_json::json;
use wisp_host::{Clock, Env, SystemClock};
use wisp_output::amount::{grouped, size};
use wisp_output::store::{Entry, Shelf};
use wisp_term::{safe, width};

use super::paths;
use crate::args::Outputs;
use crate::screen::Screen;

/// Prints the list, the newest first.
pub fn run(args: &Outputs, env: Env) -> anyhow::Result<ExitCode> {
    let shelf = Shelf::new(paths(&env)?.home());
    let mut entries = shelf.list()?;
    entries.sort_by_key(|e| std::cmp::Reverse(e.record.created));
    let mut screen = Screen::new(env, "auto");
    if args.json {
        let rows: Vec<_> = entries.iter().map(as_json).collect();
        screen
            .out
            .line(&safe::json(&serde_json::to_string_pretty(&rows)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        screen
            .err
            .line("no output is kept: those that exceed the model's budget will be")?;
    }
    for entry in &entries {
        let line = if screen.out.surface().terminal {
            row(entry, screen.out.width())
        } else {
            tabs(entry)
        };
        screen.out.line(&line)?;
    }
    screen.out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(entry: &Entry) -> serde_json::Value {
    let record = &entry.record;
    json!({
        "id": record.id, "session": entry.session, "tool": record.tool, "arguments": record.arguments,
        "exit": record.exit, "bytes": record.bytes, "lines": record.lines, "sha256": record.sha256, "cut": record.cut,
        "totalBytes": record.total_bytes, "totalLines": record.total_lines, "created": record.created,
    })
}

fn row(entry: &Entry, columns: usize) -> String {
    let record = &entry.record;
    let line = format!(
        "{}  {:>8}  {:>10} lines  {:>9}  {} {}",
        record.shown_id(),
        age(entry),
        grouped(record.lines),
        size(record.bytes),
        record.tool,
        safe::safe(&record.arguments)
    );
    width::truncate(&line, columns).into_owned()
}

fn tabs(entry: &Entry) -> String {
    let record = &entry.record;
    let fields = [
        record.id.clone(),
        entry.session.clone(),
        record.created.to_string(),
        record.tool.clone(),
        record.arguments.replace(['\t', '\n'], " "),
        record.lines.to_string(),
        record.bytes.to_string(),
    ];
    fields.join("\t")
}

/// How long ago it was kept, in its largest unit.
fn age(entry: &Entry) -> String {
    let seconds = SystemClock.now().as_second() - entry.record.created.as_second();
    match seconds.max(0) {
        s if s < 60 => format!("{s} s"),
        s if s < 3600 => format!("{} min", s / 60),
        s if s < 86_400 => format!("{} h", s / 3600),
        s => format!("{} days", s / 86_400),
    }
}
