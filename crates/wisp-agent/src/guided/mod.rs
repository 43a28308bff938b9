//! Guided calls: a model whose own calls fail is held to a JSON schema, one action with its arguments or the answer,
//! so that no call can be malformed and none is lost in text.
//!
//! [`GuidedTurn`] lives for one turn. Before each request it says which actions may be taken now ([`GuidedTurn::schema`]), and
//! after each reply what the action is ([`GuidedTurn::take`]). It decides nothing about what may run: an action becomes an
//! ordinary call of the registry. What it does decide was measured with small models (docs/decisions): an action that
//! was taken and changed nothing since is not run again, an answer to a request for a change is refused once while
//! nothing has changed, edits are offered when a change was asked for and only of files that were read.

pub mod actions;
pub mod decode;
mod excerpt;
pub mod folder;
pub mod messages;
pub mod schema;
pub mod words;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use serde_json::{Map, Value};
use wisp_ollama::{ToolCall, ToolDefinition};
use wisp_output::amount::counted;

use folder::{Heard, Snapshot};
use schema::{Offer, Takes, listable};

/// Actions of one turn after which only the answer is offered.
const ACTIONS: u32 = 12;
/// The most lines of a file that are listed for a replacement.
const LISTED: usize = 80;
/// The longest line that is listed, bytes.
const LISTED_BYTES: usize = 160;
/// The share of a file's lines that a write may leave, in tenths, and the lines from which on it counts.
const KEPT_TENTHS: usize = 6;
const KEPT_FROM: usize = 3;

/// The most characters of a command.
const COMMAND: usize = 300;

/// What a model is told of an action that was taken already.
const AGAIN: &str = "You did this already. Do not do it again: answer my request now, in words.";
/// What it is told of an answer while nothing has changed.
const UNCHANGED: &str = "No file has been changed yet. Make the change with an action, then answer.";

/// What it is told of an answer after a command that failed, and of one without what the command printed.
const FAILED: &str = "That failed. Correct it and run it once more, then answer.";
const LACKS: &str = "Your answer lacks what the command printed. Answer again with those lines.";
/// The most lines of an output that an answer is to have.
const PRINTED: usize = 30;

/// The most directories that are named for the files that are not.
const HOLDERS: usize = 12;

/// What it is told of a command that was to change a file and did not.
const IN_VAIN: &str = "(this changed no file)";

/// How the line on the folder's files begins.
const FILES: &str = "(Files here: ";

/// Whether a line of a prompt is wisp's own on the folder's files.
pub fn is_files(line: &str) -> bool {
    line.starts_with(FILES)
}

/// The line of wisp's own above the changes that an action made.
const CHANGES: &str = "[changed files]";

/// Where in a result the changes that its action made begin.
fn changes_in(result: &str) -> Option<usize> {
    let at = result.rfind(CHANGES)?;
    let begins = at == 0 || result[..at].ends_with('\n');
    let after = at + CHANGES.len();
    (begins && result[after..].starts_with('\n')).then_some(after + 1)
}

/// What guides one turn.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, seen at another moment of the turn"
)]
pub struct GuidedTurn {
    folder: PathBuf,
    /// All that the person said in this conversation, this request included.
    said: String,
    /// What in it, and in what commands printed, can name a file.
    heard: Heard,
    /// Of a large folder, files that hold a name of the request, each with that name.
    found: Vec<(String, String)>,
    /// The words of it that look like names of files.
    said_names: Vec<String>,
    wants_change: bool,
    /// The folder when the turn began, and now.
    start: Snapshot,
    look: Snapshot,
    /// Files that were read in this turn, and those of them that have not changed since.
    seen: BTreeSet<String>,
    fresh: BTreeSet<String>,
    /// Files that this turn wrote.
    wrote: BTreeSet<String>,
    /// Lines that a replacement of this turn made, by file.
    made: BTreeSet<(String, String)>,
    /// Whether this turn changed anything, the words that its replacements took away, and those that they brought.
    changed: bool,
    removed: BTreeSet<String>,
    added: BTreeSet<String>,
    /// The words of the request, without the names of files, and whether it asks to add something.
    wanted: BTreeSet<String>,
    adds: bool,
    /// Whether it asks to write something, and whether it says what becomes of what.
    creates: bool,
    says_what: bool,
    /// Whether it asks for a change and for nothing else.
    only_changes: bool,
    /// Whether the file that is being read is so long that its first lines alone are shown.
    clipped: bool,
    /// The file that the last action appended to.
    appended: Option<String>,
    /// How often the folder was another after an action than before it.
    changes: u32,
    /// Whether a command was repeated, and whether one that was to change a file changed none.
    stuck: bool,
    vain: bool,
    /// Actions taken; of a look with the number of changes before it.
    taken: BTreeSet<u64>,
    actions: u32,
    answer_only: bool,
    refused: bool,
    /// How the last command ended and what it printed, until something else is done; and whether an answer was refused for
    /// what it lacks of that.
    ran: Option<(i32, String)>,
    incomplete: bool,
    /// The command that runs a script which the last one could not.
    instead: Option<String>,
    /// Whether the server refused a schema with lists, so that there are none.
    plain: bool,
}

