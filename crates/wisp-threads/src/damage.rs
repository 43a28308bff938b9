//! What is said of a saved conversation that was damaged, and where its files go before they are written again.

use wisp_context::{Loss, SavedFile};
use wisp_host::{FileError, files};

use crate::folder::{Folder, Pair};

/// The most copies of damaged files of one conversation.
const MOST_COPIES: u32 = 1000;

/// Keeps the files as they were found under other names, and says what is lost in one sentence.
pub fn set_aside(folder: &Folder, name: &str, pair: &Pair, losses: &[Loss]) -> Result<String, FileError> {
    let mut kept = Vec::new();
    for file in SavedFile::ALL {
        let about = losses.iter().any(|loss| loss.file == file);
        let bytes = pair.bytes(file);
        if about && !bytes.is_empty() {
            kept.push(copy(folder, name, file.ending(), bytes)?);
        }
    }
    let mut said = lost(name, losses);
    if !kept.is_empty() {
        said.push_str("; what was found is kept as ");
        said.push_str(&kept.join(" and "));
    }
    Ok(said)
}

/// Writes a copy beside the file, under the first number that is free.
fn copy(folder: &Folder, name: &str, ending: &str, bytes: &[u8]) -> Result<String, FileError> {
    let title = |number: u32| format!("{name}.{ending}.damaged-{number}");
    let free = (1..MOST_COPIES).find(|n| !folder.root().join(title(*n)).exists());
    let title = title(free.unwrap_or(MOST_COPIES));
    files::replace(&folder.root().join(&title), bytes)?;
    Ok(title)
}

/// `work.store, line 7: 1 record lost (…), and 2 more places`.
fn lost(name: &str, losses: &[Loss]) -> String {
    let Some(first) = losses.first() else {
        return String::new();
    };
    let records: usize = losses.iter().map(|loss| loss.records).sum();
    let records = match records {
        0 => "no record is lost".to_owned(),
        1 => "1 record is lost".to_owned(),
        n => format!("{n} records are lost"),
    };
    let line = match first.line {
        0 => String::new(),
        line => format!(", line {line}"),
    };
    let more = match losses.len() - 1 {
        0 => String::new(),
        1 => ", and 1 more place is damaged".to_owned(),
        n => format!(", and {n} more places are damaged"),
    };
    format!(
        "{name}.{}{line}: {} ({records}{more})",
        first.file.ending(),
        first.what
    )
}
