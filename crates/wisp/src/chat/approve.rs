//! The approval dialog of plain chat: what would run, why it asks, and one key for the answer.

use std::io;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use wisp_agent::protocol::{Approval, Decision};
use wisp_term::keys::Typed;
use wisp_term::width::cells;
use wisp_term::{Printer, safe, tty, width, words};

use super::ahead::{Ahead, Keyboard, Raw, leaves};
use super::question::{self, Pages};

/// Each decision's key and words.
const KEYS: &[(char, Decision, &str)] = &[
    ('y', Decision::Once, "[y]es, once"),
    ('t', Decision::Turn, "this [t]urn"),
    ('s', Decision::Session, "[s]ession"),
    ('p', Decision::Project, "[p]roject 30d"),
    ('a', Decision::Always, "[a]lways 30d"),
    ('n', Decision::No, "[n]o"),
    (REASON, Decision::No, "no, [r]eason"),
];

/// The key that refuses and then asks why.
const REASON: char = 'r';

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The answer.
    pub decision: Decision,
    /// Whether the turn that asked is to end as well.
    pub stops: bool,
    /// Why not, for the model.
    pub reason: Option<String>,
}

impl Answered {
    fn with(decision: Decision) -> Self {
        Self {
            decision,
            stops: false,
            reason: None,
        }
    }

    /// No, and no more of this turn.
    fn stop() -> Self {
        Self {
            stops: true,
            ..Self::with(Decision::No)
        }
    }
}

/// Shows the question and waits for its answer. `n` and Enter refuse; Ctrl-C, Ctrl-D and Escape refuse and end the turn.
pub fn ask(approval: &Approval, ahead: &mut Ahead, err: &mut Printer) -> Answered {
    let size = tty::window_size().map_or((err.width(), 24), |(columns, rows)| {
        (usize::from(columns), usize::from(rows))
    });
    // A signal at the question puts back what raw mode changes.
    crate::terminal::remember();
    // Before anything is shown, so that Ctrl-C is an answer from then on and nothing typed is echoed into it.
    let keys = Raw::enter();
    let mut asking = Asking {
        approval,
        pages: Pages::new(approval, size),
        ahead,
        err,
    };
    asking.pages.show(None, asking.err);
    let answered = keys
        .and_then(|mut keys| asking.read(&mut keys))
        .unwrap_or(Answered::with(Decision::No));
    let words = KEYS
        .iter()
        .find(|(_, d, _)| *d == answered.decision)
        .map_or("", |(_, _, words)| words);
    let words = if answered.reason.is_some() { "" } else { words };
    let _ = err.line(&words.replace(['[', ']'], ""));
    answered
}

/// A question that is open.
struct Asking<'a> {
    approval: &'a Approval,
    pages: Pages,
    ahead: &'a mut Ahead,
    err: &'a mut Printer,
}

