//! `wisp models pull`: a download with a bar, stopped by Ctrl-C, going on where it stopped when asked again.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use wisp_audit::Kind;
use wisp_config::Config;
use wisp_ollama::pull::can_resume;
use wisp_ollama::{Client, Error, PullProgress, PullStream};
use wisp_output::amount::{percent, size};
use wisp_term::{Role, safe, width};

use crate::commands::recorded::Recorded;
use crate::commands::runtime;
use crate::exit::INTERRUPTED;
use crate::screen::Screen;

/// How often a download that broke is taken up again by itself.
const RESUMES: u32 = 3;
/// How often the bar is drawn at the most.
const FRAME: Duration = Duration::from_millis(100);
/// Cells of the bar.
const BAR: usize = 24;

/// Fetches a model.
pub fn run(
    name: &str,
    config: &Config,
    recorded: &mut Recorded<'_>,
    screen: &mut Screen,
) -> anyhow::Result<ExitCode> {
    let client = wisp_agent::client(&screen.env, config)?;
    let runtime = runtime()?;
    let began = Instant::now();
    let mut bar = Bar::new(screen);
    let fetched = runtime.block_on(async {
        tokio::select! {
            fetched = fetch(&client, name, &mut bar) => Some(fetched),
            _ = tokio::signal::ctrl_c() => None,
        }
    });
    bar.erase();
    let (outcome, reason) = match &fetched {
        None => ("stopped", None),
        Some(Ok(())) => ("fetched", None),
        Some(Err(error)) => ("failed", Some(error.to_string())),
    };
    let details = json!({
        "model": name, "bytes": bar.bytes, "outcome": outcome, "reason": reason,
        "seconds": began.elapsed().as_secs_f64(),
    });
    recorded.event(Kind::ModelPull, details)?;
    let Some(fetched) = fetched else {
        let line = format!("stopped; wisp models pull {name} goes on where it stopped");
        screen.err.line(&safe::safe(&line))?;
        return Ok(ExitCode::from(INTERRUPTED));
    };
    fetched?;
    screen.out.line(&safe::safe(&format!("{name} is there")))?;
    Ok(ExitCode::SUCCESS)
}

/// Downloads to the end, taking a broken download up again a few times.
async fn fetch(client: &Client, name: &str, bar: &mut Bar<'_>) -> Result<(), Error> {
    let mut resumed = 0;
    loop {
        let ended = match client.pull(name).await {
            Ok(stream) => read(stream, bar).await,
            Err(error) => Err(error),
        };
        match ended {
            Err(error) if resumed < RESUMES && can_resume(&error) => {
                resumed += 1;
                bar.note(&format!("{error}; going on"));
            }
            ended => return ended,
        }
    }
}

async fn read(mut stream: PullStream, bar: &mut Bar<'_>) -> Result<(), Error> {
    while let Some(line) = stream.next().await {
        line?;
        bar.draw(stream.progress());
    }
    Ok(())
}

/// The bar on a terminal; elsewhere a line for each new status.
struct Bar<'a> {
    screen: &'a mut Screen,
    drawn: Option<Instant>,
    status: String,
    /// Bytes that are there, of the layers that came up.
    bytes: u64,
}

impl<'a> Bar<'a> {
    fn new(screen: &'a mut Screen) -> Self {
        Self {
            screen,
            drawn: None,
            status: String::new(),
            bytes: 0,
        }
    }

    fn draw(&mut self, progress: &PullProgress) {
        let new = progress.status != self.status;
        self.bytes = progress.completed();
        if new {
            self.status.clone_from(&progress.status);
        }
        if !self.screen.animated() {
            if new {
                let _ = self.screen.err.line(&safe::safe(&self.status));
            }
            return;
        }
        let due = self.drawn.is_none_or(|at| at.elapsed() >= FRAME);
        if !new && !due {
            return;
        }
        self.drawn = Some(Instant::now());
        let cells = self.screen.err.width().saturating_sub(1);
        let line = line(progress);
        let text = format!("\r\x1b[K{}", width::truncate(&line, cells));
        let _ = self.screen.err.text(&text);
        let _ = self.screen.err.flush();
    }

    fn note(&mut self, text: &str) {
        self.erase();
        let _ = self.screen.err.painted_line(Role::Warn, &safe::safe(text));
    }

    fn erase(&mut self) {
        if self.drawn.take().is_some() {
            let _ = self.screen.err.text("\r\x1b[K");
            let _ = self.screen.err.flush();
        }
    }
}

/// `pulling 4f2d [#####     ] 45 %, 1.2 GB of 2.6 GB`; the total grows as layers come up.
fn line(progress: &PullProgress) -> String {
    let status = safe::safe(&progress.status);
    let (have, all) = (progress.completed(), progress.total());
    if all == 0 {
        return status;
    }
    let share = |of: u64| have.saturating_mul(of) / all;
    let filled = usize::try_from(share(BAR as u64)).unwrap_or(BAR).min(BAR);
    let bar = "#".repeat(filled) + &" ".repeat(BAR - filled);
    format!(
        "{status} [{bar}] {} %, {} of {}",
        percent(have, all),
        size(have),
        size(all)
    )
}

#[cfg(test)]
mod tests {
    use super::line;
    use wisp_ollama::{PullLine, PullProgress};

    #[test]
    fn the_bar_says_how_much_of_what_is_known_is_there() {
        let mut progress = PullProgress::default();
        let mut add = |status: &str, completed: Option<u64>| {
            progress.add(&PullLine {
                status: status.into(),
                digest: completed.map(|_| "sha256:1".into()),
                total: completed.map(|_| 2000),
                completed,
            });
            line(&progress)
        };
        assert_eq!(add("pulling manifest", None), "pulling manifest");
        let half = add("pulling 1", Some(1000));
        assert!(half.contains("[############            ] 50 %"), "{half}");
        assert!(add("verifying sha256 digest", None).starts_with("verifying sha256 digest ["));
    }
}
