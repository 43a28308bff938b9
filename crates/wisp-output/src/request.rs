//! The grammar of `memory`: a table of verbs, forgiving in spelling and strict in meaning.
//!
//! One string carries the whole request, because small models fill one string more reliably than an object. Case,
//! quotes, colons and a few spellings are forgiven; a request that does not say exactly one thing is answered with
//! the grammar and an example, and nothing is guessed. The rows here read stored outputs; whoever adds a verb adds
//! a row.
//!
//! ```
//! use wisp_output::request::{Grammar, Request, Target};
//! let grammar = Grammar::<Request>::of_outputs();
//! let request = grammar.read("Recall output 3F9A2C1B matching 'error.*' from line 44").unwrap();
//! let Request::Recall { target, from, .. } = request else { panic!("a recall") };
//! assert_eq!((target, from.line), (Target::Output("3f9a2c1b".into()), 44));
//! assert!(grammar.read("show me more").unwrap_err().to_string().contains("recall output ID"));
//! ```

mod clause;
mod read;

use std::fmt::Write;

use crate::recall::{Filter, Start};

/// What is read: an output by its id, or by the number of the entry that stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// By the first digits of its id, lower-case.
    Output(String),
    /// By its entry's number in the conversation.
    Entry(u64),
}

/// A request to read a stored output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A page of it, filtered.
    Recall {
        /// What is read.
        target: Target,
        /// Which of its lines.
        filter: Filter,
        /// Where the page starts.
        from: Start,
    },
    /// Its notable lines, or what it is.
    Summarise {
        /// What is read.
        target: Target,
        /// Whether the overview is wanted rather than the notable lines.
        overview: bool,
    },
    /// The answer to a question from all of it.
    Condense {
        /// What is read.
        target: Target,
        /// The question.
        question: String,
    },
}

/// Reads what stands after a row's verb, or says in words why it cannot.
pub type ReadRest<R> = fn(&str) -> Result<R, String>;

/// One verb of the grammar.
#[derive(Debug, Clone, Copy)]
pub struct Row<R> {
    /// The verb as the grammar writes it.
    pub verb: &'static str,
    /// Other spellings, lower-case.
    pub spellings: &'static [&'static str],
    /// The forms it takes, as the grammar shows them.
    pub forms: &'static [&'static str],
    /// A request that works.
    pub example: &'static str,
    /// Reads the rest of the request.
    pub read: ReadRest<R>,
}

/// A request that cannot be read: why, and the grammar. Its text is the answer to whoever made the request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}\n{grammar}")]
pub struct Unreadable {
    /// What is wrong with it, in words.
    pub reason: String,
    /// Every form, and an example.
    pub grammar: String,
}

/// The verbs of a conversation's `memory`.
#[derive(Debug, Clone)]
pub struct Grammar<R> {
    rows: Vec<Row<R>>,
}

impl<R: From<Request>> Grammar<R> {
    /// The verbs that read stored outputs.
    pub fn of_outputs() -> Self {
        Self { rows: read::rows() }
    }
}

impl<R> Grammar<R> {
    /// Adds a verb. One that is there already is replaced in its place, so that a row can take over a verb and hand on what it
    /// does not read itself.
    #[must_use]
    pub fn with(mut self, row: Row<R>) -> Self {
        match self.rows.iter_mut().find(|known| known.verb == row.verb) {
            Some(known) => *known = row,
            None => self.rows.push(row),
        }
        self
    }

    /// Reads a request.
    pub fn read(&self, text: &str) -> Result<R, Unreadable> {
        let text = clause::unquoted(text);
        let (verb, rest) = clause::first_word(text);
        let known = self.rows.iter().find(|row| {
            row.verb.eq_ignore_ascii_case(verb)
                || row.spellings.iter().any(|word| word.eq_ignore_ascii_case(verb))
        });
        let read = match known {
            Some(row) => (row.read)(rest),
            None if verb.is_empty() => Err("the request is empty".to_owned()),
            None => Err(format!("no request starts with `{}`", clause::shortened(verb))),
        };
        read.map_err(|reason| Unreadable {
            reason,
            grammar: self.to_text(),
        })
    }

    /// Every form, one a line, and the first row's example.
    pub fn to_text(&self) -> String {
        let mut text = "requests are:".to_owned();
        for form in self.rows.iter().flat_map(|row| row.forms) {
            write!(text, "\n  {form}").expect("writing to a string does not fail");
        }
        if let Some(row) = self.rows.first() {
            write!(text, "\nfor example: {}", row.example).expect("writing to a string does not fail");
        }
        text
    }
}
