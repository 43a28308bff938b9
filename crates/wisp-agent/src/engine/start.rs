//! The beginning of a conversation: which model, asked of the person where that is open, and the banner.

use wisp_guard::ApprovalFile;
use wisp_ollama::{Error, Model as Listed, same_model};

use super::Launch;
use super::consent::{Asking, consent};
use super::desk::Asker;
use crate::agents_md::AgentsFiles;
use crate::agents_md::trust::{KnownFiles, settle};
use crate::conversation::Conversation;
use crate::events::Events;
use crate::model::known::Known;
use crate::model::{Model, fetch, missing};
use crate::open::{Chosen, Ground, OpenError, demo, open};
use crate::protocol::{Choice, ChoiceOption, NoteLevel};
use crate::secrets::far;

/// Chooses the model and opens the conversation.
pub async fn start(
    mut ground: Ground,
    events: &Events,
    person: Option<&Asker>,
) -> Result<Conversation, OpenError> {
    if let Some(unwritable) = &ground.unwritable {
        events.note(NoteLevel::Warning, unwritable.clone());
    }
    if let Some(why) = ApprovalFile::new(ground.paths.approvals()).mistrusted() {
        events.note(
            NoteLevel::Warning,
            format!("what was allowed earlier is not: {why}"),
        );
    }
    for warning in ground.config.warnings() {
        events.note(NoteLevel::Warning, warning.clone());
    }
    let chosen = choose(&mut ground, events, person).await?;
    if let Some(text) = far(ground.client.host()).filter(|_| !chosen.model.demo) {
        events.note(NoteLevel::Warning, text);
    }
    if ground.config.agents_md() {
        let mut found = AgentsFiles::of(&ground.setup.directory, ground.paths.home());
        let known = KnownFiles::at(ground.paths.agents());
        settle(&mut found, known, events, person, ground.setup.yes).await;
        ground.agents = found;
    }
    open(ground, chosen, events.clone())
}

async fn choose(ground: &mut Ground, events: &Events, person: Option<&Asker>) -> Result<Chosen, OpenError> {
    let named = ground.setup.model.clone();
    if let Err(error) = ground.client.version().await {
        return without_server(ground, events, error).await;
    }
    if let Some(name) = named {
        return opened(ground, &name, events, person).await;
    }
    if let Some(name) = last_model(ground) {
        match opened(ground, &name, events, person).await {
            Err(error @ (OpenError::Model(_) | OpenError::NotInstalled { .. } | OpenError::Disabled(_))) => {
                let text = format!("{name}, which this conversation was held with, is unavailable: {error}");
                events.note(NoteLevel::Warning, text);
            }
            done => return done,
        }
    }
    if let Some(name) = ground.config.model() {
        match opened(ground, &name, events, person).await {
            Err(error @ (OpenError::Model(_) | OpenError::NotInstalled { .. })) if ground.setup.demo => {
                events.note(
                    NoteLevel::Warning,
                    format!("{name}, which is configured, is unavailable: {error}"),
                );
            }
            done => return done,
        }
    }
    ask(ground, events, person).await
}

/// The model that a resumed conversation was last held with.
fn last_model(ground: &Ground) -> Option<String> {
    let resumed = ground.resumed.as_ref()?;
    resumed.record.last_use().model.clone()
}

/// No server: chat opens on the demo model and says so in one line; everything else fails with the reason.
async fn without_server(ground: &Ground, events: &Events, error: Error) -> Result<Chosen, OpenError> {
    let gone = matches!(error, Error::Unreachable { .. } | Error::Silent { .. });
    if !ground.setup.demo || !gone || ground.setup.model.is_some() {
        return Err(error.into());
    }
    let text = format!(
        "no Ollama answers at {}: talking to the built-in demo model, which is rules and no language model. For a \
         real one install Ollama (https://ollama.com), then: ollama pull qwen3:8b",
        ground.client.host()
    );
    events.note(NoteLevel::Warning, text);
    demo().await
}

async fn opened(
    ground: &Ground,
    name: &str,
    events: &Events,
    person: Option<&Asker>,
) -> Result<Chosen, OpenError> {
    let disabled = ground.config.disabled_models();
    if disabled.iter().any(|d| same_model(d, name)) {
        return Err(OpenError::Disabled(name.to_owned()));
    }
    let mut model = match Model::open(ground.client.clone(), name, ground.preferences.clone()).await {
        Ok(model) => model,
        Err(error) => return Err(missing::explained(&ground.client, name, error).await),
    };
    let asking = Asking {
        person,
        events,
        audit: &ground.audit,
        now: ground.setup.clock.now(),
    };
    consent(&mut model, &asking).await?;
    Ok(Chosen {
        model,
        demo: None,
        kept: None,
    })
}

