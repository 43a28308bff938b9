//! The settings. Everything about one is its row: loading, `wisp config`, completion, the docs and
//! `config.example.json` come from here, so a new setting is a new row.

use crate::setting::{Kind, Setting};

/// The modes a conversation can begin in.
pub const MODES: &[&str] = &["read-only", "ask", "edit", "auto"];

/// The levels at which a person is asked; `never` asks about nothing and still judges and records.
pub const THRESHOLDS: &[&str] = &["safe", "moderate", "dangerous", "never"];

/// How a model makes calls.
pub const WAYS: &[&str] = &["native", "text", "guided"];

/// Sets of tools; `auto` goes by the model.
pub const TOOL_SETS: &[&str] = &["auto", "lean", "full"];

/// Front ends for a chat.
pub const UIS: &[&str] = &["tui", "plain"];

/// Looks by name; `auto` asks the terminal.
pub const THEMES: &[&str] = &["auto", "dark", "light", "ansi16", "none"];

/// What `ollama.think` takes beside true and false.
pub const EFFORTS: &[&str] = &["low", "medium", "high", "max"];

/// The setting that holds the MCP servers.
pub const SERVERS: &str = "mcp.servers";

/// How the tools of MCP servers are offered.
pub const OFFERS: &[&str] = &["auto", "each", "one"];

const DAY_SECONDS: i64 = 86_400;

