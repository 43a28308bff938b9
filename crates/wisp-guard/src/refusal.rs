//! What the model is told when something may not be done: what happened and what it can do instead, so that it
//! reports the refusal and does not guess.

use serde::{Deserialize, Serialize};

use crate::gate::Request;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", content = "reason", rename_all = "lowercase")]
pub enum Refusal {
    /// The policy forbids it, whoever asks.
    Policy(String),
    /// The person said no, with what they said about it.
    Person(Option<String>),
    /// Nobody answered within so many seconds.
    Timeout(u64),
    /// Nobody is there to be asked.
    NobodyToAsk,
    /// The conversation only reads.
    ReadOnly,
}

impl Refusal {
    /// Why, as a phrase.
    pub fn reason(&self) -> String {
        match self {
            Self::Policy(reason) => reason.clone(),
            Self::Person(None) => "declined by the person".to_owned(),
            Self::Person(Some(said)) => format!("declined by the person: {said}"),
            Self::Timeout(seconds) => {
                format!("no answer within {seconds} s; an unanswered question counts as declined")
            }
            Self::ReadOnly => {
                "this conversation is read-only: only what changes nothing is run; say what you would do instead"
                    .to_owned()
            }
            Self::NobodyToAsk => {
                "it needs an approval and nobody is there to give one; run wisp chat to be asked, or wisp --yes to allow everything the policy does not forbid"
                    .to_owned()
            }
        }
    }

    /// The tool's result for the model, after `error: `.
    pub fn for_model(&self, request: &Request) -> String {
        let what = match request {
            Request::Command { .. } => "command",
            Request::Read { .. } => "read",
            Request::Edit { .. } => "edit",
            Request::Tool(_) => "call",
        };
        let verb = match self {
            Self::Policy(_) => "denied by policy",
            _ => "not approved",
        };
        format!("{what} {verb}: {}", self.reason())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_told_what_was_refused_by_whom_and_why() {
        let command = Request::Command { line: "x".to_owned() };
        let read = Request::Read {
            path: "a".to_owned(),
            real: "/a".into(),
            inside: true,
        };
        for (refusal, request, said) in [
            (
                Refusal::Policy("R".to_owned()),
                &command,
                "command denied by policy: R",
            ),
            (
                Refusal::Person(None),
                &command,
                "command not approved: declined by the person",
            ),
            (
                Refusal::Timeout(600),
                &read,
                "read not approved: no answer within 600 s; an unanswered question counts as declined",
            ),
        ] {
            assert_eq!(refusal.for_model(request), said);
        }
    }
}
