//! The models of a server, as a person chooses among them: what each is, how much it would hold, and why one cannot
//! be talked to. `wisp models` and `/models` print the same list.

use serde::Serialize;
use wisp_config::Config;
use wisp_ollama::{Client, Error, Feature, Loaded, Model as Listed, ServerVersion, Show, same_model};

use super::Window;
use super::call_style::{CallSettings, CallStyle, ToolSet};
use super::known::{Known, Row};
use super::trial::GUIDED;

/// One model. What is not known is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its name, as `--model` takes it.
    pub model: String,
    /// Its parameters as the server words them: `8.0B`.
    pub parameters: Option<String>,
    /// Bytes of its file.
    pub bytes: Option<u64>,
    /// Family and quantisation: `llama Q4_1`.
    pub format: Option<String>,
    /// Tokens of the window wisp would use.
    pub context: Option<u64>,
    /// Where that comes from, in a word.
    pub context_from: Option<&'static str>,
    /// The same in a sentence.
    pub context_note: Option<String>,
    /// The machine it runs on, when that is another one.
    pub runs_on: Option<String>,
    /// Whether the person left it enabled.
    pub enabled: bool,
    /// `tools`, `structured replies`, `thinking`, `vision`; `text only` for none of them.
    pub capabilities: Vec<&'static str>,
    /// Who says so: `runtime`, `verified 2026-11-30`, `template`.
    pub capabilities_from: Option<String>,
    /// How its calls are made: `native`, `text`, `guided`.
    pub calls: Option<&'static str>,
    /// Which tools it is offered: `lean`, `full`.
    pub tool_set: Option<&'static str>,
    /// Tokens read and written in a second, as a check measured them.
    pub speed: Option<(f64, f64)>,
    /// Since when the person agrees to where it runs, for a model that runs on another machine.
    pub agreed: Option<String>,
    /// Whether it is the configured one.
    pub default: bool,
    /// Whether a conversation with tools can be had with it.
    pub usable: bool,
    /// Why not.
    pub problem: Option<String>,
}

/// What the capabilities of the server are called in the list.
const WORDS: &[(&str, &str)] = &[("tools", "tools"), ("thinking", "thinking"), ("vision", "vision")];

/// Lists the models, the server's newest first, then those that are disabled and not there. Errors are the
/// server's; a single model that cannot be asked about is an entry with its problem.
pub async fn list(
    client: &Client,
    config: &Config,
    known: &Known,
    with_tools: bool,
) -> Result<Vec<Entry>, Error> {
    let listing = Listing {
        client,
        config,
        known,
        with_tools,
        version: client.version().await?,
        loaded: client.ps().await.unwrap_or_default(),
    };
    let mut entries = Vec::new();
    for model in client.tags().await? {
        entries.push(listing.entry(model).await);
    }
    for name in config.disabled_models() {
        if !entries.iter().any(|e| same_model(&e.model, &name)) {
            entries.push(Entry {
                model: name,
                problem: Some("it is disabled, and not on the server".to_owned()),
                ..Entry::default()
            });
        }
    }
    Ok(entries)
}

struct Listing<'a> {
    client: &'a Client,
    config: &'a Config,
    known: &'a Known,
    with_tools: bool,
    version: ServerVersion,
    loaded: Vec<Loaded>,
}

impl Listing<'_> {
    async fn entry(&self, model: Listed) -> Entry {
        let named = |name: &String| same_model(name, &model.name);
        let format = format!("{} {}", model.details.family, model.details.quantization_level);
        let mut entry = Entry {
            parameters: Some(model.details.parameter_size.clone()).filter(|p| !p.is_empty()),
            bytes: model.size,
            format: Some(format.trim().to_owned()).filter(|f| !f.is_empty()),
            runs_on: model.remote_host.clone().filter(|h| !h.is_empty()),
            enabled: !self.config.disabled_models().iter().any(named),
            default: self.config.model().as_ref().is_some_and(named),
            model: model.name.clone(),
            ..Entry::default()
        };
        match self.client.show(&model.name).await {
            Ok(show) => self.describe(&mut entry, &model, &show),
            Err(error) => entry.problem = Some(error.to_string()),
        }
        entry
    }

    fn describe(&self, entry: &mut Entry, model: &Listed, show: &Show) {
        let here = self.loaded.iter().find(|l| same_model(&l.name, &model.name));
        let window = Window::of(self.client, show, here, model.size, self.config.context_length());
        entry.context = Some(window.tokens);
        entry.context_from = Some(window.from);
        entry.context_note = Some(window.why);
        let row = self.known.of(self.client.host(), &model.name);
        if show.is_cloud(&model.name) {
            let host = entry.runs_on.get_or_insert_with(|| "ollama.com".to_owned());
            let consent = row.consent.as_ref().filter(|_| row.allows(host));
            entry.agreed = consent.map(|consent| consent.date.clone());
        }
        let set = CallSettings::of_config(self.config);
        let way = CallStyle::of(show, &model.name, &set, row.call_style(Some(&model.digest)));
        entry.calls = Some(way.word());
        entry.tool_set = Some(ToolSet::of(show, &model.name, &set).word());
        entry.speed = row.verified.as_ref().and_then(|verified| verified.speed);
        self.abilities(entry, show, &row, way);
    }

    /// What it can do, who says so, and whether that is enough.
    fn abilities(&self, entry: &mut Entry, show: &Show, row: &Row, way: CallStyle) {
        let verified = row.verified.as_ref().filter(|_| show.capabilities.is_none());
        entry.capabilities_from = Some(match verified {
            Some(verified) => format!("verified {}", verified.date),
            None if show.capabilities.is_some() => "runtime".to_owned(),
            None => "template".to_owned(),
        });
        // A guided model needs no template for tools.
        let guided = way == CallStyle::Guided && show.can("completion") != Some(false);
        let tools = guided || self.known.calls(self.client.host(), &entry.model, show);
        let can = |capability: &str| match capability {
            "tools" => tools,
            other => show.can(other) == Some(true),
        };
        let mut words: Vec<&str> = WORDS.iter().filter(|(c, _)| can(c)).map(|(_, w)| *w).collect();
        let structured = verified.is_none_or(|v| v.passed.iter().any(|name| name == GUIDED));
        if entry.runs_on.is_none() && structured && self.version.supports(Feature::Schema) {
            words.insert(usize::from(tools), "structured replies");
        }
        entry.problem = if show.can("completion") == Some(false) {
            words.clear();
            Some("it cannot converse: it is for embeddings".to_owned())
        } else if self.with_tools && !tools {
            let how = if verified.is_some() {
                "was checked and made no tool call"
            } else {
                "declares no tool calling"
            };
            Some(format!("it {how}; --no-tools talks to it without tools"))
        } else {
            None
        };
        if !tools && entry.problem.as_ref().is_none_or(|p| p.contains("tool")) {
            words.insert(0, "text only");
        }
        if guided && entry.problem.is_none() {
            words.push("guided calls");
        }
        entry.capabilities = words;
        entry.usable = entry.problem.is_none();
    }
}
