//! Scripts: what a reply is, and which request it answers.
//!
//! A step says which request it expects and what the model then generates. Steps are taken in order. A request
//! that fits no step is answered with status 500, naming it, and is remembered; so are steps nobody asked for.
//! Both fail [`Server::finish`](crate::Server::finish). The rules of honesty are enforced here: a script cannot
//! state counts or a success's status, and a step that answers a tool's result must be guarded by that result.

mod matching;
mod reply;

pub use matching::Match;
pub use reply::{CutAt, End, Event, Foreign, Loss, Reply};

use crate::seen::Seen;

/// One expected request and its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What the request must be like.
    pub expect: Vec<Match>,
    /// The answer.
    pub reply: Reply,
    /// May come at any time, out of order.
    pub whenever: bool,
    /// May come any number of times, also none.
    pub repeat: bool,
}

impl Step {
    /// A step for any request.
    pub fn new(reply: Reply) -> Self {
        Self {
            reply,
            ..Self::default()
        }
    }

    /// A step for a request like this.
    pub fn when(expect: impl IntoIterator<Item = Match>, reply: Reply) -> Self {
        Self {
            expect: expect.into_iter().collect(),
            reply,
            ..Self::default()
        }
    }

    /// The same step, taken whenever it fits.
    #[must_use]
    pub fn whenever(mut self) -> Self {
        self.whenever = true;
        self
    }

    /// The same step, taken as often as it fits, also never.
    #[must_use]
    pub fn repeated(mut self) -> Self {
        self.whenever = true;
        self.repeat = true;
        self
    }

    fn refuses(&self, seen: &Seen) -> Option<&Match> {
        self.expect.iter().find(|m| !m.holds(seen))
    }

    fn unguarded(&self, seen: &Seen) -> bool {
        seen.last().is_some_and(|m| m.role == "tool") && !self.expect.iter().any(Match::guards_a_result)
    }
}

/// Who answers: a script, the demo model, or a test's own rules.
pub trait Respond: Send {
    /// The answer to one request, or why there is none. The reason fails the test.
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String>;

    /// What was expected and did not come, in words.
    fn left_over(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<F: FnMut(&Seen) -> Reply + Send> Respond for F {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        Ok(self(seen))
    }
}

/// A list of steps.
#[derive(Clone, Debug, Default)]
pub struct Script {
    steps: Vec<Step>,
    taken: Vec<bool>,
}

impl Script {
    /// An empty script, under which every request is unexpected.
    pub fn new() -> Self {
        Self::default()
    }

    /// And then this step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// And then this reply to any request.
    #[must_use]
    pub fn reply(self, reply: Reply) -> Self {
        self.step(Step::new(reply))
    }

    /// And then this reply to a request like this.
    #[must_use]
    pub fn when(self, expect: impl IntoIterator<Item = Match>, reply: Reply) -> Self {
        self.step(Step::when(expect, reply))
    }

    fn is_taken(&self, at: usize) -> bool {
        self.taken.get(at).copied().unwrap_or(false)
    }

    /// The steps that may answer now: the first of the ordered ones, and those that may come at any time.
    fn candidates(&self) -> Vec<usize> {
        let free = |at: &usize| !self.is_taken(*at);
        let next = (0..self.steps.len())
            .filter(free)
            .find(|&at| !self.steps[at].whenever);
        let whenever = (0..self.steps.len())
            .filter(free)
            .filter(|&at| self.steps[at].whenever);
        next.into_iter().chain(whenever).collect()
    }

    fn unexpected(&self, seen: &Seen, candidates: &[usize]) -> String {
        let last = seen.last().map_or_else(
            || "no messages".to_owned(),
            |m| format!("{} {:?}", m.role, m.content.chars().take(80).collect::<String>()),
        );
        let why = match candidates.first() {
            None => "the script has no step left".to_owned(),
            Some(&at) => match self.steps[at].refuses(seen) {
                Some(refused) => format!("step {at} expects {refused:?}"),
                None => format!("step {at} answers a tool's result but no match is guarded by its text"),
            },
        };
        format!("unexpected request, its last message {last}: {why}")
    }
}

impl Respond for Script {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        let candidates = self.candidates();
        let fits = |at: &usize| self.steps[*at].refuses(seen).is_none() && !self.steps[*at].unguarded(seen);
        let Some(at) = candidates.iter().copied().find(fits) else {
            return Err(self.unexpected(seen, &candidates));
        };
        if !self.steps[at].repeat {
            self.taken.resize(self.steps.len(), false);
            self.taken[at] = true;
        }
        Ok(self.steps[at].reply.clone())
    }

    fn left_over(&self) -> Vec<String> {
        let missing = (0..self.steps.len()).filter(|&at| !self.is_taken(at) && !self.steps[at].repeat);
        missing
            .map(|at| {
                format!(
                    "step {at} was never asked for, it expects {:?}",
                    self.steps[at].expect
                )
            })
            .collect()
    }
}
