//! A session: a conversation and its engine, spoken to one prompt at a time.

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    RequestPermissionOutcome, SessionId, SessionNotification, StopReason,
};
use agent_client_protocol::{Client, Error};
use tokio::sync::{Mutex, mpsc};
use wisp_agent::protocol::{Approval, Command, Event, Phase, TurnOutcome};
use wisp_agent::{Handle, Launch, Setup, ground, start};

use crate::updates::{decision, permission, update};

/// How long a conversation has to end.
const ENDING: Duration = Duration::from_secs(3);

/// A session.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    commands: mpsc::UnboundedSender<Command>,
    /// What the engine says, held by the prompt under way.
    events: Mutex<mpsc::UnboundedReceiver<Event>>,
}

impl Session {
    /// Opens a conversation. The error is what the person is told.
    pub(crate) async fn open(setup: Setup) -> Result<Arc<Self>, String> {
        let explained = |e: wisp_agent::OpenError| {
            let hint = e.hint().map_or_else(String::new, |hint| format!("; {hint}"));
            format!("{e}{hint}")
        };
        let ground = ground(setup).map_err(explained)?;
        let id = SessionId::new(ground.audit.session().as_str().to_owned());
        let handle = start(ground, Launch::default()).await.map_err(explained)?;
        let Handle { commands, events } = handle;
        let hello = Command::Hello {
            effects: vec!["approve".to_owned()],
            client: "wisp acp".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let _ = commands.send(hello);
        let session = Self {
            id,
            commands,
            events: Mutex::new(events),
        };
        // The engine says when it waits for a line; the first time is its beginning.
        let mut events = session.events.lock().await;
        while let Some(event) = events.recv().await {
            if matches!(event, Event::Status(_)) {
                break;
            }
        }
        drop(events);
        Ok(Arc::new(session))
    }

    /// Sends a prompt and passes on what the engine says until it waits for another line.
    pub(crate) async fn prompt(&self, text: String, to: &ConnectionTo<Client>) -> Result<StopReason, Error> {
        let mut events = self.events.lock().await;
        if self.commands.send(Command::Message { text }).is_err() {
            return Err(Error::internal_error().data("the conversation has ended"));
        }
        let (mut ended, mut call) = (None, String::new());
        while let Some(event) = events.recv().await {
            if let Some(update) = update(&event) {
                to.send_notification(SessionNotification::new(self.id.clone(), update))?;
            }
            match event {
                Event::Status(_) => return Ok(reason(ended)),
                Event::Turn {
                    phase: Phase::End,
                    end: Some(end),
                    ..
                } => ended = Some(end.outcome),
                Event::Event {
                    kind, call: Some(id), ..
                } if kind == "tool.call" => call = id,
                Event::Approval(approval) => self.ask(&call, &approval, to).await,
                _ => {}
            }
        }
        Err(Error::internal_error().data("the conversation has ended"))
    }

    /// Has the editor ask. When it cannot, or the prompt is cancelled, the answer is no.
    async fn ask(&self, call: &str, approval: &Approval, to: &ConnectionTo<Client>) {
        let asked = to
            .send_request(permission(&self.id, call, approval))
            .block_task()
            .await;
        let decided = match asked.map(|answer| answer.outcome) {
            Ok(RequestPermissionOutcome::Selected(selected)) => decision(&selected.option_id.to_string()),
            _ => wisp_agent::protocol::Decision::No,
        };
        let _ = self.commands.send(Command::Answer {
            id: approval.id.clone(),
            decision: decided,
            reason: None,
        });
    }

    /// Stops the prompt under way.
    pub(crate) fn cancel(&self) {
        let _ = self.commands.send(Command::Interrupt);
    }

    /// Ends the conversation, which stays saved.
    pub(crate) async fn close(&self) {
        self.cancel();
        let _ = self.commands.send(Command::Quit);
        let ending = async {
            let mut events = self.events.lock().await;
            while let Some(event) = events.recv().await {
                if matches!(event, Event::Exit { .. }) {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(ENDING, ending).await;
    }
}

/// Why a prompt ended; one that was a command of wisp's has no turn.
fn reason(ended: Option<TurnOutcome>) -> StopReason {
    match ended {
        Some(TurnOutcome::Interrupted) => StopReason::Cancelled,
        Some(TurnOutcome::Limit) => StopReason::MaxTurnRequests,
        Some(TurnOutcome::Ok | TurnOutcome::Error) | None => StopReason::EndTurn,
    }
}
