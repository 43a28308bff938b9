//! What the tests share: the cases to run and ways to look at the result.
#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    unreachable_pub,
    missing_docs,
    reason = "test code"
)]

use std::io::Read;
use std::path::Path;

use wisp_exec::{CommandSpec, StreamOutput};

/// One of the inputs in `tests/cases`, run with an argument.
pub fn case(name: &str, argument: &str) -> CommandSpec {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases")
        .join(name);
    let interpreter = if Path::new(name).extension().is_some_and(|ext| ext == "py") {
        "python3"
    } else {
        "sh"
    };
    CommandSpec::shell(format!("exec {interpreter} '{}' {argument}", path.display()))
}

/// Everything kept of a stream, with `<GAP>` where something was not.
pub fn bytes(stream: &StreamOutput) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream
        .reader(|_| b"<GAP>".to_vec())
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

pub fn text(stream: &StreamOutput) -> String {
    String::from_utf8(bytes(stream)).unwrap()
}

/// Whether no such process runs; one that has ended and waits to be reaped does not.
pub fn is_gone(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_none_or(|(_, after)| after.starts_with(['Z', 'X']))
}
