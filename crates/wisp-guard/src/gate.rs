//! The decision: refuse, ask, or let it run. Pure: what is allowed, the time and what is known of the place come in.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wisp_term::safe::{Mixed, mixed};
use wisp_term::visible;

use crate::approvals::{Approvals, Thing};
use crate::command::SimpleCommand;
use crate::confine::{Confinement, Profile};
use crate::level::{Level, Threshold, Verdict};
use crate::own::{Bearings, reaches};
use crate::paths::{reading, writing};
use crate::pattern::{Pattern, runs_text};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::risk::{Surroundings, risk_of_part};
use crate::split::split;
use crate::tree::Unreadable;

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Request {
    /// A shell line.
    Command {
        /// The line, exactly as it will be run.
        line: String,
    },
    /// A file is read.
    Read {
        /// The path that was asked for.
        path: String,
        /// The file it leads to, links followed.
        real: PathBuf,
        /// Whether that file is under the directories wisp works in.
        inside: bool,
    },
    /// A file is written.
    Edit {
        /// The path that was asked for.
        path: String,
        /// The file it leads to, links followed.
        real: PathBuf,
        /// `write`, `append` or `replace`.
        mode: String,
    },
    /// A tool of another program is called.
    Tool(ForeignTool),
}

/// A tool of a server that the user configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignTool {
    /// The server's name in the configuration.
    pub server: String,
    /// The tool's name as the model has it: letters, digits, `_` and `-`.
    pub name: String,
    /// The arguments, as JSON on one line.
    pub arguments: String,
    /// Whether the user declared that it changes nothing.
    pub safe: bool,
    /// What the server says that the tool may do. It can only add reasons: a server is not believed when it says less.
    pub hints: Vec<String>,
}

impl ForeignTool {
    /// The call on one line, as patterns of the policy are held against it.
    pub fn line(&self) -> String {
        format!("{} {}", self.name, self.arguments)
    }

    fn judged(&self) -> Thing {
        let server = &self.server;
        let (level, mut reasons) = if self.safe {
            let why = format!("you declared it safe (mcp.servers.{server}.safe)");
            (Level::Safe, vec![why])
        } else {
            let why = format!("a tool of the MCP server {server}: what it does is not known");
            (Level::Moderate, vec![why])
        };
        reasons.splice(..0, self.hints.iter().cloned());
        Thing {
            text: self.line(),
            exact: self.line(),
            level,
            reasons,
            // No program has a colon in a pattern of its own, so that a yes to one is never a yes to the other.
            pattern: Pattern::Program(format!("mcp:{}", self.name)),
        }
    }
}

impl Request {
    /// The request on one line, every invisible or controlling character escaped: what a person is shown.
    pub fn shown(&self) -> String {
        match self {
            Self::Command { line } => visible(line),
            Self::Read { path, real, .. } => visible(&named("read_file", path, real)),
            Self::Edit { path, real, mode } => visible(&named(&format!("edit_file {mode}"), path, real)),
            Self::Tool(tool) => visible(&tool.line()),
        }
    }
}

/// `what path`, and where the path leads when that is elsewhere.
fn named(what: &str, path: &str, real: &Path) -> String {
    if Path::new(path) == real || real.ends_with(path.trim_start_matches("./")) {
        format!("{what} {path}")
    } else {
        format!("{what} {path} (which is {})", real.display())
    }
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What would be done.
    pub request: Request,
    /// [`Request::shown`]: exactly what will run, in a form that is safe to print.
    pub command: String,
    /// The highest level among the things asked about.
    pub level: Level,
    /// Why, most serious first.
    pub reasons: Vec<String>,
    /// What a yes is remembered by, for the person: the patterns, joined by `, `.
    pub pattern: String,
    /// The parts a yes is for; those that need none are left out.
    pub things: Vec<Thing>,
    /// Where it would be done.
    pub directory: PathBuf,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may be done.
    Allowed {
        /// How it was judged.
        verdict: Verdict,
        /// The ids of the approvals that allowed it; empty when it was below the threshold.
        approvals: Vec<String>,
        /// What it is confined to while it runs. What a person said yes to has [`Profile::Write`].
        profile: Profile,
    },
    /// A person has to answer first.
    Ask(Box<Question>),
    /// It may not be done, whatever anybody answers.
    Denied(Refusal),
}

