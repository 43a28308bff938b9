//! Any bytes have a digest, which fits the room it is given.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wisp_digest::{Digest, Options, View};

fuzz_target!(|input: (Option<u8>, u16, &[u8])| {
    let (exit, room, bytes) = input;
    let digest = Digest::of(
        bytes,
        Options {
            exit: exit.map(i32::from),
        },
    );
    for view in [View::Notable, View::Overview] {
        assert!(digest.render(usize::from(room), view).len() <= usize::from(room));
    }
    assert_eq!(wisp_digest::check(bytes), Ok(()));
});
