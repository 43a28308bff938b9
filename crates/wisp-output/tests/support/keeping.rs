//! Keeping outputs in a store of their own and reading back what it holds.

use std::path::Path;

use sha2::{Digest, Sha256};
use wisp_output::content::Content;
use wisp_output::store::About;
use wisp_output::{Context, Kept, Output, Place, Presented, Store, present};

use super::stream_lines;

pub(crate) const ID: &str = "3f9a2c1b00000001";

pub(crate) fn context(budget: usize) -> Context<'static> {
    Context {
        id: ID,
        about: About {
            tool: "run_command".into(),
            arguments: "make".into(),
            exit: Some("exit status 2".into()),
        },
        budget,
        memory: true,
        command: true,
        now: "2026-11-30T09:00:00Z".parse().unwrap(),
        first_error: None,
    }
}

pub(crate) fn kept(home: &Path, output: Output<'_>, ceiling: u64) -> (Presented, Vec<u8>) {
    let store = Store::new(home, "session").unwrap().with_ceiling(ceiling);
    let presented = present(output, Place::Store(&store), &context(4_096));
    let bytes = presented.kept.as_ref().map(stored).unwrap_or_default();
    (presented, bytes)
}

pub(crate) fn stored(kept: &Kept) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(kept.content.bytes()).unwrap()];
    let mut at = 0;
    while at < bytes.len() {
        at += kept.content.read_at(at as u64, &mut bytes[at..]).unwrap();
    }
    let record = &kept.record;
    assert_eq!(record.lines, stream_lines(&bytes, &record.sections));
    assert_eq!(
        record.sha256,
        base16ct::lower::encode_string(&Sha256::digest(&bytes))
    );
    bytes
}
