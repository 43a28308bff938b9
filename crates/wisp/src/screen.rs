//! The two streams a command prints on, and the environment they were chosen by.

use wisp_host::Env;
use wisp_term::{ColourChoice, Printer};

/// stdout, stderr, and what decided their looks.
pub struct Screen {
    /// Replies and what was asked for.
    pub out: Printer,
    /// Everything else.
    pub err: Printer,
    /// The environment wisp was started with.
    pub env: Env,
}

impl Screen {
    /// The process's own streams in a theme.
    pub fn new(env: Env, theme: &str) -> Self {
        let out = Printer::stdout(&env, theme, ColourChoice::Auto);
        let err = Printer::stderr(&env, theme, ColourChoice::Auto);
        Self { out, err, env }
    }

    /// Whether a line can be redrawn in place.
    pub fn animated(&self) -> bool {
        self.err.surface().terminal && self.env.get("TERM") != Some("dumb")
    }
}
