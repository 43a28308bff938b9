//! Judges lines for people and scripts, as they would be judged in the current directory with no sandbox: each line of standard input,
//! with `\n` for newlines, becomes its level, a tab and the reasons.

use std::io::{self, BufRead, Write};

use wisp_guard::{Confinement, Surroundings, risk_in};

fn main() -> io::Result<()> {
    let around = Surroundings::look(&std::env::current_dir()?);
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?.replace("\\n", "\n");
        let verdict = risk_in(&line, &around, Confinement::default());
        let reasons = wisp_term::visible(&verdict.reasons.join("; "));
        writeln!(out, "{}\t{reasons}", verdict.level.word())?;
    }
    out.flush()
}
