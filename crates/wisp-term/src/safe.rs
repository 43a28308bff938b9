//! Text from elsewhere, made fit for a terminal.
//!
//! A model, a tool, a file name or a server may send bytes that set the window's title, write the clipboard, move
//! the cursor over what was read, or turn the reading direction. [`SafeText`] lets through letters, newlines, tabs
//! and, when asked, colour; a whole control sequence is dropped, and anything else that a terminal would act on or
//! a reader could not see is written out as an escape. It keeps its state between chunks, so a sequence cut in two
//! by the network is the same sequence. [`visible`] is for names and commands: nothing is dropped there.

mod json;
mod scripts;
mod visible;

use std::fmt;

pub use json::json;
pub use scripts::{Mixed, mixed};
use visible::{is_hidden, is_joiner, push_escape};
pub use visible::{visible, visible_bytes};

use crate::sgr::Colours;

/// The most characters a control sequence may have before it is taken for text: titles and clipboard writes are
/// longer than cursor moves, but nobody waits for the end of one for ever.
pub const MAX_SEQUENCE: usize = 4096;

/// A value that came from outside wisp. It has no `Display`: the ways to show it are [`Untrusted::line`] and
/// [`Untrusted::block`].
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Untrusted<T>(T);

impl<T> Untrusted<T> {
    /// Marks a value as coming from outside.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value as it came: to keep, to compare or to run, never to print.
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// Takes the value as it came out of its wrapper.
    pub fn into_exposed(self) -> T {
        self.0
    }
}

impl<T: AsRef<str>> Untrusted<T> {
    /// One line in which nothing is lost: see [`visible`].
    pub fn line(&self) -> String {
        visible(self.0.as_ref())
    }

    /// Text of several lines without colour: see [`SafeText`].
    pub fn block(&self) -> String {
        safe(self.0.as_ref())
    }
}

impl<T: AsRef<str>> fmt::Debug for Untrusted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted({:?})", visible(self.0.as_ref()))
    }
}

/// Makes a whole text safe, without colour.
pub fn safe(text: &str) -> String {
    whole(text, false)
}

/// Makes a whole text safe and keeps its colours, closed at the end of every line.
pub fn safe_coloured(text: &str) -> String {
    whole(text, true)
}

fn whole(text: &str, colour: bool) -> String {
    let mut filter = SafeText::new(colour);
    let mut shown = filter.push(text);
    shown.push_str(&filter.finish());
    shown
}

/// Where the filter stands within a control sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// After ESC, with any intermediate characters.
    Escape,
    /// After ESC `[`.
    Csi,
    /// Within an OSC, DCS, APC, PM or SOS, up to its terminator.
    Str,
    /// ESC within such a string: `\` ends it.
    StrEscape,
    /// After CR: a newline makes it harmless.
    Return,
}

/// The filter: text in chunks of any size in, text fit for a terminal out.
///
/// ```
/// use wisp_term::SafeText;
/// let mut filter = SafeText::new(false);
/// let shown = [filter.push("a\u{1b}]0;ti"), filter.push("tle\u{7}b\u{8}"), filter.finish()].concat();
/// assert_eq!(shown, "ab\\u{8}");
/// ```
#[derive(Debug, Clone)]
pub struct SafeText {
    state: State,
    /// The sequence so far, without its ESC.
    held: String,
    held_chars: usize,
    /// Up to three bytes of a character whose rest has not come.
    partial: Vec<u8>,
    /// The last character let through.
    last: char,
    colours: Colours,
}

impl SafeText {
    /// A filter that keeps colour (SGR) or drops it.
    pub fn new(colour: bool) -> Self {
        Self {
            state: State::Text,
            held: String::new(),
            held_chars: 0,
            partial: Vec::new(),
            last: '\n',
            colours: Colours::new(colour),
        }
    }

