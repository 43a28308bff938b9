//! Text the person gives that is too long to be sent whole, piped in or pasted: kept and bounded as an output is, though
//! no tool made it.

use std::io::{self, Read};

use wisp_output::store::About;
use wisp_output::{Context, Place, receive};

use super::admit::{Admitted, KeptRecord, first_error};
use super::{Pending, Registry};
use crate::call::Keep;
use crate::tool::Ending;

/// A reader that counts what passes: what is not kept has its size from here.
struct Counted<R> {
    source: R,
    bytes: u64,
    newlines: u64,
    /// Whether the last byte began or went on with a line.
    open: bool,
}

impl<R> Counted<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            bytes: 0,
            newlines: 0,
            open: false,
        }
    }

    /// Bytes and lines, a last one without a newline included.
    fn so_far(&self) -> (u64, u64) {
        (self.bytes, self.newlines + u64::from(self.open))
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        let bytes = &buffer[..read];
        self.bytes += read as u64;
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.open = bytes.last().map_or(self.open, |last| *last != b'\n');
        Ok(read)
    }
}

impl Registry {
    /// Reads `source` to its end, keeps it whole under the tool's name `name` when it is more than a result may have, and
    /// gives what the model is shown of it. Errors are the source's.
    pub fn receive(&mut self, name: &str, source: impl Read + Send, turn: u64) -> io::Result<Pending> {
        let call = self.services.ids.next();
        let context = Context {
            id: &call,
            about: About {
                tool: name.to_owned(),
                ..About::default()
            },
            budget: self.services.budget.bytes(),
            memory: self.will_have_memory(),
            command: false,
            now: self.services.clock.now(),
            first_error: Some(&first_error),
        };
        let place = match &self.services.keep {
            Keep::In(store) => Place::Store(store),
            Keep::Nowhere(why) => Place::Nowhere(why),
        };
        let mut source = Counted::new(source);
        let presented = receive(&mut source, place, &context)?;
        let kept = presented.kept.as_ref().map(KeptRecord::of);
        let (bytes, lines) = kept
            .as_ref()
            .map_or(source.so_far(), |k| (k.total_bytes, k.total_lines));
        let admitted = Admitted {
            data: 0..presented.text.len() - presented.note,
            beginning: presented.text.clone(),
            excerpt: Vec::new(),
            shown: presented.text,
            bytes,
            lines,
            printed: (bytes, lines),
            out_lines: None,
            held: presented.held,
            kept,
            not_kept: presented.not_kept,
            command: false,
            left: None,
            exit: None,
            note: None,
            whole: None,
            around: (String::new(), String::new()),
        };
        self.held_back(&admitted);
        let pending = Pending {
            call,
            tool: name.to_owned(),
            arguments: String::new(),
            admitted,
            ending: Ending::Done,
            seconds: 0.0,
            repeat: 0,
            in_a_row: 0,
            reads_only: true,
            difference: None,
        };
        self.record_kept(turn, &pending);
        Ok(pending)
    }
}
