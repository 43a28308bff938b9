//! The audited registry: the one way to a tool and the one way from a tool to the model.
//!
//! [`Registry::run`] writes `tool.call` before a tool runs and refuses to run one whose call cannot be recorded.
//! [`Registry::finish`] is the last boundary: it takes what the calls of one reply returned, fits them into their
//! common budget, writes `tool.result` with exactly the text that is sent, and gives one result per call in call
//! order. Nothing else makes a [`Finished`].

mod admit;
mod attach;
mod background;
mod batch;
mod excerpt;
mod file;
mod receive;
mod said;

use std::time::Instant;

use serde_json::{Map, Value, json};
use wisp_audit::{Event, Kind};

use crate::arguments;
use crate::call::{Call, Scene, Services};
use crate::files::seen::Seen;
use crate::files::undo::{Back, Edits, Which};
use crate::gate::Gatekeeper;
use crate::jobs::Jobs;
use crate::ledger::{CallLedger, Noted, State, repeated};
use crate::live;
use crate::run_command;
use crate::tool::{Body, Descriptor, Ending, Returned, Tool};
use crate::written;

pub use admit::{Admitted, HeldRange, KeptRecord};
pub use attach::Attachment;
pub use batch::cap_at_send;
pub use excerpt::Excerpt;
pub use said::said;

/// A call as the model made it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The tool's name, as the model wrote it.
    pub tool: &'a str,
    /// The arguments, as the model wrote them.
    pub arguments: &'a Value,
}

/// A call that has been made, on its way to [`Registry::finish`].
#[derive(Debug)]
pub struct Pending {
    /// The call's id, 16 hex digits.
    pub call: String,
    /// The tool's name.
    pub tool: String,
    /// What the model wrote, on one line, for the person.
    pub arguments: String,
    /// What it returned, as admitted.
    pub admitted: Admitted,
    /// How it ended.
    pub ending: Ending,
    /// Seconds it took.
    pub seconds: f64,
    /// How many equal calls the turn made before.
    pub repeat: u32,
    /// How many equal calls, this one counted, the turn made since it last made a new one.
    pub in_a_row: u32,
    /// Whether the tool only reads.
    pub reads_only: bool,
    /// For an edit that was made: the unified difference, for the person.
    pub difference: Option<String>,
}

/// A result as the model is sent it.
#[derive(Debug)]
pub struct Finished {
    /// The call with what it returned.
    pub pending: Pending,
    /// The audit event that holds the result; none when it could not be written.
    pub event: Option<String>,
}

/// A call's failure to be recorded: the tool did not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the audit cannot be written, so nothing that needs a record runs: {0}")]
pub struct NotRecorded(pub String);

/// The tools of one conversation.
pub struct Registry {
    tools: Vec<Box<dyn Tool>>,
    services: Services,
    gate: Gatekeeper,
    seen: Seen,
    edits: Edits,
    ledger: CallLedger,
    jobs: Jobs,
    memory: MemoryOffer,
    /// Whether the tools that search are offered.
    search: bool,
    /// Whether only the few tools are offered that a small model uses well.
    lean: bool,
    /// Whether the tools were asked for by name.
    named: bool,
}

/// Whether `memory` is offered (`context.memory`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOffer {
    /// Among the tools from the start.
    Now,
    /// From the first output of which something is held back; that output's note names it already.
    WhenHeldBack,
    /// Not at all.
    Never,
}

impl Registry {
    /// A registry of `tools`, in the order they are offered.
    pub fn new(tools: Vec<Box<dyn Tool>>, services: Services, gate: Gatekeeper) -> Self {
        let memory = if tools.iter().any(|t| t.descriptor().name == crate::MEMORY) {
            MemoryOffer::Now
        } else {
            MemoryOffer::Never
        };
        Self {
            tools,
            services,
            gate,
            seen: Seen::default(),
            edits: Edits::default(),
            ledger: CallLedger::default(),
            jobs: Jobs::default(),
            memory,
            search: true,
            lean: false,
            named: false,
        }
    }

