//! One contract for the simulator and for a real server.
//!
//! The same clauses are judged against every profile and, when `WISP_REAL_OLLAMA` names one (`host:port`), against a
//! real server; `scripts/live` brings one up. What may differ between releases is asked of the profile, never of the
//! server: a real one gets the newest profile that is not newer than itself, or the one named by `WISP_REAL_PROFILE`.
//!
//! The model, `WISP_REAL_MODEL`, has to say what it is told, as that of `tests/live/Modelfile` does: a call written
//! as text comes back as a call. Nothing here is about a model's words otherwise. Every clause is tried, so that one
//! run names all that does not hold.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "test code outside a test function"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "a test asks the environment for a server to test against"
)]

#[path = "../common/mod.rs"]
mod common;

mod refusals;
mod replies;
mod service;
mod subject;
mod tools;
mod window;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use common::Address as _;
use ollama_sim::{Capability, Config, Event, Model, Profile, Reply, Seen, Server, profile};
use subject::Subject;

type Clause = (&'static str, fn(&Subject));

/// Everything a server is judged by, what needs the fewest loads first.
const CONTRACT: [&[Clause]; 5] = [
    replies::CLAUSES,
    refusals::CLAUSES,
    tools::CLAUSES,
    service::CLAUSES,
    window::CLAUSES,
];

/// Tries every clause and says which did not hold.
fn judge(subject: &Subject) {
    let mut broken = Vec::new();
    for (what, clause) in CONTRACT.iter().flat_map(|part| part.iter()) {
        let began = Instant::now();
        let held = catch_unwind(AssertUnwindSafe(|| clause(subject))).is_ok();
        let verdict = if held { "holds" } else { "DOES NOT HOLD" };
        eprintln!(
            "{} {verdict}, {:?}: {what}",
            subject.profile.name,
            began.elapsed()
        );
        if !held {
            broken.push(*what);
        }
    }
    assert!(
        broken.is_empty(),
        "{} at {} breaks: {broken:#?}",
        subject.profile.name,
        subject.server
    );
}

/// The scripted model: it says what it is told, gives a value of the schema it is held to, and never ends what begins
/// with `Count slowly`.
fn parrot(seen: &Seen) -> Reply {
    let last = seen
        .last()
        .map(|m| (m.role.as_str(), m.content.as_str()))
        .unwrap_or_default();
    match last {
        _ if seen.request["format"].is_object() => Reply::text(r#"{"word": "heron"}"#),
        ("tool", _) => Reply::text("That is done."),
        (_, text) if text.starts_with(subject::LONG_COUNT) => {
            Reply::text("one two three").event(Event::Stall)
        }
        (_, text) => Reply::new().event(Event::Raw(text.to_owned())),
    }
}

/// A simulator of this profile with the two models that a real server is given.
fn simulator(profile: Profile) -> Server {
    let model = |name: &str, capabilities: &[Capability]| Model {
        load_ms: 800,
        weights: Some("weights".to_owned()),
        ..Model::new(name)
            .with_capabilities(capabilities)
            .with_context_length(8192)
    };
    let models = [
        model("sim", &[Capability::Completion, Capability::Tools]),
        model("plain", &[Capability::Completion]),
    ];
    Server::start(Config::new(parrot).profile(profile).models(models)).unwrap()
}

#[test]
fn the_simulator_keeps_the_contract_in_every_profile() {
    for profile in profile::ALL {
        let server = simulator(profile);
        judge(&Subject {
            server: server.address(),
            model: "sim".to_owned(),
            plain: Some("plain".to_owned()),
            profile,
        });
    }
}

#[test]
fn a_real_server_keeps_the_contract() {
    match Subject::real() {
        Some(subject) => judge(&subject),
        None => eprintln!(
            "SKIPPED: WISP_REAL_OLLAMA names no server (host:port), so only the simulator was judged; see scripts/live"
        ),
    }
}