/// The rules in force.
#[derive(Debug, Clone)]
pub struct Gate {
    policy: Policy,
    threshold: Threshold,
}

impl Gate {
    /// A gate of a policy and the level at which a person is asked.
    pub fn new(policy: Policy, threshold: Threshold) -> Self {
        Self { policy, threshold }
    }

    /// The level at which a person is asked.
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// Whether the policy lets a line run that a person typed: neither judged nor asked about. The error is the
    /// reason.
    pub fn check_typed(&self, line: &str) -> Result<(), Refusal> {
        let parts = split(line);
        self.policy.check(line, parts.as_deref()).map_err(Refusal::Policy)
    }

    /// Decides about a request in a directory. After a yes was granted for every thing of the question, the same
    /// request is allowed.
    ///
    /// ```
    /// use wisp_guard::{Approvals, Decision, Gate, Policy, Place, Request, Threshold};
    /// let gate = Gate::new(Policy::new(&[], &[]).unwrap(), "moderate".parse::<Threshold>().unwrap());
    /// let place = Place::at("/src".as_ref(), "2026-11-30T09:00:00Z".parse().unwrap());
    /// let decide = |line: &str| gate.decide(&Request::Command { line: line.to_owned() }, &Approvals::new(), &place);
    /// assert!(matches!(decide("git status"), Decision::Allowed { .. }));
    /// assert!(matches!(decide("git commit -m x"), Decision::Ask(_)));
    /// assert!(matches!(decide("sudo ls"), Decision::Denied(_)));
    /// ```
    pub fn decide(&self, request: &Request, approvals: &Approvals, place: &Place<'_>) -> Decision {
        let things = match self.judge(request, place) {
            Ok(things) => things,
            Err(refusal) => return Decision::Denied(refusal),
        };
        let mut used = Vec::new();
        let mut asked = Vec::new();
        for thing in &things {
            if !self.threshold.asks(thing.level) {
                continue;
            }
            match approvals.covering(&thing.remembered_by(), thing.level, place.directory, place.now) {
                Some(approval) => used.push(approval.id.clone()),
                None if asked.contains(thing) => {}
                None => asked.push(thing.clone()),
            }
        }
        if asked.is_empty() {
            let verdict = together(&things);
            return Decision::Allowed {
                profile: Profile::of(verdict.level),
                verdict,
                approvals: used,
            };
        }
        Decision::Ask(Box::new(question(request, asked, place)))
    }

    /// How a request is judged: the policy, then a level for each part.
    pub fn judge(&self, request: &Request, place: &Place<'_>) -> Result<Vec<Thing>, Refusal> {
        match request {
            Request::Command { line } => self.judge_line(line, place),
            Request::Read { path, real, inside } => Ok(vec![read(path, real, *inside, &place.own)]),
            Request::Edit { path, real, mode } => Ok(vec![edit(path, real, mode, place.directory)]),
            Request::Tool(tool) => {
                let denied = self.policy.check_tool(&tool.line());
                denied.map_err(Refusal::Policy)?;
                Ok(vec![tool.judged()])
            }
        }
    }

    fn judge_line(&self, line: &str, place: &Place<'_>) -> Result<Vec<Thing>, Refusal> {
        let parts = split(line);
        self.policy
            .check(line, parts.as_deref())
            .map_err(Refusal::Policy)?;
        if self.policy.is_built_in() && reaches(line, &place.own, bearings(parts.as_deref(), place)) {
            let why = "wisp's own files are not for commands; the user changes them with wisp config";
            return Err(Refusal::Policy(why.to_owned()));
        }
        let parts = match parts {
            Ok(parts) => parts,
            Err(unreadable) => {
                return Ok(vec![Thing {
                    text: line.to_owned(),
                    exact: line.to_owned(),
                    level: Level::Dangerous,
                    reasons: vec![unreadable.to_string()],
                    pattern: Pattern::Exact(line.to_owned()),
                }]);
            }
        };
        let thing = |part| {
            let Verdict { level, reasons } = risk_of_part(part, &place.around, place.confinement);
            let exact = Pattern::exact_text(part, line);
            Thing {
                text: part.text.clone(),
                pattern: Pattern::of(part, &exact),
                exact,
                level,
                reasons,
            }
        };
        Ok(parts.iter().map(thing).collect())
    }
}

