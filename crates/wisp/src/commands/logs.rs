//! `wisp logs`: what was recorded, and whether the record is as it was written.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};
use wisp_audit::{
    AuditError, AuditFile, Change, EndCheck, Filter, Follower, Key, Kind, Record, Register, RegisterFault,
    SessionFile, Verdict, register, sessions, verify_with,
};
use wisp_config::Config;
use wisp_guard::secrets::Masker;
use wisp_host::Env;
use wisp_output::amount::{counted, size};
use wisp_term::{Role, safe, width};

use super::paths;
use crate::args::{Logs, LogsSub};
use crate::exit::{FAILED, Usage};
use crate::screen::Screen;

/// How often a session that is followed is looked at.
const POLL: Duration = Duration::from_millis(250);

/// Fields of an event's details that say most, in the order they are looked for.
const TELLING: &[&str] = &[
    "message",
    "text",
    "tool",
    "command",
    "arguments",
    "model",
    "outcome",
    "verdict",
    "decision",
    "reason",
    "failure",
    "estimate",
    "action",
    "bytes",
    "seconds",
];

/// Kinds of which other fields say most, with those.
const TELLING_OF: &[(Kind, &[&str])] = &[
    (
        Kind::ContextCondensation,
        &[
            "reason",
            "steps",
            "fillBefore",
            "fillAfter",
            "contextSize",
            "floor",
        ],
    ),
    (
        Kind::ContextReference,
        &["tool", "entry", "bytes", "referenceBytes"],
    ),
    (Kind::ContextCut, &["tool", "entry", "output", "bytes"]),
];

/// Prints events, lists sessions, or verifies.
pub fn run(args: &Logs, env: Env) -> anyhow::Result<ExitCode> {
    let paths = paths(&env)?;
    let found = sessions(paths.home()).context("the audit cannot be listed")?;
    let mut screen = Screen::new(env, "auto");
    let code = match &args.command {
        Some(LogsSub::Sessions) => list(&found, args.json, &mut screen)?,
        Some(LogsSub::Verify { session }) => {
            let wanted = session.as_ref().or(args.session.as_ref());
            let chosen = match wanted {
                Some(start) => vec![pick(&found, start)?],
                None => found.iter().collect(),
            };
            let config = Config::load(&paths.config())?;
            let checked = Checked {
                home: paths.home(),
                key: wisp_agent::audit_key(&config, &Env::of_process())?,
                alone: wanted.is_some(),
            };
            verified(&chosen, &checked, args.json, &mut screen)?
        }
        None => events(args, &found, &mut screen)?,
    };
    screen.out.flush()?;
    Ok(code)
}

/// The one session whose name begins so; of several only the one whose whole name it is.
fn pick<'a>(found: &'a [SessionFile], start: &str) -> anyhow::Result<&'a SessionFile> {
    if let Some(exact) = found.iter().find(|s| s.session.as_str() == start) {
        return Ok(exact);
    }
    let mut fitting = found.iter().filter(|s| s.session.as_str().starts_with(start));
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(Usage(format!(
            "no session is called {start}; wisp logs sessions lists them"
        ))
        .into()),
        (Some(_), Some(_)) => Err(Usage(format!(
            "several sessions begin with {start}; give more of the name"
        ))
        .into()),
    }
}

/// The conversation that was written to last. Commands such as `wisp config set` have sessions of their own, which name no
/// model.
fn last_conversation(found: &[SessionFile]) -> Option<&SessionFile> {
    found.iter().find(|session| {
        let events = AuditFile::at(&session.path).and_then(|file| file.events());
        let first = events.ok().and_then(|mut events| events.next()?.ok());
        first.is_some_and(|first| first.text("model").is_some())
    })
}

