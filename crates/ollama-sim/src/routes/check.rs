//! The checks of a chat before a model is loaded, in the server's order and words.

use serde_json::json;

use super::Exchange;
use crate::answer::Answer;
use crate::decode::{ChatRequest, ModelName, NameFault, Options, Think};
use crate::model::{Capability, Model, Parser};
use crate::profile::{Era, Profile, ThinkField};

/// A chat whose request was found right.
pub(super) struct Checked {
    pub(super) request: ChatRequest,
    pub(super) model: Model,
    pub(super) options: Options,
    pub(super) profile: Profile,
    /// The name as the client wrote it: it comes back in every line.
    pub(super) name: String,
    /// Whether lines are streamed.
    pub(super) stream: bool,
    /// Whether the answer has the shape of `/api/generate`.
    pub(super) generate: bool,
}

/// The checks before a model is loaded, in the server's order.
pub(super) fn check(x: &Exchange<'_, '_>, request: ChatRequest, generate: bool) -> Result<Checked, Answer> {
    let profile = x.profile();
    let name = name_of(&request.model, profile)?;
    let model = find(x, &name)?;
    if let Some(answer) = cloud(x, &model) {
        return Err(answer);
    }
    capabilities(profile, &model, &name, &request)?;
    let options = Options::read(&request.options).map_err(|text| Answer::error(500, &text))?;
    let stream = request.stream.unwrap_or(true);
    let profile = *profile;
    Ok(Checked {
        name: request.model.clone(),
        request,
        model,
        options,
        profile,
        stream,
        generate,
    })
}

/// Reads the name; older releases have other texts.
pub(super) fn name_of(written: &str, profile: &Profile) -> Result<ModelName, Answer> {
    ModelName::read(written).map_err(|fault| match fault {
        NameFault::Invalid if profile.names_checked => Answer::error(400, "invalid model name"),
        NameFault::Invalid | NameFault::Missing => Answer::error(400, "model is required"),
    })
}

pub(super) fn find(x: &Exchange<'_, '_>, name: &ModelName) -> Result<Model, Answer> {
    let full = name.full();
    let found = x
        .shared
        .models()
        .iter()
        .find(|m| crate::same_model(&m.name, &full))
        .cloned();
    found.ok_or_else(|| {
        // A name that asks for the cloud is passed on, and the account is looked at there.
        if name.is_cloud() && x.profile().account_routes {
            return unauthorized();
        }
        let written = &name.written;
        Answer::error(
            404,
            &if x.profile().names_checked {
                format!("model '{written}' not found")
            } else {
                format!("model {written:?} not found, try pulling it first")
            },
        )
    })
}

fn unauthorized() -> Answer {
    let body = json!({"error": "unauthorized", "signin_url": "https://ollama.com/connect?name=sim&key=c2lt"});
    Answer::json(401, &body)
}

/// Why a model that runs elsewhere does not, if it does not.
fn cloud(x: &Exchange<'_, '_>, model: &Model) -> Option<Answer> {
    let remote = model.remote.as_ref()?;
    if x.shared.cloud_disabled {
        return Some(Answer::error(
            403,
            "ollama cloud is disabled: remote model is unavailable",
        ));
    }
    if !remote.signed_in {
        return Some(unauthorized());
    }
    remote.quota.as_ref().map(|text| Answer::error(429, text))
}

fn capabilities(
    profile: &Profile,
    model: &Model,
    name: &ModelName,
    request: &ChatRequest,
) -> Result<(), Answer> {
    let has = model.capabilities_on(profile.era == Era::E4Native);
    let qualified = name.qualified();
    if !has.contains(&Capability::Completion) {
        return Err(Answer::error(
            400,
            &format!("\"{}\" does not support chat", name.written),
        ));
    }
    if !request.tools.is_empty() && !has.contains(&Capability::Tools) {
        return Err(Answer::error(400, &format!("{qualified} does not support tools")));
    }
    if request.think.wanted() && !has.contains(&Capability::Thinking) {
        let text = if profile.thinks_unasked {
            format!("\"{}\" does not support thinking", name.written)
        } else {
            format!("{qualified} does not support thinking")
        };
        return Err(Answer::error(400, &text));
    }
    if let Think::Level(level) = &request.think
        && profile.think == ThinkField::LevelsGptOss
        && model.parser != Parser::Harmony
    {
        return Err(Answer::error(
            400,
            &format!("think value {level:?} is not supported for this model"),
        ));
    }
    Ok(())
}
