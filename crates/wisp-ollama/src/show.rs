//! What a model is and can do (`/api/show`), read tolerantly: any part may be missing, null or of another kind.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::lenient::{whole, whole_from_float};
use crate::models::{Details, is_cloud, or_default, text};

/// The answer of `/api/show`, without its licence and its tensors.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Show {
    /// `completion`, `tools`, `thinking`, `vision`, …; from 0.6.4.
    pub capabilities: Option<Vec<String>>,
    /// Family, parameters, quantisation.
    #[serde(default, deserialize_with = "or_default")]
    pub details: Details,
    /// The model file's metadata.
    #[serde(default, deserialize_with = "or_default")]
    pub model_info: ModelInfo,
    /// The model's own parameters, one `name value` a line.
    #[serde(default, deserialize_with = "text")]
    pub parameters: String,
    /// The prompt's template: Go's before 0.30, perhaps Jinja after.
    #[serde(default, deserialize_with = "text")]
    pub template: String,
    /// The file the model was made by.
    #[serde(default, deserialize_with = "text")]
    pub modelfile: String,
    /// The machine where it really runs.
    pub remote_host: Option<String>,
}

impl Show {
    /// Whether the model has a capability. `None` when the server does not say, but for `tools`, which an old
    /// server's template gives away.
    pub fn can(&self, capability: &str) -> Option<bool> {
        match &self.capabilities {
            Some(list) => Some(list.iter().any(|known| known == capability)),
            None if capability == "tools" && !self.template.is_empty() => {
                Some(self.template.contains(".Tools"))
            }
            None => None,
        }
    }

    /// Whether prompts to this model leave for another machine.
    pub fn is_cloud(&self, name: &str) -> bool {
        is_cloud(name, self.remote_host.as_deref())
    }

    /// The tokens the model was trained for.
    pub fn trained_window(&self) -> Option<u64> {
        self.model_info.context_length()
    }

    /// One of the model's own parameters as a number, whichever way it is written (`1.048576e+06`).
    pub fn parameter(&self, name: &str) -> Option<f64> {
        let value = self.parameter_lines().find(|(key, _)| *key == name)?.1;
        value.parse().ok()
    }

    /// The texts at which the model's maker has a reply end.
    pub fn stops(&self) -> Vec<String> {
        let stops = self.parameter_lines().filter(|(key, _)| *key == "stop");
        stops.map(|(_, text)| text.to_owned()).collect()
    }

    /// The model's own window, when its maker set one.
    pub fn own_window(&self) -> Option<u64> {
        self.parameter("num_ctx").and_then(whole_from_float)
    }

    /// Whether the prompt itself opens the thinking, so that a reply begins inside it and only the closing tag shows.
    pub fn opens_thinking(&self) -> bool {
        let template = self.template.trim_end();
        let template = template.strip_suffix("{% endif %}").unwrap_or(template);
        [
            "<think>",
            "<think>\\n' }}",
            "<think>\\n'}}",
            "<think>\n' }}",
            "<think>\n'}}",
        ]
        .iter()
        .any(|end| template.trim_end().ends_with(end))
    }

    fn parameter_lines(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parameters
            .lines()
            .filter_map(|line| line.split_once(char::is_whitespace))
            .map(|(key, value)| (key, value.trim().trim_matches('"')))
    }
}

/// A model file's metadata. The fields of the architecture are asked for without its prefix.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct ModelInfo(Map<String, Value>);

/// A figure that may differ from layer to layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PerLayer {
    /// The same in every layer.
    Same(u64),
    /// One figure for each layer, from the first.
    Each(Vec<u64>),
}

impl PerLayer {
    /// The figure of layer `index`, counted from 0.
    pub fn of(&self, index: usize) -> u64 {
        match self {
            Self::Same(figure) => *figure,
            Self::Each(figures) => figures.get(index).copied().unwrap_or_default(),
        }
    }

    /// The largest figure.
    pub fn widest(&self) -> u64 {
        match self {
            Self::Same(figure) => *figure,
            Self::Each(figures) => figures.iter().copied().max().unwrap_or_default(),
        }
    }
}

impl ModelInfo {
    /// The metadata as it is.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The architecture, as `llama`.
    pub fn architecture(&self) -> Option<&str> {
        self.0.get("general.architecture")?.as_str()
    }

