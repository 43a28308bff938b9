//! The models on a server (`/api/tags`) and in its memory (`/api/ps`), and which of them run elsewhere.

use serde::{Deserialize, Deserializer};

use crate::lenient;

/// A model on the server's disk.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Model {
    /// The name to ask for, with its tag.
    #[serde(default)]
    pub name: String,
    /// Bytes on disk: the weights, near enough.
    #[serde(default, deserialize_with = "lenient::count")]
    pub size: Option<u64>,
    /// SHA-256 of the manifest, in hex; what to cache `/api/show` by.
    #[serde(default, deserialize_with = "text")]
    pub digest: String,
    /// RFC 3339 with an offset.
    #[serde(default, deserialize_with = "text")]
    pub modified_at: String,
    /// Family, parameters, quantisation.
    #[serde(default, deserialize_with = "or_default")]
    pub details: Details,
    /// What the list says the model can do; from 0.30.0. `/api/show` is to be believed instead: where the server takes
    /// the template inside the file, the list still speaks of the other one.
    pub capabilities: Option<Vec<String>>,
    /// The model's name on the machine where it really runs.
    pub remote_model: Option<String>,
    /// That machine.
    pub remote_host: Option<String>,
}

impl Model {
    /// Whether prompts to this model leave for another machine.
    pub fn is_cloud(&self) -> bool {
        is_cloud(&self.name, self.remote_host.as_deref())
    }
}

/// A model in memory, or on its way there.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Loaded {
    /// The name it was loaded by, with its tag.
    #[serde(default)]
    pub name: String,
    /// Bytes held, on the CPU and the GPU together.
    #[serde(default, deserialize_with = "lenient::count")]
    pub size: Option<u64>,
    /// Bytes of those on the GPU; 0 is CPU only.
    #[serde(default, deserialize_with = "lenient::count")]
    pub size_vram: Option<u64>,
    /// SHA-256 of the manifest, in hex.
    #[serde(default, deserialize_with = "text")]
    pub digest: String,
    /// RFC 3339 with an offset; a year in the 2300s is "never", year 1 is "being unloaded".
    #[serde(default, deserialize_with = "text")]
    pub expires_at: String,
    /// The window in use; from 0.10.0. 0.11 repeats what was asked for, beyond what the model was trained for.
    #[serde(default, deserialize_with = "lenient::count")]
    pub context_length: Option<u64>,
    /// Family, parameters, quantisation.
    #[serde(default, deserialize_with = "or_default")]
    pub details: Details,
}

impl Loaded {
    /// The share of the model on the GPU, in percent; `None` when the sizes are unknown.
    pub fn gpu_percent(&self) -> Option<u64> {
        let size = self.size.filter(|size| *size > 0)?;
        Some(wisp_amount::percent(self.size_vram?.min(size), size))
    }
}

/// What kind of model it is. Everything may be missing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Details {
    /// `gguf` or `safetensors`.
    #[serde(default, deserialize_with = "text")]
    pub format: String,
    /// The architecture's family.
    #[serde(default, deserialize_with = "text")]
    pub family: String,
    /// As `8.2B`.
    #[serde(default, deserialize_with = "text")]
    pub parameter_size: String,
    /// As `Q4_K_M`.
    #[serde(default, deserialize_with = "text")]
    pub quantization_level: String,
    /// The trained window in tokens; from 0.30.0, in `/api/tags` only.
    #[serde(default, deserialize_with = "lenient::count")]
    pub context_length: Option<u64>,
}

/// The list both routes answer with.
#[derive(Deserialize)]
pub(crate) struct Models<T> {
    models: Option<Vec<T>>,
}

impl<T> Models<T> {
    pub(crate) fn into_list(self) -> Vec<T> {
        self.models.unwrap_or_default()
    }
}

/// Whether a model runs on another machine: a name ending in `:cloud` or `-cloud`, or a remote host in its entry.
pub fn is_cloud(name: &str, remote_host: Option<&str>) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(":cloud") || name.ends_with("-cloud") || remote_host.is_some_and(|host| !host.is_empty())
}

/// The bare name of a machine a `remote_host` names: without scheme, port and path, in lower case.
pub fn host_name(remote_host: &str) -> String {
    let text = remote_host.trim().to_ascii_lowercase();
    let text = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
    let authority = text.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name.to_owned(),
        _ => authority.to_owned(),
    }
}

/// Whether two names mean one model: the tag `latest` may be left out, and case does not count.
pub fn same_model(one: &str, other: &str) -> bool {
    fn bare(name: &str) -> &str {
        name.strip_suffix(":latest").unwrap_or(name)
    }
    bare(&one.to_ascii_lowercase()) == bare(&other.to_ascii_lowercase())
}

/// Text that may be null.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    or_default(deserializer)
}

/// A value that may be null.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Loaded, Model, host_name, is_cloud, same_model};

    #[test]
    fn remote_models_are_recognised() {
        for (name, host, cloud) in [
            ("gpt-oss:120b-cloud", None, true),
            ("Kimi:CLOUD", None, true),
            ("mine:latest", Some("https://ollama.com:443"), true),
            ("mine:latest", Some(""), false),
            ("cloudy:8b", None, false),
        ] {
            assert_eq!(is_cloud(name, host), cloud, "{name}");
        }
    }

    #[test]
    fn a_machine_has_one_name_however_it_is_written() {
        for (text, name) in [
            ("https://ollama.com:443", "ollama.com"),
            ("ollama.com", "ollama.com"),
            ("http://Ollama.com/api", "ollama.com"),
            ("https://ollama.com.example.org", "ollama.com.example.org"),
            ("https://[::1]:443", "[::1]"),
        ] {
            assert_eq!(host_name(text), name, "{text}");
        }
    }

    #[test]
    fn the_latest_tag_may_be_left_out() {
        assert!(same_model("Qwen3", "qwen3:latest"));
        assert!(!same_model("qwen3:8b", "qwen3"));
    }

    #[test]
    fn a_bare_entry_is_read() {
        let model: Model =
            serde_json::from_str(r#"{"name":"m","digest":null,"details":{"families":null},"size":1.5e3}"#)
                .expect("reads");
        assert_eq!((model.size, model.capabilities), (Some(1500), None));
    }

    #[test]
    fn the_share_on_the_gpu_is_a_percentage() {
        let at = |size, vram| -> Option<u64> {
            let text = format!(r#"{{"name":"m","size":{size},"size_vram":{vram}}}"#);
            serde_json::from_str::<Loaded>(&text)
                .expect("reads")
                .gpu_percent()
        };
        assert_eq!(
            (at(200, 50), at(200, 200), at(200, 0), at(0, 0)),
            (Some(25), Some(100), Some(0), None)
        );
    }
}
