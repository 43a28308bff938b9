//! `/model`, `/models`, `/tools`: what answers, and what it may call.

use serde_json::json;
use wisp_audit::{Event as Audited, Kind};
use wisp_ollama::same_model;
use wisp_output::amount::grouped;

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::engine::consent::{Asking, consent};
use crate::model::known::Known;
use crate::model::leave;
use crate::model::list::{Entry, list};
use crate::model::{Model, missing};
use crate::open::OpenError;
use crate::protocol::{Choice, ChoiceOption, NoteLevel};

pub(super) async fn model(conversation: &mut Conversation, rest: &str, scene: &Scene<'_>) -> Next {
    let named = if rest.is_empty() {
        ask(conversation, scene).await
    } else {
        Some(rest.to_owned())
    };
    let Some(named) = named else { return Next::Go };
    match opened(conversation, &named, scene).await {
        Ok(model) => switch(conversation, model),
        Err(e) => {
            let hint = e
                .hint()
                .map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            let text = format!("{e}; still talking to {}{hint}", conversation.model.name);
            conversation.events.note(NoteLevel::Error, text);
        }
    }
    Next::Go
}

/// Another model, when it is not disabled and the person agrees to where it runs.
async fn opened(conversation: &Conversation, name: &str, scene: &Scene<'_>) -> Result<Model, OpenError> {
    let disabled = conversation.config.disabled_models();
    if disabled.iter().any(|d| same_model(d, name)) {
        return Err(OpenError::Disabled(name.to_owned()));
    }
    let client = conversation.server();
    let mut model = match Model::open(client.clone(), name, conversation.preferences.clone()).await {
        Ok(model) => model,
        Err(error) => return Err(missing::explained(&client, name, error).await),
    };
    let asking = Asking {
        person: Some(scene.person),
        events: &conversation.events,
        audit: &conversation.audit,
        now: conversation.registry.services().clock.now(),
    };
    consent(&mut model, &asking).await?;
    Ok(model)
}

/// Says which model answers, and lets the person choose another where the face can.
async fn ask(conversation: &Conversation, scene: &Scene<'_>) -> Option<String> {
    let model = &conversation.model;
    let can = model.show.capabilities.as_ref();
    let can = can.map_or_else(|| "not declared".to_owned(), |c| c.join(", "));
    conversation
        .events
        .line(format!("{} (capabilities: {can})", model.name));
    let listed = conversation.server().tags().await.ok()?;
    let option = |m: wisp_ollama::Model| ChoiceOption {
        value: m.name.clone(),
        label: m.name,
        ..ChoiceOption::default()
    };
    let disabled = conversation.config.disabled_models();
    let enabled = |m: &wisp_ollama::Model| !disabled.iter().any(|d| same_model(d, &m.name));
    let choice = Choice {
        title: "Another model?".to_owned(),
        options: listed.into_iter().filter(enabled).map(option).collect(),
        current: Some(model.name.clone()),
        ..Choice::default()
    };
    if choice.options.len() < 2 {
        return None;
    }
    scene.person.choose(choice).await
}

/// Goes on with another model; the record stays as it is.
fn switch(conversation: &mut Conversation, model: Model) {
    let details = json!({
        "model": model.name, "contextSize": model.window.tokens, "contextNote": model.window.why, "tools": model.tools,
    });
    if let Err(e) = conversation
        .audit
        .append(Audited::new(Kind::ModelResolved, details))
    {
        conversation.events.note(NoteLevel::Error, e.to_string());
        return;
    }
    let tools = if model.tools { "" } else { "; it cannot call tools" };
    let worked = (conversation.model.set, conversation.model.calls);
    let works = if worked == (model.set, model.calls) || !model.tools {
        String::new()
    } else {
        format!(
            "; it is offered the {} tools, calls: {}",
            model.set.word(),
            model.calls.word()
        )
    };
    let text = format!(
        "now talking to {}, window {} tokens{tools}{works}",
        model.name,
        grouped(model.window.tokens)
    );
    conversation.set_model(model);
    conversation.events.note(NoteLevel::Info, text);
}

