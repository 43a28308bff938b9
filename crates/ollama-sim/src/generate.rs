//! The reply, token by token.
//!
//! A script's events become tokens; each token is counted against `num_predict` and the window, and what is left
//! of an event that does not fit is lost, a half-written tool call with it. The counts a client is told are
//! those of this file and nothing else.

use serde_json::{Map, Value};

use crate::decode::{Call, Think, ToolDef};
use crate::model::{Capability, Model, Parser};
use crate::profile::{Era, Profile};
use crate::render::{call_text, sorted, thinking_text};
use crate::tokens;
use crate::window::Window;

/// A reply may be this many windows long when nothing else bounds it.
const LONGEST: u64 = 10;
/// So many equal tokens in a row end a reply where Ollama watches for it.
const REPEATS: u32 = 31;

/// What one line of the stream carries.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Piece {
    pub(crate) content: String,
    pub(crate) thinking: String,
    /// The calls, with their number in the reply.
    pub(crate) calls: Vec<(usize, Call)>,
}

/// Why generation ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// `num_predict` or the window.
    Length,
    /// Too many equal tokens: the stream just ends.
    Repeats,
    /// The model's own call could not be read.
    Parse(String),
}

/// The fixed part of a generation.
pub(crate) struct Setting<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) model: &'a Model,
    pub(crate) tools: &'a [ToolDef],
    pub(crate) think: &'a Think,
    pub(crate) window: Window,
    pub(crate) shift: bool,
    pub(crate) num_predict: Option<i64>,
    pub(crate) num_keep: u64,
    pub(crate) prompt_tokens: u64,
    /// A `format` is set: its grammar leaves no room for a call.
    pub(crate) constrained: bool,
}

impl Setting<'_> {
    /// How many tokens may be generated.
    fn limit(&self) -> u64 {
        let longest = self.window.asked.saturating_mul(LONGEST);
        match (self.num_predict, self.profile.era) {
            // The native path takes 0 for none, and gives one token all the same.
            (Some(0), Era::E4Native) => 1,
            (Some(n), _) if n > 0 => n.unsigned_abs().min(longest),
            _ => longest,
        }
    }

    /// How many tokens prompt and reply may have together before the window is full.
    fn room(&self) -> u64 {
        if self.profile.era.is_e4() {
            self.window.allotted
        } else {
            self.window.allotted + 1
        }
    }

    fn can_think(&self) -> bool {
        let native = self.profile.era == Era::E4Native;
        self.model.capabilities_on(native).contains(&Capability::Thinking)
    }

    /// Whether the model thinks at all, for this request.
    fn thinks(&self) -> bool {
        !(self.can_think() && *self.think == Think::Off && self.model.parser != Parser::Harmony)
    }

    /// Whether thinking arrives apart from content.
    fn separates(&self) -> bool {
        let asked = self.think.wanted() || (self.profile.thinks_unasked && *self.think == Think::Omitted);
        self.can_think() && (asked || self.model.parser == Parser::Harmony)
    }
}

