//! Texts of a server on their way to a model or a person: one line, without what moves a cursor or hides, and cut.

/// A text as one line of at most `most` characters: runs of white space and control characters become a blank,
/// characters without a shape of their own (direction marks, joiners, tags) go. One that was cut ends in `…`.
pub(crate) fn line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let (mut chars, mut blank) = (0, false);
    // A server may send megabytes: no more is read than can be shown.
    for c in text.chars().take(most.saturating_mul(8)) {
        if c.is_whitespace() || c.is_control() {
            blank = chars > 0;
            continue;
        }
        if is_hidden(c) {
            continue;
        }
        let room = 1 + usize::from(blank);
        if chars + room > most {
            out.push('…');
            return out;
        }
        if std::mem::take(&mut blank) {
            out.push(' ');
        }
        out.push(c);
        chars += room;
    }
    out
}

/// Characters that show nothing or turn the direction of others.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_one_clean_line() {
        assert_eq!(line("  a\n\tb\u{1b}[31m c\u{202e}\u{200b} \n", 80), "a b [31m c");
        assert_eq!(line("", 5), "");
    }

    #[test]
    fn the_bound_is_exact() {
        assert_eq!(line("éééé", 4), "éééé");
        assert_eq!(line("ééééé", 4), "éééé…");
        assert_eq!(line("ab cd", 4), "ab c…");
        assert_eq!(line("ab cd", 3), "ab…");
        assert_eq!(line("ab   ", 2), "ab");
        assert_eq!(line(&"x ".repeat(10_000_000), 3), "x x…");
    }
}