/// Where and when something would be done.
#[derive(Debug, Clone)]
pub struct Place<'a> {
    /// The working directory, absolute.
    pub directory: &'a Path,
    /// The time of day.
    pub now: Timestamp,
    /// What is known of the directory.
    pub around: Surroundings,
    /// What the sandbox can enforce on what will run.
    pub confinement: Confinement,
    /// wisp's own directories, by every path they are known by: nothing a command names may lie in one.
    pub own: Vec<PathBuf>,
    /// The user's home, which a `~` stands for.
    pub user_home: Option<PathBuf>,
}

impl<'a> Place<'a> {
    /// A directory nothing more is known of, with no sandbox.
    pub fn at(directory: &'a Path, now: Timestamp) -> Self {
        Self {
            directory,
            now,
            around: Surroundings::default(),
            confinement: Confinement::default(),
            own: Vec::new(),
            user_home: None,
        }
    }
}

/// How paths in a line are to be read. One that could not be taken apart may do anything to them.
fn bearings<'a>(parts: Result<&[SimpleCommand], &Unreadable>, place: &'a Place<'_>) -> Bearings<'a> {
    let strays = |part: &SimpleCommand| part.moved.is_some() || part.name().is_some_and(runs_text);
    Bearings {
        directory: place.directory,
        user_home: place.user_home.as_deref(),
        adrift: parts.map_or(true, |parts| parts.iter().any(strays)),
    }
}

