//! `/model`, `/models`, `/tools`: what answers, and what it may call.

use serde_json::json;
use wisp_audit::{Event as Audited, Kind};
use wisp_ollama::same_model;

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::engine::consent::consent;
use crate::model::Model;
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
    let model = Model::open(conversation.server(), name, conversation.preferences.clone()).await?;
    consent(&model, false, Some(scene.person), &conversation.events).await?;
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
    let choice = Choice {
        title: "Another model?".to_owned(),
        options: listed.into_iter().map(option).collect(),
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
    let text = format!(
        "now talking to {}, window {} tokens{tools}",
        model.name, model.window.tokens
    );
    conversation.set_model(model);
    conversation.events.note(NoteLevel::Info, text);
}

pub(super) async fn models(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    match conversation.server().tags().await {
        Ok(models) if models.is_empty() => {
            conversation
                .events
                .line("the server has no model yet; fetch one with: ollama pull qwen3:8b");
        }
        Ok(models) => {
            for model in models {
                let mark = if same_model(&model.name, &conversation.model.name) {
                    "*"
                } else {
                    " "
                };
                let size = model.size.map_or_else(String::new, wisp_output::amount::size);
                let details = &model.details;
                let line = format!(
                    "{mark} {:<32} {size:>9}  {:<8} {}",
                    model.name, details.parameter_size, details.quantization_level
                );
                conversation.events.line(line.trim_end());
            }
        }
        Err(e) => {
            let hint = e
                .hint()
                .map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            conversation.events.note(NoteLevel::Error, format!("{e}{hint}"));
        }
    }
    Next::Go
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
