//! What models and servers were seen to send, what people type at a prompt and set as an address, what models write
//! into files: each a row with what has to come of it, through the real binary.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start programs, lay out files, and fail"
)]

mod files;
mod input;
mod models;
mod small;

use std::sync::Mutex;

use serde_json::json;
use wisp_tests::stub::Stub;
use wisp_tests::{Ran, Wisp};

type Reply = Vec<Vec<u8>>;

/// What came of one prompt.
struct Played {
    wisp: Wisp,
    stub: Stub,
    ran: Ran,
}

impl Played {
    fn lines_of(&self, file: &str) -> usize {
        let text = std::fs::read_to_string(self.wisp.work().join(file)).unwrap_or_default();
        text.lines().count()
    }

    /// What the person was told, on one line.
    fn told(&self) -> String {
        self.ran.err.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn home(stub: &Stub) -> Wisp {
    let mut wisp = Wisp::new();
    wisp.set("OLLAMA_HOST", &format!("127.0.0.1:{}", stub.port()));
    wisp.configure(&json!({"model": "sim"}));
    wisp
}

/// One prompt under `--yes` in a fresh home with these files.
fn play(files: &[(&str, &str)], replies: Vec<Reply>) -> Played {
    let stub = Stub::start(replies);
    let wisp = home(&stub);
    for (name, content) in files {
        std::fs::write(wisp.work().join(name), content).unwrap();
    }
    let ran = wisp.run(&["--yes", "look at the tide"], "");
    Played { wisp, stub, ran }
}

/// Does each row, a few at a time; every row that fails is named.
fn each<T: Sync>(
    rows: &[T],
    name: impl Fn(&T) -> String + Sync,
    row: impl Fn(&T) -> Result<(), String> + Sync,
) {
    let next = Mutex::new(rows.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let Some(one) = next.lock().unwrap().next() else {
                        return;
                    };
                    if let Err(why) = row(one) {
                        wrong.lock().unwrap().push(format!("{}: {why}", name(one)));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn right(holds: bool, played: &Played) -> Result<(), String> {
    if holds {
        return Ok(());
    }
    let (ran, results) = (&played.ran, played.stub.results());
    Err(format!(
        "exit {:?}, {:?}, {}, {results:?}",
        ran.code,
        ran.text(),
        ran.err
    ))
}
