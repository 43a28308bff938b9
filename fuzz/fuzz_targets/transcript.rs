//! Any pair of files is loaded as far as it can be, or refused; what was loaded can be saved and composed.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &[u8])| {
    if let Ok(mut loaded) = wisp_context::load(input.0, input.1) {
        let _ = loaded.record.compose();
        let _ = loaded.record.save();
    }
});
