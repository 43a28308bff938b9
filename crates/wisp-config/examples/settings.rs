//! Writes out what the table of settings generates: `--example settings -- example > config.example.json`, or
//! `-- table` for the documentation's table.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let text = match std::env::args().nth(1).as_deref() {
        Some("table") => wisp_config::docs::markdown(),
        _ => wisp_config::docs::example(),
    };
    std::io::stdout().write_all(text.as_bytes())
}
