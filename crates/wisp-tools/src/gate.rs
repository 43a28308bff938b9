//! The gate before anything runs, reads or writes: policy, then risk, then the person, each step recorded.
//!
//! What decides is `wisp-guard`, which is pure. Here its decisions meet the conversation: the approvals that hold,
//! the person who can be asked, and the audit.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wisp_audit::Kind;
use wisp_guard::{
    Approval, ApprovalFile, Approvals, Confinement, Decision, ForeignTool, Gate, Grant, Level, Mode, Place,
    Profile, Refusal, Request, Ruling, Scope, StoreError, Surroundings, Threshold, links,
};
use wisp_host::Env;

use crate::call::Call;
use crate::confine::network;
use crate::confine::refused::Refused;
use crate::tool::{Ending, Returned};

/// What a person can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes, for this call alone.
    Once,
    /// Yes, for the rest of this turn.
    Turn,
    /// Yes, until the conversation closes.
    Session,
    /// Yes, in this directory, for some days.
    Project,
    /// Yes, anywhere, for some days.
    Always,
    /// No, with what the person said about it, which the model is told.
    No(Option<String>),
}

impl Answer {
    /// How far a yes reaches; `None` for a refusal.
    pub fn scope(&self) -> Option<Scope> {
        match self {
            Self::Once => Some(Scope::Once),
            Self::Turn => Some(Scope::Turn),
            Self::Session => Some(Scope::Session),
            Self::Project => Some(Scope::Project),
            Self::Always => Some(Scope::Always),
            Self::No(_) => None,
        }
    }
}

/// What a person is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// Exactly what would be done, safe to print.
    pub command: String,
    /// The whole line it is part of.
    pub line: String,
    /// What a yes would be remembered by.
    pub pattern: String,
    /// Where it would be done.
    pub directory: PathBuf,
    /// How much it may do.
    pub level: Level,
    /// Why, most serious first.
    pub reasons: Vec<String>,
    /// For an edit: the unified diff of what would change.
    pub diff: Option<String>,
    /// The answers that can be given, in order.
    pub answers: Vec<Answer>,
}

/// The gate of one conversation, with what its person has allowed.
pub struct Gatekeeper {
    gate: Gate,
    approvals: Approvals,
    mode: Mode,
    file: ApprovalFile,
    days: u64,
    turn: u64,
    yes: bool,
    source: &'static str,
}

/// How a conversation asks.
pub struct Asking {
    /// `approvals.json`.
    pub file: PathBuf,
    /// Days a stored answer lasts.
    pub days: u64,
    /// Whether everything that would be asked about is allowed (`--yes`).
    pub yes: bool,
    /// The face, for the record.
    pub source: &'static str,
}

impl Gatekeeper {
    /// A gate with nothing allowed yet but what the file holds.
    pub fn new(gate: Gate, asking: Asking) -> Self {
        let Asking {
            file,
            days,
            yes,
            source,
        } = asking;
        let file = ApprovalFile::new(file);
        Self {
            gate,
            approvals: Approvals::new(),
            mode: Mode::default(),
            file,
            days,
            turn: 0,
            yes,
            source,
        }
    }

    /// The mode of the conversation.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Changes the mode.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// Reads the stored answers anew.
    pub fn reload(&mut self, now: jiff::Timestamp) {
        self.approvals.set_stored(self.file.load(now));
    }

    /// Takes back an answer of the turn, the session or the file, by its id or the only beginning of one.
    pub fn revoke(&mut self, id: &str, now: jiff::Timestamp) -> Result<Approval, StoreError> {
        // A stored answer that was given here holds for the session too.
        let stored = self
            .file
            .load(now)
            .into_iter()
            .any(|approval| approval.id.starts_with(id));
        let here = self.approvals.revoke(id);
        let revoked = match (here, stored) {
            (Some(here), false) => Ok(here),
            _ => self.file.revoke(id, now),
        };
        self.reload(now);
        revoked
    }

    /// Takes back every answer; the result is how many there were.
    pub fn clear_approvals(&mut self, now: jiff::Timestamp) -> Result<usize, StoreError> {
        self.reload(now);
        let mut all: Vec<String> = self
            .approvals
            .iter()
            .map(|approval| approval.id.clone())
            .collect();
        all.sort();
        all.dedup();
        self.file.clear(now)?;
        self.approvals.clear();
        self.reload(now);
        Ok(all.len())
    }

    /// The rules in force.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// How it asks, for the status line: `approve at moderate`, `never asks`, `--yes`.
    pub fn described(&self) -> String {
        let asks = match (self.yes, self.gate.threshold()) {
            (true, _) => "--yes".to_owned(),
            (false, Threshold::Never) => "never asks".to_owned(),
            (false, Threshold::From(level)) => format!("approve at {}", level.word()),
        };
        match self.mode {
            Mode::Ask => asks,
            Mode::ReadOnly => "read-only".to_owned(),
            mode => format!("{mode} mode, {asks}"),
        }
    }

