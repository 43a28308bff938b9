//! `wisp models check`: a few short questions to a model. What came of them, and the way in which its calls work best, is
//! kept, shown by `wisp models` and gone by in every conversation.

use std::process::ExitCode;

use serde_json::{Value, json};
use wisp_agent::model::known::{Known, TOOL_CALLING, Verified};
use wisp_agent::model::trial::{self, QUESTIONS, Question, Trial};
use wisp_agent::model::{Model, Preferences};
use wisp_audit::Kind;
use wisp_config::Config;
use wisp_host::{Clock, SystemClock};
use wisp_ollama::Client;
use wisp_output::amount::size;
use wisp_term::safe;

use crate::commands::recorded::Recorded;
use crate::commands::runtime;
use crate::exit::FAILED;
use crate::screen::Screen;

/// What a run has at hand.
pub struct Checking<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// What is known of models.
    pub known: &'a Known,
    /// The server.
    pub client: &'a Client,
    /// Whether JSON is wanted, and nothing else printed.
    pub json: bool,
    /// What the person asked for: `check` or `enable`.
    pub trigger: &'static str,
}

/// Checks each model in turn; the exit code says whether all can be talked to.
pub fn run(
    names: &[String],
    checking: &Checking<'_>,
    recorded: &mut Recorded<'_>,
    screen: &mut Screen,
) -> anyhow::Result<ExitCode> {
    let runtime = runtime()?;
    let mut objects = Vec::new();
    for name in names {
        let object = runtime.block_on(checking.check(name, recorded, screen))?;
        objects.push(object);
    }
    let good = objects.iter().all(|object| object["replies"] != json!(false));
    if checking.json {
        let text = serde_json::to_string_pretty(&json!({ "models": objects }))?;
        screen.out.line(&safe::json(&text))?;
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAILED)
    })
}

/// What came of checking a model only where that is needed.
pub enum Checked {
    /// Its server says what it can do, or it was checked before, or neither can be asked now.
    NotNeeded,
    /// It gave no reply; nothing was kept.
    Mute,
    /// It talks, and does not call tools.
    Talks,
    /// It calls tools.
    Calls,
}

impl Checking<'_> {
    async fn check(
        &self,
        name: &str,
        recorded: &mut Recorded<'_>,
        screen: &mut Screen,
    ) -> anyhow::Result<Value> {
        let model = self.open(name).await?;
        if !model.may_be_asked() {
            let host = model.elsewhere().unwrap_or_default();
            self.say(
                screen,
                &format!("{name} runs on {host}; talk to it in a chat first, which asks for your leave"),
            )?;
            return Ok(json!({"model": name, "replies": false, "elsewhere": host}));
        }
        let (trials, kept) = self.examined(name, &model, recorded, screen).await?;
        let declared = &model.show.capabilities;
        let fit = trial::is_fit(&trials);
        Ok(
            json!({"model": name, "replies": kept.is_some(), "declared": declared, "checks": trials, "recorded": kept, "fit": fit}),
        )
    }

    /// Checks a model of which nobody says what it can do.
    pub async fn if_unknown(
        &self,
        name: &str,
        recorded: &mut Recorded<'_>,
        screen: &mut Screen,
    ) -> anyhow::Result<Checked> {
        let Ok(model) = self.open(name).await else {
            return Ok(Checked::NotNeeded);
        };
        let checked = self.known.of(self.client.host(), name).verified.is_some();
        if checked || model.show.capabilities.is_some() || !model.may_be_asked() {
            return Ok(Checked::NotNeeded);
        }
        let (_, kept) = self.examined(name, &model, recorded, screen).await?;
        Ok(match kept {
            None => Checked::Mute,
            Some(kept) if kept.passed.iter().any(|name| name == TOOL_CALLING) => Checked::Calls,
            Some(_) => Checked::Talks,
        })
    }

    async fn open(&self, name: &str) -> Result<Model, wisp_ollama::Error> {
        let preferences = Preferences {
            window: self.config.context_length(),
            known: Some(self.known.clone()),
            ..Preferences::default()
        };
        Model::open(self.client.clone(), name, preferences).await
    }

    /// Asks the questions, and keeps and records what came of them.
    async fn examined(
        &self,
        name: &str,
        model: &Model,
        recorded: &mut Recorded<'_>,
        screen: &mut Screen,
    ) -> anyhow::Result<(Vec<Trial>, Option<Verified>)> {
        let listed = self.client.tags().await.unwrap_or_default();
        let listed = listed
            .into_iter()
            .find(|m| wisp_ollama::same_model(&m.name, name));
        let bytes = listed
            .and_then(|m| m.size)
            .map_or_else(String::new, |bytes| format!(" ({})", size(bytes)));
        self.say(
            screen,
            &format!(
                "checking {name}: loads the model{bytes} and asks {} short questions …",
                QUESTIONS.len()
            ),
        )?;
        let trials = self.trials(model, screen).await?;
        let kept = trial::verified(&trials, &today(), trial::CheckedModel::model(model));
        self.record(name, &trials, kept.as_ref(), recorded)?;
        self.say(screen, &conclusion(name, &trials, kept.as_ref()))?;
        Ok((trials, kept))
    }

    /// Asks the questions. One that cannot be talked to is not asked for more.
    async fn trials(&self, model: &Model, screen: &mut Screen) -> anyhow::Result<Vec<Trial>> {
        let mut trials: Vec<Trial> = Vec::new();
        for question in &QUESTIONS {
            let trial = trial::ask(model, question).await?;
            self.say(screen, &line(question, &trial))?;
            let mute = trial.name == trial::REPLY && !trial.passed;
            trials.push(trial);
            if mute {
                break;
            }
        }
        Ok(trials)
    }

    fn record(
        &self,
        name: &str,
        trials: &[Trial],
        kept: Option<&Verified>,
        recorded: &mut Recorded<'_>,
    ) -> anyhow::Result<()> {
        if let Some(verified) = kept {
            let verified = Some(verified.clone());
            self.known
                .change(self.client.host(), name, |row| row.verified = verified)?;
        }
        let details = json!({
            "model": name, "trigger": self.trigger, "checks": trials, "recorded": kept,
            "outcome": if kept.is_some() { "recorded" } else { "no reply" }, "unchecked": ["thinking", "vision"],
            "seconds": trials.iter().map(|t| t.seconds).sum::<f64>(),
        });
        recorded.event(Kind::ModelVerified, details)?;
        Ok(())
    }

    fn say(&self, screen: &mut Screen, text: &str) -> anyhow::Result<()> {
        if !self.json {
            screen.out.line(&safe::safe(text))?;
            screen.out.flush()?;
        }
        Ok(())
    }
}

