//! Model names: `[host/][namespace/]name[:tag]`.

/// A name that can be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelName {
    /// Host, namespace and name, as written but without the tag.
    pub(crate) stem: String,
    /// The tag, `latest` when none was written.
    pub(crate) tag: String,
    /// The name as the client wrote it.
    pub(crate) written: String,
}

/// What can be wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameFault {
    /// None was given.
    Missing,
    /// It has a character or a shape no name has.
    Invalid,
}

/// The longest part of a name Ollama takes, in bytes.
const PART: usize = 80;

impl ModelName {
    /// Reads a name.
    pub(crate) fn read(text: &str) -> Result<Self, NameFault> {
        if text.is_empty() {
            return Err(NameFault::Missing);
        }
        let bare = text.split_once("://").map_or(text, |(_, rest)| rest);
        // A colon before the last slash is a host's port, not a tag.
        let (stem, tag) = match bare.rsplit_once(':') {
            Some((stem, tag)) if !tag.contains('/') => (stem, tag),
            _ => (bare, "latest"),
        };
        let parts: Vec<_> = stem.split('/').collect();
        let valid = parts.len() <= 3
            && valid_part(tag)
            && parts.iter().enumerate().all(|(i, part)| match (parts.len(), i) {
                (3, 0) => valid_host(part),
                _ => valid_part(part),
            });
        if !valid {
            return Err(NameFault::Invalid);
        }
        Ok(Self {
            stem: stem.to_owned(),
            tag: tag.to_owned(),
            written: text.to_owned(),
        })
    }

    /// Name and tag, as `/api/tags` lists it.
    pub(crate) fn full(&self) -> String {
        format!("{}:{}", self.stem, self.tag)
    }

    /// The name with the registry and namespace Ollama fills in.
    pub(crate) fn qualified(&self) -> String {
        match self.stem.matches('/').count() {
            0 => format!("registry.ollama.ai/library/{}", self.full()),
            1 => format!("registry.ollama.ai/{}", self.full()),
            _ => self.full(),
        }
    }

    /// Whether the tag asks for a model that runs elsewhere.
    pub(crate) fn is_cloud(&self) -> bool {
        self.tag == "cloud" || self.tag.ends_with("-cloud")
    }
}

fn valid_part(part: &str) -> bool {
    let mut bytes = part.bytes();
    part.len() <= PART
        && bytes
            .next()
            .is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

fn valid_host(part: &str) -> bool {
    !part.is_empty()
        && part
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_ollama_does() {
        assert_eq!(ModelName::read(""), Err(NameFault::Missing));
        assert_eq!(ModelName::read("../x"), Err(NameFault::Invalid));
        assert_eq!(ModelName::read("a b/../c"), Err(NameFault::Invalid));
        let name = ModelName::read("smollm2:135m").unwrap();
        assert_eq!((name.full().as_str(), name.is_cloud()), ("smollm2:135m", false));
        assert_eq!(name.qualified(), "registry.ollama.ai/library/smollm2:135m");
        assert_eq!(ModelName::read("demo").unwrap().full(), "demo:latest");
        assert_eq!(
            ModelName::read("127.0.0.1:1/x/y").unwrap().full(),
            "127.0.0.1:1/x/y:latest"
        );
        assert!(ModelName::read("gpt-oss:120b-cloud").unwrap().is_cloud());
    }
}
