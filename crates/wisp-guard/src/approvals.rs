//! What a person has allowed, for how long and up to which level.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::level::Level;
use crate::pattern::Pattern;

/// How far an answer reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// This call alone: nothing is kept of it.
    Once,
    /// The rest of this turn, in this directory.
    Turn,
    /// Until the program ends, in this directory.
    Session,
    /// For some days, in this directory.
    Project,
    /// For some days, in any directory.
    Always,
}

impl Scope {
    /// Whether an answer of this scope is kept in the file.
    pub fn is_stored(self) -> bool {
        matches!(self, Self::Project | Self::Always)
    }

    /// Its word, as the audit and the file have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Turn => "turn",
            Self::Session => "session",
            Self::Project => "project",
            Self::Always => "always",
        }
    }

    /// How far it reaches, after "allowed" or "approved".
    pub fn reach(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Turn => "for this turn",
            Self::Session => "for this session",
            Self::Project => "for this directory",
            Self::Always => "everywhere",
        }
    }
}

/// One thing a person allowed. Also a row of `approvals.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Its id: 16 hex digits.
    pub id: String,
    /// What it is for.
    pub pattern: Pattern,
    /// Where it holds; `None` anywhere.
    pub working_directory: Option<PathBuf>,
    /// How long.
    pub scope: Scope,
    /// The highest level it covers.
    pub level: Level,
    /// When it was given.
    pub granted_at: Timestamp,
    /// When it ends; `None` with the turn or the program.
    pub expires_at: Option<Timestamp>,
    /// Which face it was given in.
    pub source: String,
}

impl Approval {
    /// Whether it covers something of this pattern, level and directory now. A dangerous thing is only covered by
    /// an approval of the very same text, and never by a stored one.
    pub fn covers(&self, what: &Pattern, level: Level, directory: &Path, now: Timestamp) -> bool {
        let here = self
            .working_directory
            .as_deref()
            .is_none_or(|own| own == directory);
        let alive = self.expires_at.is_none_or(|end| now < end);
        let exact = matches!(self.pattern, Pattern::Exact(_)) && !self.scope.is_stored();
        here && alive
            && level <= self.level
            && (level < Level::Dangerous || exact)
            && self.pattern.covers(what)
    }
}

/// A person's yes, before it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// How far it reaches.
    pub scope: Scope,
    /// Days a stored answer lasts (`approval.persistDays`, 30).
    pub days: u64,
    /// When it was given.
    pub at: Timestamp,
    /// Which face it was given in.
    pub source: String,
}

/// What is allowed at the moment: answers for the turn, for the session, and those read from the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approvals {
    turn: Vec<Approval>,
    session: Vec<Approval>,
    stored: Vec<Approval>,
}

impl Approvals {
    /// Nothing allowed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets what was allowed for the last turn.
    pub fn begin_turn(&mut self) {
        self.turn.clear();
    }

    /// Takes the answers of `approvals.json`, as [`crate::ApprovalFile::load`] read them just now.
    pub fn set_stored(&mut self, stored: Vec<Approval>) {
        self.stored = stored;
    }

    /// What covers a thing now: this session, then this turn, then the file.
    pub fn covering(
        &self,
        what: &Pattern,
        level: Level,
        directory: &Path,
        now: Timestamp,
    ) -> Option<&Approval> {
        let all = self.session.iter().chain(&self.turn).chain(&self.stored);
        all.into_iter()
            .find(|approval| approval.covers(what, level, directory, now))
    }

    /// The answer with this id that holds now.
    pub fn find(&self, id: &str) -> Option<&Approval> {
        self.iter().find(|approval| approval.id == id)
    }

    /// How many answers hold for the session.
    pub fn session_len(&self) -> usize {
        self.session.len()
    }

    /// Takes back an answer of this turn or session by its id, or by the only beginning of one. Stored ones are
    /// taken back in the file.
    pub fn revoke(&mut self, id: &str) -> Option<Approval> {
        let found = |list: &[Approval]| list.iter().filter(|approval| approval.id.starts_with(id)).count();
        if id.is_empty() || found(&self.turn) + found(&self.session) != 1 {
            return None;
        }
        [&mut self.turn, &mut self.session].into_iter().find_map(|list| {
            let at = list.iter().position(|approval| approval.id.starts_with(id))?;
            Some(list.remove(at))
        })
    }

    /// Forgets every answer of this turn and session; the result is how many there were.
    pub fn clear(&mut self) -> usize {
        self.turn.drain(..).count() + self.session.drain(..).count()
    }

    /// Everything allowed now, the longest-lived last.
    pub fn iter(&self) -> impl Iterator<Item = &Approval> {
        self.turn.iter().chain(&self.session).chain(&self.stored)
    }

    /// Keeps a yes for one thing, unless it is for this call alone, and gives back the approval, which the caller adds to the file when its scope
    /// [`Scope::is_stored`]. A dangerous thing is kept by its exact text and for the session at most, whatever was
    /// asked for: the result's scope says what was done.
    pub fn grant(&mut self, id: String, thing: &Thing, grant: &Grant, directory: &Path) -> Approval {
        let dangerous = thing.level == Level::Dangerous;
        let scope = if dangerous {
            grant.scope.min(Scope::Session)
        } else {
            grant.scope
        };
        let pattern = thing.remembered_by();
        let days = i64::try_from(grant.days)
            .unwrap_or(i64::MAX / 24)
            .saturating_mul(24);
        let end = grant
            .at
            .checked_add(SignedDuration::from_hours(days))
            .unwrap_or(Timestamp::MAX);
        let approval = Approval {
            id,
            pattern,
            working_directory: (scope != Scope::Always).then(|| directory.to_owned()),
            scope,
            level: thing.level,
            granted_at: grant.at,
            expires_at: scope.is_stored().then_some(end),
            source: grant.source.clone(),
        };
        match scope {
            Scope::Once => {}
            Scope::Turn => self.turn.push(approval.clone()),
            _ => self.session.push(approval.clone()),
        }
        approval
    }
}

