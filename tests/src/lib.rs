//! What the black-box tests share: the real `wisp` binary in a clean environment, against a scripted server.
//!
//! Every run has a home of its own, inherits nothing but `PATH`, and is 80 columns wide. A run that does not end
//! within its limit is killed and fails, so that a hang is a failure with a name.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "tests start the binary, lay out its home, and fail"
)]

pub mod schema;
pub mod stub;
mod talk;

pub use talk::{Talk, is_end, is_kind, notes, outcome};

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ollama_sim::{Capability, Config, Model, Remote, Reply, Seen, Server};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// How long a run may take unless a test says otherwise.
const LIMIT: Duration = Duration::from_mins(1);

/// The binary, built once for this test program.
pub fn binary(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let dir = BUILT.get_or_init(|| {
        let cargo = option_env!("CARGO").unwrap_or("cargo");
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--workspace", "--bins"]);
        // What `cargo test` tells this program of its package would have a dependency's build script, which looks at it, and
        // with it half of the tree built anew.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_PRIMARY_"]
                .iter()
                .any(|own| name.starts_with(own))
            {
                command.env_remove(&*name);
            }
        }
        let built = command.status();
        // Where no cargo can be started, as by another user than the one who built, those beside this program are taken.
        assert!(
            !built.is_ok_and(|status| !status.success()),
            "the binaries could not be built"
        );
        let exe = std::env::current_exe().expect("a test knows where it is");
        exe.parent()
            .and_then(Path::parent)
            .expect("tests lie in target/PROFILE/deps")
            .to_owned()
    });
    let path = dir.join(name);
    assert!(
        path.is_file(),
        "{} is not there, and cargo cannot build it",
        path.display()
    );
    path
}

/// A folder of the cases that come with the tests.
pub fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(name)
}

/// A home, a working directory and an environment for runs of `wisp`.
pub struct Wisp {
    home: tempfile::TempDir,
    env: Vec<(String, String)>,
    limit: Duration,
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// Standard output, as it came.
    pub out: Vec<u8>,
    /// Standard error, as text.
    pub err: String,
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
}

impl Ran {
    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

impl Default for Wisp {
    fn default() -> Self {
        Self::new()
    }
}

impl Wisp {
    /// A fresh home without a server: nothing listens at the address it is given.
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::create_dir(home.path().join("work")).expect("a folder can be made");
        let mut wisp = Self {
            home,
            env: Vec::new(),
            limit: LIMIT,
        };
        wisp.set("OLLAMA_HOST", "http://127.0.0.1:9");
        wisp
    }

    /// A fresh home whose server is `server`, with `sim` as the configured model.
    pub fn with(server: &Server) -> Self {
        let mut wisp = Self::new();
        wisp.set("OLLAMA_HOST", &server.url());
        wisp.configure(&json!({"model": "sim"}));
        wisp
    }

    /// Sets a variable of the environment.
    pub fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(n, _)| n != name);
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// Allows a run more or less time.
    pub fn limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Writes `config.json`. Models are warmed up only where a test says so: most count requests.
    pub fn configure(&self, config: &Value) {
        let mut config = config.clone();
        if config.is_object() && config["ollama"]["warmUp"].is_null() {
            config["ollama"]["warmUp"] = false.into();
        }
        std::fs::create_dir_all(self.root()).expect("the home can be made");
        let path = self.root().join("config.json");
        std::fs::write(&path, config.to_string()).expect("the home can be written");
        // Whatever umask is set: settings that others can write are refused.
        let own = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, own).expect("the file is this test's own");
    }

    /// wisp's own folder.
    pub fn root(&self) -> PathBuf {
        self.home.path().join("wisp")
    }

    /// The working directory.
    pub fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// The command of a run.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary("wisp"));
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        command.args(args).current_dir(self.work()).env_clear();
        command
            .env("PATH", path)
            .env("HOME", self.home.path())
            .env("WISP_HOME", self.root());
        command
            .env("COLUMNS", "80")
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("TERM", "dumb");
        command.envs(self.env.iter().cloned());
        command
    }

    /// Runs `wisp` with `input` on standard input.
    pub fn run(&self, args: &[&str], input: &str) -> Ran {
        self.run_command(self.command(args), input)
    }

    /// Runs a command of [`Wisp::command`] that was changed, with `input` on standard input.
    pub fn run_command(&self, mut command: Command, input: &str) -> Ran {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        let input = input.to_owned();
        std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        finish(child, self.limit)
    }

    /// Runs a chat of these lines, then leaves.
    pub fn chat(&self, lines: &[&str]) -> Ran {
        self.run(&["chat"], &format!("{}\n/quit\n", lines.join("\n")))
    }

    /// The events of the only audit session, in order.
    pub fn audit(&self) -> Vec<Value> {
        let files = files_in(&self.root().join("audit"));
        let logs: Vec<_> = files
            .iter()
            .filter(|f| f.extension().is_some_and(|e| e == "jsonl"))
            .collect();
        assert_eq!(logs.len(), 1, "one audit session: {logs:?}");
        let text = std::fs::read_to_string(logs[0]).expect("the audit can be read");
        text.lines()
            .map(|l| serde_json::from_str(l).expect("an event is JSON"))
            .collect()
    }

    /// All that the audit holds, of every session.
    pub fn audit_text(&self) -> String {
        let files = files_in(&self.root().join("audit"));
        let texts = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
        texts.collect()
    }

    /// The kept outputs: each record with the bytes of its file.
    pub fn kept(&self) -> Vec<(Value, Vec<u8>)> {
        let sessions = files_in(&self.root().join("output"));
        let records = sessions
            .iter()
            .flat_map(|s| files_in(s))
            .filter(|f| f.extension().is_some_and(|e| e == "json"));
        let read = |record: PathBuf| {
            let json = std::fs::read(&record).expect("a record can be read");
            let bytes = std::fs::read(record.with_extension("")).expect("its output can be read");
            (serde_json::from_slice(&json).expect("a record is JSON"), bytes)
        };
        records.map(read).collect()
    }
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.sort();
    files
}