/// Offers the installed models that can call tools; the choice is kept in the configuration.
async fn ask(ground: &mut Ground, events: &Events, person: Option<&Asker>) -> Result<Chosen, OpenError> {
    let hidden = ground.config.disabled_models();
    let mut listed = ground.client.tags().await?;
    let any = !listed.is_empty();
    listed.retain(|m| !hidden.iter().any(|h| same_model(h, &m.name)));
    let usable = usable(ground, listed).await;
    let names: Vec<&str> = usable.iter().map(|m| m.name.as_str()).collect();
    if usable.is_empty() {
        let missing = OpenError::NoneInstalled(if any {
            "none of the installed models can call tools".to_owned()
        } else {
            "no model is installed".to_owned()
        });
        let Some(person) = person else { return Err(missing) };
        let name = fetch::offered(&ground.client, events, person, missing).await?;
        return kept(ground, &name, events, person).await;
    }
    let installed = || OpenError::NoModel(format!("; installed are {}", names.join(", ")));
    let Some(person) = person else {
        return Err(installed());
    };
    let choice = Choice {
        title: "Which model should wisp talk to? The choice is kept.".to_owned(),
        options: usable.iter().map(option).collect(),
        ..Choice::default()
    };
    let name = person.choose(choice).await.ok_or_else(installed)?;
    kept(ground, &name, events, person).await
}

/// Opens the model that the person chose, and keeps the choice in the configuration.
async fn kept(ground: &mut Ground, name: &str, events: &Events, person: &Asker) -> Result<Chosen, OpenError> {
    let mut chosen = opened(ground, name, events, Some(person)).await?;
    match ground.config.set("model", name) {
        Ok(changed) => {
            chosen.kept = Some(changed);
            events.note(
                NoteLevel::Info,
                format!("{name} is kept as the model; wisp config set model NAME changes it"),
            );
        }
        Err(e) => events.note(NoteLevel::Warning, format!("the choice could not be kept: {e}")),
    }
    Ok(chosen)
}

/// The models that can call tools. Servers before 0.30 do not say so in the list, so each is asked.
async fn usable(ground: &Ground, listed: Vec<Listed>) -> Vec<Listed> {
    let known = Known::at(ground.paths.models());
    let mut usable = Vec::new();
    for model in listed {
        let can = match &model.capabilities {
            Some(capabilities) => capabilities.iter().any(|c| c == "tools"),
            None => match ground.client.show(&model.name).await {
                Ok(show) => known.calls(ground.client.host(), &model.name, &show),
                Err(_) => false,
            },
        };
        if can {
            usable.push(model);
        }
    }
    usable
}

fn option(model: &Listed) -> ChoiceOption {
    let size = model.size.map_or_else(String::new, wisp_output::amount::size);
    let detail = format!(
        "{} {} {size}",
        model.details.parameter_size, model.details.quantization_level
    );
    ChoiceOption {
        value: model.name.clone(),
        label: model.name.clone(),
        detail: detail.trim().to_owned(),
        on: false,
    }
}

/// What a conversation begins with, as far as its face wants it.
pub fn greet(conversation: &Conversation, launch: Launch) {
    if launch.banner {
        banner(conversation);
    }
    if launch.reads {
        conversation.show_last_exchange();
    }
}

/// The lines a chat begins with.
fn banner(conversation: &Conversation) {
    let tools = if conversation.tools.is_some() {
        conversation.registry.names().len()
    } else {
        0
    };
    let tools = if tools == 1 {
        "1 tool".to_owned()
    } else {
        format!("{tools} tools")
    };
    let window = wisp_output::amount::grouped(conversation.model.window.tokens);
    let text = format!(
        "wisp {} · {} · window {window} tokens · {tools} · session {}",
        env!("CARGO_PKG_VERSION"),
        conversation.model.name,
        conversation.audit.session().as_str(),
    );
    conversation.events.note(NoteLevel::Info, text);
    if let Some(files) = conversation.agents.described(&conversation.directory) {
        conversation
            .events
            .note(NoteLevel::Info, format!("your instructions: {files}"));
    }
    let (held, missing) = conversation.registry.services().confining.described_soon();
    if held.starts_with("off") {
        conversation
            .events
            .note(NoteLevel::Warning, format!("sandbox {held}"));
    }
    for what in missing {
        conversation
            .events
            .note(NoteLevel::Warning, format!("sandbox: {what}"));
    }
    conversation.events.note(
        NoteLevel::Info,
        "/help lists the commands, ! runs one of your own, Ctrl-D leaves",
    );
}
