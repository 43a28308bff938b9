//! Attaching what a message names with `@`: a file's lines or a folder's names go below the message, bounded as a read is.

use wisp_tools::Attachment;

use super::named;
use crate::conversation::Conversation;
use crate::protocol::NoteLevel;

/// The most files and folders of one message.
const MOST: usize = 8;
/// Endings of images, which are sent as such.
const IMAGES: [&str; 6] = ["png", "jpg", "jpeg", "gif", "webp", "bmp"];

impl Conversation {
    /// What goes below a message for the paths that it names; none when it names none that exist. What is attached, and
    /// what is not, is said.
    pub(crate) fn attached(&mut self, message: &str) -> Option<String> {
        if std::mem::take(&mut self.mentions_read) {
            return None;
        }
        let mut paths: Vec<String> = Vec::new();
        for name in named(message) {
            match self.existing(name) {
                Some(path) if paths.contains(&path) => {}
                Some(path) => paths.push(path),
                None if name.contains('/') => {
                    self.events
                        .note(NoteLevel::Warning, format!("@{name} was not found: sent as text"));
                }
                None => {}
            }
        }
        if paths.len() > MOST {
            let text = format!("only the first {MOST} of {} paths are attached", paths.len());
            self.events.note(NoteLevel::Warning, text);
            paths.truncate(MOST);
        }
        let share = self.registry.services().budget.bytes() / paths.len().max(1);
        let texts: Vec<String> = paths.iter().filter_map(|path| self.one(path, share)).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// The path that a word names: as it stands, or without the marks that end a sentence. None for an image.
    fn existing(&self, name: &str) -> Option<String> {
        let trimmed = name.trim_end_matches([',', '.', ';', ':', '!', '?', ')', ']', '\'', '"', '`']);
        let exists = |name: &&str| !name.is_empty() && self.registry.services().path(name).exists();
        let path = [name, trimmed].into_iter().find(exists)?;
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_image = IMAGES.iter().any(|image| ending.eq_ignore_ascii_case(image));
        (!is_image).then(|| path.to_owned())
    }

    fn one(&mut self, path: &str, share: usize) -> Option<String> {
        match self.registry.attach(path, share) {
            Ok(Attachment { text, about }) => {
                self.events
                    .note(NoteLevel::Info, format!("attached {path}: {about}"));
                let text = wisp_template_tokens::inert(&text);
                Some(format!("{path} ({about}):\n{text}"))
            }
            Err(why) => {
                self.events
                    .note(NoteLevel::Warning, format!("{path} was not attached: {why}"));
                None
            }
        }
    }
}
