//! The servers that can be imitated, one row each.
//!
//! A profile is a table of facts about one Ollama release: which fields exist, which texts its errors have,
//! what it does when a prompt is too long. Nothing else in the crate asks for a version number; code asks the
//! row. A new release is a new row.

use std::fmt;

/// How the conversation path of a server is built; decides what overflow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Up to 0.8: no thinking, no capabilities until 0.6.4.
    E1,
    /// 0.9.0 to 0.12.5: runner errors arrive behind HTTP 200.
    E2,
    /// 0.12.6 to 0.24.0: `truncate` and `shift` exist, errors have a true status.
    E3,
    /// From 0.30.0, prompts rendered by Ollama itself.
    E4Rendered,
    /// From 0.30.0, prompts rendered by the model file's own template inside llama-server.
    E4Native,
}

impl Era {
    /// Whether the engine is a llama-server child process.
    pub fn is_e4(self) -> bool {
        matches!(self, Self::E4Rendered | Self::E4Native)
    }

    /// Whether a runner's error on a streaming request comes as HTTP 200 and a line, even as the first one.
    pub fn hides_first_error(self) -> bool {
        matches!(self, Self::E1 | Self::E2)
    }
}

/// What may stand in the `think` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkField {
    /// The field does not exist and is ignored.
    Absent,
    /// A boolean only.
    Bool,
    /// A boolean or `high`, `medium`, `low`; the words are for gpt-oss only.
    LevelsGptOss,
    /// A boolean or `high`, `medium`, `low`, `max`, for every thinking model.
    Levels,
}

/// The id a tool call carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallId {
    /// No id.
    None,
    /// `call_` and eight letters or digits.
    Short,
    /// Thirty-two letters and digits.
    Long,
}

/// One imitated server. Durations and windows follow from the request, never from here.
#[derive(Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a row of facts, most of which are yes or no"
)]
pub struct Profile {
    /// The name to ask for it by.
    pub name: &'static str,
    /// What `/api/version` answers.
    pub version: &'static str,
    /// Its era.
    pub era: Era,
    /// The window of a request that sets none, in tokens.
    pub default_window: u64,
    /// `capabilities` in `/api/show` (0.6.4).
    pub show_capabilities: bool,
    /// `capabilities` and `details.context_length` in `/api/tags` (0.30.0).
    pub tags_capabilities: bool,
    /// What `think` may be.
    pub think: ThinkField,
    /// A thinking model thinks when `think` is omitted, and its thinking is separated (0.12.4).
    pub thinks_unasked: bool,
    /// `truncate` and `shift` are read (0.12.6).
    pub overflow_fields: bool,
    /// The id of a tool call.
    pub call_id: CallId,
    /// `index` is written even when 0 (0.12.6).
    pub index_always: bool,
    /// Arguments keep the order the model wrote them in (0.14.0); before, they are sorted on the wire.
    pub ordered_arguments: bool,
    /// With tools offered, text is held back to the end (before 0.8.0).
    pub holds_text_with_tools: bool,
    /// Tool messages are never merged with their neighbour, and may carry `tool_name` (0.9.6).
    pub tool_messages_apart: bool,
    /// The `type` of a tool's property may be an array (0.6.6).
    pub array_types: bool,
    /// What is kept of a tool's property; the rest is dropped without a word. `items` came with 0.6.6, `anyOf`
    /// with 0.11.3, nested properties with 0.13.5.
    pub property_keys: &'static [&'static str],
    /// `_debug_render_only` (0.11.5).
    pub debug_render: bool,
    /// `context_length` in `/api/ps` (0.10.0).
    pub ps_window: bool,
    /// `/api/ps` waits for a load to end (0.32.4).
    pub ps_waits: bool,
    /// The window is clamped to the trained length (0.11.4 repeats what was asked).
    pub clamps_window: bool,
    /// `/api/status` and `/api/me` exist (0.16.2).
    pub account_routes: bool,
    /// After a reply that broke off over an unreadable call, the same request hangs (0.12.0 to 0.32.14).
    pub wedges: bool,
    /// `done_reason` is written before `done` (seen on 0.11.4).
    pub reason_before_done: bool,
    /// Names are checked with their own error text (after 0.11.4).
    pub names_checked: bool,
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Profile").field(&self.name).finish()
    }
}

