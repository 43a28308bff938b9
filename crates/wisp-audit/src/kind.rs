//! The kinds of event, one row each: the name in the file, what it says, and the fields its details may have.
//!
//! A kind is added by adding a row. A file may hold kinds that are not here (written by another version): readers
//! keep the name as text and show the event as it is.

use serde_json::Value;

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct KindRow {
    /// The name in the file, for example `tool.call`.
    pub name: &'static str,
    /// One sentence for `wisp logs` and the documentation.
    pub about: &'static str,
    /// The names of the fields that `details` may have, in the order they are written.
    pub fields: &'static [&'static str],
}

macro_rules! kinds {
    ($($kind:ident = $name:literal, $about:literal, [$($field:literal),* $(,)?];)*) => {
        /// What an event is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Kind { $(#[doc = $about] $kind,)* }

        impl Kind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind),*];

            /// The kind's row.
            pub const fn row(self) -> &'static KindRow {
                match self {
                    $(Kind::$kind => &KindRow { name: $name, about: $about, fields: &[$($field),*] },)*
                }
            }
        }
    };
}

kinds! {
    // --- conversation and model
    SessionStart = "session.start", "A conversation, a server or a one-shot run begins.",
        ["entryPoint", "directory", "home", "systemPromptExtension", "instructions", "tools", "model", "unsafe",
         "autoApprove", "resume", "carriedFrom", "parent", "reason", "turn", "normalised", "outputSweep", "auditSweep", "threadSweep"];
    SessionEnd = "session.end", "A conversation ends.", ["reason", "turns", "seconds"];
    AuditRecovered = "audit.recovered",
        "The file did not end as it was left: what stood after the last whole event, and what the end should have been.",
        ["bytes", "sha256", "sealedSeq", "sealedHash"];
    ModelResolved = "model.resolved", "The model to talk to is known, with what it can do and how much it holds.",
        ["model", "backend", "capabilities", "capabilitySource", "tools", "contextSize", "contextNote", "template"];
    ModelFallback = "model.fallback", "The model asked for cannot be used and another stands in for it.",
        ["model", "reason", "fallback"];
    ModelRequest = "model.request", "A request is sent to the model.",
        ["model", "step", "messages", "bytes", "tokens", "tools", "contextSize", "sha256", "purpose"];
    ModelRetry = "model.retry", "A request failed and is sent again.",
        ["model", "attempt", "reason", "failure", "waitSeconds"];
    ModelReasoning = "model.reasoning", "The model thought aloud before it answered.",
        ["phase", "text", "bytes", "tokens", "seconds"];
    ModelRouted = "model.routed", "A side task went to a model of its own.",
        ["task", "inputBytes", "model", "reason"];
    ModelConsent = "model.consent", "Leave to send conversations to another machine was asked for, given or taken back.",
        ["model", "server", "host", "answer", "source"];
    ModelPull = "model.pull", "A model was fetched, or was not.",
        ["model", "bytes", "reused", "fetched", "outcome", "reason", "seconds"];
    ModelVerified = "model.verified", "A model was tried out before it is used.",
        ["model", "trigger", "outcome", "checks", "recorded", "kept", "removed", "unchecked", "seconds"];
    Prompt = "prompt", "The person or caller says something.", ["text", "schema", "attachments", "steers"];
    Response = "response", "The model has answered.",
        ["text", "condensed", "interrupted", "finish", "seconds", "usage", "step", "recovered", "shifted"];
    TurnInterrupted = "turn.interrupted", "A turn was stopped before its answer was whole.",
        ["reason", "bytes", "calls", "seconds"];
    Error = "error", "Something failed.", ["message", "context", "hint"];
    JobStart = "job.start", "Work beside the turns begins; a second time when a turn had taken the model from it.",
        ["job", "kind", "title", "usesModel", "forTurn", "attempt"];
    JobEnd = "job.end", "It is over, or waits to begin anew.", ["job", "kind", "outcome", "words", "seconds"];

    // --- tools and commands
    ToolCall = "tool.call", "A tool is about to run.", ["tool", "arguments"];
    ToolResult = "tool.result", "A tool's result, as the model was sent it.",
        ["tool", "output", "bytes", "failed", "seconds", "repeat", "outcome"];
    OutputKept = "output.kept", "A whole output was written to the output store.",
        ["tool", "output", "bytes", "lines", "sha256", "cut", "totalBytes", "totalLines", "held"];
    BatchReduced = "batch.reduced", "The results of one reply together exceeded the batch's budget and were fitted again.",
        ["calls", "budget", "bytesBefore", "bytesAfter", "reduced"];
    PolicyDecision = "policy.decision", "A command was allowed or refused.",
        ["command", "workingDirectory", "verdict", "reason", "sandbox", "network", "nested", "origin"];
    SandboxUnavailable = "sandbox.unavailable", "The system offers no way to confine commands.",
        ["reason", "wanted", "kernel", "missing"];
    CommandOutcome = "command.outcome", "How a command of the model's ended.",
        ["command", "exitStatus", "signal", "timedOut", "cancelled", "truncated", "stdout", "stderr", "seconds",
         "origin", "pipeHeld", "leftBehind", "tooManyProcesses", "background", "sandbox", "sandboxRefusal", "sandboxPaths"];
    CommandTyped = "command.typed", "A command the person typed, with how it ended.",
        ["command", "workingDirectory", "verdict", "reason", "output", "bytes", "seconds", "exitStatus", "signal",
         "timedOut", "cancelled", "truncated", "pipeHeld", "leftBehind", "sandboxRefused", "sandboxRefusal",
         "sandboxPaths", "failure", "stored"];
    FileWrite = "file.write", "A file was written, with what was there kept.",
        ["path", "mode", "created", "bytesBefore", "bytesAfter", "sha256Before", "sha256After", "kept"];
    FileRestored = "file.restored", "A write was taken back.", ["path", "from", "removed", "bytesBefore", "bytesAfter"];
    SecretsScan = "secrets.scan", "Text was searched for credentials; the values are never recorded.",
        ["source", "bytes", "diff", "thorough", "findings", "kinds", "failedChunks", "classifier"];
    Redaction = "redaction", "Credentials in a text were masked.",
        ["source", "bytes", "bytesOut", "truncated", "thorough", "replaced", "failedChunks"];
    WatchRun = "watch.run", "A watched command ran.",
        ["command", "run", "trigger", "exitStatus", "signal", "timedOut", "state", "previous", "changed", "seconds",
         "findings", "triageError", "notified"];
    Notification = "notification", "The person was notified, or was not.",
        ["title", "body", "source", "outcome", "route", "reason", "skipped"];
    HostHello = "host.hello", "The program around wisp said what it can do.", ["effects", "client", "version"];
    HookRun = "hook.run", "A command of the user's ran at a point of the conversation, and what it decided.",
        ["event", "command", "tool", "exitStatus", "timedOut", "blocked", "reason", "text", "seconds"];
    McpServer = "mcp.server", "A server of the user's configuration was started, answers, or does not run.",
        ["server", "state", "tools", "program", "protocol", "reason"];
    McpRequest = "mcp.request", "A caller asked for a tool.", ["tool", "arguments", "client"];
    McpResult = "mcp.result", "What a caller was given.", ["tool", "isError", "text", "seconds"];

    // --- context
    ContextPressure = "context.pressure", "How full the window is, before every request, and what was done about it.",
        ["phase", "estimate", "basis", "window", "budget", "headroom", "fits", "action"];
    ContextCondensation = "context.condensation", "Turns were taken out of the requests.",
        ["turnsBefore", "turnsAfter", "contextSize", "tokenCount", "savedBefore", "savedAfter", "reason", "target",
         "fillBefore", "fillAfter", "headroom", "steps", "floor"];
    ContextCut = "context.cut", "A stretch of a reply that copies an output is left out of later requests.",
        ["entry", "output", "tool", "response", "result", "bytes", "tokens", "words", "coverage"];
    ContextReference = "context.reference", "A reference stands for an earlier output from now on.",
        ["entry", "tool", "result", "bytes", "referenceBytes", "tokens"];
    ContextDistillation = "context.distillation", "Facts were taken from turns about to be dropped.",
        ["turns", "entries", "bytes", "facts", "seconds", "model", "failure"];
    ContextSummary = "context.summary", "The running summary was written again, or could not be.",
        ["version", "turns", "entries", "bytes", "covered", "summaryBytes", "seconds", "model", "combined", "failure"];
    ContextMemory = "context.memory", "The model asked its memory for something or noted something.",
        ["request", "action", "target", "found", "entries", "facts", "summaries", "events", "from", "offset", "bytes",
         "noted", "subject", "name", "value", "class", "failure"];
    ContextAssessment = "context.assessment", "What a prompt needs was judged before it was sent.",
        ["method", "tools", "ruleTools", "registered", "taskChanged", "task", "facts", "seconds", "bytes", "model",
         "intent", "failure"];

    // --- facts
    FactRecorded = "fact.recorded", "A fact was learnt.",
        ["id", "scope", "subject", "name", "source", "version", "value", "class", "method", "detail", "entries",
         "sources", "supersedes"];
    FactSuperseded = "fact.superseded", "A newer version stands in a fact's place.",
        ["id", "subject", "name", "source", "by"];
    FactDeleted = "fact.deleted", "A fact was deleted.", ["id", "subject", "name", "source", "value", "by"];
    FactScopeChanged = "fact.scope.changed", "A fact is kept for longer or for less long.",
        ["fact", "from", "to", "by", "now", "subject", "name", "source", "value", "proposed", "request"];
    FactConflictRaised = "fact.conflict.raised", "Two sources disagree about a fact.",
        ["subject", "name", "winner", "others"];
    FactConflictResolved = "fact.conflict.resolved", "A disagreement about a fact ended.",
        ["subject", "name", "winner", "others"];

    // --- approval and configuration
    RiskVerdict = "classifier.verdict", "How risky a command was judged to be.",
        ["command", "pattern", "line", "level", "reasons", "sources", "seconds", "metadata"];
    ConfigChange = "config.change", "A setting was changed.", ["path", "old", "new", "source"];
    ApprovalRequested = "approval.requested", "The person was asked about a command.",
        ["command", "pattern", "line", "level", "sandboxRefusal"];
    ApprovalPending = "approval.pending", "A question was filed for a person who is elsewhere.",
        ["request", "command", "pattern", "line", "directory", "level", "thread", "client", "expiresAt", "alongside",
         "outcome", "reason", "kind", "fact", "subject", "name", "value", "source"];
    ApprovalAnswered = "approval.answered", "A filed question was answered.",
        ["request", "command", "pattern", "directory", "thread", "decision", "via", "delivery", "reason"];
    ApprovalSettled = "approval.settled", "A filed question is closed.",
        ["request", "command", "thread", "outcome", "via", "decision", "reason", "kept", "seconds"];
    ApprovalDecided = "approval.decided", "A command was approved or refused, by the person or by an earlier answer.",
        ["command", "decision", "scope", "reason", "approvalID", "expiresAt", "downgradedFrom", "persistError"];
}