    /// Says that the conversation, which began so many seconds after 1970, was resumed: how files stood when they were
    /// read then is not known.
    pub fn resumed(&mut self, began: i64) {
        self.seen.resumed(began);
    }

    /// What the tools share.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// The gate, for the person's own commands and for showing approvals.
    pub fn gate_mut(&mut self) -> (&mut Gatekeeper, &Services) {
        (&mut self.gate, &self.services)
    }

    /// The gate.
    pub fn gate(&self) -> &Gatekeeper {
        &self.gate
    }

    /// The rows of the tools that are offered, in order.
    pub fn descriptors(&self) -> Vec<Descriptor> {
        self.offered().map(Tool::descriptor).collect()
    }

    /// The tools that are offered: `memory` and those that search only by their own rules, and of a lean set no more than
    /// is in it.
    fn offered(&self) -> impl Iterator<Item = &dyn Tool> {
        offered(&self.tools, self.offer())
    }

    fn offer(&self) -> Offer {
        Offer {
            memory: self.has_memory(),
            search: self.search,
            lean: self.lean,
        }
    }

    /// Says whether the tools that search are offered: they are what a first request that is too long does without.
    pub fn offer_search(&mut self, offered: bool) {
        self.search = offered || self.named;
    }

    /// Says whether only the few tools are offered that a small model uses well, beside the person's own. Tools that
    /// were asked for by name are all offered.
    pub fn offer_set(&mut self, lean: bool) {
        self.lean = lean && !self.named;
    }

    /// The tools were asked for by name: none of them is left out for a small model.
    pub fn offer_all(&mut self) {
        self.named = true;
    }

    /// The names of the tools that are offered.
    pub fn names(&self) -> Vec<String> {
        self.descriptors().iter().map(|d| d.name.to_string()).collect()
    }

    /// The names of all tools but those of programs beside wisp.
    pub fn own_names(&self) -> Vec<String> {
        let own = self.tools.iter().filter(|tool| !tool.is_foreign());
        own.map(|tool| tool.descriptor().name.to_string()).collect()
    }

    /// The definitions as they are sent: a JSON array, the same bytes each time.
    pub fn definitions(&self) -> String {
        self.defined(|_| true)
    }

    /// The same without the tools of programs beside wisp.
    pub fn own_definitions(&self) -> String {
        self.defined(|tool| !tool.is_foreign())
    }

    fn defined(&self, wanted: impl Fn(&dyn Tool) -> bool) -> String {
        let offered = self.offered().filter(|tool| wanted(*tool));
        let all = offered.map(|tool| {
            if !self.lean || tool.is_foreign() {
                return tool.definition();
            }
            let mut row = tool.descriptor();
            fewer(&mut row);
            row.definition()
        });
        Value::Array(all.collect()).to_string()
    }

    /// Says when `memory` is offered. A registry that does not hold the tool never offers it.
    pub fn offer_memory(&mut self, when: MemoryOffer) {
        if self.memory != MemoryOffer::Never {
            self.memory = when;
        }
    }

    /// Whether `memory` is offered.
    pub fn has_memory(&self) -> bool {
        self.memory == MemoryOffer::Now
    }

    /// Whether whoever reads a note about something held back will have `memory`.
    fn will_have_memory(&self) -> bool {
        self.memory != MemoryOffer::Never
    }

    /// With the first thing held back, `memory` joins the tools of a small window.
    fn held_back(&mut self, admitted: &Admitted) {
        if self.memory == MemoryOffer::WhenHeldBack && !admitted.held.is_empty() {
            self.memory = MemoryOffer::Now;
        }
    }

    /// Whether a tool is one of the person's own.
    pub fn is_custom(&self, name: &str) -> bool {
        self.tools
            .iter()
            .any(|tool| tool.is_strict() && tool.descriptor().name == name)
    }

