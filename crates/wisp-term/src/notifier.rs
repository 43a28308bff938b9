//! How a terminal is told something while the person is elsewhere: the sequence it knows, or the bell.

use wisp_host::Env;

/// How a terminal is told to notify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notifier {
    /// OSC 9: one text.
    Osc9,
    /// OSC 99: a title and a body in two parts.
    Osc99,
    /// OSC 777: a title and a body.
    Osc777,
    /// The bell; all that tmux passes on.
    Bell,
}

/// What tells terminals apart: a variable, its value (any when empty), and how that terminal is told.
const TERMINALS: [(&str, &str, Notifier); 9] = [
    ("TMUX", "", Notifier::Bell),
    ("KITTY_WINDOW_ID", "", Notifier::Osc99),
    ("TERM", "xterm-kitty", Notifier::Osc99),
    ("TERM_PROGRAM", "ghostty", Notifier::Osc9),
    ("TERM_PROGRAM", "iTerm.app", Notifier::Osc9),
    ("TERM_PROGRAM", "WezTerm", Notifier::Osc9),
    ("TERM", "foot", Notifier::Osc777),
    ("TERM", "rxvt-unicode-256color", Notifier::Osc777),
    ("TERM", "rxvt-unicode", Notifier::Osc777),
];

/// The most characters of a notification's title.
pub const TITLE: usize = 64;
/// The most characters of a notification's body.
pub const BODY: usize = 256;

impl Notifier {
    /// The one for this terminal.
    pub fn of(env: &Env) -> Self {
        let known = TERMINALS.iter().find(|(name, value, _)| match env.get(name) {
            Some(set) => value.is_empty() || set == *value,
            None => false,
        });
        known.map_or(Self::Bell, |(_, _, notifier)| *notifier)
    }

    /// The sequence for a notification. Control characters become spaces, semicolons commas; longer texts are cut.
    pub fn sequence(self, title: &str, body: &str) -> String {
        let (title, body) = (clean(title, TITLE), clean(body, BODY));
        match self {
            Self::Osc9 => format!("\x1b]9;{title}: {body}\x07"),
            Self::Osc99 => {
                format!("\x1b]99;i=wisp:d=0:p=title;{title}\x1b\\\x1b]99;i=wisp:p=body;{body}\x1b\\")
            }
            Self::Osc777 => format!("\x1b]777;notify;{title};{body}\x07"),
            Self::Bell => "\x07".to_owned(),
        }
    }
}

fn clean(text: &str, most: usize) -> String {
    let plain = |c: char| match c {
        ';' => ',',
        c if c.is_control() => ' ',
        c => c,
    };
    let mut clean: String = text.chars().take(most).map(plain).collect();
    if text.chars().count() > most {
        clean.pop();
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn each_terminal_is_told_in_its_own_way() {
        assert_eq!(Notifier::of(&env(&[("TERM_PROGRAM", "ghostty")])), Notifier::Osc9);
        assert_eq!(Notifier::of(&env(&[("TERM", "xterm-kitty")])), Notifier::Osc99);
        assert_eq!(
            Notifier::of(&env(&[("TERM_PROGRAM", "ghostty"), ("TMUX", "/tmp/x")])),
            Notifier::Bell
        );
        assert_eq!(Notifier::of(&env(&[("TERM", "xterm-256color")])), Notifier::Bell);
        assert_eq!(Notifier::Osc9.sequence("done", "3 s"), "\x1b]9;done: 3 s\x07");
        assert_eq!(
            Notifier::Osc99.sequence("a", "b"),
            "\x1b]99;i=wisp:d=0:p=title;a\x1b\\\x1b]99;i=wisp:p=body;b\x1b\\"
        );
    }

    #[test]
    fn a_notification_cannot_carry_a_sequence_and_is_bounded() {
        let told = Notifier::Osc777.sequence("a;b\x1b\\", &"x".repeat(BODY + 1));
        let body = format!("{}…", "x".repeat(BODY - 1));
        assert_eq!(told, format!("\x1b]777;notify;a,b \\;{body}\x07"));
        assert!(
            Notifier::Osc777
                .sequence("", &"x".repeat(BODY))
                .ends_with("x\x07")
        );
    }
}