    /// What is allowed now.
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }
}

impl Call<'_> {
    /// Clears a shell line and says what it is confined to, or why it may not run. The text of a refusal is for the
    /// model.
    pub async fn clear_command(&mut self, line: &str, directory: &Path) -> Result<Cleared, Returned> {
        let request = Request::Command {
            line: line.to_owned(),
        };
        self.clear(Wanted {
            request,
            line,
            directory,
            diff: None,
        })
        .await
    }

    /// Clears reading a file.
    pub async fn clear_read(&mut self, path: &Path) -> Result<(), Returned> {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let inside = self.is_inside(&real);
        let shown = path.display().to_string();
        let request = Request::Read {
            path: shown.clone(),
            real,
            inside,
        };
        let directory = self.services.directory.clone();
        self.clear(Wanted {
            request,
            line: &shown,
            directory: &directory,
            diff: None,
        })
        .await
        .map(drop)
    }

    /// Clears changing a file; the person sees the difference.
    pub async fn clear_edit(
        &mut self,
        real: &Path,
        mode: &str,
        diff: Option<String>,
    ) -> Result<(), Returned> {
        let shown = real.display().to_string();
        let request = Request::Edit {
            path: shown.clone(),
            real: real.to_owned(),
            mode: mode.to_owned(),
        };
        let directory = self.services.directory.clone();
        let line = format!("edit_file {mode} {shown}");
        self.clear(Wanted {
            request,
            line: &line,
            directory: &directory,
            diff,
        })
        .await
        .map(drop)
    }

    /// Clears a call of a server's tool.
    pub async fn clear_foreign(&mut self, tool: ForeignTool) -> Result<(), Returned> {
        let directory = self.services.directory.clone();
        let line = tool.line();
        self.clear(Wanted {
            request: Request::Tool(tool),
            line: &line,
            directory: &directory,
            diff: None,
        })
        .await
        .map(drop)
    }

    /// Refuses a path that tools may not write: wisp's own home.
    pub fn confine(&self, real: &Path) -> Result<(), String> {
        let home = std::fs::canonicalize(&self.services.home).unwrap_or_else(|_| self.services.home.clone());
        if real.starts_with(&home) {
            Err("wisp's own files are not changed by tools: write to another file".to_owned())
        } else {
            Ok(())
        }
    }

    fn is_inside(&self, real: &Path) -> bool {
        let directory = &self.services.directory;
        let root = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.clone());
        real.starts_with(root)
    }

    /// wisp's home by the name it was given and by the one it has.
    fn own_homes(&self) -> Vec<PathBuf> {
        let home = &self.services.home;
        let real = std::fs::canonicalize(home).ok().filter(|real| real != home);
        std::iter::once(home.clone()).chain(real).collect()
    }

    async fn clear(&mut self, wanted: Wanted<'_>) -> Result<Cleared, Returned> {
        self.begin();
        let now = self.services.clock.now();
        self.gate.approvals.set_stored(self.gate.file.load(now));
        let confinement = self.services.confining.holds();
        let user_home = Env::of_process().get("HOME").map(PathBuf::from);
        let mut around = Surroundings::look(wanted.directory);
        if let (Request::Command { line }, false) = (&wanted.request, confinement.read) {
            around.links = links(line, wanted.directory, user_home.as_deref());
        }
        let place = Place {
            directory: wanted.directory,
            now,
            around,
            confinement,
            own: self.own_homes(),
            user_home,
        };
        let decision = self
            .gate
            .gate
            .decide(&wanted.request, &self.gate.approvals, &place);
        if let Some(ruled) = self.by_mode(&wanted, &decision, place.confinement) {
            return ruled;
        }
        match decision {
            Decision::Allowed {
                verdict,
                approvals,
                profile,
            } => {
                self.record_verdict(&wanted, verdict.level, &verdict.reasons)?;
                if let Some(id) = approvals.first() {
                    let earlier = self
                        .gate
                        .approvals
                        .find(id)
                        .map_or_else(|| "an earlier answer".to_owned(), earlier);
                    self.record_decided(&wanted, "approved", &earlier, Some(id))?;
                }
                let answered = !approvals.is_empty();
                self.record_policy(&wanted, "allowed", None)
                    .map(|()| Cleared { profile, answered })
            }
            Decision::Denied(refusal) => {
                self.record_policy(&wanted, "denied", Some(&refusal.reason()))?;
                Err(Returned::refused(
                    refusal.for_model(&wanted.request),
                    Ending::Denied,
                ))
            }
            Decision::Ask(question) => {
                self.record_verdict(&wanted, question.level, &question.reasons)?;
                self.ask(&wanted, *question).await.map(|()| Cleared {
                    profile: Profile::Write,
                    answered: true,
                })
            }
        }
    }

    /// What the mode of the conversation makes of a decision; none when it leaves it as it is.
    fn by_mode(
        &self,
        wanted: &Wanted<'_>,
        decision: &Decision,
        held: Confinement,
    ) -> Option<Result<Cleared, Returned>> {
        let (level, reasons) = match decision {
            Decision::Allowed { verdict, .. } => (verdict.level, &verdict.reasons),
            Decision::Ask(question) => (question.level, &question.reasons),
            Decision::Denied(_) => return None,
        };
        let mode = self.gate.mode;
        let asks = matches!(decision, Decision::Ask(_));
        let allowed = match mode.rule(&wanted.request, level, self.edits_inside(wanted), held) {
            Ruling::Refused => false,
            Ruling::Allowed if asks => true,
            Ruling::Allowed | Ruling::AsJudged => return None,
        };
        let ruled = self.record_verdict(wanted, level, reasons).and_then(|()| {
            if !allowed {
                return self.refuse(wanted, &Refusal::ReadOnly, Ending::Declined);
            }
            self.record_decided(wanted, "approved", &format!("{mode} mode"), None)?;
            self.record_policy(wanted, "allowed", None)?;
            Ok(Cleared {
                profile: Profile::Write,
                answered: false,
            })
        });
        Some(ruled)
    }

    /// Whether an edit stays within the directory of the conversation.
    fn edits_inside(&self, wanted: &Wanted<'_>) -> bool {
        matches!(&wanted.request, Request::Edit { real, .. } if self.is_inside(real))
    }

    /// Records that something is not done, and gives what the model is told.
    fn refuse<T>(&self, wanted: &Wanted<'_>, refusal: &Refusal, ending: Ending) -> Result<T, Returned> {
        let why = refusal.reason();
        self.record_decided(wanted, "refused", &why, None)?;
        self.record_policy(wanted, "disapproved", Some(&why))?;
        Err(Returned::refused(refusal.for_model(&wanted.request), ending))
    }

    /// A new turn forgets what was allowed for the last one.
    fn begin(&mut self) {
        if self.gate.turn != self.scene.turn {
            self.gate.turn = self.scene.turn;
            self.gate.approvals.begin_turn();
        }
    }

    async fn ask(&mut self, wanted: &Wanted<'_>, question: wisp_guard::Question) -> Result<(), Returned> {
        if self.gate.yes {
            self.record_decided(wanted, "approved", "--yes", None)?;
            return self.record_policy(wanted, "allowed", None);
        }
        let details = json!({
            "command": question.command, "pattern": question.pattern, "line": wanted.line, "level": question.level,
        });
        self.recorded(Kind::ApprovalRequested, details)?;
        let network = matches!(wanted.request, Request::Command { .. })
            && self.services.confining.is_on()
            && self.services.confining.asks_for_network()
            && network::needs(wanted.line);
        let answer = self.scene.person.ask(shown(wanted, &question, network)).await;
        match answer {
            Some(answer) if answer.scope().is_some() => {
                let scope = answer.scope().unwrap_or(Scope::Once);
                let kept = self.grant(&question, scope)?;
                self.record_decided(wanted, "approved", kept, None)?;
                self.record_policy(wanted, "allowed", None)
            }
            answer => {
                let refusal = match answer {
                    Some(Answer::No(why)) => Refusal::Person(why.filter(|why| !why.trim().is_empty())),
                    _ => Refusal::NobodyToAsk,
                };
                self.refuse(wanted, &refusal, Ending::Declined)
            }
        }
    }

    /// Keeps a yes for everything that was asked about; returns how far it reaches, in a word.
    fn grant(&mut self, question: &wisp_guard::Question, scope: Scope) -> Result<&'static str, Returned> {
        let now = self.services.clock.now();
        let grant = Grant {
            scope,
            days: self.gate.days,
            at: now,
            source: self.gate.source.to_owned(),
        };
        let mut reach = scope;
        for thing in &question.things {
            let id = self.services.ids.next();
            let approval = self.gate.approvals.grant(id, thing, &grant, &question.directory);
            reach = reach.min(approval.scope);
            if approval.scope.is_stored()
                && let Err(e) = self.gate.file.add(approval, now)
            {
                let details = json!({"message": e.to_string(), "context": "approvals"});
                self.recorded(Kind::Error, details)?;
            }
        }
        Ok(reach.word())
    }

    fn record_verdict(&self, wanted: &Wanted<'_>, level: Level, reasons: &[String]) -> Result<(), Returned> {
        let details = json!({"command": wanted.line, "level": level, "reasons": reasons});
        self.recorded(Kind::RiskVerdict, details)
    }

    fn record_decided(
        &self,
        wanted: &Wanted<'_>,
        decision: &str,
        how: &str,
        approval: Option<&String>,
    ) -> Result<(), Returned> {
        let scoped = ["once", "turn", "session", "project", "always"].contains(&how);
        let mut details = json!({"command": wanted.line, "decision": decision});
        details[if scoped { "scope" } else { "reason" }] = how.into();
        if let Some(id) = approval {
            details["approvalID"] = id.as_str().into();
        }
        self.recorded(Kind::ApprovalDecided, details)
    }

    fn record_policy(
        &self,
        wanted: &Wanted<'_>,
        verdict: &str,
        reason: Option<&str>,
    ) -> Result<(), Returned> {
        let mut details = json!({
            "command": wanted.line, "workingDirectory": wanted.directory.display().to_string(), "verdict": verdict,
        });
        if let Some(reason) = reason {
            details["reason"] = reason.into();
        }
        self.recorded(Kind::PolicyDecision, details)
    }

    /// Records a step that must be recorded for the call to go on.
    fn recorded(&self, kind: Kind, details: Value) -> Result<(), Returned> {
        let failed = |e| {
            Returned::error(format!(
                "the audit cannot be written, so nothing that needs a record runs: {e}"
            ))
        };
        self.audit(kind, details).map(drop).map_err(failed)
    }
}

