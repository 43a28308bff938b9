//! Credentials and personal data in text: found by their shapes, replaced by markers.
//!
//! The shapes are `assets/secrets.json`; a new one is a row. There is no measure of randomness among them: a commit's
//! hash and a UUID are as random as a key. A value leaves here only as a marker, `[REDACTED:kind#n]`, in which the
//! same value has the same number, or as a [`preview`].

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

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

/// A row of the table. Its pattern is compiled for the first text that holds one of the words it needs: compiling all of
/// them takes some ten milliseconds, which would be most of a short turn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    kind: String,
    category: Category,
    /// Every match holds one of these, in any case of ASCII letters; none given: any text is searched.
    #[serde(default)]
    near: Vec<String>,
    pattern: String,
    #[serde(skip)]
    compiled: OnceLock<Regex>,
}

impl Shape {
    fn regex(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            Regex::new(&self.pattern).expect("each pattern of the table is compiled by a test")
        })
    }
}

/// The table and the search for the words its rows need.
struct Shapes {
    rows: Vec<Shape>,
    words: AhoCorasick,
    /// Which row each word belongs to.
    rows_of_words: Vec<usize>,
}

impl Shapes {
    fn read() -> Self {
        let rows: Vec<Shape> = serde_json::from_str(include_str!("../../../assets/secrets.json"))
            .expect("the shapes are read by a test");
        let all = rows.iter().enumerate();
        let (rows_of_words, words): (Vec<usize>, Vec<&str>) = all
            .flat_map(|(at, row)| row.near.iter().map(move |word| (at, word.as_str())))
            .unzip();
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(words)
            .expect("a hundred short words are within its limits");
        Self {
            rows,
            words,
            rows_of_words,
        }
    }

    /// The rows that may match something of a text.
    fn possible(&self, text: &str) -> impl Iterator<Item = &Shape> {
        let mut possible: Vec<bool> = self.rows.iter().map(|row| row.near.is_empty()).collect();
        for found in self.words.find_overlapping_iter(text) {
            possible[self.rows_of_words[found.pattern().as_usize()]] = true;
        }
        self.rows
            .iter()
            .zip(possible)
            .filter_map(|(row, may)| may.then_some(row))
    }
}