fn question(request: &Request, things: Vec<Thing>, place: &Place<'_>) -> Question {
    let Verdict { level, reasons } = together(&things);
    let mut patterns: Vec<String> = Vec::new();
    for thing in &things {
        let pattern = visible(&thing.remembered_by().to_string());
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    let command = request.shown();
    let mut reasons: Vec<String> = reasons.iter().map(|reason| visible(reason)).collect();
    reasons.extend(mixed(&command).iter().map(look_alike));
    Question {
        command,
        request: request.clone(),
        level,
        reasons,
        pattern: patterns.join(", "),
        things,
        directory: place.directory.to_owned(),
    }
}

/// What is said of a word that looks like another one.
fn look_alike(mixed: &Mixed) -> String {
    let scripts = mixed.scripts.join(" and ");
    format!(
        "{} mixes {scripts} letters: it may not be the word it looks like",
        mixed.word
    )
}

fn together(things: &[Thing]) -> Verdict {
    let level = things
        .iter()
        .map(|thing| thing.level)
        .max()
        .unwrap_or(Level::Safe);
    let said = things
        .iter()
        .filter(|thing| thing.level > Level::Safe || level == Level::Safe);
    let all = said
        .flat_map(|thing| thing.reasons.iter().map(|reason| (thing.level, reason.clone())))
        .collect();
    Verdict::of(all, (Level::Safe, "nothing runs"))
}

/// A read is judged by the name given and by the file it leads to; a file elsewhere is asked about.
fn read(path: &str, real: &Path, inside: bool, own: &[PathBuf]) -> Thing {
    let is_own = own.iter().any(|home| real.starts_with(home));
    let real = real.display().to_string();
    let mut found: Vec<_> = [reading(path), reading(&real)].into_iter().flatten().collect();
    if is_own {
        found.push((
            Level::Dangerous,
            format!("{real} is wisp's own and may hold credentials"),
        ));
    }
    if !inside {
        found.push((
            Level::Moderate,
            format!("{real} is outside the working directory"),
        ));
    }
    let Verdict { level, reasons } = Verdict::of(found, (Level::Safe, "only reads"));
    Thing {
        text: format!("read_file {real}"),
        exact: format!("read_file {real}"),
        level,
        reasons,
        pattern: Pattern::Exact(format!("read_file {real}")),
    }
}

/// An edit is at least moderate. A yes to one is for edits of files under this directory; one elsewhere, and a
/// dangerous one, is for that file alone.
fn edit(path: &str, real: &Path, mode: &str, directory: &Path) -> Thing {
    let inside = real.starts_with(directory);
    let real = real.display().to_string();
    let exact = format!("edit_file {mode} {real}");
    let mut found: Vec<_> = [writing(path), writing(&real)].into_iter().flatten().collect();
    if !inside {
        found.push((
            Level::Moderate,
            format!("{real} is outside the working directory"),
        ));
    }
    let Verdict { level, reasons } = Verdict::of(found, (Level::Moderate, "changes a file"));
    let pattern = if inside {
        Pattern::Program("edit_file".to_owned())
    } else {
        Pattern::Exact(exact.clone())
    };
    Thing {
        text: exact.clone(),
        exact,
        level,
        reasons,
        pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_mixes_alphabets_is_named_with_them() {
        let words = mixed("g\u{456}t push");
        assert_eq!(
            look_alike(&words[0]),
            "g\u{456}t mixes Latin and Cyrillic letters: it may not be the word it looks like"
        );
    }
    use crate::approvals::{Grant, Scope};

    fn gate() -> Gate {
        let policy = Policy::new(&[], &[]).expect("no patterns");
        Gate::new(policy, Threshold::From(Level::Moderate))
    }

    fn place() -> Place<'static> {
        Place::at(
            Path::new("/w/work"),
            "2026-11-30T09:00:00Z".parse().expect("a time"),
        )
    }

    fn edit_of(real: &str) -> Request {
        Request::Edit {
            path: real.to_owned(),
            real: real.into(),
            mode: "write".to_owned(),
        }
    }

    fn read_of(path: &str, real: &str, inside: bool) -> Request {
        Request::Read {
            path: path.to_owned(),
            real: real.into(),
            inside,
        }
    }

    fn line(line: &str) -> Request {
        Request::Command {
            line: line.to_owned(),
        }
    }

    fn asked(request: &Request, approvals: &Approvals) -> Option<Question> {
        match gate().decide(request, approvals, &place()) {
            Decision::Ask(question) => Some(*question),
            Decision::Allowed { .. } => None,
            Decision::Denied(refusal) => panic!("denied: {}", refusal.reason()),
        }
    }

    /// What is allowed after a yes to everything a request asks.
    fn after_yes(request: &Request, scope: Scope) -> Approvals {
        let mut approvals = Approvals::new();
        let grant = Grant {
            scope,
            days: 30,
            at: place().now,
            source: "test".to_owned(),
        };
        for thing in asked(request, &approvals).expect("a question").things {
            approvals.grant("1".to_owned(), &thing, &grant, place().directory);
        }
        approvals
    }

    #[test]
    fn a_yes_to_an_edit_is_for_this_directory_and_not_for_what_lies_outside() {
        let approvals = after_yes(&edit_of("/w/work/a.rs"), Scope::Session);
        assert!(asked(&edit_of("/w/work/src/b.rs"), &approvals).is_none());
        for outside in [
            "/w/work-evil/twin.txt",
            "/w/outside/secret.txt",
            "/w/work/.env",
            "/w/work/.git/hooks/pre-commit",
        ] {
            assert!(asked(&edit_of(outside), &approvals).is_some(), "{outside}");
        }
        let approvals = after_yes(&edit_of("/w/outside/secret.txt"), Scope::Session);
        assert!(asked(&edit_of("/w/outside/secret.txt"), &approvals).is_none());
        assert!(asked(&edit_of("/w/outside/other.txt"), &approvals).is_some());
    }

    #[test]
    fn a_read_is_judged_by_the_name_and_by_the_file_it_leads_to() {
        let none = Approvals::new();
        assert!(asked(&read_of("a.rs", "/w/work/a.rs", true), &none).is_none());
        let link = asked(&read_of("link.txt", "/w/outside/plain.txt", false), &none).expect("a question");
        assert_eq!(link.command, "read_file link.txt (which is /w/outside/plain.txt)");
        assert_eq!(
            link.reasons,
            ["/w/outside/plain.txt is outside the working directory"]
        );
        for (path, real) in [("notes", "/home/a/.SSH/id_rsa"), (".Env", "/w/work/.Env")] {
            let question = asked(&read_of(path, real, true), &none).expect("a question");
            assert_eq!(question.level, Level::Dangerous, "{path}");
        }
    }

    fn tool(name: &str, arguments: &str) -> Request {
        Request::Tool(ForeignTool {
            server: "files".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            safe: false,
            hints: vec!["the server says that it may overwrite or delete".to_owned()],
        })
    }

    #[test]
    fn a_tool_of_a_server_is_asked_about_whatever_the_server_says_and_a_yes_is_for_that_tool() {
        let question =
            asked(&tool("files__write", r#"{"path":"a"}"#), &Approvals::new()).expect("a question");
        assert_eq!(question.level, Level::Moderate);
        assert_eq!(question.command, r#"files__write {"path":"a"}"#);
        assert_eq!(question.pattern, "mcp:files__write *");
        assert_eq!(
            question.reasons,
            [
                "the server says that it may overwrite or delete",
                "a tool of the MCP server files: what it does is not known"
            ]
        );
        let approvals = after_yes(&tool("files__write", "{}"), Scope::Session);
        assert!(asked(&tool("files__write", r#"{"path":"b"}"#), &approvals).is_none());
        assert!(asked(&tool("files__delete", "{}"), &approvals).is_some());
        assert!(asked(&line("files__write a"), &approvals).is_some());
        assert!(asked(&line("mcp:files__write a"), &approvals).is_some());
    }

    #[test]
    fn a_yes_to_a_program_is_none_to_a_tool_of_its_name() {
        let approvals = after_yes(&line("files__write a"), Scope::Session);
        assert!(asked(&tool("files__write", "{}"), &approvals).is_some());
    }

    #[test]
    fn a_tool_declared_safe_is_not_asked_about_and_the_deny_list_still_holds() {
        let policy =
            Policy::new(&["files__read .*secret".to_owned()], &["^git ".to_owned()]).expect("patterns");
        let gate = Gate::new(policy, Threshold::From(Level::Moderate));
        let safe = |arguments: &str| {
            let Request::Tool(tool) = tool("files__read", arguments) else {
                unreachable!("it is one")
            };
            Request::Tool(ForeignTool { safe: true, ..tool })
        };
        let decide = |request| gate.decide(&request, &Approvals::new(), &place());
        assert!(matches!(decide(safe("{}")), Decision::Allowed { .. }));
        assert_eq!(
            decide(safe(r#"{"path":"secret"}"#)),
            Decision::Denied(Refusal::Policy(
                "call matches deny pattern files__read .*secret".to_owned()
            ))
        );
    }

    #[test]
    fn all_of_a_tools_arguments_are_asked_about_however_long_they_are() {
        let arguments = format!("{}end", "é".repeat(100_000));
        let question = asked(&tool("files__write", &arguments), &Approvals::new()).expect("a question");
        assert_eq!(question.command, format!("files__write {arguments}"));
    }

    #[test]
    fn a_question_names_what_needs_an_answer_and_a_yes_covers_just_that() {
        let question =
            asked(&line("ls && touch a && git push origin main"), &Approvals::new()).expect("a question");
        let parts: Vec<&str> = question.things.iter().map(|thing| thing.text.as_str()).collect();
        assert_eq!(parts, ["touch a", "git push origin main"]);
        assert_eq!(question.pattern, "touch *, git push *");
        let approvals = after_yes(&line("touch a && git push origin main"), Scope::Turn);
        assert!(asked(&line("git push; touch b; ls"), &approvals).is_none());
        assert!(asked(&line("git push --force"), &approvals).is_some());
        assert!(asked(&line("git pull"), &approvals).is_some());
    }

    #[test]
    fn an_answer_to_a_variable_is_no_answer_to_another_value() {
        let approvals = after_yes(&line("D=build; rm -r \"$D\""), Scope::Session);
        assert!(asked(&line("D=build; rm -r \"$D\""), &approvals).is_none());
        assert!(asked(&line("D=/home; rm -r \"$D\""), &approvals).is_some());
    }

    #[test]
    fn with_no_threshold_nothing_is_asked_and_the_policy_stays() {
        let gate = Gate::new(Policy::new(&[], &[]).expect("no patterns"), Threshold::Never);
        let decide = |text: &str| gate.decide(&line(text), &Approvals::new(), &place());
        assert!(
            matches!(decide("rm -r build"), Decision::Allowed { verdict, .. } if verdict.level == Level::Dangerous)
        );
        assert!(matches!(decide("sudo ls"), Decision::Denied(Refusal::Policy(_))));
    }

    #[test]
    fn what_a_person_types_is_held_against_the_policy_only() {
        assert_eq!(gate().check_typed("rm -r build"), Ok(()));
        assert!(gate().check_typed("ls; sudo ls").is_err());
    }
}
