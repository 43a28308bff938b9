//! Prose broken at words while it streams, for a terminal that would break it in the middle of one.
//!
//! Only line breaks are added (and blanks under a list item's text), nothing is taken away: the blank at which a row
//! ends stays at its end, so that what a person copies has every character of the text. A word waits until it is
//! known to be whole; ideographs are words of their own. Words wider than a row are left to the terminal.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::width::cells;

/// Text with colours in, the same text with line breaks out.
///
/// ```
/// use wisp_term::words::WordWrap;
/// let mut wrap = WordWrap::new(12);
/// let shown = [wrap.push("a row of wor"), wrap.push("ds"), wrap.end_line()].concat();
/// assert_eq!(shown, "a row of \nwords");
/// ```
#[derive(Debug, Clone)]
pub struct WordWrap {
    /// Cells of a row, one less than the terminal's: the blank after a row's last word has a cell too.
    width: usize,
    column: usize,
    /// Blanks before the word that is being read, whose row is not known yet.
    blanks: String,
    word: String,
    word_cells: usize,
    /// Blanks that rows after a line's first begin with.
    hang: usize,
}

impl WordWrap {
    /// A wrap for rows of `width` cells.
    pub fn new(width: usize) -> Self {
        Self {
            width: width.saturating_sub(1).max(1),
            column: 0,
            blanks: String::new(),
            word: String::new(),
            word_cells: 0,
            hang: 0,
        }
    }

    /// Has the rows after the first of this line begin with so many blanks; at most half a row.
    pub fn hang(&mut self, blanks: usize) {
        self.hang = blanks.min(self.width / 2);
    }

    /// Takes more of the line (colours and all, no newline) and gives back what of it is certain.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            if rest.starts_with('\x1b') {
                let end = rest.find('m').map_or(rest.len(), |at| at + 1);
                self.word.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            let plain = rest.find('\x1b').unwrap_or(rest.len());
            for character in rest[..plain].graphemes(true) {
                self.take(character, &mut out);
            }
            rest = &rest[plain..];
        }
        out
    }

    fn take(&mut self, character: &str, out: &mut String) {
        if character.chars().all(|c| c == ' ' || c == '\t') {
            self.end_word(out);
            self.blanks.push_str(character);
            return;
        }
        let width = cells(character);
        let ideograph = width > 1;
        if ideograph || self.word_cells + width > self.width {
            self.end_word(out);
        }
        self.word.push_str(character);
        self.word_cells += width;
        if ideograph {
            self.end_word(out);
        }
    }

    /// Puts the word that was read where it has room, the blanks before it at the end of the row it leaves.
    fn end_word(&mut self, out: &mut String) {
        if self.word_cells == 0 {
            // Colours alone belong to what comes next.
            return;
        }
        let blanks = cells(&self.blanks);
        if self.column + blanks > 0 && self.column + blanks + self.word_cells > self.width {
            out.push_str(&self.blanks);
            out.push('\n');
            out.push_str(&" ".repeat(self.hang));
            self.column = self.hang;
        } else {
            out.push_str(&self.blanks);
            self.column += blanks;
        }
        self.blanks.clear();
        out.push_str(&std::mem::take(&mut self.word));
        self.column += std::mem::take(&mut self.word_cells);
    }

    /// Gives out what waits and begins a new line; the caller writes its newline.
    pub fn end_line(&mut self) -> String {
        let mut out = String::new();
        self.end_word(&mut out);
        out.push_str(&std::mem::take(&mut self.blanks));
        out.push_str(&std::mem::take(&mut self.word));
        (self.column, self.word_cells, self.hang) = (0, 0, 0);
        out
    }
}

/// Whole lines broken at words.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut wrap = WordWrap::new(width);
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| wrap.push(line) + &wrap.end_line())
        .collect();
    lines.join("\n")
}

/// A line of wisp's own words broken at words where it is wider than a row. The rows after the first stand under the
/// text of the last column that begins in the row's left half, else a little to the right of where the line begins. A
/// line with a word wider than a row, such as a path, is left to the terminal, from which it is copied in one piece.
///
/// ```
/// use wisp_term::words::listed;
/// assert_eq!(listed("ok  disk  all of it is there", 24), "ok  disk  all of it is \n          there");
/// assert_eq!(listed("  one line that is long", 16), "  one line that \n    is long");
/// assert_eq!(listed("as it is", 8), "as it is");
/// ```
pub fn listed(line: &str, width: usize) -> String {
    if cells(line) <= width {
        return line.to_owned();
    }
    if longest(line) >= width {
        return line.to_owned();
    }
    let mut wrap = WordWrap::new(width);
    wrap.hang(hanging(line, width));
    wrap.push(line) + &wrap.end_line()
}

