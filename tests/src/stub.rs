//! A server of the tests' own that answers a chat with exactly the bytes it is given. What `ollama-sim` would never
//! send, since a real Ollama would not, is played here.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

/// The last line of a reply that ended by itself.
pub const DONE: &str = r#"{"model":"sim","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":900,"eval_count":9}"#;

/// A line of a reply that is not its last, with this message.
pub fn line(message: &Value) -> Vec<u8> {
    let mut whole = json!({"role": "assistant", "content": ""});
    if let (Some(whole), Some(own)) = (whole.as_object_mut(), message.as_object()) {
        whole.extend(own.clone());
    }
    json!({"model": "sim", "message": whole, "done": false})
        .to_string()
        .into_bytes()
}

/// A whole reply with this text.
pub fn text(text: &str) -> Vec<Vec<u8>> {
    vec![line(&json!({ "content": text })), DONE.into()]
}

/// A whole reply that calls a tool.
pub fn call(tool: &str, arguments: &Value) -> Vec<Vec<u8>> {
    let call = json!({"function": {"name": tool, "arguments": arguments}});
    vec![line(&json!({ "tool_calls": [call] })), DONE.into()]
}

/// The server; it serves until the test program ends.
#[derive(Clone)]
pub struct Stub {
    port: u16,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Stub {
    /// A server that answers the chats with these replies, each a list of lines, and with `fine` when there are no more.
    pub fn start(replies: Vec<Vec<Vec<u8>>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
        let port = listener.local_addr().expect("a listener has an address").port();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&bodies);
        std::thread::spawn(move || {
            let mut replies = replies.into_iter();
            for stream in listener.incoming().map_while(Result::ok) {
                let mut reply = || replies.next().unwrap_or_else(|| text("fine"));
                // A client that went away is none of the server's business.
                let _ = answer(stream, &seen, &mut reply);
            }
        });
        Self { port, bodies }
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What came as chats, body by body. A body that is no JSON is `null`.
    pub fn chats(&self) -> Vec<Value> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The results of tools in the last chat.
    pub fn results(&self) -> Vec<String> {
        let chats = self.chats();
        let messages = chats.last().and_then(|chat| chat["messages"].as_array());
        let results = messages.into_iter().flatten().filter(|m| m["role"] == "tool");
        results
            .map(|m| m["content"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

fn answer(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Value>>,
    reply: &mut dyn FnMut() -> Vec<Vec<u8>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    reader.read_line(&mut head)?;
    loop {
        let mut field = String::new();
        reader.read_line(&mut field)?;
        if field.trim().is_empty() {
            break;
        }
        if let Some(value) = field.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let model = json!({"name": "sim", "model": "sim", "size": 1, "context_length": 16384, "details": {}});
    let body = match head.split(' ').nth(1).unwrap_or_default() {
        "/api/chat" => {
            let body = serde_json::from_slice(&body).unwrap_or_default();
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(body);
            let mut lines = reply().join(&b'\n');
            lines.push(b'\n');
            lines
        }
        "/api/version" => json!({"version": "0.32.15"}).to_string().into_bytes(),
        "/api/show" => json!({
            "details": {}, "capabilities": ["completion", "tools"],
            "model_info": {"general.architecture": "sim", "sim.context_length": 16384},
        })
        .to_string()
        .into_bytes(),
        _ => json!({ "models": [model] }).to_string().into_bytes(),
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n", body.len())?;
    stream.write_all(&body)
}
