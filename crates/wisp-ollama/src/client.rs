//! The client: one server, its routes, and the rules of the connection.
//!
//! There is no limit on a whole reply: a slow prompt is not a fault. Headers come with the first event, so the whole
//! wait for a queue, a load and a long prompt passes inside one `send`; how long that may take is a limit of its own
//! and unset by default. No connection is kept open between requests: a kept one may be dead when the next request
//! needs it, and a new one to this machine costs nothing.

use std::error::Error as StdError;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::error::{Error, Refusal, excerpt};
use crate::host::Host;
use crate::models::{Loaded, Model, Models};
use crate::pull::PullStream;
use crate::repair;
use crate::reply::WireLine;
use crate::request::{ChatRequest, KeepAlive};
use crate::show::Show;
use crate::stream::{ChatStream, LineStream};
use crate::version::ServerVersion;

/// The most bytes of an answer that is no stream: 64 MiB. `/api/show` may have hundreds of kilobytes.
pub const MAX_BODY_BYTES: usize = 64 << 20;

/// The most bytes read of an error's body: 1 MiB.
pub const MAX_ERROR_BYTES: usize = 1 << 20;

/// The host the key of `OLLAMA_API_KEY` belongs to.
pub const KEY_HOST: &str = "ollama.com";

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until a connection stands.
    pub connect: Duration,
    /// Until the first byte of a chat's answer: the queue, the load and the prompt together. `None` is forever.
    pub first_byte: Option<Duration>,
    /// Until the next whole line of a stream: bytes that end no line do not count. A tool call is silent while it is
    /// written. `None` is forever.
    pub idle: Option<Duration>,
    /// From the beginning of a chat's answer to its last line, however lively it is. `None` is forever.
    pub total: Option<Duration>,
    /// For the small routes (version, tags, show), from start to end.
    pub query: Duration,
    /// For `/api/ps`, which newer servers hold back until a load ends.
    pub ps: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: None,
            idle: Some(Duration::from_mins(10)),
            total: Some(Duration::from_hours(6)),
            query: Duration::from_secs(30),
            ps: Duration::from_secs(2),
        }
    }
}

/// A client of one server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    host: Host,
    timeouts: Timeouts,
    key: Option<Key>,
}

/// The answer of `/api/status`.
#[derive(Deserialize)]
struct Status {
    cloud: Option<Cloud>,
}

#[derive(Deserialize)]
struct Cloud {
    disabled: Option<bool>,
}

/// A bearer token that is never printed.
#[derive(Clone)]
struct Key(String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(set)")
    }
}

impl Client {
    /// A client with the default waiting times.
    pub fn new(host: Host) -> Result<Self, Error> {
        Self::with_timeouts(host, Timeouts::default())
    }

    /// A client with waiting times of one's own.
    pub fn with_timeouts(host: Host, timeouts: Timeouts) -> Result<Self, Error> {
        let http = builder(&host, timeouts).build().map_err(|cause| Error::Client {
            host: host.to_string(),
            detail: innermost(&cause),
        })?;
        Ok(Self {
            http,
            host,
            timeouts,
            key: None,
        })
    }

    /// Adds the key of `OLLAMA_API_KEY`. It is sent to `https://ollama.com` and to nobody else.
    #[must_use]
    pub fn with_api_key(mut self, key: &str) -> Self {
        let own = self.host.is_secure() && self.host.name() == KEY_HOST;
        self.key = Some(Key(key.trim().to_owned())).filter(|key| own && !key.0.is_empty());
        self
    }

    /// The server.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Asks for a reply. The future ends with the first byte of the answer; before 0.12.6, and for what fails later,
    /// the error is the stream's first or last line. Dropping the future or the stream closes the connection.
    pub async fn chat(&self, request: &ChatRequest) -> Result<ChatStream, Error> {
        self.chat_body(request.body()).await
    }

    /// The same with the bytes of [`ChatRequest::body`], for a caller that has kept them for its record.
    pub async fn chat_body(&self, body: Vec<u8>) -> Result<ChatStream, Error> {
        let request = self.post("/api/chat", body);
        let response = self.answered(request, self.timeouts.first_byte).await?;
        Ok(ChatStream::new(self.lines(response, self.timeouts.total)))
    }

