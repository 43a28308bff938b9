//! The approval dialog of plain chat: what would run, why it asks, and one key for the answer.

use std::io;

use crossterm::event::{self, Event as Input, KeyCode, KeyEventKind};
use crossterm::terminal;
use wisp_agent::protocol::{Approval, Decision};
use wisp_term::{Printer, Role, diff, visible, width, words};

use super::ahead::{Ahead, Raw, leaves};

/// Each decision's key and words.
const KEYS: &[(char, Decision, &str)] = &[
    ('y', Decision::Once, "[y]es, this turn"),
    ('s', Decision::Session, "[s]ession"),
    ('p', Decision::Project, "[p]roject 30d"),
    ('a', Decision::Always, "[a]lways 30d"),
    ('n', Decision::No, "[n]o"),
];

/// Shows the question and waits for its answer. Ctrl-C, Ctrl-D, Escape and Enter refuse.
pub fn ask(approval: &Approval, ahead: &mut Ahead, err: &mut Printer) -> Decision {
    show(approval, err);
    let decision = read_key(approval, ahead).unwrap_or(Decision::No);
    let words = KEYS
        .iter()
        .find(|(_, d, _)| *d == decision)
        .map_or("", |(_, _, words)| words);
    let _ = err.line(&words.replace(['[', ']'], ""));
    decision
}

fn show(approval: &Approval, err: &mut Printer) {
    let role = if approval.level == "dangerous" {
        Role::Danger
    } else {
        Role::Warn
    };
    let _ = err.painted_line(
        role,
        &format!("{}: {}", approval.level, visible(&approval.command)),
    );
    if approval.line != approval.command {
        let _ = err.words(
            Some(Role::Quiet),
            &format!("  part of: {}", visible(&approval.line)),
        );
    }
    let _ = err.words(
        Some(Role::Quiet),
        &format!("  in {}", visible(&approval.directory)),
    );
    for reason in &approval.reasons {
        let line = width::truncate(&visible(reason), 110).into_owned();
        let _ = err.words(Some(Role::Quiet), &format!("  {line}"));
    }
    if let Some(diff) = &approval.diff {
        show_diff(diff, err);
    }
    if approval.pattern != approval.command {
        let _ = err.words(
            Some(Role::Quiet),
            &format!("  remembered as: {}", visible(&approval.pattern)),
        );
    }
    let offered = KEYS
        .iter()
        .filter(|(_, d, _)| approval.decisions.contains(d))
        .map(|(_, _, words)| *words);
    let keys: Vec<&str> = offered.collect();
    let keys = words::listed(&keys.join(" "), err.width());
    let _ = err.painted(role, &format!("{keys} "));
    let _ = err.flush();
}

/// The lines of an edit's difference with their numbers, words that differ marked.
fn show_diff(diff: &str, err: &mut Printer) {
    let columns = terminal::size().map_or(err.width(), |(columns, _)| usize::from(columns));
    let width = columns.saturating_sub(2).max(20);
    let shown = diff::render(&diff::of_unified(diff), err.palette(), width);
    for line in shown.lines() {
        let _ = err.line(&format!("  {line}"));
    }
}

/// Waits for quiet, then for a key that is an answer. What was typed before is kept for the next line.
fn read_key(approval: &Approval, ahead: &mut Ahead) -> io::Result<Decision> {
    if ahead.gather()?.is_some() {
        return Ok(Decision::No);
    }
    let _raw = Raw::enter()?;
    loop {
        let Input::Key(key) = event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        if leaves(key) || matches!(key.code, KeyCode::Enter | KeyCode::Esc) {
            return Ok(Decision::No);
        }
        let answer = KEYS
            .iter()
            .find(|(c, d, _)| key.code == KeyCode::Char(*c) && approval.decisions.contains(d));
        if let Some((_, decision, _)) = answer {
            return Ok(*decision);
        }
    }
}