/// Waits for a run's end, killing it at its limit.
fn finish(mut child: Child, limit: Duration) -> Ran {
    let mut out = child.stdout.take().expect("standard output is a pipe");
    let mut err = child.stderr.take().expect("standard error is a pipe");
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = out.read_to_end(&mut bytes);
        bytes
    });
    let erring = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = err.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status;
        }
        if began.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            panic!(
                "wisp did not end within {limit:?}: {}",
                erring.join().unwrap_or_default()
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ran {
        out: reading.join().expect("the reader ends"),
        err: erring.join().expect("the reader ends"),
        code: status.code(),
    }
}

/// A server whose model runs `command` when asked for anything, and then says `done`.
pub fn runs(command: &str) -> Server {
    calls("run_command", json!({ "command": command }))
}

/// A server whose model calls `tool` once for each prompt, and then says `done`.
pub fn calls(tool: &str, arguments: Value) -> Server {
    let tool = tool.to_owned();
    serve(Model::new("sim"), move |seen: &Seen| {
        match seen.last().map(|m| m.role.as_str()) {
            Some("tool") => Reply::text("done"),
            _ => Reply::call(&tool, arguments.clone()),
        }
    })
}

/// A server with one model that answers by a rule.
pub fn serve(model: Model, rule: impl FnMut(&Seen) -> Reply + Send + 'static) -> Server {
    Server::start(Config::new(rule).models([model])).expect("a loopback server starts")
}

/// The text of the last tool message that the server was sent, without the two lines that an output stands between.
pub fn tool_message(server: &Server) -> String {
    let boundary = |line: &str| line.starts_with("<output-") || line.starts_with("</output-");
    let content = framed_message(server);
    content
        .split_inclusive('\n')
        .filter(|line| !boundary(line))
        .collect()
}

/// The text of the last tool message that the server was sent, as it was sent.
pub fn framed_message(server: &Server) -> String {
    let chats = server.chats();
    let messages = chats
        .last()
        .and_then(|c| c.json.as_ref())
        .map(|j| j["messages"].clone())
        .unwrap_or_default();
    let messages = messages.as_array().cloned().unwrap_or_default();
    let last = messages.iter().rev().find(|m| m["role"] == "tool");
    last.and_then(|m| m["content"].as_str())
        .unwrap_or_default()
        .to_owned()
}

/// A server with a model that can be talked to, one for embeddings and one on another machine. It makes the call it is
/// asked for and says hello otherwise.
pub fn three_models() -> Server {
    let answer = |seen: &Seen| {
        if seen.offers("record_word") {
            Reply::call("record_word", json!({"word": "heron"}))
        } else {
            Reply::text("Hello.")
        }
    };
    let cloud = Model {
        remote: Some(Remote {
            host: "https://ollama.com:443".into(),
            model: "big".into(),
            signed_in: true,
            quota: None,
        }),
        ..Model::new("big:cloud")
    };
    let embedding = Model::new("embed").with_capabilities(&[Capability::Embedding]);
    Server::start(Config::new(answer).models([Model::new("small"), embedding, cloud]))
        .expect("a loopback server starts")
}

/// Whether the last chat request offered tools.
pub fn offered_tools(server: &Server) -> bool {
    let chats = server.chats();
    let last = chats.last().and_then(|chat| chat.json.as_ref());
    last.expect("the server was asked").get("tools").is_some()
}

/// The rows of a list written for programs, each split at its tabs.
pub fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(|l| l.split('\t').map(str::to_owned).collect())
        .collect()
}

/// The SHA-256 of bytes, as lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

/// A path quoted for the shell.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}
