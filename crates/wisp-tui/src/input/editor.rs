//! The text being typed and its cursor: every editing key is one method, and none can put the cursor between two
//! halves of a character.
//!
//! A large paste stands in the text as one character of Unicode's private area, which is shown as a label and moves,
//! and is deleted, as one; [`Editor::expanded`] puts the pasted text back. Typed characters of that area are
//! replaced, so that nobody can forge one.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use wisp_term::units::{counted, format_bytes};

/// Pastes with more lines than this, or more bytes than [`LARGE_BYTES`], become a placeholder.
pub const LARGE_LINES: usize = 10;
/// See [`LARGE_LINES`].
pub const LARGE_BYTES: usize = 2048;
/// The most bytes one input may have, pastes included: 4 MiB. What is more is left out and said.
pub const MAX_INPUT: usize = 4 << 20;
/// The first placeholder.
const FIRST_PLACEHOLDER: u32 = 0xF_0000;
/// The most large pastes in one input.
const MAX_PASTES: usize = 1000;

/// The text being typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Editor {
    text: String,
    /// In bytes, always at a character's start.
    cursor: usize,
    /// The texts of the placeholders, in order of their numbers.
    pastes: Vec<String>,
}

impl Editor {
    /// The text as it stands, placeholders unexpanded.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The cursor, in bytes of [`Editor::text`].
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text with every placeholder replaced by what was pasted.
    pub fn expanded(&self) -> String {
        let mut whole = String::with_capacity(self.text.len());
        for c in self.text.chars() {
            match self.paste_of(c) {
                Some(paste) => whole.push_str(paste),
                None => whole.push(c),
            }
        }
        whole
    }

    /// What is shown for one character of the text: itself, or the label of a placeholder.
    pub fn label(&self, grapheme: &str) -> Option<String> {
        let paste = self.paste_of(grapheme.chars().next()?)?;
        let lines = paste.lines().count() as u64;
        let size = format_bytes(paste.len() as u64);
        Some(format!("[pasted {}, {size}]", counted(lines, "line")))
    }

    fn paste_of(&self, c: char) -> Option<&String> {
        let at = u32::from(c).checked_sub(FIRST_PLACEHOLDER)?;
        self.pastes.get(usize::try_from(at).ok()?)
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.pastes.iter().map(String::len).sum::<usize>()
    }

    /// Puts typed text at the cursor. Returns how many bytes were left out because of [`MAX_INPUT`].
    pub fn insert(&mut self, text: &str) -> usize {
        let fits = fitting(text, MAX_INPUT.saturating_sub(self.bytes()));
        let clean = clean(&text[..fits]);
        self.text.insert_str(self.cursor, &clean);
        self.cursor += clean.len();
        text.len() - fits
    }

    /// Puts pasted text at the cursor, a large one as a placeholder; line ends become newlines. Returns how many
    /// bytes were left out because of [`MAX_INPUT`].
    pub fn paste(&mut self, text: &str) -> usize {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let large = text.len() > LARGE_BYTES || text.lines().count() > LARGE_LINES;
        if !large || self.pastes.len() >= MAX_PASTES {
            return self.insert(&text);
        }
        let fits = fitting(&text, MAX_INPUT.saturating_sub(self.bytes()));
        let number = u32::try_from(self.pastes.len()).expect("the number of pastes is bounded");
        let mark = char::from_u32(FIRST_PLACEHOLDER + number).expect("the private area holds a thousand");
        self.pastes.push(text[..fits].to_owned());
        self.text.insert(self.cursor, mark);
        self.cursor += mark.len_utf8();
        text.len() - fits
    }

    /// Replaces everything, the cursor at the end.
    pub fn set(&mut self, text: &str) {
        *self = Self::default();
        self.insert(text);
    }

    /// Takes the text out, leaving nothing.
    pub fn take(&mut self) -> String {
        let whole = self.expanded();
        *self = Self::default();
        whole
    }

