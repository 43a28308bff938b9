//! Which request a step answers.

use serde::Deserialize;
use serde_json::Value;

use crate::seen::Seen;

/// What a request must be like for a step to answer it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// The prompt that was left contains this text.
    PromptContains(String),
    /// The prompt that was left does not contain this text.
    PromptLacks(String),
    /// The last message has this role.
    LastRole(String),
    /// The last message, as far as it was not cut, contains this text.
    LastContains(String),
    /// The last messages are tool results and one contains this text.
    ToolResultContains(String),
    /// This tool was offered.
    ToolOffered(String),
    /// This tool was not offered.
    ToolNotOffered(String),
    /// No tools were offered.
    NoTools,
    /// The prompt has at least this many tokens.
    TokensAtLeast(u64),
    /// The prompt has at most this many tokens.
    TokensAtMost(u64),
    /// The request is for this model.
    Model(String),
    /// The value at a JSON pointer of the request, exactly.
    Field(String, Value),
    /// The request has nothing at this JSON pointer.
    FieldAbsent(String),
    /// This many messages were left.
    Messages(usize),
}

impl Match {
    /// Whether the request is so.
    pub fn holds(&self, seen: &Seen) -> bool {
        match self {
            Self::PromptContains(text) => seen.prompt.contains(text),
            Self::PromptLacks(text) => !seen.prompt.contains(text),
            Self::LastRole(role) => seen.last().is_some_and(|m| m.role == *role),
            Self::LastContains(text) => {
                seen.last().is_some_and(|m| m.content.contains(text)) && seen.prompt.contains(text)
            }
            Self::ToolResultContains(text) => {
                let results = seen.messages.iter().rev().take_while(|m| m.role == "tool");
                results.into_iter().any(|m| m.content.contains(text)) && seen.prompt.contains(text)
            }
            Self::ToolOffered(name) => seen.offers(name),
            Self::ToolNotOffered(name) => !seen.offers(name),
            Self::NoTools => seen.tools.is_empty(),
            Self::TokensAtLeast(n) => seen.prompt_tokens >= *n,
            Self::TokensAtMost(n) => seen.prompt_tokens <= *n,
            Self::Model(name) => crate::same_model(&seen.model, name),
            Self::Field(pointer, value) => seen.request.pointer(pointer) == Some(value),
            Self::FieldAbsent(pointer) => seen.request.pointer(pointer).is_none(),
            Self::Messages(n) => seen.messages.len() == *n,
        }
    }

    /// Whether it can only hold if the client sent a tool's result back.
    pub(super) fn guards_a_result(&self) -> bool {
        matches!(
            self,
            Self::PromptContains(_) | Self::LastContains(_) | Self::ToolResultContains(_)
        )
    }
}