    /// The prompt exactly as the model would read it, after the server's own cuts. Only from 0.11.5 on: older servers
    /// ignore the wish and generate. `None` when the answer holds no prompt.
    pub async fn render(&self, request: &ChatRequest) -> Result<Option<String>, Error> {
        let request = self.post("/api/chat", request.render_body());
        let response = self.answered(request, self.timeouts.first_byte).await?;
        let wire: WireLine = self.in_time(self.timeouts.query, self.json(response)).await?;
        Ok(wire.rendered())
    }

    /// Loads a model, with a window if one is given, or unloads it (`KeepAlive::Seconds(0)`).
    pub async fn load(
        &self,
        model: &str,
        num_ctx: Option<u64>,
        keep_alive: Option<KeepAlive>,
    ) -> Result<(), Error> {
        let mut request = ChatRequest::new(model, Vec::new());
        request.options.num_ctx = num_ctx;
        request.keep_alive = keep_alive;
        self.chat(&request).await?.finish().await.map(|_| ())
    }

    /// The server's version; also the quickest sign of life.
    pub async fn version(&self) -> Result<ServerVersion, Error> {
        self.query(self.get("/api/version"), self.timeouts.query).await
    }

    /// The models on the server, newest first.
    pub async fn tags(&self) -> Result<Vec<Model>, Error> {
        let models: Models<Model> = self.query(self.get("/api/tags"), self.timeouts.query).await?;
        Ok(models.into_list())
    }

    /// The models in memory. A timeout ([`Error::Silent`]) means that one is being loaded.
    pub async fn ps(&self) -> Result<Vec<Loaded>, Error> {
        let models: Models<Loaded> = self.query(self.get("/api/ps"), self.timeouts.ps).await?;
        Ok(models.into_list())
    }

    /// What a model is and can do. The answer may be large: ask once for each digest.
    pub async fn show(&self, model: &str) -> Result<Show, Error> {
        let body = json!({ "model": model }).to_string();
        self.query(self.post("/api/show", body), self.timeouts.query)
            .await
    }

    /// Whether the operator has switched remote models off; `None` on servers before 0.16.2, which do not say.
    pub async fn cloud_disabled(&self) -> Result<Option<bool>, Error> {
        let status: Result<Status, Error> = self.query(self.get("/api/status"), self.timeouts.query).await;
        match status {
            Ok(status) => Ok(status.cloud.and_then(|cloud| cloud.disabled)),
            Err(error) if error.refusal() == Some(Refusal::NoRoute) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Downloads a model. Dropping the stream cancels; asking again resumes.
    pub async fn pull(&self, model: &str) -> Result<PullStream, Error> {
        let body = json!({ "model": model, "stream": true }).to_string();
        let response = self
            .answered(self.post("/api/pull", body), Some(self.timeouts.query))
            .await?;
        // A large model takes as long as the network does.
        Ok(PullStream::new(self.lines(response, None)))
    }

    /// Removes a model from the server's disk.
    pub async fn delete(&self, model: &str) -> Result<(), Error> {
        let body = json!({ "model": model }).to_string();
        let request = self.request(Method::DELETE, "/api/delete").body(body);
        self.answered(request, Some(self.timeouts.query))
            .await
            .map(|_| ())
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, self.host.url(path));
        let request = request.header("content-type", "application/json");
        match &self.key {
            Some(Key(key)) => request.bearer_auth(key),
            None => request,
        }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.request(Method::POST, path).body(body)
    }

    fn lines(&self, response: Response, total: Option<Duration>) -> LineStream {
        LineStream::new(response, self.host.to_string(), self.timeouts.idle, total)
    }

    async fn query<T: DeserializeOwned>(&self, request: RequestBuilder, limit: Duration) -> Result<T, Error> {
        let whole = async { self.json(self.answered(request, None).await?).await };
        self.in_time(limit, whole).await
    }

    /// What comes of it, or that it took too long.
    async fn in_time<T>(
        &self,
        limit: Duration,
        whole: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::time::timeout(limit, whole)
            .await
            .unwrap_or_else(|_| Err(self.silent(limit)))
    }

    async fn answered(&self, request: RequestBuilder, limit: Option<Duration>) -> Result<Response, Error> {
        let sent = request.send();
        let response = match limit {
            Some(limit) => tokio::time::timeout(limit, sent)
                .await
                .map_err(|_| self.silent(limit))?,
            None => sent.await,
        };
        let response = response.map_err(|cause| self.not_sent(&cause))?;
        self.accepted(response).await
    }

    async fn accepted(&self, response: Response) -> Result<Response, Error> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
            return Err(self.redirected(&response));
        }
        let read = async {
            let read = read_up_to(response, MAX_ERROR_BYTES).await;
            read.map_err(|cause| self.not_sent(&cause))
        };
        let (body, _) = self.in_time(self.timeouts.query, read).await?;
        Err(Error::from_body(&self.host.to_string(), status.as_u16(), &body))
    }

    fn redirected(&self, response: &Response) -> Error {
        let location = response.headers().get("location");
        Error::Redirected {
            host: self.host.to_string(),
            location: location
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_owned(),
        }
    }

    async fn json<T: DeserializeOwned>(&self, response: Response) -> Result<T, Error> {
        let status = response.status().as_u16();
        let (body, whole) = read_up_to(response, MAX_BODY_BYTES)
            .await
            .map_err(|cause| self.not_sent(&cause))?;
        if !whole {
            return Err(Error::TooLarge {
                limit: MAX_BODY_BYTES,
            });
        }
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(Error::NotOllama {
                host: self.host.to_string(),
                status,
                excerpt: excerpt(&String::from_utf8_lossy(&body)),
            });
        }
        repair::from_slice(&body).map_err(|cause| Error::unreadable(&cause, &body))
    }

    fn silent(&self, after: Duration) -> Error {
        Error::Silent {
            host: self.host.to_string(),
            after,
            answering: false,
        }
    }

    fn not_sent(&self, cause: &reqwest::Error) -> Error {
        let (host, detail) = (self.host.to_string(), innermost(cause));
        if cause.is_connect() || cause.is_timeout() {
            Error::Unreachable { host, detail }
        } else {
            Error::Lost { host, detail }
        }
    }
}