    /// The edits that were made.
    pub fn edits(&self) -> &Edits {
        &self.edits
    }

    /// What undoing edits would put back. Errors name the file that cannot be.
    pub fn back(&self, which: Which) -> Result<Vec<Back>, String> {
        self.edits.back(which, &self.seen)
    }

    /// Notes that edits of a file were undone.
    pub fn undone(&mut self, which: Which, path: &std::path::Path) {
        self.edits.undone(which, path);
        self.seen.note(path);
    }

    /// Adds a tool at the end of those offered.
    pub fn add(&mut self, tool: Box<dyn Tool>) {
        self.tools.push(tool);
    }

    /// Puts `tools` in the place of all that belong to programs beside wisp.
    pub fn set_foreign(&mut self, tools: Vec<Box<dyn Tool>>) {
        self.tools.retain(|tool| !tool.is_foreign());
        self.tools.extend(tools);
    }

    /// Runs one call: recorded first, then run, then its whole output kept when it exceeds the budget. A token of a chat
    /// template that the model was shown with a mark is meant without it.
    pub async fn run(&mut self, request: Request<'_>, scene: &Scene<'_>) -> Result<Pending, NotRecorded> {
        let meant = wisp_template_tokens::active_value(request.arguments);
        let request = Request {
            arguments: meant.as_ref().unwrap_or(request.arguments),
            ..request
        };
        let call = self.services.ids.next();
        let details = json!({"tool": request.tool, "arguments": request.arguments});
        self.record(scene.turn, &call, Kind::ToolCall, details)?;
        let read = self.read(request);
        let began = Instant::now();
        let (returned, reads_only, ignored) = self.returned(&call, request.tool, &read, scene).await;
        let seconds = began.elapsed().as_secs_f64();
        let arguments = read.as_ref().unwrap_or(request.arguments);
        let state = state(&returned, reads_only);
        let noted = self.ledger.note(scene.turn, request.tool, arguments, state);
        let again = (noted.before > 0).then(|| repeated(request.tool, noted));
        let above: Vec<String> = [again, ignored].into_iter().flatten().collect();
        let note = (!above.is_empty()).then(|| above.join("\n"));
        Ok(self.pending(
            call,
            request,
            returned,
            Taken {
                seconds,
                noted: Some(noted),
                note,
                reads_only,
            },
        ))
    }

    /// Runs a line the person typed: policy holds, risk and approval do not apply. It is kept and bounded as a model's
    /// command is, under an id of its own; what it came to is recorded by the caller as `command.typed`.
    pub async fn run_typed(&mut self, line: &str, scene: &Scene<'_>) -> Result<Pending, NotRecorded> {
        let id = self.services.ids.next();
        let began = Instant::now();
        let returned = self.typed(&id, line, scene).await?;
        let seconds = began.elapsed().as_secs_f64();
        let arguments = json!({ "command": line });
        let request = Request {
            tool: TYPED,
            arguments: &arguments,
        };
        let taken = Taken {
            seconds,
            noted: None,
            note: None,
            reads_only: false,
        };
        let pending = self.pending(id, request, returned, taken);
        self.record_kept(scene.turn, &pending);
        Ok(pending)
    }

    async fn typed(&mut self, id: &str, line: &str, scene: &Scene<'_>) -> Result<Returned, NotRecorded> {
        let directory = self.services.directory.clone();
        let allowed = self.gate.gate().check_typed(line);
        let mut details = json!({
            "command": line, "workingDirectory": directory.display().to_string(), "origin": "person",
            "verdict": if allowed.is_ok() { "allowed" } else { "denied" },
        });
        if let Err(refusal) = &allowed {
            details["reason"] = refusal.reason().into();
        }
        self.record(scene.turn, id, Kind::PolicyDecision, details)?;
        if let Err(refusal) = allowed {
            return Ok(Returned::refused(refusal.reason(), Ending::Denied));
        }
        let mut spec = run_command::spec(line, directory, &self.services, scene);
        let start = self.services.confining.outside();
        spec.sandbox = start.sandbox;
        spec.env = start.env;
        // A person who typed a command is there to stop it.
        spec.timeout = None;
        if let Some(line) = background::of_line(line) {
            spec.program = wisp_exec::Program::Shell(line.into());
            return self.typed_job((id, line), spec, scene).await;
        }
        Ok(match live::run(spec, scene.person).await {
            Ok(outcome) => {
                let mut details = run_command::details(line, &outcome);
                details["origin"] = "person".into();
                self.record(scene.turn, id, Kind::CommandOutcome, details)?;
                run_command::returned(outcome, &self.services)
            }
            Err(e) => Returned::error(e),
        })
    }

