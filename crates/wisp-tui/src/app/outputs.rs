//! What tools and typed commands printed, folded under their line: a few lines here, the rest a key away.

use ratatui::text::{Line, Span};
use wisp_agent::protocol::{Difference, OutputSummary};
use wisp_term::units::{counted, format_bytes, thousands};
use wisp_term::{Role, diff, question};

use super::App;
use crate::ansi;
use crate::wrap;

/// What every row of an output begins with, so that none can be taken for wisp's own words.
const INDENT: &str = "  ";

impl App {
    /// Remembers an output for the panel and gives its first rows and the fold.
    pub(super) fn output_rows(&mut self, output: &OutputSummary) -> Vec<Line<'static>> {
        if !output.id.is_empty() {
            self.outputs.retain(|known| *known != output.id);
            self.outputs.push(output.id.clone());
        }
        if output.is_folded() && !output.id.is_empty() {
            self.folded = Some(output.id.clone());
        }
        let indent = Span::raw(INDENT);
        let quiet = self.looks.style(Role::Quiet);
        let mut rows = Vec::new();
        for (before, stretch) in output.stretches() {
            if before > 0 {
                let gap = format!("{INDENT}… {}", counted(before, "line"));
                rows.extend(self.looks.prose(Role::HeldBack, &gap, self.width()));
            }
            for mut line in ansi::untrusted(&stretch.text) {
                for span in &mut line {
                    span.style = quiet.patch(span.style);
                }
                rows.extend(wrap::indented(&line, &indent, self.width()));
            }
        }
        rows.extend(self.fold_rows(output));
        rows.extend(
            output
                .difference
                .iter()
                .flat_map(|changed| self.difference_rows(changed)),
        );
        rows
    }

    /// What an edit changed, its beginning, so that it stays above whether it was asked about or not.
    fn difference_rows(&self, changed: &Difference) -> Vec<Line<'static>> {
        let lines = diff::of_unified(&changed.text);
        let rows = question::difference(&lines, self.width().saturating_sub(INDENT.len()));
        let rest = Some(changed.rest()).filter(|more| *more > 0);
        let fold = rest.map(|more| vec![(Role::Quiet, diff::fold(more, (changed.added, changed.removed)))]);
        let row = |row: question::Row| {
            let spans = row.into_iter().map(|(role, text)| self.looks.span(role, text));
            Line::from(
                std::iter::once(Span::raw(INDENT))
                    .chain(spans)
                    .collect::<Vec<_>>(),
            )
        };
        rows.into_iter().chain(fold).map(row).collect()
    }

    /// One row saying what is not shown here and what the model was not shown, or none.
    fn fold_rows(&self, output: &OutputSummary) -> Vec<Line<'static>> {
        let lines = output.left_out();
        let mut said = Vec::new();
        if output.is_folded() {
            let more = if lines > 0 {
                counted(lines, "more line")
            } else {
                "more".to_owned()
            };
            said.push(format!("… {more} of {}", format_bytes(output.bytes)));
        }
        let held: u64 = output.held.iter().map(|range| range.bytes).sum();
        if held > 0 {
            said.push(format!("held back: {}", format_bytes(held)));
        }
        if said.is_empty() {
            return Vec::new();
        }
        if let Some(key) = self
            .bindings
            .hint("open-output")
            .filter(|_| !output.id.is_empty())
        {
            said.push(format!("{key} shows all"));
        }
        let role = if held > 0 { Role::HeldBack } else { Role::Quiet };
        self.looks
            .prose(role, &format!("{INDENT}{}", said.join(" · ")), self.width())
    }

    /// The output before or after one, of those this conversation has.
    pub(super) fn neighbour(&self, id: &str, by: isize) -> Option<&String> {
        let at = self.outputs.iter().position(|known| known == id)?;
        self.outputs.get(at.checked_add_signed(by)?)
    }

    /// The id of the output that was folded last; of the last one when none was.
    pub(super) fn last_output(&self) -> Option<&String> {
        self.folded.as_ref().or(self.outputs.last())
    }

    /// `2 of 5`: which of the conversation's outputs one is.
    pub(crate) fn output_place(&self, id: &str) -> String {
        let at = self.outputs.iter().position(|known| known == id);
        at.map_or_else(String::new, |at| {
            format!(
                "{} of {}",
                thousands(at as u64 + 1),
                thousands(self.outputs.len() as u64)
            )
        })
    }
}
