//! Making room: measured before every request, condensed when due, and said.

mod kept;
mod sure;

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::{Action, Phase, Plan, Pressure, Reason};
use wisp_output::amount::percent;

use crate::conversation::Conversation;
use crate::protocol::NoteLevel;
use crate::turn::TurnError;

impl Conversation {
    /// Measures what would be sent, condenses when that is due, and records both: a pressure event is
    /// written before every request, also one that fits.
    pub(crate) fn condense_if_due(&mut self, phase: Phase, number: u64) -> Result<(), TurnError> {
        let pressure = self.record.pressure(&self.gauge(), phase);
        if pressure.action == Action::Send {
            return self.record_pressure(&pressure, number);
        }
        // Where the server refuses what does not fit, it counts exactly, so nothing is refused here.
        let refuses = !self.model.cuts_silently();
        let plan = if refuses {
            self.record.plan_until_refused(&self.gauge(), phase)
        } else {
            let plan = self.record.plan(&self.gauge(), phase, Reason::Budget);
            plan.map(|plan| self.or_a_surer(plan, phase))
        };
        let Some(plan) = plan else {
            return self.record_pressure(&pressure, number);
        };
        let mut after = pressure.after(&plan);
        if refuses && after.action == Action::Refuse {
            after.action = Action::Floor;
        }
        let (fits, tokens) = (plan.fits, plan.fill_after + plan.prompt);
        if plan.changes() {
            self.apply(plan, number)?;
        } else if plan.floor {
            self.say_floor(&plan, number)?;
        }
        self.record_pressure(&after, number)?;
        if fits || refuses {
            Ok(())
        } else {
            Err(self.too_long(tokens))
        }
    }

    /// Nothing can leave, and the context is above its goal: recorded without steps and said, once a turn. A condensation
    /// of this turn has said it already.
    fn say_floor(&mut self, plan: &Plan, number: u64) -> Result<(), TurnError> {
        if self.condensed || self.floor_said.replace(number) == Some(number) {
            return Ok(());
        }
        self.record_event(number, Kind::ContextCondensation, details(plan))?;
        if let Some(note) = plan.floor_note() {
            self.events.note(NoteLevel::Warning, note);
        }
        Ok(())
    }

    /// That a request of about so many tokens does not fit, and whether the conversation has anything else in it.
    pub(crate) fn too_long(&self, tokens: u64) -> TurnError {
        TurnError::TooLong {
            tokens,
            window: self.model.window.tokens,
            first: self.is_first_turn(),
        }
    }

    /// Whether no turn is over yet, so that a new conversation would have no more room.
    pub(crate) fn is_first_turn(&self) -> bool {
        self.record.turn_count() <= 1
    }

    /// Makes room for the next turn while nobody waits. What cannot be recorded is not done, and the next request
    /// tries again.
    pub(crate) fn condense_idle(&mut self) {
        let pressure = self.record.pressure(&self.gauge(), Phase::Idle);
        let due = pressure.action != Action::Send || !self.next_surely_fits();
        if !due || self.record.open_turn().is_some() {
            return;
        }
        let Some(plan) = self.record.plan(&self.gauge(), Phase::Idle, Reason::Budget) else {
            return;
        };
        let plan = self.or_a_surer(plan, Phase::Idle);
        if !plan.changes() {
            return;
        }
        let (after, number) = (pressure.after(&plan), self.turn_number());
        let done = self.apply(plan, number);
        if let Err(error) = done.and_then(|()| self.record_pressure(&after, number)) {
            self.events.note(NoteLevel::Warning, error.to_string());
        }
    }

    /// Condenses because the server refused or cut a request. False when nothing can leave.
    pub(crate) fn condense(&mut self, phase: Phase, reason: Reason, number: u64) -> Result<bool, TurnError> {
        let plan = self.record.plan(&self.gauge(), phase, reason);
        match plan {
            Some(plan) if plan.changes() => self.apply(plan, number).map(|()| true),
            Some(plan) if plan.floor => self.say_floor(&plan, number).map(|()| false),
            _ => Ok(false),
        }
    }

