//! Which jobs run and when. A job is work beside the turns: a model call nobody waits for, a server that is started. The
//! model has one place, and the user's turn is first in it.

use std::collections::BTreeMap;
use std::fmt;

/// A job's number, from 1 in each conversation. Written `j1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u32);

impl JobId {
    /// The job that is written so.
    pub fn named(name: &str) -> Option<Self> {
        name.strip_prefix('j')?.parse().ok().map(Self)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "j{}", self.0)
    }
}

/// What a job is run on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobTerms {
    /// It asks the model, so that it waits for the model's place. One that does not runs at once, beside anything.
    pub uses_model: bool,
    /// The turn under way asked for it: it runs beside the turn, and ends with it at the latest.
    pub for_turn: bool,
    /// What becomes of it when a turn takes the model's place from it or begins before it.
    pub when_preempted: Preempted,
}

/// What becomes of a job that a turn takes the model's place from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Preempted {
    /// It is given up.
    #[default]
    GiveUp,
    /// It is begun anew after the turn.
    Retry,
}

/// What happened to the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobInput {
    /// A new job.
    Added(JobId, JobTerms),
    /// The user's turn begins.
    TurnBegins,
    /// It is over.
    TurnEnds,
    /// A job that was started has come to its own end, good or bad.
    Ended(JobId),
    /// A job that was to be stopped has been.
    Stopped(JobId),
    /// Somebody takes a job back.
    Cancel(JobId),
    /// The conversation ends.
    Close,
}

/// What is to be done with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEffect {
    /// Begin it.
    Start(JobId),
    /// Stop it; its end is waited for.
    Stop(JobId),
    /// It was stopped, and waits to begin anew.
    Pause(JobId),
    /// It is over, and nothing more is heard of it.
    Over(JobId, JobOver),
}

/// How a job is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOver {
    /// It came to its own end, good or bad.
    Ended,
    /// It was taken back, or the conversation ended.
    Cancelled,
    /// A turn took the model's place.
    Preempted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    /// Stopped, and its end not seen; what it then is, none to wait anew.
    Stopping(Option<JobOver>),
}

/// The jobs of a conversation that are not over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    jobs: BTreeMap<JobId, (JobTerms, State)>,
    in_turn: bool,
    closed: bool,
}

impl Schedule {
    /// Takes what happened and gives what is to be done, in order. What is said of a job that is over changes nothing.
    pub fn on(&mut self, input: JobInput) -> Vec<JobEffect> {
        let mut effects = match input {
            JobInput::Added(id, _) if self.closed => vec![JobEffect::Over(id, JobOver::Cancelled)],
            JobInput::Added(id, terms) => {
                self.jobs.entry(id).or_insert((terms, State::Waiting));
                Vec::new()
            }
            JobInput::TurnBegins => {
                self.in_turn = true;
                self.stop_where(|terms| terms.uses_model && !terms.for_turn, preempted)
            }
            JobInput::TurnEnds => {
                self.in_turn = false;
                self.stop_where(|terms| terms.for_turn, |_| Some(JobOver::Cancelled))
            }
            JobInput::Ended(id) => self.ended(id),
            JobInput::Stopped(id) => self.stopped(id),
            JobInput::Cancel(id) => self.stop(id, Some(JobOver::Cancelled)),
            JobInput::Close => {
                self.closed = true;
                self.stop_where(|_| true, |_| Some(JobOver::Cancelled))
            }
        };
        effects.extend(self.start_those_that_may());
        effects
    }

    /// Whether a job runs; none when there is no such job.
    pub fn is_running(&self, id: JobId) -> Option<bool> {
        self.jobs.get(&id).map(|(_, state)| *state != State::Waiting)
    }

    /// What came to its own end before it could be stopped for a turn is as good as ever.
    fn ended(&mut self, id: JobId) -> Vec<JobEffect> {
        let over = match self.jobs.get(&id) {
            None | Some((_, State::Waiting)) => return Vec::new(),
            Some((_, State::Stopping(Some(JobOver::Cancelled)))) => JobOver::Cancelled,
            Some((_, State::Running | State::Stopping(_))) => JobOver::Ended,
        };
        self.jobs.remove(&id);
        vec![JobEffect::Over(id, over)]
    }

