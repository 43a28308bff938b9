//! A line into the simple commands it would run, also those within substitutions, scripts and wrappers.

use crate::collect::collect;
use crate::command::SimpleCommand;
use crate::launchers::{Launched, launched};
use crate::level::Level;
use crate::moves;
use crate::rules::{Rule, denials, risks};
use crate::tree::{Unreadable, parse};
use crate::wrappers::{Started, started};

/// The most commands a line may have.
const MAX_PARTS: usize = 2000;

/// How many scripts may stand within one another (`sh -c "sh -c …"`).
pub const MAX_SCRIPTS: usize = 8;

/// Takes a line apart. Every command that would run is in the result, in the order they are written; a wrapper
/// stands before what it starts. What cannot be read with certainty is an error, to be taken for dangerous.
///
/// ```
/// let parts = wisp_guard::split("env LANG=C ls | sh -c 'touch x; rm y'").unwrap();
/// let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
/// assert_eq!(texts, ["env LANG=C ls", "ls", "sh -c 'touch x; rm y'", "touch x", "rm y"]);
/// ```
pub fn split(line: &str) -> Result<Vec<SimpleCommand>, Unreadable> {
    let mut parts = within(line, 0)?;
    moves::follow(&mut parts);
    Ok(parts)
}

fn within(line: &str, depth: usize) -> Result<Vec<SimpleCommand>, Unreadable> {
    if depth > MAX_SCRIPTS {
        return Err(Unreadable::new("it has scripts within scripts too deeply"));
    }
    let tree = parse(line)?;
    let mut parts = Vec::new();
    for part in collect(&tree, line) {
        add(part, &mut parts, depth)?;
    }
    Ok(parts)
}

/// Adds a part and what it starts.
fn add(mut part: SimpleCommand, parts: &mut Vec<SimpleCommand>, depth: usize) -> Result<(), Unreadable> {
    if depth > MAX_SCRIPTS {
        return Err(Unreadable::new("it has wrappers within wrappers too deeply"));
    }
    if parts.len() > MAX_PARTS {
        return Err(Unreadable::new(format!("it has more than {MAX_PARTS} commands")));
    }
    let inner = started(&part)?;
    let hidden = grave(&launched(&part), depth);
    let (fed, first) = (part.fed, parts.len() + 1);
    part.wrapper = !matches!(inner, Started::Nothing);
    parts.push(part);
    match inner {
        Started::Nothing => {}
        Started::Command(command) => add(command, parts, depth + 1)?,
        Started::Commands(commands) => {
            for command in commands {
                add(command, parts, depth + 1)?;
            }
        }
        Started::Script(script) => parts.extend(within(&script, depth + 1)?),
    }
    parts.extend(hidden);
    // What a wrapper starts has the wrapper's standard input.
    for started in &mut parts[first..] {
        started.fed |= fed;
    }
    Ok(())
}

/// Of what a launcher may start, everything that goes with a command that is denied or dangerous.
fn grave(launched: &Launched, depth: usize) -> Vec<SimpleCommand> {
    let mut all = Vec::new();
    for command in &launched.commands {
        let mut parts = Vec::new();
        if add(command.clone(), &mut parts, depth + 1).is_ok() && parts.iter().any(is_grave) {
            all.extend(parts);
        }
    }
    for script in &launched.scripts {
        let parts = within(script, depth + 1).unwrap_or_default();
        if parts.iter().any(is_grave) {
            all.extend(parts);
        }
    }
    all
}

