//! A connection to a server: made within a time, spoken to by the SDK, and ended with all it started.

#![expect(
    deprecated,
    reason = "the protocol's newest version has no roots any more; the servers that there are ask for them"
)]

use std::fmt::Write as _;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ListRootsResult,
    PaginatedRequestParams, ProgressNotificationParam, Root, RootsCapabilities,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleClient, RunningService, ServiceError};
use serde_json::{Map, Value};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use wisp_config::servers::{McpServer, Reach};
use wisp_exec::{Served, serve};

use crate::clean::line;
use crate::content::Answer;
use crate::definition::Listed;
use crate::flood::{Bounded, Flooded};
use crate::servers::Around;
use crate::{http, launch};

/// How long a server may take to answer its first request: a package may have to be fetched.
const INITIALIZE: Duration = Duration::from_mins(2);
/// How long it may take to list its tools.
const LIST: Duration = Duration::from_secs(30);
/// How long a program that has closed its output may take to end, which says more.
const SOON: Duration = Duration::from_millis(500);
/// The most pages of tools, and tools, that are read.
const PAGES: usize = 32;
const TOOLS: usize = 256;
/// The most bytes of one message.
const MESSAGE: usize = 16 << 20;
/// The most bytes that are kept of what a server says beside the protocol.
const ASIDE: usize = 2 * 1024;
/// The most characters of a server's instructions.
const INSTRUCTIONS: usize = 2_000;

/// What a server hears of its client, and what is heard of it between answers.
#[derive(Clone)]
pub(crate) struct Ear {
    root: Root,
    /// Woken when the list of tools has changed.
    pub(crate) changed: Arc<Notify>,
    /// What a call says of its progress.
    pub(crate) progress: watch::Sender<String>,
}

impl Ear {
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            root: Root::new(uri(directory)),
            changed: Arc::default(),
            progress: watch::Sender::new(String::new()),
        }
    }
}

/// A directory as a `file:` URI.
fn uri(directory: &Path) -> String {
    let mut out = "file://".to_owned();
    for byte in std::os::unix::ffi::OsStrExt::as_bytes(directory.as_os_str()) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(*byte));
            }
            other => {
                // A text takes whatever is written.
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

impl ClientHandler for Ear {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        ClientConfig::new(
            capabilities,
            Implementation::new("wisp", env!("CARGO_PKG_VERSION")),
        )
    }

    fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> impl Future<Output = Result<ListRootsResult, rmcp::ErrorData>> + Send + '_ {
        std::future::ready(Ok(ListRootsResult::new(vec![self.root.clone()])))
    }

    fn on_tool_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.changed.notify_one();
        std::future::ready(())
    }

    fn on_progress(
        &self,
        said: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        let share = match said.total {
            Some(total) if total > 0.0 => format!(" {} of {total}", said.progress),
            _ => String::new(),
        };
        let message = line(said.message.as_deref().unwrap_or_default(), 80);
        self.progress.send_replace(format!("{message}{share}"));
        std::future::ready(())
    }
}

/// What a server says beside the protocol.
struct Aside {
    kept: Arc<Mutex<Vec<u8>>>,
    listening: JoinHandle<()>,
}

impl Aside {
    fn of(from: Receiver) -> Self {
        let kept = Arc::default();
        let listening = tokio::spawn(listen(from, Arc::clone(&kept)));
        Self { kept, listening }
    }

    /// A reason with the last line that was said, once it has been heard.
    async fn explain(self, why: &str) -> String {
        // A server's children may hold the stream open after its end.
        let _ = timeout(SOON, self.listening).await;
        with_aside(why, &self.kept)
    }
}

/// A connection.
pub(crate) struct Session {
    running: RunningService<RoleClient, Ear>,
    /// The program and what it says beside the protocol, of one that was started.
    program: Option<(Served, Aside)>,
    flooded: Flooded,
}

/// What a server said of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct About {
    /// Its name and version.
    pub(crate) name: String,
    /// The version of the protocol.
    pub(crate) protocol: String,
    /// What it wants said to a model: shown to the user, and never sent.
    pub(crate) instructions: String,
}

/// Connects to a server. The error says what went wrong and what the server last said beside the protocol.
pub(crate) async fn connect(server: &McpServer, around: &Around, ear: Ear) -> Result<Session, String> {
    let flooded = Flooded::default();
    if let Reach::Url { url, headers } = &server.reach {
        let transport = http::transport(url, headers, &around.env)?;
        let starting = rmcp::serve_client(ear, transport);
        let running = match timeout(INITIALIZE, starting).await {
            Ok(Ok(running)) => running,
            Ok(Err(error)) => return Err(line(&error.to_string(), 300)),
            Err(_) => return Err(late()),
        };
        return Ok(Session {
            running,
            program: None,
            flooded,
        });
    }
    let spec = launch::spec(server, &around.directory, &around.env, &around.confining)?;
    let spec = spec.ok_or("it has no command")?;
    let (mut program, streams) = serve(spec).map_err(|e| e.to_string())?;
    let aside = Aside::of(streams.stderr);
    let ear_on = Bounded::new(streams.stdout, flooded.clone());
    let transport = rmcp::transport::async_rw::AsyncRwTransport::new_client(ear_on, streams.stdin)
        .with_max_line_length(MESSAGE);
    let starting = rmcp::serve_client(ear, transport);
    let why = tokio::select! {
        biased;
        started = timeout(INITIALIZE, starting) => match started {
            Ok(Ok(running)) => return Ok(Session { running, program: Some((program, aside)), flooded }),
            // Its own end says more than that its output ended.
            Ok(Err(_)) if flooded.is() => flood(),
            Ok(Err(error)) => match timeout(SOON, program.ended()).await {
                Ok(ended) => over(ended),
                Err(_) => line(&error.to_string(), 300),
            },
            Err(_) => late(),
        },
        ended = program.ended() => over(ended),
    };
    Err(aside.explain(&why).await)
}

