//! Commands that go on in the background of a conversation: what each prints grows in a file that can be read meanwhile, and
//! all of them end with the conversation at the latest.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::Receiver;
use tokio::task::JoinHandle;
use wisp_exec::{Cancel, CommandSpec, ExecError, LiveChunk, Outcome};
use wisp_host::{FileError, files};

/// Jobs that may run at a time.
const MOST: usize = 16;
/// How long a job is waited for before it counts as running: what cannot start says so in this time.
const SETTLES: Duration = Duration::from_secs(1);
/// Bytes of its output that a job's file has; what it prints later is only in the output that is kept at its end.
const LOG_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the end of its output that are shown of a running job.
const SHOWN_BYTES: u64 = 64 * 1024;
/// Bytes of the end of its output that are told when a job begins.
const TOLD_BYTES: usize = 1024;
/// Chunks of output that may wait to be written.
const CHUNKS: usize = 1024;

/// How a job ended.
pub(crate) type Ended = Result<Outcome, ExecError>;

/// The jobs of a conversation. Dropping it ends them all.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    all: Vec<Job>,
    made: u32,
}

#[derive(Debug)]
struct Job {
    number: u32,
    id: String,
    line: String,
    began: Instant,
    cancel: Cancel,
    log: PathBuf,
    task: JoinHandle<Ended>,
}

/// A job, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Its number, from 1.
    pub number: u32,
    /// The call that began it, under which its output is kept.
    pub id: String,
    /// The command.
    pub line: String,
    /// How long it has run.
    pub runs: Duration,
    /// The file that what it prints is written to.
    pub log: PathBuf,
}

/// What came of a start.
pub(crate) enum Began {
    /// It was over at once.
    Over(Box<Ended>),
    /// It runs.
    Running(JobRow),
}

/// Why a command is not begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobError {
    /// Enough of them run.
    #[error("{MOST} commands run in the background already; end one first (/kill)")]
    TooMany,
    /// Its file cannot be made.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Jobs {
    /// Begins a command and gives it a moment: one that fails at once is no job. `home` is wisp's.
    pub(crate) async fn start(
        &mut self,
        (id, line): (&str, &str),
        mut spec: CommandSpec,
        home: &Path,
    ) -> Result<Began, JobError> {
        if self.all.len() >= MOST {
            return Err(JobError::TooMany);
        }
        let folder = home.join("jobs");
        files::private_dir(&folder)?;
        let log = folder.join(format!("{id}.log"));
        let file = files::private_new(&log)?;
        let cancel = Cancel::new();
        let (to, from) = wisp_exec::live(CHUNKS);
        spec.cancel = cancel.clone();
        spec.live = Some(to);
        spec.timeout = None;
        let mut task = tokio::spawn(run(spec, from, file));
        if let Ok(over) = tokio::time::timeout(SETTLES, &mut task).await {
            let _ = files::remove(&log);
            return Ok(Began::Over(Box::new(joined(over))));
        }
        self.made += 1;
        let job = Job {
            number: self.made,
            id: id.to_owned(),
            line: line.to_owned(),
            began: Instant::now(),
            cancel,
            log,
            task,
        };
        let row = job.row();
        self.all.push(job);
        Ok(Began::Running(row))
    }

    /// Those that run, and those whose end was not told yet.
    pub(crate) fn rows(&self) -> Vec<JobRow> {
        self.all.iter().map(Job::row).collect()
    }

    /// Asks a job to end; asked again, it is killed. False when there is none of this number.
    pub(crate) fn kill(&self, number: u32) -> bool {
        let job = self.all.iter().find(|job| job.number == number);
        job.inspect(|job| job.cancel.press()).is_some()
    }

    /// Takes the jobs that have ended.
    pub(crate) async fn ended(&mut self) -> Vec<(JobRow, Ended)> {
        let mut ended = Vec::new();
        while let Some(at) = self.all.iter().position(|job| job.task.is_finished()) {
            let mut job = self.all.remove(at);
            let how = joined((&mut job.task).await);
            ended.push((job.row(), how));
        }
        ended
    }
}

impl Job {
    fn row(&self) -> JobRow {
        JobRow {
            number: self.number,
            id: self.id.clone(),
            line: self.line.clone(),
            runs: self.began.elapsed(),
            log: self.log.clone(),
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // Everything the command started is killed with the future that runs it.
        self.task.abort();
        let _ = files::remove(&self.log);
    }
}

impl JobRow {
    /// What a model is told when it runs.
    pub(crate) fn told_model(&self) -> String {
        let printed = self.printed();
        let so_far = match tail(&printed) {
            "" => "It has printed nothing so far.".to_owned(),
            text => format!("It has printed so far:\n{text}"),
        };
        format!(
            "running in the background as job {}; what it prints is in {} (read_file); it ends with the conversation, or when \
             the user types /kill {}\n{so_far}",
            self.number,
            self.log.display(),
            self.number
        )
    }

