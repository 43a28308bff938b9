//! Every text Ollama is known to refuse or fail with: one row a text, the first that matches counts.
//!
//! The order matters only where one text holds another: a window's error before the engine's general ones, a
//! missing memory before a failed load, a download before the network. A text found in the field becomes a row here and a sample in the test.

use super::refusal::Pattern::{Both, Has, Starts};
use super::refusal::Refusal::{
    Busy, Canceled, CloudDisabled, CloudUnreachable, ContextOverflow, DiskFull, Format, Gateway,
    IncompatibleModel, LoadFailed, LoadTimeout, Malformed, Memory, ModelName, ModelNotFound, NoChat, NoRoute,
    NoThinking, NoTools, NotReady, OptionType, Overloaded, PullBroken, PullUnknown, Quota, Repetition,
    RunnerFailed, RunnerStopped, SignIn, Template, ThinkValue, ToolCallSyntax,
};
use super::refusal::{Pattern, Refusal, Row};

const fn row(status: u16, pattern: Pattern, refusal: Refusal, hint: &'static str) -> Row {
    Row {
        pattern,
        status,
        refusal,
        hint,
    }
}

const SHORTER: &str = "make the conversation shorter or give the model a larger window";
const PULL: &str = "pull it with `ollama pull`, or choose one that `ollama list` shows";
const LOG: &str = "look at the server's log; a smaller window or model may help";
const SMALLER: &str =
    "choose a smaller window (`num_ctx`) or a smaller model, or unload others with `ollama stop`";
const OURS: &str = "the request is at fault, not the model: please report it";
const LEVEL: &str = "leave the level of thinking unset for this model";
const CALL: &str = "the model wrote a tool call that cannot be read; smaller edits per call help";
const TIMEOUT: &str = "raise OLLAMA_LOAD_TIMEOUT where the server runs, or choose a smaller model";
const QUOTA: &str = "wait until the quota is renewed, or choose a local model";
const RESUME: &str = "ask again: what was downloaded is kept";

