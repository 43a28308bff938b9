//! Which tools a conversation offers, the person's own after wisp's, and from when on `memory` is among them.

use std::borrow::Cow;
use std::time::Duration;

use wisp_config::Config;
use wisp_config::custom::{Argument, CustomTool, Type};
use wisp_tools::arguments::{Kind, Parameter};
use wisp_tools::custom::Custom;
use wisp_tools::{BuiltinOptions, Descriptor, MemoryOffer, Registry, Tool, builtin};

use crate::events::Events;
use crate::instructions;
use crate::model::Model;
use crate::open::{OpenError, Selection};
use crate::protocol::NoteLevel;
use crate::saved::Resumed;

/// The window from which on `memory` is worth its place in every request, tokens.
const WIDE: u64 = 16_384;

/// When `memory` is offered (`context.memory`): a list that names it always has it; `auto` offers it from the start
/// in a wide window, else from the first output that is held back.
pub(crate) fn memory(selection: &Selection, config: &Config, model: &Model) -> MemoryOffer {
    let named = matches!(selection, Selection::Named(_));
    if named || config.memory() == "on" || model.window.tokens >= WIDE {
        MemoryOffer::Now
    } else {
        MemoryOffer::WhenHeldBack
    }
}

/// The same for a conversation that is gone on with: what was held back in it, or is sent as a reference, is read with
/// `memory` whatever the window.
pub(crate) fn memory_for(resumed: Option<&Resumed>, offered: MemoryOffer) -> MemoryOffer {
    match resumed {
        Some(resumed) if resumed.record.needs_memory() => MemoryOffer::Now,
        _ => offered,
    }
}

/// The window from which on the tools that search are worth their place, tokens.
const ROOMY: u64 = 8_192;
/// The most bytes that the instructions and the tools of the first request have together with the tools that search.
const FIRST_REQUEST: usize = 6 * 1024 - 256;

/// Offers `find_files` and `search_text` where the first request stays below 6 KiB with them, a short message and its frame
/// included: the shell finds and searches too, and what every request begins with is read by slow machines each time. In a
/// window of less than 8,192 tokens they would take the room of several turns, and are not offered.
pub(crate) fn search(registry: &mut Registry, config: &Config, window: u64) {
    registry.offer_search(true);
    let fixed = instructions::full(config, registry.has_memory()).len() + registry.definitions().len();
    registry.offer_search(window >= ROOMY && fixed <= FIRST_REQUEST);
}

/// The tools of a configuration: wisp's own less what is disabled, then the person's.
pub fn configured(config: &Config) -> Vec<Box<dyn Tool>> {
    let disabled = config.disabled_tools();
    let mut tools = builtin(&BuiltinOptions {
        command_timeout: config.command_timeout(),
    });
    tools.retain(|tool| {
        let name = tool.descriptor().name;
        !disabled.iter().any(|d| *d == name)
    });
    let own = config.custom_tools();
    tools.extend(own.into_iter().map(|tool| custom(tool, config)));
    tools
}

/// A tool of the person's own as the registry takes it.
fn custom(tool: CustomTool, config: &Config) -> Box<dyn Tool> {
    let timeout = tool.timeout_seconds.map(Duration::from_secs);
    let limits = match timeout.or(config.command_timeout()) {
        Some(limit) => format!(
            "stopped after {} s; approved as the command it runs",
            limit.as_secs()
        ),
        None => "no time limit; approved as the command it runs".to_owned(),
    };
    let descriptor = Descriptor {
        name: tool.name.clone().into(),
        description: tool.description.clone().into(),
        parameters: tool.arguments.iter().map(parameter).collect(),
        limits,
        example: format!("Use {}.", tool.name).into(),
        reads_only: false,
    };
    Box::new(Custom {
        descriptor,
        directory: tool.directory.clone(),
        timeout,
        fill: Box::new(move |given| tool.line(given)),
    })
}

fn parameter(argument: &Argument) -> Parameter {
    let default = argument.default.as_ref();
    let default = default.map_or_else(String::new, |value| format!(" (default {value})"));
    Parameter {
        name: Cow::Owned(argument.name.clone()),
        kind: match argument.kind {
            Type::Text => Kind::Text,
            Type::Integer => Kind::Integer,
            Type::Number => Kind::Number,
            Type::Boolean => Kind::Boolean,
        },
        required: argument.default.is_none(),
        description: Cow::Owned(format!("{}{default}", argument.description).trim().to_owned()),
        one_of: Cow::Owned(argument.one_of.clone()),
    }
}

/// The tools of a conversation: what is asked for, less what is disabled; `memory` as `context.memory` says.
pub(crate) fn selected(
    selection: &Selection,
    config: &Config,
    model: &Model,
    events: &Events,
) -> Result<Vec<Box<dyn Tool>>, OpenError> {
    let mut tools = configured(config);
    let off = config.memory() == "off" && !matches!(selection, Selection::Named(_));
    tools.retain(|tool| !off || tool.descriptor().name != wisp_tools::MEMORY);
    match selection {
        Selection::None => return Ok(Vec::new()),
        Selection::All if !model.tools => {
            let text = format!(
                "{} cannot call tools, so it only talks; wisp models lists those that can",
                model.name
            );
            events.note(NoteLevel::Warning, text);
        }
        Selection::All => {}
        Selection::Named(_) if !model.tools => return Err(OpenError::NoTools(model.name.clone())),
        Selection::Named(names) => {
            let known: Vec<_> = tools.iter().map(|t| t.descriptor().name).collect();
            if let Some(name) = names.iter().find(|n| !known.iter().any(|k| k == *n)) {
                return Err(OpenError::UnknownTool {
                    name: name.clone(),
                    tools: known.join(", "),
                });
            }
            tools.retain(|tool| names.iter().any(|n| *n == tool.descriptor().name));
        }
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_the_persons_own_can_have_none_of_wisps_names() {
        let tools = builtin(&BuiltinOptions::default());
        let names: Vec<_> = tools.iter().map(|t| t.descriptor().name).collect();
        assert_eq!(names, wisp_config::custom::RESERVED);
    }
}