    /// A field of the architecture, as `attention.head_count`.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let architecture = self.architecture()?;
        self.0
            .get(&format!("{architecture}.{name}"))
            .filter(|value| !value.is_null())
    }

    /// A field that is one number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.field(name).and_then(whole)
    }

    /// A field that is one number or one for each layer; true and false count as 1 and 0.
    pub fn per_layer(&self, name: &str) -> Option<PerLayer> {
        match self.field(name)? {
            Value::Array(figures) => {
                let figures = figures.iter().map(figure).collect::<Option<_>>()?;
                Some(PerLayer::Each(figures))
            }
            other => figure(other).map(PerLayer::Same),
        }
    }

    /// The tokens the model was trained for: the architecture's own field, else the only one of that name.
    pub fn context_length(&self) -> Option<u64> {
        self.number("context_length")
            .or_else(|| self.only(".context_length"))
    }

    /// Layers, draft layers included.
    pub fn block_count(&self) -> Option<u64> {
        self.number("block_count")
    }

    /// Attention heads.
    pub fn head_count(&self) -> Option<PerLayer> {
        self.per_layer("attention.head_count")
    }

    /// Heads of the cache; one for each attention head where the field is missing.
    pub fn head_count_kv(&self) -> Option<PerLayer> {
        self.per_layer("attention.head_count_kv")
            .or_else(|| self.head_count())
    }

    /// Numbers in a key of one head: its own field, else the embedding divided by the heads.
    pub fn key_length(&self) -> Option<u64> {
        self.number("attention.key_length").or_else(|| self.head_size())
    }

    /// Numbers in a value of one head: its own field, else the embedding divided by the heads.
    pub fn value_length(&self) -> Option<u64> {
        self.number("attention.value_length").or_else(|| self.head_size())
    }

    /// Tokens a sliding layer keeps.
    pub fn sliding_window(&self) -> Option<u64> {
        self.number("attention.sliding_window")
            .filter(|window| *window > 0)
    }

    fn head_size(&self) -> Option<u64> {
        let heads = self.head_count()?.widest();
        self.number("embedding_length")?.checked_div(heads)
    }

    fn only(&self, ending: &str) -> Option<u64> {
        let mut found = self.0.iter().filter(|(key, _)| key.ends_with(ending));
        let (_, value) = found.next()?;
        if found.next().is_some() {
            None
        } else {
            whole(value)
        }
    }
}

fn figure(value: &Value) -> Option<u64> {
    value.as_bool().map(u64::from).or_else(|| whole(value))
}

#[cfg(test)]
mod tests {
    use super::{PerLayer, Show};
    use serde_json::json;

    fn show(value: serde_json::Value) -> Show {
        serde_json::from_value(value).expect("reads")
    }

    #[test]
    fn an_empty_answer_is_read() {
        let show = show(json!({"model_info": null, "details": null, "parameters": null}));
        assert_eq!(
            (show.can("tools"), show.trained_window(), show.own_window()),
            (None, None, None)
        );
    }

    #[test]
    fn capabilities_are_declared_or_guessed_from_the_template() {
        let declared = show(json!({"capabilities": ["completion"], "template": "{{ .Tools }}"}));
        assert_eq!(
            (declared.can("tools"), declared.can("completion")),
            (Some(false), Some(true))
        );
        let old = show(json!({"template": "{{ if .Tools }}"}));
        assert_eq!((old.can("tools"), old.can("thinking")), (Some(true), None));
    }

    #[test]
    fn the_trained_window_is_the_architectures_or_the_only_one() {
        let own = json!({"general.architecture": "a", "a.context_length": 8192, "b.context_length": 1});
        assert_eq!(show(json!({ "model_info": own })).trained_window(), Some(8192));
        let only = json!({"x.context_length": 4096, "x.original_context_length": 9});
        assert_eq!(show(json!({ "model_info": only })).trained_window(), Some(4096));
        let two = json!({"x.context_length": 1, "y.context_length": 2});
        assert_eq!(show(json!({ "model_info": two })).trained_window(), None);
    }

    #[test]
    fn parameters_are_in_go_syntax() {
        let show = show(json!({
            "parameters": "stop                           \"<|a b|>\"\nnum_ctx                        1.048576e+06\ntemperature                    0.1"
        }));
        assert_eq!(
            (show.own_window(), show.parameter("temperature")),
            (Some(1_048_576), Some(0.1))
        );
        assert_eq!(show.parameter("num_keep"), None);
    }

    #[test]
    fn layers_may_differ() {
        let info = show(json!({"model_info": {
            "general.architecture": "g", "g.attention.head_count_kv": [8, 1], "g.attention.head_count": 16,
            "g.attention.sliding_window_pattern": [true, false], "g.embedding_length": 4096
        }}))
        .model_info;
        assert_eq!(info.head_count_kv(), Some(PerLayer::Each(vec![8, 1])));
        assert_eq!(
            info.per_layer("attention.sliding_window_pattern"),
            Some(PerLayer::Each(vec![1, 0]))
        );
        assert_eq!((info.key_length(), info.sliding_window()), (Some(256), None));
    }

    #[test]
    fn a_template_may_open_the_thinking() {
        assert!(show(json!({"template": "<|im_start|>assistant\n<think>\n"})).opens_thinking());
        assert!(
            !show(json!({"template": "{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}"}))
                .opens_thinking()
        );
    }
}
