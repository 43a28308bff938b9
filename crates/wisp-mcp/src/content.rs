//! What a server answered a call with, as parts: text in its order, and what is no text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::clean::line;

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text, whole.
    Text(String),
    /// Something else: kept as an output of its own.
    Bytes {
        /// `image image/png`, in the server's words, cleaned.
        what: String,
        /// What it is.
        bytes: Vec<u8>,
    },
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Its parts in order.
    pub(crate) parts: Vec<Part>,
    /// Whether the server says that the call failed.
    pub(crate) failed: bool,
}

impl Answer {
    /// What the wire brought.
    pub(crate) fn of(result: CallToolResult) -> Self {
        let mut parts: Vec<Part> = result.content.into_iter().map(part).collect();
        // Beside text it is the same once more.
        if parts.is_empty()
            && let Some(structured) = result.structured_content
        {
            parts.push(Part::Text(structured.to_string()));
        }
        Self {
            parts,
            failed: result.is_error == Some(true),
        }
    }
}

/// The most characters that are said of a part.
const WHAT: usize = 80;

fn part(block: ContentBlock) -> Part {
    match block {
        ContentBlock::Text(text) => Part::Text(text.text),
        ContentBlock::Image(image) => bytes("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => bytes("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                Part::Text(format!("[resource {}]\n{text}", line(&uri, 200)))
            }
            ResourceContents::BlobResourceContents { uri, blob, .. } => bytes("resource", &uri, &blob),
            _ => Part::Text("[a resource of a kind that wisp does not know]".to_owned()),
        },
        ContentBlock::ResourceLink(link) => {
            let about = link.description.as_deref().unwrap_or_default();
            let text = format!(
                "[resource {}] {} {about}",
                line(&link.uri, 200),
                line(&link.name, 80)
            );
            Part::Text(line(&text, 600))
        }
        _ => Part::Text("[content of a kind that wisp does not know]".to_owned()),
    }
}

fn bytes(what: &str, kind: &str, data: &str) -> Part {
    let what = format!("{what} {}", line(kind, WHAT));
    match STANDARD.decode(data.trim_end()) {
        Ok(bytes) => Part::Bytes { what, bytes },
        Err(_) => Part::Text(format!("[{what}: its data cannot be read]")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(result: serde_json::Value) -> Answer {
        Answer::of(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn parts_stay_in_order_and_what_is_no_text_is_decoded() {
        let answer = of(json!({"content": [
            {"type": "text", "text": "a"},
            {"type": "image", "mimeType": "image/png", "data": "AAEC"},
            {"type": "resource", "resource": {"uri": "x://y", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "x://z", "blob": "AA=="}},
            {"type": "image", "mimeType": "image/png", "data": "not base64!"},
            {"type": "resource_link", "uri": "x://l", "name": "n\u{1b}[2J"}
        ], "isError": true}));
        let text = |text: &str| Part::Text(text.to_owned());
        assert_eq!(
            answer.parts,
            [
                text("a"),
                Part::Bytes {
                    what: "image image/png".to_owned(),
                    bytes: vec![0, 1, 2]
                },
                text("[resource x://y]\ninside"),
                Part::Bytes {
                    what: "resource x://z".to_owned(),
                    bytes: vec![0]
                },
                text("[image image/png: its data cannot be read]"),
                text("[resource x://l] n [2J"),
            ]
        );
        assert!(answer.failed);
    }

    #[test]
    fn a_structured_answer_stands_for_text_that_is_missing() {
        let answer = of(json!({"content": [], "structuredContent": {"a": 1}}));
        assert_eq!(
            (answer.parts, answer.failed),
            (vec![Part::Text("{\"a\":1}".to_owned())], false)
        );
        let both = of(json!({"content": [{"type": "text", "text": "t"}], "structuredContent": {"a": 1}}));
        assert_eq!(both.parts, [Part::Text("t".to_owned())]);
    }
}
