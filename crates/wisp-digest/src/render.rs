//! The digest as text of at most so many bytes: root causes first, then sums, then the rest.
//!
//! The text is made of points in order of worth. Each point has lines; the first states it, the others explain.
//! What is stated goes before what explains, so that a tight room holds every cause before it holds details.

mod others;
mod points;

use crate::digest::Digest;
use crate::line::cut;

/// Which text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum View {
    /// What matters, given how it ended.
    #[default]
    Notable,
    /// What the input is: its size, outcome, parts and kinds of line.
    Overview,
}

/// A line of the text: where it stands and how much it is worth; a smaller rank is kept longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub rank: u32,
    pub text: String,
}

const LEFT_OUT: &str = "… more than fits here\n";

impl Digest {
    /// The digest as text of at most `most` bytes, in whole lines where a whole line fits.
    pub fn render(&self, most: usize, view: View) -> String {
        fit(&points::rows(self, view), most)
    }

    /// The digest as text of at most `most` lines, the last of which says so when some were left out.
    pub fn render_lines(&self, most: usize, view: View) -> String {
        let rows = points::rows(self, view);
        if rows.len() <= most {
            return join(rows.iter());
        }
        let mut room = most.saturating_sub(1);
        let text = best(&rows, |_| {
            let stays = room > 0;
            room = room.saturating_sub(1);
            stays
        });
        if most == 0 { text } else { text + LEFT_OUT }
    }
}

/// Keeps the rows of the best ranks that fit, in their order.
fn fit(rows: &[Row], most: usize) -> String {
    let all: usize = rows.iter().map(|row| row.text.len() + 1).sum();
    if all <= most {
        return join(rows.iter());
    }
    let mut room = most.saturating_sub(LEFT_OUT.len());
    let mut full = false;
    let text = best(rows, |row| {
        let size = row.text.len() + 1;
        let fits = size <= room && !(full && row.rank > points::CAUSE);
        room -= if fits { size } else { 0 };
        // Of what only explains, nothing is shown past the first row without room; every cause is tried.
        full |= !fits;
        fits
    });
    if text.is_empty() {
        first_part(rows, most)
    } else {
        text + LEFT_OUT
    }
}

/// Asks for each row, from the best rank to the worst, whether it stays; those that do, in their order.
fn best(rows: &[Row], mut stays: impl FnMut(&Row) -> bool) -> String {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| (rows[*at].rank, *at));
    let mut kept = vec![false; rows.len()];
    for at in order {
        kept[at] = stays(&rows[at]);
    }
    join(
        rows.iter()
            .zip(&kept)
            .filter(|(_, kept)| **kept)
            .map(|(row, _)| row),
    )
}

/// Not even the first row fits: as much of it as does.
fn first_part(rows: &[Row], most: usize) -> String {
    rows.iter()
        .min_by_key(|row| row.rank)
        .map_or_else(String::new, |row| cut(&row.text, most).to_owned())
}

fn join<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(&row.text);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Row, fit};

    fn row(rank: u32, text: &str) -> Row {
        Row {
            rank,
            text: text.to_owned(),
        }
    }

    #[test]
    fn all_is_kept_at_exactly_its_size() {
        let rows = [row(0, "abc"), row(1, "de")];
        assert_eq!(fit(&rows, 7), "abc\nde\n");
        assert_ne!(fit(&rows, 6), "abc\nde\n");
    }

    #[test]
    fn what_is_worth_less_goes_first_and_order_stays() {
        let rows = [
            row(0, "first"),
            row(9, "a detail that is far too long for what is left"),
            row(1, "second"),
        ];
        assert_eq!(fit(&rows, 40), "first\nsecond\n… more than fits here\n");
    }

    #[test]
    fn a_room_too_small_for_a_row_holds_a_part_of_it() {
        assert_eq!(fit(&[row(0, "long enough")], 4), "long");
        assert_eq!(fit(&[row(0, "é")], 1), "");
    }
}
