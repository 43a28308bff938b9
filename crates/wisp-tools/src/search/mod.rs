//! Finding files and searching their text as ripgrep does it: by its crates, so that ignore files, globs and binary files
//! mean what people expect of them.
//!
//! What `read_file` asks about is not read on the way: files that hold credentials are left out and named, wisp's own
//! files are left out, and no link is followed out of the folder that was cleared.

pub mod find_files;
pub mod search_text;
pub mod walk;

use std::path::{Path, PathBuf};

use wisp_output::amount::grouped;

use crate::call::Call;
use crate::tool::Returned;
use walk::{Scope, Seen};

/// The folder or file a call searches, cleared for reading, or the answer that says why not.
async fn scope(path: Option<&str>, call: &mut Call<'_>) -> Result<Scope, Returned> {
    let named = path.map(str::trim).filter(|path| !path.is_empty()).unwrap_or(".");
    let given = call.services.path(named);
    let root = std::fs::canonicalize(&given).map_err(|why| {
        let near = crate::files::nearby::beside(&given);
        Returned::error(format!(
            "path {named} cannot be searched: {why}{near}; give a folder that exists, or leave path out"
        ))
    })?;
    call.clear_read(&given).await?;
    let directory = real(&call.services.directory);
    let cancel = call.scene.cancel.clone();
    Ok(Scope {
        under: if root.starts_with(&directory) {
            directory
        } else {
            PathBuf::new()
        },
        own: real(&call.services.home),
        stop: Box::new(move || cancel.is_pressed()),
        ..Scope::of(root)
    })
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Runs a search where it does not hold up the conversation, which hears Ctrl-C meanwhile.
async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Returned> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|why| Returned::error(format!("the search failed: {why}; try a narrower path")))
}

/// What is said where nothing was found.
const IGNORED: &str = "; what .gitignore names was left out: run_command with find or grep sees it";

/// `1 file`, `2,000 files`.
fn files(count: u64) -> String {
    counted(count, "file")
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

/// What was left out, each on a line of its own with the newline before it.
fn left_out(seen: &Seen) -> String {
    let mut lines = String::new();
    let mut add = |line: &str| lines.extend(["\n[", line, "]"]);
    if !seen.credentials.is_empty() {
        let named: Vec<&str> = seen.credentials.iter().map(String::as_str).take(3).collect();
        let named = named.join(", ");
        let more = match seen.credentials.len() {
            0..=3 => String::new(),
            all => format!(" and {} more", all - 3),
        };
        add(&format!("not searched, may hold credentials: {named}{more}"));
    }
    if seen.unread > 0 {
        add(&format!("{} could not be read", counted(seen.unread, "path")));
    }
    if seen.late {
        add("stopped after 20 s: not everything was searched; give a narrower path");
    }
    if seen.stopped {
        add("stopped by the user: not everything was searched");
    }
    lines
}
