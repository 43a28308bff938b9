//! `go test -json`: each record's output is what the plain run prints, one reader a package.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::GoTest;
use crate::formats::go_build;
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
    import_path: String,
    #[serde(default)]
    output: String,
}

/// The packages seen, each with a reader of its own since their records interleave.
#[derive(Default)]
pub(super) struct Packages {
    readers: BTreeMap<String, Box<GoTest>>,
    /// Those of packages that are being built.
    builds: BTreeMap<String, Box<dyn Reader>>,
}

impl std::fmt::Debug for Packages {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Packages")
            .field("readers", &self.readers)
            .finish_non_exhaustive()
    }
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
        let known = self.builds.contains_key(&record.import_path);
        if record.action == "build-output" && (known || self.builds.len() < limits::SECTIONS) {
            let builds = self.builds.entry(record.import_path);
            let reader = builds.or_insert_with(go_build::FORMAT.reader);
            let text = record.output.trim_end();
            let number = line.number;
            let format = std::mem::replace(&mut report.format, go_build::FORMAT.name);
            reader.line(&Line { number, text }, report);
            report.format = format;
        }
        Step::Take
    }

    /// The stream has ended.
    pub(super) fn finish(&mut self, report: &mut Report) {
        for reader in self.builds.values_mut() {
            reader.finish(report);
        }
        for reader in self.readers.values_mut() {
            reader.finish(report);
        }
    }
}
