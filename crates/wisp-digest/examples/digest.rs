//! Prints the digest of a file: `cargo run -p wisp-digest --example digest -- FILE [EXIT] [BYTES]`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use wisp_digest::{Digester, Options, View};

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let bytes = std::fs::read(words.next().unwrap_or_default())?;
    let exit = words.next().and_then(|word| word.parse().ok());
    let most = words.next().and_then(|word| word.parse().ok()).unwrap_or(8_192);
    let mut digester = Digester::new(Options { exit });
    digester.push(&bytes);
    print!(
        "{}",
        digester.finish().render(
            most,
            if words.next().as_deref() == Some("overview") {
                View::Overview
            } else {
                View::Notable
            }
        )
    );
    Ok(())
}
