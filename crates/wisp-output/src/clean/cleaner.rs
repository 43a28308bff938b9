//! One line through a small terminal: escape sequences are read and dropped, carriage returns and backspaces
//! overwrite, and what is left when the line ends is what a person would have seen.

use super::View;
use super::glyph;

/// The longest string sequence (a title, an image) that is dropped; a longer one is no sequence but text.
const STRING_LIMIT: usize = 1 << 20;

/// The longest CSI sequence that is dropped.
const CSI_LIMIT: usize = 256;

/// The most of colour sequences that a line written again begins with, in bytes; the latest ones count.
const PEN_LIMIT: usize = 256;

/// Where in an escape sequence the line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate character, as in a charset switch.
    Intermediate,
    /// In `ESC [ …`, up to its final letter.
    Csi,
    /// In OSC, DCS, APC, PM or SOS, up to BEL or ST.
    String,
    /// After ESC inside one of those.
    StringEscape,
}

/// Cleans one line that may arrive in pieces. Memory is the line's last state, not its bytes.
#[derive(Debug)]
pub struct Cleaner {
    view: View,
    state: State,
    /// The sequence being read: dropped when it ends, shown when it never does.
    sequence: String,
    out: String,
    /// The colour sequences in force: what is written next, also over the line, is written in them.
    pen: String,
    /// Where the last colour sequence in `out` ends: backspaces stop there.
    colour_end: usize,
    colour_on: bool,
    /// A carriage return was read: the next character shown starts the line again.
    returned: bool,
    /// Backspaces read: the next character shown replaces this many.
    back: usize,
    /// The first bytes of a character whose rest is still to come.
    partial: Vec<u8>,
}

impl Cleaner {
    /// A cleaner at the start of a line.
    pub fn new(view: View) -> Self {
        Self {
            view,
            state: State::Text,
            sequence: String::new(),
            out: String::new(),
            pen: String::new(),
            colour_end: 0,
            colour_on: false,
            returned: false,
            back: 0,
            partial: Vec::new(),
        }
    }

    /// A cleaner for a line of which `raw` bytes are at hand.
    pub(super) fn with_room(view: View, raw: usize) -> Self {
        let mut cleaner = Self::new(view);
        cleaner.out.reserve(raw);
        cleaner
    }

    /// How many bytes of text the line has in its present state.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether the line shows nothing yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the next bytes of the line, which hold no newline.
    pub fn feed(&mut self, raw: &[u8]) {
        if self.partial.is_empty() {
            return self.feed_whole(raw);
        }
        let mut joined = std::mem::take(&mut self.partial);
        joined.extend_from_slice(raw);
        self.feed_whole(&joined);
    }

    /// Reads bytes that start at a character, holding back a character cut off at their end.
    fn feed_whole(&mut self, raw: &[u8]) {
        let cut = incomplete_suffix(raw);
        let (whole, rest) = raw.split_at(raw.len() - cut);
        self.partial.extend_from_slice(rest);
        self.decode(whole);
    }

    fn decode(&mut self, raw: &[u8]) {
        for chunk in raw.utf8_chunks() {
            self.read(chunk.valid());
            if !chunk.invalid().is_empty() {
                self.step('\u{fffd}');
            }
        }
    }

