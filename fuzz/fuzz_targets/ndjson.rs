//! Lines of a chat stream, cut into chunks anywhere: the same lines come out, and none panics when it is read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wisp_ollama::ndjson::{LineSplitter, split_lines};

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    let whole = split_lines(bytes);
    let mut splitter = LineSplitter::default();
    let mut lines = Vec::new();
    for chunk in bytes.chunks(usize::from(cut).max(1)) {
        splitter.push(chunk);
        while let Ok(Some(line)) = splitter.next_line() {
            let _ = wisp_ollama::stream::read_line("fuzz", &line);
            lines.push(line.to_vec());
        }
    }
    if let (Ok(whole), Ok(rest)) = (whole, splitter.rest()) {
        lines.extend(rest.map(|line| line.to_vec()));
        assert_eq!(lines.len(), whole.len());
    }
});
