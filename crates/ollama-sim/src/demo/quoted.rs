//! Texts in quotes, and what stands around them.

/// The quotes understood: opening, closing.
const QUOTES: [(char, char); 4] = [('`', '`'), ('"', '"'), ('“', '”'), ('\'', '\'')];

/// Takes a text off the front: a quoted one, or everything before `until` (all of it when `until` is empty).
/// Gives the text and what follows it, `until` included.
pub(super) fn take<'t>(text: &'t str, until: &str) -> Option<(&'t str, &'t str)> {
    let text = text.trim_start();
    let first = text.chars().next()?;
    if let Some((_, close)) = QUOTES.iter().find(|(open, _)| *open == first) {
        let inside = &text[first.len_utf8()..];
        if let Some(end) = closing(inside, *close, until) {
            return Some((&inside[..end], &inside[end + close.len_utf8()..]));
        }
    }
    if until.is_empty() {
        return Some((text.trim_end(), ""));
    }
    let at = text.to_ascii_lowercase().rfind(until)?;
    Some((text[..at].trim_end(), &text[at..]))
}

/// The quote that closes: the first after which the text ends or `until` follows.
fn closing(inside: &str, close: char, until: &str) -> Option<usize> {
    let fits = |at: &usize| {
        let after = inside[at + close.len_utf8()..].to_ascii_lowercase();
        until.is_empty() || after.starts_with(until)
    };
    inside.match_indices(close).map(|(at, _)| at).find(fits)
}

/// Every text between backquotes.
pub(super) fn backquoted(text: &str) -> Vec<&str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|t| !t.trim().is_empty())
        .collect()
}

/// A file's name as a person writes it: without quotes and without the sentence's full stop.
pub(super) fn file_name(text: &str) -> &str {
    let text = text.trim();
    let text = QUOTES
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.split(*close).next())
        .unwrap_or(text);
    without_stop(text)
}

/// Without a final `.`, `?` or `!` that ends a sentence rather than a name.
pub(super) fn without_stop(text: &str) -> &str {
    let text = text.trim_end();
    let stripped = text.trim_end_matches(['.', '?', '!']);
    let ends_in_word = stripped
        .chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || "\"'`)".contains(c));
    if ends_in_word && text.len() - stripped.len() == 1 {
        stripped
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_texts_end_where_the_sentence_goes_on() {
        assert_eq!(take("\"a\" with \"b\"", " with "), Some(("a", " with \"b\"")));
        assert_eq!(take("a b with c", " with "), Some(("a b", " with c")));
        assert_eq!(take("\"say \"x\"\" to f", " to "), Some(("say \"x\"", " to f")));
        assert_eq!(take("", ""), None);
    }

    #[test]
    fn full_stops_of_sentences_go_and_those_of_names_stay() {
        assert_eq!(without_stop("cargo test."), "cargo test");
        assert_eq!(without_stop("ls ."), "ls .");
        assert_eq!(without_stop("ls .."), "ls ..");
        assert_eq!(file_name("`src/main.rs`."), "src/main.rs");
        assert_eq!(file_name("notes.txt."), "notes.txt");
    }
}
