//! `inspect`: the settings, the state, the approvals, and what was recorded, so that a model checks instead of
//! remembering.

mod events;

use serde_json::Value;
use wisp_audit::{AuditFile, Filter, Kind, Record, SessionId};

use crate::arguments;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::tool::{Descriptor, Returned, Running, Tool};

/// Events that are shown when a call does not say how many.
const LAST: i64 = 20;
/// The most events of one call.
const MOST: i64 = 100;

arguments! {
    /// What `inspect` is called with.
    pub struct InspectArguments {
        what: String = "what", "config, status, approvals, audit (events), or calls (of a turn)";
        last: Option<i64> = "last", "audit: how many (default 20, at most 100)";
        kind: Option<String> = "kind", "audit: such as tool.call";
        turn: Option<i64> = "turn", "audit, calls: of this turn";
        session: Option<String> = "session", "audit: another session";
    }
}

/// The tool.
#[derive(Debug, Default, Clone, Copy)]
pub struct Inspect;

impl Tool for Inspect {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "inspect".into(),
            description: "Show wisp's settings, state, approvals and record.".into(),
            parameters: InspectArguments::PARAMETERS.into(),
            limits: "at most 100 events a call, of a turn all of them; secrets are never shown".to_owned(),
            example: "Which commands did you run in the last turn, and how did each end?".into(),
            reads_only: true,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            let arguments = match InspectArguments::from_value(arguments) {
                Ok(arguments) => arguments,
                Err(e) => return Returned::error(e),
            };
            view(&arguments, call).map_or_else(Returned::error, Returned::text)
        })
    }
}

/// A view of `inspect`.
type View = fn(&InspectArguments, &Call<'_>) -> Result<String, String>;

/// The views by name.
const VIEWS: &[(&str, View)] = &[
    ("config", |_, call| state(call).map(|s| pretty(&s.config()))),
    ("status", |_, call| state(call).map(|s| pretty(&s.status()))),
    ("approvals", |_, call| Ok(approvals(call))),
    ("audit", audit),
    ("calls", calls),
];

fn view(arguments: &InspectArguments, call: &Call<'_>) -> Result<String, String> {
    let what = arguments.what.trim().to_ascii_lowercase();
    if let Some((_, view)) = VIEWS.iter().find(|(name, _)| *name == what) {
        return view(arguments, call);
    }
    let names: Vec<&str> = VIEWS.iter().map(|(name, _)| *name).collect();
    Err(format!(
        "there is no view {what:?}; call inspect again with `what` one of: {}",
        names.join(", ")
    ))
}

fn state<'a>(call: &Call<'a>) -> Result<&'a dyn crate::behind::State, String> {
    call.scene
        .behind
        .state
        .ok_or_else(|| "there is no conversation to inspect: answer without it".to_owned())
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

/// What is allowed, the newest first; what has ended is left out.
fn approvals(call: &Call<'_>) -> String {
    let now = call.services.clock.now();
    let mut all: Vec<_> = call
        .gate
        .approvals()
        .iter()
        .filter(|a| a.expires_at.is_none_or(|end| now < end))
        .collect();
    if all.is_empty() {
        return "nothing is approved: each command that needs leave is asked about".to_owned();
    }
    all.sort_by_key(|a| std::cmp::Reverse(a.granted_at));
    serde_json::to_value(all).map_or_else(|e| e.to_string(), |value| pretty(&value))
}

fn audit(arguments: &InspectArguments, call: &Call<'_>) -> Result<String, String> {
    let turn = turn(arguments)?;
    // All of a turn is asked for by naming it; it is bounded as any output is.
    let count = match (arguments.last, turn) {
        (None, Some(_)) => usize::MAX,
        (last, _) => usize::try_from(last.unwrap_or(LAST).clamp(1, MOST)).unwrap_or(1),
    };
    let kind = arguments
        .kind
        .as_deref()
        .map(str::trim)
        .filter(|kind| !kind.is_empty());
    if let Some(kind) = kind {
        known(kind)?;
    }
    let filter = Filter {
        kinds: kind.map(str::to_owned).into_iter().collect(),
        turn,
        ..Filter::default()
    };
    let events = recorded(arguments, call, count, &filter)?;
    if events.is_empty() {
        return Ok("no matching audit events".to_owned());
    }
    Ok(events.iter().map(events::line).collect::<Vec<_>>().join("\n"))
}

/// A kind by its name, or a family by its first words.
fn known(kind: &str) -> Result<(), String> {
    let within =
        |name: &str| name == kind || name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('.'));
    if Kind::ALL.iter().any(|k| within(k.name())) {
        return Ok(());
    }
    let names: Vec<&str> = Kind::ALL.iter().map(|k| k.name()).collect();
    Err(format!(
        "there is no kind {kind:?}; leave `kind` out, or give one of: {}",
        names.join(", ")
    ))
}

fn turn(arguments: &InspectArguments) -> Result<Option<u64>, String> {
    let wrong =
        |turn: i64| format!("there is no turn {turn}: turns count from 1; leave `turn` out for this turn");
    arguments
        .turn
        .map(|turn| {
            u64::try_from(turn)
                .ok()
                .filter(|t| *t > 0)
                .ok_or_else(|| wrong(turn))
        })
        .transpose()
}

fn recorded(
    arguments: &InspectArguments,
    call: &Call<'_>,
    count: usize,
    filter: &Filter,
) -> Result<Vec<Record>, String> {
    let log = &call.services.audit;
    let named = arguments
        .session
        .as_deref()
        .map(str::trim)
        .filter(|s| !s.is_empty());
    let file = match named {
        Some(name) => {
            let session = SessionId::parse(name).map_err(|e| e.to_string())?;
            AuditFile::open(&call.services.home, &session)
        }
        None => AuditFile::at(
            &log.path()
                .ok_or("the audit is off: nothing is recorded; answer with what is in your context")?,
        ),
    };
    let file = file.map_err(|e| e.to_string())?;
    file.last(count, filter).map_err(|e| e.to_string())
}

/// A turn's calls, one line each: the tool, its arguments, its outcome.
fn calls(arguments: &InspectArguments, call: &Call<'_>) -> Result<String, String> {
    let turn = turn(arguments)?.unwrap_or(call.scene.turn);
    let filter = Filter {
        kinds: vec![
            Kind::ToolCall.name().to_owned(),
            Kind::ToolResult.name().to_owned(),
        ],
        turn: Some(turn),
        ..Filter::default()
    };
    let events = recorded(arguments, call, usize::MAX, &filter)?;
    let lines = events::calls(&events, call.id);
    if lines.is_empty() {
        return Ok(format!("no tool was called in turn {turn}"));
    }
    Ok(format!("turn {turn}:\n{}", lines.join("\n")))
}
