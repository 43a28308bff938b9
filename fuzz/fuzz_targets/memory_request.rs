//! Any request of the `memory` tool is read or answered with the grammar.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wisp_output::request::{Grammar, Request};

fuzz_target!(|text: &str| {
    if let Err(unreadable) = Grammar::<Request>::of_outputs().read(text) {
        assert!(!unreadable.to_string().is_empty());
    }
});