/// 0.5.7, still met in the wild: no thinking, no capabilities, a window of 2,048.
pub const V0_5_7: Profile = Profile {
    name: "0.5.7",
    version: "0.5.7",
    era: Era::E1,
    default_window: 2048,
    show_capabilities: false,
    tags_capabilities: false,
    think: ThinkField::Absent,
    thinks_unasked: false,
    overflow_fields: false,
    call_id: CallId::None,
    index_always: false,
    ordered_arguments: false,
    holds_text_with_tools: true,
    tool_messages_apart: false,
    array_types: false,
    property_keys: &["type", "description", "enum"],
    debug_render: false,
    ps_window: false,
    ps_waits: false,
    clamps_window: false,
    account_routes: false,
    wedges: false,
    reason_before_done: true,
    names_checked: false,
};

/// 0.9.6: the first with `tool_name`; `think` is a boolean.
pub const V0_9_6: Profile = Profile {
    name: "0.9.6",
    version: "0.9.6",
    era: Era::E2,
    default_window: 4096,
    show_capabilities: true,
    think: ThinkField::Bool,
    holds_text_with_tools: false,
    tool_messages_apart: true,
    array_types: true,
    property_keys: &["type", "description", "enum", "items"],
    ..V0_5_7
};

/// 0.11.4, the newest that installs from its module; recorded.
pub const V0_11_4: Profile = Profile {
    name: "0.11.4",
    version: "0.11.4",
    think: ThinkField::LevelsGptOss,
    property_keys: &["type", "description", "enum", "items", "anyOf"],
    ps_window: true,
    ..V0_9_6
};

/// 0.12.6, the first with `truncate` and `shift`.
pub const V0_12_6: Profile = Profile {
    name: "0.12.6",
    version: "0.12.6",
    era: Era::E3,
    thinks_unasked: true,
    overflow_fields: true,
    index_always: true,
    debug_render: true,
    wedges: true,
    clamps_window: true,
    reason_before_done: false,
    names_checked: true,
    ..V0_11_4
};

/// 0.24.0, the last of its era; recorded.
pub const V0_24_0: Profile = Profile {
    name: "0.24.0",
    version: "0.24.0",
    think: ThinkField::Levels,
    property_keys: &[
        "type",
        "description",
        "enum",
        "items",
        "anyOf",
        "properties",
        "required",
    ],
    call_id: CallId::Short,
    ordered_arguments: true,
    account_routes: true,
    ..V0_12_6
};

/// 0.32.15 on the path where Ollama renders the prompt; recorded.
pub const V0_32_15: Profile = Profile {
    name: "0.32.15",
    version: "0.32.15",
    era: Era::E4Rendered,
    tags_capabilities: true,
    wedges: false,
    ps_waits: true,
    ..V0_24_0
};

/// 0.32.15 on the path where llama-server renders the prompt; recorded.
pub const V0_32_15_NATIVE: Profile = Profile {
    name: "0.32.15-native",
    era: Era::E4Native,
    call_id: CallId::Long,
    ..V0_32_15
};

/// Every profile, oldest first.
pub const ALL: [Profile; 7] = [
    V0_5_7,
    V0_9_6,
    V0_11_4,
    V0_12_6,
    V0_24_0,
    V0_32_15,
    V0_32_15_NATIVE,
];

impl Profile {
    /// The profile of that name (`0.24.0`, `0.32.15-native`); `0.32.15-rendered` is `0.32.15`.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.strip_suffix("-rendered").unwrap_or(name);
        ALL.into_iter().find(|p| p.name == name)
    }
}

impl Default for Profile {
    fn default() -> Self {
        V0_24_0
    }
}
