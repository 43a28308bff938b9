//! Each setting as the type it has in use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::custom::{self, CustomTool};
use crate::hooks::{self, Hook};
use crate::load::Config;
use crate::servers::{self, McpServer};
use crate::table::SERVERS;

impl Config {
    fn text(&self, name: &str) -> Option<String> {
        self.raw(name)?.as_str().map(str::to_owned)
    }

    fn switch(&self, name: &str) -> bool {
        self.raw(name)
            .and_then(|v| v.as_bool())
            .expect("switches have a default in the table")
    }

    fn whole(&self, name: &str) -> Option<u64> {
        self.raw(name)?.as_u64()
    }

    fn whole_or_default(&self, name: &str) -> u64 {
        self.whole(name)
            .expect("these numbers have a default in the table")
    }

    fn number(&self, name: &str) -> f64 {
        self.raw(name)
            .and_then(|v| v.as_f64())
            .expect("shares have a default in the table")
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let Some(Value::Array(items)) = self.raw(name) else {
            return Vec::new();
        };
        items
            .into_iter()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect()
    }

    fn choice(&self, name: &str) -> String {
        self.text(name).expect("choices have a default in the table")
    }

    /// What `wisp` opens for a chat; `None` when nothing is said.
    pub fn ui(&self) -> Option<String> {
        self.text("ui").filter(|ui| !ui.is_empty())
    }

    /// The model a conversation starts with.
    pub fn model(&self) -> Option<String> {
        self.text("model").filter(|name| !name.is_empty())
    }

    /// How models make calls, by their names: `native`, `text` or `guided`.
    pub fn calls(&self) -> BTreeMap<String, String> {
        let set = self.raw("models.calls").unwrap_or_default();
        let pairs = set.as_object().into_iter().flatten();
        pairs
            .filter_map(|(name, way)| Some((name.clone(), way.as_str()?.to_owned())))
            .collect()
    }

    /// Which tools a model is offered: `auto`, `lean` or `full`.
    pub fn tool_set(&self) -> String {
        self.choice("tools.set")
    }

    /// Models that are hidden and refused.
    pub fn disabled_models(&self) -> Vec<String> {
        self.texts("models.disabled")
    }

    /// Instructions added after wisp's own.
    pub fn system_prompt_extension(&self) -> Option<String> {
        self.text("systemPromptExtension").filter(|text| !text.is_empty())
    }

    /// Where Ollama is, when the configuration says so.
    pub fn ollama_url(&self) -> Option<String> {
        self.text("ollama.baseURL").filter(|url| !url.is_empty())
    }

    /// The bearer token for Ollama. Never printed.
    pub fn ollama_api_key(&self) -> Option<String> {
        self.text("ollama.apiKey").filter(|key| !key.is_empty())
    }

    /// The window in tokens, when set.
    pub fn context_length(&self) -> Option<u64> {
        self.whole("ollama.contextLength")
    }