    fn stopped(&mut self, id: JobId) -> Vec<JobEffect> {
        let over = match self.jobs.get_mut(&id) {
            None | Some((_, State::Waiting)) => return Vec::new(),
            Some((_, state @ State::Stopping(None))) => {
                *state = State::Waiting;
                return vec![JobEffect::Pause(id)];
            }
            Some((_, State::Stopping(Some(over)))) => *over,
            Some((_, State::Running)) => JobOver::Cancelled,
        };
        self.jobs.remove(&id);
        vec![JobEffect::Over(id, over)]
    }

    /// Stops a job; one that waits is over at once, unless it is to wait anew.
    fn stop(&mut self, id: JobId, then: Option<JobOver>) -> Vec<JobEffect> {
        let Some((_, state)) = self.jobs.get_mut(&id) else {
            return Vec::new();
        };
        match (*state, then) {
            (State::Waiting, None) => Vec::new(),
            (State::Waiting, Some(over)) => {
                self.jobs.remove(&id);
                vec![JobEffect::Over(id, over)]
            }
            (State::Running, then) => {
                *state = State::Stopping(then);
                vec![JobEffect::Stop(id)]
            }
            // One that was to wait anew can still be given up; one that is given up stays so.
            (State::Stopping(before), then) => {
                *state = State::Stopping(before.or(then));
                Vec::new()
            }
        }
    }

    fn stop_where(
        &mut self,
        which: impl Fn(JobTerms) -> bool,
        then: impl Fn(JobTerms) -> Option<JobOver>,
    ) -> Vec<JobEffect> {
        let all = self.jobs.iter().map(|(id, (terms, _))| (*id, *terms));
        let chosen: Vec<_> = all.filter(|(_, terms)| which(*terms)).collect();
        chosen
            .into_iter()
            .flat_map(|(id, terms)| self.stop(id, then(terms)))
            .collect()
    }

    /// Whether a job holds the model's place, also one whose end was not seen yet.
    fn is_model_taken(&self) -> bool {
        self.jobs
            .values()
            .any(|(terms, state)| terms.uses_model && *state != State::Waiting)
    }

    fn start_those_that_may(&mut self) -> Vec<JobEffect> {
        let mut effects = Vec::new();
        let mut taken = self.is_model_taken();
        for (id, (terms, state)) in &mut self.jobs {
            let may = !terms.uses_model || !taken && (terms.for_turn || !self.in_turn);
            if *state == State::Waiting && may {
                *state = State::Running;
                taken |= terms.uses_model;
                effects.push(JobEffect::Start(*id));
            }
        }
        effects
    }
}

/// What a job is after a turn has taken its place.
fn preempted(terms: JobTerms) -> Option<JobOver> {
    match terms.when_preempted {
        Preempted::GiveUp => Some(JobOver::Preempted),
        Preempted::Retry => None,
    }
}

#[cfg(test)]
mod tests {
    use super::JobEffect::{Over, Pause, Start, Stop};
    use super::*;

    const A: JobId = JobId(1);
    const B: JobId = JobId(2);

    fn model(when_preempted: Preempted) -> JobTerms {
        JobTerms {
            uses_model: true,
            for_turn: false,
            when_preempted,
        }
    }

    /// The effects of each of these inputs.
    fn all(inputs: &[JobInput]) -> Vec<Vec<JobEffect>> {
        let mut schedule = Schedule::default();
        inputs.iter().map(|input| schedule.on(*input)).collect()
    }

    #[test]
    fn the_model_has_one_place_and_jobs_take_it_in_order() {
        let two = [
            JobInput::Added(A, model(Preempted::GiveUp)),
            JobInput::Added(B, model(Preempted::GiveUp)),
            JobInput::Ended(A),
        ];
        assert_eq!(
            all(&two),
            [vec![Start(A)], vec![], vec![Over(A, JobOver::Ended), Start(B)]]
        );
    }

    #[test]
    fn a_job_waits_while_a_turn_runs() {
        let waits = [
            JobInput::TurnBegins,
            JobInput::Added(A, model(Preempted::GiveUp)),
            JobInput::TurnEnds,
        ];
        assert_eq!(all(&waits), [vec![], vec![], vec![Start(A)]]);
    }

