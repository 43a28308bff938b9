//! Credentials and personal data in text: found by their shapes, replaced by markers.
//!
//! The shapes are `assets/secrets.json`; a new one is a row. There is no measure of randomness among them: a commit's
//! hash and a UUID are as random as a key. A value leaves here only as a marker, `[REDACTED:kind#n]`, in which the
//! same value has the same number, or as a [`preview`].

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;
use serde::{Deserialize, Deserializer};

use crate::shapes::is_real;

/// What a shape is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Lets whoever has it do something.
    Secret,
    /// Is about somebody.
    Personal,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    kind: String,
    category: Category,
    #[serde(deserialize_with = "regex")]
    pattern: Regex,
}

fn regex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Regex, D::Error> {
    let text = String::deserialize(deserializer)?;
    Regex::new(&text).map_err(serde::de::Error::custom)
}

fn shapes() -> &'static [Shape] {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    SHAPES.get_or_init(|| {
        serde_json::from_str(include_str!("../../../assets/secrets.json"))
            .expect("the shapes are read by a test")
    })
}

/// A value that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The name of its shape: `github-token`, `url-password`.
    pub kind: &'static str,
    /// What it is of.
    pub category: Category,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
}

/// Finds secrets, and with `personal` personal data too, in order and without overlaps. Of two that overlap the one
/// that begins first stays, then the longer, then the one of the earlier row; a secret goes before personal data.
pub fn find(text: &str, personal: bool) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for shape in shapes()
        .iter()
        .filter(|shape| personal || shape.category == Category::Secret)
    {
        for captures in shape.pattern.captures_iter(text) {
            let Some(value) = captures.name("v").or_else(|| captures.get(0)) else {
                continue;
            };
            if is_real(&shape.kind, value.as_str()) {
                all.push(Found {
                    kind: &shape.kind,
                    category: shape.category,
                    range: value.range(),
                });
            }
        }
    }
    all.sort_by_key(|found| {
        (
            found.category,
            found.range.start,
            std::cmp::Reverse(found.range.end),
        )
    });
    without_overlaps(all)
}

/// Of values sorted by category and place, those that overlap no earlier one, by place.
fn without_overlaps(all: Vec<Found>) -> Vec<Found> {
    let mut secrets: Vec<Found> = Vec::new();
    let mut personal: Vec<Found> = Vec::new();
    for found in all {
        let kept = if found.category == Category::Secret {
            &secrets
        } else {
            &personal
        };
        let after_last = kept.last().is_none_or(|last| last.range.end <= found.range.start);
        let next = secrets.partition_point(|secret| secret.range.end <= found.range.start);
        let free = secrets
            .get(next)
            .is_none_or(|secret| secret.range.start >= found.range.end);
        match (after_last && free, found.category) {
            (true, Category::Secret) => secrets.push(found),
            (true, Category::Personal) => personal.push(found),
            (false, _) => {}
        }
    }
    secrets.append(&mut personal);
    secrets.sort_by_key(|found| found.range.start);
    secrets
}

/// Replaces values by markers, with the same number for the same value over all the texts it is given.
#[derive(Debug, Clone, Default)]
pub struct Masker {
    personal: bool,
    /// Value to marker; the values never leave.
    markers: HashMap<String, String>,
    /// How many values of a kind there were.
    counts: HashMap<&'static str, usize>,
}

impl Masker {
    /// A masker of secrets, and with `personal` of personal data too.
    pub fn new(personal: bool) -> Self {
        Self {
            personal,
            ..Self::default()
        }
    }

    /// The text with every value replaced.
    pub fn mask(&mut self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        for found in find(text, self.personal) {
            masked.push_str(&text[at..found.range.start]);
            masked.push_str(self.marker(found.kind, &text[found.range.clone()]));
            at = found.range.end;
        }
        masked.push_str(&text[at..]);
        masked
    }

    /// How many different values of each kind were replaced, by kind.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts: Vec<_> = self.counts.iter().map(|(kind, count)| (*kind, *count)).collect();
        counts.sort_unstable();
        counts
    }

    fn marker(&mut self, kind: &'static str, value: &str) -> &str {
        let counts = &mut self.counts;
        self.markers.entry(value.to_owned()).or_insert_with(|| {
            let count = counts.entry(kind).or_default();
            *count += 1;
            format!("[REDACTED:{kind}#{count}]")
        })
    }
}

/// One text with its secrets replaced.
///
/// ```
/// let masked = wisp_guard::secrets::mask("curl -u ada:correct-horse https://x");
/// assert_eq!(masked, "curl -u ada:[REDACTED:cli-password#1] https://x");
/// ```
pub fn mask(text: &str) -> String {
    Masker::new(false).mask(text)
}

