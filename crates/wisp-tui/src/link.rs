//! The two channels between a face and whatever answers it: the engine, or a recording.

use tokio::sync::mpsc;
use wisp_agent::protocol::{Command, Event};

/// A face's end of a conversation.
#[derive(Debug)]
pub struct Link {
    /// What the face asks.
    pub commands: mpsc::Sender<Command>,
    /// What it is told; closed when the conversation is over.
    pub events: mpsc::Receiver<Event>,
}

/// The other end.
#[derive(Debug)]
pub struct FarEnd {
    /// What the face asks.
    pub commands: mpsc::Receiver<Command>,
    /// What it is told.
    pub events: mpsc::Sender<Event>,
}

/// The most commands or events that wait in a channel.
const WAITING: usize = 256;

/// Two ends that belong together.
pub fn pair() -> (Link, FarEnd) {
    let (commands, asked) = mpsc::channel(WAITING);
    let (told, events) = mpsc::channel(WAITING);
    (
        Link { commands, events },
        FarEnd {
            commands: asked,
            events: told,
        },
    )
}