    /// Replaces the text from byte `from` to the cursor.
    pub fn complete(&mut self, from: usize, with: &str) {
        let from = from.min(self.cursor);
        self.delete(from..self.cursor);
        self.insert(with);
    }

    fn delete(&mut self, range: Range<usize>) {
        self.cursor = range.start;
        self.text.replace_range(range, "");
        if self.text.is_empty() {
            self.pastes.clear();
        }
    }

    /// Where the character before the cursor starts.
    fn previous(&self) -> usize {
        let before = self.text[..self.cursor].grapheme_indices(true).next_back();
        before.map_or(0, |(at, _)| at)
    }

    /// Where the character after the cursor ends.
    fn next(&self) -> usize {
        let after = self.text[self.cursor..].graphemes(true).next();
        self.cursor + after.map_or(0, str::len)
    }

    /// Where the word before the cursor starts.
    fn word_left(&self) -> usize {
        let before = &self.text[..self.cursor];
        let end = before.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
        let word = before[..end].rfind(|c: char| !c.is_alphanumeric());
        word.map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8))
    }

    /// Where the word after the cursor ends.
    fn word_right(&self) -> usize {
        let after = &self.text[self.cursor..];
        let start = after.find(char::is_alphanumeric).unwrap_or(after.len());
        let word = after[start..].find(|c: char| !c.is_alphanumeric());
        self.cursor + word.map_or(after.len(), |len| start + len)
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let rest = &self.text[self.cursor..];
        self.cursor + rest.find('\n').unwrap_or(rest.len())
    }

    /// One character left.
    pub fn left(&mut self) {
        self.cursor = self.previous();
    }

    /// One character right.
    pub fn right(&mut self) {
        self.cursor = self.next();
    }

    /// To the start of the word.
    pub fn left_word(&mut self) {
        self.cursor = self.word_left();
    }

    /// Past the end of the word.
    pub fn right_word(&mut self) {
        self.cursor = self.word_right();
    }

    /// To the start of the line.
    pub fn home(&mut self) {
        self.cursor = self.line_start();
    }

    /// To the end of the line.
    pub fn end(&mut self) {
        self.cursor = self.line_end();
    }

    /// Puts the cursor at a byte, or at the start of the character that holds it.
    pub fn move_to(&mut self, at: usize) {
        let starts = self.text.grapheme_indices(true).map(|(start, _)| start);
        let ends = std::iter::once(self.text.len());
        self.cursor = starts
            .chain(ends)
            .take_while(|start| *start <= at)
            .last()
            .unwrap_or(0);
    }

    /// Deletes the character before the cursor.
    pub fn backspace(&mut self) {
        self.delete(self.previous()..self.cursor);
    }

    /// Deletes the character at the cursor.
    pub fn delete_right(&mut self) {
        let start = self.cursor;
        self.delete(start..self.next());
    }

    /// Deletes back to the last white space.
    pub fn delete_word(&mut self) {
        let before = self.text[..self.cursor].trim_end();
        let start = before.rfind(char::is_whitespace);
        let start = start.map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        self.delete(start..self.cursor);
    }

    /// Deletes to the start of the line.
    pub fn delete_to_start(&mut self) {
        self.delete(self.line_start()..self.cursor);
    }

    /// Deletes to the end of the line.
    pub fn delete_to_end(&mut self) {
        let start = self.cursor;
        self.delete(start..self.line_end());
    }
}