    /// Reads text: at once where it has nothing to obey but carriage returns.
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(ch) = rest.chars().next() {
            let run = if self.state == State::Text {
                glyph::plain_run(rest, b'\r')
            } else {
                0
            };
            if run > 0 {
                self.read_frames(&rest[..run]);
                rest = &rest[run..];
            } else {
                self.step(ch);
                rest = &rest[ch.len_utf8()..];
            }
        }
    }

    /// Reads plain frames parted by carriage returns, of which only the last with anything in it is seen.
    fn read_frames(&mut self, text: &str) {
        let body = text.trim_end_matches('\r');
        let last = body.rfind('\r').map_or(0, |at| at + 1);
        self.returned |= last > 0;
        let mut frame = body[last..].chars();
        if self.returned || self.back > 0 {
            frame.by_ref().take(1).for_each(|ch| self.put(ch));
        }
        self.out.push_str(frame.as_str());
        self.returned |= body.len() < text.len();
    }

    /// Ends the line and returns its last state, ready for the next line.
    pub fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.partial);
        self.decode(&rest);
        if matches!(self.state, State::String | State::StringEscape) {
            self.show_sequence();
        }
        if self.colour_on {
            self.out.push_str("\x1b[0m");
        }
        let done = std::mem::take(&mut self.out);
        self.pen.clear();
        self.restart();
        self.sequence.clear();
        (self.state, self.colour_on) = (State::Text, false);
        done
    }

    /// Takes what stands so far out of a line too long to be held; what follows no longer overwrites it.
    pub fn take_piece(&mut self) -> String {
        (self.colour_end, self.back, self.returned) = (0, 0, false);
        std::mem::take(&mut self.out)
    }

    fn step(&mut self, ch: char) {
        match self.state {
            State::Text => self.text(ch),
            State::Escape => self.escape(ch),
            State::Intermediate => self.intermediate(ch),
            State::Csi => self.csi(ch),
            State::String => self.string(ch),
            State::StringEscape => self.string_escape(ch),
        }
    }

    fn text(&mut self, ch: char) {
        match ch {
            '\x1b' => self.state = State::Escape,
            '\u{9b}' => self.state = State::Csi,
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => self.state = State::String,
            '\r' => self.returned = true,
            '\u{8}' => self.back += 1,
            _ if glyph::is_shown(ch) => self.put(ch),
            _ => {}
        }
    }

    /// Shows a character, overwriting what carriage returns and backspaces went back over.
    fn put(&mut self, ch: char) {
        if self.returned {
            self.restart();
        }
        while self.back > 0 {
            self.back -= 1;
            if self.out.len() > self.colour_end {
                self.out.pop();
            }
        }
        glyph::show(ch, &mut self.out);
    }

    /// Forgets the line's text: it is being written again, in the colour in force.
    fn restart(&mut self) {
        self.out.clear();
        self.out.push_str(&self.pen);
        (self.colour_end, self.back, self.returned) = (self.out.len(), 0, false);
    }

    fn escape(&mut self, ch: char) {
        self.state = match ch {
            '[' => State::Csi,
            ']' | 'P' | 'X' | '^' | '_' => State::String,
            ' '..='/' => State::Intermediate,
            '0'..='~' => State::Text,
            _ => return self.again(ch),
        };
    }

    fn intermediate(&mut self, ch: char) {
        match ch {
            ' '..='/' => {}
            '0'..='~' => self.state = State::Text,
            _ => self.again(ch),
        }
    }

    /// Leaves a broken sequence; `ch` is read as text.
    fn again(&mut self, ch: char) {
        self.state = State::Text;
        self.sequence.clear();
        self.text(ch);
    }

    fn csi(&mut self, ch: char) {
        match ch {
            ' '..='?' if self.sequence.len() < CSI_LIMIT => self.sequence.push(ch),
            '@'..='~' => {
                let parameters = std::mem::take(&mut self.sequence);
                self.state = State::Text;
                self.control(ch, &parameters);
            }
            _ => self.again(ch),
        }
    }

    /// Obeys the sequences that change a line: colour, erasing, going back.
    fn control(&mut self, letter: char, parameters: &str) {
        match (letter, parameters) {
            ('m', _) if self.view == View::Colour => self.colour(parameters),
            ('K', "2") => self.restart(),
            ('K' | 'J', "" | "0") if self.returned => self.restart(),
            ('G', "" | "0" | "1") => self.returned = true,
            ('D', _) => self.back += parameters.parse().unwrap_or(1).min(self.out.len()),
            _ => {}
        }
    }

    fn colour(&mut self, parameters: &str) {
        if !parameters
            .bytes()
            .all(|b| b.is_ascii_digit() || b == b';' || b == b':')
        {
            return;
        }
        self.colour_on = !parameters.bytes().all(|b| b == b'0' || b == b';');
        let sequence = format!("\x1b[{parameters}m");
        if !self.colour_on || self.pen.len() + sequence.len() > PEN_LIMIT {
            self.pen.clear();
        }
        if self.colour_on {
            self.pen.push_str(&sequence);
        }
        if !self.returned {
            self.out.push_str(&sequence);
            self.colour_end = self.out.len();
        }
    }

    fn string(&mut self, ch: char) {
        match ch {
            '\x07' | '\u{9c}' => self.drop_sequence(),
            '\x1b' => self.state = State::StringEscape,
            _ if ch < ' ' || self.sequence.len() >= STRING_LIMIT => {
                self.show_sequence();
                self.text(ch);
            }
            _ => self.sequence.push(ch),
        }
    }

    fn string_escape(&mut self, ch: char) {
        if ch == '\\' {
            return self.drop_sequence();
        }
        self.show_sequence();
        self.escape(ch);
    }

    fn drop_sequence(&mut self) {
        self.sequence.clear();
        self.state = State::Text;
    }

    /// A string sequence that never ended was no sequence: a person has to be able to read what it held.
    fn show_sequence(&mut self) {
        self.state = State::Text;
        let held = std::mem::take(&mut self.sequence);
        for ch in held.chars() {
            self.text(ch);
        }
    }
}

/// How many bytes at the end of `raw` are the start of a character that may still be completed.
pub(crate) fn incomplete_suffix(raw: &[u8]) -> usize {
    let tail = &raw[raw.len().saturating_sub(3)..];
    let Some(last) = tail.utf8_chunks().last() else {
        return 0;
    };
    let cut = last.invalid();
    let lead_is_open = std::str::from_utf8(cut).is_err_and(|error| error.error_len().is_none());
    if lead_is_open { cut.len() } else { 0 }
}
