//! `go test -json`: each record's output is what the plain run prints, one reader a package.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::GoTest;
use crate::limits;
use crate::line::Line;
use crate::reader::{Reader, Step};
use crate::report::Report;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Record {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    output: String,
}

/// The packages seen, each with a reader of its own since their records interleave.
#[derive(Debug, Default)]
pub(super) struct Packages {
    readers: BTreeMap<String, Box<GoTest>>,
}

impl Packages {
    /// A line that may be a record.
    pub(super) fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let Ok(record) = serde_json::from_str::<Record>(line.text) else {
            return Step::Pass;
        };
        if record.action == "output"
            && (self.readers.len() < limits::SECTIONS || self.readers.contains_key(&record.package))
        {
            let reader = self.readers.entry(record.package).or_default();
            reader.line(
                &Line {
                    number: line.number,
                    text: record.output.trim_end(),
                },
                report,
            );
        }
        Step::Take
    }

    /// The stream has ended.
    pub(super) fn finish(&mut self, report: &mut Report) {
        for reader in self.readers.values_mut() {
            reader.finish(report);
        }
    }
}
