//! The context as a face looks at it: the next request, the one under way, any one that was sent, and the turns.
//!
//! Between turns the conversation answers. While something runs the conversation is busy, so the engine keeps the
//! request as it was composed last, and reads earlier turns from the conversation as it was saved last: a copy of the
//! record for every turn would cost the more the longer the conversation is.

use tokio::sync::watch;
use wisp_context::{ContextView, Estimator, Gauge, PartKind, Target, ThreadRecord, turns_markdown};

use crate::conversation::Conversation;
use crate::protocol::{View, ViewKind};
use crate::saved::Folder;
use crate::secrets::Secrets;
use crate::slash;

/// What can be looked at while the conversation is busy.
pub struct Looking {
    saved: Option<(Folder, String)>,
    estimator: Estimator,
    target: Target,
    window: u64,
    before: u64,
    under_way: watch::Receiver<Option<ContextView>>,
    /// What `/status` says, but what the server has loaded.
    standing: Vec<(&'static str, String)>,
    /// What `/tokens` says, but of the request under way.
    tokens: Vec<String>,
    /// The background commands, as `/ps` lists them.
    pub commands: Vec<String>,
}

impl Looking {
    /// The conversation as it is now, before it gets busy.
    pub fn at(conversation: &Conversation) -> Self {
        Self {
            saved: conversation
                .thread
                .as_ref()
                .map(|thread| (thread.folder().clone(), thread.name().to_owned())),
            estimator: conversation.estimator.clone(),
            target: conversation.target,
            window: conversation.model.window.tokens,
            before: conversation.turns_before,
            under_way: conversation.looked.subscribe(),
            standing: slash::conversation::standing(conversation),
            tokens: slash::context::facts(conversation),
            commands: slash::jobs::commands(&conversation.registry),
        }
    }

    /// What `/status` says, but what the server has loaded; of the turn under way from its first request on.
    pub fn standing(&self) -> Vec<(&'static str, String)> {
        let mut rows = self.standing.clone();
        let turn = self.under_way.borrow().as_ref().and_then(|view| view.turn);
        let row = rows.iter_mut().find(|(name, _)| *name == "turn");
        if let (Some((_, value)), Some(turn)) = (row, turn) {
            *value = format!("{}, under way", self.before + u64::from(turn));
        }
        rows
    }

    /// What `/tokens` says: of the request composed last, and how that is known; none before there was a request.
    pub fn tokens(&self) -> Option<Vec<String>> {
        let view = self.under_way.borrow();
        let first = slash::context::used(&view.as_ref()?.estimate, self.window);
        Some([first].into_iter().chain(self.tokens.iter().cloned()).collect())
    }

    /// The context of a turn, or of the request composed last.
    pub fn context(&self, turn: Option<u64>) -> Result<View, String> {
        let last = self.under_way.borrow().clone();
        let number = last.as_ref().and_then(|view| view.turn);
        let number = number.map(|turn| self.before + u64::from(turn));
        if let Some(view) = last.filter(|_| turn.is_none() || turn == number) {
            return Ok(shown(view, self.before));
        }
        let Some((folder, name)) = self.saved.as_ref().filter(|_| turn.is_some()) else {
            return Err("no request has been composed yet".to_owned());
        };
        let loaded = folder.load(name).map_err(|error| error.to_string())?;
        let gauge = Gauge {
            estimator: &self.estimator,
            window: Some(self.window),
            target: self.target,
        };
        let view = seen(&loaded.record, &gauge, self.before, turn)?;
        Ok(shown(view, self.before))
    }
}

impl Conversation {
    /// The context of a turn by the number the person knows it by, or of the next request.
    pub(crate) fn context(&self, turn: Option<u64>) -> Result<View, String> {
        let gauge = self.gauge();
        let view = if turn.is_none() {
            seen(&self.record, &gauge, self.turns_before, None)?
        } else {
            let whole = self.whole_record().map_err(|error| error.to_string())?;
            seen(&whole, &gauge, self.turns_before, turn)?
        };
        Ok(shown(self.as_sent(view), self.turns_before))
    }

    /// A view with the secrets masked that the model does not get either.
    fn as_sent(&self, mut view: ContextView) -> ContextView {
        if let Some(secrets) = self.model.masks() {
            mask(&mut view, secrets);
        }
        view
    }

    /// The turns, what each cost and what changed at it.
    pub(crate) fn context_turns(&self) -> Result<View, String> {
        let whole = self.whole_record().map_err(|error| error.to_string())?;
        let mut rows = whole.context_turns(&self.gauge());
        for row in &mut rows {
            row.turn += u32::try_from(self.turns_before).unwrap_or(0);
        }
        Ok(View {
            kind: ViewKind::Context,
            turn: None,
            text: turns_markdown(&rows),
            output: None,
        })
    }

    /// Lets whoever looks see the request that is about to be sent.
    pub(crate) fn show_request(&self) {
        let view = self.record.context_next(&self.gauge());
        self.looked.send_replace(Some(self.as_sent(view)));
    }
}

/// Replaces the secrets in the parts that a model is sent without them: all but the instructions.
pub(crate) fn mask(view: &mut ContextView, secrets: &Secrets) {
    let sent = view
        .rows
        .iter_mut()
        .filter(|row| row.kind != PartKind::Instructions);
    for row in sent {
        if let Some(masked) = secrets.masked(row.text.as_str()) {
            row.text = masked.into();
        }
    }
}

fn seen(
    record: &ThreadRecord,
    gauge: &Gauge<'_>,
    before: u64,
    turn: Option<u64>,
) -> Result<ContextView, String> {
    let Some(number) = turn else {
        return Ok(record.context_next(gauge));
    };
    let own = number.checked_sub(before).and_then(|n| u32::try_from(n).ok());
    let view = own.and_then(|own| record.context_of(own, gauge));
    view.ok_or_else(|| {
        let last = before + u64::from(record.turn_count());
        match last - before {
            0 => "this conversation has no turn yet".to_owned(),
            _ => format!(
                "there is no turn {number} in this conversation, which has {} to {last}",
                before + 1
            ),
        }
    })
}

/// A view under the numbers the person knows the turns by: those before `/new` are counted too.
fn shown(mut view: ContextView, before: u64) -> View {
    let before = u32::try_from(before).unwrap_or(0);
    view.turn = view.turn.map(|turn| turn + before);
    for row in &mut view.rows {
        row.turn = row.turn.map(|turn| turn + before);
    }
    for done in &mut view.condensations {
        done.turn += before;
    }
    View {
        kind: ViewKind::Context,
        turn: view.turn.map(u64::from),
        text: view.markdown(),
        output: None,
    }
}
