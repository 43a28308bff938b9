//! Keeping an output: composed into its file by streaming, then recorded.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use wisp_host::files;

use crate::batch::water_fill;
use crate::content::{FileContent, Section};
use crate::fit::{HeldBack, Keeping, Whole};
use crate::output::{Output, Piece};
use crate::streams::{self, Streams};

use super::ceiling::{Bounded, Written, pour};
use super::record::{About, Record};
use super::scan::{Scanned, scan};
use super::{Store, StoreError, is_safe_id};

/// A stored output: its record and its bytes.
#[derive(Debug, Clone)]
pub struct Kept {
    /// What it is.
    pub record: Record,
    /// Its bytes as stored.
    pub content: FileContent,
}

impl Kept {
    /// Its streams, in which lines are numbered.
    pub fn streams(&self) -> Streams<FileContent> {
        Streams::new(self.content.clone(), &self.record.sections)
    }

    /// What there is to fit again.
    pub fn whole(&self) -> Whole<'_> {
        Whole {
            content: &self.content,
            sections: &self.record.sections,
            lines: self.record.lines,
        }
    }

    /// Where a note says it is.
    pub fn keeping(&self) -> Keeping {
        keeping(&self.record)
    }
}

fn keeping(record: &Record) -> Keeping {
    Keeping::Kept {
        id: record.shown_id().to_owned(),
        lines: record.lines,
        cut: record.cut(),
    }
}

/// An output whose file is complete but has no record yet. Dropped, the file is removed.
#[derive(Debug)]
pub struct Draft {
    file: Uncommitted,
    record: Record,
    content: FileContent,
}

impl Draft {
    /// What there is to fit.
    pub fn whole(&self) -> Whole<'_> {
        Whole {
            content: &self.content,
            sections: &self.record.sections,
            lines: self.record.lines,
        }
    }

    /// Where a note will say it is.
    pub fn keeping(&self) -> Keeping {
        keeping(&self.record)
    }

    /// The record as it will be, but for what [`Draft::commit`] adds.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Writes the record, with which the output is kept: `held` is what the model is not shown.
    pub fn commit(mut self, about: About, held: &[HeldBack], created: Timestamp) -> Result<Kept, StoreError> {
        let record = &mut self.record;
        (record.tool, record.arguments, record.exit) = (about.tool, about.arguments, about.exit);
        record.held = held.to_vec();
        record.created = created;
        let json = serde_json::to_vec(record).expect("a record has only string keys");
        files::replace(&record_path(&self.file.0), &json)?;
        self.file.0 = PathBuf::new();
        Ok(Kept {
            record: self.record,
            content: self.content,
        })
    }
}

/// A file that is removed with this value, unless its path was taken out.
#[derive(Debug)]
struct Uncommitted(PathBuf);

impl Drop for Uncommitted {
    fn drop(&mut self) {
        // What cannot be removed stays without a record: debris, never served.
        let _ = fs::remove_file(&self.0);
    }
}

/// Where the record of the output at `path` is.
pub(super) fn record_path(path: &Path) -> PathBuf {
    path.with_extension("json")
}

impl Store {
    /// Writes `output` to a file under `id`, within the ceiling. Fails when the file cannot be written, leaving
    /// nothing behind; what memory holds of `output` can then still be shown.
    pub fn draft(&self, id: &str, output: &mut Output<'_>) -> Result<Draft, StoreError> {
        if !is_safe_id(id) {
            return Err(StoreError::BadName(id.to_owned()));
        }
        let path = self.make_dir()?.join(id);
        let file = files::private_new(&path)?;
        let record = Record {
            id: id.to_owned(),
            ceiling: self.ceiling(),
            ..Record::empty()
        };
        // Held from here on, so that an error removes the file.
        let uncommitted = Uncommitted(path);
        let composer = Composer {
            file: &file,
            path: &uncommitted.0,
            ceiling: self.ceiling(),
            at: 0,
        };
        let written = composer.compose(output)?;
        let content = FileContent::new(file, written.bytes);
        Ok(Draft {
            file: uncommitted,
            record: written.into_record(record),
            content,
        })
    }

    /// Records what of a kept output the model is not shown after all, once the batch it is in is final. Fails when the
    /// record cannot be written; the one before it then stays.
    pub fn record_held(&self, kept: &mut Kept, held: &[HeldBack]) -> Result<(), StoreError> {
        kept.record.held = held.to_vec();
        let json = serde_json::to_vec(&kept.record).expect("a record has only string keys");
        Ok(files::replace(
            &record_path(&self.dir().join(&kept.record.id)),
            &json,
        )?)
    }

    /// Makes the session's directory, private, under a private `output`, and returns it: where a command's runner
    /// may spill. Fails when it cannot be made, or is a link or another user's.
    pub fn make_dir(&self) -> Result<PathBuf, StoreError> {
        let dir = self.dir();
        for path in [self.shelf().root(), &dir] {
            files::private_dir(path)?;
            tighten(path)?;
        }
        Ok(dir)
    }
}

/// Takes away what others may do with a directory that stood there already.
fn tighten(path: &Path) -> Result<(), StoreError> {
    let meta = fs::symlink_metadata(path).map_err(|error| StoreError::io("read", path, error))?;
    let others = meta.permissions().mode() & 0o077;
    if others == 0 {
        return Ok(());
    }
    let private = fs::Permissions::from_mode(0o700);
    fs::set_permissions(path, private).map_err(|error| StoreError::io("make private", path, error))
}