impl Kind {
    /// The name in the file.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The kind with this name in the file; `None` for one this version does not know.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The fields of `details` that the kind's row does not list. Empty for an event that keeps to the table.
    pub fn undeclared(self, details: &Value) -> Vec<&str> {
        let names = details.as_object().into_iter().flat_map(|map| map.keys());
        names
            .map(String::as_str)
            .filter(|name| !self.row().fields.contains(name))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_unique_and_lead_back_to_their_kind() {
        let names: BTreeSet<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), Kind::ALL.len());
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.name()), Some(*kind));
        }
        assert_eq!(Kind::named("tool.cal"), None);
    }

    #[test]
    fn every_row_says_what_it_is_and_lists_each_field_once() {
        for row in Kind::ALL.iter().map(|kind| kind.row()) {
            assert!(row.about.ends_with('.'), "{}", row.name);
            let fields: BTreeSet<_> = row.fields.iter().collect();
            assert_eq!(fields.len(), row.fields.len(), "{}", row.name);
        }
    }

    #[test]
    fn a_field_outside_the_row_is_named() {
        assert_eq!(
            Kind::ToolCall.undeclared(&json!({"tool": "x", "speed": 1})),
            ["speed"]
        );
        assert!(Kind::ToolCall.undeclared(&json!({"arguments": {}})).is_empty());
    }
}
