//! What is past its time goes when wisp starts, and what a saved conversation still refers to stays.
#![allow(
    clippy::disallowed_methods,
    reason = "tests age the files of a home of their own"
)]

use std::collections::BTreeSet;
use std::fs::File;
use std::time::{Duration, SystemTime};

use ollama_sim::{Model, Reply, Seen, Server};
use wisp_tests::{Wisp, serve};

const DAY: Duration = Duration::from_hours(24);

fn answers() -> Server {
    serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."))
}

/// The sessions that have an audit file.
fn sessions(wisp: &Wisp) -> BTreeSet<String> {
    let folder = std::fs::read_dir(wisp.root().join("audit")).expect("there is an audit");
    let names = folder.map(|entry| entry.expect("it can be listed").file_name());
    let names = names.filter_map(|name| Some(name.to_str()?.strip_suffix(".jsonl")?.to_owned()));
    names.collect()
}

/// Makes every audit file so many days older.
fn age(wisp: &Wisp, days: u32) {
    for session in sessions(wisp) {
        let path = wisp.root().join("audit").join(format!("{session}.jsonl"));
        let file = File::options().append(true).open(path).expect("it is there");
        let then = SystemTime::now() - DAY * days;
        file.set_modified(then).expect("its time can be set");
    }
}

/// The one session that `run` adds.
fn session_of(wisp: &Wisp, run: impl FnOnce()) -> String {
    let before = if wisp.root().join("audit").exists() {
        sessions(wisp)
    } else {
        BTreeSet::new()
    };
    run();
    let after = sessions(wisp);
    let mut added = after.difference(&before);
    let one = added.next().expect("there is a new session").clone();
    assert_eq!(added.next(), None);
    one
}

/// The event a session began with.
fn start_of(wisp: &Wisp, session: &str) -> serde_json::Value {
    let path = wisp.root().join("audit").join(format!("{session}.jsonl"));
    let text = std::fs::read_to_string(path).expect("the audit can be read");
    serde_json::from_str(text.lines().next().unwrap_or_default()).expect("an event is JSON")
}

#[test]
fn an_audit_past_its_time_goes_unless_a_saved_conversation_refers_to_it() {
    let server = answers();
    let wisp = Wisp::with(&server);
    let single = session_of(&wisp, || {
        wisp.run(&["hi"], "");
    });
    let saved = session_of(&wisp, || {
        wisp.run(&["chat", "--save", "work"], "hi\n/quit\n");
    });
    age(&wisp, 89);
    wisp.run(&["hi"], "");
    assert!(sessions(&wisp).is_superset(&BTreeSet::from([single.clone(), saved.clone()])));
    age(&wisp, 91);
    let last = session_of(&wisp, || {
        let ran = wisp.run(&["hi"], "");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    });
    assert_eq!(sessions(&wisp), BTreeSet::from([saved.clone(), last.clone()]));
    let swept = &start_of(&wisp, &last)["details"]["auditSweep"];
    assert_eq!(
        (&swept["removed"], &swept["deferred"]),
        (&2.into(), &0.into()),
        "{swept}"
    );
    let names = swept["sessions"].as_array().expect("they are named");
    assert!(names.contains(&single.as_str().into()), "{swept}");
    // Deleted, nothing refers to it any more.
    wisp.run(&["threads", "delete", "work"], "");
    wisp.run(&["hi"], "");
    assert!(!sessions(&wisp).contains(&saved));
}

#[test]
fn with_zero_days_every_audit_is_kept() {
    let server = answers();
    let wisp = Wisp::with(&server);
    let set = wisp.run(&["config", "set", "audit.days", "0"], "");
    assert_eq!(set.code, Some(0), "{}", set.err);
    let first = session_of(&wisp, || {
        wisp.run(&["hi"], "");
    });
    age(&wisp, 4000);
    wisp.run(&["hi"], "");
    assert!(sessions(&wisp).contains(&first));
}