fn late() -> String {
    format!("it did not answer within {} s", INITIALIZE.as_secs())
}

fn flood() -> String {
    "it wrote without end, and was stopped".to_owned()
}

/// How a program ended, in words.
fn over(ended: Result<wisp_exec::Ending, wisp_exec::ExecError>) -> String {
    match ended {
        Ok(ending) => format!("it ended: {ending}"),
        Err(error) => error.to_string(),
    }
}

/// A reason with the last line that the server said beside the protocol.
fn with_aside(why: &str, aside: &Mutex<Vec<u8>>) -> String {
    let said = aside.lock().unwrap_or_else(PoisonError::into_inner);
    let said = String::from_utf8_lossy(&said);
    let last = said
        .lines()
        .map(|text| line(text, 160))
        .rfind(|text| !text.is_empty());
    last.map_or_else(|| why.to_owned(), |last| format!("{why} ({last})"))
}

/// Hears what a server says beside the protocol, and keeps its end.
async fn listen(mut from: Receiver, aside: Arc<Mutex<Vec<u8>>>) {
    let mut block = vec![0; 4 * 1024];
    while let Ok(read @ 1..) = from.read(&mut block).await {
        let mut kept = aside.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&block[..read]);
        let over = kept.len().saturating_sub(ASIDE);
        kept.drain(..over);
    }
}

impl Session {
    /// The way to speak to the server while the session is waited for.
    pub(crate) fn peer(&self) -> Peer<RoleClient> {
        self.running.peer().clone()
    }

    /// What the server said of itself.
    pub(crate) fn about(&self) -> About {
        let Some(info) = self.running.peer().peer_info() else {
            return About::default();
        };
        let name = info.server_info.as_ref();
        let name = name.map(|own| format!("{} {}", own.name, own.version));
        About {
            name: line(&name.unwrap_or_default(), 80),
            protocol: line(&info.protocol_version.to_string(), 20),
            instructions: line(info.instructions.as_deref().unwrap_or_default(), INSTRUCTIONS),
        }
    }

    /// Waits for the connection's end. Returns why it ended.
    pub(crate) async fn ended(self, stop: impl Future<Output = ()>) -> Option<String> {
        let Self {
            running,
            program,
            flooded,
        } = self;
        let Some((mut served, aside)) = program else {
            return tokio::select! {
                _ = running.waiting() => Some("the connection ended".to_owned()),
                () = stop => None,
            };
        };
        let why = tokio::select! {
            biased;
            () = stop => None,
            ended = served.ended() => Some(over(ended)),
            _ = running.waiting() => Some(match timeout(SOON, served.ended()).await {
                Ok(ended) => over(ended),
                Err(_) => "it closed its output".to_owned(),
            }),
        };
        // What was not waited for is dropped by now, and with it the server's standard input is closed.
        served.end().await;
        match why {
            Some(_) if flooded.is() => Some(flood()),
            Some(why) => Some(aside.explain(&why).await),
            None => None,
        }
    }
}

/// The tools of a server. The error says why they cannot be had.
pub(crate) async fn tools(peer: &Peer<RoleClient>) -> Result<Vec<Listed>, String> {
    let info = peer.peer_info();
    if info.is_some_and(|info| info.capabilities.tools.is_none()) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut cursor = None;
    let list = async {
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let page = peer.list_tools(Some(params)).await?;
            found.extend(page.tools.into_iter().map(listed));
            cursor = page.next_cursor;
            if cursor.is_none() || found.len() >= TOOLS {
                break;
            }
        }
        Ok::<_, ServiceError>(())
    };
    match timeout(LIST, list).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(format!("its tools cannot be listed: {}", said(&error))),
        Err(_) => return Err(format!("it did not list its tools within {} s", LIST.as_secs())),
    }
    found.truncate(TOOLS);
    Ok(found)
}

fn listed(tool: rmcp::model::Tool) -> Listed {
    let hints = tool.annotations.as_ref();
    let hint = |of: fn(&rmcp::model::ToolAnnotations) -> Option<bool>| hints.and_then(of) == Some(true);
    let about = tool.description.as_deref().or(tool.title.as_deref());
    Listed {
        description: about.unwrap_or_default().to_owned(),
        reads_only: hint(|h| h.read_only_hint),
        destroys: hint(|h| h.destructive_hint) && !hint(|h| h.read_only_hint),
        reaches_out: hint(|h| h.open_world_hint),
        schema: (*tool.input_schema).clone(),
        name: tool.name.into_owned(),
    }
}

/// Calls a tool. Dropping the future tells the server that the call is cancelled. The error is for the model.
pub(crate) async fn call(
    peer: &Peer<RoleClient>,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Answer, String> {
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    match peer.call_tool(params).await {
        Ok(result) => Ok(Answer::of(result)),
        Err(error) => Err(said(&error)),
    }
}

/// What went wrong with a request, in the server's words where it has some.
fn said(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => line(&error.message, 600),
        other => line(&other.to_string(), 300),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_an_address_that_can_be_read_back() {
        assert_eq!(uri(Path::new("/w/a b/é%")), "file:///w/a%20b/%C3%A9%25");
    }

    #[test]
    fn the_last_line_beside_the_protocol_explains_an_end() {
        let aside = Mutex::new(b"first\nno such \x1b[31mmodule\n\n".to_vec());
        assert_eq!(
            with_aside("it ended: exit status 1", &aside),
            "it ended: exit status 1 (no such [31mmodule)"
        );
        assert_eq!(with_aside("it ended", &Mutex::default()), "it ended");
    }
}
