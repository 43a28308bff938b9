//! What the engine tells a face.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One thing that happened. Text in an event is as it came (a model's, a tool's, a file's): faces make it safe for
/// their terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A line for the person from wisp itself.
    Note {
        /// The line; may hold newlines.
        text: String,
        /// How much it matters.
        #[serde(default)]
        level: NoteLevel,
    },
    /// How things stand; sent before each prompt, and so also "input is wanted".
    Status(Status),
    /// What is being done at this moment.
    Activity(Activity),
    /// The last lines that what runs has printed so far, at most three. They stand until something else is done.
    Printed {
        /// Raw: escape sequences are still in them.
        lines: Vec<String>,
    },
    /// The work beside the turns that is not over, whenever it changes; none when all of it is.
    Jobs {
        /// One each, in the order they were asked for.
        jobs: Vec<JobStatus>,
    },
    /// The lines that wait until what runs is over, whenever they change; none when none does.
    Queue {
        /// In the order they will be taken.
        waiting: Vec<QueuedLine>,
    },
    /// A line the person entered is taken up: what follows answers it. One that steers is taken within its turn.
    Taken {
        /// The line.
        text: String,
    },
    /// Lines that waited are the person's again: to be put where they type.
    TakenBack {
        /// The lines, the last one sent last.
        lines: Vec<String>,
    },
    /// A turn begins or ends.
    Turn {
        /// Start or end.
        phase: Phase,
        /// The turn's number, from 1.
        turn: u64,
        /// At the end only.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        end: Option<TurnEnd>,
    },
    /// More of the reply.
    Delta {
        /// Text to append to the reply.
        text: String,
    },
    /// More of the model's thinking, which faces show folded.
    Thinking {
        /// Text to append to the thinking.
        text: String,
    },
    /// The text that came of this reply so far is none of the answer: its try failed and the model is asked again, or it
    /// was thinking. Also sent when no text had come.
    Discarded,
    /// A whole line of what a slash command prints.
    Output {
        /// The line, without its newline.
        text: String,
    },
    /// Something that was recorded, rendered for the person.
    Event {
        /// The audit kind: `tool.call`, `tool.result`, `policy.decision`, `approval.answer`, `command.typed`, …
        kind: String,
        /// The tool call it belongs to, 16 hex digits.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        call: Option<String>,
        /// The turn it belongs to.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        turn: Option<u64>,
        /// The audit details, less what `output` carries.
        details: serde_json::Value,
        /// One line for the person, absent when the kind is not shown.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        text: Option<String>,
        /// What a tool or a typed command printed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        output: Option<OutputSummary>,
    },
    /// Something to look at: a page of an output, the context, a diff.
    View(View),
    /// A command waits for the person's leave.
    Approval(Approval),
    /// A question is no longer open (answered elsewhere, timed out, interrupted).
    Withdrawn {
        /// The approval's or choice's id.
        id: String,
    },
    /// How a line could go on.
    Completions {
        /// The request's id.
        id: String,
        /// Where the candidates' text starts, in Unicode scalar values.
        from: usize,
        /// The candidates, best first: names in order, paths by how well they match.
        candidates: Vec<String>,
        /// What each of them does, where that is known; empty texts where not.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        about: Vec<String>,
    },
    /// Where a pattern occurs next in a stored output.
    Found {
        /// The output's id.
        id: String,
        /// The pattern searched for.
        pattern: String,
        /// The line, from 1, or none.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        line: Option<u64>,
        /// The page that holds that line.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        page: Option<u64>,
    },
    /// The person is to choose.
    Choice(Choice),
    /// Something worth the person's notice when they are elsewhere.
    Notify {
        /// A few words.
        title: String,
        /// One sentence.
        body: String,
    },
    /// A text is to be put on the clipboard: the face has the terminal.
    Copy {
        /// The text.
        text: String,
        /// What it is, in a few words: `the last reply`.
        what: String,
    },
    /// A text is to be put into the input box, where the user changes and sends it.
    Draft {
        /// The text; may hold newlines.
        text: String,
    },
    /// The conversation is over.
    Exit {
        /// The exit code of a program that did nothing else: 0, or 1 and 64 when it could not be opened.
        #[serde(default)]
        code: u8,
    },
}

/// How much a note matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoteLevel {
    /// Good to know.
    #[default]
    Info,
    /// Something is not as the person may expect.
    Warning,
    /// Something failed.
    Error,
}