/// How much of `text` fits into `room` bytes, cut between characters.
fn fitting(text: &str, room: usize) -> usize {
    if text.len() <= room {
        return text.len();
    }
    (0..=room)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// Typed text without what could be taken for a placeholder, and with newlines for returns.
fn clean(text: &str) -> String {
    let placeholder = |c: char| (FIRST_PLACEHOLDER..=0xF_FFFF).contains(&u32::from(c));
    text.chars()
        .map(|c| {
            if placeholder(c) {
                '\u{fffd}'
            } else if c == '\r' {
                '\n'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(text: &str) -> Editor {
        let mut editor = Editor::default();
        editor.insert(text);
        editor
    }

    #[test]
    fn words_and_lines_are_deleted_as_documented() {
        let mut editor = typed("git commit -m x");
        editor.delete_word();
        assert_eq!(editor.text(), "git commit -m ");
        editor.delete_word();
        assert_eq!(editor.text(), "git commit ");
        editor.left_word();
        editor.delete_to_end();
        assert_eq!(editor.text(), "git ");
        editor.insert("a\nb");
        editor.delete_to_start();
        assert_eq!(editor.text(), "git a\n");
        editor.backspace();
        editor.home();
        editor.delete_right();
        assert_eq!((editor.text(), editor.cursor()), ("it a", 0));
    }

    #[test]
    fn a_character_of_several_parts_is_one_step() {
        let family = "👩\u{200d}👩\u{200d}👧";
        let mut editor = typed(&format!("a{family}"));
        editor.left();
        assert_eq!(editor.cursor(), 1);
        editor.right();
        editor.backspace();
        assert_eq!(editor.text(), "a");
    }

    #[test]
    fn the_eleventh_line_makes_a_paste_a_placeholder() {
        let lines = |n: usize| "x\r\n".repeat(n);
        let mut small = Editor::default();
        small.paste(&lines(LARGE_LINES));
        assert_eq!(small.text(), "x\n".repeat(10));
        let mut large = typed("see ");
        large.paste(&lines(LARGE_LINES + 1));
        assert_eq!(large.text().chars().count(), 5);
        assert_eq!(large.expanded(), format!("see {}", "x\n".repeat(11)));
        let mark = large.text().graphemes(true).next_back().unwrap().to_owned();
        assert_eq!(large.label(&mark).unwrap(), "[pasted 11 lines, 22 bytes]");
        large.backspace();
        assert_eq!(large.expanded(), "see ");
    }

    #[test]
    fn byte_2049_makes_a_paste_a_placeholder() {
        let mut small = Editor::default();
        small.paste(&"x".repeat(LARGE_BYTES));
        assert_eq!(small.text().len(), LARGE_BYTES);
        let mut large = Editor::default();
        large.paste(&"x".repeat(LARGE_BYTES + 1));
        assert_eq!(large.text().chars().count(), 1);
    }

    #[test]
    fn input_is_bounded_at_the_exact_byte() {
        let mut editor = Editor::default();
        assert_eq!(editor.paste(&"x".repeat(MAX_INPUT + 1)), 1);
        let mut just = Editor::default();
        assert_eq!(just.paste(&"x".repeat(MAX_INPUT)), 0);
        assert_eq!(just.take().len(), MAX_INPUT);
    }

    #[test]
    fn a_typed_placeholder_is_no_placeholder() {
        let mut editor = Editor::default();
        editor.paste(&"secret\n".repeat(20));
        editor.insert("\u{f0000}");
        assert_eq!(editor.expanded(), format!("{}\u{fffd}", "secret\n".repeat(20)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn any_keys_keep_the_cursor_between_characters(text in "[a \n漢é🐟]{0,30}", keys in proptest::collection::vec(0u8..12, 0..40)) {
            let mut editor = typed(&text);
            for key in keys {
                let act: fn(&mut Editor) = [
                    Editor::left, Editor::right, Editor::left_word, Editor::right_word, Editor::home, Editor::end,
                    Editor::backspace, Editor::delete_right, Editor::delete_word, Editor::delete_to_start,
                    Editor::delete_to_end, |e: &mut Editor| { e.insert("é"); },
                ][usize::from(key)];
                act(&mut editor);
                prop_assert!(editor.text().is_char_boundary(editor.cursor()));
            }
        }
    }
}
