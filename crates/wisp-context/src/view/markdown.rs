//! A context view as Markdown.

use crate::estimate::Basis;

use super::{ContextView, Row};
use wisp_amount::{grouped, percent};

impl ContextView {
    /// The whole view: what it costs, kind by kind, then every part as it is sent, then what left and why.
    pub fn markdown(&self) -> String {
        let mut lines = vec![
            format!("# {}", self.title()),
            String::new(),
            self.size(),
            String::new(),
        ];
        lines.extend(self.table());
        lines.extend(self.left());
        lines.extend(self.rows.iter().flat_map(part));
        lines.join("\n") + "\n"
    }

    fn title(&self) -> String {
        match self.turn {
            Some(turn) => format!("The context of turn {turn}"),
            None => "The context of the next request".to_owned(),
        }
    }

    /// How large it is and how that is known.
    fn size(&self) -> String {
        let tokens = self.estimate.tokens;
        let basis = match self.estimate.basis {
            Basis::Reported => "as the server counted",
            Basis::SinceReport => "estimated from the server's last count",
            Basis::Bytes => "estimated from its bytes",
        };
        match self.window {
            Some(window) if window > 0 => {
                format!(
                    "{} of {} tokens ({} %), {basis}.",
                    grouped(tokens),
                    grouped(window),
                    percent(tokens, window)
                )
            }
            _ => format!("{} tokens, {basis}; the window is not known.", grouped(tokens)),
        }
    }

    fn table(&self) -> Vec<String> {
        let mut lines = vec![
            "| part | count | bytes | about tokens |".to_owned(),
            "|---|---:|---:|---:|".to_owned(),
        ];
        lines.extend(self.totals.iter().map(|total| {
            format!(
                "| {} | {} | {} | {} |",
                total.kind.words(),
                grouped(total.parts),
                grouped(total.bytes),
                grouped(total.tokens)
            )
        }));
        if self.tool_bytes > 0 {
            lines.push(format!(
                "| tool definitions | | {} | {} |",
                grouped(self.tool_bytes),
                grouped(self.tool_tokens)
            ));
        }
        lines
    }

    /// What left, and why.
    fn left(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for done in &self.condensations {
            let steps: Vec<String> = done.steps.iter().map(|step| step.words()).collect();
            let why = match done.reason {
                super::super::Reason::Budget => "the next turn would have passed the budget",
                super::super::Reason::Overflow => "the server refused the request as too long",
                super::super::Reason::Asked => "asked for",
            };
            let floor = if done.floor { "; at the floor" } else { "" };
            lines.push(format!(
                "- turn {}: {why}: {}; {} to {} tokens, goal {}{floor}",
                done.turn,
                steps.join(", "),
                grouped(done.fill_before),
                grouped(done.fill_after),
                grouped(done.goal)
            ));
        }
        if lines.is_empty() {
            lines
        } else {
            [
                vec![String::new(), "## What left".to_owned(), String::new()],
                lines,
            ]
            .concat()
        }
    }
}

/// One part: a heading that says what it is, and its text.
fn part(row: &Row) -> Vec<String> {
    let mut heading = match row.entry {
        Some(entry) => format!("## entry {entry} · {}", row.kind.words()),
        None => format!("## {}", row.kind.words()),
    };
    if let Some(turn) = row.turn {
        heading += &format_args!(" · turn {turn}{}", if row.own { " (this one)" } else { "" }).to_string();
    }
    if let Some(time) = row.time {
        heading += &format_args!(" · {}", time.clock()).to_string();
    }
    let mut lines = vec![
        String::new(),
        heading,
        String::new(),
        format!(
            "{} bytes, about {} tokens.",
            grouped(row.bytes),
            grouped(row.tokens)
        ),
    ];
    lines.extend(row.note.iter().map(|note| format!("Note: {note}.")));
    let fence = fence(&row.text);
    lines.extend([
        String::new(),
        fence.clone(),
        row.text.trim_end_matches('\n').to_owned(),
        fence,
    ]);
    lines
}

/// A fence longer than any run of backticks in the text.
fn fence(text: &str) -> String {
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
