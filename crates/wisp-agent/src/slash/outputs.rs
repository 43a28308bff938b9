//! `/show`, `/last`, `/outputs`, `/summarise`: outputs as the person sees them.

use wisp_output::store::Shelf;

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::printed::Printed;
use crate::protocol::{Event, NoteLevel};
use crate::views;

pub(super) async fn show(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    if !rest.is_empty() {
        conversation.note_jobs();
    }
    view(conversation, Some(rest).filter(|id| !id.is_empty()))
}

pub(super) async fn last(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    view(conversation, None)
}

fn view(conversation: &Conversation, id: Option<&str>) -> Next {
    match conversation.whole(id) {
        Ok(view) => conversation.events.send(Event::View(view)),
        Err(why) => conversation.events.note(NoteLevel::Error, why),
    }
    Next::Go
}

pub(super) async fn list(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    lines(&conversation.shown).for_each(|line| conversation.events.line(line));
    Next::Go
}

/// A line for each output, or that there is none.
pub(crate) fn lines(printed: &Printed) -> impl Iterator<Item = String> {
    let all = printed.all();
    let none = all.is_empty().then(|| "nothing has been printed yet".to_owned());
    let lines = all.into_iter().map(|shown| {
        let kept = match (&shown.not_kept, shown.kept) {
            (_, true) => "kept whole",
            (Some(_), _) => "not kept",
            (None, _) => "shown whole",
        };
        let lines = wisp_output::amount::grouped(shown.lines);
        let size = wisp_output::amount::size(shown.bytes);
        let id = wisp_host::ids::shown(&shown.id);
        format!("{id}  {lines:>10} lines  {size:>9}  {kept:<11}  {}", shown.title)
    });
    none.into_iter().chain(lines)
}

pub(super) async fn summarise(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    let shelf = Shelf::new(conversation.paths.home());
    match summary((&shelf, &conversation.shown), rest) {
        Ok(text) => text.lines().for_each(|line| conversation.events.line(line)),
        Err(why) => conversation.events.note(NoteLevel::Error, why),
    }
    Next::Go
}

/// What matters in an output, by the beginning of its id; without one, in the last.
pub(crate) fn summary((shelf, printed): (&Shelf, &Printed), id: &str) -> Result<String, String> {
    let shown = match id {
        "" => printed.last(),
        id => printed.beginning_with(id).into_iter().next(),
    };
    match shown {
        Some(shown) if !shown.kept => Ok(shown.digest()),
        shown => {
            let id = shown.as_ref().map_or(id, |s| s.id.as_str());
            let kept = shelf.open(id).map_err(|e| e.to_string());
            kept.and_then(|kept| views::digest_of(&kept))
        }
    }
}
