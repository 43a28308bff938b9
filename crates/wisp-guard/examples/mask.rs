//! Masks standard input: every secret in it, and with `--personal` personal data too, becomes a marker.

use std::io::{self, Read, Write};

fn main() -> io::Result<()> {
    let personal = std::env::args().any(|argument| argument == "--personal");
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let masked = wisp_guard::secrets::Masker::new(personal).mask(&text);
    io::stdout().write_all(masked.as_bytes())
}