    /// Takes text and gives back what can be shown of it so far. At most [`MAX_SEQUENCE`] characters are held.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let taken = match self.plain(rest) {
                0 => {
                    self.take(c, &mut out);
                    c.len_utf8()
                }
                run => {
                    self.run(&rest[..run], &mut out);
                    run
                }
            };
            rest = &rest[taken..];
        }
        out
    }

    /// How many bytes of the text's beginning are printable ASCII outside a sequence: nearly all of any text, and let
    /// through at once, where each character by itself takes eighty instructions.
    fn plain(&self, text: &str) -> usize {
        if self.state != State::Text {
            return 0;
        }
        let ends = text.bytes().position(|byte| !(b' '..=b'~').contains(&byte));
        ends.unwrap_or(text.len())
    }

    /// Lets printable ASCII through.
    fn run(&mut self, text: &str, out: &mut String) {
        self.colours.reopen(out);
        out.push_str(text);
        self.last = text.chars().next_back().unwrap_or(self.last);
    }

    /// Takes bytes; what is not UTF-8 becomes U+FFFD, also when a character is cut between two chunks.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut out = String::with_capacity(all.len());
        for chunk in all.utf8_chunks() {
            out.push_str(&self.push(chunk.valid()));
            let invalid = chunk.invalid();
            let at_end = invalid.as_ptr_range().end == all.as_ptr_range().end;
            if at_end && is_unfinished(invalid) {
                self.partial = invalid.to_vec();
            } else if !invalid.is_empty() {
                out.push_str(&self.push("\u{fffd}"));
            }
        }
        out
    }

    /// Ends the text: what was held back of an unfinished sequence is shown escaped, and open colour is closed.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        if !std::mem::take(&mut self.partial).is_empty() {
            self.take('\u{fffd}', &mut out);
        }
        self.give_up(&mut out);
        self.colours.close(&mut out);
        self.colours.forget();
        out
    }

    fn take(&mut self, c: char, out: &mut String) {
        match self.state {
            State::Text => self.text(c, out),
            State::Escape => self.escape(c, out),
            State::Csi => self.csi(c, out),
            State::Str => self.string(c, out),
            State::StrEscape => self.string_escape(c, out),
            State::Return => {
                self.state = State::Text;
                if c != '\n' {
                    self.show("\\r", out);
                }
                self.text(c, out);
            }
        }
    }

    fn text(&mut self, c: char, out: &mut String) {
        match c {
            '\u{1b}' => self.state = State::Escape,
            '\r' => self.state = State::Return,
            '\n' => {
                self.colours.close(out);
                out.push('\n');
                self.last = c;
            }
            '\t' => self.let_through(c, out),
            c if c.is_control() || is_hidden(c) || (is_joiner(c) && !joins_after(self.last)) => {
                let mut escape = String::new();
                push_escape(&mut escape, c);
                self.show(&escape, out);
            }
            c => self.let_through(c, out),
        }
    }

    fn let_through(&mut self, c: char, out: &mut String) {
        self.colours.reopen(out);
        out.push(c);
        self.last = c;
    }

    fn show(&mut self, text: &str, out: &mut String) {
        self.colours.reopen(out);
        out.push_str(text);
        self.last = '}';
    }

    fn hold(&mut self, c: char) {
        self.held.push(c);
        self.held_chars += 1;
    }

    fn escape(&mut self, c: char, out: &mut String) {
        match c {
            '[' if self.held.is_empty() => self.enter(State::Csi, c),
            ']' | 'P' | '_' | '^' | 'X' if self.held.is_empty() => self.enter(State::Str, c),
            ' '..='/' if self.held_chars < 8 => self.hold(c),
            '0'..='~' => self.drop_held(),
            _ => self.not_a_sequence(c, out),
        }
    }

    fn enter(&mut self, state: State, introducer: char) {
        self.state = state;
        self.hold(introducer);
    }

    fn csi(&mut self, c: char, out: &mut String) {
        match c {
            ' '..='?' if self.held_chars < 128 => self.hold(c),
            '@'..='~' => {
                if c == 'm' {
                    self.colours.take(&self.held[1..], out);
                }
                self.drop_held();
            }
            _ => self.not_a_sequence(c, out),
        }
    }

    fn string(&mut self, c: char, out: &mut String) {
        match c {
            '\u{7}' | '\u{9c}' => self.drop_held(),
            '\u{1b}' => self.state = State::StrEscape,
            '\n' => self.not_a_sequence(c, out),
            _ if self.held_chars >= MAX_SEQUENCE => self.not_a_sequence(c, out),
            _ => self.hold(c),
        }
    }

    /// Within a string, ESC ends it: with `\` as it should, otherwise as the start of the next sequence.
    fn string_escape(&mut self, c: char, out: &mut String) {
        if c == '\\' {
            return self.drop_held();
        }
        self.state = State::Str;
        self.give_up(out);
        self.state = State::Escape;
        self.escape(c, out);
    }

    fn drop_held(&mut self) {
        self.held.clear();
        self.held_chars = 0;
        self.state = State::Text;
    }

    /// What was held turned out not to be a sequence: it is shown, and `c` is read afresh.
    fn not_a_sequence(&mut self, c: char, out: &mut String) {
        self.give_up(out);
        self.text(c, out);
    }

    fn give_up(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        self.held_chars = 0;
        match std::mem::replace(&mut self.state, State::Text) {
            State::Text => {}
            State::Return => self.show("\\r", out),
            state => {
                self.show("\\e", out);
                for c in held.chars() {
                    self.text(c, out);
                }
                if state == State::StrEscape {
                    self.show("\\e", out);
                }
            }
        }
    }
}

