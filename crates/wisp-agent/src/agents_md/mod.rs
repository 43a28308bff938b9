//! `AGENTS.md`: what a project, and the user for every project, have written down for agents.
//!
//! Read are `AGENTS.md` in wisp's home, then those from the root of the repository down to the working directory; outside a
//! repository the working directory's alone. They are a part of the system message, bounded by a share of the window, the
//! nearest file first; what does not fit is named there and can be read with `read_file`. A file of a repository leads to
//! no other place: a link out of it is not followed, so that a repository cannot have a private file sent to a model.
//!
//! Whether a file of a repository may be followed is [`trust`]'s business.

pub mod trust;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

/// The name of the files.
pub const NAME: &str = "AGENTS.md";
/// The most bytes of one file that are read.
const MOST_BYTES: u64 = 256 * 1024;
/// The share of the window that all files may have together: one part in so many.
const SHARE: u64 = 8;
/// The most bytes of all files together, in whatever window.
const CEILING: usize = 32 * 1024;
/// Bytes a token has, as budgets reckon them.
const TOKEN_BYTES: u64 = 4;
/// The heading of the part in the system message.
const HEADING: &str = "# The user's instructions";

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentsFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its text; what is not UTF-8 as U+FFFD.
    pub text: String,
    /// The SHA-256 of its bytes, in hex.
    pub digest: String,
    /// Whether it is the user's own, in wisp's home, and not a repository's.
    pub own: bool,
}

impl AgentsFile {
    /// How many lines it has.
    pub fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// The commands it names: the lines of its code blocks for a shell, lines after `$`, and code with an argument.
    pub fn commands(&self) -> Vec<&str> {
        let mut found = Vec::new();
        let mut block: Option<bool> = None;
        for line in self.text.lines().map(str::trim) {
            if let Some(language) = line.strip_prefix("```").or_else(|| line.strip_prefix("~~~")) {
                block = match block {
                    Some(_) => None,
                    None => Some(matches!(
                        language.trim(),
                        "" | "sh" | "bash" | "shell" | "console" | "zsh" | "fish"
                    )),
                };
                continue;
            }
            match block {
                Some(shell) => {
                    found
                        .extend(Some(line.trim_start_matches("$ ")).filter(|line| shell && !line.is_empty()));
                }
                None => match line.strip_prefix("$ ") {
                    Some(command) => found.push(command),
                    None => found.extend(line.split('`').skip(1).step_by(2).filter(|code| is_command(code))),
                },
            }
        }
        found
    }
}

/// Whether code within a line is a command rather than a name: it has an argument, or is a program of the folder.
fn is_command(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let program = words.next().unwrap_or_default();
    let named = program
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_lowercase() || c == '.');
    let plain = program
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "._/-+".contains(c));
    named && plain && (words.next().is_some() || program.starts_with("./"))
}

/// The files of a conversation, the most general first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentsFiles {
    /// Those that are followed.
    pub files: Vec<AgentsFile>,
    /// Every place where one can be, and what stood there at the last look.
    looked: Vec<(PathBuf, Option<(u64, SystemTime)>)>,
    /// Why a file that is there is not followed, each in a line.
    pub left_out: Vec<String>,
}

impl AgentsFiles {
    /// Looks for the files of a working directory, with wisp's own home.
    pub fn of(directory: &Path, home: &Path) -> Self {
        let mut found = Self::default();
        found.take(home.join(NAME), None);
        let root = root_of(directory);
        let mut places: Vec<&Path> = directory.ancestors().collect();
        places.truncate(match root {
            Some(root) => places.iter().take_while(|place| **place != root).count() + 1,
            None => 1,
        });
        let within = root.unwrap_or(directory);
        for place in places.into_iter().rev().filter(|place| *place != home) {
            found.take(place.join(NAME), Some(within));
        }
        found
    }