/// The table.
pub const ROWS: &[Row] = &[
    // The window, in the words of every era and engine.
    row(
        400,
        Has("input length exceeds the context length"),
        ContextOverflow,
        SHORTER,
    ),
    row(
        400,
        Has("prompt is longer than the context length"),
        ContextOverflow,
        SHORTER,
    ),
    row(
        400,
        Has("exceeds the available context size"),
        ContextOverflow,
        SHORTER,
    ),
    row(400, Has("exceed_context_size_error"), ContextOverflow, SHORTER),
    row(
        400,
        Has("exceeds the model's maximum context length"),
        ContextOverflow,
        SHORTER,
    ),
    row(400, Has("exceeds the context length"), ContextOverflow, SHORTER),
    row(
        500,
        Has("no user query found in messages"),
        ContextOverflow,
        SHORTER,
    ),
    // The model's own tool calls.
    row(500, Has("error parsing tool call"), ToolCallSyntax, CALL),
    row(500, Starts("raw='"), ToolCallSyntax, CALL),
    row(500, Starts("XML syntax error"), ToolCallSyntax, CALL),
    row(
        500,
        Has("returned invalid tool call arguments"),
        ToolCallSyntax,
        CALL,
    ),
    row(
        500,
        Has("token repeat limit reached"),
        Repetition,
        "the model repeats itself; ask in other words or choose another model",
    ),
    // What a model cannot do.
    row(
        400,
        Has("does not support tools"),
        NoTools,
        "choose a model with tools, or chat without them",
    ),
    row(400, Has("does not support thinking"), NoThinking, LEVEL),
    row(
        400,
        Has("does not support chat"),
        NoChat,
        "this model is for embeddings: choose another",
    ),
    row(
        400,
        Both("think value", "is not supported for this model"),
        ThinkValue,
        LEVEL,
    ),
    row(400, Starts("invalid think value"), ThinkValue, LEVEL),
    row(400, Starts("think must be a boolean"), ThinkValue, LEVEL),
    // Downloads.
    row(
        200,
        Both("pull model manifest", "file does not exist"),
        PullUnknown,
        "check the name and the tag on ollama.com/library",
    ),
    row(200, Has("max retries exceeded"), PullBroken, RESUME),
    row(200, Has("digest mismatch"), PullBroken, RESUME),
    row(
        200,
        Has("no space left on device"),
        DiskFull,
        "free some disk space where the server keeps its models",
    ),
    row(
        200,
        Starts("pull model manifest"),
        PullBroken,
        "the server cannot reach where the model comes from: check its network",
    ),
    // Remote models.
    row(
        401,
        Starts("unauthorized"),
        SignIn,
        "the model is not on this machine; sign in with `ollama signin`",
    ),
    row(
        403,
        Has("ollama cloud is disabled"),
        CloudDisabled,
        "choose a local model, or enable remote ones where the server runs",
    ),
    row(429, Has("usage limit"), Quota, QUOTA),
    row(
        503,
        Starts("Server overloaded"),
        Overloaded,
        "the remote service has too much to do; try again in a moment",
    ),
    row(
        502,
        Has("dial tcp"),
        CloudUnreachable,
        "the server cannot reach the remote service: check its network",
    ),
    row(
        503,
        Starts("account unavailable"),
        CloudUnreachable,
        "the server cannot reach the remote service: check its network",
    ),
    // Memory and loading.
    row(500, Starts("model requires more system memory"), Memory, SMALLER),
    row(500, Has("out-of-memory"), Memory, SMALLER),
    row(500, Has("out of memory"), Memory, SMALLER),
    row(500, Has("cudaMalloc failed"), Memory, SMALLER),
    row(
        500,
        Has("may be incompatible with your version of Ollama"),
        IncompatibleModel,
        "pull the model again, or update ollama",
    ),
    row(500, Starts("timed out waiting for llama"), LoadTimeout, TIMEOUT),
    row(500, Has("process has terminated"), LoadFailed, LOG),
    row(
        500,
        Has("model runner has unexpectedly stopped"),
        RunnerStopped,
        LOG,
    ),
    row(
        500,
        Has("an error was encountered while running the model"),
        RunnerFailed,
        LOG,
    ),
    row(
        500,
        Starts("no slots available after"),
        NotReady,
        "the model is still loading; try again in a moment",
    ),
    row(
        500,
        Has("llm server loading model"),
        NotReady,
        "the model is still loading; try again in a moment",
    ),
    row(
        503,
        Starts("server busy, please try again"),
        Busy,
        "the server's queue is full; try again, or raise OLLAMA_MAX_QUEUE",
    ),
    // Names.
    row(404, Both("model ", "not found"), ModelNotFound, PULL),
    row(400, Starts("model is required"), ModelName, "name a model"),
    row(
        400,
        Starts("invalid model name"),
        ModelName,
        "a model's name is like `qwen3:8b` or `hf.co/org/name`",
    ),
    row(
        500,
        Starts("invalid model path"),
        ModelName,
        "a model's name is like `qwen3:8b` or `hf.co/org/name`",
    ),
    row(
        400,
        Starts("use either :local or :cloud"),
        ModelName,
        "a name ends in `:local` or in `:cloud`",
    ),
    // The request itself.
    row(
        500,
        Starts("invalid format:"),
        Format,
        "the reply's schema is not one",
    ),
    row(
        500,
        Starts("invalid JSON schema in format"),
        Format,
        "the reply's schema is not one",
    ),
    row(
        400,
        Has("JSON schema conversion failed"),
        Format,
        "the reply's schema is not one the engine knows",
    ),
    row(500, Both("option ", "must be of type"), OptionType, OURS),
    row(400, Starts("missing request body"), Malformed, OURS),
    row(
        400,
        Starts("time: missing unit in duration"),
        Malformed,
        "a time needs a unit, as `10m`",
    ),
    row(
        400,
        Starts("time: invalid duration"),
        Malformed,
        "a time is like `10m` or `24h`",
    ),
    row(400, Starts("invalid character"), Malformed, OURS),
    row(400, Starts("json: cannot unmarshal"), Malformed, OURS),
    row(400, Starts("Value looks like object"), Malformed, OURS),
    row(400, Starts("unexpected EOF"), Malformed, OURS),
    row(400, Starts("unexpected end of JSON input"), Malformed, OURS),
    row(
        500,
        Has("System message must be at the beginning"),
        Template,
        "the model's template wants one system message, first",
    ),
    row(
        500,
        Has("Jinja"),
        Template,
        "the model's template refuses these messages: choose another model or pull it again",
    ),
    row(499, Starts("request canceled"), Canceled, ""),
    // Routes and what stands before the server.
    row(
        404,
        Starts("404 page not found"),
        NoRoute,
        "the server is too old for this, or it is no ollama",
    ),
    row(
        405,
        Starts("405 method not allowed"),
        NoRoute,
        "something between changes the request's method",
    ),
    row(
        504,
        Has("Gateway Time"),
        Gateway,
        "a proxy gave up waiting: load the model first, or speak to the server directly",
    ),
];

#[cfg(test)]
mod tests {
    use super::ROWS;
    use crate::error::refusal::{Refusal, known};
    use crate::error::{Error, Remedy};

