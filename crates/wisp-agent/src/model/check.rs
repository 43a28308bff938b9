//! What can be found out about a server and a model before they are relied on. Each finding is good or not, says what
//! was seen, and ends with what to do.

use std::time::Duration;

use serde::Serialize;
use wisp_config::Config;
use wisp_host::{Clock, SystemClock};
use wisp_ollama::{Client, Error, Feature, Loaded, same_model};
use wisp_output::amount::{grouped, size};

use super::keep_alive::keep_alive;
use super::known::Known;
use super::trial::{self, Came};
use super::{Model, Preferences};

/// How long the one-line tool call may take, the load of the model included.
const CALL: Duration = Duration::from_mins(3);

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at, in a word or two.
    pub name: &'static str,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was seen.
    pub detail: String,
    /// What the person can do; none when there is nothing to do.
    pub action: Option<String>,
}

impl Finding {
    /// A good finding.
    pub fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            detail: detail.into(),
            action: None,
        }
    }

    /// A bad finding and what to do about it.
    pub fn bad(name: &'static str, detail: impl Into<String>, action: impl Into<String>) -> Self {
        Self {
            name,
            ok: false,
            detail: detail.into(),
            action: Some(action.into()),
        }
    }

    fn failed(name: &'static str, error: &Error) -> Self {
        let action = error
            .hint()
            .unwrap_or_else(|| "look at the server's log".to_owned());
        Self::bad(name, error.to_string(), action)
    }
}

/// What older servers lack, in the words of what it means for the person.
const LACKS: &[(Feature, &str)] = &[
    (
        Feature::Truncate,
        "refuse a prompt that is too long (wisp sees to that itself)",
    ),
    (Feature::Think, "keep thinking apart from replies (wisp does)"),
    (
        Feature::StreamWithTools,
        "show a reply as it is written while tools are offered",
    ),
    (Feature::Capabilities, "say what a model can do"),
    (Feature::LoadedWindow, "say how large the loaded window is"),
    (Feature::RenderOnly, "show the prompt it makes"),
];

/// Looks at the server and at `model`, else the configured one.
pub async fn server(client: &Client, config: &Config, known: &Known, model: Option<&str>) -> Vec<Finding> {
    let place = crate::secrets::far(client.host()).map(|text| Finding::good("where", text));
    let version = match client.version().await {
        Ok(version) => version,
        Err(error) => {
            let failed = Finding::failed("server", &error);
            return std::iter::once(failed).chain(place).collect();
        }
    };
    let guessed = if version.is_known() {
        ""
    } else {
        ", a version that says nothing"
    };
    let detail = format!("Ollama {version} answers at {}{guessed}", client.host());
    let mut findings = vec![Finding::good("server", detail)];
    findings.extend(place);
    let lacks: Vec<&str> = LACKS
        .iter()
        .filter(|(feature, _)| !version.supports(*feature))
        .map(|(_, words)| *words)
        .collect();
    let era = version.era().releases();
    findings.push(if lacks.is_empty() {
        Finding::good("era", format!("{era}: it can do all that wisp asks of it"))
    } else {
        Finding {
            action: Some("a newer Ollama can: https://ollama.com/download".to_owned()),
            ..Finding::good("era", format!("{era}: it cannot {}", lacks.join("; ")))
        }
    });
    let named = model.map(str::to_owned).or_else(|| config.model());
    match named {
        Some(name) => {
            let preferences = Preferences {
                window: config.context_length(),
                known: Some(known.clone()),
                ..Preferences::default()
            };
            match Model::open(client.clone(), &name, preferences).await {
                Ok(model) => of_model(&model, config, &mut findings).await,
                Err(error) => findings.push(Finding::failed("model", &error)),
            }
        }
        None => findings.push(no_model(client).await),
    }
    findings
}

async fn no_model(client: &Client) -> Finding {
    let listed = client.tags().await.unwrap_or_default();
    let names: Vec<String> = listed.into_iter().map(|m| m.name).collect();
    if names.is_empty() {
        return Finding::bad(
            "model",
            "none is configured and none is installed",
            "wisp models pull qwen3:8b, then wisp config set model qwen3:8b",
        );
    }
    Finding::bad(
        "model",
        format!("none is configured; installed are {}", names.join(", ")),
        "wisp config set model NAME, or start wisp, which asks and keeps the answer",
    )
}

async fn of_model(model: &Model, config: &Config, findings: &mut Vec<Finding>) {
    findings.push(present(model));
    if model.elsewhere().is_some() {
        // Nothing is asked of a model on another machine without the person's leave.
        return findings.push(window(model, None));
    }
    if model.is_guided() {
        findings.push(Finding::good("capabilities", abilities(model)));
        let text = format!(
            "its replies are held to a schema (guided), so its own calls are not relied on; wisp models check {} tries both",
            model.name
        );
        findings.push(Finding::good("tool call", text));
    } else {
        findings.push(declared(model).await);
        if model.tools {
            findings.push(calls(model).await);
        }
    }
    let loaded = model.client.ps().await.unwrap_or_default();
    let here = loaded.iter().find(|l| same_model(&l.name, &model.name));
    findings.push(window(model, here));
    findings.push(memory(here));
    findings.push(keep_alive(config, here, SystemClock.now()));
}

