//! Whatever bytes come, in whatever pieces, what is printed holds no control sequence but colour.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wisp_term::SafeText;

fuzz_target!(|input: (u8, bool, &[u8])| {
    let (cut, colour, bytes) = input;
    let mut filter = SafeText::new(colour);
    let mut text = String::new();
    for chunk in bytes.chunks(usize::from(cut).max(1)) {
        text.push_str(&filter.push_bytes(chunk));
    }
    text.push_str(&filter.finish());
    assert!(colour || !text.contains('\u{1b}'));
    assert!(
        !text
            .chars()
            .any(|c| ('\u{80}'..='\u{9f}').contains(&c) || c == '\u{7}' || c == '\u{0}')
    );
});