fn builder(host: &Host, timeouts: Timeouts) -> reqwest::ClientBuilder {
    let builder = reqwest::Client::builder()
        .user_agent(concat!("wisp-ollama/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        .tcp_keepalive(Duration::from_secs(30))
        .pool_max_idle_per_host(0)
        .redirect(reqwest::redirect::Policy::none());
    let builder = if host.is_private() {
        builder.no_proxy()
    } else {
        builder
    };
    crate::tls::prepare(builder, host)
}

/// The body up to a limit, and whether that was all of it.
async fn read_up_to(mut response: Response, limit: usize) -> Result<(Vec<u8>, bool), reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = limit - body.len();
        body.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
        if chunk.len() > room {
            return Ok((body, false));
        }
    }
    Ok((body, true))
}

/// The words of the innermost cause: "connection refused" rather than "error sending request for url".
pub(crate) fn innermost(cause: &reqwest::Error) -> String {
    let mut deepest: &dyn StdError = cause;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    let text = deepest.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::Client;
    use crate::host::Host;

    fn authorization(host: &str, key: &str) -> Option<String> {
        let client = Client::new(Host::parse(host).expect("an address")).expect("a client");
        let request = client
            .with_api_key(key)
            .get("/api/tags")
            .build()
            .expect("a request");
        let header = request.headers().get("authorization")?;
        Some(header.to_str().expect("text").to_owned())
    }

    #[test]
    fn the_key_goes_to_its_own_host_over_tls_and_nowhere_else() {
        assert_eq!(
            authorization("https://ollama.com", " k\n"),
            Some("Bearer k".to_owned())
        );
        assert_eq!(authorization("ollama.com", "k"), Some("Bearer k".to_owned()));
        for host in [
            "http://ollama.com",
            "https://ollama.com.example.com",
            "https://www.ollama.com",
            "https://example.com",
            "127.0.0.1",
        ] {
            assert_eq!(authorization(host, "k"), None, "{host}");
        }
        assert_eq!(authorization("https://ollama.com", "  "), None);
    }

    #[test]
    fn the_key_is_never_printed() {
        let client = Client::new(Host::parse("ollama.com").expect("an address")).expect("a client");
        assert!(!format!("{:?}", client.with_api_key("hushhush")).contains("hushhush"));
    }
}
