//! The tokens that chat templates are made of, by model family. A new one is a row.
//!
//! A token is written here without its first character, which is the one that [`crate::inert`] puts its mark behind.
//! No row may match text that holds `<`, `[` or `]` other than where the last character of a token is meant: a token
//! that lay inside another would keep its force when only the outer one is marked.

/// Tokens that begin with `<`, as regular expressions of what follows it.
pub(crate) const ANGLE: &[(&str, &str)] = &[
    // `<|im_start|>`, `<|eot_id|>`, `<|start_header_id|>`, `<|channel|>`, `<|START_OF_TURN_TOKEN|>`, `<|fim_prefix|>`.
    (
        "ChatML, Llama 3 and 4, gpt-oss, Phi, GLM, Granite, Command R, Kimi, Qwen",
        r"\|[^\s<>|\[\]]{1,64}\|?>",
    ),
    // `<turn|>`, `<tool_call|>`; what opens them, `<|turn>`, is in the row above.
    ("Gemma 4", r"[A-Za-z0-9_/]{1,40}\|>"),
    // `<｜User｜>`, `<｜tool▁calls▁begin｜>`, `<｜DSML｜…>`: whatever follows the wide bar.
    ("DeepSeek, Hunyuan", "｜"),
    (
        "Gemma",
        r"(?:start|end)_of_[a-z_]{1,32}>|unused[0-9]{1,4}>|(?:start|end)_function_[a-z_]{1,32}>|escape>",
    ),
    ("Llama 2", r"</?SYS>>"),
    (
        "SentencePiece",
        r"/?s>|bos>|eos>|unk>|pad>|sep>|cls>|sop>|eop>|eod>|[A-Z]{1,16}_TOKEN>",
    ),
    (
        "code infilling",
        r"fim_[a-z]{1,16}>|PRE>|SUF>|MID>|EOT>|file_sep>|repo_name>|reponame>|filename>|gh_stars>|endoftext>",
    ),
    (
        "reserved",
        r"(?:SPECIAL|extra_id|reserved)_[0-9]{1,6}>|eo[ham]>|eosys>",
    ),
    ("images and sound", r"(?:image|audio|video)(?:_soft_token)?>"),
    (
        "tool calls and thinking as text",
        r"/?(?:think|thinking|tool_calls?|tool_responses?|(?:untrusted_)?tool_results?|tool_outputs?|tools|functions?_calls?|function_results?|functions|arg_key|arg_value|role|TOOLCALL|TOOL_RESPONSE|AVAILABLE_TOOLS|minimax:tool_call|seed:[a-z_]{1,32}|longcat_[a-z_]{1,32})(?:\s[^<>\[\]]{0,200})?>",
    ),
    (
        "calls of Qwen Coder",
        r"(?:function|parameter)=[^<>\[\]\s]{1,128}>|/function>|/parameter>",
    ),
];

/// Tokens that begin with `[`.
pub(crate) const SQUARE: &[(&str, &str)] = &[
    (
        "Mistral",
        r"/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|SYSTEM_PROMPT|MODEL_SETTINGS|THINK|ARGS|CALL_ID|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|PREFIX|MIDDLE|SUFFIX|control_[0-9]{1,4})\]",
    ),
    (
        "GLM, Kimi, BERT",
        r"(?:[gs]?MASK|CLS|SEP|PAD|UNK|BOS|EOS|EOT|EOM|@BOS@)\]",
    ),
    ("EXAONE", r"\|[^\s<>|\[\]]{1,64}\|\]"),
    // `[e~[`: its last bracket may begin another token, and is left to that one.
    ("MiniMax", "e~"),
];

/// Tokens that begin with `]`: `MiniMax`'s `]~b]` and `]~!b[`, without the last bracket for the same reason.
pub(crate) const CLOSING: &[(&str, &str)] = &[("MiniMax", "~!?b")];
