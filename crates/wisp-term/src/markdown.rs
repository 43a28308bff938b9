//! Light Markdown for replies that stream: headings, bullets, `code`, `**strong**`, `*emphasis*` and fences get a
//! role, everything else stays as typed.
//!
//! Text is given out as soon as it can no longer change its looks: within a line only an opened marker waits for
//! its end, so most deltas pass straight through. `2 * 3` and `snake_case` are not markers. A line waits at most
//! [`MAX_WAIT`] bytes. The model's text passes [`SafeText`] here, before anything is painted.

use crate::inline::{Painted, paint_ready};
use crate::palette::Palette;
use crate::safe::SafeText;
use crate::theme::Role;
use crate::words::WordWrap;

/// The most bytes of a line that wait for the end of a marker.
pub const MAX_WAIT: usize = 4096;

/// What the line being read is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Its beginning has not been seen yet.
    Unknown,
    /// Prose, whose text is painted in a base role.
    Prose(Role),
    /// A line that opens or closes a code block.
    Fence,
    /// A line of a code block.
    Code,
}

/// Markdown in deltas of any size in, text for the terminal out.
///
/// ```
/// use wisp_term::{Markdown, Palette};
/// let mut markdown = Markdown::new(Palette::plain());
/// let shown = [markdown.push("- **wi"), markdown.push("sp**\n"), markdown.finish()].concat();
/// assert_eq!(shown, "• wisp\n");
/// ```
#[derive(Debug, Clone)]
pub struct Markdown {
    palette: Palette,
    safe: SafeText,
    /// The part of the line that was not given out yet.
    waiting: String,
    line: Line,
    /// The fence that opened the code block the text is in.
    fence: Option<String>,
    /// The last character of the line that was given out, which decides whether a marker may open.
    before: char,
    /// Breaks prose at words; lines of code are left to the terminal, which keeps them whole for the clipboard.
    wrap: Option<WordWrap>,
    width: Option<usize>,
}

impl Markdown {
    /// A renderer in the given colours.
    pub fn new(palette: Palette) -> Self {
        Self {
            palette,
            safe: SafeText::new(false),
            waiting: String::new(),
            line: Line::Unknown,
            fence: None,
            before: '\n',
            wrap: None,
            width: None,
        }
    }

    /// The same, with prose broken at words for rows of `width` cells.
    pub fn wrapped(palette: Palette, width: usize) -> Self {
        Self {
            wrap: Some(WordWrap::new(width)),
            width: Some(width),
            ..Self::new(palette)
        }
    }

    /// Takes a delta and gives back what of the reply can be shown now.
    pub fn push(&mut self, delta: &str) -> String {
        let safe = self.safe.push(delta);
        self.take(&safe)
    }

    /// Ends the reply: what waits is given out, and the renderer starts afresh.
    pub fn finish(&mut self) -> String {
        let safe = self.safe.finish();
        let mut out = self.take(&safe);
        if !self.waiting.is_empty() {
            self.ready(true, &mut out);
        }
        self.end_row(&mut out);
        let palette = self.palette.clone();
        *self = match self.width {
            Some(width) => Self::wrapped(palette, width),
            None => Self::new(palette),
        };
        out
    }

    fn take(&mut self, text: &str) -> String {
        let mut out = String::new();
        for piece in text.split_inclusive('\n') {
            let (body, ends) = piece
                .strip_suffix('\n')
                .map_or((piece, false), |body| (body, true));
            self.waiting.push_str(body);
            self.ready(ends || self.waiting.len() > MAX_WAIT, &mut out);
            if ends {
                self.end_row(&mut out);
                out.push('\n');
                self.line = Line::Unknown;
                self.before = '\n';
            }
        }
        out
    }

    /// Gives out the word that waits for its end.
    fn end_row(&mut self, out: &mut String) {
        if let Some(wrap) = &mut self.wrap {
            out.push_str(&wrap.end_line());
        }
    }

