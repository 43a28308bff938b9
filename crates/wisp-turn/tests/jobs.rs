//! Any order of what happens to jobs, also ends that come late: the model's place has one holder, never another's while a
//! turn runs, every job that begins is over once, and all are when the conversation has ended.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use wisp_turn::{JobEffect, JobId, JobInput, JobTerms, Preempted, Schedule};

fn terms() -> impl Strategy<Value = JobTerms> {
    any::<(bool, bool, bool)>().prop_map(|(uses_model, for_turn, retries)| JobTerms {
        uses_model,
        for_turn,
        when_preempted: if retries {
            Preempted::Retry
        } else {
            Preempted::GiveUp
        },
    })
}

fn input() -> impl Strategy<Value = JobInput> {
    let id = || (0..8_u32).prop_map(JobId);
    prop_oneof![
        4 => (id(), terms()).prop_map(|(id, terms)| JobInput::Added(id, terms)),
        2 => Just(JobInput::TurnBegins),
        2 => Just(JobInput::TurnEnds),
        3 => id().prop_map(JobInput::Ended),
        3 => id().prop_map(JobInput::Stopped),
        1 => id().prop_map(JobInput::Cancel),
    ]
}

/// What a runner would know of the jobs, checked with each effect.
#[derive(Default)]
struct Runner {
    schedule: Schedule,
    terms: BTreeMap<JobId, JobTerms>,
    running: BTreeSet<JobId>,
    stopping: BTreeSet<JobId>,
    over: BTreeSet<JobId>,
    in_turn: bool,
}

impl Runner {
    fn feed(&mut self, input: JobInput) {
        match input {
            // An id is given once.
            JobInput::Added(id, _) if self.terms.contains_key(&id) => return,
            // Only what runs can end.
            JobInput::Ended(id) | JobInput::Stopped(id) if !self.running.contains(&id) => return,
            JobInput::Added(id, terms) => drop(self.terms.insert(id, terms)),
            JobInput::TurnBegins => self.in_turn = true,
            JobInput::TurnEnds => self.in_turn = false,
            JobInput::Ended(id) | JobInput::Stopped(id) => {
                self.running.remove(&id);
                self.stopping.remove(&id);
            }
            JobInput::Cancel(_) | JobInput::Close => {}
        }
        for effect in self.schedule.on(input) {
            match effect {
                JobEffect::Start(id) => self.started(id),
                JobEffect::Stop(id) => assert!(self.running.contains(&id) && self.stopping.insert(id)),
                JobEffect::Pause(id) => assert!(!self.running.contains(&id) && !self.over.contains(&id)),
                JobEffect::Over(id, _) => assert!(!self.running.contains(&id) && self.over.insert(id)),
            }
        }
    }

    fn started(&mut self, id: JobId) {
        assert!(!self.over.contains(&id) && self.running.insert(id), "begun twice");
        let terms = self.terms[&id];
        let holders = self
            .running
            .iter()
            .filter(|id| self.terms[*id].uses_model)
            .count();
        assert!(!terms.uses_model || holders == 1, "the model has one place");
        assert!(
            !terms.uses_model || terms.for_turn || !self.in_turn,
            "the turn is first"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_keeps_the_model_s_one_place_and_ends_every_job_once(
        inputs in prop::collection::vec(input(), 0..60)
    ) {
        let mut runner = Runner::default();
        for input in inputs {
            runner.feed(input);
        }
        runner.feed(JobInput::Close);
        for id in runner.running.clone() {
            runner.feed(JobInput::Stopped(id));
        }
        prop_assert_eq!(runner.over.len(), runner.terms.len());
    }
}