/// A command that may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cleared {
    /// What it is confined to.
    pub profile: Profile,
    /// Whether the person said yes to it, now or earlier.
    pub answered: bool,
}

impl Call<'_> {
    /// Asks whether a command that the sandbox stopped may run without what stopped it. Asked anew every time:
    /// the answer is for this run alone, and `--yes` is none when it is about leaving the sandbox.
    ///
    /// Errors: the step could not be recorded.
    pub async fn clear_outside(
        &mut self,
        line: &str,
        directory: &Path,
        refused: &Refused,
    ) -> Result<bool, Returned> {
        let network = refused.network && self.services.confining.asks_for_network();
        let (level, asked) = if network {
            (Level::Moderate, "run it with the network?")
        } else {
            (Level::Dangerous, "run it outside the sandbox?")
        };
        let command = visible(line);
        let details = json!({
            "command": command, "pattern": command, "line": line, "level": level, "sandboxRefusal": refused.line,
        });
        self.recorded(Kind::ApprovalRequested, details)?;
        let question = Question {
            pattern: command.clone(),
            line: command.clone(),
            command,
            directory: directory.to_owned(),
            level,
            reasons: vec![
                format!("the sandbox refused it: {}", visible(&refused.line)),
                asked.to_owned(),
            ],
            diff: None,
            answers: vec![Answer::Once, Answer::No(None)],
        };
        let yes = if self.gate.mode == Mode::ReadOnly {
            false
        } else if self.gate.yes {
            network
        } else {
            let answer = self.scene.person.ask(question).await;
            matches!(answer, Some(Answer::Once))
        };
        let decision = if yes { "approved" } else { "refused" };
        let details = json!({"command": line, "decision": decision, "reason": asked});
        self.recorded(Kind::ApprovalDecided, details)?;
        Ok(yes)
    }
}