impl Asking<'_> {
    /// Waits for quiet, then for a key that is an answer. What was typed before is kept for the next line, and so is a
    /// key that answers nothing: it begins a word, whose other letters are no answers either, so the wait begins anew.
    fn read(&mut self, keys: &mut impl Keyboard) -> io::Result<Answered> {
        self.offer();
        if self.ahead.gather(keys)?.is_some() {
            return Ok(Answered::stop());
        }
        loop {
            let Some(typed) = keys.next(None)? else { continue };
            if let Typed::Key(key) = typed {
                if key.code == KeyCode::Char(REASON) {
                    return self.reason(keys);
                }
                if let Some(answered) = self.answer(key) {
                    return Ok(answered);
                }
                if self.shows_more(key) || self.is_too_soon(key) {
                    continue;
                }
            }
            self.ahead.note(&typed);
            if self.ahead.gather(keys)?.is_some() {
                return Ok(Answered::stop());
            }
        }
    }

    /// Refuses and reads why, in a line of its own. Enter ends it, Backspace takes a character back; Escape, Ctrl-C and
    /// Ctrl-D refuse and end the turn.
    fn reason(&mut self, keys: &mut impl Keyboard) -> io::Result<Answered> {
        let _ = self.err.text("\r\x1b[Kno, because: ");
        let _ = self.err.flush();
        let mut why = String::new();
        loop {
            let Some(typed) = keys.next(None)? else { continue };
            match typed {
                Typed::Key(key) if leaves(key) || key.code == KeyCode::Esc => return Ok(Answered::stop()),
                Typed::Key(key) if key.code == KeyCode::Enter => break,
                Typed::Key(key) if key.code == KeyCode::Backspace => {
                    let kept = width::without_last(&why).len();
                    let gone = cells(&why[kept..]);
                    why.truncate(kept);
                    let _ = self.err.text(&format!(
                        "{}{}{}",
                        "\x08".repeat(gone),
                        " ".repeat(gone),
                        "\x08".repeat(gone)
                    ));
                }
                Typed::Key(key) => {
                    let commands = KeyModifiers::CONTROL | KeyModifiers::ALT;
                    if let KeyCode::Char(c) = key.code
                        && !key.modifiers.intersects(commands)
                    {
                        why.push(c);
                        let _ = self.err.text(&safe::safe(c.encode_utf8(&mut [0; 4])));
                    }
                }
                Typed::Paste(text) => {
                    let text = text.replace(['\r', '\n'], " ");
                    let _ = self.err.text(&safe::safe(&text));
                    why.push_str(&text);
                }
                Typed::Focus(_) => {}
            }
            let _ = self.err.flush();
        }
        let reason = Some(why.trim().to_owned()).filter(|why| !why.is_empty());
        Ok(Answered {
            reason,
            ..Answered::with(Decision::No)
        })
    }

    /// The answer a key gives. A yes is none before all of the question was shown.
    fn answer(&self, key: KeyEvent) -> Option<Answered> {
        if leaves(key) || key.code == KeyCode::Esc {
            return Some(Answered::stop());
        }
        if key.code == KeyCode::Enter {
            return Some(Answered::with(Decision::No));
        }
        let offered = |decision| {
            decision == Decision::No || self.pages.all_shown() && self.approval.decisions.contains(&decision)
        };
        KEYS.iter()
            .find(|(c, decision, _)| key.code == KeyCode::Char(*c) && offered(*decision))
            .map(|(_, decision, _)| Answered::with(*decision))
    }

    /// Whether a key would be a yes, were all of the question shown. It is no text for the next line.
    fn is_too_soon(&self, key: KeyEvent) -> bool {
        let decisions = &self.approval.decisions;
        let means = |(c, decision, _): &(char, Decision, &str)| {
            key.code == KeyCode::Char(*c) && decisions.contains(decision)
        };
        !self.pages.all_shown() && KEYS.iter().any(means)
    }

    /// Whether the key asks for more of the question, which is shown if there is more.
    fn shows_more(&mut self, key: KeyEvent) -> bool {
        let rows = match key.code {
            KeyCode::Char(' ') | KeyCode::PageDown => None,
            KeyCode::Down => Some(1),
            _ => return false,
        };
        if self.pages.all_shown() {
            return self.pages.are_several();
        }
        let _ = self.err.text("\r\x1b[K");
        self.pages.show(rows, self.err);
        self.offer();
        true
    }

    /// The keys, below what was shown.
    fn offer(&mut self) {
        let keys = if self.pages.all_shown() {
            let offered = KEYS
                .iter()
                .filter(|(_, d, _)| self.approval.decisions.contains(d))
                .map(|(_, _, words)| *words);
            words::listed(&offered.collect::<Vec<_>>().join(" "), self.err.width())
        } else {
            let count = self.pages.count();
            let forms = [format!("{count} · space: more · [n]o"), format!("{count} · [n]o")];
            let fits = forms.into_iter().find(|form| cells(form) + 1 < self.err.width());
            fits.unwrap_or(count)
        };
        let _ = self
            .err
            .painted(question::role(self.approval), &format!("{keys} "));
        let _ = self.err.flush();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use wisp_term::Surface;

    use super::super::ahead::tests::Scripted;
    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn answered(keys: &[(u64, char)]) -> (Decision, String) {
        let approval = Approval {
            decisions: vec![Decision::Once, Decision::Session, Decision::No],
            ..Approval::default()
        };
        let (answered, ahead, _) = asked(&approval, (80, 24), keys);
        (answered.decision, ahead)
    }

    /// What came of a question in a window of a size, what is left for the next line, and what was printed.
    fn asked(approval: &Approval, size: (usize, usize), keys: &[(u64, char)]) -> (Answered, String, String) {
        let printed = Shared::default();
        let surface = Surface {
            terminal: true,
            width: size.0,
            ..Surface::plain()
        };
        let mut err = Printer::to(Box::new(printed.clone()), surface);
        let mut ahead = Ahead::default();
        let mut asking = Asking {
            approval,
            pages: Pages::new(approval, size),
            ahead: &mut ahead,
            err: &mut err,
        };
        asking.pages.show(None, asking.err);
        let answered = asking.read(&mut Scripted::new(keys)).unwrap();
        let printed = String::from_utf8(printed.0.lock().unwrap().clone()).unwrap();
        (answered, ahead.take(), printed)
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

    /// An edit of 30 lines: 33 rows with its headline, its directory and what would be remembered.
    fn long_edit() -> Approval {
        let lines = (1..=30)
            .map(|n| format!("+line {n}\n"))
            .collect::<Vec<_>>()
            .concat();
        Approval {
            command: "edit a.txt".to_owned(),
            level: "moderate".to_owned(),
            directory: "/srv".to_owned(),
            pattern: "edit *".to_owned(),
            diff: Some(format!("@@ -0,0 +1,30 @@\n{lines}")),
            decisions: vec![Decision::Once, Decision::No],
            ..Approval::default()
        }
    }

    #[test]
    fn a_yes_counts_only_once_all_of_the_question_was_shown() {
        let early = [(600, 'y'), (600, 'n')];
        let (answered, ahead, printed) = asked(&long_edit(), (40, 10), &early);
        assert_eq!((answered.decision, ahead.as_str()), (Decision::No, ""));
        assert!(printed.contains("8 of 33 rows · space: more · [n]o"), "{printed}");
        assert!(
            !printed.contains("[y]es") && !printed.contains("line 30"),
            "{printed}"
        );
        let all = [(600, ' '), (1, ' '), (1, ' '), (1, ' '), (1, ' '), (1, 'y')];
        let (answered, _, printed) = asked(&long_edit(), (40, 10), &all);
        assert_eq!(answered.decision, Decision::Once);
        for count in ["8 of 33", "16 of 33", "24 of 33", "32 of 33"] {
            assert!(printed.contains(count), "{count}: {printed}");
        }
        assert!(printed.contains("  30 + line 30\n"), "{printed}");
        assert!(
            printed.ends_with("  remembered as: edit *\n[y]es, once [n]o no, [r]eason "),
            "{printed}"
        );
    }

    #[test]
    fn a_long_command_is_wrapped_and_never_cut() {
        let approval = Approval {
            command: format!("echo {}", "x".repeat(100)),
            level: "moderate".to_owned(),
            decisions: vec![Decision::Once, Decision::No],
            ..Approval::default()
        };
        let (_, _, printed) = asked(&approval, (40, 24), &[(600, 'n')]);
        let shown: String = printed.lines().take(3).collect();
        assert_eq!(shown, format!("moderate: echo {}", "x".repeat(100)));
        assert!(printed.lines().all(|line| line.len() < 40), "{printed}");
    }

    #[test]
    fn escape_and_ctrl_c_end_the_turn_and_n_does_not() {
        let stops = |key| asked(&long_edit(), (80, 40), &[(600, key)]).0;
        for (key, ends) in [('\x1b', true), ('\x03', true), ('n', false), ('\n', false)] {
            let answered = stops(key);
            assert_eq!(
                (answered.decision, answered.stops),
                (Decision::No, ends),
                "{key:?}"
            );
        }
    }

    #[test]
    fn a_refusal_can_carry_a_reason() {
        let typed: Vec<(u64, char)> = std::iter::once((600, 'r'))
            .chain("use pnpx\x7fm\n".chars().map(|c| (1, c)))
            .collect();
        let (answered, ahead, printed) = asked(&long_edit(), (80, 40), &typed);
        assert_eq!(
            (answered.decision, answered.stops, answered.reason.as_deref()),
            (Decision::No, false, Some("use pnpm"))
        );
        assert_eq!(ahead, "");
        assert!(printed.contains("no, because: use pnpx"), "{printed}");
        let (answered, ..) = asked(&long_edit(), (80, 40), &[(600, 'r'), (1, '\n')]);
        assert_eq!((answered.decision, answered.reason), (Decision::No, None));
        let (answered, ..) = asked(&long_edit(), (80, 40), &[(600, 'r'), (1, 'a'), (1, '\x1b')]);
        assert!(answered.stops);
    }
}
