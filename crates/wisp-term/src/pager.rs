//! Which programs may show a long text, best first, from `$WISP_PAGER` and `$PAGER`. Nothing is started here.

use wisp_host::Env;

use crate::width::{cells, expand_tabs};

/// A program that reads text on standard input and shows it page by page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagerCommand {
    /// The program, looked up on the path unless it has a slash.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables set for it, from assignments before the program (`LESS=-R less`) and for colour.
    pub env: Vec<(String, String)>,
}

/// Characters that only a shell understands: a value with one of them is run by `sh -c`.
const SHELL_ONLY: &str = "|&;<>()$`*?[]~{}!\n";

/// The pagers to try in turn: the person's own, then `less -R`, then `more`. An empty or unreadable value counts
/// as none. `cat` is a pager like any other.
pub fn candidates(env: &Env) -> Vec<PagerCommand> {
    let own = env.get("WISP_PAGER").or_else(|| env.get("PAGER"));
    let mut found: Vec<PagerCommand> = own.and_then(parse).into_iter().collect();
    for fallback in ["less -R", "more"] {
        let command = parse(fallback).expect("the fallbacks are plain words");
        if found.iter().all(|known| known.program != command.program) {
            found.push(command);
        }
    }
    for command in &mut found {
        keep_colour(command, env);
    }
    found
}

/// Written before a pager starts: the cursor's place, for [`LEFT_BEHIND`].
pub const BEFORE: &str = "\x1b7";
/// Takes away what a pager leaves that did not end by itself: the alternate screen (or the rows it drew below
/// [`BEFORE`]), the keypad's mode, colours, a hidden cursor.
pub const LEFT_BEHIND: &str = "\x1b[?1049l\x1b[J\x1b[?1l\x1b>\x1b[0m\x1b[?25h";

/// Whether a text of so many columns and rows needs no pager: with the prompt below it, all of it is in view.
pub fn fits(text: &str, (columns, rows): (usize, usize)) -> bool {
    let columns = columns.max(1);
    let taken = |line: &str| cells(&expand_tabs(line, 0)).div_ceil(columns).max(1);
    text.lines().map(taken).sum::<usize>() + 3 <= rows
}

/// Takes one value of `$PAGER` apart as a shell would. `None` when there is no program in it or a quote is open.
pub fn parse(value: &str) -> Option<PagerCommand> {
    if unquoted(value).contains(|c| SHELL_ONLY.contains(c)) {
        return Some(PagerCommand {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), value.to_owned()],
            env: Vec::new(),
        });
    }
    let mut words = shlex::split(value)?.into_iter().peekable();
    let mut env = Vec::new();
    while let Some((name, set)) = words.peek().and_then(|word| assignment(word)) {
        env.push((name, set));
        words.next();
    }
    let program = words.next().filter(|program| !program.is_empty())?;
    Some(PagerCommand {
        program,
        args: words.collect(),
        env,
    })
}

/// The value without its quoted parts, in which such characters mean themselves.
fn unquoted(value: &str) -> String {
    let mut quote = None;
    let mut escaped = false;
    let mut bare = String::new();
    for c in value.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '$' | '`') | (None, _) => bare.push(c),
            _ => {}
        }
    }
    bare
}

/// `NAME=value` with a proper name.
fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let proper = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit());
    proper.then(|| (name.to_owned(), value.to_owned()))
}

/// `less` shows colour escapes as text unless it is told not to: `-R` by its own variable, where neither its
/// arguments nor the person's `LESS` say so.
fn keep_colour(command: &mut PagerCommand, env: &Env) {
    let name = command.program.rsplit('/').next().unwrap_or_default();
    if name != "less" {
        return;
    }
    let set = command
        .env
        .iter()
        .find(|(name, _)| name == "LESS")
        .map(|(_, value)| value.as_str());
    let variable = set.or_else(|| env.get("LESS")).unwrap_or_default();
    let said = |word: &str| {
        word.eq_ignore_ascii_case("--raw-control-chars")
            || (!word.starts_with("--") && word.contains(['R', 'r']))
    };
    if !command.args.iter().any(|arg| said(arg)) && !variable.split_whitespace().any(said) {
        command.args.push("-R".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Vec<PagerCommand> {
        candidates(
            &pairs
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        )
    }

    fn argv(command: &PagerCommand) -> Vec<&str> {
        std::iter::once(command.program.as_str())
            .chain(command.args.iter().map(String::as_str))
            .collect()
    }

    #[test]
    fn every_form_of_the_variable_is_understood() {
        for (value, expected) in [
            ("less", vec!["less", "-R"]),
            ("less -R -j.5", vec!["less", "-R", "-j.5"]),
            ("sh -c \"cat -n\"", vec!["sh", "-c", "cat -n"]),
            ("'my pager/less' -R", vec!["my pager/less", "-R"]),
            ("LESS=-R less", vec!["less"]),
            ("cat | cat", vec!["sh", "-c", "cat | cat"]),
            ("cat", vec!["cat"]),
        ] {
            assert_eq!(argv(&with(&[("PAGER", value)])[0]), expected, "{value}");
        }
        assert_eq!(
            with(&[("PAGER", "LESS=-R less")])[0].env,
            [("LESS".to_owned(), "-R".to_owned())]
        );
    }

    #[test]
    fn unset_empty_and_unreadable_fall_back() {
        for pairs in [&[][..], &[("PAGER", "")], &[("PAGER", "less 'open")]] {
            let found = with(pairs);
            assert_eq!(
                found.iter().map(argv).collect::<Vec<_>>(),
                [vec!["less", "-R"], vec!["more"]]
            );
        }
        let own_first = with(&[("PAGER", "most"), ("WISP_PAGER", "bat -p")]);
        assert_eq!(argv(&own_first[0]), ["bat", "-p"]);
        assert_eq!(own_first.len(), 3);
    }

    #[test]
    fn less_is_told_to_keep_colour_once() {
        assert_eq!(argv(&with(&[("PAGER", "less"), ("LESS", "-FRX")])[0]), ["less"]);
        assert_eq!(argv(&with(&[("PAGER", "less -F")])[0]), ["less", "-F", "-R"]);
    }

    #[test]
    fn a_text_fits_that_leaves_three_rows() {
        assert!(fits(&"x\n".repeat(21), (80, 24)) && !fits(&"x\n".repeat(22), (80, 24)));
        assert!(fits(&"x".repeat(1680), (80, 24)) && !fits(&"x".repeat(1681), (80, 24)));
        assert!(!fits("漢字漢字", (4, 4)) && fits("", (4, 4)));
    }
}
