//! How long is waited for what, in one place, so that a test need not wait as long as a person does.

use std::time::Duration;

/// Times of waiting. The defaults are a person's.
#[derive(Debug, Clone)]
pub struct Waits {
    /// How often a server that sends nothing is asked what it is doing.
    pub poll: Duration,
    /// How long a stream may be silent before that is said.
    pub silent: Duration,
    /// How long reading a prompt may take before it is said that another request may be before this one.
    pub long: Duration,
    /// Pauses between tries while a server is busy; their number is how often it is tried again.
    pub busy: Vec<Duration>,
    /// The pause before the one retry after a crash or a lost connection.
    pub pause: Duration,
    /// The longest wait for the first byte of a request that is known to hang on some servers.
    pub hang: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(2),
            silent: Duration::from_secs(3),
            long: Duration::from_secs(30),
            busy: [1, 2, 4, 8, 8].map(Duration::from_secs).to_vec(),
            pause: Duration::from_secs(1),
            hang: Duration::from_mins(3),
        }
    }
}
