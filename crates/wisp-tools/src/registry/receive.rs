//! Text the person gives that is too long to be sent whole, piped in or pasted: kept and bounded as an output is, though
//! no tool made it.

use std::io::{self, Read};

use wisp_output::store::About;
use wisp_output::{Context, Place, receive};

use super::admit::{Admitted, KeptRecord, first_error};
use super::{Pending, Registry};
use crate::call::Keep;
use crate::tool::Ending;

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
        let presented = receive(source, place, &context)?;
        let kept = presented.kept.as_ref().map(KeptRecord::of);
        let shown = (presented.text.len() as u64, presented.text.lines().count() as u64);
        let (bytes, lines) = kept.as_ref().map_or(shown, |k| (k.total_bytes, k.total_lines));
        let admitted = Admitted {
            data: 0..presented.text.len() - presented.note,
            beginning: presented.text.clone(),
            shown: presented.text,
            bytes,
            lines,
            printed: (bytes, lines),
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
        if let Some(kept) = &admitted.kept {
            self.record_kept(turn, name, &call, kept);
        }
        Ok(Pending {
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
        })
    }
}
