//! Variables a part of a line sets, by whatever construct, and what that may change.

use crate::command::{Shape, SimpleCommand};
use crate::credentials;
use crate::globs;
use crate::level::Level;
use crate::rules::risks;

/// Whether a variable of this name chooses which programs run, or what they load: PATH, GIT_*, LD_*, PAGER, IFS.
pub(crate) fn chooses_programs(name: &str) -> bool {
    let mut names = risks().program_variables.iter();
    names.any(|glob| globs::matches(glob, name))
}

/// Names a part sets: before its program, by a loop, or by a builtin that stores what it reads.
fn set_by(part: &SimpleCommand) -> Vec<&str> {
    let mut names: Vec<&str> = part.assignments.iter().map(|(name, _)| name.as_str()).collect();
    let words = || part.operands().map(|word| word.text.as_str());
    match part.name() {
        Some("read" | "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "let") => {
            names.extend(words().map(|word| word.split(['=', '[', '+']).next().unwrap_or(word)));
        }
        Some("getopts") => names.extend(words().skip(1).take(1)),
        Some("mapfile" | "readarray") => names.extend(words().last()),
        Some("printf" | "wait") => {
            let mut args = part.args().iter().map(|word| word.text.as_str());
            while let Some(word) = args.next() {
                match word.strip_prefix("-v").or_else(|| word.strip_prefix("-p")) {
                    Some("") => names.extend(args.next()),
                    Some(name) => names.push(name),
                    None => break,
                }
            }
        }
        _ => {}
    }
    names
}

/// What is to be said of the variables a part sets. Plain lower-case ones on their own are the line's own.
pub(crate) fn settings(part: &SimpleCommand, found: &mut Vec<(Level, String)>) {
    let binds = part.shape == Shape::Assignment || matches!(part.name(), Some("read" | "getopts"));
    for name in set_by(part) {
        let lower = name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let own = binds && (lower || name.len() == 1 || name == "REPLY" || name == "OPTARG");
        if chooses_programs(name) {
            let why = format!("sets {name}, which chooses the programs that run");
            found.push((Level::Dangerous, why));
        } else if !own
            && !risks().harmless_variables.iter().any(|harmless| harmless == name)
            && !name.is_empty()
        {
            found.push((
                Level::Moderate,
                format!("sets {name}, which may change what runs"),
            ));
        }
    }
}

/// A part that expands a variable of a credential's name gives it away.
pub(crate) fn expansions(part: &SimpleCommand, found: &mut Vec<(Level, String)>) {
    // `declare -p NAME` prints what NAME holds.
    let shows = matches!(part.name(), Some("declare" | "typeset" | "export" | "readonly"));
    let prints = shows && part.args().iter().any(|word| word.is("-p"));
    let named = part.operands().map(|word| &word.text).filter(|_| prints);
    for name in part.expands.iter().chain(named) {
        if credentials::is_variable(name) {
            found.push((
                Level::Dangerous,
                format!("uses {name}, which holds a credential by its name"),
            ));
        }
    }
}
