//! Every way to tamper with a file is found, and the line at fault is named.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::naive_bytecount,
    reason = "tests damage files as no code of wisp's may, and a failed step is a failed test"
)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use wisp_audit::{AuditLog, Change, EndCheck, Event, Kind, SessionId, Verdict, seal_of, verify};
use wisp_host::{RandomIds, SystemClock};

/// A finished session of `count` events.
struct Finished {
    _home: tempfile::TempDir,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Finished {
    fn of(count: u64) -> Self {
        let home = tempfile::tempdir().unwrap();
        let session = SessionId::parse("session").unwrap();
        let log = AuditLog::open(home.path(), &session, Arc::new(SystemClock), Arc::new(RandomIds)).unwrap();
        for n in 1..=count {
            log.append(Event::new(Kind::Prompt, json!({ "text": format!("prompt {n}") })).in_turn(n))
                .unwrap();
        }
        let path = log.path().unwrap();
        let bytes = fs::read(&path).unwrap();
        Self {
            _home: home,
            path,
            bytes,
        }
    }

    fn lines(&self) -> Vec<Vec<u8>> {
        self.bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    }

    fn verdict_on(&self, lines: &[Vec<u8>]) -> Verdict {
        fs::write(&self.path, lines.concat()).unwrap();
        verify(&self.path).unwrap()
    }
}

fn broken(line: u64, change: Change) -> Verdict {
    Verdict::Broken { line, change }
}

#[test]
fn an_untouched_file_is_whole_and_sealed() {
    for count in [1, 5] {
        let file = Finished::of(count);
        let whole = Verdict::Whole {
            events: count,
            end: EndCheck::Sealed,
            torn: vec![],
        };
        assert_eq!(verify(&file.path).unwrap(), whole);
    }
}

#[test]
fn a_removed_line_is_named_wherever_it_stood() {
    let file = Finished::of(4);
    for at in 0..4 {
        let mut lines = file.lines();
        lines.remove(at);
        let change = Change::Removed { events: 1 };
        assert_eq!(file.verdict_on(&lines), broken(at as u64 + 1, change));
    }
    assert_eq!(file.verdict_on(&[]), broken(1, Change::Removed { events: 4 }));
    assert_eq!(
        file.verdict_on(&file.lines()[..1]),
        broken(2, Change::Removed { events: 3 })
    );
}

#[test]
fn a_changed_text_is_named_also_in_the_last_line() {
    let file = Finished::of(4);
    for at in 0..4 {
        let mut lines = file.lines();
        let text = String::from_utf8(lines[at].clone()).unwrap();
        lines[at] = text.replace("prompt ", "Prompt ").into_bytes();
        assert_eq!(file.verdict_on(&lines), broken(at as u64 + 1, Change::Changed));
    }
}

#[test]
fn a_line_that_stands_twice_or_elsewhere_is_named() {
    let file = Finished::of(4);
    let mut lines = file.lines();
    lines.insert(3, lines[1].clone());
    assert_eq!(file.verdict_on(&lines), broken(4, Change::Added));
    let mut lines = file.lines();
    lines.swap(1, 2);
    assert_eq!(file.verdict_on(&lines), broken(2, Change::Moved));
}

#[test]
fn an_event_forged_with_the_right_hash_is_named() {
    let file = Finished::of(3);
    let lines = file.lines();
    for (at, stands) in [(1, 2), (3, 4)] {
        // As the log would have written it after line `at`.
        let model: serde_json::Value = serde_json::from_slice(&lines[at - 1]).unwrap();
        let other = Finished::of(at as u64);
        let mut forged = model.clone();
        forged["seq"] = json!(at + 1);
        forged["prev"] = json!(sha256(lines[at - 1].trim_ascii_end()));
        drop(other);
        let mut with = lines.clone();
        with.insert(at, format!("{forged}\n").into_bytes());
        assert_eq!(file.verdict_on(&with), broken(stands, Change::Added));
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

#[test]
fn a_file_under_another_sessions_name_with_its_seal_gone_says_so() {
    let file = Finished::of(2);
    fs::remove_file(seal_of(&file.path)).unwrap();
    let whole = Verdict::Whole {
        events: 2,
        end: EndCheck::Unsealed,
        torn: vec![],
    };
    assert_eq!(verify(&file.path).unwrap(), whole);
}

#[test]
fn a_torn_last_line_is_noted_and_nothing_more() {
    let file = Finished::of(2);
    let mut lines = file.lines();
    lines.push(b"{\"schema\":1".to_vec());
    let whole = Verdict::Whole {
        events: 2,
        end: EndCheck::Sealed,
        torn: vec![3],
    };
    assert_eq!(file.verdict_on(&lines), whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_changed_byte_is_found(count in 1u64..5, at in any::<prop::sample::Index>(), flip in 1u8..=255) {
        let file = Finished::of(count);
        let mut bytes = file.bytes.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let line = 1 + file.bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
        let verdict = file.verdict_on(&[bytes]);
        let Verdict::Broken { line: named, .. } = verdict else {
            return Err(TestCaseError::fail(format!("{verdict:?}")));
        };
        prop_assert_eq!(named, line);
    }

    #[test]
    fn any_removed_inserted_or_moved_line_is_found(
        count in 2u64..7,
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        way in 0..3,
    ) {
        let file = Finished::of(count);
        let mut lines = file.lines();
        let (from, to) = (from.index(lines.len()), to.index(lines.len()));
        match way {
            0 => drop(lines.remove(from)),
            1 => { let line = lines[from].clone(); lines.insert(to, line); }
            _ => { let line = lines.remove(from); lines.insert(to, line); }
        }
        if lines.concat() != file.bytes {
            let verdict = file.verdict_on(&lines);
            prop_assert!(matches!(verdict, Verdict::Broken { .. }), "{:?}", verdict);
        }
    }

    #[test]
    fn any_cut_is_found(count in 1u64..5, at in any::<prop::sample::Index>()) {
        let file = Finished::of(count);
        let at = at.index(file.bytes.len());
        let verdict = file.verdict_on(&[file.bytes[..at].to_vec()]);
        prop_assert!(matches!(verdict, Verdict::Broken { .. }), "{:?}", verdict);
    }
}
