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

/// What was left out, a line each.
fn left_out(seen: &Seen) -> String {
    let mut lines = Vec::new();
    if !seen.credentials.is_empty() {
        let named: Vec<&str> = seen.credentials.iter().map(String::as_str).take(3).collect();
        let more = match seen.credentials.len() {
            0..=3 => String::new(),
            all => format!(" and {} more", all - 3),
        };
        lines.push(format!(
            "[not searched, may hold credentials: {}{more}]",
            named.join(", ")
        ));
    }
    if seen.unread > 0 {
        lines.push(format!(
            "[not readable: {}]",
            counted(seen.unread, "entry").replace("entrys", "entries")
        ));
    }
    if seen.late {
        lines.push("[stopped after 20 s: not everything was searched; give a narrower path]".to_owned());
    }
    if seen.stopped {
        lines.push("[stopped by the user: not everything was searched]".to_owned());
    }
    lines.iter().map(|line| format!("\n{line}")).collect()
}
