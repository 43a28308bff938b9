//! A model that is not on the server: the error names it and the installed one that was probably meant.

use wisp_ollama::{Client, Error, Refusal};

use crate::open::OpenError;

/// The error for a model that could not be opened. When the server does not have it, it is named, with the installed
/// model nearest to it.
pub async fn explained(client: &Client, name: &str, error: Error) -> OpenError {
    if error.refusal() != Some(Refusal::ModelNotFound) {
        return error.into();
    }
    let listed = client.tags().await.unwrap_or_default();
    let installed: Vec<String> = listed.into_iter().map(|model| model.name).collect();
    OpenError::NotInstalled {
        name: name.to_owned(),
        near: nearest(name, &installed).map(str::to_owned),
    }
}

/// The installed model that `name` probably means: one of the same family (`qwen3` for `qwen3:8b`, `llama` for
/// `llama3.2:3b`), else the one spelt most alike.
fn nearest<'a>(name: &str, installed: &'a [String]) -> Option<&'a str> {
    let wanted = name.trim_end_matches(":latest").to_lowercase();
    let begins = |model: &&String| model.to_lowercase().starts_with(&wanted);
    if let Some(model) = installed.iter().filter(begins).min_by_key(|model| model.len()) {
        return Some(model);
    }
    let family = |model: &'a str| model.split(':').next().unwrap_or(model);
    let near =
        |candidates: &mut dyn Iterator<Item = &'a str>, word: &str| wisp_config::nearest(word, candidates);
    let whole = near(&mut installed.iter().map(String::as_str), &wanted);
    whole.or_else(|| {
        let wanted = wanted.split(':').next().unwrap_or(&wanted);
        let close = near(&mut installed.iter().map(|model| family(model)), wanted)?;
        installed
            .iter()
            .find(|model| family(model) == close)
            .map(String::as_str)
    })
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_same_family_comes_before_the_same_spelling() {
        let installed = ["qwen3:8b", "qwen3-coder:30b", "llama3.2:3b", "mistral:latest"].map(str::to_owned);
        for (name, near) in [
            ("qwen3", Some("qwen3:8b")),
            ("Qwen3", Some("qwen3:8b")),
            ("qwen", Some("qwen3:8b")),
            ("llama", Some("llama3.2:3b")),
            ("qwen3:4b", Some("qwen3:8b")),
            ("mistrl", Some("mistral:latest")),
            ("lama3.2:latest", Some("llama3.2:3b")),
            ("gemma3:27b", None),
        ] {
            assert_eq!(nearest(name, &installed), near, "{name}");
        }
    }
}
