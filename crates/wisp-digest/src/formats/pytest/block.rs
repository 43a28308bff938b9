//! The block of one failed test: its lines to the last, whatever the traceback's style.

use crate::digest::{Kind, Location};
use crate::formats::python;
use crate::joined::joined;
use crate::line::{Line, place_at_start};
use crate::report::Finding;

/// Which part of a block is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// pytest's own form of the traceback.
    Traceback,
    /// A traceback in the interpreter's style.
    Native,
    /// What the test printed.
    Captured,
}

/// A failure whose block is being read.
#[derive(Debug)]
pub(super) struct Open {
    pub error: bool,
    pub name: String,
    pub finding: Finding,
    root: Option<(u64, String)>,
    surfaced: Option<(u64, String)>,
    /// Whether the last line was an `E` line, which more of them continue.
    in_root: bool,
    part: Part,
    /// The last place before the root, one of the person's own files if there is one.
    place: Option<Location>,
    /// That place when the root came.
    before: Option<Location>,
}

impl Open {
    /// The block under this header.
    pub fn new(header: &str, line: &Line<'_>) -> Self {
        let error = header.starts_with("ERROR ");
        let name = ["ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "]
            .iter()
            .find_map(|mark| header.strip_prefix(mark));
        let name = name.unwrap_or(header).to_owned();
        let mut finding = Finding::new(Kind::Test, header, line).of(&name);
        if header.starts_with("ERROR collecting ") {
            finding.kind = Kind::Configure;
        }
        Self {
            error,
            name,
            finding,
            root: None,
            surfaced: None,
            in_root: false,
            part: Part::Traceback,
            place: None,
            before: None,
        }
    }

    /// Takes a line of the block.
    pub fn line(&mut self, line: &Line<'_>) {
        if line.text.starts_with("-----") {
            self.part = Part::Captured;
        }
        if self.part == Part::Captured {
            return;
        }
        if line.text == "E" && self.in_root {
            return;
        }
        if let Some(text) = line.text.strip_prefix("E ") {
            self.error_line(text.trim(), line);
            return;
        }
        if self.traceback(line) {
            return;
        }
        self.in_root = false;
        if let Some((location, rest)) = place_at_start(line.text).filter(|(_, rest)| rest.starts_with(':')) {
            // A frame's place stands below its source, but before it in the short style.
            let frame = rest.starts_with(": in ");
            self.passes(location);
            if self.root.is_some() && self.finding.location.is_none() && !frame {
                self.finding.location = self.place.clone();
            }
        } else if self.finding.location.is_none() && line.text.starts_with('>') && self.root.is_none() {
            self.finding.quote(line);
        }
    }

    /// A line of a traceback in the interpreter's own style.
    fn traceback(&mut self, line: &Line<'_>) -> bool {
        if line.text.starts_with("Traceback (most recent call last):") {
            self.part = Part::Native;
        } else if self.part != Part::Native {
            return false;
        } else if let Some(frame) = python::frame(line.body()) {
            self.passes(frame);
        } else if line.indent() == 0 && !line.is_blank() && !python::is_link(line.text) {
            self.error_line(line.text, line);
        }
        if line.indent() > 0 || line.is_blank() {
            self.in_root = false;
        }
        true
    }

    /// The traceback passes this place. Until the root is known, an own one stays before those of libraries.
    fn passes(&mut self, place: Location) {
        let own = python::is_own(&place.path)
            || !self
                .place
                .as_ref()
                .is_some_and(|known| python::is_own(&known.path));
        if own && (self.root.is_none() || self.finding.location.is_none()) {
            self.place = Some(place);
        }
    }

    fn error_line(&mut self, text: &str, line: &Line<'_>) {
        if self.root.is_none() {
            self.root = Some((line.number, text.to_owned()));
            self.before = self.place.clone();
            self.finding.lines = line.span();
            self.finding.quote(line);
        } else if self.in_root {
            self.finding.quote(line);
        } else {
            self.surfaced = Some((line.number, text.to_owned()));
            self.finding.quote(line);
        }
        self.in_root = true;
    }

    /// The failure.
    pub fn close(self) -> Finding {
        let mut finding = self.finding;
        if let Some((_, root)) = &self.root {
            let surfaced = self.surfaced.map_or(String::new(), |(at, text)| {
                joined![" (surfaced as ", text, ", L", at, ")"]
            });
            let header = std::mem::take(&mut finding.title);
            finding.retitle(joined![header, ": ", root, surfaced]);
        }
        finding.location = finding.location.or(self.before).or(self.place);
        // Tests that share a broken fixture or helper fail at its place with its words.
        finding.cause = finding
            .location
            .as_ref()
            .zip(self.root)
            .map(|(place, (_, root))| joined![place, " ", root]);
        finding
    }
}