fn events(args: &Logs, found: &[SessionFile], screen: &mut Screen) -> anyhow::Result<ExitCode> {
    let session = match (&args.session, last_conversation(found).or(found.first())) {
        (Some(start), _) => pick(found, start)?,
        (None, Some(latest)) => latest,
        (None, None) => {
            screen.err.line("nothing is recorded yet")?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    args.kind.iter().try_for_each(|kind| known(kind))?;
    let filter = Filter {
        kinds: args.kind.clone(),
        turn: args.turn,
        ..Filter::default()
    };
    let mut wanted = Wanted {
        filter,
        tool: args.tool.clone(),
        calls: BTreeSet::new(),
    };
    // Before what is there is read, so that nothing is missed between the two.
    let follower = args
        .follow
        .then(|| Follower::new(&session.path, false))
        .transpose()?;
    let file = AuditFile::at(&session.path)?;
    let there = match &wanted.tool {
        None => file.last(args.last, &wanted.filter)?,
        Some(_) => wanted.last(&file, args.last)?.into(),
    };
    let mut printing = Printing {
        json: args.json,
        // What an older wisp wrote may hold secrets; what this one wrote has markers already.
        masker: Masker::new(false),
        secrets: 0,
    };
    let mut printed = BTreeSet::new();
    for record in there {
        printed.insert(record.id.as_str().to_owned());
        printing.print(record, screen)?;
    }
    screen.out.flush()?;
    let over = file.last(1, &Filter::default())?;
    let over = over.iter().any(|last| last.kind == Kind::SessionEnd.name());
    if let Some(follower) = follower.filter(|_| !over) {
        follow(follower, &mut wanted, &printed, &mut printing, screen)?;
    }
    if printing.secrets > 0 {
        screen.out.flush()?;
        let count = counted(printing.secrets, "secret");
        screen.err.line(&format!("{count} masked in these events"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Which events are printed.
struct Wanted {
    filter: Filter,
    tool: Option<String>,
    /// The calls of that tool that were seen.
    calls: BTreeSet<String>,
}

impl Wanted {
    /// Whether an event is printed. Events come in order: of a call the one that names its tool comes first.
    fn passes(&mut self, record: &Record) -> bool {
        if let Some(tool) = &self.tool {
            let named = record.text("tool") == Some(tool);
            if let Some(call) = record.call.as_ref().filter(|_| named) {
                self.calls.insert(call.clone());
            }
            let of_call = record.call.as_ref().is_some_and(|call| self.calls.contains(call));
            if !named && !of_call {
                return false;
            }
        }
        self.filter.passes(record)
    }

    /// The last of a whole file.
    fn last(&mut self, file: &AuditFile, count: usize) -> Result<VecDeque<Record>, AuditError> {
        let mut last = VecDeque::new();
        for record in file.events()? {
            let record = record?;
            if self.passes(&record) {
                last.push_back(record);
                if last.len() > count {
                    last.pop_front();
                }
            }
        }
        Ok(last)
    }
}

/// How events are printed.
struct Printing {
    json: bool,
    masker: Masker,
    secrets: u64,
}

impl Printing {
    fn print(&mut self, mut record: Record, screen: &mut Screen) -> anyhow::Result<()> {
        record.masked += self.masker.mask_value(&mut record.details) as u64;
        self.secrets += record.masked;
        let line = if self.json {
            safe::json(&serde_json::to_string(&record)?).into_owned()
        } else if screen.out.surface().terminal {
            width::truncate(&row(&record), screen.out.width()).into_owned()
        } else {
            tabs(&record)
        };
        screen.out.line(&line)?;
        Ok(())
    }
}

/// Prints events as they are written, until the session ends or nobody reads them.
fn follow(
    mut follower: Follower,
    wanted: &mut Wanted,
    printed: &BTreeSet<String>,
    printing: &mut Printing,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    loop {
        for record in follower.poll()? {
            let ends = record.kind == Kind::SessionEnd.name();
            if wanted.passes(&record) && !printed.contains(record.id.as_str()) {
                printing.print(record, screen)?;
            }
            if ends {
                return Ok(());
            }
        }
        screen.out.flush()?;
        std::thread::sleep(POLL);
    }
}

/// A kind that no event can have is a mistake in typing.
fn known(kind: &str) -> Result<(), Usage> {
    let within = |own: &&Kind| {
        own.name()
            .strip_prefix(kind)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    if Kind::named(kind).is_some() || Kind::ALL.iter().any(|own| within(&own)) {
        return Ok(());
    }
    let near = wisp_config::nearest(kind, Kind::ALL.iter().map(|k| k.name()));
    let near = near.map_or_else(
        || "; wisp logs shows the kinds there are".to_owned(),
        |near| format!("; did you mean {near}?"),
    );
    Err(Usage(format!("no kind of event is called {kind}{near}")))
}

fn row(record: &Record) -> String {
    let turn = record.turn.map_or_else(String::new, |turn| format!("t{turn}"));
    let time = record.time.strftime("%H:%M:%S");
    format!(
        "{time}  {turn:<4} {:<22} {}",
        record.kind,
        summary(&record.kind, &record.details)
    )
}

fn tabs(record: &Record) -> String {
    let turn = record.turn.map_or_else(String::new, |turn| turn.to_string());
    let fields = [
        format!("{:.3}", record.time),
        turn,
        record.kind.clone(),
        record.id.as_str().to_owned(),
        record.call.clone().unwrap_or_default(),
        summary(&record.kind, &record.details),
    ];
    fields.join("\t")
}

/// The most telling fields of the details on one line.
fn summary(kind: &str, details: &Value) -> String {
    let Some(object) = details.as_object() else {
        return String::new();
    };
    let own = TELLING_OF.iter().find(|(own, _)| own.name() == kind);
    let (fields, most) = own.map_or((TELLING, 4), |(_, fields)| (*fields, fields.len()));
    let told = fields.iter().filter_map(|name| Some((*name, object.get(*name)?)));
    let mut parts: Vec<String> = told
        .take(most)
        .filter_map(|(name, value)| word(name, value))
        .collect();
    if parts.is_empty() {
        let first = object.iter().take(4);
        parts = first.filter_map(|(name, value)| word(name, value)).collect();
    }
    safe::safe(&parts.join(" · ")).replace(['\n', '\t'], " ")
}

fn word(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.chars().take(200).collect()),
        Value::Array(all) if all.iter().all(Value::is_string) => {
            let texts: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        Value::Object(_) => Some(value.to_string().chars().take(200).collect()),
        value => Some(format!("{name} {value}").chars().take(200).collect()),
    }
}

fn list(found: &[SessionFile], as_json: bool, screen: &mut Screen) -> anyhow::Result<ExitCode> {
    if as_json {
        let rows: Vec<Value> = found
            .iter()
            .map(|s| json!({"session": s.session.as_str(), "path": s.path, "bytes": s.bytes}))
            .collect();
        screen
            .out
            .line(&safe::json(&serde_json::to_string_pretty(&rows)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        screen.err.line("nothing is recorded yet")?;
    }
    for session in found {
        let line = if screen.out.surface().terminal {
            format!("{}  {:>9}", session.session.as_str(), size(session.bytes))
        } else {
            format!(
                "{}\t{}\t{}",
                session.session.as_str(),
                session.bytes,
                session.path.display()
            )
        };
        screen.out.line(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What sessions are verified with.
struct Checked<'a> {
    home: &'a Path,
    key: Option<Key>,
    /// Whether one session was asked for, and not all of them.
    alone: bool,
}

fn verified(
    chosen: &[&SessionFile],
    with: &Checked<'_>,
    as_json: bool,
    screen: &mut Screen,
) -> anyhow::Result<ExitCode> {
    let mut broken = false;
    let register = register(with.home, with.key.as_ref())?;
    let mut said: Vec<(Option<&str>, bool, String)> = Vec::new();
    for session in chosen {
        let name = session.session.as_str();
        // One of before there was a key was not sealed with it.
        let keyed = register.sessions.get(name).copied().unwrap_or(true);
        let verdict = verify_with(&session.path, with.key.as_ref().filter(|_| keyed))?;
        let (whole, words) = words(&verdict);
        said.push((Some(name), whole, words));
    }
    if !with.alone && (!chosen.is_empty() || register.fault.is_some()) {
        let (whole, words) = words_of(&register, with.key.is_some());
        said.push((None, whole, words));
    }
    for (name, whole, words) in said {
        broken |= !whole;
        let line = format!("{}: {words}", name.unwrap_or("register"));
        if as_json {
            let object = json!({"session": name, "whole": whole, "verdict": words});
            screen.out.line(&safe::json(&object.to_string()))?;
        } else if whole {
            screen.out.line(&line)?;
        } else {
            screen.out.painted_line(Role::Error, &line)?;
        }
    }
    Ok(if broken {
        ExitCode::from(FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// Whether every session that began is there, and a sentence about it.
fn words_of(register: &Register, has_key: bool) -> (bool, String) {
    let broken = |why: String| (false, format!("not as it was written: {why}"));
    match &register.fault {
        None => {
            let sealed = if has_key { ", sealed with your key" } else { "" };
            let sessions = counted(register.sessions.len() as u64, "session");
            (true, format!("{sessions}, all there{sealed}"))
        }
        Some(RegisterFault::Gone) => broken(
            "there is no register of sessions, so one that was removed would not show; the next conversation begins one"
                .to_owned(),
        ),
        Some(RegisterFault::Changed { line }) => broken(format!("line {line} was changed, or one before it is gone")),
        Some(RegisterFault::End) => {
            broken("its end is not the one that was sealed: sessions may have been removed".to_owned())
        }
        Some(RegisterFault::Key) => broken("it was not sealed with the key of audit.key".to_owned()),
        Some(RegisterFault::Missing { sessions }) => {
            let (count, first) = (counted(sessions.len() as u64, "session"), sessions.iter().take(3));
            let names: Vec<&str> = first.map(String::as_str).collect();
            let more = if sessions.len() > names.len() { ", …" } else { "" };
            broken(format!("{count} removed: {}{more}", names.join(", ")))
        }
    }
}

/// Whether the record is as it was written, and a sentence about it.
pub fn words(verdict: &Verdict) -> (bool, String) {
    match verdict {
        Verdict::Whole {
            events,
            end: EndCheck::NotKeyed,
            ..
        } => {
            let events = counted(*events, "event");
            let why = "its seal was not made with the key of audit.key, so all of it may have been made anew";
            (
                false,
                format!("not as it was written: {events} in a whole chain, but {why}"),
            )
        }
        Verdict::Whole {
            events,
            end: EndCheck::Unsealed,
            ..
        } if *events > 0 => {
            let events = counted(*events, "event");
            let why = "its seal is gone, so lines removed from its end would not show";
            (
                false,
                format!("not as it was written: {events} in a whole chain, but {why}"),
            )
        }
        Verdict::Whole { events, end, torn } => {
            let end = match end {
                EndCheck::Sealed => "sealed",
                EndCheck::Keyed => "sealed with your key",
                EndCheck::Open => "still being written",
                EndCheck::Unsealed | EndCheck::NotKeyed => "nothing to seal",
            };
            let torn = if torn.is_empty() {
                String::new()
            } else {
                format!(
                    "; {} torn by a crash, and said so",
                    counted(torn.len() as u64, "line")
                )
            };
            (true, format!("whole, {}, {end}{torn}", counted(*events, "event")))
        }
        Verdict::Broken { line, change } => {
            let what = match change {
                Change::Changed => "was changed".to_owned(),
                Change::Removed { events } => {
                    format!("stands where {} were removed", counted(*events, "event"))
                }
                Change::Added => "was added".to_owned(),
                Change::Moved => "stands before the line it was written after".to_owned(),
            };
            (false, format!("not as it was written: line {line} {what}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{summary, words};
    use serde_json::json;
    use wisp_audit::{Change, EndCheck, Verdict};

    #[test]
    fn the_telling_fields_come_first_and_on_one_line() {
        assert_eq!(
            summary(
                "tool.call",
                &json!({"bytes": 12, "tool": "read_file", "text": "two\nlines"})
            ),
            "two lines · read_file · bytes 12"
        );
        assert_eq!(summary("model.reasoning", &json!({"phase": "end"})), "end");
        assert_eq!(summary("error", &json!(null)), "");
    }

    #[test]
    fn a_condensation_says_why_what_was_done_and_from_where_to_where() {
        let details = json!({
            "turnsBefore": 12, "turnsAfter": 4, "contextSize": 8192, "target": 4915, "fillBefore": 6990,
            "fillAfter": 4120, "headroom": 300, "steps": ["referenced 1", "dropped 8 turns"], "floor": false,
            "reason": "budget",
        });
        assert_eq!(
            summary("context.condensation", &details),
            "budget · referenced 1, dropped 8 turns · fillBefore 6990 · fillAfter 4120 · contextSize 8192 · floor false"
        );
    }

    #[test]
    fn verdicts_say_what_is_wrong_and_where() {
        let whole = Verdict::Whole {
            events: 1,
            end: EndCheck::Sealed,
            torn: vec![],
        };
        assert_eq!(words(&whole), (true, "whole, 1 event, sealed".to_owned()));
        let unsealed = Verdict::Whole {
            events: 2,
            end: EndCheck::Unsealed,
            torn: vec![],
        };
        assert_eq!(
            words(&unsealed),
            (
                false,
                "not as it was written: 2 events in a whole chain, but its seal is gone, so lines removed from its end \
                 would not show"
                    .to_owned()
            )
        );
        let removed = Verdict::Broken {
            line: 4,
            change: Change::Removed { events: 2 },
        };
        assert_eq!(
            words(&removed),
            (
                false,
                "not as it was written: line 4 stands where 2 events were removed".to_owned()
            )
        );
    }
}