/// A reply being generated.
pub(crate) struct Generator<'a> {
    setting: Setting<'a>,
    /// Everything generated, as text: it goes into the slot.
    pub(crate) text: String,
    /// Tokens generated, the stop token apart.
    pub(crate) tokens: u64,
    /// Whether the front of the window was forgotten.
    pub(crate) shifted: bool,
    used: u64,
    last: String,
    repeats: u32,
    calls: usize,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(setting: Setting<'a>) -> Self {
        let used = setting.prompt_tokens;
        Self {
            setting,
            text: String::new(),
            tokens: 0,
            shifted: false,
            used,
            last: String::new(),
            repeats: 0,
            calls: 0,
        }
    }

    /// One token more, or why not.
    fn token(&mut self, token: &str) -> Result<(), Stopped> {
        if self.tokens >= self.setting.limit() {
            return Err(Stopped::Length);
        }
        if self.used >= self.setting.room() {
            if !self.setting.shift {
                return Err(Stopped::Length);
            }
            let keep = self.setting.num_keep.min(self.used);
            self.used = keep + (self.used - keep) / 2;
            self.shifted = true;
        }
        self.repeats = if self.last == token { self.repeats + 1 } else { 1 };
        if self.repeats > REPEATS && self.setting.profile.era != Era::E4Native {
            return Err(Stopped::Repeats);
        }
        token.clone_into(&mut self.last);
        self.text.push_str(token);
        self.tokens += 1;
        self.used += 1;
        Ok(())
    }

    /// The stop token: counted if there is room for it.
    pub(crate) fn stop(&mut self) -> Result<(), Stopped> {
        self.token("<|im_end|>")
    }

    /// Generates a text and gives a piece for each token, or one for all.
    fn pieces(
        &mut self,
        text: &str,
        each: bool,
        wrap: impl Fn(String) -> Piece,
    ) -> (Vec<Piece>, Result<(), Stopped>) {
        let mut pieces = Vec::new();
        let mut whole = String::new();
        let mut outcome = Ok(());
        for token in tokens::split(text) {
            outcome = self.token(token);
            if outcome.is_err() {
                break;
            }
            if each {
                pieces.push(wrap(token.to_owned()));
            } else {
                whole.push_str(token);
            }
        }
        if !whole.is_empty() {
            pieces.push(wrap(whole));
        }
        (pieces, outcome)
    }

    pub(crate) fn content(&mut self, text: &str, each: bool) -> (Vec<Piece>, Result<(), Stopped>) {
        self.pieces(text, each, |content| Piece {
            content,
            ..Piece::default()
        })
    }

    pub(crate) fn thinking(&mut self, text: &str) -> (Vec<Piece>, Result<(), Stopped>) {
        if !self.setting.thinks() {
            return (Vec::new(), Ok(()));
        }
        if !self.setting.separates() {
            return self.content(&thinking_text(text), true);
        }
        let outcome = self.swallow("<think>\n");
        if outcome.is_err() {
            return (Vec::new(), outcome);
        }
        let (pieces, outcome) = self.pieces(text, true, |thinking| Piece {
            thinking,
            ..Piece::default()
        });
        let outcome = outcome.and_then(|()| self.swallow("\n</think>\n\n"));
        (pieces, outcome)
    }

    /// Generates a text the server's parser keeps to itself.
    fn swallow(&mut self, text: &str) -> Result<(), Stopped> {
        tokens::split(text).try_for_each(|token| self.token(token))
    }

    pub(crate) fn call(
        &mut self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> (Vec<Piece>, Result<(), Stopped>) {
        if self.setting.constrained {
            return (Vec::new(), Ok(()));
        }
        let call = Call {
            name: name.to_owned(),
            arguments: arguments.clone(),
            ..Call::default()
        };
        let native = self.setting.profile.era == Era::E4Native;
        let text = call_text(&call, native);
        if self.setting.tools.is_empty() {
            return self.content(&text, true);
        }
        if let Err(stopped) = self.swallow(&text) {
            return (Vec::new(), Err(stopped));
        }
        (self.deliver(call), Ok(()))
    }

    /// A call the parser read, unless it is one the parser drops.
    fn deliver(&mut self, mut call: Call) -> Vec<Piece> {
        let offered = self.setting.tools.iter().any(|tool| tool.name == call.name);
        if !offered
            && (self.setting.model.parser == Parser::Generic || self.setting.profile.era == Era::E4Native)
        {
            return Vec::new();
        }
        if !self.setting.profile.ordered_arguments {
            call.arguments = sorted(&call.arguments);
        }
        let index = self.calls;
        self.calls += 1;
        vec![Piece {
            calls: vec![(index, call)],
            ..Piece::default()
        }]
    }

    /// Text that goes through the parser.
    pub(crate) fn raw(&mut self, text: &str) -> (Vec<Piece>, Result<(), Stopped>) {
        let tag = "<tool_call>";
        if self.setting.constrained && text.contains(tag) {
            return (Vec::new(), Ok(()));
        }
        let (before, rest) = match text.split_once(tag) {
            Some(parts) if !self.setting.tools.is_empty() => parts,
            _ => return self.content(text, true),
        };
        let (mut pieces, outcome) = self.content(before, true);
        if outcome.is_err() {
            return (pieces, outcome);
        }
        let (inside, after) = rest.split_once("</tool_call>").unwrap_or((rest, ""));
        if let Err(stopped) = self.swallow(&format!("{tag}{inside}</tool_call>")) {
            return (pieces, Err(stopped));
        }
        match self.parse(inside) {
            Ok(call) => pieces.extend(call.map(|call| self.deliver(call)).unwrap_or_default()),
            Err(text) => return (pieces, Err(Stopped::Parse(text))),
        }
        if after.trim().is_empty() {
            return (pieces, Ok(()));
        }
        let (more, outcome) = self.raw(after);
        pieces.extend(more);
        (pieces, outcome)
    }

    /// Reads a call. `None` is one the parser drops; the error is what the parser fails the request with.
    fn parse(&self, inside: &str) -> Result<Option<Call>, String> {
        let read: Result<Value, _> = serde_json::from_str(inside.trim());
        let fault = match read {
            Ok(value) => match (value["name"].as_str(), value["arguments"].as_object()) {
                (Some(name), Some(arguments)) => {
                    let arguments = arguments.clone();
                    return Ok(Some(Call {
                        name: name.to_owned(),
                        arguments,
                        ..Call::default()
                    }));
                }
                _ => "no name or no arguments object".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        match self.setting.model.parser {
            Parser::Generic => Ok(None),
            Parser::Harmony => Err(format!("error parsing tool call: raw='{inside}', err={fault}")),
            Parser::Xml => Err(format!(
                "XML syntax error on line 1: {}",
                fault.lines().next().unwrap_or_default()
            )),
        }
    }
}