/// A text as it is safe to print.
fn visible(text: &str) -> String {
    let line = text.to_owned();
    Request::Command { line }.shown()
}

/// Which answer allows a later call, and until when: `touch * was allowed for this session`.
fn earlier(approval: &Approval) -> String {
    let until = approval.expires_at.map_or_else(String::new, |end| {
        format!(
            ", until {}",
            end.to_zoned_datetime(jiff::tz::TimeZone::system()).date()
        )
    });
    format!(
        "{} was allowed {}{until}",
        approval.pattern,
        approval.scope.reach()
    )
}

/// Something that is to be done, as the gate handles it.
struct Wanted<'a> {
    request: Request,
    line: &'a str,
    directory: &'a Path,
    diff: Option<String>,
}

fn shown(wanted: &Wanted<'_>, question: &wisp_guard::Question, network: bool) -> Question {
    let mut reasons = question.reasons.clone();
    if network {
        reasons.push(network::REASON.to_owned());
    }
    let mut answers = vec![Answer::Once, Answer::Turn, Answer::Session];
    if question.level < Level::Dangerous {
        answers.extend([Answer::Project, Answer::Always]);
    }
    answers.push(Answer::No(None));
    Question {
        command: question.command.clone(),
        line: question.command.clone(),
        pattern: question.pattern.clone(),
        directory: question.directory.clone(),
        level: question.level,
        reasons,
        diff: wanted.diff.clone(),
        answers,
    }
}
