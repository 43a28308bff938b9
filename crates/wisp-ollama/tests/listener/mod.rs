//! A scripted listener on raw TCP: it reads one request, then writes the given bytes exactly as they are cut.
//!
//! It is raw on purpose. A server library would join the pieces, add headers and close politely; what is tested here
//! is what happens when none of that holds.

#![allow(dead_code, reason = "each test file uses its own part of the listener")]

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use wisp_ollama::{Client, Host, Timeouts};

/// What the listener does after its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Closes the connection.
    Close,
    /// Says nothing more and waits until the client has closed.
    Hold,
    /// Resets the connection.
    Reset,
}

/// One scripted exchange.
pub(crate) struct Listener {
    /// Where it listens.
    pub(crate) host: Host,
    /// Resolves when the whole request has been read.
    pub(crate) asked: oneshot::Receiver<()>,
    /// Ends with the request's bytes, after the exchange; with `End::Hold` not before the client has closed.
    pub(crate) exchange: JoinHandle<Vec<u8>>,
}

impl Listener {
    /// Listens on a free port of loopback and answers one request with `pieces`, one write each.
    pub(crate) async fn with(pieces: Vec<Vec<u8>>, end: End) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (saw, asked) = oneshot::channel();
        let exchange = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("a client");
            socket.set_nodelay(true).expect("a TCP socket");
            let request = read_request(&mut socket).await;
            let _ = saw.send(());
            for piece in pieces {
                if socket.write_all(&piece).await.is_err() {
                    return request;
                }
                tokio::task::yield_now().await;
            }
            if end == End::Reset {
                socket.set_zero_linger().expect("a TCP socket");
            }
            if end == End::Hold {
                let mut rest = [0; 64];
                while matches!(socket.read(&mut rest).await, Ok(read) if read > 0) {}
            }
            request
        });
        let host = Host::parse(&address.to_string()).expect("an address");
        Self {
            host,
            asked,
            exchange,
        }
    }

    /// A client with the default waiting times.
    pub(crate) fn client(&self) -> Client {
        self.client_with(Timeouts::default())
    }

    /// A client with its own waiting times.
    pub(crate) fn client_with(&self, timeouts: Timeouts) -> Client {
        Client::with_timeouts(self.host.clone(), timeouts).expect("a client")
    }
}

async fn read_request(socket: &mut TcpStream) -> Vec<u8> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !is_whole(&request) {
        match socket.read(&mut buffer).await {
            Ok(read) if read > 0 => request.extend_from_slice(&buffer[..read]),
            _ => break,
        }
    }
    request
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().expect("a length"));
    body.len() >= length
}

/// How a body's bytes are cut into HTTP chunks, each of them one write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// One line a chunk, as Ollama does.
    Lines,
    /// Everything in one chunk.
    Whole,
    /// Every so many bytes: 1 cuts inside every character and escape.
    Every(usize),
}

/// A status line and headers for a chunked stream, then the body cut as wanted, then the end of chunks.
pub(crate) fn chunked(status: u16, body: &[u8], cut: Cut) -> Vec<Vec<u8>> {
    let mut pieces = vec![head(status, "application/x-ndjson", "Transfer-Encoding: chunked")];
    pieces.extend(chunks(body, cut));
    pieces.push(b"0\r\n\r\n".to_vec());
    pieces
}

/// The body's chunks alone.
pub(crate) fn chunks(body: &[u8], cut: Cut) -> Vec<Vec<u8>> {
    let parts: Vec<&[u8]> = match cut {
        Cut::Lines => body.split_inclusive(|byte| *byte == b'\n').collect(),
        Cut::Whole => vec![body],
        Cut::Every(bytes) => body.chunks(bytes).collect(),
    };
    let framed = parts.into_iter().filter(|part| !part.is_empty());
    framed
        .map(|part| [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat())
        .collect()
}

/// An answer with a length.
pub(crate) fn plain(status: u16, content_type: &str, body: &str) -> Vec<Vec<u8>> {
    let length = format!("Content-Length: {}", body.len());
    vec![head(status, content_type, &length), body.as_bytes().to_vec()]
}

/// A status line and headers.
pub(crate) fn head(status: u16, content_type: &str, header: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Status\r\nContent-Type: {content_type}\r\n{header}\r\n\r\n").into_bytes()
}