    /// Gives out what of the line is certain; all of it when nothing more comes.
    fn ready(&mut self, whole: bool, out: &mut String) {
        if self.line == Line::Unknown && !self.begin(whole, out) {
            return;
        }
        match self.line {
            Line::Code => {
                out.push_str(&self.palette.paint(Role::Code, &std::mem::take(&mut self.waiting)));
            }
            Line::Fence if whole => self.end_fence(out),
            Line::Unknown | Line::Fence => {}
            Line::Prose(base) => self.prose(base, whole, out),
        }
    }

    fn prose(&mut self, base: Role, whole: bool, out: &mut String) {
        let Painted { shown, used, last } =
            paint_ready(&self.waiting, (base, self.before), whole, &self.palette);
        match &mut self.wrap {
            Some(wrap) => out.push_str(&wrap.push(&shown)),
            None => out.push_str(&shown),
        }
        self.waiting.drain(..used);
        self.before = last;
    }

    /// Finds out what the line is from its beginning. False: more of it is needed.
    fn begin(&mut self, whole: bool, out: &mut String) -> bool {
        let text = self.waiting.trim_start();
        let indent = self.waiting.len() - text.len();
        if !whole && is_open(text) {
            return false;
        }
        let fence = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        self.line = match (&self.fence, fence) {
            (Some(open), Some(mark)) if open == mark => Line::Fence,
            (Some(_), _) => Line::Code,
            (None, Some(_)) => Line::Fence,
            (None, None) => self.prose_line(indent, out),
        };
        true
    }

    /// A heading keeps its marks, a bullet gets a dot.
    fn prose_line(&mut self, indent: usize, out: &mut String) -> Line {
        let text = &self.waiting[indent..];
        let hashes = text.len() - text.trim_start_matches('#').len();
        if (1..=6).contains(&hashes) && text[hashes..].starts_with(' ') {
            return Line::Prose(Role::Heading);
        }
        let bullet = ["- ", "* ", "+ "].iter().any(|mark| text.starts_with(mark));
        let mark = if bullet { 2 } else { number_mark(text) };
        if let (Some(wrap), true) = (&mut self.wrap, mark > 0) {
            wrap.hang(indent + mark);
        }
        if bullet {
            let start = format!("{}• ", &self.waiting[..indent]);
            match &mut self.wrap {
                Some(wrap) => out.push_str(&wrap.push(&start)),
                None => out.push_str(&start),
            }
            self.waiting.drain(..indent + 2);
            self.before = ' ';
        }
        Line::Prose(Role::Text)
    }

    fn end_fence(&mut self, out: &mut String) {
        let line = std::mem::take(&mut self.waiting);
        let mark: String = line.trim_start().chars().take(3).collect();
        self.fence = match self.fence {
            Some(_) => None,
            None => Some(mark),
        };
        out.push_str(&self.palette.paint(Role::Fence, &line));
    }
}

/// The bytes of `12. ` at the start of a numbered item; 0 for anything else, or when its blank has not come.
fn number_mark(text: &str) -> usize {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let marked = (1..=3).contains(&digits) && [". ", ") "].iter().any(|end| text[digits..].starts_with(end));
    if marked { digits + 2 } else { 0 }
}

