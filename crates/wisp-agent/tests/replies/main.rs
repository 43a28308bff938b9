//! What wisp does with each way a reply can be wrong, against the scripted server over real HTTP.

#[path = "../common/mod.rs"]
mod common;

mod broken;
mod calls;
mod empty;
mod refused;

use common::Stage;
use ollama_sim::{Capability, Config, Reply, Script};
use serde_json::{Value, json};

const THINKS: [Capability; 3] = [Capability::Completion, Capability::Tools, Capability::Thinking];

/// A stage on which this script plays, in a window of 16,384 tokens.
fn stage(script: Script) -> Stage {
    Stage::new(Config::new(script), &settings())
}

fn settings() -> Value {
    json!({"ollama": {"contextLength": 16384}})
}

fn reads(name: &str) -> Reply {
    Reply::call("read_file", json!({"path": name}))
}