/// What an action is to be.
#[derive(Debug)]
pub struct Taken {
    /// The call.
    pub call: ToolCall,
    /// Why it is not run.
    pub bar: Option<String>,
}

impl GuidedTurn {
    /// A turn's guide. `said` is what the person said before.
    pub fn new(folder: PathBuf, said: &str, request: &str) -> Self {
        let said = format!("{said}\n{request}");
        let mut heard = Heard::default();
        heard.add(&said);
        let mut look = Snapshot::at(&folder, &heard);
        let found = look.find(&folder, &words::identifiers(request));
        for (path, _) in &found {
            heard.add(path);
        }
        look.offer(&folder, &heard);
        Self {
            found,
            folder,
            heard,
            said_names: words::file_names(&said),
            said,
            wants_change: words::asks_for_change(request),
            wanted: words::of_request(request),
            adds: words::asks_to_add(request),
            creates: words::asks_to_create(request),
            only_changes: words::asks_for_change(request) && !words::asks_to_look(request),
            says_what: words::says_what(&words::without_names(request)),
            start: look.clone(),
            look,
            ..Self::default()
        }
    }

    /// The line on the folder's files that goes with the request.
    pub fn files(&self) -> String {
        if self.look.has_more() {
            return String::new();
        }
        let with = |name: &str| match self.found.iter().find(|(path, _)| path == name) {
            Some((_, word)) => format!("{name} (has {word})"),
            None => name.to_owned(),
        };
        let names: Vec<String> = self.look.names().map(with).collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        match self.look.rest() {
            None => format!("{FILES}{names})"),
            Some((count, holders)) => {
                let count = wisp_output::amount::grouped(count as u64);
                let holders: Vec<&str> = holders.into_iter().take(HOLDERS).collect();
                format!("{FILES}{names}; and {count} more in {})", holders.join(", "))
            }
        }
    }

    /// The schema of the next reply. `others` are the tools that have no action of their own.
    pub fn schema(&self, others: &[ToolDefinition]) -> Value {
        if self.answer_only || self.actions >= ACTIONS {
            return schema::schema(&[], &[]);
        }
        if self.plain {
            return schema::schema(&self.plain_offers(), others);
        }
        schema::schema(&self.offers(), others)
    }

    /// Takes away the lists: the server refused a schema that has them. False when there were none.
    pub fn go_plain(&mut self) -> bool {
        !std::mem::replace(&mut self.plain, true)
    }