    /// Makes room because the user asked: down to half of what is used. False when nothing can leave.
    pub(crate) fn compact(&mut self) -> Result<bool, TurnError> {
        let mut gauge = self.gauge();
        gauge.target.target = gauge.target.target.min(self.used() / 2.0);
        let plan = self.record.plan(&gauge, Phase::Idle, Reason::Asked);
        let done = match plan {
            Some(plan) if plan.changes() => self.apply(plan, self.turn_number()).map(|()| true),
            _ => Ok(false),
        };
        // Said with the replies of a turn, which this is not part of.
        self.condensed = false;
        done
    }

    /// Applies a plan under its audit event. A plan that went stale changes nothing.
    fn apply(&mut self, plan: Plan, number: u64) -> Result<(), TurnError> {
        let mut details = details(&plan);
        match self.keep_contexts(&plan) {
            Some(Ok(kept)) => {
                details["savedBefore"] = kept.before.display().to_string().into();
                details["savedAfter"] = kept.after.display().to_string().into();
            }
            Some(Err(error)) => self.events.note(NoteLevel::Warning, error.to_string()),
            None => {}
        }
        let event = self.record_event(number, Kind::ContextCondensation, details)?;
        // The goal of a condensation that was asked for is only a wish.
        let floor = plan.floor_note().filter(|_| plan.reason != Reason::Asked);
        let said = said(&plan);
        let Ok((_, referenced)) = self.record.condense(plan, event) else {
            return Ok(());
        };
        self.condensed = true;
        for one in referenced {
            let details = self.reference_details(&one);
            self.record_event(number, Kind::ContextReference, details)?;
        }
        self.events.note(NoteLevel::Info, said);
        if let Some(note) = floor {
            self.events.note(NoteLevel::Warning, note);
        }
        Ok(())
    }

    /// The details of `context.reference`: `bytes` the output had, `tokens` that its reference saves.
    pub(crate) fn reference_details(&self, referenced: &wisp_context::Referenced) -> serde_json::Value {
        let saved = referenced.bytes.saturating_sub(referenced.reference_bytes);
        json!({
            "entry": referenced.entry, "tool": referenced.tool, "result": self.source(referenced.entry),
            "bytes": referenced.bytes, "referenceBytes": referenced.reference_bytes,
            "tokens": self.estimator.tokens(saved),
        })
    }

    /// The audit event that has what entry `id` holds; null when there is none.
    pub(crate) fn source(&self, id: wisp_context::EntryId) -> Option<&str> {
        let sources = &self.record.entry(id)?.sources;
        sources.last().map(String::as_str)
    }

    fn record_pressure(&self, pressure: &Pressure, number: u64) -> Result<(), TurnError> {
        let details = serde_json::to_value(pressure).unwrap_or_default();
        self.record_event(number, Kind::ContextPressure, details)?;
        Ok(())
    }
}

/// The details of `context.condensation`.
fn details(plan: &Plan) -> serde_json::Value {
    let steps: Vec<String> = plan.steps.iter().map(|s| s.words()).collect();
    json!({
        "turnsBefore": plan.turns_before, "turnsAfter": plan.turns_after, "contextSize": plan.window,
        "tokenCount": plan.fill_before + plan.prompt, "target": plan.goal, "fillBefore": plan.fill_before,
        "fillAfter": plan.fill_after, "headroom": plan.headroom, "steps": steps, "floor": plan.floor,
        "reason": plan.reason,
    })
}

/// `made room: 78 % of the window to 41 %; 5 older turns left it and stay in the record`.
fn said(plan: &Plan) -> String {
    let (before, after) = (
        percent(plan.fill_before, plan.window),
        percent(plan.fill_after, plan.window),
    );
    let what = match plan.turns_before - plan.turns_after {
        0 => "outputs of earlier turns are sent as references".to_owned(),
        1 => "1 older turn left it and stays in the record".to_owned(),
        n => format!("{n} older turns left it and stay in the record"),
    };
    format!("made room: from {before} % of the window to {after} %; {what}")
}
