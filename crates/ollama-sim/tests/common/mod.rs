//! A client that keeps everything: the status, the headers, each HTTP chunk, and how the connection ended.
#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "test code, called with literals"
)]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use ollama_sim::Server;
use serde_json::{Value, json};

/// Something that listens.
pub(crate) trait Address {
    /// Host and port.
    fn address(&self) -> String;
}

impl Address for Server {
    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }
}

impl Address for String {
    fn address(&self) -> String {
        self.clone()
    }
}

/// One response, as bytes came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// The chunks of a chunked body; one for any other.
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) body: Vec<u8>,
    /// Whether the body ended as it should.
    pub(crate) complete: bool,
    /// Everything, raw.
    pub(crate) raw: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, v)| v.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("a body is UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = self.text();
        text.lines()
            .filter(|l| !l.trim().is_empty())
            .map(|l| serde_json::from_str(l).unwrap())
            .collect()
    }

    pub(crate) fn last(&self) -> Value {
        self.lines().pop().expect("a stream has a line")
    }

    pub(crate) fn error(&self) -> String {
        self.last()["error"].as_str().unwrap_or_default().to_owned()
    }

    /// All content joined.
    pub(crate) fn content(&self) -> String {
        self.joined("content")
    }

    pub(crate) fn thinking(&self) -> String {
        self.joined("thinking")
    }

    fn joined(&self, field: &str) -> String {
        self.lines()
            .iter()
            .filter_map(|l| l["message"][field].as_str().map(str::to_owned))
            .collect()
    }

    pub(crate) fn calls(&self) -> Vec<Value> {
        let lines = self.lines();
        let calls = lines
            .iter()
            .filter_map(|l| l["message"]["tool_calls"].as_array().cloned());
        calls.flatten().collect()
    }
}

/// Opens a connection and sends a request; `close` asks the server to close it.
pub(crate) fn send(
    server: &impl Address,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
    let has_host = headers.iter().any(|(n, _)| n.eq_ignore_ascii_case("host"));
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n",
        body.len()
    );
    if !has_host {
        head.push_str("Host: 127.0.0.1\r\n");
    }
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    stream
}

/// Reads the response to its end, or to where it was lost.
pub(crate) fn receive(mut stream: TcpStream) -> Response {
    let mut raw = Vec::new();
    let mut buffer = [0; 16384];
    while let Ok(n) = stream.read(&mut buffer) {
        if n == 0 {
            break;
        }
        raw.extend_from_slice(&buffer[..n]);
    }
    let _ = stream.shutdown(Shutdown::Both);
    parse(raw)
}

fn parse(raw: Vec<u8>) -> Response {
    let Some(end) = raw.windows(4).position(|w| w == b"\r\n\r\n") else {
        return Response {
            raw,
            ..Response::default()
        };
    };
    let head = String::from_utf8_lossy(&raw[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|l| l.split_once(": "))
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .collect();
    let rest = &raw[end + 4..];
    let chunked = headers
        .iter()
        .any(|(n, v)| n.eq_ignore_ascii_case("transfer-encoding") && v == "chunked");
    let (chunks, complete) = if chunked {
        chunks(rest)
    } else {
        whole(&headers, rest)
    };
    let body = chunks.concat();
    Response {
        status,
        headers,
        chunks,
        body,
        complete,
        raw,
    }
}

fn whole(headers: &[(String, String)], rest: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let length = headers
        .iter()
        .find(|(n, _)| n.eq_ignore_ascii_case("content-length"));
    let length: usize = length.map_or(0, |(_, v)| v.parse().unwrap());
    (vec![rest.to_vec()], rest.len() == length)
}

fn chunks(mut rest: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let mut out = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|w| w == b"\r\n") else {
            return (out, false);
        };
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        rest = &rest[end + 2..];
        if size == 0 {
            return (out, true);
        }
        if rest.len() < size {
            return (out, false);
        }
        out.push(rest[..size].to_vec());
        rest = rest.get(size + 2..).unwrap_or_default();
    }
}

pub(crate) fn post(server: &impl Address, path: &str, body: &Value) -> Response {
    receive(send(server, "POST", path, &[], body.to_string().as_bytes()))
}

pub(crate) fn get(server: &impl Address, path: &str) -> Response {
    receive(send(server, "GET", path, &[], b""))
}

pub(crate) fn chat(server: &impl Address, body: &Value) -> Response {
    post(server, "/api/chat", body)
}

/// A chat request of one user message, with more fields.
pub(crate) fn ask(model: &str, text: &str, more: Value) -> Value {
    let mut body = json!({"model": model, "messages": [{"role": "user", "content": text}]});
    for (name, value) in more.as_object().expect("more fields are an object") {
        body[name] = value.clone();
    }
    body
}

/// A tool of one required string parameter.
pub(crate) fn tool(name: &str, parameter: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "description": "",
        "parameters": {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}}})
}