/// How things stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// The model in use.
    pub model: String,
    /// The working directory, the home directory as `~`.
    pub directory: String,
    /// The git branch, where there is one.
    pub branch: Option<String>,
    /// Whether tracked files differ from the last commit.
    pub dirty: bool,
    /// Lines added since the last commit.
    pub added: Option<u64>,
    /// Lines removed since the last commit.
    pub removed: Option<u64>,
    /// `approve at moderate`, `never asks`, `--yes`.
    pub approval: String,
    /// The share of the window in use, 0 to 1; none when unknown.
    pub context_used: Option<f64>,
    /// What the conversation is to do, where it was noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// How many `message` commands have been received in all: a front end that sent more knows that another status follows.
    #[serde(skip_serializing_if = "is_zero")]
    pub received: u64,
    /// How many lines wait; they are taken before input is wanted again.
    #[serde(skip_serializing_if = "is_zero")]
    pub waiting: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::struct_excessive_bools, reason = "the wire names each by itself")]
/// What is being done. Faces time it themselves from its arrival.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Activity {
    /// `loading qwen3:8b`, `waiting for the model`, `thinking`, `running cargo test`; none at the end.
    pub doing: Option<String>,
    /// Whether the person is being asked something.
    pub asking: bool,
    /// Seconds since the turn began.
    pub turn_seconds: f64,
    /// Whether the model is thinking.
    pub thinking: bool,
    /// Whether Ctrl-C stops just this (a typed command).
    pub stoppable: bool,
    /// Whether it is being stopped.
    pub stopping: bool,
}

/// A line that waits until what runs is over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct QueuedLine {
    /// The line, as it was entered but for a `/now`.
    pub text: String,
    /// Whether it goes to the model at the next result of a tool already.
    pub steers: bool,
}

/// Work beside the turns: what it is and whether it has begun.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    /// `j1`, as `/kill` takes it.
    pub id: String,
    /// `warm-up`, …
    pub kind: String,
    /// What is done, in a few words: `loading qwen3:8b`.
    pub title: String,
    /// Whether it runs; one that does not waits for the model, which a turn or another job has.
    pub running: bool,
}

impl JobStatus {
    /// What front ends show of all jobs in one place: the one that runs, else the one that waits longest, and how many
    /// more there are. None without a job.
    pub fn line(jobs: &[Self]) -> Option<String> {
        let shown = jobs.iter().find(|job| job.running).or(jobs.first())?;
        let waits = if shown.running { "" } else { "waits: " };
        let more = match jobs.len() {
            1 => String::new(),
            all => format!(" (+{})", all - 1),
        };
        Some(format!("{waits}{}{more}", shown.title))
    }
}

/// Which end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The prompt has been recorded.
    Start,
    /// The last reply has been recorded, or the turn failed or was stopped.
    End,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    /// Wall-clock seconds from prompt to end.
    pub seconds: f64,
    /// Whether it came to its end.
    pub outcome: TurnOutcome,
    /// Prompt tokens over all requests of the turn, when reported.
    pub input_tokens: Option<u64>,
    /// Generated tokens over all requests of the turn, when reported.
    pub output_tokens: Option<u64>,
    /// Tokens generated in a second of generating, over all requests of the turn, when reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_second: Option<f64>,
    /// Seconds from the prompt to the first token of the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_seconds: Option<f64>,
    /// `ran: read_file ×2 · run_command ×10 (2 failed, 1 denied)`, when a tool ran.
    pub ran: Option<String>,
    /// Set when the reply cites entries that do not exist.
    #[serde(default)]
    pub cited: Option<String>,
}

/// Whether a turn came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The model replied.
    Ok,
    /// It failed; a note before says why.
    Error,
    /// The person stopped it; what had arrived is kept.
    Interrupted,
    /// It was stopped at the most requests of a turn; a note before says so.
    Limit,
}

/// What a tool or a typed command printed, bounded: faces fold it and fetch the rest by page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OutputSummary {
    /// The id under which `/show` and `output` find it, 16 hex digits; empty for a page that `memory` read of another
    /// output.
    pub id: String,
    /// Its beginning, at most 16 KiB, cut at a line's end where there is one.
    pub text: String,
    /// Lines in all.
    pub lines: u64,
    /// Bytes in all.
    pub bytes: u64,
    /// Whether `text` is not all of it.
    pub truncated: bool,
    /// What a front end shows of it unasked: its first and last lines, and those that say what failed (`shownOutputLines`).
    pub excerpt: Vec<Stretch>,
    /// What the model was not shown, as ranges of lines of the stored output.
    pub held: Vec<HeldRange>,
    /// Whether the whole is in the output store.
    pub stored: bool,
    /// For an edit that was made: what it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<crate::Difference>,
}

