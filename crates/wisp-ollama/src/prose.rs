//! Where in a text one stands, as far as a tag in it has to be judged: in code or in prose, at which border of a line.

/// Follows a text as it comes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prose {
    /// The line under way.
    line: String,
    /// The fence that opened a block of code.
    fence: Option<char>,
    /// Whether a single backtick is open; one may stay open over lines.
    tick: bool,
}

impl Prose {
    /// Takes the next text.
    pub(crate) fn push(&mut self, text: &str) {
        for char in text.chars() {
            self.line.push(char);
            if char == '\n' {
                let line = std::mem::take(&mut self.line);
                self.end_line(line.trim());
            }
        }
    }

    fn end_line(&mut self, line: &str) {
        let fence = ['`', '~'].into_iter().find(|mark| starts_fence(line, *mark));
        match (self.fence, fence) {
            (None, Some(mark)) => self.fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => self.fence = None,
            (Some(_), _) => {}
            // A span of code ends with its paragraph.
            (None, None) => self.tick = !line.is_empty() && self.tick ^ has_odd_ticks(line),
        }
    }

    /// Whether what comes next is code.
    pub(crate) fn is_code(&self) -> bool {
        self.fence.is_some() || (self.tick ^ has_odd_ticks(&self.line))
    }

    /// Whether a tag that comes next, with `next` behind it, ends what was before: it stands outside of code, at the
    /// beginning or at the end of a line, or directly between two sentences.
    pub(crate) fn ends_before(&self, next: Option<char>) -> bool {
        let at_start = self.line.trim().is_empty();
        let between =
            self.line.ends_with(['.', '!', '?', ':', '。', '…']) && next.is_some_and(char::is_alphanumeric);
        let last = next.is_some_and(|next| ['\n', '\r'].contains(&next));
        !self.is_code() && (at_start || between || (last && !self.ends_quoting()))
    }

    /// Whether such a tag is no text: outside of code it has a line of its own, or it is the reply's last.
    pub(crate) fn is_dropped_before(&self, next: Option<char>) -> bool {
        let alone = self.line.trim().is_empty() && next.is_none_or(|next| ['\n', '\r'].contains(&next));
        !self.is_code() && (alone || (next.is_none() && !self.ends_quoting()))
    }

    /// Whether the line goes on to quote: `the tag "`, `called: `.
    fn ends_quoting(&self) -> bool {
        let quoting = ['"', '\'', '(', '“', '«', '<', ':'];
        self.line.trim_end().ends_with(quoting)
    }
}

fn starts_fence(line: &str, mark: char) -> bool {
    line.chars().take_while(|char| *char == mark).count() >= 3
}

fn has_odd_ticks(line: &str) -> bool {
    line.matches('`').count() % 2 == 1
}