    /// How long Ollama may send no whole line.
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_secs(self.whole_or_default("ollama.idleTimeoutSeconds"))
    }

    /// How long an answer of Ollama may take; `None` for ever.
    pub fn total_timeout(&self) -> Option<Duration> {
        let seconds = self.whole_or_default("ollama.totalTimeoutSeconds");
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// How long Ollama keeps the model loaded, as Ollama writes it.
    pub fn keep_alive(&self) -> Option<String> {
        self.text("ollama.keepAlive").filter(|text| !text.is_empty())
    }

    /// `true`, `false` or an effort, as it is sent to Ollama.
    pub fn think(&self) -> Option<Value> {
        self.get("ollama.think")
    }

    /// Whether a model is warmed up while the first message is typed.
    pub fn warm_up(&self) -> bool {
        self.switch("ollama.warmUp")
    }

    /// Whether `AGENTS.md` files are read.
    pub fn agents_md(&self) -> bool {
        self.switch("agentsMd")
    }

    /// How long a command may run; `None` without limit.
    pub fn command_timeout(&self) -> Option<Duration> {
        let seconds = self.whole_or_default("commandTimeoutSeconds");
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// Seconds that reading one output may take; `None` for any.
    pub fn output_read_seconds(&self) -> Option<u64> {
        Some(self.whole_or_default("outputReadSeconds")).filter(|seconds| *seconds > 0)
    }

    /// Bytes of a command's output for the model, in place of the budget, when set.
    pub fn command_max_output_bytes(&self) -> Option<u64> {
        self.whole("commandMaxOutputBytes")
    }

    /// The person's own deny patterns, beside the built-in rules.
    pub fn deny(&self) -> Vec<String> {
        self.texts("commandPolicy.deny")
    }

    /// The person's allow patterns; empty allows everything that is not denied.
    pub fn allow(&self) -> Vec<String> {
        self.texts("commandPolicy.allow")
    }

    /// The lowest risk at which a person is asked: `safe`, `moderate`, `dangerous` or `never`.
    pub fn approval_threshold(&self) -> String {
        self.choice("approval.threshold")
    }

    /// The mode a conversation begins in: `read-only`, `ask`, `edit` or `auto`.
    pub fn approval_mode(&self) -> String {
        self.choice("approval.mode")
    }

    /// How long a question waits; `None` for ever.
    pub fn approval_timeout(&self) -> Option<Duration> {
        let seconds = self.whole_or_default("approval.timeoutSeconds");
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// Days a stored approval lasts.
    pub fn approval_days(&self) -> u64 {
        self.whole_or_default("approval.persistDays")
    }

    /// Whether commands are confined.
    pub fn sandbox(&self) -> bool {
        self.choice("sandbox.mode") == "on"
    }

    /// Whether confined commands may use the network: `ask`, `on` or `off`.
    pub fn sandbox_network(&self) -> String {
        self.choice("sandbox.network")
    }

    /// Directories that confined commands may write in, beside the conversation's.
    pub fn sandbox_writable(&self) -> Vec<String> {
        self.texts("sandbox.writable")
    }

    /// Variables that commands get although they are shaped like credentials.
    pub fn passed_environment(&self) -> Vec<String> {
        self.texts("sandbox.passEnvironment")
    }

    /// Bytes of memory of one process of a command, when set; 0 for all.
    pub fn sandbox_memory(&self) -> Option<u64> {
        self.whole("sandbox.memoryMiB").map(|mib| mib << 20)
    }

    /// Bytes of a file that a command writes; 0 without limit.
    pub fn sandbox_file(&self) -> u64 {
        self.whole_or_default("sandbox.fileMiB") << 20
    }

    /// Processes a command may run at a time; 0 without limit.
    pub fn sandbox_processes(&self) -> u64 {
        self.whole_or_default("sandbox.processes")
    }

    /// Built-in tools no model is given.
    pub fn disabled_tools(&self) -> Vec<String> {
        self.texts("tools.disabled")
    }

    /// The person's own tools.
    pub fn custom_tools(&self) -> Vec<CustomTool> {
        let Some(Value::Array(rows)) = self.raw("tools.custom") else {
            return Vec::new();
        };
        custom::read(&rows).expect("the rows were checked when they were read")
    }

    /// The MCP servers, also those that are not enabled.
    pub fn mcp_servers(&self) -> Vec<McpServer> {
        let Some(Value::Object(rows)) = self.raw(SERVERS) else {
            return Vec::new();
        };
        servers::read(&rows).expect("the rows were checked when they were read")
    }

    /// How the tools of MCP servers are offered: `auto`, `each` or `one`.
    pub fn mcp_offer(&self) -> String {
        self.choice("mcp.offer")
    }

    /// The hooks, in the file's order.
    pub fn hooks(&self) -> Vec<Hook> {
        let Some(Value::Object(rows)) = self.raw("hooks") else {
            return Vec::new();
        };
        hooks::read(&rows).expect("the rows were checked when they were read")
    }

    /// Adds instructions after those of `systemPromptExtension`, for as long as this value lives; the file stays as it is.
    pub fn extend_system_prompt(&mut self, more: &str) {
        let own = self.system_prompt_extension();
        let both = own.map_or_else(|| more.to_owned(), |own| format!("{own}\n\n{more}"));
        self.put("systemPromptExtension", both.into());
    }

    /// Lines of an output the person is shown unasked.
    pub fn shown_output_lines(&self) -> u64 {
        self.whole_or_default("shownOutputLines")
    }

    /// Days an output is kept after its last use; 0 for ever.
    pub fn output_days(&self) -> u64 {
        self.whole_or_default("context.outputDays")
    }

    /// Days a conversation without a name is kept after its last save; 0 for ever.
    pub fn unnamed_days(&self) -> u64 {
        self.whole_or_default("context.unnamedDays")
    }

    /// Bytes of one output that are kept.
    pub fn output_ceiling(&self) -> u64 {
        self.whole_or_default("context.outputCeiling")
    }

    /// Whether the model gets the memory tool: `auto`, `on` or `off`.
    pub fn memory(&self) -> String {
        self.choice("context.memory")
    }

    /// The share of the window a conversation is condensed to.
    pub fn context_target(&self) -> f64 {
        self.number("context.target")
    }

    /// Turns whose mean size is kept free when condensing.
    pub fn headroom_turns(&self) -> u64 {
        self.whole_or_default("context.headroomTurns")
    }

    /// Whether everything is recorded.
    pub fn audit(&self) -> bool {
        self.switch("audit.enabled")
    }

    /// When secrets are masked in what the model is sent: `auto`, `on` or `off`.
    pub fn mask_for_model(&self) -> String {
        self.choice("secrets.maskForModel")
    }

    /// Days an audit file is kept; 0 for ever.
    pub fn audit_days(&self) -> u64 {
        self.whole_or_default("audit.days")
    }

    /// The file of the key that the audit is sealed with, `~/` being the home; none when there is none.
    pub fn audit_key(&self, home: Option<&str>) -> Option<PathBuf> {
        let named = self.text("audit.key")?;
        let below = home.and_then(|home| Some(Path::new(home).join(named.strip_prefix("~/")?)));
        Some(below.unwrap_or_else(|| PathBuf::from(named)))
    }

    /// The name of the theme, or `auto`.
    pub fn theme(&self) -> String {
        self.choice("theme")
    }

    /// Key bindings that differ, action to key.
    pub fn keys(&self) -> BTreeMap<String, String> {
        let Some(Value::Object(pairs)) = self.get("keys") else {
            return BTreeMap::new();
        };
        pairs
            .into_iter()
            .filter_map(|(action, key)| Some((action, key.as_str()?.to_owned())))
            .collect()
    }

    /// Whether wisp may notify.
    pub fn notifications(&self) -> bool {
        self.switch("notifications.enabled")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_setting_has_its_documented_default() {
        let config = Config::defaults(Path::new("/h/config.json"));
        assert_eq!((config.model(), config.disabled_models()), (None, vec![]));
        assert_eq!(
            (config.system_prompt_extension(), config.keep_alive()),
            (None, None)
        );
        assert_eq!((config.ollama_url(), config.ollama_api_key()), (None, None));
        assert_eq!((config.context_length(), config.think()), (None, None));
        assert_eq!(config.idle_timeout(), Duration::from_mins(15));
        assert_eq!(config.total_timeout(), Some(Duration::from_hours(6)));
        assert_eq!(config.command_timeout(), Some(Duration::from_mins(10)));
        assert_eq!(config.command_max_output_bytes(), None);
        assert!(config.deny().is_empty() && config.allow().is_empty());
        assert_eq!(config.approval_threshold(), "moderate");
        assert_eq!(config.approval_timeout(), Some(Duration::from_mins(10)));
        assert_eq!((config.approval_days(), config.shown_output_lines()), (30, 10));
        assert_eq!(
            (config.output_days(), config.output_ceiling()),
            (30, 16 * 1024 * 1024)
        );
        assert_eq!((config.memory(), config.headroom_turns()), ("auto".to_owned(), 8));
        assert!((config.context_target() - 0.6).abs() < f64::EPSILON);
        assert!(config.audit() && config.audit_days() == 90 && config.disabled_tools().is_empty());
        assert!(config.hooks().is_empty());
        assert_eq!(config.custom_tools(), []);
        assert_eq!(
            (config.mcp_servers(), config.mcp_offer()),
            (vec![], "auto".to_owned())
        );
        assert!(
            config.sandbox() && config.sandbox_network() == "ask" && config.sandbox_writable().is_empty()
        );
        assert_eq!(
            (
                config.sandbox_memory(),
                config.sandbox_file(),
                config.sandbox_processes()
            ),
            (None, 8 << 30, 2048)
        );
        assert!(config.passed_environment().is_empty());
        assert_eq!(config.theme(), "auto");
        assert!(config.keys().is_empty() && config.notifications());
    }

    #[test]
    fn nought_is_no_limit() {
        let text = "{\"commandTimeoutSeconds\": 0, \"approval\": {\"timeoutSeconds\": 0}, \"ollama\": {\"think\": false}}";
        let config = Config::from_text(Path::new("/h/c"), text).unwrap();
        assert_eq!(
            (config.command_timeout(), config.approval_timeout()),
            (None, None)
        );
        assert_eq!(config.think(), Some(Value::Bool(false)));
    }
}
