//! The markers within a line of Markdown: `` `code` ``, `**strong**`, `*emphasis*`.

use crate::palette::Palette;
use crate::theme::Role;

/// What could be painted of a line.
pub(crate) struct Painted {
    /// The text with its styles, markers removed.
    pub(crate) shown: String,
    /// How many bytes of the line that was.
    pub(crate) used: usize,
    /// The last character before the rest.
    pub(crate) last: char,
}

/// Markers, the longer first, with the role of what is between them.
const MARKERS: [(&str, Role); 3] = [("`", Role::Code), ("**", Role::Strong), ("*", Role::Emphasis)];

/// Paints a line up to the first marker whose end has not come; with `whole`, all of it. `before` is the character
/// that precedes `line`.
pub(crate) fn paint_ready(
    line: &str,
    (base, before): (Role, char),
    whole: bool,
    palette: &Palette,
) -> Painted {
    let mut painted = Painted {
        shown: String::new(),
        used: 0,
        last: before,
    };
    loop {
        let rest = &line[painted.used..];
        let plain = rest.find(['`', '*']).unwrap_or(rest.len());
        painted.take(&rest[..plain], base, palette);
        let rest = &rest[plain..];
        if rest.is_empty() {
            return painted;
        }
        match span(rest, painted.last, whole) {
            Span::Waits => return painted,
            Span::Plain(len) => painted.take(&rest[..len], base, palette),
            Span::Marked { inner, role, len } => {
                painted.shown.push_str(&palette.paint(role, inner));
                painted.last = '*';
                painted.used += len;
            }
        }
    }
}

impl Painted {
    fn take(&mut self, text: &str, base: Role, palette: &Palette) {
        self.shown.push_str(&palette.paint(base, text));
        self.used += text.len();
        self.last = text.chars().last().unwrap_or(self.last);
    }
}

/// What a marker character turned out to be.
enum Span<'a> {
    /// Its end may still come.
    Waits,
    /// These many bytes are text.
    Plain(usize),
    /// Marked text.
    Marked { inner: &'a str, role: Role, len: usize },
}

/// Reads the marker `rest` starts with.
fn span(rest: &str, before: char, whole: bool) -> Span<'_> {
    let run = rest.len() - rest.trim_start_matches(&rest[..1]).len();
    if run == rest.len() && !whole {
        return Span::Waits;
    }
    let marker = MARKERS
        .into_iter()
        .find(|(marker, _)| marker.len() == run && rest.starts_with(marker));
    let Some((marker, role)) = marker else {
        return Span::Plain(run);
    };
    let body = &rest[run..];
    let opens = match role {
        Role::Code => true,
        _ => !before.is_alphanumeric() && body.starts_with(|c: char| !c.is_whitespace()),
    };
    if !opens {
        return Span::Plain(run);
    }
    match end_of(body, marker, role) {
        // A run at the very end may still grow into another marker.
        Some(end) if end + run == body.len() && !whole => Span::Waits,
        Some(end) => Span::Marked {
            inner: &body[..end],
            role,
            len: run + end + run,
        },
        None if whole => Span::Plain(run),
        None => Span::Waits,
    }
}

/// Where the same run of markers closes: after something that is not a space.
fn end_of(body: &str, marker: &str, role: Role) -> Option<usize> {
    let mark = marker.chars().next()?;
    let mut at = 0;
    while let Some(found) = body[at..].find(mark) {
        let start = at + found;
        let run = body[start..].len() - body[start..].trim_start_matches(mark).len();
        let solid = role == Role::Code || !body[..start].ends_with(char::is_whitespace);
        if run == marker.len() && start > 0 && solid {
            return Some(start);
        }
        at = start + run;
    }
    None
}
