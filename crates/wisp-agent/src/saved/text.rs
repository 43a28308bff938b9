//! A saved conversation as text to read: what was said, what was run, what was printed in short.

use wisp_context::{Content, Entry, Outcome, ThreadRecord};

/// Lines of an output that are printed; the rest is counted.
const OUTPUT_LINES: usize = 8;

/// The whole conversation as Markdown, turn by turn.
pub fn text(record: &ThreadRecord) -> String {
    let mut lines = Vec::new();
    for turn in record.turns() {
        let ended = match &turn.outcome {
            Some(Outcome::Interrupted) => " · interrupted".to_owned(),
            Some(Outcome::Failed(why)) => format!(" · failed: {why}"),
            Some(Outcome::Completed) | None => String::new(),
        };
        lines.push(format!("## turn {} · {}{ended}", turn.number, turn.began.clock()));
        lines.push(String::new());
        for entry in record.entries_of(turn.number) {
            lines.extend(entry_lines(entry));
        }
    }
    lines.join("\n") + "\n"
}

fn entry_lines(entry: &Entry) -> Vec<String> {
    match &entry.content {
        Content::Prompt { text } => {
            let quoted = text.lines().map(|line| format!("> {line}"));
            quoted.chain([String::new()]).collect()
        }
        Content::Calls { text, calls } => {
            let said = (!text.is_empty()).then(|| text.as_str().to_owned());
            let calls = calls
                .iter()
                .map(|call| format!("⚙ {} {}", call.name, wisp_tools::said(&call.arguments)));
            said.into_iter().chain(calls).collect()
        }
        Content::Output(output) => shortened(output.shown.as_str(), output.lines),
        Content::Reply { text, .. } => vec![text.as_str().trim_end().to_owned(), String::new()],
        Content::Command { notice, .. } => shortened(notice.as_str(), 0),
        Content::Lost => vec!["(this entry was lost)".to_owned(), String::new()],
        Content::Later(_) => vec![
            "(this entry was written by a later wisp)".to_owned(),
            String::new(),
        ],
        Content::Instructions { .. } | Content::Thinking { .. } => Vec::new(),
    }
}

/// The beginning of an output, indented, and how many lines there are in all.
fn shortened(text: &str, lines: u64) -> Vec<String> {
    let shown = text.lines().take(OUTPUT_LINES).map(|line| format!("    {line}"));
    let mut all: Vec<String> = shown.collect();
    let more = text.lines().count() > OUTPUT_LINES;
    if more {
        let whole = lines.max(text.lines().count() as u64);
        all.push(format!(
            "    … {} lines in all",
            wisp_output::amount::grouped(whole)
        ));
    }
    all.push(String::new());
    all
}
