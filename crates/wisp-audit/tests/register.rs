//! The register of sessions: a session that was removed as a whole shows, and with a key whatever else was done to it.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests damage files as no code of wisp's may, and a failed step is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use wisp_audit::{
    AuditLog, EndCheck, Event, Key, Kind, RegisterFault, SessionId, Sweep, Verdict, file_of, register,
    register_of, seal_of, verify_with,
};
use wisp_host::{RandomIds, SystemClock};

fn session(home: &Path, name: &str, key: Option<&Key>) -> PathBuf {
    let session = SessionId::parse(name).unwrap();
    let by = (Arc::new(SystemClock) as _, Arc::new(RandomIds) as _);
    let log = AuditLog::open_with(home, &session, by, key.cloned()).unwrap();
    log.append(Event::new(Kind::Prompt, json!({"text": "one"})))
        .unwrap();
    log.append(Event::new(Kind::Prompt, json!({"text": "two"})))
        .unwrap();
    log.path().unwrap()
}

fn home(key: Option<&Key>) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        session(home.path(), name, key);
    }
    home
}

fn key(byte: u8) -> Key {
    Key::of(&[byte; 32]).unwrap()
}

fn fault(home: &Path, key: Option<&Key>) -> Option<RegisterFault> {
    register(home, key).unwrap().fault
}

fn missing(names: &[&str]) -> RegisterFault {
    let sessions = names.iter().map(|name| (*name).to_owned()).collect();
    RegisterFault::Missing { sessions }
}

#[test]
fn sessions_that_are_all_there_are_no_fault_and_are_named_once() {
    let home = home(None);
    session(home.path(), "b", None);
    let register = register(home.path(), None).unwrap();
    assert_eq!(register.fault, None);
    assert_eq!(register.sessions.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    let lines = fs::read_to_string(register_of(home.path())).unwrap();
    assert_eq!(lines.lines().count(), 3, "{lines}");
}

#[test]
fn a_home_without_sessions_has_no_register_and_no_fault() {
    assert_eq!(fault(tempfile::tempdir().unwrap().path(), None), None);
}

#[test]
fn a_session_that_was_removed_is_named_whichever_it_was() {
    for name in ["a", "b", "c"] {
        let home = home(None);
        let file = file_of(home.path(), &SessionId::parse(name).unwrap());
        fs::remove_file(seal_of(&file)).unwrap();
        fs::remove_file(file).unwrap();
        assert_eq!(fault(home.path(), None), Some(missing(&[name])));
    }
}

#[test]
fn a_line_that_was_removed_or_changed_is_named() {
    let home = home(None);
    let path = register_of(home.path());
    let lines = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = lines.split_inclusive('\n').collect();
    for at in 0..2 {
        let mut left = lines.clone();
        left.remove(at);
        fs::write(&path, left.concat()).unwrap();
        let line = at as u64 + 1;
        assert_eq!(fault(home.path(), None), Some(RegisterFault::Changed { line }));
    }
    fs::write(&path, lines.concat().replace("\"a\"", "\"x\"")).unwrap();
    assert_eq!(fault(home.path(), None), Some(RegisterFault::Changed { line: 2 }));
    for (from, to) in [("\"c\"", "\"x\""), ("begun", "swept")] {
        fs::write(&path, [lines[0], lines[1], &lines[2].replace(from, to)].concat()).unwrap();
        assert_eq!(fault(home.path(), None), Some(RegisterFault::End));
    }
    fs::write(&path, lines[..2].concat()).unwrap();
    assert_eq!(fault(home.path(), None), Some(RegisterFault::End));
}

#[test]
fn a_register_or_its_seal_that_is_gone_is_a_fault() {
    let home = home(None);
    fs::remove_file(seal_of(&register_of(home.path()))).unwrap();
    assert_eq!(fault(home.path(), None), Some(RegisterFault::End));
    fs::remove_file(register_of(home.path())).unwrap();
    assert_eq!(fault(home.path(), None), Some(RegisterFault::Gone));
}

#[test]
fn a_register_begins_with_the_sessions_that_are_there() {
    let home = home(None);
    fs::remove_file(register_of(home.path())).unwrap();
    session(home.path(), "d", None);
    let register = register(home.path(), None).unwrap();
    assert_eq!(register.fault, None);
    assert_eq!(register.sessions.len(), 4);
}

#[test]
fn a_line_that_a_crash_tore_is_passed_over() {
    let home = home(None);
    let path = register_of(home.path());
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"seq\":4")).unwrap();
    assert_eq!(fault(home.path(), None), None);
    session(home.path(), "d", None);
    assert_eq!(fault(home.path(), None), None);
    assert_eq!(register(home.path(), None).unwrap().sessions.len(), 4);
}

#[test]
fn a_session_that_was_swept_is_not_missed() {
    let home = home(None);
    let sweep = Sweep {
        home: home.path(),
        now: "2100-01-01T00:00:00Z".parse().unwrap(),
        days: 1,
        keep: &|session| session.as_str() == "b",
        key: None,
    };
    assert_eq!(sweep.run().unwrap().removed.len(), 2);
    let register = register(home.path(), None).unwrap();
    assert_eq!(register.fault, None);
    assert_eq!(register.sessions.keys().collect::<Vec<_>>(), ["b"]);
}

/// What somebody who can write the folder, and knows how it is made, can make anew without a key.
fn forge(home: &Path, with: Option<&Key>) {
    fs::remove_dir_all(home.join("audit")).unwrap();
    for name in ["a", "c"] {
        session(home, name, with);
    }
}

#[test]
fn without_a_key_a_record_that_was_made_anew_passes() {
    let home = home(None);
    forge(home.path(), None);
    assert_eq!(fault(home.path(), None), None);
}

#[test]
fn with_a_key_a_record_that_was_made_anew_does_not_pass() {
    for with in [None, Some(&key(2))] {
        let home = home(Some(&key(1)));
        assert_eq!(fault(home.path(), Some(&key(1))), None);
        forge(home.path(), with);
        assert_eq!(fault(home.path(), Some(&key(1))), Some(RegisterFault::Key));
    }
}

#[test]
fn with_a_key_a_session_that_was_made_anew_does_not_pass() {
    let own = key(1);
    let home = home(Some(&own));
    let path = file_of(home.path(), &SessionId::parse("b").unwrap());
    let end = |key: Option<&Key>| match verify_with(&path, key).unwrap() {
        Verdict::Whole { end, .. } => end,
        broken @ Verdict::Broken { .. } => panic!("{broken:?}"),
    };
    assert_eq!((end(Some(&own)), end(None)), (EndCheck::Keyed, EndCheck::Sealed));
    let elsewhere = tempfile::tempdir().unwrap();
    for with in [None, Some(&key(2))] {
        let forged = session(elsewhere.path(), "b", with);
        fs::copy(&forged, &path).unwrap();
        fs::copy(seal_of(&forged), seal_of(&path)).unwrap();
        assert_eq!(end(Some(&own)), EndCheck::NotKeyed);
        fs::remove_dir_all(elsewhere.path().join("audit")).unwrap();
    }
    assert!(register(home.path(), Some(&own)).unwrap().sessions["b"]);
}
