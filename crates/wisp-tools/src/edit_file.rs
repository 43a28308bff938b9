//! `edit_file`: writes, appends to, or replaces one place of a text file, after the person has seen the difference.

use std::path::Path;

use serde_json::{Map, Value, json};
use similar::TextDiff;
use wisp_audit::Kind;
use wisp_host::amount::{counted, grouped};

use crate::arguments;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::files::copied::{remark, why_not};
use crate::files::edit::{Change, Edited, edit};
use crate::files::nearby;
use crate::files::place::Place;
use crate::files::seen::difference;
use crate::files::text::{Text, other_encoding};
use crate::tool::{Descriptor, Returned, Running, Tool};

/// The largest file that is edited in place, bytes.
const EDITABLE: u64 = 1024 * 1024;
/// The most lines of the result that are quoted.
const QUOTED: usize = 3;

arguments! {
    /// What `edit_file` is called with.
    pub struct EditFileArguments {
        path: String = "path", "The file";
        mode: String = "mode", "write (whole file), append, or replace (one place)";
        content: String = "content", "The new text; with line, the whole new line";
        find: Option<String> = "find", "For replace: the exact text to replace, which must occur once";
        line: Option<i64> = "line", "For replace: the line to replace, as read_file numbers it";
        all: Option<bool> = "all", "For replace: every place of find";
    }
}

/// The tool.
#[derive(Debug, Default, Clone, Copy)]
pub struct EditFile;

impl Tool for EditFile {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "edit_file".into(),
            description: "Write, append to, or replace one place in a text file.".into(),
            parameters: EditFileArguments::PARAMETERS.into(),
            limits: "replace edits files up to 1 MiB; the file's mode, line endings, byte order mark and links stay; a file \
                     that changed since it was read is to be read again"
                .to_owned(),
            example: "In config.toml change the port to 8080.".into(),
            reads_only: false,
        }
    }

    /// Only as the text to replace, for a replace that names no line, is 0 or `null` something to look for.
    fn means(&self, given: &Map<String, Value>, name: &str) -> bool {
        let text = given.get(name).and_then(Value::as_str);
        let mode = given
            .get("mode")
            .and_then(Value::as_str)
            .map(|mode| mode.trim().to_ascii_lowercase());
        let replaces = mode.is_none_or(|mode| !["write", "append"].contains(&mode.as_str()));
        let line = given.get("line").and_then(Value::as_i64);
        name == "find"
            && replaces
            && line.is_none_or(|line| line < 1)
            && text.is_none_or(|text| !text.is_empty())
    }

    fn amend(&self, given: &mut Map<String, Value>, renamed: &[String]) {
        let has =
            |given: &Map<String, Value>, name: &str| given.get(name).is_some_and(|value| !value.is_null());
        let one_place = has(given, "find") || has(given, "line");
        let empty = given.get("content").and_then(Value::as_str) == Some("");
        // An empty text under another name replaces a text with nothing; it never empties a file.
        if empty && !one_place && renamed.iter().any(|name| name == "content") {
            given.remove("content");
        }
        if !has(given, "mode") && one_place {
            given.insert("mode".to_owned(), "replace".into());
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            let arguments = match EditFileArguments::from_value(arguments) {
                Ok(arguments) => arguments,
                Err(e) => return Returned::error(e),
            };
            match change(&arguments, call).await {
                Ok(returned) => returned,
                Err(text) => Returned::error(text),
            }
        })
    }
}

/// The three things an edit can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Write,
    Append,
    Replace,
}

impl Mode {
    fn parse(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "write" | "overwrite" => Ok(Self::Write),
            "append" | "add" => Ok(Self::Append),
            "replace" | "edit" | "update" => Ok(Self::Replace),
            other => Err(format!(
                "mode must be write, append, or replace, not {:?}: to change one place use mode replace with find; to add at the \
                 end use mode append; to write the whole file use mode write",
                other.chars().take(40).collect::<String>()
            )),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Append => "append",
            Self::Replace => "replace",
        }
    }
}

