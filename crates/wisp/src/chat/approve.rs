//! The approval dialog of plain chat: what would run, why it asks, and one key for the answer.

use std::io;

use crossterm::event::KeyCode;
use crossterm::terminal;
use wisp_agent::protocol::{Approval, Decision};
use wisp_term::{Printer, Role, diff, visible, width, words};

use super::ahead::{Ahead, Keyboard, Raw, leaves};

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
    let decision = Raw::enter()
        .and_then(|mut keys| read_key(approval, ahead, &mut keys))
        .unwrap_or(Decision::No);
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

/// Waits for quiet, then for a key that is an answer. What was typed before is kept for the next line, and so is a key
/// that answers nothing: it begins a word, whose other letters are no answers either, so the wait begins anew.
fn read_key(approval: &Approval, ahead: &mut Ahead, keys: &mut impl Keyboard) -> io::Result<Decision> {
    loop {
        if ahead.gather(keys)?.is_some() {
            return Ok(Decision::No);
        }
        let Some(key) = keys.next(None)? else { continue };
        if leaves(key) || matches!(key.code, KeyCode::Enter | KeyCode::Esc) {
            return Ok(Decision::No);
        }
        let answer = KEYS
            .iter()
            .find(|(c, d, _)| key.code == KeyCode::Char(*c) && approval.decisions.contains(d));
        if let Some((_, decision, _)) = answer {
            return Ok(*decision);
        }
        ahead.note(key);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ahead::tests::Scripted;
    use super::*;

    fn answered(keys: &[(u64, char)]) -> (Decision, String) {
        let approval = Approval {
            decisions: vec![Decision::Once, Decision::Session, Decision::No],
            ..Approval::default()
        };
        let mut ahead = Ahead::default();
        let decision = read_key(&approval, &mut ahead, &mut Scripted::new(keys)).unwrap();
        (decision, ahead.take())
    }

    #[test]
    fn a_letter_answers_after_silence_and_not_as_part_of_a_word() {
        assert_eq!(answered(&[(500, 's')]), (Decision::Session, String::new()));
        assert_eq!(
            answered(&[(499, 's'), (500, 'y')]),
            (Decision::Once, "s".to_owned())
        );
        let typed = [
            (700, '/'),
            (90, 's'),
            (90, 'a'),
            (90, 'y'),
            (90, '\n'),
            (900, '\n'),
        ];
        assert_eq!(answered(&typed), (Decision::No, "/say".to_owned()));
        assert_eq!(
            answered(&[(700, 'a'), (600, 'y')]),
            (Decision::Once, "a".to_owned()),
            "`always` was not offered"
        );
        assert_eq!(answered(&[(0, 'y'), (1, '\x03')]), (Decision::No, "y".to_owned()));
    }
}
