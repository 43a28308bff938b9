//! Where a disk may refuse: each step that writes below wisp's home passes here first.
//!
//! A program that must lose nothing on a full disk is only known to do so when the disk has refused at each of its
//! steps. With the feature `faults`, for tests, steps are counted and one of them, or it and all later ones, fail as the
//! test says. Without it every step passes, and nothing is left of this.

use std::io;
use std::path::Path;

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A directory is made, if it is missing.
    MakeFolder,
    /// A file is made.
    Create,
    /// A file is opened for writing, made if it is missing.
    Open,
    /// A file is cut to a length.
    Cut,
    /// Bytes are written. A refusal lets half of them through first.
    Write,
    /// A file is synced.
    Sync,
    /// A file takes the place of another.
    Replace,
    /// A folder is synced.
    SyncFolder,
    /// A file is removed.
    Remove,
}

/// Passes, unless a test has this step fail. For those who hold a file of their own: what goes through
/// [`crate::files`] passes here by itself.
///
/// # Errors
/// What the test says, with the feature `faults`; none without it.
#[cfg(not(feature = "faults"))]
#[inline]
pub fn pass(_: Step, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(feature = "faults")]
pub use armed::{Faults, Times, Watch, pass};

#[cfg(feature = "faults")]
mod armed {
    use std::cell::RefCell;
    use std::path::PathBuf;

    use super::{Path, Step, io};

    /// How often the disk refuses.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Times {
        /// At that step alone.
        Once,
        /// From that step on.
        FromThenOn,
    }

    /// Which steps fail. Steps are those of this thread, below one folder, and are counted from 1.
    #[derive(Debug, Clone)]
    pub struct Faults {
        /// The folder that is watched.
        pub folder: PathBuf,
        /// The first step that fails; 0 when all pass.
        pub at: usize,
        /// How often.
        pub times: Times,
        /// The system's error number, for example `ENOSPC`.
        pub error: i32,
        /// Steps that always pass and are not counted: a full disk still removes files.
        pub spare: Vec<Step>,
    }

    struct State {
        faults: Faults,
        passed: Vec<(Step, PathBuf)>,
        failed: bool,
    }

    thread_local! {
        static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
    }

    /// While it lives, steps are counted and fail. Not to be nested.
    #[derive(Debug)]
    #[must_use]
    pub struct Watch(());

    impl Faults {
        /// All steps below `folder` pass and are counted.
        pub fn none(folder: &Path) -> Self {
            Self {
                folder: folder.to_owned(),
                at: 0,
                times: Times::Once,
                error: 0,
                spare: Vec::new(),
            }
        }

        /// Begins to count, and to refuse.
        pub fn arm(self) -> Watch {
            STATE.with_borrow_mut(|state| {
                *state = Some(State {
                    faults: self,
                    passed: Vec::new(),
                    failed: false,
                });
            });
            Watch(())
        }
    }

    impl Watch {
        /// The steps so far, in order, those that failed included.
        pub fn steps(&self) -> Vec<(Step, PathBuf)> {
            let Self(()) = self;
            STATE.with_borrow(|state| {
                state
                    .as_ref()
                    .map(|state| state.passed.clone())
                    .unwrap_or_default()
            })
        }

        /// Whether a step has failed.
        pub fn has_failed(&self) -> bool {
            let Self(()) = self;
            STATE.with_borrow(|state| state.as_ref().is_some_and(|state| state.failed))
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            STATE.with_borrow_mut(|state| *state = None);
        }
    }

    /// Passes, unless a test has this step fail.
    pub fn pass(step: Step, path: &Path) -> io::Result<()> {
        STATE.with_borrow_mut(|state| state.as_mut().map_or(Ok(()), |state| state.pass(step, path)))
    }

    impl State {
        fn pass(&mut self, step: Step, path: &Path) -> io::Result<()> {
            let faults = &self.faults;
            if !path.starts_with(&faults.folder) || faults.spare.contains(&step) {
                return Ok(());
            }
            self.passed.push((step, path.to_owned()));
            let number = self.passed.len();
            let fails = match faults.times {
                Times::Once => number == faults.at,
                Times::FromThenOn => faults.at > 0 && number >= faults.at,
            };
            if !fails {
                return Ok(());
            }
            self.failed = true;
            Err(io::Error::from_raw_os_error(faults.error))
        }
    }
}
