//! The bounds: what keeps a digest's memory in proportion to what it reports.

/// Root causes kept; more are counted.
pub const FAILURES: usize = 200;
/// Lines that explain one failure.
pub const EXPLAIN: usize = 16;
/// Other diagnostics listed under one cause.
pub const RELATED: usize = 8;
/// Line numbers listed of copies, cascades and warnings of a kind.
pub const LISTED: usize = 12;
/// Kinds of warning told apart; further kinds are counted under `other`.
pub const WARNING_KINDS: usize = 64;
/// Different diagnostics remembered in order to know a copy: as many as a table of 65,536 places takes.
pub const REMEMBERED: usize = 57_344;
/// Tallies kept.
pub const TALLIES: usize = 64;
/// Sections kept, and streams of labelled lines read apart.
pub const SECTIONS: usize = 128;
/// Notes kept.
pub const NOTES: usize = 32;
/// Unexplained lines quoted.
pub const UNEXPLAINED: usize = 10;
/// Bytes of one line that readers see; the rest of a longer line is passed over.
pub const LINE: usize = 32_768;
/// Bytes of one quoted line.
pub const QUOTE: usize = 240;
/// Bytes of a title.
pub const TITLE: usize = 400;
/// Templates of a log told apart; further lines are merged with the nearest.
pub const TEMPLATES: usize = 1_000;
/// Tests, panics or steps a reader keeps in mind while their end is outstanding.
pub const PENDING: usize = 256;
/// Lines read one by one before it is decided whether the input is a log.
pub const SAMPLE: u64 = 64;
