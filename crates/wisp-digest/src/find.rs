//! Looking for a phrase in a line.
//!
//! The standard library prepares a search that stays linear for any phrase, which takes longer than to look through a
//! line. A phrase of these readers is short: the rarest of its first two bytes and its last is looked for, and the rest
//! compared.

use crate::grams::commonness;
use crate::near::near;

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

    /// What stands before the phrase where it stands first; all of the text where it does not.
    fn before(&self, phrase: &str) -> &str;

    /// What follows the phrase at the start of the text, however often it stands there.
    fn past(&self, phrase: &str) -> &str;

    /// What stands before the phrase at the end of the text, however often it stands there.
    fn short_of(&self, phrase: &str) -> &str;

    /// What stands before and after a byte of ASCII that is likely to be near.
    fn halves(&self, byte: u8) -> Option<(&str, &str)>;

    /// What stands before and after the phrase where it stands last.
    fn last_part_at(&self, phrase: &str) -> Option<(&str, &str)>;
}

impl Find for str {
    fn place_of(&self, phrase: &str) -> Option<usize> {
        let (text, wanted) = (self.as_bytes(), phrase.as_bytes());
        let (mut byte, mut offset) = (*wanted.first()?, 0);
        for other in [1, wanted.len() - 1] {
            if let Some(rarer) = wanted
                .get(other)
                .filter(|each| commonness(**each) < commonness(byte))
            {
                (byte, offset) = (*rarer, other);
            }
        }
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

    fn before(&self, phrase: &str) -> &str {
        &self[..self.place_of(phrase).unwrap_or(self.len())]
    }

    fn past(&self, phrase: &str) -> &str {
        let mut text = self;
        while let Some(rest) = text.strip_prefix(phrase) {
            text = rest;
        }
        text
    }

    fn short_of(&self, phrase: &str) -> &str {
        let mut text = self;
        while let Some(rest) = text.strip_suffix(phrase) {
            text = rest;
        }
        text
    }

    fn halves(&self, byte: u8) -> Option<(&str, &str)> {
        let at = near(byte, self.as_bytes(), 0)?;
        Some((&self[..at], &self[at + 1..]))
    }

    fn last_part_at(&self, phrase: &str) -> Option<(&str, &str)> {
        let (text, wanted) = (self.as_bytes(), phrase.as_bytes());
        let first = wanted.first()?;
        let mut end = text.len();
        loop {
            end = memchr::memrchr(*first, &text[..end])?;
            if text[end..].starts_with(wanted) {
                return Some((&self[..end], &self[end + wanted.len()..]));
            }
        }
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
            prop_assert_eq!(Some(text.before(&phrase)), text.split(&phrase).next());
            prop_assert_eq!(text.past(&phrase), text.trim_start_matches(&phrase));
            prop_assert_eq!(text.short_of(&phrase), text.trim_end_matches(&phrase));
            prop_assert_eq!(text.halves(b':'), text.split_once(':'));
            prop_assert_eq!(text.last_part_at(&phrase), text.rsplit_once(&phrase));
        }
    }
}
