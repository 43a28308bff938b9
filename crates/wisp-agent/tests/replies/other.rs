//! A server that is not Ollama and says it is: it answers a chat with exactly the lines it is given. What `ollama-sim`
//! would never send, since a real one would not, is played here.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use ollama_sim::{Config, Script};
use serde_json::{Value, json};

use super::common::Stage;

/// What came as chats, body by body.
pub type Bodies = Arc<Mutex<Vec<Value>>>;

/// A stage whose server answers the chats with these replies, the last one again and again, each a list of lines.
pub fn stage(replies: Vec<Vec<Value>>) -> (Stage, Bodies) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let bodies = Bodies::default();
    let seen = Arc::clone(&bodies);
    std::thread::spawn(move || {
        let mut replies = replies.into_iter().peekable();
        let mut last = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reply = || {
                last = replies.next().unwrap_or_else(|| last.clone());
                last.iter().fold(String::new(), |body, line: &Value| {
                    body + &line.to_string() + "\n"
                })
            };
            // A client that went away is none of the server's business.
            let _ = answer(stream, &seen, &mut reply);
        }
    });
    let mut stage = Stage::new(Config::new(Script::new()), &super::settings());
    stage.env.retain(|(name, _)| name != "OLLAMA_HOST");
    stage.env.push(("OLLAMA_HOST".to_owned(), url));
    stage.yes = true;
    (stage, bodies)
}

fn answer(mut stream: TcpStream, seen: &Bodies, reply: &mut dyn FnMut() -> String) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    reader.read_line(&mut head)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = head.split(' ').nth(1).unwrap_or_default();
    let model = json!({"name": "sim", "model": "sim", "size": 1, "context_length": 16384, "details": {}});
    let body = match path {
        "/api/chat" => {
            seen.lock()
                .unwrap()
                .push(serde_json::from_slice(&body).unwrap_or_default());
            reply()
        }
        "/api/version" => json!({"version": "0.32.15"}).to_string(),
        "/api/show" => json!({
            "details": {}, "capabilities": ["completion", "tools"],
            "model_info": {"general.architecture": "sim", "sim.context_length": 16384},
        })
        .to_string(),
        _ => json!({"models": [model]}).to_string(),
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())
}