/// An edit worked out and not yet made: what would be written, and what is said of it.
struct Plan {
    mode: Mode,
    place: Place,
    bytes: Vec<u8>,
    what: String,
    diff: Option<String>,
    after: u64,
    /// What stood there, as far as the plan goes by it.
    old: Option<Vec<u8>>,
}

async fn change(arguments: &EditFileArguments, call: &mut Call<'_>) -> Result<Returned, String> {
    let mode = Mode::parse(&arguments.mode)?;
    if arguments.path.is_empty() {
        return Err("path is empty: give `path`, the path of a file".to_owned());
    }
    let path = call.services.path(&arguments.path);
    let place = Place::find(&path).map_err(|e| e.to_string())?;
    call.confine(&place.real)
        .map_err(|why| format!("cannot write {}: {why}", path.display()))?;
    if mode != Mode::Append && (mode == Mode::Write || arguments.line.is_some()) {
        unchanged(&path, &place, call)?;
    }
    let plan = plan(arguments, mode, place)?;
    if let Err(refusal) = call
        .clear_edit(&plan.place.real, mode.name(), plan.diff.clone())
        .await
    {
        return Ok(refusal);
    }
    still_as_planned(&plan)?;
    let replaced = call.edits.keep(&plan.place, &call.services.keep, call.id);
    let returned = make(&plan, call)?;
    call.edits.made(replaced, call.scene.turn);
    call.seen.note(&path);
    Ok(returned)
}

/// Refuses an edit of a file that has changed since the conversation read or wrote it, or may have.
fn unchanged(path: &Path, place: &Place, call: &Call<'_>) -> Result<(), String> {
    if call.seen.is_unread(path, &place.real) {
        return Err(format!(
            "{} was changed after this conversation began and has not been read since it was resumed, so nothing was \
             written: read it again with read_file, then make the edit on what stands there",
            path.display()
        ));
    }
    match call.seen.changed(path, &place.real) {
        Some(what) => Err(stale(path, "since it was last read or written here", &what)),
        None => Ok(()),
    }
}

/// Refuses an edit of a file that has changed since the difference was made that the person was asked about.
fn still_as_planned(plan: &Plan) -> Result<(), String> {
    let path = &plan.place.given;
    let now = Place::find(path).map_err(|e| e.to_string())?;
    let while_asked = "while this edit was asked about";
    if now.real != plan.place.real {
        let what = format!(
            "it led to {} and leads to {} now",
            plan.place.real.display(),
            now.real.display()
        );
        return Err(stale(path, while_asked, &what));
    }
    if now.existing.is_some() != plan.place.existing.is_some() {
        let what = if now.existing.is_some() {
            "it was created"
        } else {
            "it was removed"
        };
        return Err(stale(path, while_asked, what));
    }
    if let Some(old) = &plan.old {
        let new = now.read().map_err(|e| e.to_string())?;
        if *old != new {
            return Err(stale(path, while_asked, &difference(old, &new)));
        }
    } else if plan.mode == Mode::Write && now.size() != plan.place.size() {
        let what = format!(
            "it had {} and has {} now",
            counted(plan.place.size(), "byte"),
            grouped(now.size())
        );
        return Err(stale(path, while_asked, &what));
    }
    Ok(())
}

fn stale(path: &Path, since: &str, what: &str) -> String {
    format!(
        "{} has changed {since}, so nothing was written: {what}\nread it again with read_file, then make the edit on what \
         stands there",
        path.display()
    )
}

fn plan(arguments: &EditFileArguments, mode: Mode, place: Place) -> Result<Plan, String> {
    match mode {
        Mode::Write => plan_write(arguments, place),
        Mode::Append => plan_append(arguments, place),
        Mode::Replace => plan_replace(arguments, place),
    }
}

