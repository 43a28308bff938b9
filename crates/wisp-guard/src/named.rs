//! The words of a command as names of files: credentials that are read, files that run later, patterns that may match
//! either.

use crate::command::{SimpleCommand, Word};
use crate::credentials;
use crate::level::Level;
use crate::moves::elsewhere;
use crate::paths::{reading, writing, writing_by_name, writing_over};
use crate::rules::risks;

/// Programs whose words are text and name no file.
const SPEAKERS: [&str; 2] = ["echo", "printf"];

/// Credentials and private files among the words, also within a word; a pattern in a hidden or absolute path may
/// match one. What a program that is not known to read only names may be changed by it.
pub(crate) fn words(part: &SimpleCommand, reads: bool, found: &mut Vec<(Level, String)>) {
    for (_, value) in &part.assignments {
        found.extend(paths_in(&value.text, !value.literal).find_map(reading));
    }
    let name = part.name().unwrap_or_default();
    if SPEAKERS.contains(&name) {
        return;
    }
    let text = text_operand(part, name);
    let scripted = risks().exact_programs.has(name) && !reads;
    for (at, word) in part.args().iter().enumerate() {
        if text == Some(at) && !word.text.starts_with(['.', '/', '~']) {
            continue;
        }
        for path in paths_in(&word.text, scripted || !word.literal) {
            found.extend(anywhere(part, path, reading));
            if !reads && !part.wrapper {
                found.extend(anywhere(part, path, writing_by_name));
                if risks().changers.has(name) {
                    found
                        .extend(anywhere(part, path, writing).or_else(|| anywhere(part, path, writing_over)));
                }
            }
        }
        let hidden = word.text.starts_with(['~', '/', '.']) || word.text.contains("/.");
        if word.glob && hidden && credentials::may_be_path(&word.text) {
            found.push((Level::Moderate, format!("{} may match a private file", word.text)));
        }
    }
}

/// What is to be said of a path by its name, or by one it has where the line went: `cd ~/.aws; cat config` reads below
/// `~/.aws`.
pub(crate) fn anywhere(
    part: &SimpleCommand,
    path: &str,
    judge: fn(&str) -> Option<(Level, String)>,
) -> Option<(Level, String)> {
    judge(path).or_else(|| elsewhere(part, path).find_map(|path| judge(&path)))
}

/// The argument that is a pattern or a program of its own and no path, where one is certain: the first operand, when
/// no option gives it.
fn text_operand(part: &SimpleCommand, name: &str) -> Option<usize> {
    let given = |word: &Word| {
        let cluster = word.text.starts_with('-') && !word.text.starts_with("--");
        cluster && word.text.contains(['e', 'f'])
            || word.text.starts_with("--regexp")
            || word.text.starts_with("--file")
    };
    let takes = risks().text_first.has(name) && name != "git" && !part.args().iter().any(given);
    let first = || part.args().iter().position(|word| !word.text.starts_with('-'));
    takes.then(first).flatten()
}

/// The word, and what stands behind a `=`, `@` or `:` in it; with `script` every piece that could be a path.
pub(crate) fn paths_in(text: &str, script: bool) -> impl Iterator<Item = &str> {
    let pieces = text.split(['=', '@', ':', ',']).skip(1);
    let tokens = text
        .split(|c: char| c.is_whitespace() || "'\"(),;=@<>`{}[]|&+".contains(c))
        .filter(move |_| script);
    std::iter::once(text)
        .chain(pieces)
        .chain(tokens)
        .filter(|piece| !piece.is_empty())
}
