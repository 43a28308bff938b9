//! The two channels between a face and whatever answers it: the engine, or a recording.

use tokio::sync::mpsc;
use wisp_agent::protocol::{Command, Event};

/// A face's end of a conversation.
#[derive(Debug)]
pub struct Link {
    /// What the face asks.
    pub commands: mpsc::UnboundedSender<Command>,
    /// What it is told; closed when the conversation is over.
    pub events: mpsc::UnboundedReceiver<Event>,
}

/// The other end.
#[derive(Debug)]
pub struct FarEnd {
    /// What the face asks.
    pub commands: mpsc::UnboundedReceiver<Command>,
    /// What it is told.
    pub events: mpsc::UnboundedSender<Event>,
}

/// Two ends that belong together.
pub fn pair() -> (Link, FarEnd) {
    let (commands, asked) = mpsc::unbounded_channel();
    let (told, events) = mpsc::unbounded_channel();
    let (face, far) = (
        Link { commands, events },
        FarEnd {
            commands: asked,
            events: told,
        },
    );
    (face, far)
}