    /// What the user is told when it runs.
    pub(crate) fn told_user(&self) -> String {
        let so_far = match tail(&self.printed()) {
            "" => String::new(),
            text => format!("\n{text}"),
        };
        format!(
            "running in the background as job {}\n/show {} shows what it prints, /kill {} ends it, /ps lists all{so_far}",
            self.number,
            wisp_host::ids::shown(&self.id),
            self.number
        )
    }

    /// The end of what it has printed so far, from the beginning of a line where there is one.
    pub fn printed(&self) -> String {
        let mut bytes = Vec::new();
        if let Ok(mut file) = files::open_own(&self.log) {
            let size = file.metadata().map_or(0, |about| about.len());
            let from = size.saturating_sub(SHOWN_BYTES);
            let read = file.seek(SeekFrom::Start(from));
            let _ = read.and_then(|_| file.take(SHOWN_BYTES).read_to_end(&mut bytes));
            if from > 0 {
                let line = memchr::memchr(b'\n', &bytes).map_or(0, |at| at + 1);
                bytes.drain(..line);
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The end of a text, from the beginning of a line where there is one.
fn tail(text: &str) -> &str {
    let text = text.trim_end();
    let from = text.len().saturating_sub(TOLD_BYTES);
    let from = (from..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    let cut = &text[from..];
    match cut.find('\n') {
        Some(at) if from > 0 => &cut[at + 1..],
        _ => cut,
    }
}

fn joined(over: Result<Ended, tokio::task::JoinError>) -> Ended {
    over.unwrap_or_else(|lost| {
        Err(ExecError::Lost {
            program: "sh".into(),
            source: std::io::Error::other(lost),
        })
    })
}

async fn run(spec: CommandSpec, from: Receiver<LiveChunk>, file: File) -> Ended {
    let (ended, file) = tokio::join!(wisp_exec::run(spec), write(from, file));
    if let (Ok(outcome), Some(mut file)) = (&ended, file) {
        // For whoever reads the file; the output that is kept has it in its header.
        let _ = writeln!(file, "[ended: {}]", outcome.ending);
    }
    ended
}

/// Writes what is printed as it comes. A file that cannot be written to is left as it is: the output is kept at the end.
async fn write(mut from: Receiver<LiveChunk>, mut file: File) -> Option<File> {
    let mut room = LOG_BYTES;
    let mut open = true;
    while let Some(chunk) = from.recv().await {
        if chunk.text.len() > room {
            open = false;
        }
        if open {
            room -= chunk.text.len();
            open = file.write_all(chunk.text.as_bytes()).is_ok();
        }
    }
    open.then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn begun(jobs: &mut Jobs, line: &str, home: &Path) -> Began {
        let id = format!("{:016x}", jobs.made);
        jobs.start((&id, line), CommandSpec::shell(line), home)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn a_job_is_read_while_it_runs_and_ended_when_it_is_asked_to() {
        let home = tempfile::tempdir().unwrap();
        let mut jobs = Jobs::default();
        let Began::Running(row) = begun(&mut jobs, "echo up; exec sleep 60", home.path()).await else {
            panic!("it sleeps");
        };
        assert_eq!((row.number, row.printed().as_str()), (1, "up\n"));
        assert!(jobs.ended().await.is_empty());
        assert!(!jobs.kill(2) && jobs.kill(1));
        let (row, how) = loop {
            if let Some(ended) = jobs.ended().await.pop() {
                break ended;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        let outcome = how.unwrap();
        assert_eq!(outcome.ending, wisp_exec::Ending::Cancelled);
        assert_eq!(outcome.stdout.head(), b"up\n");
        assert!(!row.log.exists() && jobs.rows().is_empty());
    }

    #[tokio::test]
    async fn what_fails_at_once_is_no_job() {
        let home = tempfile::tempdir().unwrap();
        let mut jobs = Jobs::default();
        let Began::Over(how) = begun(&mut jobs, "echo no >&2; exit 3", home.path()).await else {
            panic!("it is over");
        };
        assert_eq!(how.unwrap().ending, wisp_exec::Ending::Exited { code: 3 });
        assert!(jobs.rows().is_empty());
    }

    #[tokio::test]
    async fn dropping_the_jobs_ends_them() {
        let home = tempfile::tempdir().unwrap();
        let mark = home.path().join("alive");
        let line = format!("while sleep 0.05; do touch {}; done", mark.display());
        let mut jobs = Jobs::default();
        assert!(matches!(
            begun(&mut jobs, &line, home.path()).await,
            Began::Running(_)
        ));
        drop(jobs);
        // The task is dropped by the runtime, and its processes with it.
        tokio::time::sleep(Duration::from_millis(300)).await;
        std::fs::remove_file(&mark).unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!mark.exists());
    }
}
