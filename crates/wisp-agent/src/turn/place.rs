//! A call's place among those of one reply, for what is said of it: while it runs, and with its result.

use wisp_tools::{Answering, Choosing, Person, Question};

use crate::engine::desk::Asker;

/// Which of a reply's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    number: usize,
    of: usize,
}

impl Place {
    /// The call at `at`, from 0, of so many.
    pub(super) fn new(at: usize, of: usize) -> Self {
        Self { number: at + 1, of }
    }

    /// `2 of 3`; nothing for the only call of a reply.
    pub(super) fn words(self) -> Option<String> {
        (self.of > 1).then(|| format!("{} of {}", self.number, self.of))
    }
}

/// The person, as the tool of one call reaches them: what is being done is said with the call's place.
pub(super) struct Placed<'a> {
    person: &'a Asker,
    place: Place,
}

impl<'a> Placed<'a> {
    /// The person, for the call at this place.
    pub(super) fn new(person: &'a Asker, place: Place) -> Self {
        Self { person, place }
    }
}

impl Person for Placed<'_> {
    fn ask(&self, question: Question) -> Answering<'_> {
        Person::ask(self.person, question)
    }

    fn doing(&self, what: &str) {
        match self.place.words() {
            Some(place) => Person::doing(self.person, &format!("{place} · {what}")),
            None => Person::doing(self.person, what),
        }
    }

    fn choose(&self, question: &str, choices: Vec<String>) -> Choosing<'_> {
        Person::choose(self.person, question, choices)
    }

    fn notify(&self, title: &str, message: &str) -> Result<(), String> {
        Person::notify(self.person, title, message)
    }
}
