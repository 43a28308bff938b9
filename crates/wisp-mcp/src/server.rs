//! The life of one server: started in the background, restarted once when it dies, and then named.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::service::{Peer, RoleClient};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use wisp_audit::{Event, Kind};
use wisp_config::McpServer;

use crate::definition::{Definition, Listed};
use crate::servers::Around;
use crate::session::{self, About, Ear};

/// The least time between two readings of a list that the server says has changed.
const PAUSE: Duration = Duration::from_millis(200);

/// How a server stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is not used (`enabled`).
    Off,
    /// It is being started.
    Starting,
    /// It answers.
    Ready,
    /// It does not, and why.
    Failed(String),
}

impl Standing {
    /// In a word, for the record.
    fn word(&self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Failed(_) => "failed",
        }
    }
}

/// Something the person is told of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// In a line.
    pub text: String,
    /// Whether something is missing by it.
    pub bad: bool,
}

/// A tool that can be offered.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    pub(crate) listed: Listed,
    pub(crate) definition: Definition,
}

/// What is known of a server now.
pub(crate) struct Now {
    pub(crate) standing: Standing,
    pub(crate) about: About,
    pub(crate) tools: Vec<Offered>,
    /// Tools that are not offered, each with why.
    pub(crate) left_out: Vec<String>,
    peer: Option<Peer<RoleClient>>,
}

/// A server and how it stands.
pub(crate) struct Server {
    pub(crate) configured: McpServer,
    pub(crate) ear: Ear,
    now: Mutex<Now>,
    began: Instant,
    /// Goes up with whatever changes.
    changes: watch::Sender<u64>,
}

impl Server {
    pub(crate) fn new(configured: McpServer, ear: Ear, changes: watch::Sender<u64>) -> Self {
        let standing = if configured.enabled {
            Standing::Starting
        } else {
            Standing::Off
        };
        Self {
            configured,
            ear,
            now: Mutex::new(Now {
                standing,
                about: About::default(),
                tools: Vec::new(),
                left_out: Vec::new(),
                peer: None,
            }),
            began: Instant::now(),
            changes,
        }
    }

    pub(crate) fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way to a server that answers; else why there is none.
    pub(crate) fn peer(&self) -> Result<Peer<RoleClient>, String> {
        let now = self.now();
        now.peer.clone().ok_or_else(|| {
            let name = &self.configured.name;
            match &now.standing {
                Standing::Failed(why) => format!("the MCP server {name} does not run: {why}"),
                _ => format!("the MCP server {name} has not started yet"),
            }
        })
    }

    /// How much longer the first turn waits for it; none when it need not.
    pub(crate) fn awaited(&self) -> Option<Duration> {
        let starting = self.now().standing == Standing::Starting;
        let most = Duration::from_secs(self.configured.start_seconds);
        let left = most.saturating_sub(self.began.elapsed());
        (starting && !left.is_zero()).then_some(left)
    }

    fn stand(&self, around: &Around, standing: Standing) {
        let mut details = json!({"server": self.configured.name, "state": standing.word()});
        {
            let mut now = self.now();
            match &standing {
                Standing::Failed(why) => details["reason"] = why.as_str().into(),
                Standing::Ready => {
                    details["tools"] = now.tools.len().into();
                    details["program"] = now.about.name.as_str().into();
                    details["protocol"] = now.about.protocol.as_str().into();
                }
                _ => {}
            }
            if standing != Standing::Ready {
                now.peer = None;
                now.tools.clear();
                now.left_out.clear();
            }
            now.standing = standing;
        }
        // The server is used or not whether or not this can be written; each call of it has its own record.
        let _ = around.audit.append(Event::new(Kind::McpServer, details));
        self.changes.send_modify(|count| *count += 1);
    }

    /// Takes the tools that the server lists.
    fn take(&self, listed: Vec<Listed>, about: Option<About>, peer: &Peer<RoleClient>) {
        let wanted = self.configured.tools.as_ref();
        let mut now = self.now();
        now.tools.clear();
        now.left_out.clear();
        for listed in listed {
            if wanted.is_some_and(|wanted| !wanted.contains(&listed.name)) {
                continue;
            }
            match Definition::of(&listed) {
                Ok(definition) => now.tools.push(Offered { listed, definition }),
                Err(why) => {
                    let name = crate::clean::line(&listed.name, 60);
                    now.left_out.push(format!("{name}: {why}"));
                }
            }
        }
        if let Some(about) = about {
            now.about = about;
        }
        now.peer = Some(peer.clone());
    }

    /// Keeps the server until `stop`.
    pub(crate) async fn keep(self: Arc<Self>, around: Arc<Around>, stop: CancellationToken) {
        let mut died = false;
        loop {
            let why = match self.run(&around, &stop).await {
                Ran::Stopped => return,
                Ran::NeverStarted(why) => why,
                Ran::Died(why) if !died => {
                    died = true;
                    let text = format!(
                        "the MCP server {} ended and is started again: {why}",
                        self.configured.name
                    );
                    around.tell(Told { text, bad: false });
                    self.stand(&around, Standing::Starting);
                    continue;
                }
                Ran::Died(why) => format!("{why}; it was started again once already"),
            };
            let text = format!("the MCP server {} does not run: {why}", self.configured.name);
            self.stand(&around, Standing::Failed(why));
            around.tell(Told { text, bad: true });
            return;
        }
    }

    async fn run(&self, around: &Around, stop: &CancellationToken) -> Ran {
        let connecting = session::connect(&self.configured, around, self.ear.clone());
        let session = tokio::select! {
            biased;
            () = stop.cancelled() => return Ran::Stopped,
            connected = connecting => match connected {
                Ok(session) => session,
                Err(why) => return Ran::NeverStarted(why),
            },
        };
        let (peer, about) = (session.peer(), session.about());
        let ending = session.ended(stop.cancelled());
        tokio::pin!(ending);
        let listed = tokio::select! {
            biased;
            listed = session::tools(&peer) => listed,
            why = &mut ending => return why.map_or(Ran::Stopped, Ran::Died),
        };
        match listed {
            Ok(listed) => self.take(listed, Some(about), &peer),
            Err(why) => return Ran::NeverStarted(why),
        }
        self.stand(around, Standing::Ready);
        loop {
            tokio::select! {
                biased;
                why = &mut ending => return why.map_or(Ran::Stopped, Ran::Died),
                () = self.changed(&peer) => self.changes.send_modify(|count| *count += 1),
            }
        }
    }

    /// Waits until the server says that its tools have changed, and reads them.
    async fn changed(&self, peer: &Peer<RoleClient>) {
        self.ear.changed.notified().await;
        tokio::time::sleep(PAUSE).await;
        if let Ok(listed) = session::tools(peer).await {
            self.take(listed, None, peer);
        }
    }
}

/// How a run of a server came to its end.
enum Ran {
    Stopped,
    NeverStarted(String),
    Died(String),
}
