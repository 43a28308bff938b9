//! The offer to fetch a model where none is installed, and the download.

use std::time::Duration;

use wisp_ollama::pull::can_resume;
use wisp_ollama::{Client, Error, PullProgress};
use wisp_output::amount::{percent, size};
use wisp_tools::Person as _;

use crate::engine::desk::Asker;
use crate::events::Events;
use crate::open::OpenError;
use crate::protocol::{Choice, ChoiceOption, NoteLevel};

/// Models that call tools well, with the size of the download and whom they suit.
const OFFERED: [(&str, &str); 3] = [
    ("qwen3:8b", "5.2 GB; needs about 8 GB of memory"),
    ("qwen3:4b", "2.6 GB; needs about 5 GB of memory"),
    ("qwen3:1.7b", "1.4 GB; small tasks only"),
];
/// How often a download that broke is taken up again by itself.
const RESUMES: u32 = 3;
/// How often progress is told at the most.
const EVERY: Duration = Duration::from_millis(250);

/// Offers to fetch a model and fetches the one that is chosen. Errors: nothing was chosen, or the server could not
/// fetch it.
pub async fn offered(
    client: &Client,
    events: &Events,
    person: &Asker,
    missing: OpenError,
) -> Result<String, OpenError> {
    let option = |(name, detail): &(&str, &str)| ChoiceOption {
        value: (*name).to_owned(),
        label: (*name).to_owned(),
        detail: (*detail).to_owned(),
        ..ChoiceOption::default()
    };
    let choice = Choice {
        title: format!("{missing}. Fetch one now?"),
        options: OFFERED.iter().map(option).collect(),
        accepts_text: true,
        ..Choice::default()
    };
    let Some(name) = person.choose(choice).await else {
        return Err(missing);
    };
    let name = name.trim().to_owned();
    fetch(client, &name, events, person).await?;
    events.note(NoteLevel::Info, format!("{name} is installed"));
    Ok(name)
}

/// Downloads to the end, taking a broken download up again a few times.
async fn fetch(client: &Client, name: &str, events: &Events, person: &Asker) -> Result<(), Error> {
    let mut resumed = 0;
    loop {
        match once(client, name, person).await {
            Err(error) if resumed < RESUMES && can_resume(&error) => {
                resumed += 1;
                events.note(NoteLevel::Warning, format!("{error}; resuming the download"));
            }
            ended => return ended,
        }
    }
}

async fn once(client: &Client, name: &str, person: &Asker) -> Result<(), Error> {
    let mut stream = client.pull(name).await?;
    let mut told = None;
    while let Some(line) = stream.next().await {
        line?;
        let now = std::time::Instant::now();
        if told.is_none_or(|at| now.duration_since(at) >= EVERY) {
            told = Some(now);
            person.doing(&said(name, stream.progress()));
        }
    }
    Ok(())
}

/// `fetching qwen3:8b: 45 % of 5.2 GiB`.
fn said(name: &str, progress: &PullProgress) -> String {
    let (have, all) = (progress.completed(), progress.total());
    if all == 0 {
        return format!("fetching {name}");
    }
    format!("fetching {name}: {} % of {}", percent(have, all), size(all))
}