const fn row(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Setting {
    Setting {
        name,
        kind,
        default,
        about,
    }
}

const fn whole(min: i64, max: i64) -> Kind {
    Kind::Whole { min, max }
}

const fn number(min: f64, max: f64) -> Kind {
    Kind::Number { min, max }
}

/// Every setting, in the order the docs show them.
pub const SETTINGS: &[Setting] = &[
    // --- the model -------------------------------------------------------------------------------
    row(
        "model",
        Kind::Text,
        "",
        "The model a conversation starts with, as `wisp models` lists it",
    ),
    row(
        "models.disabled",
        Kind::Texts,
        "[]",
        "Models that are hidden and refused",
    ),
    row(
        "models.calls",
        Kind::MapOf(WAYS),
        "{}",
        "How a model makes calls, by its name (also as `models.NAME.calls`): as calls of the API, as text, or held to a schema; unset, by its size and what `wisp models check` saw",
    ),
    row(
        "systemPromptExtension",
        Kind::Text,
        "",
        "Instructions added after wisp's own, for every conversation",
    ),
    // --- Ollama ----------------------------------------------------------------------------------
    row(
        "ollama.baseURL",
        Kind::Text,
        "",
        "Where Ollama is; unset, `OLLAMA_HOST`, else http://127.0.0.1:11434",
    ),
    row(
        "ollama.apiKey",
        Kind::Secret,
        "",
        "Sent as a bearer token; `OLLAMA_API_KEY` wins over it",
    ),
    row(
        "ollama.contextLength",
        whole(1024, 1_048_576),
        "",
        "The window in tokens; unset, chosen from the model and the memory",
    ),
    row(
        "ollama.idleTimeoutSeconds",
        whole(1, DAY_SECONDS),
        "900",
        "Seconds without a whole line from Ollama after which a request is given up; a model is silent while it writes a tool call",
    ),
    row(
        "ollama.totalTimeoutSeconds",
        whole(0, 7 * DAY_SECONDS),
        "21600",
        "Seconds after which an answer is given up although it goes on; 0 never",
    ),
    row(
        "ollama.keepAlive",
        Kind::Text,
        "",
        "How long Ollama keeps the model loaded, such as 10m or -1; unset, Ollama's own",
    ),
    row(
        "ollama.think",
        Kind::SwitchOr(EFFORTS),
        "",
        "Whether, or how hard, a model that can think does",
    ),
    row(
        "ollama.warmUp",
        Kind::Switch,
        "true",
        "Whether a model on this machine is loaded, and reads wisp's instructions, while you type the first message",
    ),
    row(
        "agentsMd",
        Kind::Switch,
        "true",
        "Whether `AGENTS.md` of the project and of wisp's home is read as your instructions",
    ),
    // --- commands --------------------------------------------------------------------------------
    row(
        "commandTimeoutSeconds",
        whole(0, DAY_SECONDS),
        "600",
        "Seconds after which a command is stopped, unless the call says otherwise; 0 never",
    ),
    row(
        "commandMaxOutputBytes",
        whole(256, 1_048_576),
        "",
        "Bytes of a command's output the model is shown; unset, the budget of the window",
    ),
    row(
        "outputReadSeconds",
        whole(0, 3600),
        "15",
        "Seconds that a model may need to read one output, by its measured speed; 0, as many as the window allows",
    ),
    row(
        "commandPolicy.deny",
        Kind::Patterns,
        "[]",
        "Patterns of commands that are refused, beside the built-in ones",
    ),
    row(
        "commandPolicy.allow",
        Kind::Patterns,
        "[]",
        "When not empty, a command and each of its parts must match one",
    ),
    // --- approval --------------------------------------------------------------------------------
    row(
        "approval.threshold",
        Kind::Choice(THRESHOLDS),
        "\"moderate\"",
        "The lowest risk at which a person is asked",
    ),
    row(
        "approval.mode",
        Kind::Choice(MODES),
        "\"ask\"",
        "What a conversation does without a question when it begins: nothing but reading, what the threshold says, edits of files, or all that the sandbox confines (/mode changes it)",
    ),
    row(
        "approval.timeoutSeconds",
        whole(0, DAY_SECONDS),
        "600",
        "Seconds after which a question counts as declined; 0 waits",
    ),
    row(
        "approval.persistDays",
        whole(1, 365),
        "30",
        "Days an approval for a project or for always lasts",
    ),
    // --- the sandbox -----------------------------------------------------------------------------
    row(
        "sandbox.mode",
        Kind::Choice(&["on", "off"]),
        "\"on\"",
        "Whether commands a model runs are confined to what they need",
    ),
    row(
        "sandbox.network",
        Kind::Choice(&["ask", "on", "off"]),
        "\"ask\"",
        "Whether commands that were allowed may use the network; ask, those you let run outside",
    ),
    row(
        "sandbox.writable",
        Kind::Texts,
        "[]",
        "Directories that allowed commands may write in, beside the conversation's",
    ),
    row(
        "sandbox.passEnvironment",
        Kind::Texts,
        "[]",
        "Variables that commands get although their names are shaped like credentials",
    ),
    row(
        "sandbox.memoryMiB",
        whole(0, 16_777_216),
        "",
        "MiB of memory one process of a command may use; unset, half of the machine's, 0 for all",
    ),
    row(
        "sandbox.fileMiB",
        whole(0, 16_777_216),
        "8192",
        "MiB a file may have that a command writes; 0 without limit",
    ),
    row(
        "sandbox.processes",
        whole(0, 1_000_000),
        "2048",
        "Processes a command may run at a time; 0 without limit",
    ),
    // --- tools and what they return --------------------------------------------------------------
    row(
        "tools.set",
        Kind::Choice(TOOL_SETS),
        "\"auto\"",
        "Which tools a model is offered: the few that a small one uses well, or all; auto, by its size and what `wisp models check` saw",
    ),
    row(
        "tools.disabled",
        Kind::Texts,
        "[]",
        "Built-in tools no model is given",
    ),
    row(
        "tools.custom",
        Kind::Tools,
        "[]",
        "Tools of your own: commands a model may call with arguments",
    ),
    row(
        SERVERS,
        Kind::Servers,
        "{}",
        "MCP servers whose tools the model is offered, by name ([mcp](mcp.md)); `wisp mcp add` writes it",
    ),
    row(
        "mcp.offer",
        Kind::Choice(OFFERS),
        "\"auto\"",
        "How tools of MCP servers are offered: each by its definition, or all through one tool that gives definitions on demand; auto, by the room in the window",
    ),
    row(
        "hooks",
        Kind::Hooks,
        "{}",
        "Commands of yours that run before and after a tool, with a message and at a turn's end ([hooks](hooks.md))",
    ),
    row(
        "shownOutputLines",
        whole(0, 10_000),
        "10",
        "Lines of an output you are shown unasked; of a command that failed twice as many",
    ),
    row(
        "context.outputDays",
        whole(0, 3650),
        "30",
        "Days an output is kept after its last use; 0 for ever",
    ),
    row(
        "context.unnamedDays",
        whole(0, 3650),
        "30",
        "Days a conversation without a name is kept after its last save; 0 for ever",
    ),
    row(
        "context.outputCeiling",
        whole(65_536, 4_294_967_296),
        "16777216",
        "Bytes of one output that are kept; past it the middle is cut",
    ),
    row(
        "context.memory",
        Kind::Choice(&["auto", "on", "off"]),
        "\"auto\"",
        "Whether the model gets the memory tool; auto, once it has a use",
    ),
    row(
        "context.target",
        number(0.1, 0.8),
        "0.6",
        "The share of the window a conversation is condensed to",
    ),
    row(
        "context.headroomTurns",
        whole(0, 64),
        "8",
        "Turns whose mean size is kept free when condensing",
    ),
    // --- the record ------------------------------------------------------------------------------
    row(
        "audit.enabled",
        Kind::Switch,
        "true",
        "Whether everything that happens is recorded",
    ),
    row(
        "audit.days",
        whole(0, 3650),
        "90",
        "Days an audit file is kept; 0 for ever",
    ),
    row(
        "audit.key",
        Kind::Text,
        "",
        "A file of at least 32 bytes that only you can read, with which the audit is sealed, so that a record made anew shows; best kept out of wisp's home",
    ),
    row(
        "secrets.maskForModel",
        Kind::Choice(&["auto", "on", "off"]),
        "\"auto\"",
        "Whether secrets are masked in what the model is sent; auto, when it runs on another machine",
    ),
    // --- the faces -------------------------------------------------------------------------------
    row(
        "ui",
        Kind::Choice(UIS),
        "",
        "What `wisp` opens for a chat: the box and panels of wisp-tui, or plain lines; unset, plain lines",
    ),
    row("theme", Kind::Choice(THEMES), "\"auto\"", "Colours"),
    row(
        "keys",
        Kind::Map,
        "{}",
        "Key bindings of wisp-tui that differ from the built-in ones, action to key",
    ),
    row(
        "notifications.enabled",
        Kind::Switch,
        "true",
        "Whether wisp may notify the person outside the terminal's text",
    ),
];

/// A setting by its name.
pub fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_one_the_setting_takes() {
        for setting in SETTINGS {
            if let Some(default) = setting.default_value() {
                assert_eq!(setting.check(&default), Ok(()), "{}", setting.name);
            }
            assert!(
                !setting.about.is_empty() && !setting.about.ends_with('.'),
                "{}",
                setting.name
            );
        }
    }

    #[test]
    fn no_name_is_another_or_stands_inside_another() {
        for (at, one) in SETTINGS.iter().enumerate() {
            for other in &SETTINGS[at + 1..] {
                let inside = |a: &str, b: &str| b.strip_prefix(a).is_some_and(|rest| rest.starts_with('.'));
                assert_ne!(one.name, other.name);
                assert!(
                    !inside(one.name, other.name) && !inside(other.name, one.name),
                    "{}",
                    one.name
                );
            }
        }
    }
}