fn line(question: &Question, trial: &Trial) -> String {
    let words = question.words;
    let as_text = if trial.as_text {
        ", written as text, which wisp reads"
    } else {
        ""
    };
    match &trial.reason {
        None => format!("  {words}: passed in {:.1} s{as_text}", trial.seconds),
        Some(reason) => format!("  {words}: failed in {:.1} s ({reason})", trial.seconds),
    }
}

/// The verdict in plain words: what it can do, what it cannot, how its calls are made, how fast it is, and whether it is
/// fit for an agent.
fn conclusion(name: &str, trials: &[Trial], kept: Option<&Verified>) -> String {
    let Some(verified) = kept else {
        return format!("nothing recorded: {name} cannot be talked to");
    };
    let words = |names: &[String]| {
        let of = QUESTIONS
            .iter()
            .filter(|q| names.iter().any(|name| name == q.name));
        let of: Vec<&str> = of.map(|q| q.words).collect();
        if of.is_empty() {
            "none of these".to_owned()
        } else {
            of.join(", ")
        }
    };
    let calls = match verified.calls.as_deref() {
        Some("native") => "it makes its calls itself",
        Some("text") => "it writes its calls as text, which wisp reads",
        Some(_) => "its replies are held to a schema (guided)",
        None => "no way of calling tools works",
    };
    let speed = verified.speed.map_or_else(String::new, |(read, write)| {
        format!("; reads {read:.0} tokens a second, writes {write:.0}")
    });
    let fit = if trial::is_fit(trials) {
        "fit for an agent"
    } else {
        "not fit for an agent: expect it to fail at most tasks"
    };
    format!(
        "can: {}. cannot: {}. calls: {calls}{speed}\nrecorded: {name} is {fit} (verified {})",
        words(&verified.passed),
        words(&verified.failed),
        verified.date
    )
}

fn today() -> String {
    let now = SystemClock.now();
    jiff::tz::TimeZone::system().to_datetime(now).date().to_string()
}

#[cfg(test)]
mod tests {
    use super::conclusion;
    use wisp_agent::model::known::Verified;
    use wisp_agent::model::trial::{QUESTIONS, Trial};

    fn trials(passed: &[&str]) -> Vec<Trial> {
        let trial = |name: &'static str| Trial {
            name,
            passed: passed.contains(&name),
            seconds: 1.0,
            as_text: false,
            speed: None,
            reason: None,
        };
        QUESTIONS.iter().map(|q| trial(q.name)).collect()
    }

    #[test]
    fn the_conclusion_is_in_plain_words() {
        let passed = ["toolCalling", "guidedGeneration", "answerInWords", "longOutput"];
        let mut verified = Verified {
            date: "2026-11-30".into(),
            passed: passed.map(str::to_owned).to_vec(),
            failed: vec!["secondCall".into()],
            calls: Some("guided".into()),
            speed: Some((39.6, 9.4)),
            ..Verified::default()
        };
        assert_eq!(
            conclusion("m", &trials(&passed), Some(&verified)),
            "can: a call, a line of a long output, an answer in words, a guided action. cannot: two calls in a row. calls: its \
             replies are held to a schema (guided); reads 40 tokens a second, writes 9\n\
             recorded: m is fit for an agent (verified 2026-11-30)"
        );
        verified.passed.clear();
        verified.calls = None;
        verified.speed = None;
        assert!(conclusion("m", &trials(&[]), Some(&verified)).contains("m is not fit for an agent"));
        assert_eq!(
            conclusion("m", &trials(&[]), None),
            "nothing recorded: m cannot be talked to"
        );
    }
}
