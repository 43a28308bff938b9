//! HTTP/1.1 by hand: one connection, read and written byte by byte.
//!
//! A library would hide exactly what must be controlled here: when the status line leaves, where a chunk ends,
//! whether a connection is closed or reset.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpStream;

/// The longest head of a request.
const MAX_HEAD: usize = 64 * 1024;
/// The longest body of a request; longer than any test sends.
const MAX_BODY: usize = 256 * 1024 * 1024;
/// How much of the next request may pile up while one is answered.
const MAX_AHEAD: usize = 1024 * 1024;

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path, without the query.
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether the client wants the connection closed afterwards.
    pub(crate) fn closes(&self) -> bool {
        self.header("connection")
            .is_some_and(|v| v.eq_ignore_ascii_case("close"))
    }
}

/// One connection.
pub(crate) struct Connection {
    stream: Arc<TcpStream>,
    /// Bytes read and not yet used.
    ahead: Mutex<Vec<u8>>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream: Arc::new(stream),
            ahead: Mutex::new(Vec::new()),
        }
    }

    fn ahead(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads more bytes. `false` when the client has closed.
    async fn more(&self) -> io::Result<bool> {
        loop {
            self.stream.readable().await?;
            let mut buffer = [0; 16 * 1024];
            match self.stream.try_read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    self.ahead().extend_from_slice(&buffer[..n]);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends when the client has gone.
    pub(crate) async fn gone(&self) {
        while self.ahead().len() < MAX_AHEAD {
            if !matches!(self.more().await, Ok(true)) {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Writes all bytes.
    pub(crate) async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.writable().await?;
            match self.stream.try_write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes the close a reset.
    pub(crate) fn reset_on_close(&self) {
        // A socket that cannot be told so is closed in order, which the test then notices.
        let _ = self.stream.set_zero_linger();
    }

    /// Reads the next request. `None` when the client closed between requests or sent no HTTP.
    pub(crate) async fn request(&self) -> io::Result<Option<Request>> {
        let Some(head) = self.head().await? else {
            return Ok(None);
        };
        let Some(mut request) = parse_head(&head) else {
            return Ok(None);
        };
        if request
            .header("expect")
            .is_some_and(|v| v.eq_ignore_ascii_case("100-continue"))
        {
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let chunked = request
            .header("transfer-encoding")
            .is_some_and(|v| v.eq_ignore_ascii_case("chunked"));
        let body = if chunked {
            self.chunked_body().await?
        } else {
            let length = request
                .header("content-length")
                .and_then(|v| v.parse().ok())
                .unwrap_or(0);
            self.exactly(length).await?
        };
        let Some(body) = body else { return Ok(None) };
        request.body = body;
        Ok(Some(request))
    }

    async fn head(&self) -> io::Result<Option<Vec<u8>>> {
        loop {
            {
                let mut ahead = self.ahead();
                if let Some(end) = find(&ahead, b"\r\n\r\n") {
                    return Ok(Some(ahead.drain(..end + 4).collect()));
                }
                if ahead.len() > MAX_HEAD {
                    return Ok(None);
                }
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    async fn exactly(&self, length: usize) -> io::Result<Option<Vec<u8>>> {
        if length > MAX_BODY {
            return Ok(None);
        }
        while self.ahead().len() < length {
            if !self.more().await? {
                return Ok(None);
            }
        }
        Ok(Some(self.ahead().drain(..length).collect()))
    }

    async fn line(&self) -> io::Result<Option<String>> {
        loop {
            {
                let mut ahead = self.ahead();
                if let Some(end) = find(&ahead, b"\r\n") {
                    let line: Vec<u8> = ahead.drain(..end + 2).collect();
                    return Ok(Some(String::from_utf8_lossy(&line[..end]).into_owned()));
                }
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    async fn chunked_body(&self) -> io::Result<Option<Vec<u8>>> {
        let mut body = Vec::new();
        loop {
            let Some(line) = self.line().await? else {
                return Ok(None);
            };
            let size = line.split(';').next().unwrap_or_default().trim();
            let Ok(size) = usize::from_str_radix(size, 16) else {
                return Ok(None);
            };
            let Some(chunk) = self.exactly(size).await? else {
                return Ok(None);
            };
            body.extend(chunk);
            if self.line().await?.is_none() || body.len() > MAX_BODY {
                return Ok(None);
            }
            if size == 0 {
                return Ok(Some(body));
            }
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn parse_head(head: &[u8]) -> Option<Request> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?);
    let path = target.split(['?', '#']).next().unwrap_or(target).to_owned();
    let headers = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Some(Request {
        method,
        path,
        headers: headers.collect(),
        body: Vec::new(),
    })
}

/// The reason phrase of a status.
pub(crate) fn reason(status: u16) -> &'static str {
    const REASONS: [(u16, &str); 14] = [
        (200, "OK"),
        (400, "Bad Request"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "Not Found"),
        (405, "Method Not Allowed"),
        (429, "Too Many Requests"),
        (499, "Client Closed Request"),
        (500, "Internal Server Error"),
        (501, "Not Implemented"),
        (502, "Bad Gateway"),
        (503, "Service Unavailable"),
        (504, "Gateway Timeout"),
        (301, "Moved Permanently"),
    ];
    REASONS
        .iter()
        .find(|(code, _)| *code == status)
        .map_or("Unknown", |(_, text)| text)
}
