//! What is being done while the person waits, and how long it has taken.

use std::time::Duration;

use wisp_agent::protocol::Activity;

/// A frame of the thinking bubble.
const BUBBLE_FRAME: Duration = Duration::from_millis(280);
/// The bubble's frames; after the last, it goes on from the fourth.
const BUBBLE: [&str; 7] = [
    ".",
    ".o",
    ".oO",
    ".oO( thinking )",
    ".oO( thinking. )",
    ".oO( thinking.. )",
    ".oO( thinking... )",
];
/// Where the bubble's loop begins.
const BUBBLE_LOOP: usize = 3;
/// What is being done.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// Whether a message was sent whose answer is not over.
    pub busy: bool,
    activity: Activity,
    /// When the activity was said.
    since: Duration,
    /// When the turn or the typed command began.
    began: Duration,
    /// The last lines of what runs.
    printed: Vec<String>,
    /// When the thinking that is going on began, and how many characters of it have come.
    thinking: Option<(Duration, u64)>,
}

impl Work {
    /// A message was sent.
    pub fn begin(&mut self, now: Duration) {
        *self = Self {
            busy: true,
            since: now,
            began: now,
            ..Self::default()
        };
    }

    /// Input is wanted again.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    /// Takes what the engine says it is doing.
    pub fn now_doing(&mut self, activity: Activity, now: Duration) {
        if activity.doing != self.activity.doing || activity.thinking != self.activity.thinking {
            self.since = now;
            self.printed.clear();
        }
        let seconds = Duration::try_from_secs_f64(activity.turn_seconds).unwrap_or_default();
        if !seconds.is_zero() {
            self.began = now.saturating_sub(seconds);
        }
        self.busy |= activity.doing.is_some();
        self.activity = activity;
    }

    /// Takes the last lines of what runs.
    pub fn printed(&mut self, lines: Vec<String>) {
        self.printed = lines;
    }

    /// The last lines of what runs.
    pub fn last_printed(&self) -> &[String] {
        &self.printed
    }

    /// Whether the model is thinking.
    pub fn is_thinking(&self) -> bool {
        self.busy && self.activity.thinking
    }

    /// Whether it is being stopped.
    pub fn is_stopping(&self) -> bool {
        self.activity.stopping
    }

    /// Marks it as being stopped, before the engine says so.
    pub fn stop(&mut self) {
        self.activity.stopping = true;
    }

    /// Takes more of the model's thinking.
    pub fn thought(&mut self, text: &str, now: Duration) {
        let (_, characters) = self.thinking.get_or_insert((now, 0));
        *characters += text.chars().count() as u64;
    }

    /// Ends the thinking, if there was some: how long it took and how many characters it had.
    pub fn thinking_over(&mut self, now: Duration) -> Option<(Duration, u64)> {
        let (since, characters) = self.thinking.take()?;
        Some((now.saturating_sub(since), characters))
    }

    /// How long it has taken.
    pub fn elapsed(&self, now: Duration) -> Duration {
        now.saturating_sub(self.began)
    }

    /// What is said while it lasts: `… 12 s · running git status (8 s)`, or the thinking bubble.
    pub fn text(&self, now: Duration) -> String {
        let seconds = self.elapsed(now).as_secs();
        let spent = now.saturating_sub(self.since);
        if self.activity.thinking && !self.activity.stopping {
            return format!("{seconds} s · {}", bubble(spent));
        }
        let doing = wisp_term::visible(self.activity.doing.as_deref().unwrap_or("working"));
        let verb = if self.activity.stopping && !doing.starts_with("stopping") {
            "stopping: "
        } else {
            ""
        };
        match spent.as_secs() {
            own if own > 0 && own < seconds => format!("… {seconds} s · {verb}{doing} ({own} s)"),
            _ => format!("… {seconds} s · {verb}{doing}"),
        }
    }

    /// When the text changes next; none while nothing is being done.
    pub fn next_change(&self, now: Duration) -> Option<Duration> {
        if !self.busy {
            return None;
        }
        let second = Duration::from_secs(1);
        let turn = next_multiple(self.began, second, now);
        let own = next_multiple(self.since, second, now);
        let frame = self
            .activity
            .thinking
            .then(|| next_multiple(self.since, BUBBLE_FRAME, now));
        [Some(turn), Some(own), frame].into_iter().flatten().min()
    }
}

/// The first moment after `now` that is a whole number of `step`s after `start`.
fn next_multiple(start: Duration, step: Duration, now: Duration) -> Duration {
    let passed = now.saturating_sub(start).as_nanos() / step.as_nanos();
    let steps = u32::try_from(passed + 1).unwrap_or(u32::MAX);
    start + step * steps
}

fn bubble(spent: Duration) -> &'static str {
    let frame = usize::try_from(spent.as_millis() / BUBBLE_FRAME.as_millis()).unwrap_or(usize::MAX);
    let looped = BUBBLE_LOOP + frame.saturating_sub(BUBBLE_LOOP) % (BUBBLE.len() - BUBBLE_LOOP);
    BUBBLE[frame.min(looped)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doing(text: &str) -> Activity {
        Activity {
            doing: Some(text.into()),
            ..Activity::default()
        }
    }

    #[test]
    fn the_turn_and_the_activity_are_timed_apart() {
        let seconds = Duration::from_secs;
        let mut work = Work::default();
        work.begin(seconds(100));
        work.now_doing(doing("waiting for the model"), seconds(100));
        assert_eq!(work.text(seconds(103)), "… 3 s · waiting for the model");
        work.now_doing(
            Activity {
                turn_seconds: 4.0,
                ..doing("running git status")
            },
            seconds(104),
        );
        assert_eq!(work.text(seconds(112)), "… 12 s · running git status (8 s)");
    }

    #[test]
    fn it_wakes_at_each_second_and_sleeps_when_nothing_is_done() {
        let mut work = Work::default();
        assert_eq!(work.next_change(Duration::from_secs(5)), None);
        work.begin(Duration::from_millis(5200));
        assert_eq!(
            work.next_change(Duration::from_millis(5200)),
            Some(Duration::from_millis(6200))
        );
        assert_eq!(
            work.next_change(Duration::from_millis(6201)),
            Some(Duration::from_millis(7200))
        );
        work.now_doing(
            Activity {
                thinking: true,
                ..doing("thinking")
            },
            Duration::from_millis(5300),
        );
        assert_eq!(
            work.next_change(Duration::from_millis(5300)),
            Some(Duration::from_millis(5580))
        );
        work.end();
        assert_eq!(work.next_change(Duration::from_secs(9)), None);
    }

    #[test]
    fn the_bubble_loops_over_its_last_four_frames() {
        let frames: Vec<&str> = (0..9).map(|n| bubble(BUBBLE_FRAME * n)).collect();
        assert_eq!(frames[..4], [".", ".o", ".oO", ".oO( thinking )"]);
        assert_eq!(
            frames[6..],
            [".oO( thinking... )", ".oO( thinking )", ".oO( thinking. )"]
        );
    }
}
