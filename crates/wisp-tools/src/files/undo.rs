//! What edits replaced, so that they can be undone: the bytes before each edit, kept in the conversation's store.
//!
//! A file is only put back while it is as the last edit left it: what another program, or you, wrote since is never
//! overwritten.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use similar::TextDiff;
use wisp_host::files;

use super::place::Place;
use super::seen::Seen;
use crate::call::Keep;

/// The largest file whose bytes are kept.
const MOST: u64 = 1024 * 1024;

/// What stood at a path before an edit.
#[derive(Debug, Clone)]
enum Before {
    /// Nothing: the edit made the file.
    Nothing,
    /// These bytes, in a private file.
    Kept(PathBuf),
    /// What could not be kept, and why.
    Lost(String),
}

/// One edit.
#[derive(Debug)]
struct Edit {
    turn: u64,
    path: PathBuf,
    before: Before,
    after: u64,
}

/// What an edit is about to replace.
#[derive(Debug)]
pub struct Replaced {
    path: PathBuf,
    before: Before,
}

/// The edits of a conversation, in order.
#[derive(Debug, Default)]
pub struct Edits(Vec<Edit>);

/// Which edits are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The last one.
    Last,
    /// All from this turn on.
    Since(u64),
}

/// A file as it was, to be put back.
#[derive(Debug)]
pub struct Back {
    /// The file.
    pub path: PathBuf,
    /// The bytes it had; none when there was no file.
    pub before: Option<Vec<u8>>,
    /// What putting it back would change, as a unified difference.
    pub diff: String,
}

impl Edits {
    /// Keeps what an edit is about to replace, under the id of its call.
    pub fn keep(&self, place: &Place, keep: &Keep, call: &str) -> Replaced {
        let before = match (&place.existing, keep) {
            (None, _) => Before::Nothing,
            (Some(_), _) if place.size() > MOST => Before::Lost("it had more than 1 MiB".to_owned()),
            (Some(_), Keep::Nowhere(why)) => Before::Lost(why.clone()),
            (Some(_), Keep::In(store)) => {
                let kept = place.read().map_err(|e| e.to_string()).and_then(|bytes| {
                    let folder = store.make_dir().map_err(|e| e.to_string())?;
                    let file = folder.join(format!("replaced-{call}"));
                    files::replace(&file, &bytes).map_err(|e| e.to_string())?;
                    Ok(file)
                });
                kept.map_or_else(Before::Lost, Before::Kept)
            }
        };
        Replaced {
            path: place.real.clone(),
            before,
        }
    }

    /// Notes that the edit was made.
    pub fn made(&mut self, replaced: Replaced, turn: u64) {
        let Replaced { path, before } = replaced;
        let after = mark(std::fs::read(&path).ok().as_deref());
        self.0.push(Edit {
            turn,
            path,
            before,
            after,
        });
    }

    /// The turn of the last edit.
    pub fn last_turn(&self) -> Option<u64> {
        self.0.last().map(|edit| edit.turn)
    }

    /// What would be put back. Errors say why it cannot be, and name the file; then nothing is.
    pub fn back(&self, which: Which, seen: &Seen) -> Result<Vec<Back>, String> {
        let meant = self.meant(which);
        let mut first: BTreeMap<&Path, &Edit> = BTreeMap::new();
        for edit in meant {
            first.entry(&edit.path).or_insert(edit);
        }
        let backs = first.into_values().map(|edit| {
            let path = &edit.path;
            let now = std::fs::read(path).ok();
            let last = self.0.iter().rev().find(|other| other.path == *path);
            if last.is_some_and(|last| last.after != mark(now.as_deref())) {
                let what = seen
                    .changed(path, path)
                    .unwrap_or_else(|| "it is not as the last edit left it".to_owned());
                return Err(format!(
                    "{} was changed since by another program, so nothing was put back: {what}",
                    path.display()
                ));
            }
            before(edit).map(|before| Back {
                diff: diff(path, now.as_deref(), before.as_deref()),
                path: path.clone(),
                before,
            })
        });
        backs.collect()
    }

    /// What the conversation changed, each file from before its first edit to now.
    pub fn changes(&self) -> Vec<String> {
        let mut first: BTreeMap<&Path, &Edit> = BTreeMap::new();
        for edit in &self.0 {
            first.entry(&edit.path).or_insert(edit);
        }
        let changed = first.into_values().filter_map(|edit| match before(edit) {
            Ok(before) => {
                let now = std::fs::read(&edit.path).ok();
                let same = before == now;
                (!same).then(|| diff(&edit.path, before.as_deref(), now.as_deref()))
            }
            Err(why) => Some(format!("{why}\n")),
        });
        changed.collect()
    }

    /// Forgets the edits of a file that were undone.
    pub fn undone(&mut self, which: Which, path: &Path) {
        match which {
            Which::Last => drop(self.0.pop()),
            Which::Since(turn) => self.0.retain(|edit| edit.turn < turn || edit.path != path),
        }
    }

    fn meant(&self, which: Which) -> Vec<&Edit> {
        match which {
            Which::Last => self.0.last().into_iter().collect(),
            Which::Since(turn) => self.0.iter().filter(|edit| edit.turn >= turn).collect(),
        }
    }
}

impl Back {
    /// Puts the file back, or removes it where there was none.
    pub fn put(&self) -> Result<(), String> {
        match &self.before {
            Some(bytes) => Place::find(&self.path)
                .and_then(|place| place.write(bytes))
                .map_err(|e| e.to_string()),
            None => std::fs::remove_file(&self.path)
                .map_err(|e| format!("cannot remove {}: {e}", self.path.display())),
        }
    }
}

fn before(edit: &Edit) -> Result<Option<Vec<u8>>, String> {
    let named = edit.path.display();
    match &edit.before {
        Before::Nothing => Ok(None),
        Before::Kept(file) => std::fs::read(file)
            .map(Some)
            .map_err(|e| format!("what {named} was before cannot be read: {e}")),
        Before::Lost(why) => Err(format!("what {named} was before was not kept: {why}")),
    }
}

/// A mark by which a changed file is noticed.
fn mark(bytes: Option<&[u8]>) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

fn diff(path: &Path, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let name = |bytes: Option<&[u8]>| match bytes {
        Some(_) => path.display().to_string(),
        None => "/dev/null".to_owned(),
    };
    TextDiff::from_lines(text(old).as_str(), text(new).as_str())
        .unified_diff()
        .context_radius(3)
        .header(&name(old), &name(new))
        .to_string()
}
