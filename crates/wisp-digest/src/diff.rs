//! What a unified diff holds: its files, and how many lines come and go in each.

use serde::Serialize;

/// One file of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiffFile {
    /// The file's path, after the change unless it is deleted.
    pub path: String,
    /// The path before, when it is another.
    pub from: Option<String>,
    /// `modified`, `added`, `deleted`, `renamed` or `binary`.
    pub change: &'static str,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Hunks.
    pub hunks: u64,
    /// The line of the input at which the file begins.
    pub line: u64,
}

/// The files of a diff and the sums over all of them, listed or not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DiffShape {
    /// The files, in their order, at most 200.
    pub files: Vec<DiffFile>,
    /// How many there are in all.
    pub count: u64,
    /// Lines added in all.
    pub added: u64,
    /// Lines removed in all.
    pub removed: u64,
}
