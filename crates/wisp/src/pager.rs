//! An output shown whole: through the person's pager on a terminal, straight into a pipe or a file.

use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::Context;
use wisp_host::Env;
use wisp_term::{PagerCommand, Printer, SafeText, pager, tty};

/// What is shown: a stored file, or text when there is none.
pub struct Shown {
    /// The stored file.
    pub path: Option<PathBuf>,
    /// The text that stands in for it.
    pub text: String,
}

impl Shown {
    fn open(&self) -> anyhow::Result<Box<dyn Read>> {
        match &self.path {
            None => Ok(Box::new(io::Cursor::new(self.text.clone().into_bytes()))),
            Some(path) => {
                let file = wisp_host::files::open_own(path)?;
                Ok(Box::new(io::BufReader::with_capacity(64 * 1024, file)))
            }
        }
    }
}

/// Shows it whole. A reader who leaves early is no error.
pub fn show(shown: &Shown, env: &Env, out: &mut Printer) -> anyhow::Result<()> {
    if out.surface().terminal {
        return page(shown, env, out);
    }
    copy(&mut shown.open()?, out)
}

/// Prints bytes as they are, until they end or the reader has left.
pub fn copy(from: &mut dyn Read, out: &mut Printer) -> anyhow::Result<()> {
    let mut block = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut block).context("cannot read the stored output")?;
        if read == 0 || out.is_closed() {
            break;
        }
        out.bytes(&block[..read])?;
    }
    out.flush()?;
    Ok(())
}

/// Through the first pager that starts; without any, as safe text.
fn page(shown: &Shown, env: &Env, out: &mut Printer) -> anyhow::Result<()> {
    if let Some(text) = short(shown)? {
        out.text(&text)?;
        out.flush()?;
        return Ok(());
    }
    let mut failed = None;
    for command in pager::candidates(env) {
        let feed = Safe::new(shown.open()?);
        out.bytes(pager::BEFORE.as_bytes())?;
        out.flush()?;
        match wisp_exec::run_pager(&argv(&command), feed) {
            Ok(ending) => {
                if ending.is_by_signal() {
                    out.bytes(pager::LEFT_BEHIND.as_bytes())?;
                    out.flush()?;
                }
                if let Some(why) = failed {
                    anyhow::bail!("{why}; another pager was used");
                }
                return Ok(());
            }
            Err(e) => failed = failed.or(Some(e.to_string())),
        }
    }
    let mut text = String::new();
    Safe::new(shown.open()?).read_to_string(&mut text)?;
    out.text(&text)?;
    out.flush()?;
    match failed.filter(|_| env.get("PAGER").is_some_and(|named| !named.trim().is_empty())) {
        Some(why) => anyhow::bail!("{why}; shown without a pager"),
        None => Ok(()),
    }
}

/// All of it, safe, when it fits the window beside the prompt.
fn short(shown: &Shown) -> anyhow::Result<Option<String>> {
    let Some((columns, rows)) = tty::window_size() else {
        return Ok(None);
    };
    let mut head = Vec::new();
    let most = 4 * u64::from(columns) * u64::from(rows);
    Safe::new(shown.open()?.take(most + 1)).read_to_end(&mut head)?;
    let text = String::from_utf8_lossy(&head).into_owned();
    let whole = head.len() as u64 <= most;
    let fits = whole && pager::fits(&text, (columns.into(), rows.into()));
    Ok(fits.then(|| {
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        text + end
    }))
}

/// The words to start a pager with: settings in front go through `env`.
fn argv(command: &PagerCommand) -> Vec<String> {
    let mut words = Vec::new();
    if !command.env.is_empty() {
        words.push("env".to_owned());
        words.extend(command.env.iter().map(|(name, value)| format!("{name}={value}")));
    }
    words.push(command.program.clone());
    words.extend(command.args.iter().cloned());
    words
}

/// Makes what is read safe for a terminal, colour kept, a block at a time.
struct Safe<R> {
    from: R,
    filter: SafeText,
    ready: Vec<u8>,
    at: usize,
    ended: bool,
}

impl<R: Read> Safe<R> {
    fn new(from: R) -> Self {
        Self {
            from,
            filter: SafeText::new(true),
            ready: Vec::new(),
            at: 0,
            ended: false,
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        let mut block = vec![0; 64 * 1024];
        while self.at == self.ready.len() && !self.ended {
            let read = self.from.read(&mut block)?;
            self.ended = read == 0;
            let text = if self.ended {
                self.filter.finish()
            } else {
                self.filter.push_bytes(&block[..read])
            };
            (self.ready, self.at) = (text.into_bytes(), 0);
        }
        Ok(())
    }
}

impl<R: Read> Read for Safe<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.refill()?;
        let most = into.len().min(self.ready.len() - self.at);
        into[..most].copy_from_slice(&self.ready[self.at..self.at + most]);
        self.at += most;
        Ok(most)
    }
}
