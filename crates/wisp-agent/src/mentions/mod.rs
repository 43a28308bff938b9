//! `@path` in a message: found, completed and attached. What is here decides nothing about a front end: it completes a line
//! through the engine, and what is attached goes with the message.

mod attach;
pub(crate) mod complete;

/// The most characters between `@` and the end of a path.
const LONGEST: usize = 4096;

/// The paths that a message names, as they stand after the `@`, in order: a word that begins with `@`, or one in quotes
/// after it, `@"with blanks.txt"`.
fn named(message: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut from = 0;
    while let Some(at) = message[from..].find('@').map(|at| from + at) {
        from = at + 1;
        if !begins_word(&message[..at]) {
            continue;
        }
        let rest = &message[at + 1..];
        let (name, quotes) = match rest.strip_prefix('"') {
            Some(quoted) => (quoted.split_once('"').map(|(name, _)| name), 2),
            None => (rest.split(char::is_whitespace).next(), 0),
        };
        let Some(name) = name.filter(|name| !name.is_empty() && name.len() <= LONGEST) else {
            continue;
        };
        from += name.len() + quotes;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether a word begins after this text. An address, `a@b.example`, is no path.
fn begins_word(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|last| last.is_whitespace() || matches!(last, '(' | '[' | '"' | '\'' | '`'))
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_path_begins_a_word_and_may_be_in_quotes() {
        assert_eq!(named("compare @a.rs with @src/b.rs"), ["a.rs", "src/b.rs"]);
        assert_eq!(named("@\"my notes.txt\" and (@c)"), ["my notes.txt", "c)"]);
        assert_eq!(named("mail ada@example.org, twice @a @a"), ["a"]);
        assert_eq!(named("alone @ or @\" open or at the end @"), Vec::<&str>::new());
    }

    proptest::proptest! {
        #[test]
        fn any_message_is_read(message in "(@|\"|\\PC| ){0,24}") {
            for name in named(&message) {
                proptest::prop_assert!(message.contains(name) && !name.is_empty());
            }
        }
    }
}