    /// Takes a file when it is one; of a repository only when it lies within it.
    fn take(&mut self, path: PathBuf, within: Option<&Path>) {
        self.looked.push((path.clone(), stamp(&path)));
        if !path.is_file() {
            return;
        }
        if let Some(within) = within {
            let inside =
                fs::canonicalize(within).and_then(|root| Ok(fs::canonicalize(&path)?.starts_with(root)));
            if !inside.unwrap_or(false) {
                self.left_out.push(format!(
                    "{} is a link out of the project, and is not read",
                    path.display()
                ));
                return;
            }
        }
        match read(&path) {
            Ok(bytes) => self.files.push(AgentsFile {
                text: String::from_utf8_lossy(&bytes).into_owned(),
                digest: base16ct::lower::encode_string(&Sha256::digest(&bytes)),
                own: within.is_none(),
                path,
            }),
            Err(error) => self
                .left_out
                .push(format!("{} cannot be read: {error}", path.display())),
        }
    }

    /// Whether anything is another than at the last look: a file came, went or was written.
    pub fn is_changed(&self) -> bool {
        self.looked.iter().any(|(path, was)| stamp(path) != *was)
    }

    /// The files in words: `AGENTS.md (34 lines), ../AGENTS.md (5 lines)`; none when there are none.
    pub fn described(&self, directory: &Path) -> Option<String> {
        let rows: Vec<String> = self
            .files
            .iter()
            .map(|file| {
                let shown = file.path.strip_prefix(directory).unwrap_or(&file.path);
                let lines = wisp_output::amount::counted(file.lines() as u64, "line");
                format!("{} ({lines})", shown.display())
            })
            .collect();
        (!rows.is_empty()).then(|| rows.join(", "))
    }

    /// The part of the system message, for a window of so many tokens; none when there is nothing to say. The nearest file
    /// has room first; each is cut at the end of a line, and then says where the rest is.
    pub fn block(&self, window: u64) -> Option<String> {
        let share = usize::try_from(window * TOKEN_BYTES / SHARE).unwrap_or(CEILING);
        let mut room = share.min(CEILING);
        let mut parts = Vec::new();
        for file in self
            .files
            .iter()
            .rev()
            .filter(|file| !file.text.trim().is_empty())
        {
            let (part, used) = part(file, room);
            room -= used;
            parts.push(part);
        }
        parts.push(HEADING.to_owned());
        parts.reverse();
        (parts.len() > 1).then(|| wisp_template_tokens::inert(&parts.join("\n\n")).into_owned())
    }
}

/// A file's part in so many bytes, and how many of them its text takes.
fn part(file: &AgentsFile, room: usize) -> (String, usize) {
    let text = file.text.trim_end();
    let path = file.path.display();
    if text.len() <= room {
        return (format!("From {path}:\n{text}"), text.len());
    }
    let end = text[..text.floor_char_boundary(room)].rfind('\n').unwrap_or(0);
    let shown = &text[..end];
    let (lines, whole) = (shown.lines().count(), file.lines());
    let rest = format!(
        "[lines {}–{} of {whole} are left out here; read_file reads them]",
        lines + 1,
        whole
    );
    let gap = if shown.is_empty() { "" } else { "\n" };
    (format!("From {path}:\n{shown}{gap}{rest}"), shown.len())
}

/// A system message with another part of this kind, or with none.
pub fn with_block(instructions: &str, block: Option<&str>) -> String {
    let begins = format!("\n\n{HEADING}\n\nFrom ");
    let base = instructions
        .find(&begins)
        .map_or(instructions, |at| &instructions[..at]);
    match block {
        Some(block) => format!("{base}\n\n{block}"),
        None => base.to_owned(),
    }
}

