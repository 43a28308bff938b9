//! The context before and after a condensation, kept as two files that its event names, so that what left can be
//! read rather than guessed. Kept while the audit is on, which is what finds them again.

use std::path::PathBuf;

use wisp_context::{ContextView, Plan};
use wisp_host::{FileError, files};

use crate::conversation::Conversation;
use crate::saved::sweep::CONTEXT_MARK;

/// Two files of one condensation.
pub(super) struct Kept {
    /// The context as it was.
    pub before: PathBuf,
    /// The context as it is from then on.
    pub after: PathBuf,
}

impl Conversation {
    /// Writes both contexts. None when the audit is off; a failure is no reason not to condense, and is returned to
    /// be said.
    pub(super) fn keep_contexts(&self, plan: &Plan) -> Option<Result<Kept, FileError>> {
        self.audit.is_on().then(|| {
            let folder = self.paths.contexts();
            files::private_dir(&folder)?;
            let number = self.record.condensation_count() + 1;
            let name = |what: &str| {
                let session = self.audit.session().as_str();
                folder.join(format!(
                    "{session}{}{CONTEXT_MARK}{number}-{what}.md",
                    self.part()
                ))
            };
            let kept = Kept {
                before: name("before"),
                after: name("after"),
            };
            let write = |path: &PathBuf, view: &ContextView| files::replace(path, view.markdown().as_bytes());
            write(&kept.before, &self.record.context_next(&self.gauge()))?;
            if let Some(after) = self.record.context_after(plan, &self.gauge()) {
                write(&kept.after, &after)?;
            }
            Ok(kept)
        })
    }

    /// `.2` for the second conversation of an audit session, and so on: what tells its files from the first one's.
    fn part(&self) -> String {
        match self.conversations {
            0 | 1 => String::new(),
            number => format!(".{number}"),
        }
    }
}
