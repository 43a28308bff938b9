//! Globs over one path component: whether one matches a text, and whether two can match the same text.

/// What one element of a glob stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    /// Any characters, also none.
    Many,
    /// One character that is not known: `?`, `[…]`, an expansion's start.
    One,
    /// This character.
    This(char),
}

fn elements(glob: &str) -> Vec<Element> {
    let mut found = Vec::new();
    let mut rest = glob.chars();
    while let Some(c) = rest.next() {
        found.push(match c {
            '*' => Element::Many,
            '?' => Element::One,
            '[' if rest.as_str().contains(']') => {
                // `[]a]` has `]` as its first member.
                let mut members = 0;
                for member in rest.by_ref() {
                    if member == ']' && members > 0 {
                        break;
                    }
                    members += usize::from(!matches!(member, '!' | '^') || members > 0);
                }
                Element::One
            }
            c => Element::This(c),
        });
    }
    found
}

/// Whether a glob matches a text; a set is taken for any one character.
pub(crate) fn matches(glob: &str, text: &str) -> bool {
    if !glob.contains(['*', '?', '[']) {
        return glob == text;
    }
    let text: Vec<Element> = text.chars().map(Element::This).collect();
    can_meet(&elements(glob), &text)
}

/// Whether there is a text that both match.
pub(crate) fn meet(a: &str, b: &str) -> bool {
    can_meet(&elements(a), &elements(b))
}

/// A table over both, so that the time is the product of their lengths whatever they hold.
fn can_meet(a: &[Element], b: &[Element]) -> bool {
    // reach[j]: whether the first i elements of `a` and the first j of `b` can stand for the same text.
    let mut reach = vec![false; b.len() + 1];
    reach[0] = true;
    for at in 0..b.len() {
        reach[at + 1] = reach[at] && b[at] == Element::Many;
    }
    for element in a {
        let mut next = vec![false; b.len() + 1];
        next[0] = reach[0] && *element == Element::Many;
        for (at, other) in b.iter().enumerate() {
            next[at + 1] = match (element, other) {
                (Element::Many, _) | (_, Element::Many) => next[at] || reach[at + 1] || reach[at],
                (Element::This(x), Element::This(y)) => reach[at] && x == y,
                _ => reach[at],
            };
        }
        reach = next;
    }
    reach[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_texts() {
        for (glob, text, same) in [
            ("*.pem", "a.pem", true),
            ("*.pem", "pem", false),
            (".env.*", ".env.local", true),
            (".env", ".env", true),
            ("*TOKEN*", "GITHUB_TOKEN", true),
            ("a?c", "abc", true),
            ("a[bx]c", "abc", true),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(glob, text), same, "{glob} {text}");
        }
    }

    #[test]
    fn two_globs_meet_where_a_text_is_of_both() {
        for (a, b, same) in [
            (".e*", ".env", true),
            (".??v", ".env", true),
            ("*nv", "*.env", true),
            ("*.txt", "*.pem", false),
            ("a*b*c", "*x*", true),
            ("a", "b", false),
            ("[]a]x", "ax", true),
        ] {
            assert_eq!(meet(a, b), same, "{a} {b}");
            assert_eq!(meet(b, a), same, "{b} {a}");
        }
    }
}
