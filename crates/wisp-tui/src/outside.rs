//! The person's own programs: a pager for a stored output, an editor for what is being typed. Both get the terminal
//! from the loop, which takes it back afterwards.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use wisp_exec::{Ending, ExecError, run_interactive, run_pager};
use wisp_host::{Env, FileError, IdSource, RandomIds, files};
use wisp_term::pager::{self, PagerCommand};
use wisp_term::{SafeText, visible};

/// What went wrong with a program of the person's.
#[derive(Debug, thiserror::Error)]
pub enum OutsideError {
    /// No pager could be started.
    #[error("no pager could be started: {0}")]
    NoPager(String),
    /// The editor could not be started.
    #[error("{program} could not be started: {source}")]
    NoEditor {
        /// The editor as it was named.
        program: String,
        /// Why.
        source: ExecError,
    },
    /// A file could not be made or read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Shows a stored output in the first pager that starts, its controls made visible, its colours kept. Gives back how the
/// pager ended.
pub fn page(path: &Path, env: &Env) -> Result<Ending, OutsideError> {
    let mut tried = Vec::new();
    for command in pager::candidates(env) {
        let file = files::open_own(path)?;
        match run_pager(&argv(&command), SafeReader::new(file)) {
            Ok(ending) => return Ok(ending),
            Err(error) => tried.push(format!("{}: {error}", command.program)),
        }
    }
    Err(OutsideError::NoPager(tried.join("; ")))
}

/// Opens a text in `$VISUAL` or `$EDITOR` (else `vi`) and gives back what was saved.
pub fn edit(text: &str, env: &Env) -> Result<String, OutsideError> {
    let wanted = env.get("VISUAL").or_else(|| env.get("EDITOR")).unwrap_or("vi");
    let command = pager::parse(wanted).unwrap_or_else(|| PagerCommand {
        program: "vi".to_owned(),
        args: Vec::new(),
        env: Vec::new(),
    });
    let path = draft(text)?;
    let mut argv = argv(&command);
    argv.push(path.display().to_string());
    let ran = run_interactive(&argv);
    let edited = fs::read_to_string(&path).map_err(|e| FileError::io("read", &path, e));
    let removed = fs::remove_file(&path);
    ran.map_err(|source| OutsideError::NoEditor {
        program: visible(wanted),
        source,
    })?;
    removed.map_err(|e| FileError::io("remove", &path, e))?;
    Ok(edited?)
}

/// A private file with the text, for the editor.
fn draft(text: &str) -> Result<PathBuf, FileError> {
    let path = std::env::temp_dir().join(format!("wisp-{}.md", RandomIds.next()));
    let mut file = files::private_new(&path)?;
    file.write_all(text.as_bytes())
        .map_err(|e| FileError::io("write", &path, e))?;
    Ok(path)
}

/// The program and its arguments, its variables set by `env`.
fn argv(command: &PagerCommand) -> Vec<String> {
    let mut argv = Vec::new();
    if !command.env.is_empty() {
        argv.push("env".to_owned());
        argv.extend(command.env.iter().map(|(name, value)| format!("{name}={value}")));
    }
    argv.push(command.program.clone());
    argv.extend(command.args.iter().cloned());
    argv
}

/// A file read through [`SafeText`], a block at a time.
struct SafeReader {
    file: File,
    filter: SafeText,
    ready: Vec<u8>,
    given: usize,
    ended: bool,
}

impl SafeReader {
    fn new(file: File) -> Self {
        Self {
            file,
            filter: SafeText::new(true),
            ready: Vec::new(),
            given: 0,
            ended: false,
        }
    }

    /// Reads and filters the next block.
    fn fill(&mut self) -> io::Result<()> {
        let mut block = vec![0; 64 * 1024];
        let read = self.file.read(&mut block)?;
        let shown = if read == 0 {
            self.ended = true;
            self.filter.finish()
        } else {
            self.filter.push_bytes(&block[..read])
        };
        self.ready = shown.into_bytes();
        self.given = 0;
        Ok(())
    }
}

impl Read for SafeReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() && !self.ended {
            self.fill()?;
        }
        let rest = &self.ready[self.given..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn a_pager_is_fed_nothing_that_commands_the_terminal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let noise = "a\x1b[31mred\x1b[0m\x1b]0;title\x07\n".repeat(10_000);
        fs::write(&path, &noise).unwrap();
        let mut read = String::new();
        SafeReader::new(File::open(&path).unwrap())
            .read_to_string(&mut read)
            .unwrap();
        assert_eq!(read, "a\x1b[31mred\x1b[0m\n".repeat(10_000));
    }

    #[test]
    fn variables_before_a_program_are_set_by_env() {
        let command = pager::parse("LESS=-R less -F").unwrap();
        assert_eq!(argv(&command), ["env", "LESS=-R", "less", "-F"]);
    }

    #[test]
    fn an_editor_gets_the_text_and_its_save_comes_back() {
        let editor = [(
            "EDITOR".to_owned(),
            "sh -c 'tr a-z A-Z < \"$0\" > \"$0.new\" && mv \"$0.new\" \"$0\"'".to_owned(),
        )];
        assert_eq!(edit("draft\n", &editor.into_iter().collect()).unwrap(), "DRAFT\n");
    }
}