    /// Records a call that is answered without being run: the turn was stopped before its place.
    pub fn not_run(&mut self, request: Request<'_>, turn: u64, why: &str) -> Result<Pending, NotRecorded> {
        let call = self.services.ids.next();
        let details = json!({"tool": request.tool, "arguments": request.arguments});
        self.record(turn, &call, Kind::ToolCall, details)?;
        let returned = Returned::refused(why, Ending::NeverRan);
        let taken = Taken {
            seconds: 0.0,
            noted: None,
            note: None,
            reads_only: true,
        };
        Ok(self.pending(call, request, returned, taken))
    }

    /// Records a call that cannot be read, as it came, and answers it with why and with what its tool takes. It counts as
    /// a call where repeated ones are concerned.
    pub fn unreadable(&mut self, request: Request<'_>, turn: u64, why: &str) -> Result<Pending, NotRecorded> {
        let call = self.services.ids.next();
        let details = json!({"tool": request.tool, "arguments": request.arguments});
        self.record(turn, &call, Kind::ToolCall, details)?;
        let noted = self
            .ledger
            .note(turn, request.tool, request.arguments, State::of(why.as_bytes()));
        let rows = self.descriptors();
        let hint = match rows.iter().find(|row| row.name == request.tool) {
            Some(row) => arguments::takes(request.tool, &row.parameters),
            None => tools_are(&self.names()),
        };
        let taken = Taken {
            seconds: 0.0,
            noted: Some(noted),
            note: (noted.before > 0).then(|| repeated(request.tool, noted)),
            reads_only: true,
        };
        let returned = Returned::error(format!("the call cannot be read: {why}; {hint}"));
        Ok(self.pending(call, request, returned, taken))
    }

    /// The call's arguments as they are meant: the tool's own names, without dummies. The error is for the model.
    fn read(&self, request: Request<'_>) -> Result<Value, String> {
        let mut known = offered(&self.tools, self.offer());
        let Some(tool) = known.find(|t| t.descriptor().name == request.tool) else {
            return Ok(request.arguments.clone());
        };
        let parameters = tool.descriptor().parameters;
        let means = |given: &Map<String, Value>, name: &str| tool.means(given, name);
        let read = written::read(
            request.tool,
            &parameters,
            request.arguments,
            tool.is_strict(),
            means,
        )?;
        let mut arguments = read.arguments;
        if let Value::Object(map) = &mut arguments {
            tool.amend(map, &read.renamed);
        }
        Ok(arguments)
    }

