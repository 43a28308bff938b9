//! What the user attaches to a message: a file's first page as `read_file` gives it, or a folder's names. Nobody is asked, for
//! the user named it; nothing is run, so no call is recorded: the text is in the prompt, which is.

use wisp_output::amount::grouped;

use super::Registry;
use crate::files::read::{CLOSING, OPENING, Page, Range, page};
use crate::search::walk::{self, Scope};

/// The most names that are collected of a folder.
const NAMES: usize = 5_000;

/// What is attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// What the model is sent, with the way to the rest.
    pub text: String,
    /// How much that is: `12 lines`, `lines 1–80 of 120`, `3 entries`.
    pub about: String,
}

impl Registry {
    /// Attaches the file or folder at `named`, in at most `budget` bytes beside the line that leads to the rest. Errors say
    /// why it cannot be read.
    pub fn attach(&mut self, named: &str, budget: usize) -> Result<Attachment, String> {
        let path = self.services.path(named);
        if path.is_dir() {
            return Ok(self.names_of(named, budget));
        }
        // Noted first, as a read does it: an edit notices what another program writes meanwhile.
        self.seen.note(&path);
        let range = Range {
            offset: 1,
            limit: usize::MAX,
            column: 1,
        };
        let room = budget.saturating_sub(OPENING + CLOSING).max(budget / 8);
        let page = page(&path, range, room).map_err(|why| why.to_string())?;
        let page = page.opened(&path, named, range);
        let about = about(&page);
        let way = format!("read_file {named} with");
        let closing = page.closing.replacen("call again with", &way, 1);
        Ok(Attachment {
            text: format!("{}{}{closing}", page.opening, page.lines),
            about,
        })
    }

    fn names_of(&self, named: &str, budget: usize) -> Attachment {
        let root = self.services.path(named);
        let mut scope = Scope::of(std::fs::canonicalize(&root).unwrap_or(root));
        scope.own.clone_from(&self.services.home);
        let (mut all, mut here) = (Vec::new(), Vec::new());
        scope.walk(|entry, _| {
            let slash = if walk::is_folder(entry) { "/" } else { "" };
            let name = format!("{}{slash}", scope.told(entry.path()));
            if entry.depth() == 1 {
                here.push(name.clone());
            }
            all.push(name);
            all.len() < NAMES
        });
        let fits = |names: &[String]| names.iter().map(|name| name.len() + 1).sum::<usize>() <= budget;
        if fits(&all) && all.len() < NAMES {
            return Attachment {
                about: entries(all.len()),
                text: all.join("\n"),
            };
        }
        let mut left = budget;
        let shown: Vec<&str> = here
            .iter()
            .map(String::as_str)
            .take_while(|name| {
                let takes = name.len() < left;
                left = left.saturating_sub(name.len() + 1);
                takes
            })
            .collect();
        let finds = self.names().iter().any(|name| name == "find_files");
        let way = if finds {
            format!("find_files with pattern ** and path {named}")
        } else {
            format!("run_command with find {named}")
        };
        Attachment {
            about: format!("{} of {}", grouped(shown.len() as u64), entries(all.len())),
            text: format!("{}\n[more below: {way} lists all]", shown.join("\n")),
        }
    }
}

/// How much of a file a page has.
fn about(page: &Page) -> String {
    if page.rest.is_some() {
        let which = page.opening.trim_start_matches('[');
        let end = which.find([';', ']']).unwrap_or(which.len());
        return if end == 0 {
            "its beginning".to_owned()
        } else {
            which[..end].to_owned()
        };
    }
    let lines = page.lines.lines().count();
    let plural = if lines == 1 { "" } else { "s" };
    format!("{} line{plural}", grouped(lines as u64))
}

fn entries(count: usize) -> String {
    let more = if count >= NAMES { "more than " } else { "" };
    let plural = if count == 1 { "entry" } else { "entries" };
    format!("{more}{} {plural}", grouped(count as u64))
}
