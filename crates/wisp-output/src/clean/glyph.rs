//! Which characters stand for themselves, and how the others are shown.

/// Whether `text`, one line, is its own clean view: no control character but tabs, nothing invisible.
pub(super) fn is_plain(text: &str) -> bool {
    is_plain_but_for(text, b'\t')
}

/// The same, with one more control character allowed.
pub(super) fn is_plain_but_for(text: &str, allowed: u8) -> bool {
    // Bits rather than branches: this runs over every byte that is read, and the compiler makes it wide.
    let (mut control, mut high) = (0, 0);
    for byte in text.as_bytes() {
        control |= u8::from((*byte < b' ' && *byte != b'\t' && *byte != allowed) || *byte == 0x7f);
        high |= byte & 0x80;
    }
    control == 0 && (high == 0 || text.chars().all(|ch| !is_c1(ch) && !is_invisible(ch)))
}

/// How many bytes `text` has before the first character that is not plain; `allowed` is.
pub(super) fn plain_run(text: &str, allowed: u8) -> usize {
    let odd = |byte: u8| (byte < b' ' && byte != b'\t' && byte != allowed) || byte >= 0x7f;
    let ascii = text.bytes().position(odd).unwrap_or(text.len());
    let rest = &text[ascii..];
    match rest.bytes().next() {
        Some(byte) if byte >= 0x80 => {
            let hides = |ch: char| is_c1(ch) || is_invisible(ch) || ch.is_ascii();
            let wide = rest.find(hides).unwrap_or(rest.len());
            ascii + wide
        }
        _ => ascii,
    }
}

/// The second range of control characters, which terminals obey as they do the first.
pub(super) fn is_c1(ch: char) -> bool {
    ('\u{80}'..='\u{9f}').contains(&ch)
}

/// Characters that turn or hide the text around them: bidirectional controls and the tag block.
fn is_invisible(ch: char) -> bool {
    matches!(ch, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// Writes `ch` as the view shows it: itself, a visible name for what hides, nothing for a control character.
pub(super) fn show(ch: char, out: &mut String) {
    if ch == '\0' {
        out.push('␀');
    } else if is_invisible(ch) {
        use std::fmt::Write;
        write!(out, "<U+{:04X}>", u32::from(ch)).expect("writing to a string does not fail");
    } else if ch == '\t' || !(ch < ' ' || ch == '\u{7f}' || is_c1(ch)) {
        out.push(ch);
    }
}

/// Whether [`show`] writes anything for `ch`.
pub(super) fn is_shown(ch: char) -> bool {
    ch == '\0' || ch == '\t' || !(ch < ' ' || ch == '\u{7f}' || is_c1(ch))
}