/// A part of a line, or a file, that a person is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thing {
    /// The part as it was written.
    pub text: String,
    /// The text that stands for it and for nothing else ([`Pattern::exact_text`]).
    pub exact: String,
    /// How much it may do.
    pub level: Level,
    /// Why.
    pub reasons: Vec<String>,
    /// What a yes is remembered by.
    pub pattern: Pattern,
}

impl Thing {
    /// What a yes to it is remembered by: the pattern, or its exact text when it is dangerous.
    pub fn remembered_by(&self) -> Pattern {
        match self.level {
            Level::Dangerous => Pattern::Exact(self.exact.clone()),
            _ => self.pattern.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-30T09:00:00Z";

    fn thing(level: Level) -> Thing {
        Thing {
            text: "git push origin main".to_owned(),
            exact: "git push origin main".to_owned(),
            level,
            reasons: vec![],
            pattern: Pattern::Program("git push".to_owned()),
        }
    }

    fn grant(scope: Scope) -> Grant {
        Grant {
            scope,
            days: 30,
            at: NOW.parse().unwrap(),
            source: "chat".to_owned(),
        }
    }

    fn covered(approvals: &Approvals, thing: &Thing, dir: &str, now: &str) -> bool {
        let what = thing.remembered_by();
        approvals
            .covering(&what, thing.level, Path::new(dir), now.parse().unwrap())
            .is_some()
    }

    #[test]
    fn once_covers_no_other_call_turn_lasts_for_the_turn_and_session_longer_all_here_only() {
        for (scope, again, after) in [
            (Scope::Once, false, false),
            (Scope::Turn, true, false),
            (Scope::Session, true, true),
        ] {
            let mut approvals = Approvals::new();
            let moderate = thing(Level::Moderate);
            approvals.grant("1".to_owned(), &moderate, &grant(scope), Path::new("/a"));
            assert_eq!(covered(&approvals, &moderate, "/a", NOW), again);
            assert!(!covered(&approvals, &moderate, "/b", NOW));
            approvals.begin_turn();
            assert_eq!(covered(&approvals, &moderate, "/a", NOW), after);
        }
    }

    #[test]
    fn an_answer_can_be_taken_back() {
        let mut approvals = Approvals::new();
        for (id, scope) in [("aa11", Scope::Turn), ("aa22", Scope::Session)] {
            approvals.grant(
                id.to_owned(),
                &thing(Level::Moderate),
                &grant(scope),
                Path::new("/a"),
            );
        }
        assert_eq!(approvals.revoke("aa"), None);
        assert_eq!(approvals.revoke(""), None);
        assert_eq!(approvals.revoke("aa2").map(|a| a.id), Some("aa22".to_owned()));
        assert_eq!((approvals.iter().count(), approvals.clear()), (1, 1));
        assert!(!covered(&approvals, &thing(Level::Moderate), "/a", NOW));
    }

    #[test]
    fn an_answer_covers_its_level_and_below() {
        let mut approvals = Approvals::new();
        approvals.grant(
            "1".to_owned(),
            &thing(Level::Safe),
            &grant(Scope::Session),
            Path::new("/a"),
        );
        assert!(covered(&approvals, &thing(Level::Safe), "/a", NOW));
        assert!(!covered(&approvals, &thing(Level::Moderate), "/a", NOW));
    }

    #[test]
    fn a_dangerous_thing_is_remembered_by_its_text_and_never_stored() {
        let mut approvals = Approvals::new();
        let dangerous = thing(Level::Dangerous);
        let kept = approvals.grant("1".to_owned(), &dangerous, &grant(Scope::Always), Path::new("/a"));
        assert_eq!((kept.scope, kept.expires_at), (Scope::Session, None));
        assert_eq!(kept.working_directory.as_deref(), Some(Path::new("/a")));
        assert!(covered(&approvals, &dangerous, "/a", NOW));
        let other = Thing {
            exact: "git push --force".to_owned(),
            ..dangerous
        };
        assert!(!covered(&approvals, &other, "/a", NOW));
    }

    #[test]
    fn a_stored_answer_ends_at_the_exact_moment_and_does_not_cover_danger() {
        let mut approvals = Approvals::new();
        let moderate = thing(Level::Moderate);
        let stored = approvals.grant("1".to_owned(), &moderate, &grant(Scope::Always), Path::new("/a"));
        let mut later = Approvals::new();
        later.set_stored(vec![stored.clone()]);
        assert!(covered(&later, &moderate, "/anywhere", "2026-12-30T08:59:59Z"));
        assert!(!covered(&later, &moderate, "/anywhere", "2026-12-30T09:00:00Z"));
        let forged = Approval {
            level: Level::Dangerous,
            pattern: Pattern::Exact("git push origin main".to_owned()),
            ..stored
        };
        later.set_stored(vec![forged]);
        assert!(!covered(&later, &thing(Level::Dangerous), "/anywhere", NOW));
    }
}