/// How far to the right the rows after the first of such a line stand, in rows of `width` cells.
pub fn hanging(line: &str, width: usize) -> usize {
    let longest = longest(line);
    let places = [column(line, width / 2), 2];
    places
        .into_iter()
        .find(|hang| hang + longest < width)
        .unwrap_or(0)
}

/// Cells of the widest word; ideographs are words of their own.
fn longest(line: &str) -> usize {
    let (mut word, mut longest) = (0, 0);
    for character in line.graphemes(true) {
        let width = cells(character);
        word = if character == " " || width > 1 {
            width
        } else {
            word + width
        };
        longest = longest.max(word);
    }
    longest
}

/// Where the last column at or before cell `most` begins: after two blanks or more behind a word.
fn column(line: &str, most: usize) -> usize {
    let (mut at, mut blanks, mut words, mut found) = (0, 0, false, None);
    let mut begins = 0;
    for character in line.graphemes(true) {
        if at > most {
            break;
        }
        if character == " " {
            blanks += 1;
        } else {
            if !words {
                begins = at;
            } else if blanks > 1 {
                found = Some(at);
            }
            (blanks, words) = (0, true);
        }
        at += cells(character);
    }
    found.unwrap_or(begins + 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_end_at_words_and_keep_their_blank() {
        assert_eq!(wrapped("one two three", 8), "one two \nthree");
        assert_eq!(wrapped("one two", 8), "one two");
        assert_eq!(wrapped("one  twos", 8), "one  \ntwos");
        assert_eq!(wrapped("a\nb", 8), "a\nb");
    }

    #[test]
    fn a_word_waits_for_its_end_and_no_longer() {
        let mut wrap = WordWrap::new(20);
        assert_eq!(wrap.push("hello wor"), "hello");
        assert_eq!(wrap.push("ld "), " world");
        assert_eq!(wrap.push("漢字"), " 漢字");
        assert_eq!(wrap.end_line(), "");
    }

    #[test]
    fn a_word_wider_than_a_row_is_given_out_as_it_fills() {
        let mut wrap = WordWrap::new(6);
        assert_eq!(wrap.push("abcdefghijk"), "abcde\nfghij");
        assert_eq!(wrap.end_line(), "\nk");
    }

    #[test]
    fn colours_take_no_room_and_go_with_their_word() {
        assert_eq!(
            wrapped("one \x1b[1mtwo\x1b[0m three", 8),
            "one \x1b[1mtwo\x1b[0m \nthree"
        );
        assert_eq!(
            wrapped("one two \x1b[1mthree\x1b[0m", 8),
            "one two \n\x1b[1mthree\x1b[0m"
        );
    }

    #[test]
    fn rows_of_a_listing_stand_under_its_last_column_on_the_left() {
        let help = "  /save [NAME]       keep this conversation under a name";
        assert_eq!(
            listed(help, 50),
            "  /save [NAME]       keep this conversation under \n                     a name"
        );
        assert_eq!(
            listed(help, 40),
            "  /save [NAME]       keep this \n    conversation under a name"
        );
        assert_eq!(listed(help, 56), help);
        let path = "audit          /home/ada/.wisp/audit/20261130T112922-dffbb840.jsonl";
        assert_eq!(listed(path, 40), path);
        assert_eq!(
            listed("audit          /home/ada/.wisp/audit (private)", 30),
            "audit          \n  /home/ada/.wisp/audit \n  (private)"
        );
        assert_eq!(listed("漢字  漢字漢字漢字", 14), "漢字  漢字漢\n      字漢字");
    }

    #[test]
    fn rows_of_a_list_item_stand_under_its_text() {
        let mut wrap = WordWrap::new(10);
        wrap.hang(2);
        assert_eq!(
            wrap.push("• one two three ") + &wrap.end_line(),
            "• one two \n  three "
        );
        assert_eq!(wrap.push("four five six") + &wrap.end_line(), "four five \nsix");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn nothing_is_lost_and_no_word_that_fits_is_broken(text in "[a-c 漢é\t]{0,80}", width in 4usize..30, at in 0usize..80) {
            let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let mut wrap = WordWrap::new(width);
            let shown = [wrap.push(&text[..at]), wrap.push(&text[at..]), wrap.end_line()].concat();
            prop_assert_eq!(shown.replace('\n', ""), text.clone());
            for row in shown.lines() {
                prop_assert!(cells(row.trim_end()) < width.max(3), "{row:?} in {width}");
            }
            if text.split([' ', '\t', '漢']).all(|word| cells(word) < width) {
                for pair in shown.lines().collect::<Vec<_>>().windows(2) {
                    let whole = pair[0].ends_with([' ', '\t', '漢']) || pair[1].starts_with('漢');
                    prop_assert!(whole, "{shown:?}");
                }
            }
        }
    }
}