/// The root of the repository that a directory is in.
fn root_of(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|place| place.join(".git").exists())
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test writes the files of a project")]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// A home, and a repository with a directory in it.
    fn project() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let place = tempfile::tempdir().expect("a directory");
        let (home, work) = (place.path().join("home"), place.path().join("repo/src/deep"));
        fs::create_dir_all(place.path().join("repo/.git")).expect("made");
        fs::create_dir_all(&work).expect("made");
        fs::create_dir_all(&home).expect("made");
        (place, home, work)
    }

    #[test]
    fn files_are_read_from_the_home_and_from_the_root_down() {
        let (place, home, work) = project();
        put(&place.path().join("AGENTS.md"), "outside");
        put(&home.join("AGENTS.md"), "mine");
        put(&place.path().join("repo/AGENTS.md"), "root");
        put(&work.join("AGENTS.md"), "deep");
        let found = AgentsFiles::of(&work, &home);
        let texts: Vec<(&str, bool)> = found.files.iter().map(|f| (f.text.as_str(), f.own)).collect();
        assert_eq!(texts, [("mine", true), ("root", false), ("deep", false)]);
        assert_eq!(
            found.described(&work).expect("there"),
            format!(
                "{} (1 line), {} (1 line), AGENTS.md (1 line)",
                home.join("AGENTS.md").display(),
                place.path().join("repo/AGENTS.md").display()
            )
        );
    }

    #[test]
    fn outside_a_repository_only_the_directory_itself_counts() {
        let place = tempfile::tempdir().expect("a directory");
        let work = place.path().join("a/b");
        put(&place.path().join("a/AGENTS.md"), "above");
        put(&work.join("AGENTS.md"), "here");
        let found = AgentsFiles::of(&work, &place.path().join("home"));
        let texts: Vec<&str> = found.files.iter().map(|f| f.text.as_str()).collect();
        assert_eq!(texts, ["here"]);
    }

    #[test]
    fn a_link_out_of_the_repository_is_not_followed() {
        let (place, home, work) = project();
        put(&place.path().join("secret"), "key");
        std::os::unix::fs::symlink(place.path().join("secret"), work.join("AGENTS.md")).expect("linked");
        put(&place.path().join("repo/CLAUDE.md"), "rules");
        std::os::unix::fs::symlink("CLAUDE.md", place.path().join("repo/AGENTS.md")).expect("linked");
        let found = AgentsFiles::of(&work, &home);
        let texts: Vec<&str> = found.files.iter().map(|f| f.text.as_str()).collect();
        assert_eq!(texts, ["rules"]);
        assert_eq!(found.left_out.len(), 1, "{:?}", found.left_out);
    }

    #[test]
    fn the_nearest_file_has_room_first_and_what_is_cut_says_where_it_is() {
        let (place, home, work) = project();
        put(&place.path().join("repo/AGENTS.md"), &"root rule\n".repeat(200));
        put(&work.join("AGENTS.md"), &"deep rule\n".repeat(50));
        let block = AgentsFiles::of(&work, &home).block(2_048).expect("a block");
        // 1,024 bytes: 499 of the nearest, and of the other what fits in 525 and ends a line.
        assert_eq!(block.matches("deep rule").count(), 50);
        assert_eq!(block.matches("root rule").count(), 52);
        assert!(
            block.contains("\n[lines 53–200 of 200 are left out here; read_file reads them]\n\nFrom "),
            "{block}"
        );
        assert!(block.starts_with("# The user's instructions\n\nFrom "), "{block}");
    }

    #[test]
    fn the_part_of_a_system_message_is_replaced() {
        let (_place, home, work) = project();
        put(&work.join("AGENTS.md"), "Use tabs. <|im_start|>");
        let files = AgentsFiles::of(&work, &home);
        let block = files.block(8_192).expect("a block");
        assert!(!block.contains("<|im_start|>"), "{block}");
        let with = with_block("You are wisp.", Some(&block));
        assert_eq!(with_block(&with, Some(&block)), with);
        assert_eq!(with_block(&with, None), "You are wisp.");
        assert!(!files.is_changed());
        put(&work.join("AGENTS.md"), "Use spaces.");
        assert!(files.is_changed());
    }

    #[test]
    fn commands_are_told_from_names() {
        let file = AgentsFile {
            path: PathBuf::from("AGENTS.md"),
            text: "Use `cargo test -p x` and `./run`, never `unwrap` or `Foo bar`.\n```sh\nmake all\n$ make test\n```\n```rust\nlet a = 1;\n```\n$ npm test\n".to_owned(),
            digest: String::new(),
            own: false,
        };
        assert_eq!(
            file.commands(),
            ["cargo test -p x", "./run", "make all", "make test", "npm test"]
        );
    }
}
