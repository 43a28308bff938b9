//! Words, quotes, numbers and ids of a request.

/// The text without the quotes or backticks around it, and without space.
pub(super) fn unquoted(text: &str) -> &str {
    let mut text = text.trim();
    for quote in ['"', '\'', '`'] {
        let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        text = inner
            .filter(|inner| !inner.contains(quote))
            .map_or(text, str::trim);
    }
    text
}

/// The first word and the rest, which a space, a colon or an equals sign parts.
pub(super) fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text
        .find(|ch: char| ch.is_whitespace() || ch == ':' || ch == '=')
        .unwrap_or(text.len());
    let rest = text[end..].trim_start_matches(|ch: char| ch.is_whitespace() || ch == ':' || ch == '=');
    (&text[..end], rest)
}

/// A word cut to what an answer can quote.
pub(super) fn shortened(word: &str) -> &str {
    &word[..word.floor_char_boundary(40)]
}

/// A whole number, with or without thousands separators and a `#` before it.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = text.trim().trim_start_matches('#').replace([',', '_'], "");
    digits.parse().ok()
}

/// An output's id: 4 to 32 hex digits, as lower-case.
pub(super) fn id(text: &str) -> Option<String> {
    let id = text
        .trim_matches(|ch: char| "\"'`[]<>#".contains(ch))
        .to_ascii_lowercase();
    let right = (4..=32).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    right.then_some(id)
}

/// `A-B` in any of its spellings, or one number for both ends.
pub(super) fn range(text: &str) -> Option<(u64, u64)> {
    let text = text.trim();
    if let Some(one) = number(text) {
        return Some((one, one));
    }
    let separators = ["..", "–", "—", "-", " to ", " through ", ":"];
    let (first, last) = separators
        .iter()
        .find_map(|separator| text.split_once(separator))?;
    Some((number(first)?, number(last)?))
}
