//! Slash commands that only look, answered while something else has the conversation: from what was taken of it as that
//! began, and from what is known beside it (outputs, jobs, the request under way).

use crate::engine::side::Side;

pub(super) fn help(side: &Side, _: &str) -> bool {
    side.lines(super::help::lines());
    true
}

pub(super) fn status(side: &Side, _: &str) -> bool {
    side.status()
}

pub(super) fn tokens(side: &Side, _: &str) -> bool {
    side.tokens()
}

pub(super) fn ps(side: &Side, _: &str) -> bool {
    side.running()
}

/// Only wisp's own jobs: a background command is the conversation's.
pub(super) fn kill(side: &Side, rest: &str) -> bool {
    side.cancel(rest)
}

/// The request under way, or that of an earlier turn; what writes files waits.
pub(super) fn inspect(side: &Side, rest: &str) -> bool {
    let what = rest.strip_prefix("context").unwrap_or(rest).trim();
    let turn = match what {
        "next" => None,
        number => match number.parse() {
            Ok(number) => Some(number),
            Err(_) => return false,
        },
    };
    side.context(turn);
    true
}

pub(super) fn show(side: &Side, rest: &str) -> bool {
    side.whole(Some(rest).filter(|id| !id.is_empty()))
}

pub(super) fn last(side: &Side, _: &str) -> bool {
    side.whole(None)
}

pub(super) fn outputs(side: &Side, _: &str) -> bool {
    side.outputs()
}

pub(super) fn summarise(side: &Side, rest: &str) -> bool {
    side.summary(rest)
}
