//! Judges lines for people and scripts: each line of standard input, with `\n` for newlines, becomes its level, a tab
//! and the reasons.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let verdict = wisp_guard::risk(&line?.replace("\\n", "\n"));
        let reasons = wisp_term::visible(&verdict.reasons.join("; "));
        writeln!(out, "{}\t{reasons}", verdict.level.word())?;
    }
    out.flush()
}
