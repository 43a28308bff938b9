//! A prompt of an editor as the line that a person would have written.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};

/// The most bytes of a file that an editor sends along; the model reads the rest itself.
const EMBEDDED: usize = 64 * 1024;

/// The text of a prompt: its texts, the files it names as paths, and what it embeds, framed. The error names what cannot be
/// taken.
pub(crate) fn text(blocks: &[ContentBlock]) -> Result<String, String> {
    let mut text = String::new();
    let mut beside = Vec::new();
    for block in blocks {
        match block {
            ContentBlock::Text(part) => text.push_str(&part.text),
            ContentBlock::ResourceLink(link) => text.push_str(path(&link.uri)),
            ContentBlock::Resource(embedded) => match &embedded.resource {
                EmbeddedResourceResource::TextResourceContents(resource) => {
                    text.push_str(path(&resource.uri));
                    beside.push(framed(path(&resource.uri), &resource.text));
                }
                _ => return Err("data that is no text cannot be sent along yet".to_owned()),
            },
            _ => return Err("images and sound cannot be sent along yet".to_owned()),
        }
    }
    Ok(beside
        .into_iter()
        .fold(text, |text, part| format!("{text}\n\n{part}")))
}

/// A file's address as a path.
fn path(uri: &str) -> &str {
    uri.strip_prefix("file://").unwrap_or(uri)
}

fn framed(path: &str, text: &str) -> String {
    let mut end = EMBEDDED.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let more = if end < text.len() {
        format!("\n[{} more bytes; read the file for them]", text.len() - end)
    } else {
        String::new()
    };
    format!("[{path} as the editor has it:\n{}{more}\n]", &text[..end])
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::PromptRequest;
    use serde_json::{Value, json};

    use super::*;

    fn of(blocks: &Value) -> Result<String, String> {
        let request = json!({"sessionId": "s", "prompt": blocks});
        let request: PromptRequest = serde_json::from_value(request).unwrap();
        text(&request.prompt)
    }

    #[test]
    fn files_are_named_and_what_is_embedded_follows() {
        let said = of(&json!([
            {"type": "text", "text": "fix "},
            {"type": "resource_link", "uri": "file:///w/a.rs", "name": "a.rs"},
            {"type": "text", "text": " like "},
            {"type": "resource", "resource": {"uri": "file:///w/b.rs", "text": "fn b() {}"}}
        ]));
        assert_eq!(
            said.unwrap(),
            "fix /w/a.rs like /w/b.rs\n\n[/w/b.rs as the editor has it:\nfn b() {}\n]"
        );
    }

    #[test]
    fn what_is_long_is_cut_with_what_is_missing_and_an_image_is_refused() {
        let long =
            json!([{"type": "resource", "resource": {"uri": "file:///a", "text": "é".repeat(32_769)}}]);
        assert!(
            of(&long)
                .unwrap()
                .ends_with("é\n[2 more bytes; read the file for them]\n]")
        );
        let image = json!([{"type": "image", "data": "AA==", "mimeType": "image/png"}]);
        assert_eq!(
            of(&image).unwrap_err(),
            "images and sound cannot be sent along yet"
        );
    }
}
