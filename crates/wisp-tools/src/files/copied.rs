//! What a page of `read_file` or a note of wisp's has and a file has not: line numbers and notices of what was held back.
//! Models copy them along. A text to look for is then never found; a new content would carry them into the file.

/// What may stand between a line's number and its text.
const AFTER: [&str; 8] = ["\t", " | ", "| ", " |", "|", ": ", ":", "→"];

/// A text's lines without the numbers before them, in the ways they may be taken away; empty when a line has none, or
/// when they do not follow each other.
pub fn without_numbers(text: &str) -> Vec<String> {
    AFTER
        .iter()
        .filter_map(|after| Some(unnumbered(text, after)?.1))
        .collect()
}

/// The first number, and the text without all of them.
fn unnumbered(text: &str, after: &str) -> Option<(u64, String)> {
    let mut first = None;
    let mut out = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let digits = line.trim_start_matches(' ');
        let end = digits.find(|char: char| !char.is_ascii_digit())?;
        let number: u64 = digits[..end].parse().ok()?;
        let first = *first.get_or_insert(number);
        if number != first + at as u64 {
            return None;
        }
        out.push(digits[end..].strip_prefix(after)?);
    }
    Some((first?, out.join("\n")))
}

/// Why a new content is none: it has a page's line numbers or a notice that `old` has not. `line` is the line it goes to,
/// where that is known: a single line with just that number before it was copied from a page. None when it may be written.
pub fn why_not(content: &str, old: &str, line: Option<usize>) -> Option<String> {
    if let Some(notice) = notice(content).filter(|notice| !old.contains(notice)) {
        return Some(format!(
            "content holds {notice:?}, which is wisp's notice and no text of the file: give the whole text in its place"
        ));
    }
    let numbered = |text: &str| unnumbered(text, "\t").or_else(|| unnumbered(text, " | "));
    let (first, text) = numbered(content)?;
    let many = text.lines().count() > 1;
    let copied = many || line.is_some_and(|line| line as u64 == first);
    let usual = old.trim().is_empty() || old.lines().any(|line| numbered(line).is_some());
    (copied && !usual).then(|| {
        format!(
            "content begins each line with its number ({first} …), as read_file shows lines: give the lines without the numbers"
        )
    })
}

/// A remark on a content that may be meant so: a new file of numbered lines.
pub fn remark(content: &str) -> &'static str {
    match unnumbered(content, "\t") {
        Some((1, text)) if text.lines().count() > 1 => {
            "; note: each line of it begins with a number and a tab, as read_file shows lines"
        }
        _ => "",
    }
}

/// The first line that is a notice of wisp's.
fn notice(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| {
        let bare = line.split_once('\t').map_or(*line, |(_, rest)| rest);
        let inside = bare.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        let opening = super::read::is_opening(bare);
        opening
            || inside.is_some_and(|inside| {
                inside.starts_with("… ") && inside.contains("held back")
                    || inside.starts_with("held back: ")
                    || inside.starts_with("more: call again with offset ")
                    || inside == "end of file"
                    || inside == "no newline at the end of the file"
            })
    })
}

#[cfg(test)]
mod tests {
    use super::{remark, why_not, without_numbers};

    #[test]
    fn numbers_before_lines_are_taken_away_in_every_form() {
        for text in [
            "2\t    x = 1",
            "2:    x = 1",
            "2: ".to_owned().as_str(),
            "   2 |    x = 1",
        ] {
            assert!(!without_numbers(text).is_empty(), "{text}");
        }
        assert!(without_numbers("2\t    x = 1").contains(&"    x = 1".to_owned()));
        assert!(
            without_numbers("2:     x = 1\n3:     return x").contains(&"    x = 1\n    return x".to_owned())
        );
        assert!(without_numbers("   2 |     x = 1").contains(&"    x = 1".to_owned()));
        for text in ["x = 1", "2\tx\n4\ty", "2\tx\ny", "12", ""] {
            assert_eq!(without_numbers(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_pages_numbers_and_notices_are_no_content() {
        let old = "def f():\n    x = 1\n";
        for content in ["1\tdef f():\n2\t    x = 2\n", "  1 | def f():\n  2 |     x = 2\n"] {
            assert!(
                why_not(content, old, None).is_some_and(|why| why.starts_with("content begins each line")),
                "{content}"
            );
        }
        for content in [
            "a\n[… 20 lines held back …]\n",
            "a\n[… 1,024 bytes of line 3 held back …]",
            "a\n[… 20 lines (1.2 KiB) held back …]\nb",
            "a\n[more: call again with offset 101]",
            "a\n[end of file]",
        ] {
            assert!(
                why_not(content, old, None).is_some_and(|why| why.contains("wisp's notice")),
                "{content}"
            );
            assert!(why_not(content, "", None).is_some(), "{content}");
            assert_eq!(
                why_not(content, content, None),
                None,
                "a file may speak of it: {content}"
            );
        }
    }

    #[test]
    fn one_line_with_a_number_is_copied_when_it_is_the_lines_own() {
        assert!(why_not("2\t    x = 2", "def f():\n    x = 1\n", Some(2)).is_some());
        assert_eq!(why_not("2\tapples", "count\tname\nmany\tpears\n", Some(3)), None);
        assert_eq!(
            why_not("2\tapples", "count\tname\n7\tpears\n", Some(2)),
            None,
            "lines of it have numbers"
        );
    }

    #[test]
    fn what_only_has_numbers_or_brackets_is_content() {
        let old = "1\talpha\n2\tbeta\n";
        for (content, old) in [
            ("1\talpha\n2\tbeta\n3\tgamma\n", old),
            ("1\talpha\n2\tbeta\n", ""),
            ("1: a\n2: b\n", "x\n"),
            ("1. a\n2. b\n", "x\n"),
            ("[… more of it …]\n[held]\n", "x\n"),
            ("10\tx\n20\ty\n", "x\n"),
            ("", "x\n"),
        ] {
            assert_eq!(why_not(content, old, None), None, "{content}");
        }
        assert!(remark("1\ta\n2\tb\n").starts_with("; note: each line"));
        assert_eq!(remark("a\n"), "");
    }
}
