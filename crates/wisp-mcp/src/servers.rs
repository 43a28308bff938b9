//! The servers of one conversation.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use wisp_audit::AuditLog;
use wisp_config::McpServer;
use wisp_host::Env;
use wisp_tools::{Confining, Tool};

use crate::names::names;
use crate::server::{Server, Standing, Told};
use crate::session::Ear;
use crate::tool::ForeignTool;
use crate::use_tool::UseTool;

/// How the person is told something of a server.
pub type Tell = Box<dyn Fn(Told) + Send + Sync>;

/// What servers run in and are recorded by.
pub struct Around {
    /// The conversation's directory: where they run, and their root.
    pub directory: PathBuf,
    /// wisp's environment.
    pub env: Env,
    /// What confines them.
    pub confining: Confining,
    /// Where their beginnings and ends are recorded.
    pub audit: AuditLog,
    /// Tells the person.
    pub tell: Tell,
}

impl Around {
    pub(crate) fn tell(&self, told: Told) {
        (self.tell)(told);
    }
}

/// How the tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Each by its definition.
    Each,
    /// All through one tool.
    One,
    /// Each when their definitions have at most so many bytes together.
    Within(usize),
}

/// A server as the person is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its name in the configuration.
    pub name: String,
    /// How it stands.
    pub standing: Standing,
    /// Its own name and version.
    pub about: String,
    /// Its tools as the model has them, each with its line.
    pub tools: Vec<(String, String)>,
    /// Tools that are not offered, each with why.
    pub left_out: Vec<String>,
    /// What it wants said to a model, which is not sent.
    pub instructions: String,
}

/// The servers. When this is dropped they end.
pub struct Servers {
    all: Vec<Arc<Server>>,
    changes: watch::Receiver<u64>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Servers {
    /// Starts the servers that are enabled, in the background. Must be called within a tokio runtime.
    pub fn start(configured: Vec<McpServer>, around: Around) -> Self {
        let (sender, changes) = watch::channel(0);
        let around = Arc::new(around);
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let mut all = Vec::new();
        for configured in configured {
            let ear = Ear::new(&around.directory);
            let server = Arc::new(Server::new(configured, ear, sender.clone()));
            if server.configured.enabled {
                tasks.spawn(Arc::clone(&server).keep(Arc::clone(&around), stop.clone()));
            }
            all.push(server);
        }
        Self {
            all,
            changes,
            stop,
            tasks,
        }
    }

    /// Waits for the servers that are being started, each for as long as it is configured. `doing` is told the names of
    /// those that are waited for.
    pub async fn settled(&mut self, doing: impl Fn(&str)) {
        loop {
            let awaited: Vec<(&str, Duration)> = self
                .all
                .iter()
                .filter_map(|server| Some((server.configured.name.as_str(), server.awaited()?)))
                .collect();
            let Some(most) = awaited.iter().map(|(_, left)| *left).max() else {
                return;
            };
            let names: Vec<&str> = awaited.iter().map(|(name, _)| *name).collect();
            doing(&names.join(", "));
            let _ = tokio::time::timeout(most, self.changes.changed()).await;
        }
    }

    /// Whether something has changed since this was asked last.
    pub fn has_news(&mut self) -> bool {
        let news = self.changes.has_changed().unwrap_or(false);
        self.changes.mark_unchanged();
        news
    }

    /// The tools as they are offered now. `taken` are the names that other tools have.
    pub fn tools(&self, offer: Offer, taken: impl Fn(&str) -> bool) -> Vec<Box<dyn Tool>> {
        let all: Vec<ForeignTool> = self.all.iter().flat_map(|server| named(server, &taken)).collect();
        let bytes = || {
            let each = all
                .iter()
                .map(|tool| Value::to_string(&tool.definition()).len() + 1);
            each.sum::<usize>()
        };
        let one = match offer {
            Offer::Each => false,
            Offer::One => true,
            Offer::Within(most) => bytes() > most,
        };
        if one && !all.is_empty() {
            return vec![Box::new(UseTool::new(all))];
        }
        all.into_iter()
            .map(|tool| Box::new(tool) as Box<dyn Tool>)
            .collect()
    }

    /// The servers as the person is shown them.
    pub fn rows(&self) -> Vec<Row> {
        let row = |server: &Arc<Server>| {
            let now = server.now();
            let listed = now.tools.iter().map(|tool| tool.listed.name.as_str());
            let names = names(&server.configured.name, listed, |_| false);
            let lines = now.tools.iter().map(|tool| tool.definition.description.clone());
            Row {
                name: server.configured.name.clone(),
                standing: now.standing.clone(),
                about: now.about.name.clone(),
                tools: names.into_iter().zip(lines).collect(),
                left_out: now.left_out.clone(),
                instructions: now.about.instructions.clone(),
            }
        };
        self.all.iter().map(row).collect()
    }

    /// Ends the servers, at most within `most`; what has not ended by then is killed.
    pub async fn end(mut self, most: Duration) {
        self.stop.cancel();
        let ending = async { while self.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(most, ending).await;
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A server's tools under their names in the registry.
fn named(server: &Arc<Server>, taken: impl Fn(&str) -> bool) -> Vec<ForeignTool> {
    let now = server.now();
    let listed = now.tools.iter().map(|tool| tool.listed.name.as_str());
    let names = names(&server.configured.name, listed, taken);
    let tools = now.tools.iter().cloned();
    names
        .into_iter()
        .zip(tools)
        .map(|(name, offered)| ForeignTool::new(name, offered, Arc::clone(server)))
        .collect()
}
