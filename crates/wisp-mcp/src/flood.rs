//! The ear on a server's output: one that talks without end is cut off, so that it costs neither the machine nor the
//! person's patience.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, ReadBuf};

/// The span over which is counted.
const SPAN: Duration = Duration::from_secs(10);
/// The most lines in a span: several times what a chatty server says.
const LINES: u64 = 20_000;
/// The most bytes in a span: four of the largest messages.
const BYTES: u64 = 64 << 20;

/// What was cut off, as those who look at the server see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flooded(Arc<AtomicBool>);

impl Flooded {
    pub(crate) fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A reader that ends when too much comes in too short a time.
pub(crate) struct Bounded<R> {
    from: R,
    flooded: Flooded,
    began: Instant,
    lines: u64,
    bytes: u64,
}

impl<R> Bounded<R> {
    pub(crate) fn new(from: R, flooded: Flooded) -> Self {
        Self {
            from,
            flooded,
            began: Instant::now(),
            lines: 0,
            bytes: 0,
        }
    }

    /// Counts what came. Whether it is too much.
    fn count(&mut self, came: &[u8], now: Instant) -> bool {
        if now.duration_since(self.began) > SPAN {
            (self.began, self.lines, self.bytes) = (now, 0, 0);
        }
        let lines = memchr::memchr_iter(b'\n', came).count();
        self.lines += lines as u64;
        self.bytes += came.len() as u64;
        self.lines > LINES || self.bytes > BYTES
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.flooded.is() {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.from).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = &polled
            && self.count(&buffer.filled()[before..], Instant::now())
        {
            self.flooded.0.store(true, Ordering::Relaxed);
            buffer.set_filled(before);
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn what_stays_within_bounds_passes_and_a_flood_ends() {
        for (lines, flooded) in [(LINES, false), (LINES + 1, true)] {
            let said = "\n".repeat(usize::try_from(lines).unwrap());
            let seen = Flooded::default();
            let mut heard = Vec::new();
            let mut ear = Bounded::new(said.as_bytes(), seen.clone());
            ear.read_to_end(&mut heard).await.unwrap();
            assert_eq!(
                (heard.len() == said.len(), seen.is()),
                (!flooded, flooded),
                "{lines}"
            );
        }
    }

    #[test]
    fn the_count_begins_anew_with_each_span() {
        let mut ear = Bounded::new(&b""[..], Flooded::default());
        let most = vec![b'\n'; usize::try_from(LINES).unwrap()];
        assert!(!ear.count(&most, ear.began + SPAN));
        assert!(!ear.count(&most, ear.began + SPAN + Duration::from_millis(1)));
        assert!(ear.count(b"\n", ear.began));
    }
}