    #[test]
    fn a_turn_takes_the_place_of_a_job_which_is_given_up() {
        let taken = [
            JobInput::Added(A, model(Preempted::GiveUp)),
            JobInput::TurnBegins,
            JobInput::Stopped(A),
            JobInput::TurnEnds,
        ];
        let over = vec![Over(A, JobOver::Preempted)];
        assert_eq!(all(&taken), [vec![Start(A)], vec![Stop(A)], over, vec![]]);
    }

    #[test]
    fn a_job_that_is_tried_again_begins_anew_after_the_turn() {
        let paused = [
            JobInput::Added(A, model(Preempted::Retry)),
            JobInput::TurnBegins,
            JobInput::Stopped(A),
            JobInput::TurnEnds,
            JobInput::Ended(A),
        ];
        let over = vec![Over(A, JobOver::Ended)];
        assert_eq!(
            all(&paused),
            [
                vec![Start(A)],
                vec![Stop(A)],
                vec![Pause(A)],
                vec![Start(A)],
                over
            ]
        );
    }

    #[test]
    fn a_job_whose_end_comes_after_the_turn_keeps_the_place_until_then() {
        let late = [
            JobInput::Added(A, model(Preempted::Retry)),
            JobInput::TurnBegins,
            JobInput::TurnEnds,
            JobInput::Stopped(A),
        ];
        assert_eq!(
            all(&late),
            [vec![Start(A)], vec![Stop(A)], vec![], vec![Pause(A), Start(A)]]
        );
    }

    #[test]
    fn a_result_that_crosses_the_turn_s_beginning_is_kept_and_one_that_was_taken_back_is_not() {
        let crossed = |by| {
            [
                JobInput::Added(A, model(Preempted::Retry)),
                by,
                JobInput::Ended(A),
            ]
        };
        let ended = vec![Over(A, JobOver::Ended)];
        assert_eq!(all(&crossed(JobInput::TurnBegins))[2], ended);
        let cancelled = vec![Over(A, JobOver::Cancelled)];
        assert_eq!(all(&crossed(JobInput::Cancel(A)))[2], cancelled);
    }

    #[test]
    fn what_the_turn_asked_for_runs_beside_it_and_ends_with_it() {
        let terms = JobTerms {
            for_turn: true,
            ..model(Preempted::GiveUp)
        };
        let asked = [
            JobInput::TurnBegins,
            JobInput::Added(A, terms),
            JobInput::TurnEnds,
            JobInput::Stopped(A),
        ];
        let over = vec![Over(A, JobOver::Cancelled)];
        assert_eq!(all(&asked), [vec![], vec![Start(A)], vec![Stop(A)], over]);
    }

    #[test]
    fn a_job_without_the_model_runs_at_once_and_through_turns() {
        let beside = [
            JobInput::TurnBegins,
            JobInput::Added(A, JobTerms::default()),
            JobInput::TurnEnds,
            JobInput::TurnBegins,
        ];
        assert_eq!(all(&beside), [vec![], vec![Start(A)], vec![], vec![]]);
    }

    #[test]
    fn a_job_can_be_taken_back_while_it_waits_runs_or_is_paused() {
        let added = JobInput::Added(A, model(Preempted::Retry));
        let over = || vec![Over(A, JobOver::Cancelled)];
        let waiting = [
            JobInput::TurnBegins,
            added,
            JobInput::Cancel(A),
            JobInput::TurnEnds,
        ];
        assert_eq!(all(&waiting), [vec![], vec![], over(), vec![]]);
        let running = [
            added,
            JobInput::Cancel(A),
            JobInput::Cancel(A),
            JobInput::Stopped(A),
        ];
        assert_eq!(all(&running), [vec![Start(A)], vec![Stop(A)], vec![], over()]);
        let paused = [
            added,
            JobInput::TurnBegins,
            JobInput::Cancel(A),
            JobInput::Stopped(A),
        ];
        assert_eq!(all(&paused), [vec![Start(A)], vec![Stop(A)], vec![], over()]);
    }

    #[test]
    fn after_the_end_of_the_conversation_nothing_is_begun() {
        let closed = [
            JobInput::Added(A, JobTerms::default()),
            JobInput::Close,
            JobInput::Added(B, JobTerms::default()),
            JobInput::Stopped(A),
        ];
        let late = vec![Over(B, JobOver::Cancelled)];
        assert_eq!(
            all(&closed),
            [
                vec![Start(A)],
                vec![Stop(A)],
                late,
                vec![Over(A, JobOver::Cancelled)]
            ]
        );
    }
}