/// Whether a joiner after `c` has a use: after an emoji, or within a script whose letters join.
fn joins_after(c: char) -> bool {
    c >= '\u{590}'
}

/// Whether invalid bytes may be the start of a character whose rest is still to come.
fn is_unfinished(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_err_and(|e| e.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Case 97: every sequence of a hostile file, with the marker after each still readable.
    const HOSTILE: &[u8] = b"osc \x1b]52;c;dG91\x07 HERE-01\nst \x1b]0;t\x1b\\ HERE-02\nlink \x1b]8;;https://e.test/\x1b\\README\x1b]8;;\x1b\\ HERE-03\n\
        csi \x1b[2J\x1b[H\x1b[?1049h HERE-04\nreset \x1bc HERE-05\ndcs \x1bP+q544e\x1b\\\x1b_Ga\x1b\\\x1b^x\x1b\\ HERE-06\n\
        colour \x1b[31mred\x1b[0m HERE-07\nhide \x1b[8mhidden\x1b[28m HERE-08\ncharset \x1b(0lqqk \x0ex\x0f HERE-09\n\
        bell \x07 back\x08\x08 HERE-10\nreturn\revil HERE-11\nff \x0c vt \x0b del \x7f nul \x00 HERE-12\nc1 \x9b31m HERE-13\n\
        c1u \xc2\x9d52;c\xc2\x9c HERE-14\nbidi \xe2\x80\xae \xe2\x81\xa6x\xe2\x81\xa9 HERE-15\nzero to\xe2\x80\x8bu\xe2\x80\x8dch HERE-16\n\
        tags \xf3\xa0\x81\xb4 HERE-17\nopen \x1b]0;never closed HERE-18\nlast line";

    fn terminal_safe(shown: &str, colour: bool) -> bool {
        let mut rest = shown.to_owned();
        if colour {
            while let Some(start) = rest.find("\u{1b}[") {
                let len = rest[start + 2..].find(|c: char| !(c.is_ascii_digit() || c == ';' || c == ':'));
                let end = start + 2 + len.unwrap_or(0);
                if rest.as_bytes().get(end) != Some(&b'm') {
                    return false;
                }
                rest.replace_range(start..=end, "");
            }
        }
        !rest
            .chars()
            .any(|c| (c.is_control() && c != '\n' && c != '\t') || is_hidden(c))
    }

    #[test]
    fn nothing_of_a_hostile_file_reaches_the_terminal_and_every_line_can_be_read() {
        for colour in [false, true] {
            let mut filter = SafeText::new(colour);
            let shown = [filter.push_bytes(HOSTILE), filter.finish()].concat();
            assert!(terminal_safe(&shown, colour), "{shown:?}");
            for n in 1..=18 {
                assert!(shown.contains(&format!("HERE-{n:02}")), "{n} in {shown:?}");
            }
            assert!(shown.ends_with("last line"));
            assert!(shown.contains("hidden") && !shown.contains("\u{1b}[8m"));
        }
    }

    #[test]
    fn the_case_shown_exactly() {
        assert_eq!(safe("safe\u{8}\u{8}evil"), "safe\\u{8}\\u{8}evil");
        assert_eq!(safe("harmless\revil"), "harmless\\revil");
        assert_eq!(safe("a\r\nb\r"), "a\nb\\r");
        assert_eq!(safe("\u{1b}]0;never closed\nnext"), "\\e]0;never closed\nnext");
        assert_eq!(safe("\u{1b}[31mred\u{1b}[0m"), "red");
        assert_eq!(safe("x\u{1b}"), "x\\e");
    }

    #[test]
    fn colour_is_closed_at_the_end_of_a_line_and_taken_up_on_the_next() {
        assert_eq!(
            safe_coloured("\u{1b}[1;31mone\ntwo\u{1b}[0m three"),
            "\u{1b}[1;31mone\u{1b}[0m\n\u{1b}[1;31mtwo\u{1b}[0m three"
        );
        assert_eq!(safe_coloured("\u{1b}[32mgreen"), "\u{1b}[32mgreen\u{1b}[0m");
    }

    #[test]
    fn emoji_and_joining_scripts_keep_their_joiners() {
        let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        assert_eq!(safe(family), family);
        assert_eq!(safe("a\u{200d}b"), "a\\u{200d}b");
        assert_eq!(safe("\u{1f469}a\u{200d}b"), "\u{1f469}a\\u{200d}b");
    }

    #[test]
    fn a_string_of_4096_characters_is_dropped_and_of_4097_is_shown() {
        let osc = |n: usize| format!("\u{1b}]{}\u{7}end", "x".repeat(n - 1));
        assert_eq!(safe(&osc(MAX_SEQUENCE)), "end");
        assert!(safe(&osc(MAX_SEQUENCE + 1)).starts_with("\\e]xxx"));
    }

    #[test]
    fn names_that_differ_in_what_cannot_be_seen_look_different() {
        assert_eq!(visible("new\nline.txt"), "new\\nline.txt");
        assert_eq!(visible("esc\u{1b}]0;t\u{7}"), "esc\\e]0;t\\u{7}");
        assert_eq!(visible("rtl\u{202e}gnp.txt"), "rtl\\u{202e}gnp.txt");
        assert_eq!(visible("sed 's/\\n/x/'"), "sed 's/\\n/x/'");
        assert_ne!(visible("a\\n\n"), visible("a\n\\n"));
        assert_eq!(
            format!("{:?}", Untrusted::new("a\u{7}")),
            "Untrusted(\"a\\\\u{7}\")"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_bytes_cut_anywhere_are_safe_and_the_same(bytes in proptest::collection::vec(hostile_byte(), 0..200), at in 0usize..200, colour: bool) {
            let at = at.min(bytes.len());
            let mut one = SafeText::new(colour);
            let whole = [one.push_bytes(&bytes), one.finish()].concat();
            let mut two = SafeText::new(colour);
            let parts = [two.push_bytes(&bytes[..at]), two.push_bytes(&bytes[at..]), two.finish()].concat();
            prop_assert!(terminal_safe(&whole, colour), "{:?}", whole);
            prop_assert_eq!(whole, parts);
        }

        #[test]
        fn plain_text_at_once_is_what_it_is_character_by_character(bytes in proptest::collection::vec(mostly_plain(), 0..200), colour: bool) {
            let text = String::from_utf8_lossy(&bytes);
            let mut at_once = SafeText::new(colour);
            let whole = [at_once.push(&text), at_once.finish()].concat();
            let mut one = SafeText::new(colour);
            let mut characters = String::new();
            for c in text.chars() {
                one.take(c, &mut characters);
            }
            characters.push_str(&one.finish());
            prop_assert_eq!(whole, characters);
        }

        #[test]
        fn visible_is_one_line_without_controls(text: String) {
            let shown = visible(&text);
            prop_assert!(!shown.chars().any(|c| c.is_control() || is_hidden(c)));
        }
    }

    /// Text with a hostile byte in eight.
    fn mostly_plain() -> impl Strategy<Value = u8> {
        prop_oneof![7 => b' '..=b'~', 1 => hostile_byte()]
    }

    fn hostile_byte() -> impl Strategy<Value = u8> {
        prop_oneof![
            Just(0x1b_u8),
            proptest::sample::select(b"[]P_^X\\m;:0138(\x07\r\n\x9b\x9c\xc2\xe2\x80\xae".to_vec()),
            any::<u8>()
        ]
    }
}
