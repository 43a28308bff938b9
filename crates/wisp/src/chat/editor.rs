//! The line editor: history in a file, completion from the engine, several lines, and a paste that never sends.

use std::path::PathBuf;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler, Helper, Hinter,
    KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use tokio::sync::mpsc::UnboundedSender;
use wisp_agent::protocol::Command;
use wisp_term::{Palette, Role};

use super::filter::Filter;

/// How long a completion may take before Tab gives up, milliseconds: a model list comes over HTTP.
const COMPLETION_MILLIS: u64 = 800;

/// How long after a prompt has opened a NUL is the Ctrl-D that was typed before it.
const TYPED_AHEAD: Duration = Duration::from_millis(500);

/// Lines of history kept.
const HISTORY: usize = 2_000;

/// What came of asking for a line.
pub enum Asked {
    /// The person entered this.
    Line(String),
    /// Ctrl-C: the line is cleared.
    Cleared,
    /// Ctrl-D on an empty line, or the terminal is gone.
    End,
}

/// Candidates as the engine gives them: where they start (in characters) and what could stand there.
pub struct Candidates {
    /// The request's id.
    pub id: String,
    /// Where the candidates' text starts, in characters.
    pub from: usize,
    /// What could stand there.
    pub texts: Vec<String>,
}

/// The prompt on a terminal.
pub struct LineEditor {
    editor: Editor<Assist, FileHistory>,
    history: PathBuf,
    opened: Opened,
    filter: Option<Filter>,
}

/// When the prompt was opened last.
type Opened = Arc<Mutex<Option<Instant>>>;

/// Ctrl-D that was typed while no prompt was open. The terminal took it for the end of a file and reads it back as
/// a NUL once the prompt puts it into raw mode; at an open prompt a NUL is Ctrl-Space, which does nothing.
struct LeaveTypedAhead(Opened);

impl ConditionalEventHandler for LeaveTypedAhead {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let opened = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = opened.is_some_and(|at| at.elapsed() < TYPED_AHEAD);
        Some(if ahead && context.line().is_empty() {
            Cmd::EndOfFile
        } else {
            Cmd::Noop
        })
    }
}

impl LineEditor {
    /// An editor whose history is the file `history`; `None` when the terminal cannot be edited on.
    pub fn new(history: PathBuf, assist: Assist) -> Option<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY)
            .ok()?
            .auto_add_history(false)
            .bracketed_paste(true)
            .completion_type(rustyline::CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config).ok()?;
        editor.set_helper(Some(assist));
        let newline = || EventHandler::Simple(Cmd::Newline);
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), newline());
        editor.bind_sequence(KeyEvent(KeyCode::Char('j'), Modifiers::CTRL), newline());
        let opened = Opened::default();
        let leave = LeaveTypedAhead(opened.clone());
        editor.bind_sequence(
            KeyEvent(KeyCode::Char('@'), Modifiers::CTRL),
            EventHandler::Conditional(Box::new(leave)),
        );
        let _ = editor.load_history(&history);
        Some(Self {
            editor,
            history,
            opened,
            // Without one the editor reads the terminal itself, and knows fewer keys.
            filter: Filter::new().ok(),
        })
    }

    /// Asks for a line, in which `begun` stands already.
    pub fn ask(&mut self, begun: &str) -> Asked {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let filtered = self.filter.as_ref().map(Filter::open);
        let asked = self.editor.readline_with_initial("> ", (begun, ""));
        drop(filtered);
        match asked {
            Ok(line) => {
                self.remember(&line);
                Asked::Line(line.replace("\\\n", "\n").replace("\r\n", "\n"))
            }
            Err(ReadlineError::Interrupted) => Asked::Cleared,
            Err(_) => Asked::End,
        }
    }

    /// Adds a line to the history.
    pub fn remember(&mut self, line: &str) {
        if line.trim().is_empty() || self.editor.add_history_entry(line).is_err() {
            return;
        }
        // The history holds what the person typed: private, like everything wisp writes.
        if wisp_host::files::private_append(&self.history).is_ok() {
            let _ = self.editor.append_history(&self.history);
        }
    }
}

/// Completion, colours and the rule of when a line is done.
#[derive(Helper, Hinter)]
pub struct Assist {
    commands: UnboundedSender<Command>,
    answers: mpsc::Receiver<Candidates>,
    palette: Palette,
    asked: std::cell::Cell<u64>,
    panics: bool,
}

impl Assist {
    /// Help that asks through `commands` and gets its candidates from `answers`.
    pub fn new(
        commands: UnboundedSender<Command>,
        answers: mpsc::Receiver<Candidates>,
        palette: Palette,
    ) -> Self {
        Self {
            commands,
            answers,
            palette,
            asked: std::cell::Cell::new(0),
            panics: false,
        }
    }

    /// The same, which panics while the terminal is in raw mode: `WISP_DEBUG_PANIC=prompt` proves that the terminal
    /// is put back.
    #[must_use]
    pub fn panicking(self, panics: bool) -> Self {
        Self { panics, ..self }
    }

    fn candidates(&self, text: &str, cursor: usize) -> Option<Candidates> {
        self.asked.set(self.asked.get() + 1);
        let id = format!("tab-{}", self.asked.get());
        self.commands
            .send(Command::Complete {
                id: id.clone(),
                text: text.to_owned(),
                cursor,
            })
            .ok()?;
        loop {
            let answer = self
                .answers
                .recv_timeout(Duration::from_millis(COMPLETION_MILLIS))
                .ok()?;
            // An answer to an earlier Tab that came too late is passed over.
            if answer.id == id {
                return Some(answer);
            }
        }
    }
}

impl Completer for Assist {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let cursor = line[..pos].chars().count();
        let Some(answer) = self.candidates(line, cursor) else {
            return Ok((pos, Vec::new()));
        };
        let from = line.char_indices().nth(answer.from).map_or(pos, |(at, _)| at);
        Ok((from, answer.texts))
    }
}

impl Validator for Assist {
    /// A line that ends in a backslash goes on.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let goes_on = context.input().ends_with('\\') && !context.input().ends_with("\\\\");
        Ok(if goes_on {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Highlighter for Assist {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> std::borrow::Cow<'l, str> {
        let command = line.starts_with(['/', '!']) && self.palette.is_coloured();
        if command {
            self.palette.paint(Role::Command, line).into()
        } else {
            line.into()
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> std::borrow::Cow<'b, str> {
        assert!(!self.panics, "a panic was asked for");
        self.palette.paint(Role::Prompt, prompt).into()
    }

    fn highlight_char(&self, line: &str, _: usize, _: CmdKind) -> bool {
        line.starts_with(['/', '!'])
    }
}