/// As much of a value as may be shown: its first 4 characters when it has 16 or more, 2 when it has 8, and its length.
pub fn preview(value: &str) -> String {
    let length = value.chars().count();
    let shown = match length {
        16.. => 4,
        8..16 => 2,
        _ => 0,
    };
    let start: String = value.chars().take(shown).collect();
    format!("{start}…({length} chars)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, personal: bool) -> Vec<&'static str> {
        find(text, personal).into_iter().map(|found| found.kind).collect()
    }

    /// Values are put together here so that no file holds one whole.
    fn secrets() -> Vec<(String, &'static str)> {
        let x = |start: &str, count: usize| format!("{start}{}", "aB3".repeat(count / 3 + 1));
        vec![
            (
                ["AWS_ACCESS_KEY_ID=AK", "IA", "TERN0000EXAMPLE1"].concat(),
                "aws-access-key",
            ),
            (
                [
                    "AWS_SECRET_ACCESS_KEY=tern00000000/exam",
                    "ple/KKKKKKKKKKKKKKKKKKK",
                ]
                .concat(),
                "aws-secret-key",
            ),
            (
                ["GITHUB_TOKEN=gh", "p_", "Tern0000Example1111Tern2222Example33"].concat(),
                "github-token",
            ),
            ([String::from("s"), x("k-tern", 44)].concat(), "openai-key"),
            (
                [
                    "DATABASE_URL=postgres://tern:",
                    "hunter2-7F3A",
                    "@db.example.test/tide",
                ]
                .concat(),
                "url-password",
            ),
            ("PASSWORD=correct-horse-7F3A".to_owned(), "env-secret"),
            (
                [
                    "Authorization: Bearer ey",
                    "JhbGciOiJub25lIn0.ey",
                    "JzdWIiOiJ0ZXJuIn0.",
                ]
                .concat(),
                "jwt",
            ),
            (
                "machine db.example.test login tern password netrc-7F3A".to_owned(),
                "netrc-password",
            ),
            (
                [
                    "-----BEGIN ",
                    "PRIVATE KEY-----\nbm90IGEgcmVhbCBrZXkg\n-----END ",
                    "PRIVATE KEY-----",
                ]
                .concat(),
                "private-key",
            ),
            ("db_password: \"s3cr3t-value\"".to_owned(), "assigned-secret"),
            ("mysql -u root -phunter2zz shop".to_owned(), "cli-password"),
            ("tool --api-key abcd1234 run".to_owned(), "cli-password"),
            (x("xoxb-", 12), "slack-token"),
            (
                ["https://x/?a=1&access_to", "ken=abcdef123"].concat(),
                "url-secret",
            ),
            (
                ["root:$6$", "abcdefgh$abcdefghijklmnop"].concat(),
                "password-hash",
            ),
        ]
    }

    #[test]
    fn each_shape_is_found_and_its_value_does_not_leave() {
        for (text, kind) in secrets() {
            assert_eq!(kinds(&text, false), [kind], "{text}");
            let found = &find(&text, false)[0];
            let value = &text[found.range.clone()];
            assert!(!mask(&text).contains(value), "{text}");
        }
    }

    #[test]
    fn what_only_looks_random_or_stands_for_a_value_is_left() {
        for text in [
            "commit 7f3a7f3a7f3a7f3a7f3a7f3a7f3a7f3a7f3a7f3a",
            "id 123e4567-e89b-12d3-a456-426614174000",
            "AWS_ACCESS_KEY_ID=",
            "PASSWORD=changeme",
            "PASSWORD=$DB_PASSWORD",
            "password: \"example\"",
            "let token = lexer.next_token();",
            "token: Token,",
            "password = <your password>",
            "fn password(&self) -> String",
            "if key == other.key {",
        ] {
            assert_eq!(kinds(text, false), [""; 0], "{text}");
        }
    }

    #[test]
    fn personal_data_is_found_only_when_asked_for() {
        for (text, kind) in [
            ("mail ada@tern.io now", "email"),
            ("call +44 20 7946 0958", "phone"),
            ("card 4111 1111 1111 1111", "card-number"),
            ("from 8.8.8.8", "ip-address"),
            ("/home/ada/x", "user-name"),
            ("db.corp", "private-host"),
        ] {
            assert_eq!(kinds(text, true), [kind], "{text}");
            assert_eq!(kinds(text, false), [""; 0], "{text}");
        }
        for text in [
            "ada@example.com",
            "4111 1111 1111 1112",
            "10.0.0.1 127.0.0.1 1.2.3.400",
            "/Users/Shared/x",
        ] {
            assert_eq!(kinds(text, true), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_same_value_has_the_same_number() {
        let mut masker = Masker::new(false);
        let shown = masker.mask("A_TOKEN=abcdefgh1 B_TOKEN=ijklmnop2 C_TOKEN=abcdefgh1");
        assert_eq!(
            shown,
            "A_TOKEN=[REDACTED:env-secret#1] B_TOKEN=[REDACTED:env-secret#2] C_TOKEN=[REDACTED:env-secret#1]"
        );
        assert_eq!(
            masker.mask("D_TOKEN=ijklmnop2"),
            "D_TOKEN=[REDACTED:env-secret#2]"
        );
        assert_eq!(masker.counts(), [("env-secret", 2)]);
    }

    #[test]
    fn a_preview_shows_little_by_exact_length() {
        assert_eq!(preview("1234567"), "…(7 chars)");
        assert_eq!(preview("12345678"), "12…(8 chars)");
        assert_eq!(preview("123456789012345"), "12…(15 chars)");
        assert_eq!(preview("1234567890123456"), "1234…(16 chars)");
    }
}