fn plan_write(arguments: &EditFileArguments, place: Place) -> Result<Plan, String> {
    let given = arguments.find.as_ref().is_some_and(|find| !find.is_empty());
    if given || arguments.line.is_some_and(|line| line > 0) {
        return Err(
            "mode write replaces the whole file and takes no find or line: to change one place use mode replace; to write the \
             whole file leave find and line out"
                .to_owned(),
        );
    }
    let bytes = arguments.content.clone().into_bytes();
    let after = bytes.len() as u64;
    let old = if place.size() <= EDITABLE {
        place.read().map_err(|e| e.to_string())?
    } else {
        Vec::new()
    };
    let was = String::from_utf8_lossy(&old);
    if let Some(why) = why_not(&arguments.content, &was, None) {
        return Err(why);
    }
    let encoding = foreign(&arguments.content, &old, &place)?;
    let diff = Some(unified(&was, &arguments.content, &place));
    let verb = if place.existing.is_some() {
        "wrote"
    } else {
        "created"
    };
    let mut what = format!("{verb} {}; now {}", place.given.display(), counted(after, "byte"));
    if let Some(encoding) = encoding {
        what = format!("{what}; it was likely {encoding}, and is UTF-8 now");
    }
    if place.existing.is_none() {
        what.push_str(remark(&arguments.content));
    }
    let old = (place.size() <= EDITABLE).then_some(old);
    Ok(Plan {
        mode: Mode::Write,
        place,
        bytes,
        what,
        diff,
        after,
        old,
    })
}

/// The other encoding of what stands there, if it has one. A content with the characters that stand for its bytes in a
/// page would destroy them.
fn foreign(content: &str, old: &[u8], place: &Place) -> Result<Option<&'static str>, String> {
    let encoding = other_encoding(old);
    match encoding {
        Some(encoding) if content.contains('\u{fffd}') => Err(format!(
            "{} is not UTF-8 (likely {encoding}), and content has U+FFFD (\u{fffd}) where read_file could not show its bytes: \
             they would be lost; convert the file with iconv first",
            place.given.display()
        )),
        encoding => Ok(encoding),
    }
}

fn plan_append(arguments: &EditFileArguments, place: Place) -> Result<Plan, String> {
    if place.existing.is_some() {
        let start = place.start(EDITABLE).map_err(|e| e.to_string())?;
        let content = &arguments.content;
        let encoding = foreign(content, &start, &place)?;
        if let Some(encoding) = encoding.filter(|name| name.starts_with("UTF-") || !content.is_ascii()) {
            return Err(format!(
                "{} is not UTF-8 (likely {encoding}), and content would be added in UTF-8: convert the file with iconv first",
                place.given.display()
            ));
        }
    }
    if let Some(why) = why_not(&arguments.content, "", None) {
        return Err(why);
    }
    let bytes = arguments.content.clone().into_bytes();
    let after = place.size() + bytes.len() as u64;
    let verb = if place.existing.is_some() {
        "appended to"
    } else {
        "created"
    };
    let what = format!("{verb} {}; now {}", place.given.display(), counted(after, "byte"));
    let lines: Vec<&str> = arguments.content.split_inclusive('\n').collect();
    let added = if lines.is_empty() {
        String::new()
    } else {
        format!("+{}", lines.join("+"))
    };
    Ok(Plan {
        mode: Mode::Append,
        place,
        bytes,
        what,
        diff: Some(added),
        after,
        old: None,
    })
}