/// A stretch of what was printed, standard output before standard error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Stretch {
    /// The number of its first line, from 1.
    pub from_line: u64,
    /// Its lines, without the newline that ends the last; a very long one is cut and ends in `…`.
    pub text: String,
}

impl OutputSummary {
    /// The stretches that are shown, each with how many lines are left out before it.
    pub fn stretches(&self) -> impl Iterator<Item = (u64, &Stretch)> {
        let mut next = 1;
        self.excerpt.iter().map(move |stretch| {
            let before = stretch.from_line.saturating_sub(next);
            next = stretch.from_line + stretch.lines();
            (before, stretch)
        })
    }

    /// How many lines are left out in all.
    pub fn left_out(&self) -> u64 {
        let shown: u64 = self.excerpt.iter().map(Stretch::lines).sum();
        self.lines.saturating_sub(shown)
    }

    /// Whether what is shown is not all of it.
    pub fn is_folded(&self) -> bool {
        let bytes: u64 = self
            .excerpt
            .iter()
            .map(|stretch| stretch.text.len() as u64 + 1)
            .sum();
        self.left_out() > 0 || bytes < self.bytes
    }
}

impl Stretch {
    /// How many lines it has.
    pub fn lines(&self) -> u64 {
        self.text.matches('\n').count() as u64 + 1
    }
}

/// A stretch of a stored output that the model was not shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct HeldRange {
    /// First line held back, from 1.
    pub from_line: u64,
    /// Last line held back.
    pub to_line: u64,
    /// Bytes held back.
    pub bytes: u64,
}

/// What a view shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ViewKind {
    /// A page of a stored output.
    Output,
    /// What the model is about to be sent, or was sent in a turn.
    Context,
    /// A digest of an output.
    Digest,
}

/// Something to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// What it is.
    pub kind: ViewKind,
    /// The turn it is of, where it is of one.
    #[serde(default)]
    pub turn: Option<u64>,
    /// Markdown, or for an output the page's text (invalid UTF-8 as U+FFFD).
    pub text: String,
    /// For a page of an output.
    #[serde(default)]
    pub output: Option<OutputView>,
}

/// One page of a stored output. Joined in order, the pages are the output.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OutputView {
    /// The output's id, 16 hex digits.
    pub id: String,
    /// This page, from 0.
    pub page: u64,
    /// Pages in all.
    pub pages: u64,
    /// The number of the page's first line in the whole, from 1. A command's frames (how it ended, `stdout:`,
    /// `stderr:`) have no number: where the page begins with one, that of the first line after it.
    pub first_line: u64,
    /// Which of the page's lines are frames, from 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<u64>,
    /// Lines of the whole.
    pub lines: u64,
    /// Bytes of the whole as stored.
    pub bytes: u64,
    /// What made it: `run_command cargo build`.
    pub title: String,
    /// One sentence on what is shown: whole, cut at the ceiling, or why the stored whole is not there.
    pub about: String,
    /// What the model was not shown.
    pub held: Vec<HeldRange>,
    /// The stored file, for a face on the same machine; none when only what the tool returned is left.
    pub path: Option<PathBuf>,
}

/// A command, read or edit that waits for the person's leave.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Approval {
    /// Goes back with the answer.
    pub id: String,
    /// The simple command (or edit, or read) that needs leave.
    pub command: String,
    /// The whole line it is part of.
    pub line: String,
    /// What would be remembered: `git push *`.
    pub pattern: String,
    /// Where it would run.
    pub directory: String,
    /// `safe`, `moderate` or `dangerous`.
    pub level: String,
    /// Why, a sentence each.
    pub reasons: Vec<String>,
    /// For an edit: the unified diff of what would change.
    pub diff: Option<String>,
    /// The decisions that can be given, in order.
    pub decisions: Vec<crate::Decision>,
}

/// A question with options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Choice {
    /// Goes back with the answer.
    pub id: String,
    /// The question.
    pub title: String,
    /// What can be chosen.
    pub options: Vec<ChoiceOption>,
    /// The value in force now.
    pub current: Option<String>,
    /// Whether other text is taken as an answer.
    pub accepts_text: bool,
    /// Whether options are switched on and off instead of one being chosen.
    pub toggles: bool,
}

/// One option of a choice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChoiceOption {
    /// What is sent back.
    pub value: String,
    /// What the person sees.
    pub label: String,
    /// A few words more.
    pub detail: String,
    /// For toggles: whether it is on now.
    pub on: bool,
}
