//! Rows under their headings, as wide as they need to be, at most fifteen.

/// The most rows of a table.
const ROWS: usize = 15;

/// A table of `rows` under `headings`; what is left out is counted.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let shown = &rows[..rows.len().min(ROWS)];
    let width = |column: usize| {
        let cells = shown.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.chars().count())
            .chain([headings[column].len()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(headings.to_vec())];
    lines.extend(
        shown
            .iter()
            .map(|row| line(row.iter().map(String::as_str).collect())),
    );
    if rows.len() > ROWS {
        lines.push(format!("… {} more", rows.len() - ROWS));
    }
    lines.join("\n")
}

/// `3d 4h`, `2h 5m`, `40s`.
pub(super) fn elapsed(seconds: u64) -> String {
    match seconds {
        s if s >= 86_400 => format!("{}d {}h", s / 86_400, s % 86_400 / 3_600),
        s if s >= 3_600 => format!("{}h {}m", s / 3_600, s % 3_600 / 60),
        s if s >= 60 => format!("{}m {}s", s / 60, s % 60),
        s => format!("{s}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells_and_rows_are_bounded() {
        let rows: Vec<Vec<String>> = (0..17).map(|n| vec![format!("p{n}"), "漢".to_owned()]).collect();
        let text = table(&["NAME", "X"], &rows);
        assert!(text.starts_with("NAME  X\np0    漢\n"), "{text}");
        assert!(text.ends_with("p14   漢\n… 2 more"), "{text}");
    }

    #[test]
    fn times_have_their_two_largest_units() {
        let told = [40, 65, 7_500, 273_600].map(elapsed);
        assert_eq!(told, ["40s", "1m 5s", "2h 5m", "3d 4h"]);
    }
}
