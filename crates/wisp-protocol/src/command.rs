//! What a face asks of the engine.

use serde::{Deserialize, Serialize};

/// One request from a face. A JSON line that is not an object is taken as a `message` by the JSON face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Command {
    /// What the face can do; first, and optional. Without `approve` among the effects every approval is refused
    /// unasked.
    Hello {
        /// `approve`, `notify`, `choose`; `beside`: slash commands that only look (`/tokens`, `/show`) are answered at once
        /// while a turn runs, before what was sent ahead of them.
        #[serde(default)]
        effects: Vec<String>,
        /// The face's name.
        #[serde(default)]
        client: String,
        /// The face's version.
        #[serde(default)]
        version: String,
    },
    /// A line the person entered: a message for the model, a slash command, or `!` and a shell line. While something runs
    /// it waits (`queue`), and is taken at the end of it; `/now TEXT` at the next result of a tool.
    Message {
        /// The line, unaltered; may hold newlines.
        text: String,
    },
    /// The answer to an `approval`.
    Answer {
        /// The approval's id.
        id: String,
        /// What the person decided.
        decision: Decision,
        /// With `no`: why, in the person's words, for the model.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    },
    /// The answer to a `choice`; no value means "leave it as it is".
    Choose {
        /// The choice's id.
        id: String,
        /// The chosen option's value.
        #[serde(default)]
        value: Option<String>,
        /// For toggles: those left on.
        #[serde(default)]
        values: Option<Vec<String>>,
    },
    /// Asks how the line under the cursor could go on.
    Complete {
        /// Returned with the answer.
        id: String,
        /// The line so far.
        text: String,
        /// The cursor, in Unicode scalar values from the start.
        cursor: usize,
    },
    /// Takes lines back that wait, answered by `taken_back`; without one that waits nothing happens.
    TakeBack {
        /// All of them, instead of the last one.
        #[serde(default)]
        all: bool,
    },
    /// Stops the turn or the typed command under way; a second one kills at once.
    Interrupt,
    /// Asks for one page of a stored output, answered by a `view` of kind `output`.
    Output {
        /// The output's id, or the first four or more of its digits.
        id: String,
        /// The page wanted, from 0.
        #[serde(default)]
        page: u64,
    },
    /// Asks where a pattern occurs next in a stored output, answered by `found`.
    Search {
        /// The output's id.
        id: String,
        /// A regular expression, case-insensitive; taken literally when it does not compile.
        pattern: String,
        /// The line to start from, counted from 1; that line is searched too.
        from_line: u64,
        /// Towards the start instead of the end.
        #[serde(default)]
        backwards: bool,
    },
    /// Asks for the digest of a stored output, answered by a `view` of kind `digest`.
    Digest {
        /// The output's id, or the first four or more of its digits.
        id: String,
    },
    /// Asks for what the model is sent, answered by a `view` of kind `context`, also while a turn runs.
    Context {
        /// The turn; none for the request under way or, between turns, the next one.
        #[serde(default)]
        turn: Option<u64>,
    },
    /// Leaves the conversation; answered by `exit`.
    Quit,
}

/// How a person answers an approval, and for how long it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// For this call alone.
    Once,
    /// For the rest of this turn.
    Turn,
    /// Until the conversation closes.
    Session,
    /// For this directory, 30 days.
    Project,
    /// For every directory, 30 days.
    Always,
    /// Refused.
    No,
}
