//! Making room: measured before every request, condensed when due, and said.

mod kept;
mod sure;

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::{Action, Phase, Plan, Pressure, Reason};

use crate::conversation::Conversation;
use crate::protocol::NoteLevel;
use crate::turn::TurnError;

pub(crate) use kept::MARK;

impl Conversation {
    /// Measures what would be sent, condenses when that is due, and records both (ADR-0137: a pressure event before
    /// every request, also one that fits).
    pub(crate) fn condense_if_due(&mut self, phase: Phase, number: u64) -> Result<(), TurnError> {
        let pressure = self.record.pressure(&self.gauge(), phase);
        if pressure.action == Action::Send {
            return self.record_pressure(&pressure, number);
        }
        let Some(plan) = self.record.plan(&self.gauge(), phase, Reason::Budget) else {
            return self.record_pressure(&pressure, number);
        };
        let plan = self.or_a_surer(plan, phase);
        let after = pressure.after(&plan);
        let fits = plan.fits;
        if plan.changes() {
            self.apply(plan, number)?;
        }
        self.record_pressure(&after, number)?;
        if fits {
            Ok(())
        } else {
            Err(TurnError::TooLong(self.model.window.tokens))
        }
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

    /// Condenses because the server refused or cut a request.
    pub(crate) fn condense(&mut self, phase: Phase, reason: Reason, number: u64) -> Result<(), TurnError> {
        let plan = self.record.plan(&self.gauge(), phase, reason);
        match plan.filter(Plan::changes) {
            Some(plan) => self.apply(plan, number),
            None => Err(TurnError::TooLong(self.model.window.tokens)),
        }
    }

    /// Applies a plan under its audit event. A plan that went stale changes nothing.
    fn apply(&mut self, plan: Plan, number: u64) -> Result<(), TurnError> {
        let steps: Vec<String> = plan.steps.iter().map(|s| s.words()).collect();
        let mut details = json!({
            "turnsBefore": plan.turns_before, "turnsAfter": plan.turns_after, "contextSize": plan.window,
            "tokenCount": plan.fill_before + plan.prompt, "target": plan.goal, "fillBefore": plan.fill_before,
            "fillAfter": plan.fill_after, "headroom": plan.headroom, "steps": steps, "floor": plan.floor,
            "reason": plan.reason,
        });
        match self.keep_contexts(&plan) {
            Some(Ok(kept)) => {
                details["savedBefore"] = kept.before.display().to_string().into();
                details["savedAfter"] = kept.after.display().to_string().into();
            }
            Some(Err(error)) => self.events.note(NoteLevel::Warning, error.to_string()),
            None => {}
        }
        let event = self.record_event(number, Kind::ContextCondensation, details)?;
        let floor = plan.floor_note();
        let said = said(&plan);
        let Ok((_, referenced)) = self.record.condense(plan, event) else {
            return Ok(());
        };
        self.condensed = true;
        for one in referenced {
            let details = reference_details(&one);
            self.record_event(number, Kind::ContextReference, details)?;
        }
        self.events.note(NoteLevel::Info, said);
        if let Some(note) = floor {
            self.events.note(NoteLevel::Warning, note);
        }
        Ok(())
    }

    fn record_pressure(&self, pressure: &Pressure, number: u64) -> Result<(), TurnError> {
        let details = serde_json::to_value(pressure).unwrap_or_default();
        self.record_event(number, Kind::ContextPressure, details)?;
        Ok(())
    }
}

/// The details of `context.reference`.
pub(crate) fn reference_details(referenced: &wisp_context::Referenced) -> serde_json::Value {
    json!({
        "entry": referenced.entry, "tool": referenced.tool, "bytes": referenced.bytes,
        "referenceBytes": referenced.reference_bytes,
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

fn percent(tokens: u64, window: u64) -> u64 {
    tokens * 100 / window.max(1)
}