fn present(model: &Model) -> Finding {
    match model.elsewhere() {
        Some(host) => {
            let agreed = model.may_be_asked();
            let (leave, action) = if agreed {
                (
                    "you agreed to that",
                    format!("to take the leave back: wisp models revoke {}", model.name),
                )
            } else {
                (
                    "nothing is sent before you agree to that",
                    "choose a model that runs here to keep conversations on this machine".to_owned(),
                )
            };
            Finding {
                action: Some(action),
                ..Finding::good(
                    "model",
                    format!("{} runs on {host}, not on this machine; {leave}", model.name),
                )
            }
        }
        None => Finding::good("model", format!("{} is installed", model.name)),
    }
}

/// What the model can do, and who says so.
fn abilities(model: &Model) -> String {
    match (&model.show.capabilities, model.row().verified) {
        (Some(declared), _) => declared.join(", "),
        (None, Some(verified)) => {
            format!(
                "not declared; checked on {}: {}",
                verified.date,
                verified.passed.join(", ")
            )
        }
        (None, None) => format!("not declared; wisp models check {} tries it out", model.name),
    }
}

/// What the model declares, against what its template makes of a request with tools.
async fn declared(model: &Model) -> Finding {
    const NAME: &str = "capabilities";
    let words = abilities(model);
    if !model.tools {
        return Finding::bad(
            NAME,
            format!("{words}: no tool calling"),
            "choose another model: wisp models lists those with tools",
        );
    }
    if !model.version.surely_supports(Feature::RenderOnly) {
        return Finding::good(
            NAME,
            format!("{words}; the server cannot show the prompt, so this was not checked"),
        );
    }
    match model.client.render(&trial::record(model)).await {
        Ok(Some(prompt)) if shows_tools(&prompt) => {
            Finding::good(NAME, format!("{words}; its template shows tools to the model"))
        }
        Ok(Some(_)) => Finding::bad(
            NAME,
            format!("{words}; but its template leaves the tools out of the prompt"),
            "pull the model again, or choose another one",
        ),
        Ok(None) => Finding::good(
            NAME,
            format!("{words}; the server showed no prompt, so this was not checked"),
        ),
        Err(error) => Finding::failed(NAME, &error),
    }
}

/// Whether a prompt describes the tool. Its name alone also stands in the request's own words.
fn shows_tools(prompt: &str) -> bool {
    prompt.matches(trial::TOOL).count() > 1
}

/// One call, asked for in one line.
async fn calls(model: &Model) -> Finding {
    const NAME: &str = "tool call";
    let request = trial::record(model);
    let asked = async { model.client.chat(&request).await?.finish().await };
    let reply = match tokio::time::timeout(CALL, asked).await {
        Err(_) => {
            return Finding::bad(
                NAME,
                format!("no reply within {} s", CALL.as_secs()),
                "choose a smaller model",
            );
        }
        Ok(Err(error)) => return Finding::failed(NAME, &error),
        Ok(Ok(reply)) => reply,
    };
    let what = match trial::came(&request, &reply) {
        Came::Call => return Finding::good(NAME, "asked for one, the model made it"),
        Came::Text => {
            return Finding::good(
                NAME,
                "the model writes its calls as text; wisp reads them all the same",
            );
        }
        Came::Another => "another call came",
        Came::None => "no call came",
    };
    Finding::bad(
        NAME,
        format!("asked for one, {what}"),
        "choose another model: this one will not use tools well",
    )
}

fn window(model: &Model, loaded: Option<&Loaded>) -> Finding {
    let window = &model.window;
    let trained = match window.trained {
        Some(trained) => format!("trained for {} tokens", grouped(trained)),
        None => "what it was trained for is unknown".to_owned(),
    };
    let granted = loaded.and_then(|l| l.context_length);
    let now = granted.map_or_else(String::new, |n| format!("; loaded with {}", grouped(n)));
    let detail = format!(
        "{} tokens, {}; {trained}{now}",
        grouped(window.tokens),
        window.said
    );
    match granted.filter(|n| *n < window.tokens) {
        Some(n) => Finding::bad(
            "window",
            detail,
            format!("wisp config set ollama.contextLength {n}"),
        ),
        None if window.tokens < 4096 => Finding {
            action: Some("a window of 8,192 tokens or more is better for tools: wisp config set ollama.contextLength 8192".to_owned()),
            ..Finding::good("window", detail)
        },
        None => Finding::good("window", detail),
    }
}

fn memory(loaded: Option<&Loaded>) -> Finding {
    const NAME: &str = "memory";
    let Some(loaded) = loaded else {
        return Finding::good(NAME, "the model is not loaded, so this was not seen");
    };
    let held = loaded.size.map_or_else(|| "an unknown amount".to_owned(), size);
    match loaded.gpu_percent() {
        Some(100) => Finding::good(NAME, format!("{held}, all of it on the GPU")),
        Some(0) => Finding::good(NAME, format!("{held}, all of it on the CPU")),
        Some(share) => Finding {
            action: Some("a smaller window or model would fit the GPU and be faster".to_owned()),
            ..Finding::good(NAME, format!("{held}, {share} % of it on the GPU"))
        },
        None => Finding::good(NAME, held),
    }
}