fn is_grave(part: &SimpleCommand) -> bool {
    let dangerous = |rule: &&Rule| rule.level == Some(Level::Dangerous);
    denials().iter().any(|rule| rule.matches(part))
        || risks()
            .rules
            .iter()
            .filter(dangerous)
            .any(|rule| rule.matches(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        split(line).unwrap().into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn commands_are_seen_wherever_they_stand() {
        for line in [
            "true; x y",
            "true && x y",
            "true || x y",
            "true | x y",
            "true & x y",
            "true\nx y",
            "# note\nx y",
            "echo $(x y)",
            "echo `x y`",
            "echo \"a $(x y) b\"",
            "cat <(x y)",
            "(true; x y)",
            "{ true; x y; }",
            "if true; then x y; fi",
            "for i in 1 2; do x y; done",
            "while x y; do true; done",
            "case a in a) x y;; esac",
            "f() { x y; }",
            "! x y",
            "A=$(x y)",
            "export A=$(x y)",
            "cat <<EOF | x y\nz\nEOF",
            "cat <<< $(x y)",
            "echo > $(x y)",
            "echo \" $(x y)\"",
            "cat <<'EOF'\n$(z)\nEOF\nx y",
            "sh -c 'x y'",
            "bash -lc \"x y\"",
            "bash -o errexit -c 'x y'",
            "sh -c 'sh -c \"x y\"'",
            "eval x y",
            "eval 'x y'",
            "env x y",
            "env -i A=1 x y",
            "env -u HOME x y",
            "nice -n 5 x y",
            "nice -5 x y",
            "timeout -k 1 5 x y",
            "time x y",
            "nohup x y",
            "command x y",
            "exec x y",
            "sudo -u root A=1 x y",
            "xargs -n1 x y",
            "xargs -I{} x y",
            "find . -exec x y \\;",
            "find . -exec true \\; -exec x y {} +",
            "trap 'x y' EXIT",
            "watch -n 1 x y",
            "env nice nohup x y",
        ] {
            let parts = split(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            let seen = parts.iter().any(|part| part.plain().starts_with("x y"));
            assert!(seen, "{line}: {:?}", texts(line));
        }
    }

    #[test]
    fn what_shells_read_differently_is_unreadable() {
        for line in [
            "echo $'a\\'; x y; echo \\''",
            "((x y))",
            "r\\\nm -rf x",
            "echo `echo \\`x y\\``",
            "echo ${a@P}",
            "echo ${!a}",
            "cat <<EOF\n`x y`\nEOF",
            "cat <<EOF\n $(x y)\nEOF",
            "cat <<A <<B\nA\nx y\nB\nB",
            "cat <<E\"O\"F\nx\nEOF",
            "foo (x y)",
            "( qc >>$ o ); qc",
            "find . <$ -delete",
            "sort < $ -o x a",
            "if true",
            "echo 'open",
            "echo \u{1b}[2J",
            "echo a\rb",
            "for ((i=0;i<3;i++)); do x; done",
            "sh -c \"$X\"",
            "sh $X",
            "eval \"$X\"",
            "env -S 'x y'",
            "timeout --what ls x y",
            "find . -exec x y",
            "{x,y}",
        ] {
            assert!(split(line).is_err(), "{line}: {:?}", texts(line));
        }
    }

    #[test]
    fn words_are_what_the_program_gets() {
        let parts = split("a 'b c' \"d $e\" f\\ g h* --i='j k' {l,m} ~/n 2>&1 > o -p").unwrap();
        let words: Vec<(&str, bool)> = parts[0]
            .words
            .iter()
            .map(|w| (w.text.as_str(), w.literal))
            .collect();
        assert_eq!(
            words,
            [
                ("a", true),
                ("b c", true),
                ("d $e", false),
                ("f g", true),
                ("h*", true),
                ("--i=j k", true),
                ("{l,m}", false),
                ("~/n", true),
                ("-p", true)
            ]
        );
        let files: Vec<bool> = parts[0]
            .redirects
            .iter()
            .map(crate::command::Redirect::changes_a_file)
            .collect();
        assert_eq!(files, [false, true]);
    }

    #[test]
    fn an_empty_line_has_no_parts() {
        assert_eq!(texts(""), [""; 0]);
        assert_eq!(texts("# only a note"), [""; 0]);
    }

    #[test]
    fn nesting_has_an_end() {
        let mut line = "x".to_owned();
        for _ in 0..=MAX_SCRIPTS {
            line = format!("env {line}");
        }
        assert!(split(&line).is_err());
        let deep = "(".repeat(300) + "x" + &")".repeat(300);
        assert!(split(&deep).is_err());
    }
}