    /// What the call returned, whether its tool only reads, and the line on arguments that were ignored.
    async fn returned(
        &mut self,
        id: &str,
        name: &str,
        read: &Result<Value, String>,
        scene: &Scene<'_>,
    ) -> (Returned, bool, Option<String>) {
        let mut known = offered(&self.tools, self.offer());
        let Some(tool) = known.find(|t| t.descriptor().name == name) else {
            return (unknown(name, &self.names()), true, None);
        };
        let row = tool.descriptor();
        let given = match read {
            Ok(given) => given,
            Err(why) => return (Returned::error(why), row.reads_only, None),
        };
        let beside = if tool.takes_others() {
            None
        } else {
            arguments::unknown(name, &row.parameters, given)
        };
        if let Some(why) = beside.as_ref().filter(|_| tool.is_strict()) {
            return (Returned::error(why), row.reads_only, None);
        }
        if let Some(missing) = arguments::missing(name, &row.parameters, given) {
            let why = beside.map_or(missing.clone(), |beside| format!("{missing}; {beside}"));
            return (Returned::error(why), row.reads_only, None);
        }
        let mut call = Call {
            id,
            services: &self.services,
            gate: &mut self.gate,
            seen: &mut self.seen,
            jobs: &mut self.jobs,
            edits: &mut self.edits,
            scene,
        };
        let returned = tool.run(given, &mut call).await;
        let ignored = beside.map(|what| format!("[ignored: {what}]"));
        (returned, row.reads_only, ignored)
    }

    fn record(&self, turn: u64, call: &str, kind: Kind, details: Value) -> Result<String, NotRecorded> {
        let event = Event::new(kind, details).in_turn(turn).of_call(call);
        let id = self
            .services
            .audit
            .append(event)
            .map_err(|e| NotRecorded(e.to_string()))?;
        Ok(id.into_string())
    }

    fn pending(&mut self, call: String, request: Request<'_>, returned: Returned, taken: Taken) -> Pending {
        let about = admit::About {
            call: &call,
            tool: request.tool,
            arguments: one_line(request.arguments),
            memory: self.will_have_memory(),
            note: taken.note,
        };
        let arguments = about.arguments.clone();
        let admitted = admit::admit(returned.body, &returned.ending, &about, &self.services);
        self.held_back(&admitted);
        Pending {
            call,
            tool: request.tool.to_owned(),
            arguments,
            admitted,
            ending: returned.ending,
            seconds: taken.seconds,
            repeat: taken.noted.map_or(0, |noted| noted.before),
            in_a_row: taken.noted.map_or(0, |noted| noted.in_a_row),
            reads_only: taken.reads_only,
            difference: returned.difference,
        }
    }

    /// Records that the whole of a result is in the store, if it is.
    fn record_kept(&self, turn: u64, pending: &Pending) {
        let Some(kept) = &pending.admitted.kept else {
            return;
        };
        let held = pending.admitted.held.iter();
        let held: Vec<Value> = held
            .map(|range| json!({"fromLine": range.from_line, "toLine": range.to_line, "bytes": range.bytes}))
            .collect();
        let details = json!({
            "tool": pending.tool, "output": pending.call, "bytes": kept.bytes, "lines": kept.lines,
            "sha256": kept.sha256, "cut": kept.cut, "totalBytes": kept.total_bytes, "totalLines": kept.total_lines,
            "held": held,
        });
        // The output is kept whether or not this can be written; the result's own record says so next.
        let _ = self.record(turn, &pending.call, Kind::OutputKept, details);
    }

    /// The last boundary before results are recorded and sent. The results of one reply share twice one result's
    /// budget: when they exceed it, each is reduced to its max-min share from its kept output (second design, "one
    /// final budget for a whole batch").
    pub fn finish(&mut self, turn: u64, mut batch: Vec<Pending>) -> Vec<Finished> {
        self.ledger.replied();
        let memory = self.will_have_memory();
        if let Some(details) = batch::reduce(&mut batch, &self.services, memory) {
            let event = Event::new(Kind::BatchReduced, details).in_turn(turn);
            let _ = self.services.audit.append(event);
        }
        for pending in &batch {
            self.held_back(&pending.admitted);
        }
        batch
            .into_iter()
            .map(|pending| self.finished(turn, pending))
            .collect()
    }

    fn finished(&mut self, turn: u64, pending: Pending) -> Finished {
        self.record_kept(turn, &pending);
        let mut details = json!({
            "tool": pending.tool,
            "output": pending.admitted.shown,
            "bytes": pending.admitted.bytes,
            "seconds": (pending.seconds * 1000.0).round() / 1000.0,
            "outcome": pending.ending.words(),
        });
        if pending.ending.is_failure() {
            details["failed"] = true.into();
        }
        if pending.repeat > 0 {
            details["repeat"] = pending.repeat.into();
        }
        let event = self.record(turn, &pending.call, Kind::ToolResult, details).ok();
        Finished { pending, event }
    }
}

