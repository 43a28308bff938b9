//! Images that a message names, `@pic.png`: read when it is sent, and sent along with it for as long as it is in the window.
//!
//! The record has a line for each image and not the image: a saved conversation stays text, and one that is continued later
//! says what was looked at without showing it again.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wisp_ollama::{ChatRequest, Role};
use wisp_output::amount::size;

use crate::conversation::Conversation;

/// The most bytes of an image.
const MOST: u64 = 20 * 1024 * 1024;
/// What an image is counted as in a request until the server has counted it, in bytes of text.
const COUNTS_AS: u64 = 4096;
/// The endings of files that are taken for images.
const ENDINGS: [&str; 6] = ["png", "jpg", "jpeg", "gif", "webp", "bmp"];

/// An image of a message.
#[derive(Debug, Clone)]
pub struct Image {
    /// The line of the message that stands for it.
    line: String,
    /// Its file, as base64.
    data: String,
}

impl Conversation {
    /// A message with a line for each image it names; the message itself when it names none. Errors: a model that cannot see,
    /// a file that is none or no image.
    pub(crate) fn with_images(&mut self, message: &str) -> Result<String, String> {
        let mut text = message.to_owned();
        let named = named(message);
        // What is piped in names nothing: only the user's own words do.
        if named.is_empty() || self.mentions_read {
            return Ok(text);
        }
        if self.model.show.can("vision") == Some(false) {
            return Err(format!(
                "{} cannot see images, so the message was not sent\nhint: wisp models lists which can (vision); /model NAME goes \
                 on with one, or leave out @{}",
                self.model.name, named[0]
            ));
        }
        let mut images = Vec::new();
        for name in named {
            let path = self.registry.services().path(&name);
            let bytes = read(&path).map_err(|why| format!("@{name} was not sent, nor the message: {why}"))?;
            let id = self.registry.services().ids.next();
            let line = format!(
                "[image {}: {name}, {}]",
                wisp_host::ids::shown(&id),
                size(bytes.len() as u64)
            );
            text = format!("{text}\n\n{line}");
            let data = STANDARD.encode(&bytes);
            images.push(Image { line, data });
        }
        self.beside.images.extend(images);
        Ok(text)
    }

    /// Puts the images beside the messages that have their lines.
    pub(crate) fn attach(&self, request: &mut ChatRequest) {
        if self.model.show.can("vision") == Some(false) {
            return;
        }
        for message in request.messages.iter_mut().filter(|one| one.role == Role::User) {
            let of_it = self
                .beside
                .images
                .iter()
                .filter(|one| message.content.contains(&one.line));
            message.images = of_it.map(|one| one.data.clone()).collect();
        }
    }

    /// What the images of a request are counted as, in bytes of text.
    pub(crate) fn image_bytes(&self, request: &wisp_context::Request) -> u64 {
        let holds = |image: &&Image| {
            let mut messages = request.messages.iter();
            messages.any(|message| message.content.as_str().contains(&image.line))
        };
        self.beside.images.iter().filter(holds).count() as u64 * COUNTS_AS
    }
}

/// The files that a message names with `@` and that end as images do; in quotes where there are blanks in a name.
fn named(message: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in message.match_indices('@') {
        if message[..at].ends_with(|c: char| !c.is_whitespace() && c != '(') {
            continue;
        }
        let rest = &message[at + 1..];
        let quoted = rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"'));
        let word = rest.split_whitespace().next().unwrap_or_default();
        let word = word.trim_end_matches([',', '.', ';', ':', '!', '?', ')', '\'', '"']);
        let name = quoted.map_or(word, |(name, _)| name);
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
        let is_image = ending.is_some_and(|own| ENDINGS.iter().any(|one| own.eq_ignore_ascii_case(one)));
        if is_image && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let about = std::fs::metadata(path).map_err(|why| why.to_string())?;
    if !about.is_file() {
        return Err("it is no file".to_owned());
    }
    if about.len() > MOST {
        return Err(format!(
            "it has {}, and an image may have {}",
            size(about.len()),
            size(MOST)
        ));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|why| why.to_string())?;
    file.take(MOST)
        .read_to_end(&mut bytes)
        .map_err(|why| why.to_string())?;
    if is_image(&bytes) {
        Ok(bytes)
    } else {
        Err("it is no image: PNG, JPEG, GIF, WebP and BMP are known".to_owned())
    }
}

/// Whether a file begins as an image does.
fn is_image(bytes: &[u8]) -> bool {
    let begins: [&[u8]; 4] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"BM"];
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    webp || begins.iter().any(|begin| bytes.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_named_by_an_at_sign_their_ending_and_quotes_around_blanks() {
        for (message, names) in [
            ("what is in @pic.png?", vec!["pic.png"]),
            ("@a.JPG, @b.webp and @a.JPG", vec!["a.JPG", "b.webp"]),
            ("(@\"my pic.gif\")", vec!["my pic.gif"]),
            ("mail ada@example.png or see @src/main.rs", vec![]),
            ("@", vec![]),
        ] {
            assert_eq!(named(message), names, "{message}");
        }
    }

    #[test]
    fn a_file_is_an_image_by_how_it_begins() {
        assert!(is_image(b"\x89PNG\r\n\x1a\n") && is_image(b"RIFF\0\0\0\0WEBPVP8 "));
        assert!(!is_image(b"RIFF\0\0\0\0WAVE") && !is_image(b"<svg") && !is_image(b""));
    }
}
