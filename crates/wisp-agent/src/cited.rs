//! Entries that a reply cites but that do not exist: a small model makes up `entry 19` as readily as it reads one.

use std::sync::LazyLock;

use regex::Regex;

/// Numbers looked at in one reply.
const CHECKED: usize = 100;
/// Groups named in the line.
const GROUPS: usize = 8;

static CITATION: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"#?\d{1,6}(?:\s*[-–—]\s*\d{1,6})?";
    let list = format!(r"(?i)\bentr(?:y|ies)\s+({number}(?:\s*(?:,|,?\s+(?:and|or))\s*{number})*)");
    Regex::new(&list).expect("a literal pattern compiles")
});

/// The line about entries that the reply cites and that are not among 1..=`last`; none when there are none.
pub fn missing(reply: &str, last: u32) -> Option<String> {
    let mut numbers: Vec<u32> = CITATION
        .captures_iter(reply)
        .flat_map(|c| numbers_in(&c[1]))
        .collect();
    let more = numbers.len() > CHECKED;
    numbers.truncate(CHECKED);
    numbers.retain(|n| *n == 0 || *n > last);
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() {
        return None;
    }
    let note = if more {
        "; only the first 100 were checked"
    } else {
        ""
    };
    Some(format!(
        "cited but not in this conversation: {}{note}",
        words(&numbers)
    ))
}

fn numbers_in(list: &str) -> Vec<u32> {
    let parts = list
        .split(|c: char| c == ',' || c.is_alphabetic())
        .map(str::trim)
        .filter(|p| !p.is_empty());
    parts.flat_map(range).collect()
}

fn range(part: &str) -> Vec<u32> {
    let ends: Vec<u32> = part
        .split(['-', '–', '—'])
        .filter_map(|n| n.trim().trim_start_matches('#').parse().ok())
        .collect();
    match ends[..] {
        [one] => vec![one],
        [from, to] if from <= to => (from..=to).take(CHECKED + 1).collect(),
        _ => Vec::new(),
    }
}

fn words(numbers: &[u32]) -> String {
    let groups: Vec<&[u32]> = numbers.chunk_by(|a, b| a + 1 == *b).collect();
    let named: Vec<String> = groups
        .iter()
        .take(GROUPS)
        .map(|group| match group {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}–{last}"),
            [] => String::new(),
        })
        .collect();
    let more = groups.len().saturating_sub(GROUPS);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    match numbers {
        [one] => format!("entry {one}"),
        _ => format!("entries {}{more} ({})", named.join(", "), numbers.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exists_is_not_mentioned() {
        assert_eq!(missing("as entry 3 and entries 4-7 show", 7), None);
        assert_eq!(missing("no entry here", 1), None);
    }

    #[test]
    fn every_form_of_citing_is_read() {
        assert_eq!(
            missing("Entry #9 says", 8).unwrap(),
            "cited but not in this conversation: entry 9"
        );
        let line = missing("entries 19, 20 and 21, or entries 25–26", 8).unwrap();
        assert_eq!(
            line,
            "cited but not in this conversation: entries 19–21, 25–26 (5)"
        );
    }

    #[test]
    fn a_huge_range_is_not_walked() {
        assert!(
            missing("entries 1-999999", 3)
                .unwrap()
                .ends_with("only the first 100 were checked")
        );
    }
}