/// Writes an output's parts one after the other.
struct Composer<'a> {
    file: &'a File,
    path: &'a Path,
    ceiling: u64,
    at: u64,
}

/// What a finished file holds.
struct Composed {
    bytes: u64,
    sections: Vec<Section>,
    scanned: Scanned,
    streams: Vec<Written>,
}

impl Composer<'_> {
    fn compose(mut self, output: &mut Output<'_>) -> Result<Composed, StoreError> {
        let sizes: Vec<u64> = output.streams.iter().map(crate::output::Stream::bytes).collect();
        let limits = water_fill(&sizes, self.ceiling.saturating_sub(output.frame_bytes()));
        let (mut streams, mut sections, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        self.text(&output.header)?;
        for (at, limit) in limits.into_iter().enumerate() {
            self.text(&output.frame(at))?;
            ends.push(self.at);
            let written = self.stream(output, at, limit)?;
            sections.push(self.section(output, at, written.end));
            ends.push(written.end);
            self.at = written.end;
            streams.push(written);
            if output.needs_newline(at) {
                self.text("\n")?;
            }
        }
        self.text(&output.footer)?;
        ends.push(self.at);
        self.finished(sections, streams, &ends)
    }

    fn text(&mut self, text: &str) -> Result<(), StoreError> {
        self.file
            .write_all_at(text.as_bytes(), self.at)
            .map_err(|error| self.disk(error))?;
        self.at += text.len() as u64;
        Ok(())
    }

    fn disk(&self, error: io::Error) -> StoreError {
        StoreError::io("write", self.path, error)
    }

    fn stream(&self, output: &mut Output<'_>, at: usize, limit: u64) -> Result<Written, StoreError> {
        let mut stream = Bounded::new(self.file, self.at, limit, self.ceiling);
        let taken = output.streams[at].pieces.take();
        for piece in taken.unwrap_or_else(|| output.streams[at].memory_pieces()) {
            match piece {
                Piece::Missing { bytes, newlines } => stream.missing(bytes, newlines),
                Piece::Bytes(source) => {
                    let disk = pour(source, &mut stream).map_err(StoreError::Source)?;
                    disk.map_err(|error| self.disk(error))?;
                }
            }
        }
        stream.finish(|| self.spare()).map_err(|error| self.disk(error))
    }

    /// A private file without a name, beside the output's.
    fn spare(&self) -> io::Result<File> {
        let path = self.path.with_extension("tail");
        let file = files::private_new(&path).map_err(|error| match error {
            files::FileError::Io { source, .. } => source,
            other => io::Error::other(other),
        })?;
        fs::remove_file(&path)?;
        Ok(file)
    }

    /// The section just written, its lines still to be counted.
    fn section(&self, output: &Output<'_>, at: usize, end: u64) -> Section {
        Section {
            name: output.streams[at].name.map(str::to_owned),
            from: self.at,
            bytes: end - self.at,
            line: 0,
            lines: 0,
            number: 0,
            binary: crate::clean::is_binary(&output.streams[at].head),
        }
    }

    fn finished(
        &self,
        mut sections: Vec<Section>,
        streams: Vec<Written>,
        ends: &[u64],
    ) -> Result<Composed, StoreError> {
        let synced = self.file.sync_data();
        synced.map_err(|error| self.disk(error))?;
        let scanned = scan(self.file, ends);
        let scanned = scanned.map_err(|error| StoreError::io("read", self.path, error))?;
        let mut newlines = 0;
        for (at, here) in scanned.found.iter().enumerate() {
            // Stretches alternate: a frame, a stream, a frame, …
            if at % 2 == 1 {
                let section = &mut sections[at / 2];
                (section.line, section.lines) = (newlines + 1, here.lines());
            }
            newlines += here.newlines;
        }
        streams::number(&mut sections);
        Ok(Composed {
            bytes: self.at,
            sections,
            scanned,
            streams,
        })
    }
}

impl Composed {
    fn into_record(self, record: Record) -> Record {
        let kept = streams::lines_of(&self.sections);
        // A last line without a newline is a line of the whole too.
        let open = self
            .scanned
            .found
            .iter()
            .skip(1)
            .step_by(2)
            .map(|here| here.lines() - here.newlines);
        let newlines: u64 = self.streams.iter().map(|stream| stream.total_newlines).sum();
        let total = newlines + open.sum::<u64>();
        let framing = self.bytes - self.sections.iter().map(|section| section.bytes).sum::<u64>();
        let dropped = self
            .streams
            .iter()
            .map(|stream| stream.dropped_bytes)
            .sum::<u64>();
        Record {
            bytes: self.bytes,
            lines: kept,
            sha256: self.scanned.sha256,
            cut: dropped > 0,
            total_bytes: framing + self.streams.iter().map(|stream| stream.total_bytes).sum::<u64>(),
            total_lines: total,
            dropped_bytes: dropped,
            dropped_lines: self.streams.iter().map(|stream| stream.dropped_newlines).sum(),
            sections: self.sections,
            marks: self.scanned.marks,
            ..record
        }
    }
}
