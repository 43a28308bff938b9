//! What tools and typed commands printed, folded under their line: a few lines here, the rest a key away.

use ratatui::text::{Line, Span};
use wisp_agent::protocol::{Difference, OutputSummary};
use wisp_term::units::{counted, format_bytes, thousands};
use wisp_term::{Role, diff, question};

use super::App;
use crate::ansi;
use crate::wrap;

/// The most bytes of an output shown under its line (upstream's fold).
pub(super) const SHOWN_BYTES: usize = 2048;
/// What every row of an output begins with, so that none can be taken for wisp's own words.
const INDENT: &str = "  ";

impl App {
    /// Remembers an output for the panel and gives its first rows and the fold.
    pub(super) fn output_rows(&mut self, output: &OutputSummary) -> Vec<Line<'static>> {
        if !output.id.is_empty() {
            self.outputs.retain(|known| *known != output.id);
            self.outputs.push(output.id.clone());
        }
        let shown = shown_part(output);
        let folded = output.lines > shown.lines().count() as u64 || (shown.len() as u64) < output.bytes;
        if folded && !output.id.is_empty() {
            self.folded = Some(output.id.clone());
        }
        let indent = Span::raw(INDENT);
        let quiet = self.looks.style(Role::Quiet);
        let mut rows = Vec::new();
        if !shown.is_empty() {
            for mut line in ansi::untrusted(shown) {
                for span in &mut line {
                    span.style = quiet.patch(span.style);
                }
                rows.extend(wrap::indented(&line, &indent, self.width()));
            }
        }
        rows.extend(self.fold_rows(output, shown));
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
    fn fold_rows(&self, output: &OutputSummary, shown: &str) -> Vec<Line<'static>> {
        let lines = output.lines.saturating_sub(shown.lines().count() as u64);
        let mut said = Vec::new();
        if lines > 0 || (shown.len() as u64) < output.bytes {
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

/// The beginning that is shown: at most so many lines and [`SHOWN_BYTES`] bytes, cut at a line's end where there is
/// one.
fn shown_part(output: &OutputSummary) -> &str {
    let lines = usize::try_from(output.shown_lines).unwrap_or(usize::MAX);
    let end: usize = output.text.split_inclusive('\n').take(lines).map(str::len).sum();
    let text = &output.text[..end];
    if text.len() <= SHOWN_BYTES {
        return text;
    }
    let cut = (0..=SHOWN_BYTES)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    text[..cut]
        .rfind('\n')
        .map_or(&text[..cut], |newline| &text[..=newline])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, lines: u64) -> usize {
        shown_part(&OutputSummary {
            text: text.into(),
            shown_lines: lines,
            ..OutputSummary::default()
        })
        .len()
    }

    #[test]
    fn the_fold_falls_at_the_exact_line_and_byte() {
        assert_eq!(shown("a\nb\nc\n", 2), 4);
        assert_eq!(shown("a\nb\nc\n", 3), 6);
        assert_eq!(shown("a\n", 0), 0);
        assert_eq!(shown(&"x".repeat(2048), 20), 2048);
        assert_eq!(shown(&"x".repeat(2049), 20), 2048);
        assert_eq!(shown(&format!("ab\n{}", "x".repeat(2046)), 20), 3);
        assert_eq!(shown(&format!("{}é", "x".repeat(2047)), 20), 2047);
    }
}