/// Whether what a line is cannot be said yet from its beginning (without indentation).
fn is_open(text: &str) -> bool {
    let start: String = text.chars().take(7).collect();
    let number = start.trim_end_matches(['.', ')']);
    start.is_empty()
        || ((1..=3).contains(&number.len())
            && start.len() - number.len() <= 1
            && number.chars().all(|c| c.is_ascii_digit()))
        || ["```", "~~~", "- ", "* ", "+ "]
            .iter()
            .any(|mark| mark.starts_with(&start))
        || (start.len() < 7 && start.chars().all(|c| c == '#'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wisp_host::Env;

    use super::*;
    use crate::style::Depth;

    fn coloured() -> Palette {
        Palette::new("ansi16", Depth::Ansi16, &Env::default())
    }

    fn all(text: &str, palette: Palette) -> String {
        let mut markdown = Markdown::new(palette);
        [markdown.push(text), markdown.finish()].concat()
    }

    #[test]
    fn each_form_has_its_role() {
        let shown = all(
            "# Title\n- a `b` **c** *d*\n```rust\nlet x = 1;\n```\nend",
            coloured(),
        );
        assert_eq!(
            shown,
            "\u{1b}[1;36m# Title\u{1b}[0m\n• a \u{1b}[32mb\u{1b}[0m \u{1b}[1mc\u{1b}[0m \u{1b}[3md\u{1b}[0m\n\
             \u{1b}[2m```rust\u{1b}[0m\n\u{1b}[32mlet x = 1;\u{1b}[0m\n\u{1b}[2m```\u{1b}[0m\nend"
        );
    }

    #[test]
    fn what_only_looks_like_markdown_stays_as_typed() {
        for text in [
            "2 * 3 * 4",
            "snake_case_name",
            "a ** b",
            "it's 5*3*2",
            "####### seven",
            "#no",
            "open `code",
            "open **strong",
            "a ``b",
        ] {
            assert_eq!(all(text, Palette::plain()), text);
        }
    }

    #[test]
    fn within_a_code_block_nothing_is_a_marker() {
        let text = "```\n# not a heading\n- not a bullet **x**\n```\n";
        assert_eq!(all(text, Palette::plain()), text);
    }

    #[test]
    fn plain_words_are_not_held_back() {
        let mut markdown = Markdown::new(Palette::plain());
        assert_eq!(markdown.push("Hello"), "Hello");
        assert_eq!(markdown.push(" the `co"), " the ");
        assert_eq!(markdown.push("de` is"), "code is");
    }

    #[test]
    fn a_reply_cannot_command_the_terminal() {
        assert_eq!(all("a\u{1b}[2Jb `\u{1b}]0;t\u{7}`", Palette::plain()), "ab ``");
    }

    #[test]
    fn prose_is_broken_at_words_and_code_is_not() {
        let text = "1. one two three\n- four five six\n```\nlet a = one two three;\n```\nseven eight nine";
        let mut markdown = Markdown::wrapped(Palette::plain(), 12);
        let shown = [markdown.push(text), markdown.finish()].concat();
        assert_eq!(
            shown,
            "1. one two \n   three\n• four five \n  six\n```\nlet a = one two three;\n```\nseven eight \nnine"
        );
    }

    #[test]
    fn a_number_is_text_until_its_mark_has_come() {
        let mut markdown = Markdown::new(Palette::plain());
        assert_eq!(markdown.push("2026"), "2026");
        assert_eq!(markdown.push("\n1"), "\n");
        assert_eq!(markdown.push("."), "");
        assert_eq!(markdown.push(" x"), "1. x");
        assert_eq!(markdown.finish(), "");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn breaking_at_words_only_adds(text in "[-a #*`~1.\n]{0,60}", width in 4usize..20) {
            let mut markdown = Markdown::wrapped(Palette::plain(), width);
            let shown = [markdown.push(&text), markdown.finish()].concat();
            let solid = |text: &str| text.replace([' ', '\n'], "");
            prop_assert_eq!(solid(&shown), solid(&all(&text, Palette::plain())));
        }

        #[test]
        fn deltas_of_any_size_give_the_same_text(text in "[-a #*`~\n]{0,60}", at in 0usize..60) {
            let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let mut markdown = Markdown::new(coloured());
            let parts = [markdown.push(&text[..at]), markdown.push(&text[at..]), markdown.finish()].concat();
            let plain = |shown: &str| crate::safe::safe(shown);
            prop_assert_eq!(plain(&parts), plain(&all(&text, coloured())));
        }
    }
}