fn shapes() -> &'static Shapes {
    static SHAPES: OnceLock<Shapes> = OnceLock::new();
    SHAPES.get_or_init(Shapes::read)
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
        .possible(text)
        .filter(|shape| personal || shape.category == Category::Secret)
    {
        for captures in shape.regex().captures_iter(text) {
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
    /// Hashes of texts in which nothing was found, so that a text that comes again is not searched again.
    clean: HashSet<u64>,
}

/// Texts shorter than this are searched faster than they are looked up.
const WORTH_KNOWING: usize = 64;
/// The most texts that are known to hold nothing; then they are learned anew.
const MOST_KNOWN: usize = 100_000;

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
        self.masked(text)
            .map_or_else(|| text.to_owned(), |(masked, _)| masked)
    }

    /// The text with every value replaced, and how many were; none when there was none.
    pub fn masked(&mut self, text: &str) -> Option<(String, usize)> {
        let key = (text.len() >= WORTH_KNOWING).then(|| hash_of(text));
        if key.is_some_and(|key| self.clean.contains(&key)) {
            return None;
        }
        let all = find(text, self.personal);
        if all.is_empty() {
            self.clean.extend(key.filter(|_| self.clean.len() < MOST_KNOWN));
            return None;
        }
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        for found in &all {
            masked.push_str(&text[at..found.range.start]);
            masked.push_str(self.marker(found.kind, &text[found.range.clone()]));
            at = found.range.end;
        }
        masked.push_str(&text[at..]);
        Some((masked, all.len()))
    }

    /// Replaces every value in the texts of a JSON value, also one that only the name beside it tells
    /// (`"password": "…"`); how many were replaced.
    pub fn mask_value(&mut self, value: &mut Value) -> usize {
        match value {
            Value::String(text) => self.masked(text).map_or(0, |(masked, count)| {
                *text = masked;
                count
            }),
            Value::Array(all) => all.iter_mut().map(|one| self.mask_value(one)).sum(),
            Value::Object(all) => all
                .iter_mut()
                .map(|(name, one)| self.mask_member(name, one))
                .sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }

    fn mask_member(&mut self, name: &str, value: &mut Value) -> usize {
        let replaced = self.mask_value(value);
        let Value::String(text) = value else {
            return replaced;
        };
        if replaced > 0 || text.is_empty() {
            return replaced;
        }
        // As an assignment would be written; a quote in the value would end it there.
        let start = name.len() + " = \"".len();
        let assigned = format!("{name} = \"{text}\"");
        let named = find(&assigned, false)
            .into_iter()
            .find(|found| found.range == (start..start + text.len()));
        named.map_or(0, |found| {
            self.marker(found.kind, text).clone_into(text);
            1
        })
    }

    /// How many different values of each kind were replaced, by kind.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts: Vec<_> = self.counts.iter().map(|(kind, count)| (*kind, *count)).collect();
        counts.sort_unstable();
        counts
    }

    /// How many different values were replaced.
    pub fn total(&self) -> usize {
        self.counts.values().sum()
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

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
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
    use proptest::prelude::*;
    use proptest::string::string_regex;
    use proptest::test_runner::TestRunner;

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
    fn every_match_of_a_shape_holds_one_of_the_words_it_needs() {
        let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
        for shape in &shapes().rows {
            assert_eq!(shape.regex().as_str(), shape.pattern);
            // The generator knows no boundaries; what it makes without them is more than what matches.
            let loose = shape.pattern.replace("\\b", "").replace("(?:^|", "(?:");
            let matches = string_regex(&loose).expect(&loose);
            let checked = runner.run(&matches, |text| {
                prop_assert!(
                    shapes()
                        .possible(&text)
                        .any(|possible| std::ptr::eq(possible, shape))
                );
                Ok(())
            });
            checked.expect(&shape.pattern);
        }
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
    fn passwords_of_command_lines_and_the_ends_of_cut_keys_are_found() {
        let word = ["Zq7", "-tide"].concat();
        let body = "bm90IGEgcmVhbCBrZXkg".repeat(3);
        for (text, kind) in [
            (format!("redis-cli -h db -a {word} ping"), "cli-password"),
            (format!("zip -r -P {word} a.zip b"), "cli-password"),
            (format!("openssl enc -aes-256-cbc -k {word}"), "cli-password"),
            (format!("openssl rsa -passin pass:{word} -in k"), "cli-password"),
            (
                format!("security add-generic-password -a me -w {word}"),
                "cli-password",
            ),
            (format!("htpasswd -cb file ada {word}"), "cli-password"),
            (format!("echo {word} | sudo -S id"), "cli-password"),
            (format!("sudo -kS id <<< {word}"), "cli-password"),
            (
                format!("aws configure set aws_session_token {word}"),
                "cli-password",
            ),
            (format!("token=s.{}", "a1B2".repeat(6)), "vault-token"),
            (format!("x 1//0{}", "a1B2_".repeat(5)), "google-oauth"),
            (
                format!("{body}\n{body}\n-----END RSA PRIVATE {}-----", "KEY"),
                "private-key",
            ),
            (format!("MIIEpAIBAAKCAQEA{body}\n{body}"), "private-key"),
        ] {
            assert_eq!(kinds(&text, false), [kind], "{text}");
            assert!(
                !mask(&text).contains(&word) && !mask(&text).contains(&body),
                "{text}"
            );
        }
        // A certificate is no secret.
        let certificate = format!("MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0{body}");
        assert_eq!(kinds(&certificate, false), [""; 0]);
    }

    #[test]
    fn a_json_value_is_masked_in_its_texts_and_by_the_names_beside_them() {
        let command = ["curl -u ada:", "correct-horse", " https://x"].concat();
        let mut value = serde_json::json!({
            "command": command,
            "nested": [{"api_key": "abcd1234efgh"}, {"user": "ada", "token": 7, "password": ""}],
        });
        let mut masker = Masker::new(false);
        assert_eq!(masker.mask_value(&mut value), 2);
        assert_eq!(
            value,
            serde_json::json!({
                "command": "curl -u ada:[REDACTED:cli-password#1] https://x",
                "nested": [{"api_key": "[REDACTED:assigned-secret#1]"}, {"user": "ada", "token": 7, "password": ""}],
            })
        );
        assert_eq!(masker.total(), 2);
        assert_eq!(masker.mask_value(&mut value), 0, "a marker is no value");
    }

    #[test]
    fn a_text_that_was_masked_is_not_masked_again() {
        for (text, _) in secrets() {
            let masked = mask(&text);
            assert_eq!(mask(&masked), masked, "{text}");
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
            ("at 12 Harbour View Road, Tern", "street-address"),
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
