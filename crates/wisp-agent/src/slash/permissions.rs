//! `/mode` and `/approvals`: what may be done without a question.

use serde_json::json;
use wisp_audit::{Event as Audited, Kind};
use wisp_guard::{Approval, Mode};

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::NoteLevel;

/// Shows the mode, or changes it for this conversation.
pub(super) async fn mode(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    let now = conversation.registry.gate().mode();
    let wanted = match rest {
        "" => {
            for mode in Mode::ALL {
                let mark = if mode == now { '*' } else { ' ' };
                let line = format!("{mark} {:<10} {}", mode.name(), mode.about());
                conversation.events.line(line);
            }
            return Next::Go;
        }
        "next" => now.next(),
        name => match name.parse() {
            Ok(mode) => mode,
            Err(unknown) => {
                conversation.events.note(NoteLevel::Error, format!("{unknown}"));
                return Next::Go;
            }
        },
    };
    let details =
        json!({"path": "approval.mode", "old": now.name(), "new": wanted.name(), "source": "conversation"});
    if let Err(e) = conversation
        .audit
        .append(Audited::new(Kind::ConfigChange, details))
    {
        conversation.events.note(NoteLevel::Error, e.to_string());
        return Next::Go;
    }
    conversation.registry.gate_mut().0.set_mode(wanted);
    let mut text = format!("mode {wanted}: {}", wanted.about());
    if wanted == Mode::Auto && !conversation.registry.services().confining.holds().write {
        text.push_str("; nothing confines commands on this machine, so they are still asked about");
    }
    conversation.events.note(NoteLevel::Info, text);
    Next::Go
}

/// Lists what is allowed, takes one answer back, or all of them.
pub(super) async fn approvals(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    let (verb, id) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (gate, services) = conversation.registry.gate_mut();
    let now = services.clock.now();
    let (level, text) = match (verb, id.trim()) {
        ("", _) => {
            gate.reload(now);
            let rows: Vec<String> = gate.approvals().iter().map(row).collect();
            let rows = if rows.is_empty() {
                vec!["nothing is allowed beforehand".to_owned()]
            } else {
                rows
            };
            for row in rows {
                conversation.events.line(row);
            }
            return Next::Go;
        }
        ("revoke", id) if !id.is_empty() => match gate.revoke(id, now) {
            Ok(approval) => (NoteLevel::Info, format!("taken back: {}", row(&approval))),
            Err(e) => (NoteLevel::Error, e.to_string()),
        },
        ("clear", "") => match gate.clear_approvals(now) {
            Ok(count) => (NoteLevel::Info, format!("{count} taken back")),
            Err(e) => (NoteLevel::Error, e.to_string()),
        },
        _ => (
            NoteLevel::Error,
            "/approvals lists what is allowed; /approvals revoke ID takes one back, /approvals clear all"
                .to_owned(),
        ),
    };
    if level == NoteLevel::Info {
        let details = json!({"command": format!("/approvals {rest}"), "decision": "revoked", "reason": text});
        // What was taken back stays so; that it could not be recorded was said when the audit failed first.
        let _ = conversation
            .audit
            .append(Audited::new(Kind::ApprovalDecided, details));
    }
    conversation.events.note(level, text);
    Next::Go
}

/// `a1b2c3d4  touch *  for this session, in /src, up to moderate`.
pub fn row(approval: &Approval) -> String {
    let until = approval.expires_at.map_or_else(String::new, |end| {
        format!(
            " until {}",
            end.to_zoned_datetime(jiff::tz::TimeZone::system()).date()
        )
    });
    let reach = approval.scope.reach();
    let place = approval
        .working_directory
        .as_ref()
        .map_or_else(String::new, |dir| format!(", in {}", dir.display()));
    let id = approval.id.get(..8).unwrap_or(&approval.id);
    format!(
        "{id}  {}  {reach}{until}{place}, up to {}",
        approval.pattern,
        approval.level.word()
    )
}
