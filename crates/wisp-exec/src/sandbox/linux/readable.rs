//! What a command that only reads may read, as rules for the kernel. On a machine with many credentials they are some
//! hundreds, so they are made once and serve every command for as long as the directories they were made of are the same.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use landlock::{ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetError};
use wisp_host::{Clock as _, SystemClock};

use super::carve::pieces;
use super::confine::allow;
use crate::sandbox::Confinement;

/// How long ago, in nanoseconds, a directory must have changed for its next change to have another time: file systems
/// count time in steps.
const SETTLED: i128 = 20_000_000;

/// The rules, and what they were made of.
pub(super) struct Readable {
    rules: RulesetCreated,
    hidden: Vec<PathBuf>,
    landlock: u8,
    listed: Vec<(PathBuf, Stamp)>,
    /// Whether a change of a directory since would be seen.
    settled: bool,
}

/// Which directory it is and when it changed, in nanoseconds.
type Stamp = (u64, u64, i128);

impl Readable {
    /// The rules for everything but what is hidden, and for the directory within which commands have theirs.
    pub(super) fn of(confinement: &Confinement, temporary: Option<&Path>) -> Result<Self, RulesetError> {
        let abi = ABI::from(i32::from(confinement.landlock));
        let read = AccessFs::from_read(abi);
        // To move a file to another directory every set of rules must allow, whatever else it is about.
        let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        let mut rules = rules.handle_access(read | AccessFs::Refer)?.create()?;
        let carved = pieces(&confinement.hidden, stamp);
        rules = allow(rules, Path::new("/"), AccessFs::ReadDir.into())?;
        for piece in carved.pieces {
            let access = if piece.is_dir {
                read
            } else {
                AccessFs::ReadFile | AccessFs::Execute
            };
            rules = allow(rules, &piece.path, access)?;
        }
        if let Some(temporary) = temporary {
            rules = allow(rules, temporary, read | AccessFs::Refer)?;
        }
        let settled = carved.listed.iter().all(|(_, (_, _, at))| now() - at > SETTLED);
        Ok(Self {
            rules,
            hidden: confinement.hidden.clone(),
            landlock: confinement.landlock,
            listed: carved.listed,
            settled,
        })
    }

    /// Whether these are still the rules for that.
    pub(super) fn holds(&self, confinement: &Confinement) -> bool {
        let same = self.settled && self.landlock == confinement.landlock && self.hidden == confinement.hidden;
        same && self.listed.iter().all(|(path, then)| stamp(path) == *then)
    }

    /// Confines this process to them.
    pub(super) fn restrict(self) -> Result<(), RulesetError> {
        self.rules.restrict_self().map(drop)
    }
}

/// A directory that cannot be looked at is always the same.
fn stamp(path: &Path) -> Stamp {
    path.symlink_metadata().map_or((0, 0, 0), |meta| {
        let at = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
        (meta.dev(), meta.ino(), at)
    })
}

fn now() -> i128 {
    SystemClock.now().as_nanosecond()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test lays out a tree")]

    use super::*;
    use crate::sandbox::{Profile, linux::landlock_version};

    #[test]
    fn rules_hold_until_a_directory_they_were_made_of_changes() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        let mut confinement = Confinement {
            profile: Profile::Read,
            landlock: landlock_version(),
            namespaces: false,
            network: false,
            hidden: vec![root.join("a/b")],
            writable: Vec::new(),
            read_only: Vec::new(),
        };
        let made = || Readable::of(&confinement, None).unwrap();
        // Others use the directory above at the same time: only what is below is looked at.
        let of_ours = |mut readable: Readable| {
            readable.listed.retain(|(path, _)| path.starts_with(&root));
            readable.settled = true;
            readable
        };
        let readable = of_ours(made());
        assert_eq!(readable.listed.len(), 2, "{:?}", readable.listed);
        assert!(readable.holds(&confinement));
        std::fs::write(root.join("a/new"), "").unwrap();
        assert!(!readable.holds(&confinement));
        // On a busy machine "just now" may have passed before it is looked at.
        let unsettled = |change: u32| {
            std::fs::write(root.join(format!("a/{change}")), "").unwrap();
            !made().settled
        };
        assert!(
            (0..50).any(unsettled),
            "a change just now could be followed by one of the same time"
        );
        let readable = of_ours(made());
        confinement.hidden.push(root.join("a/new"));
        assert!(!readable.holds(&confinement));
    }
}