    fn plain_offers(&self) -> Vec<Offer<'_>> {
        let mut offers = vec![
            ("run", vec![("command", Takes::UpTo(COMMAND))]),
            ("read", vec![("path", Takes::Any)]),
        ];
        if self.wants_change {
            offers.push((
                "replace",
                vec![("path", Takes::Any), ("old", Takes::Any), ("new", Takes::Any)],
            ));
        }
        if self.wants_change && self.adds {
            offers.push(("append", vec![("path", Takes::Any), ("text", Takes::Any)]));
            offers.push(("write", vec![("path", Takes::Any), ("content", Takes::Any)]));
        }
        offers
    }

    fn offers(&self) -> Vec<Offer<'_>> {
        if self.look.has_more() {
            return self.plain_offers();
        }
        let mut offers = Vec::new();
        if let Some(instead) = self.instead.as_deref().filter(|line| listable(line)) {
            return vec![("run", vec![("command", Takes::OneOf(vec![instead]))])];
        }
        if self.changed && self.only_changes {
            // What was asked for was done, or goes on in the same file: there is nothing to look for.
            self.edits(&mut offers);
            return offers;
        }
        if (self.stuck && self.refused || self.vain) && self.says_what && !self.changed {
            // Another command would not make the change either.
            self.edits(&mut offers);
            if !offers.is_empty() {
                return offers;
            }
        }
        let unread = self.unread();
        if !unread.is_empty() {
            return vec![("read", vec![("path", Takes::OneOf(unread))])];
        }
        if !self.awaits_file() {
            offers.push(("run", vec![("command", Takes::UpTo(COMMAND))]));
        }
        let readable: Vec<&str> = self.listed().filter(|name| !self.fresh.contains(*name)).collect();
        if !readable.is_empty() {
            offers.push(("read", vec![("path", Takes::OneOf(readable))]));
        }
        if self.wants_change {
            self.edits(&mut offers);
        }
        offers
    }

    /// The named files of a request that says what is to become of what in them, before one of them was read: a small model
    /// that has not read the file makes up what stands in it.
    fn unread(&self) -> Vec<&str> {
        if !self.only_changes || !self.says_what || self.adds || self.changed || self.vain {
            return Vec::new();
        }
        let named = self.listed().filter(|name| words::names(&self.said, name));
        let named: Vec<&str> = named.filter(|name| self.look.text(name).is_some()).collect();
        if named.iter().any(|name| self.seen.contains(*name)) {
            return Vec::new();
        }
        named
    }

    /// Whether a file is to be written first: one was asked for, and a small model runs it before it is there.
    fn awaits_file(&self) -> bool {
        self.creates && self.actions < 2 && self.wrote.is_empty() && !self.new_names().is_empty()
    }

    /// The files that can be listed.
    fn listed(&self) -> impl Iterator<Item = &str> {
        self.look.names().filter(|name| listable(name))
    }

    fn edits<'a>(&'a self, offers: &mut Vec<Offer<'a>>) {
        let named: Vec<&str> = self
            .listed()
            .filter(|name| words::names(&self.said, name))
            .collect();
        let told_where = self.says_what && !named.is_empty();
        let read = |name: &str| !told_where && self.seen.contains(name);
        let meant = |name: &&str| named.is_empty() || named.contains(name) || read(name);
        let files: Vec<&str> = self.listed().filter(meant).collect();
        let mut free = Vec::new();
        for name in files.iter().copied().filter(|name| self.seen.contains(*name)) {
            let (lines, whole) = self.lines(name);
            if !whole && (lines.is_none() || !self.changed) {
                free.push(name);
            }
            let lines = lines.unwrap_or_default();
            if !lines.is_empty() {
                let texts = vec![
                    ("path", Takes::OneOf(vec![name])),
                    ("old", Takes::OneOf(lines)),
                    ("new", Takes::Any),
                ];
                offers.push(("replace", texts));
            }
        }
        if !free.is_empty() {
            offers.push((
                "replace",
                vec![
                    ("path", Takes::OneOf(free)),
                    ("old", Takes::Any),
                    ("new", Takes::Any),
                ],
            ));
        }
        let appendable = files
            .iter()
            .copied()
            .filter(|name| self.appended.as_deref() != Some(*name));
        let appendable: Vec<&str> = appendable.filter(|_| self.adds).collect();
        if !appendable.is_empty() {
            offers.push((
                "append",
                vec![("path", Takes::OneOf(appendable)), ("text", Takes::Any)],
            ));
        }
        let new = self.new_names();
        if !new.is_empty() {
            offers.push((
                "write",
                vec![("path", Takes::OneOf(new)), ("content", Takes::Any)],
            ));
        } else if named.is_empty() && self.adds {
            offers.push(("write", vec![("path", Takes::Any), ("content", Takes::Any)]));
        }
    }

    /// The lines of a file that a replacement can name, and whether those are all that have something in them.
    fn lines(&self, name: &str) -> (Option<Vec<&str>>, bool) {
        let Some(text) = self.look.text(name) else {
            return (None, false);
        };
        if text.lines().count() > LISTED || text.lines().any(|line| line.len() > LISTED_BYTES) {
            return (None, false);
        }
        let mut lines: Vec<&str> = Vec::new();
        let mut whole = true;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let fits = listable(line);
            whole &= fits;
            let made = self.made.contains(&(name.to_owned(), line.to_owned()));
            if fits && !made && self.matters(line) && !lines.contains(&line) {
                lines.push(line);
            }
        }
        // Where the request says what becomes of what, the lines with a word of it are those it means.
        if !self.changed && self.says_what && lines.iter().any(|line| self.has_wanted(line)) {
            lines.retain(|line| self.has_wanted(line));
        }
        (Some(lines), whole)
    }

    /// Whether a line has a word of the request.
    fn has_wanted(&self, line: &str) -> bool {
        words::words(line).any(|word| self.wanted.contains(&word))
    }

    /// Whether a line may still have to be replaced. Once something was changed that is one with a word of the request, or
    /// with a word that a replacement took away elsewhere: a small model goes on and changes what nobody asked for.
    fn matters(&self, line: &str) -> bool {
        let due = |word: &String| self.wanted.contains(word) || self.removed.contains(word);
        !self.changed || words::words(line).any(|word| due(&word) && !self.added.contains(&word))
    }

    /// Names that were said and are no files, and files that this turn wrote.
    fn new_names(&self) -> Vec<&str> {
        let wrote = self.wrote.iter().map(String::as_str);
        let said = self.said_names.iter().map(String::as_str);
        let absent = said.filter(|name| !self.look.has_named(name) && !self.folder.join(name).exists());
        let mut names: Vec<&str> = Vec::new();
        for name in wrote.filter(|name| listable(name)).chain(absent) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Notes how a command ended and what it printed.
    pub fn note_run(&mut self, exit: i32, printed: &str) {
        self.ran = Some((exit, printed.to_owned()));
        self.heard.add(printed);
        self.look.offer(&self.folder, &self.heard);
    }

    /// Notes the command that runs a script which the last one could not: no other action is offered next.
    pub fn note_instead(&mut self, command: String) {
        self.instead = Some(command);
    }

    /// An answer to a request to write something and run it: the note with which it is refused, once, when what was run
    /// failed, or when the answer lacks what it printed.
    fn refuse_incomplete(&mut self, answer: &str) -> Option<&'static str> {
        let (exit, printed) = self.ran.as_ref().filter(|_| self.creates && !self.incomplete)?;
        let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty());
        let short = printed.lines().count() <= PRINTED && last.is_some_and(|line| line.len() <= LISTED_BYTES);
        let note = match (*exit, last) {
            (0, Some(last)) if short && !answer.contains(last) => LACKS,
            (0, _) => return None,
            _ => FAILED,
        };
        self.incomplete = true;
        Some(note)
    }

    /// An answer: the note with which it is refused, once, when a change was asked for and nothing has changed, or when it
    /// is about something that was to be run and lacks what came of that.
    pub fn refuse_answer(&mut self, answer: &str) -> Option<&'static str> {
        let unchanged = !self.look.has_more() && self.look.changed_since(&self.start).is_empty();
        let refused = self.wants_change && unchanged && !self.refused && self.actions + 1 < ACTIONS;
        if !refused {
            return self.refuse_incomplete(answer);
        }
        self.refused = true;
        self.answer_only = false;
        Some(UNCHANGED)
    }

    /// The call of an action, and why it is not run when it is not.
    pub fn take(&mut self, action: &str, given: &Map<String, Value>) -> Taken {
        self.actions += 1;
        self.appended = None;
        self.ran = None;
        self.instead = None;
        let text = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default();
        let (path, old) = (text("path"), text("old"));
        let now = self.look.text(path);
        let line = now
            .filter(|_| action == "replace" && !old.is_empty())
            .and_then(|now| {
                let at = now.lines().position(|line| line == old)?;
                (!text("new").trim_end_matches('\n').contains('\n')).then_some(at + 1)
            });
        let open = now.is_some_and(|now| !now.is_empty() && !now.ends_with('\n'));
        // Nothing to look for means: at the end.
        let action = if action == "replace" && old.is_empty() {
            "append"
        } else {
            action
        };
        let mut given_now = given.clone();
        if action == "append" && !given_now.contains_key("text") {
            given_now.insert("text".to_owned(), text("new").into());
        }
        let mut call = actions::call(action, given_now, line, open);
        self.clipped = action == "read" && !now.is_some_and(excerpt::is_short);
        if self.clipped {
            call.arguments.insert("limit".to_owned(), excerpt::FIRST.into());
        }
        let bar = self.bar(action, given, &call);
        Taken { call, bar }
    }

    fn bar(&mut self, action: &str, given: &Map<String, Value>, call: &ToolCall) -> Option<String> {
        let text = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default();
        let path = text("path");
        let mut hasher = DefaultHasher::new();
        (&call.name, Value::Object(call.arguments.clone()).to_string()).hash(&mut hasher);
        // A look may be taken again once something has changed; the same edit is not made twice.
        if matches!(action, "run" | "read") {
            self.changes.hash(&mut hasher);
        }
        if !self.taken.insert(hasher.finish()) {
            self.answer_only = true;
            self.stuck |= action == "run";
            // A line that was tried in vain is not listed a third time.
            self.made.insert((path.to_owned(), text("old").to_owned()));
            return Some(AGAIN.to_owned());
        }
        let now = self.look.text(path).map(str::to_owned);
        if text("command").chars().count() >= COMMAND {
            return Some(format!(
                "not run: the command was cut at {COMMAND} characters; write a shorter one"
            ));
        }
        match (action, now) {
            ("replace", _) if text("old") == text("new") => {
                Some("old and new are the same, so nothing was changed".to_owned())
            }
            ("write", Some(now)) => {
                let (was, is) = (now.lines().count(), text("content").lines().count());
                if was < KEPT_FROM || is * 10 >= was * KEPT_TENTHS {
                    return None;
                }
                self.seen.insert(path.to_owned());
                let was = counted(was as u64, "line");
                Some(format!(
                    "not written: {path} has {was}, and only {is} would be left; use replace for one line. It holds:\n{now}"
                ))
            }
            _ => None,
        }
    }

    /// Notes what an edit that was made means for what is offered next.
    fn edited(&mut self, action: &str, given: &Map<String, Value>, path: String) {
        let text = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default();
        match action {
            "append" => self.appended = Some(path.clone()),
            "write" => _ = self.wrote.insert(path.clone()),
            _ => {
                let (old, new): (BTreeSet<_>, BTreeSet<_>) = (
                    words::words(text("old")).collect(),
                    words::words(text("new")).collect(),
                );
                self.removed.extend(old.difference(&new).cloned());
                self.added.extend(new);
                self.made
                    .extend(text("new").lines().map(|line| (path.clone(), line.to_owned())));
            }
        }
        // What was changed is shown with the result.
        self.fresh.insert(path.clone());
        self.seen.insert(path);
    }

    /// After an action was run: notes what was read and gives the lines that changed, for the model.
    pub fn after(&mut self, action: &str, given: &Map<String, Value>, ran: bool) -> String {
        let text = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default();
        let path = text("path").to_owned();
        let before = std::mem::replace(&mut self.look, Snapshot::at(&self.folder, &self.heard));
        let changed = self.look.changed_since(&before);
        self.changes += u32::from(!changed.is_empty());
        for name in changed {
            self.fresh.remove(name);
        }
        if !ran {
            return String::new();
        }
        match action {
            "read" => {
                self.seen.insert(path.clone());
                self.fresh.insert(path);
            }
            "run" => {
                let shown = before.names().filter(|name| words::names(text("command"), name));
                self.seen.extend(shown.map(str::to_owned));
            }
            "append" | "write" | "replace" => self.edited(action, given, path),
            _ => {}
        }
        let told = self.look.told_since(&before);
        if told.is_empty() {
            return match action {
                "read" if self.clipped => excerpt::rest_of(&self.folder, text("path"), &self.wanted),
                "run" if self.wants_change && !self.look.has_more() && words::edits(text("command")) => {
                    self.vain = true;
                    IN_VAIN.to_owned()
                }
                _ => told,
            };
        }
        self.changed = true;
        format!("{CHANGES}\n{told}")
    }
}

#[cfg(test)]
mod tests;
