//! Stopping a command: asked first, made to on the second request.

use tokio_util::sync::CancellationToken;

/// A handle that stops a running command. The first [`Cancel::press`] asks the command to end (SIGTERM, and SIGKILL
/// two seconds later); the second kills it now. Clones are the same handle.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    stop: CancellationToken,
    kill: CancellationToken,
}

impl Cancel {
    /// A handle that nobody has pressed.
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle whose first press is this token's cancellation, for example that of a turn.
    pub fn on(stop: CancellationToken) -> Self {
        let kill = CancellationToken::new();
        Self { stop, kill }
    }

    /// Stops; pressed again, kills.
    pub fn press(&self) {
        if self.stop.is_cancelled() {
            self.kill.cancel();
        }
        self.stop.cancel();
    }

    /// Whether it was pressed at all.
    pub fn is_pressed(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Waits for the first press.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Waits for the second press.
    pub(crate) async fn killed(&self) {
        self.kill.cancelled().await;
    }
}

impl From<CancellationToken> for Cancel {
    fn from(stop: CancellationToken) -> Self {
        Self::on(stop)
    }
}