    /// A real text for each row, in the order of the rows.
    const SAMPLES: &[&str] = &[
        "the input length exceeds the context length",
        "the prompt is longer than the context length currently available to the model; shorten the prompt",
        "request (9177 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "exceed_context_size_error",
        "input length (70 tokens) exceeds the model's maximum context length (64 tokens)",
        "input length (70 tokens) exceeds the context length (64)",
        "Jinja Exception: no user query found in messages.",
        "error parsing tool call: raw='{\"a\"', err=unexpected end of JSON input",
        "raw='{\"a\"', err=unexpected end of JSON input",
        "XML syntax error on line 3: element <parameter> closed by </function>",
        "llama-server returned invalid tool call arguments for \"run\": unexpected end of JSON input",
        "prediction aborted, token repeat limit reached",
        "registry.ollama.ai/library/smollm2:135m does not support tools",
        "\"smollm2:135m\" does not support thinking",
        "\"nomic-embed-text\" does not support chat",
        "think value \"low\" is not supported for this model",
        "invalid think value: \"bogus\" (must be \"high\", \"medium\", \"low\", \"max\", true, or false)",
        "think must be a boolean or string (\"high\", \"medium\", \"low\", \"max\", true, or false)",
        "pull model manifest: file does not exist",
        "max retries exceeded: EOF",
        "digest mismatch, file must be downloaded again",
        "write /models/blobs/x: no space left on device",
        "pull model manifest: Get \"https://x\": connection refused",
        "unauthorized",
        "ollama cloud is disabled: remote model is unavailable",
        "you (name) have reached your session usage limit, upgrade for higher limits",
        "Server overloaded, please retry shortly (ref: 1)",
        "Post \"https://ollama.com:443/api/chat\": dial tcp: lookup ollama.com: no such host",
        "account unavailable",
        "model requires more system memory (9.0 GiB) than is available (4.0 GiB)",
        "llama-server reported out-of-memory during startup: x",
        "CUDA error: out of memory",
        "ggml_backend_cuda_buffer_type_alloc_buffer: cudaMalloc failed",
        "unable to load: this model may be incompatible with your version of Ollama. If you previously pulled",
        "timed out waiting for llama-server to start - progress 0.00 - ",
        "llama runner process has terminated: exit status 2",
        "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error",
        "an error was encountered while running the model: unexpected EOF",
        "no slots available after 10 retries",
        "unexpected server status: llm server loading model",
        "server busy, please try again.  maximum pending requests exceeded",
        "model \"x\" not found, try pulling it first",
        "model is required",
        "invalid model name",
        "invalid model path",
        "use either :local or :cloud, not both",
        "invalid format: \"xml\"; expected \"json\" or a valid JSON Schema object",
        "invalid JSON schema in format",
        "Field 'json_schema': JSON schema conversion failed:\nUnrecognized schema: {\"type\":5}",
        "option \"num_ctx\" must be of type integer",
        "missing request body",
        "time: missing unit in duration \"-1\"",
        "time: invalid duration \"bogus\"",
        "invalid character 'x' looking for beginning of value",
        "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
        "Value looks like object, but can't find closing '}' symbol",
        "unexpected EOF",
        "unexpected end of JSON input",
        "System message must be at the beginning.",
        "Jinja Exception: Conversation roles must alternate",
        "request canceled",
        "404 page not found",
        "405 method not allowed",
        "504 Gateway Time-out",
    ];

    #[test]
    fn every_row_is_found_by_its_text_and_no_other_comes_first() {
        assert_eq!(SAMPLES.len(), ROWS.len());
        for (row, sample) in ROWS.iter().zip(SAMPLES) {
            let found = known(sample).expect(sample);
            assert_eq!(
                format!("{:?}", found.pattern),
                format!("{:?}", row.pattern),
                "{sample}"
            );
        }
    }

    #[test]
    fn a_text_means_the_same_before_and_within_a_stream() {
        for (row, sample) in ROWS.iter().zip(SAMPLES) {
            let body = serde_json::json!({ "error": sample }).to_string();
            for status in [row.status, 200] {
                let error = Error::from_body("http://h", status, body.as_bytes());
                match row.refusal {
                    Refusal::ContextOverflow => assert_eq!(error.remedy(), Remedy::Condense, "{sample}"),
                    refusal => assert_eq!(error.refusal(), Some(refusal), "{sample}"),
                }
                assert_eq!(
                    error.hint().unwrap_or_default().is_empty(),
                    row.hint.is_empty(),
                    "{sample}"
                );
            }
        }
    }
}