fn plan_replace(arguments: &EditFileArguments, place: Place) -> Result<Plan, String> {
    let given = place.given.display().to_string();
    if place.existing.is_none() {
        return Err(format!(
            "file not found: {given}{}; to create it use mode write",
            nearby::beside(&place.given)
        ));
    }
    if place.size() > EDITABLE {
        return Err(format!(
            "file too large to edit in place: {given} is {}, limit {}; change it with run_command: sed -i \
             's/OLD/NEW/' FILE",
            counted(place.size(), "byte"),
            grouped(EDITABLE)
        ));
    }
    let old = place.read().map_err(|e| e.to_string())?;
    let text = Text::of(&old).map_err(|e| format!("file {e}: {given}"))?;
    let edited = edit(&text, &wanted(arguments)?).map_err(|e| e.to_string())?;
    if let Some(why) = why_not(&arguments.content, &text.body, Some(edited.first_line)) {
        return Err(why);
    }
    let new = Text {
        body: edited.body.clone(),
        ..text.clone()
    };
    let bytes = new.to_bytes();
    let after = bytes.len() as u64;
    let diff = Some(unified(&text.body, &edited.body, &place));
    let what = format!(
        "{}; now {}; {}",
        said(&edited, &given),
        counted(after, "byte"),
        quoted(&edited)
    );
    Ok(Plan {
        mode: Mode::Replace,
        place,
        bytes,
        what,
        diff,
        after,
        old: Some(old),
    })
}

fn wanted(arguments: &EditFileArguments) -> Result<Change, String> {
    let content = arguments.content.clone();
    let all = arguments.all == Some(true);
    let find = arguments.find.clone().filter(|f| !f.is_empty());
    match (arguments.line, find) {
        (Some(line), find) => {
            let line = usize::try_from(line).unwrap_or(0);
            Ok(Change::Line {
                line,
                find,
                content,
                all,
            })
        }
        (None, Some(find)) => Ok(Change::Find { find, content, all }),
        (None, None) => Err(
            "mode replace needs find (the exact text to replace) or line (its number from read_file); to add at the end use \
             mode append"
                .to_owned(),
        ),
    }
}

/// `replaced at line 7 of src/main.rs, keeping …`.
fn said(edited: &Edited, path: &str) -> String {
    let line = format!("line {}", edited.first_line);
    edited.what.replacen(&line, &format!("{line} of {path}"), 1)
}

/// `line 7 now: "…"`, or the first three lines of several.
fn quoted(edited: &Edited) -> String {
    let (first, last) = (edited.first_line, edited.last_line);
    let lines = edited.body.lines().skip(first - 1).take(last - first + 1);
    let shown: Vec<String> = lines.take(QUOTED).map(quote).collect();
    if first == last {
        return format!(
            "line {first} now: {}",
            shown.first().cloned().unwrap_or_else(|| "\"\"".to_owned())
        );
    }
    let more = (last - first + 1).saturating_sub(QUOTED);
    let more = if more > 0 {
        format!(" (and {more} more)")
    } else {
        String::new()
    };
    format!("lines {first}-{last} now: {}{more}", shown.join(", "))
}

/// A line in quotes, its tabs and quotes escaped, cut at 200 characters.
fn quote(line: &str) -> String {
    let cut: String = line.chars().take(200).collect();
    let more = if cut.len() < line.len() { "…" } else { "" };
    let escaped = cut
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\t', "\\t")
        .replace('\r', "\\r");
    format!("\"{escaped}{more}\"")
}

fn unified(old: &str, new: &str, place: &Place) -> String {
    let name = place.given.display().to_string();
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&name, &name)
        .to_string()
}

/// Makes the edit and records it.
fn make(plan: &Plan, call: &Call<'_>) -> Result<Returned, String> {
    let made = match plan.mode {
        Mode::Append => plan.place.append(&plan.bytes),
        Mode::Write | Mode::Replace => plan.place.write(&plan.bytes),
    };
    made.map_err(|e| e.to_string())?;
    let details = json!({
        "path": plan.place.real.display().to_string(),
        "mode": plan.mode.name(),
        "created": plan.place.existing.is_none(),
        "bytesBefore": plan.place.size(),
        "bytesAfter": plan.after,
    });
    let recorded = call.audit(Kind::FileWrite, details);
    let note = if recorded.is_err() {
        " (not recorded: the audit cannot be written)"
    } else {
        ""
    };
    Ok(Returned {
        difference: plan.diff.clone(),
        ..Returned::text(format!("{}{note}", plan.what))
    })
}
