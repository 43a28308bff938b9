//! What the environment says about the terminal: whether it breaks rows anew, and how it is told something while the
//! person is elsewhere ([`Notifier`]).

use wisp_host::Env;
pub use wisp_term::Notifier;

use crate::screen::Reflow;

/// Whether rows are broken anew when the width changes. xterm, the Linux console and GNU screen cut them.
pub fn reflow(env: &Env) -> Reflow {
    let term = env.get("TERM").unwrap_or_default();
    let cuts = env.get("XTERM_VERSION").is_some() || term == "linux" || term.starts_with("screen");
    if cuts && env.get("TMUX").is_none() {
        Reflow::Cuts
    } else {
        Reflow::Breaks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn terminals_that_cut_rows_are_known() {
        assert_eq!(reflow(&env(&[("TERM", "xterm-256color")])), Reflow::Breaks);
        assert_eq!(reflow(&env(&[("XTERM_VERSION", "XTerm(390)")])), Reflow::Cuts);
        assert_eq!(
            reflow(&env(&[("TERM", "screen-256color"), ("TMUX", "x")])),
            Reflow::Breaks
        );
        assert_eq!(reflow(&env(&[("TERM", "screen")])), Reflow::Cuts);
    }
}
