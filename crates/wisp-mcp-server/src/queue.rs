//! The line of callers before the one model: first come, first served, and each is told its place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// A line of callers.
#[derive(Clone)]
pub(crate) struct Queue(Arc<Line>);

struct Line {
    waiting: Mutex<(u64, VecDeque<u64>)>,
    moved: watch::Sender<()>,
}

/// A place in the line. Dropping it makes room for those behind.
pub(crate) struct Place {
    line: Arc<Line>,
    ticket: u64,
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Line {
            waiting: Mutex::default(),
            moved: watch::Sender::new(()),
        }))
    }

    /// Joins the line at its end.
    pub(crate) fn join(&self) -> Place {
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.0 += 1;
        let ticket = waiting.0;
        waiting.1.push_back(ticket);
        Place {
            line: Arc::clone(&self.0),
            ticket,
        }
    }
}

impl Place {
    /// How many are before it.
    pub(crate) fn before(&self) -> usize {
        let waiting = self.line.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting
            .1
            .iter()
            .position(|ticket| *ticket == self.ticket)
            .unwrap_or(0)
    }

    /// Waits until nobody is before it. `told` hears of every other place on the way.
    pub(crate) async fn turn(&self, mut told: impl FnMut(usize)) {
        let mut moved = self.line.moved.subscribe();
        let mut last = 0;
        loop {
            let before = self.before();
            if before == 0 {
                return;
            }
            if before != last {
                told(before);
                last = before;
            }
            // The sender is in the line, which this place keeps.
            let _ = moved.changed().await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waiting = self.line.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.1.retain(|ticket| *ticket != self.ticket);
        drop(waiting);
        self.line.moved.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn callers_come_in_the_order_they_joined_and_one_that_leaves_makes_room() {
        let queue = Queue::new();
        let (first, second, third) = (queue.join(), queue.join(), queue.join());
        assert_eq!((first.before(), second.before(), third.before()), (0, 1, 2));
        let waiting = tokio::spawn(async move {
            let mut places = Vec::new();
            third.turn(|before| places.push(before)).await;
            places
        });
        tokio::task::yield_now().await;
        drop(second);
        tokio::task::yield_now().await;
        drop(first);
        assert_eq!(waiting.await.unwrap(), [2, 1]);
    }
}
