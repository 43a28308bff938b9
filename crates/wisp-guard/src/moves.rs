//! Where the parts of a line may run, as far as its own `cd`s say.
//!
//! A relative name is a name in one of these places: `cd .git/hooks && ls > pre-commit` writes a hook.

use crate::command::{SimpleCommand, Word};

/// Builtins that change the directory of what follows them.
const MOVERS: [&str; 4] = ["cd", "chdir", "pushd", "popd"];

/// The most places that are followed; a line with more goes to too many to tell.
const MOST: usize = 32;

/// Notes on every part where it may run, beside where the line began.
pub(crate) fn follow(parts: &mut [SimpleCommand]) {
    let mut moved = None;
    // Which of the `cd`s happen is not known (a subshell, a condition), so each leads on from everywhere.
    let mut places: Vec<String> = Vec::new();
    for part in parts {
        part.moved.clone_from(&moved);
        part.places.clone_from(&places);
        if !part.name().is_some_and(|name| MOVERS.contains(&name)) {
            continue;
        }
        moved = Some(part.text.clone());
        let Some(there) = destination(part) else { continue };
        let mut new: Vec<String> = places.iter().map(|from| joined(from, &there)).collect();
        new.push(joined("", &there));
        for place in new {
            if !places.contains(&place) && places.len() < MOST {
                places.push(place);
            }
        }
    }
}

/// Where a part goes; `None` where the line does not say.
fn destination(part: &SimpleCommand) -> Option<String> {
    let word: Option<&Word> = part.operands().last();
    let Some(word) = word else {
        return (part.name() == Some("cd")).then(|| "~".to_owned());
    };
    let text = word.text.replace("${HOME}", "~").replace("$HOME", "~");
    (!text.contains(['$', '`'])).then_some(text)
}

/// The names a relative path has in the places a part may run in.
pub(crate) fn elsewhere<'a>(part: &'a SimpleCommand, path: &'a str) -> impl Iterator<Item = String> + 'a {
    let relative = !path.is_empty() && !path.starts_with(['/', '~', '-', '$']);
    let places = part.places.iter().filter(move |_| relative);
    places.map(move |place| joined(place, path))
}

/// A path from a place, without `.`, and without `..` where what it takes back is known.
fn joined(place: &str, path: &str) -> String {
    if path.starts_with(['/', '~']) || place.is_empty() {
        return plain(path);
    }
    plain(&format!("{place}/{path}"))
}

fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts
                .last()
                .is_some_and(|last| *last != ".." && !last.starts_with('~')) =>
            {
                parts.pop();
            }
            ".." if path.starts_with('/') && parts.is_empty() => {}
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use crate::split::split;

    fn places(line: &str) -> Vec<String> {
        split(line).unwrap().pop().unwrap().places
    }

    #[test]
    fn a_part_may_run_wherever_the_line_went_before() {
        assert_eq!(places("ls"), [""; 0]);
        assert_eq!(places("cd a && ls"), ["a"]);
        assert_eq!(places("(cd .git; cd hooks); ls"), [".git", ".git/hooks", "hooks"]);
        assert_eq!(places("cd ~ && cd .ssh && ls"), ["~", "~/.ssh", ".ssh"]);
        assert_eq!(
            places("cd a/../b; cd ..; cd /dev/./; ls"),
            ["b", "", "..", "/dev"]
        );
        assert_eq!(places("cd \"$HOME\"/.aws; ls"), ["~/.aws"]);
        assert_eq!(places("cd; ls"), ["~"]);
        assert_eq!(places("pushd /x > /dev/null && cd \"$Y\" && ls"), ["/x"]);
    }
}
