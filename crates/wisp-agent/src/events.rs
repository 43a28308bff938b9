//! The engine's way to its face: events in order, and what is being done said once.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tokio::sync::mpsc;

use crate::protocol::{Activity, Event, NoteLevel};

/// Sends events to the face. A face that is gone is noticed by the engine's own end, not here.
///
/// The channel has no bound: events come from the loop, from the audit's listener and from the engine, and only one
/// queue keeps their order. What is large (an output) is never in an event.
#[derive(Debug, Clone)]
pub struct Events {
    to: mpsc::UnboundedSender<Event>,
}

impl Events {
    /// Events through a channel.
    pub fn new(to: mpsc::UnboundedSender<Event>) -> Self {
        Self { to }
    }

    /// Sends an event.
    pub fn send(&self, event: Event) {
        let _ = self.to.send(event);
    }

    /// A line for the person.
    pub fn note(&self, level: NoteLevel, text: impl Into<String>) {
        self.send(Event::Note {
            text: text.into(),
            level,
        });
    }

    /// A line of what a slash command prints.
    pub fn line(&self, text: impl Into<String>) {
        self.send(Event::Output { text: text.into() });
    }

    /// Whether the face is gone.
    pub fn is_closed(&self) -> bool {
        self.to.is_closed()
    }
}

/// Says what is being done in a turn, with the turn's own clock.
#[derive(Debug, Clone)]
pub struct Doing {
    events: Events,
    began: Instant,
    /// Seconds until the first token.
    first: Arc<OnceLock<f64>>,
}

impl Doing {
    /// The activity of a turn that begins now.
    pub fn new(events: Events) -> Self {
        Self {
            events,
            began: Instant::now(),
            first: Arc::default(),
        }
    }

    /// Notes that a token came.
    pub fn token(&self) {
        self.first.get_or_init(|| self.seconds());
    }

    /// Seconds from the beginning to the first token; none before it.
    pub fn first_token(&self) -> Option<f64> {
        self.first.get().copied()
    }

    /// Seconds since the turn began.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// The face's events.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Something is being done.
    pub fn say(&self, doing: impl Into<String>) {
        self.send(Activity {
            doing: Some(doing.into()),
            ..Activity::default()
        });
    }

    /// The model is thinking.
    pub fn thinking(&self) {
        self.send(Activity {
            doing: Some("thinking".to_owned()),
            thinking: true,
            ..Activity::default()
        });
    }

    /// The person is being asked.
    pub fn asking(&self) {
        let doing = Some("waiting for your approval".to_owned());
        self.send(Activity {
            doing,
            asking: true,
            ..Activity::default()
        });
    }

    /// A typed command runs; `stopping` once the person has asked it to stop.
    pub fn typed(&self, doing: String, stopping: bool) {
        self.send(Activity {
            doing: Some(doing),
            stoppable: true,
            stopping,
            ..Activity::default()
        });
    }

    /// Nothing is being done.
    pub fn nothing(&self) {
        self.send(Activity::default());
    }

    fn send(&self, activity: Activity) {
        let activity = Activity {
            turn_seconds: self.seconds(),
            ..activity
        };
        self.events.send(Event::Activity(activity));
    }
}
