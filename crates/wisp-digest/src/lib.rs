//! From ten thousand lines to the three that matter, without a model.
//!
//! A build, a test run or a service prints far more than anyone reads. This crate reads it all, in the format
//! of the tool that wrote it, and says how it ended, what failed first and why, what followed from that, and
//! what was left unexplained. Bytes go in; a [`Digest`] comes out. There is no I/O, no clock and no guessing:
//! a failure is reported only where a tool stated one in a format the crate knows, and lines that merely look
//! like failures are counted as unexplained, never hidden and never promoted.
//!
//! ```
//! use wisp_digest::{Digest, Options, View};
//!
//! let log = b"\
//! src/gauge.c:1:10: fatal error: tide/tables.h: No such file or directory
//!     1 | #include \"tide/tables.h\"
//!       |          ^~~~~~~~~~~~~~~
//! compilation terminated.
//! make: *** [Makefile:7: src/gauge.o] Error 1
//! ";
//! let digest = Digest::of(log, Options { exit: Some(2) });
//! let failure = digest.first_failure().expect("the compiler stated an error");
//! assert_eq!(failure.lines.first, 1);
//! assert_eq!(failure.location.as_ref().map(ToString::to_string).as_deref(), Some("src/gauge.c:1:10"));
//! assert_eq!(failure.cascade, 1, "make only reports that the compiler failed");
//! assert!(digest.render(400, View::Notable).len() <= 400);
//! ```
//!
//! # How it reads
//!
//! Input comes in pieces of any size ([`Digester::push`]) and is cut into lines. A line is read when the next is whole
//! or the input has ended, so that a reader may ask what comes next; where the pieces were cut changes no digest. Each
//! line loses its colour, its progress frames, its time stamps and its label (`[web] `, `#12 3.4 `), and goes to the
//! stream its label names. A *format* is a row of [`FORMATS`]: some literals, and a reader. One scan finds the literals
//! of all formats in one pass; a line with none of them is passed over at memory speed unless a reader is in the middle
//! of something. Readers state findings; the report behind them counts a copy once, groups diagnostics of one cause,
//! and puts the lines that only report a failure (`make: *** … Error 2`) under the failure.
//!
//! Memory is in proportion to what is reported: every list has a bound in [`limits`], a line is read to its
//! first 32 KiB, one whole line at most and one begun wait for what follows them, and time is linear in the input
//! whatever it holds.
//!
//! # Adding a format
//!
//! One file in `src/formats/`, one row in its table, one folder of fixtures under `tests/fixtures/`. What a reader may
//! count on (which lines it is shown, and what it may know of the next) stands in `src/reader.rs` and `src/next.rs`.

pub mod limits;

mod ahead;
mod block;
mod buckets;
mod check;
mod clean;
mod closing;
mod counted;
mod cues;
mod diag;
mod diff;
mod digest;
mod digester;
mod document;
mod encoding;
mod ending;
mod find;
mod finding;
mod first;
mod formats;
mod frames;
mod grams;
mod hashing;
mod held;
mod joined;
mod json;
mod level;
mod line;
#[cfg(test)]
mod linear;
mod literals;
mod looks;
mod mask;
mod near;
mod nesting;
mod next;
mod numbers;
mod page;
mod prefix;
mod reader;
mod recent;
mod render;
mod report;
mod rest;
mod sarif;
mod seen;
mod shape;
mod stamp;
mod stream;
mod templates;
mod unknown;
mod warnings;

pub use check::check;
pub use diff::{DiffFile, DiffShape};
pub use digest::{
    Content, Digest, Failure, Kind, Location, Note, Outcome, Quote, Related, Section, Span, Tally,
    Unexplained, Verdict, WarningKind, Warnings,
};
pub use digester::{Digester, Options};
pub use first::{FirstError, first_error, first_error_of};
pub use formats::FORMATS;
pub use level::Severity;
pub use reader::Format;
pub use render::View;
pub use shape::{JsonShape, Member};
pub use templates::{Gap, LogShape, Template};

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8], options: Options) -> Self {
        let mut digester = Digester::new(options);
        digester.push(bytes);
        digester.finish()
    }
}

/// The digest of everything a reader gives, read 64 KiB at a time. The first 8 KiB are read by themselves: a log that is no
/// longer needs no more room, and sixteen pages cleared for nothing are much of what its digest costs. Fails as
/// the reader fails.
pub fn digest_reader(mut reader: impl std::io::Read, options: Options) -> std::io::Result<Digest> {
    let mut digester = Digester::new(options);
    let mut buffer = vec![0; 8 * 1024];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(digester.finish()),
            Ok(count) => {
                digester.push(&buffer[..count]);
                if count == buffer.len() {
                    buffer.resize(64 * 1024, 0);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
