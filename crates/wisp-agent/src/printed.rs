//! What was printed in a conversation and can be looked at again: by the conversation, and beside it while it is busy.
//!
//! An output that the model was shown whole is not in the store: what the tool returned is all there is of it, and it is
//! here. A face pages, searches and digests it like any other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wisp_output::content::{MemoryContent, Section, Stretch};
use wisp_output::{Streams, streams};

use crate::conversation::Shown;
use crate::protocol::{Event, View, ViewKind};
use crate::views::{self, Search};

/// The outputs of a conversation, in order; copies share them.
#[derive(Debug, Clone, Default)]
pub struct Printed(Arc<Mutex<Vec<Arc<Shown>>>>);

impl Printed {
    fn list(&self) -> MutexGuard<'_, Vec<Arc<Shown>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an output; the oldest make room when there are `most`.
    pub fn push(&self, shown: Shown, most: usize) {
        let mut list = self.list();
        list.retain(|one| one.id != shown.id || shown.id.is_empty());
        let beyond = (list.len() + 1).saturating_sub(most.max(1));
        list.drain(..beyond);
        list.push(Arc::new(shown));
    }

    /// All of them.
    pub fn all(&self) -> Vec<Arc<Shown>> {
        self.list().clone()
    }

    /// The last one.
    pub fn last(&self) -> Option<Arc<Shown>> {
        self.list().last().cloned()
    }

    /// Those whose ids begin with `start`.
    pub fn beginning_with(&self, start: &str) -> Vec<Arc<Shown>> {
        let list = self.list();
        list.iter()
            .filter(|one| one.id.starts_with(start))
            .cloned()
            .collect()
    }

    /// The one output whose id begins with `start` (four characters or more), if the store does not have it.
    pub fn unkept(&self, start: &str) -> Option<Arc<Shown>> {
        self.known(start).filter(|one| !one.kept)
    }

    /// The one output whose id begins with `start` (four characters or more).
    pub fn known(&self, start: &str) -> Option<Arc<Shown>> {
        let mut found = self.beginning_with(start).into_iter();
        let one = found.next().filter(|_| start.len() >= 4)?;
        found.next().is_none().then_some(one)
    }
}

impl Shown {
    /// All there is of it, as its only page.
    pub fn page(&self) -> View {
        View {
            kind: ViewKind::Output,
            turn: None,
            text: self.text.clone(),
            output: Some(views::unkept(self)),
        }
    }

    /// A command's streams in the text.
    pub fn sections(&self) -> Vec<Section> {
        let command = self.title.starts_with("run_command ") || self.title.starts_with("! ");
        if command && self.held.is_empty() {
            streams::framed(&self.text, self.out_lines.map(|out| (out, self.lines)))
        } else {
            Vec::new()
        }
    }

    /// Where a pattern occurs next in it.
    pub fn search(&self, wanted: &Search<'_>) -> Event {
        let content = Streams::new(MemoryContent::whole(self.text.as_bytes()), &self.sections());
        let hit = views::found_in(content, wanted).ok().flatten();
        Event::Found {
            id: self.id.clone(),
            pattern: wanted.pattern.to_owned(),
            line: hit.map(|(line, _)| line),
            page: hit.map(|_| 0),
        }
    }

    /// What matters in it, read without a model.
    pub fn digest(&self) -> String {
        let content = Streams::new(MemoryContent::whole(self.text.as_bytes()), &self.sections());
        let reader = Stretch::all(&content);
        let digest = wisp_digest::digest_reader(reader, wisp_digest::Options::default());
        let mut digest = digest.expect("memory can be read");
        digest.bytes = self.bytes;
        digest.render(views::DIGEST, wisp_digest::View::Notable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(id: &str, kept: bool) -> Shown {
        Shown {
            id: id.into(),
            title: "run_command seq".into(),
            text: "exit status 0\nstdout:\n1\n2\n".into(),
            bytes: 4,
            lines: 2,
            out_lines: Some(2),
            held: Vec::new(),
            kept,
            not_kept: None,
        }
    }

    #[test]
    fn a_line_that_reads_like_a_frame_is_a_line() {
        let mut one = shown("aaaa000000000000", false);
        let frames = |one: &Shown| one.page().output.unwrap().frames;
        one.text = "exit status 0\nstdout:\nstderr:\n2\nstderr:\n3\n".into();
        (one.bytes, one.lines, one.out_lines) = (12, 3, Some(2));
        assert_eq!(frames(&one), [0, 1, 4]);
        (one.bytes, one.lines, one.out_lines) = (20, 4, Some(4));
        assert_eq!(frames(&one), [0, 1], "all of it is stdout's");
        one.text = "exit status 0\nstdout:\n1\nstill running: sleep 9 (pid 7)\n".into();
        (one.bytes, one.lines, one.out_lines) = (2, 1, Some(1));
        assert_eq!(frames(&one), [0, 1, 3], "wisp's own words below it");
    }

    #[test]
    fn what_the_store_does_not_have_is_paged_searched_and_digested() {
        let printed = Printed::default();
        printed.push(shown("aaaa000000000000", true), 9);
        printed.push(shown("bbbb000000000000", false), 9);
        assert!(printed.unkept("aaaa000000000000").is_none());
        assert!(printed.unkept("bbb").is_none());
        let one = printed.unkept("bbbb").unwrap();
        let page = one.page();
        assert_eq!(page.text, one.text);
        let output = page.output.unwrap();
        assert_eq!((output.pages, output.first_line, output.lines), (1, 1, 2));
        assert_eq!(output.frames, [0, 1]);
        let search = |pattern, from_line| {
            one.search(&Search {
                pattern,
                from_line,
                backwards: false,
            })
        };
        assert!(
            matches!(
                search("^2$", 1),
                Event::Found {
                    line: Some(2),
                    page: Some(0),
                    ..
                }
            ),
            "{:?}",
            search("^2$", 1)
        );
        assert!(matches!(
            search("^2$", 3),
            Event::Found {
                line: None,
                page: None,
                ..
            }
        ));
        assert!(!one.digest().is_empty());
    }

    #[test]
    fn an_output_that_was_swept_is_what_the_model_was_shown_of_it_and_says_why() {
        let home = tempfile::tempdir().expect("a directory of its own");
        let printed = Printed::default();
        printed.push(shown("aaaa000000000000", true), 9);
        let shelf = wisp_output::Shelf::new(home.path());
        let view = views::page(
            (&shelf, &printed),
            "aaaa",
            0,
            &mut crate::places::Places::default(),
        );
        let output = view.output.unwrap();
        assert_eq!(view.text, "exit status 0\nstdout:\n1\n2\n");
        assert_eq!(
            output.about,
            "the stored whole is not there (no stored output has the id aaaa); this is what the model was shown of it"
        );
        assert_eq!(output.pages, 1);
    }

    #[test]
    fn an_id_that_several_begin_with_names_none() {
        let printed = Printed::default();
        for id in ["cccc0", "cccc1", "cccc2"] {
            printed.push(shown(id, false), 2);
        }
        assert_eq!(printed.all().len(), 2, "the oldest made room");
        assert!(printed.unkept("cccc").is_none());
        assert!(printed.unkept("cccc2").is_some());
        assert_eq!(printed.last().unwrap().id, "cccc2");
    }
}
