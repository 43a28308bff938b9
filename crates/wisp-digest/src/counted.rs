//! How a number stands before what it counts: with thousands separators, and one of a thing in the singular.
//!
//! Formats name their counts in the plural (`failures`, `targets failed`); a text puts the noun to the number here and
//! nowhere else.

pub(crate) use wisp_amount::grouped as thousands;

/// Nouns of counts in the plural that do not just lose an `s` for one.
const ODD: &[(&str, &str)] = &[
    ("entries", "entry"),
    ("processes", "process"),
    ("classes", "class"),
];

/// Nouns of counts in the plural.
const NOUNS: &[&str] = &[
    "assertions",
    "bytes",
    "causes",
    "changes",
    "crashes",
    "documents",
    "errors",
    "examples",
    "failures",
    "files",
    "hunks",
    "incompletes",
    "levels",
    "lines",
    "modules",
    "names",
    "packages",
    "problems",
    "references",
    "runs",
    "sections",
    "skips",
    "steps",
    "suites",
    "symbols",
    "targets",
    "templates",
    "tests",
    "things",
    "times",
    "warnings",
];

/// `1 line`, `2,270 lines`, `1 error outside of examples`: the number and what it counts, given in the plural.
pub(crate) fn counted(number: u64, plural: &str) -> String {
    if number == 1 {
        format!("1 {}", one(plural))
    } else {
        format!("{} {plural}", thousands(number))
    }
}

/// The name of a count with its first noun in the singular; what it is `without` stays.
fn one(plural: &str) -> String {
    let mut words: Vec<&str> = plural.split(' ').collect();
    let without = words.first() == Some(&"without");
    if let Some(word) = words
        .iter_mut()
        .find(|word| !without && (NOUNS.contains(*word) || ODD.iter().any(|(many, _)| many == *word)))
    {
        *word = ODD
            .iter()
            .find(|(many, _)| many == word)
            .map_or_else(|| word.trim_end_matches('s'), |(_, single)| single);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_singular_and_the_rest_is_not() {
        for (number, plural, text) in [
            (1, "targets failed", "1 target failed"),
            (2, "targets failed", "2 targets failed"),
            (0, "errors", "0 errors"),
            (1, "errors outside of examples", "1 error outside of examples"),
            (1, "collection errors", "1 collection error"),
            (1, "missing symbols", "1 missing symbol"),
            (1, "without tests", "1 without tests"),
            (1, "passed", "1 passed"),
            (1, "entries", "1 entry"),
            (12_345, "entries", "12,345 entries"),
            (1_000, "passed", "1,000 passed"),
        ] {
            assert_eq!(counted(number, plural), text);
        }
    }
}