/// Which tools are offered beside those that always are.
#[derive(Clone, Copy)]
struct Offer {
    memory: bool,
    search: bool,
    lean: bool,
}

/// The tools that are offered. `memory` and those that search have their own rules; a lean set has the person's own and those
/// in [`LEAN`].
fn offered(tools: &[Box<dyn Tool>], offer: Offer) -> impl Iterator<Item = &dyn Tool> {
    let all = tools.iter().map(AsRef::as_ref);
    all.filter(move |tool| {
        let name = tool.descriptor().name;
        if name == crate::MEMORY {
            return offer.memory;
        }
        if crate::SEARCH.contains(&&*name) && !offer.search {
            return false;
        }
        !offer.lean || tool.is_strict() || LEAN.iter().any(|(known, _)| *known == name)
    })
}

/// What a small model is offered of wisp's own tools, and with which arguments: the fewer, the better it uses them.
const LEAN: &[(&str, &[&str])] = &[
    ("run_command", &["command"]),
    ("read_file", &["path", "offset"]),
    ("edit_file", &["path", "mode", "find", "content"]),
];

/// Takes the arguments away that a small model only fills with dummies.
fn fewer(row: &mut Descriptor) {
    if let Some((_, kept)) = LEAN.iter().find(|(name, _)| *name == row.name) {
        row.parameters
            .to_mut()
            .retain(|parameter| kept.contains(&parameter.name.as_ref()));
    }
}

/// The name under which a command the person typed is kept.
const TYPED: &str = "!";

/// What was measured of a call.
struct Taken {
    seconds: f64,
    noted: Option<Noted>,
    note: Option<String>,
    reads_only: bool,
}

/// What a call found, to tell whether an equal one found anything new. What changes something is no news by what it
/// says: a line appended a second time makes the file longer and is still the same call.
fn state(returned: &Returned, reads_only: bool) -> State {
    match &returned.body {
        Body::Command { outcome, .. } => State::of(outcome.stdout.head())
            .and(outcome.stdout.tail())
            .and(outcome.stderr.head())
            .and(outcome.stderr.tail())
            .and(returned.ending.words().as_bytes()),
        Body::Text(text) | Body::Page(text) if reads_only => State::of(text.as_bytes()),
        Body::File { page, .. } => State::of(page.lines.as_bytes()),
        Body::Text(text) | Body::Page(text) if returned.ending.is_failure() => State::of(text.as_bytes()),
        Body::Text(_) | Body::Page(_) => State::of(returned.ending.words().as_bytes()),
    }
}

/// The answer to a call of a tool that does not exist.
fn unknown(tool: &str, names: &[String]) -> Returned {
    Returned::error(format!(
        "there is no tool {tool:?}; {}; call one of them, or answer in words",
        tools_are(names)
    ))
}

fn tools_are(names: &[String]) -> String {
    let list = if names.is_empty() {
        "there are none".to_owned()
    } else {
        names.join(", ")
    };
    format!("the tools are: {list}")
}

/// A call's arguments as they are recorded: one that has a single text is that text, else the JSON.
pub fn one_line(arguments: &Value) -> String {
    let text = match arguments {
        Value::Object(map) => match map.iter().filter(|(_, v)| !v.is_null()).collect::<Vec<_>>()[..] {
            [(_, Value::String(text))] => text.clone(),
            [] => String::new(),
            _ => arguments.to_string(),
        },
        other => other.to_string(),
    };
    let first = text.lines().next().unwrap_or_default();
    if first.len() < text.trim_end().len() {
        format!("{first} …")
    } else {
        first.to_owned()
    }
}
