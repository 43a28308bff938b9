//! Which tools a conversation offers, and from when on `memory` is among them.

use wisp_config::Config;
use wisp_tools::{BuiltinOptions, MemoryOffer, Tool, builtin};

use crate::events::Events;
use crate::model::Model;
use crate::open::{OpenError, Selection};
use crate::protocol::NoteLevel;

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

/// The tools of a conversation: what is asked for, less what is disabled; `memory` as `context.memory` says.
pub(crate) fn selected(
    selection: &Selection,
    config: &Config,
    model: &Model,
    events: &Events,
) -> Result<Vec<Box<dyn Tool>>, OpenError> {
    let disabled = config.disabled_tools();
    let mut tools = builtin(&BuiltinOptions {
        command_timeout: config.command_timeout(),
    });
    let off = config.memory() == "off" && !matches!(selection, Selection::Named(_));
    tools.retain(|tool| {
        let name = tool.descriptor().name;
        let left_out = off && name == wisp_tools::MEMORY;
        !left_out && !disabled.iter().any(|d| d == name)
    });
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
            let known: Vec<&str> = tools.iter().map(|t| t.descriptor().name).collect();
            if let Some(name) = names.iter().find(|n| !known.contains(&n.as_str())) {
                return Err(OpenError::UnknownTool {
                    name: name.clone(),
                    tools: known.join(", "),
                });
            }
            tools.retain(|tool| names.iter().any(|n| n == tool.descriptor().name));
        }
    }
    Ok(tools)
}
