//! Lines of a chat stream, cut into chunks anywhere: the same lines come out, and none panics when it is read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wisp_ollama::ndjson::split_lines;

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    let limit = 1 << 20;
    let whole = split_lines([bytes], limit);
    let pieces = split_lines(bytes.chunks(usize::from(cut).max(1)), limit);
    if let (Ok(whole), Ok(pieces)) = (whole, pieces) {
        assert_eq!(whole, pieces);
        for line in whole {
            let _ = wisp_ollama::read_line("fuzz", &line);
        }
    }
});
