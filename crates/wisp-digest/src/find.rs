//! Looking for a phrase in a line.
//!
//! The standard library prepares a search that stays linear for any phrase, which takes longer than to look through a
//! line. A phrase of these readers is short: the rarer of its first and last byte is looked for, and the rest compared.

use crate::grams::commonness;

/// What readers ask of a text by a phrase of theirs.
pub(crate) trait Find {
    /// Where the phrase stands first. A phrase has at least one byte.
    fn place_of(&self, phrase: &str) -> Option<usize>;

    /// Whether the phrase stands in the text.
    fn has(&self, phrase: &str) -> bool {
        self.place_of(phrase).is_some()
    }

    /// What stands before and after the phrase where it stands first.
    fn part_at(&self, phrase: &str) -> Option<(&str, &str)>;
}

impl Find for str {
    fn place_of(&self, phrase: &str) -> Option<usize> {
        let (text, wanted) = (self.as_bytes(), phrase.as_bytes());
        let (first, last) = (wanted.first()?, wanted.last()?);
        let (byte, offset) = if commonness(*last) < commonness(*first) {
            (*last, wanted.len() - 1)
        } else {
            (*first, 0)
        };
        let mut from = offset;
        loop {
            let at = from + memchr::memchr(byte, text.get(from..)?)?;
            if text[at - offset..].starts_with(wanted) {
                return Some(at - offset);
            }
            from = at + 1;
        }
    }

    fn part_at(&self, phrase: &str) -> Option<(&str, &str)> {
        let at = self.place_of(phrase)?;
        Some((&self[..at], &self[at + phrase.len()..]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Find;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_phrase_is_found_where_the_standard_library_finds_it(text in "[ab: é]{0,24}", phrase in "[ab: é]{1,4}") {
            prop_assert_eq!(text.place_of(&phrase), text.find(&phrase));
            prop_assert_eq!(text.has(&phrase), text.contains(&phrase));
            prop_assert_eq!(text.part_at(&phrase), text.split_once(&phrase));
        }
    }
}