pub(super) async fn models(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    let (verb, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (verb, name.trim()) {
        ("", _) => listed(conversation).await,
        ("enable", name) if !name.is_empty() => turn(conversation, name, true),
        ("disable", name) if !name.is_empty() => turn(conversation, name, false),
        ("revoke", name) if !name.is_empty() => revoke(conversation, name),
        _ => conversation.events.line(
            "/models lists the models; /models enable NAME and /models disable NAME say which may be chosen, \
             /models revoke NAME takes back the leave to send conversations to where it runs",
        ),
    }
    Next::Go
}

async fn listing(conversation: &Conversation) -> Result<Vec<Entry>, wisp_ollama::Error> {
    let known = Known::at(conversation.paths.models());
    list(&conversation.server(), &conversation.config, &known, true).await
}

/// Prints the models that can be talked to, the one in use marked.
async fn listed(conversation: &Conversation) {
    let events = &conversation.events;
    let entries = match listing(conversation).await {
        Ok(entries) => entries,
        Err(e) => {
            let hint = e
                .hint()
                .map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            events.note(NoteLevel::Error, format!("{e}{hint}"));
            return;
        }
    };
    if entries.is_empty() {
        events.line("the server has no model yet; fetch one with: wisp models pull qwen3:8b");
    }
    for entry in entries {
        let mark = if same_model(&entry.model, &conversation.model.name) {
            "*"
        } else {
            " "
        };
        let what = match &entry.problem {
            Some(problem) => problem.clone(),
            None if !entry.enabled => "disabled".to_owned(),
            None => entry.capabilities.join(", "),
        };
        let place = entry.runs_on.as_ref().map_or_else(String::new, |host| {
            let agreed = if entry.agreed.is_some() { ", agreed to" } else { "" };
            format!(" (runs on {host}{agreed})")
        });
        let size = entry.bytes.map_or_else(String::new, wisp_output::amount::size);
        let context = entry.context.map_or_else(String::new, grouped);
        let parameters = entry.parameters.unwrap_or_default();
        events.line(format!(
            "{mark} {:<32} {size:>9}  {parameters:<8} {context:>9}  {what}{place}",
            entry.model
        ));
    }
}

/// Enables or disables a model for every conversation that begins from now on.
fn turn(conversation: &mut Conversation, name: &str, on: bool) {
    let said = match crate::model::disabled::turn(&mut conversation.config, name, on) {
        Ok(said) => said,
        Err(e) => {
            conversation.events.note(NoteLevel::Error, e.to_string());
            return;
        }
    };
    if let Some(changed) = said.changed {
        let details = json!({"path": changed.key, "old": changed.old, "new": changed.new, "source": "chat"});
        // The change is made; the audit says of its own troubles elsewhere.
        let _ = conversation
            .audit
            .append(Audited::new(Kind::ConfigChange, details));
    }
    conversation.events.line(said.text);
}

/// Takes back the leave to send conversations elsewhere, from this conversation's next request on.
fn revoke(conversation: &mut Conversation, name: &str) {
    let scene = leave::Scene {
        known: &Known::at(conversation.paths.models()),
        audit: &conversation.audit,
        server: conversation.client.host(),
        source: "chat",
    };
    match leave::revoke(&scene, name) {
        Ok(said) => conversation.events.line(said),
        Err(e) => return conversation.events.note(NoteLevel::Error, e.to_string()),
    }
    if same_model(&conversation.model.name, name) {
        conversation.model.agreed = false;
    }
}

pub(super) async fn tools(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    if conversation.tools.is_none() {
        conversation
            .events
            .line("the model has no tools in this conversation");
    }
    for tool in conversation.registry.descriptors() {
        conversation
            .events
            .line(format!("{:<14} {}", tool.name, tool.description));
    }
    Next::Go
}
