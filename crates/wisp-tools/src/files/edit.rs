//! What an edit does to a text: pure, so that every rule is a test of two strings.
//!
//! The rules act only on an exact condition, and the result says when one did: a line's indentation is kept when the
//! model forgot it, and a stale line number is put right when exactly one line holds the text that was named.

use super::text::Text;
use super::{alike, copied};

/// A change to a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Replaces the one place where a text stands.
    Find {
        /// The text that must occur exactly once.
        find: String,
        /// What stands there afterwards.
        content: String,
    },
    /// Replaces one line.
    Line {
        /// The line, from 1.
        line: usize,
        /// Text that the line must hold, when given.
        find: Option<String>,
        /// The new line, without its ending.
        content: String,
    },
}

/// Why a change was not made. Nothing is changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text does not occur.
    #[error("text to replace not found: {}{hint}", excerpt(find))]
    NotFound {
        /// The text looked for.
        find: String,
        /// What would help, starting with `; `, or empty.
        hint: String,
    },
    /// The text occurs more than once.
    #[error("text to replace occurs {} times ({}), include more surrounding text: {}", lines.len(), places(lines), excerpt(find))]
    Ambiguous {
        /// The text looked for.
        find: String,
        /// The line of each occurrence, from 1.
        lines: Vec<usize>,
    },
    /// The text to look for is empty.
    #[error("find is empty: give the exact text to replace, or a line number")]
    EmptyFind,
    /// The line number is past the end.
    #[error("no line {line}: the file has {lines} lines")]
    NoLine {
        /// The line asked for.
        line: usize,
        /// How many there are.
        lines: usize,
    },
    /// The line lacks the text, and no other single line has it.
    #[error("line {line} does not contain {}; it is: {}", excerpt(find), excerpt(is))]
    LineLacks {
        /// The line asked for.
        line: usize,
        /// The text it should hold.
        find: String,
        /// What it holds.
        is: String,
    },
    /// A line was to be replaced by several.
    #[error("content must be one line when line is given; to replace several lines give find instead")]
    ManyLines,
}

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole new text.
    pub body: String,
    /// `replaced at line 7`, with what a rule did.
    pub what: String,
    /// First line changed, from 1.
    pub first_line: usize,
    /// Last line of what now stands there.
    pub last_line: usize,
}

/// Makes one change to a text.
pub fn edit(text: &Text, change: &Change) -> Result<Edited, EditError> {
    match change {
        Change::Find { find, content } => replace_found(text, find, content),
        Change::Line { line, find, content } => replace_line(text, *line, find.as_deref(), content),
    }
}

fn replace_found(text: &Text, find: &str, content: &str) -> Result<Edited, EditError> {
    if find.is_empty() {
        return Err(EditError::EmptyFind);
    }
    let (find, content) = (text.adapt(find), text.adapt(content));
    let at = occurrences(&text.body, &find);
    let [at] = at[..] else {
        return Err(not_once(&text.body, find, &at));
    };
    let mut body = String::with_capacity(text.body.len() + content.len());
    body.push_str(&text.body[..at]);
    body.push_str(&content);
    body.push_str(&text.body[at + find.len()..]);
    let first_line = line_at(&text.body, at);
    let last_line = first_line + content.trim_end_matches(['\r', '\n']).matches('\n').count();
    Ok(Edited {
        body,
        what: format!("replaced at line {first_line}"),
        first_line,
        last_line,
    })
}

fn not_once(body: &str, find: String, at: &[usize]) -> EditError {
    if at.is_empty() {
        let hint = hint(body, &find);
        return EditError::NotFound { find, hint };
    }
    EditError::Ambiguous {
        find,
        lines: at.iter().map(|at| line_at(body, *at)).collect(),
    }
}

/// What may be wrong with a text that was not found, starting with `; `, or empty.
fn hint(body: &str, find: &str) -> String {
    let bare = copied::without_numbers(find);
    let stands = |text: &&String| !text.trim().is_empty() && body.contains(text.as_str());
    if bare.iter().any(|text| stands(&text)) {
        return "; it begins with line numbers, which read_file shows and the file does not have: give the text without them"
            .to_owned();
    }
    let blanks = blanks_hint(body, find);
    if blanks.is_empty() {
        alike::hint(body, find)
    } else {
        blanks
    }
}

/// Where `find` occurs, overlapping occurrences included.
fn occurrences(body: &str, find: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = body[from..].find(find) {
        found.push(from + at);
        let step = body[from + at..].chars().next().map_or(1, char::len_utf8);
        from += at + step;
    }
    found
}

/// Says so when the text stands there but for tabs in place of blanks, or the other way about.
fn blanks_hint(body: &str, find: &str) -> String {
    let squeezed = |line: &str| {
        line.split([' ', '\t'])
            .filter(|w| !w.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let wanted = squeezed(find.lines().next().unwrap_or_default());
    let alike = |line: &&str| !wanted.is_empty() && squeezed(line) == wanted && *line != find;
    match body.lines().position(|line| alike(&line)) {
        Some(at)
            if body
                .lines()
                .nth(at)
                .is_some_and(|l| l.contains('\t') != find.contains('\t')) =>
        {
            format!(
                "; line {} differs only in tabs and blanks: use the file's own",
                at + 1
            )
        }
        Some(at) => format!("; line {} differs only in blanks: use the file's own", at + 1),
        None => String::new(),
    }
}

fn line_at(body: &str, at: usize) -> usize {
    body[..at].matches('\n').count() + 1
}

fn replace_line(text: &Text, line: usize, find: Option<&str>, content: &str) -> Result<Edited, EditError> {
    let content = one_line(content)?;
    let lines: Vec<&str> = text.body.split_inclusive('\n').collect();
    let find = find.filter(|f| !f.is_empty());
    if line == 0 || line > lines.len() {
        return Err(EditError::NoLine {
            line,
            lines: lines.len(),
        });
    }
    let target = target_line(&lines, line, find)?;
    let old = lines[target - 1];
    let bare = old.trim_end_matches('\n').trim_end_matches('\r');
    let ending = &old[bare.len()..];
    let (new, kept) = keep_indentation(bare, content);
    let mut body: String = lines[..target - 1].concat();
    body.push_str(&new);
    body.push_str(ending);
    lines[target..].iter().for_each(|l| body.push_str(l));
    let what = described(line, target, find, &kept);
    Ok(Edited {
        body,
        what,
        first_line: target,
        last_line: target,
    })
}

fn described(line: usize, target: usize, find: Option<&str>, kept: &str) -> String {
    if line == target {
        return format!("replaced at line {target}{kept}");
    }
    let find = excerpt(find.unwrap_or_default());
    format!("line {line} did not contain {find}; replaced line {target}, the one line that does{kept}")
}

/// The content less one trailing newline; any other newline is refused.
fn one_line(content: &str) -> Result<&str, EditError> {
    let content = content.strip_suffix('\n').unwrap_or(content);
    let content = content.strip_suffix('\r').unwrap_or(content);
    if content.contains('\n') {
        Err(EditError::ManyLines)
    } else {
        Ok(content)
    }
}

/// The line to edit: the one named, or the single line that holds `find` when the named one does not.
fn target_line(lines: &[&str], line: usize, find: Option<&str>) -> Result<usize, EditError> {
    let Some(find) = find else { return Ok(line) };
    if lines[line - 1].contains(find) {
        return Ok(line);
    }
    let holding: Vec<usize> = (1..=lines.len())
        .filter(|n| lines[n - 1].contains(find))
        .collect();
    match holding[..] {
        [one] => Ok(one),
        _ => Err(EditError::LineLacks {
            line,
            find: find.to_owned(),
            is: lines[line - 1].trim_end().to_owned(),
        }),
    }
}

/// The new line, with the old one's indentation when the model left it out and changed more than blanks.
fn keep_indentation(old: &str, content: &str) -> (String, String) {
    let indent: String = old.chars().take_while(|c| [' ', '\t'].contains(c)).collect();
    let changed = old.trim_matches([' ', '\t']) != content.trim_matches([' ', '\t']);
    if content.is_empty() || content.starts_with([' ', '\t']) || indent.is_empty() || !changed {
        return (content.to_owned(), String::new());
    }
    let kept = format!(
        ", keeping the line's indentation ({})",
        indentation_words(&indent)
    );
    (format!("{indent}{content}"), kept)
}

fn indentation_words(indent: &str) -> String {
    let count = |what: char, one: &str, many: &str| match indent.matches(what).count() {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    };
    let words: Vec<String> = [count('\t', "tab", "tabs"), count(' ', "space", "spaces")]
        .into_iter()
        .flatten()
        .collect();
    words.join(" and ")
}

/// The first line of a text in quotes, cut at 60 characters.
pub fn excerpt(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let cut: String = first.chars().take(60).collect();
    let more = if cut.len() < text.trim_end_matches('\n').len() {
        "…"
    } else {
        ""
    };
    format!("{cut:?}{more}")
}

fn places(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(8).map(ToString::to_string).collect();
    let more = if lines.len() > 8 {
        format!(" and {} more", lines.len() - 8)
    } else {
        String::new()
    };
    match shown.split_last() {
        Some((last, [])) => format!("line {last}"),
        Some((last, rest)) if more.is_empty() => format!("lines {} and {last}", rest.join(", ")),
        _ => format!("lines {}{more}", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, find: &str, content: &str) -> Result<String, String> {
        let change = Change::Find {
            find: find.into(),
            content: content.into(),
        };
        let edited = edit(&Text::of(text.as_bytes()).unwrap(), &change);
        edited.map(|e| e.body).map_err(|e| e.to_string())
    }

    fn line(
        text: &str,
        number: usize,
        find: Option<&str>,
        content: &str,
    ) -> Result<(String, String), String> {
        let change = Change::Line {
            line: number,
            find: find.map(Into::into),
            content: content.into(),
        };
        let edited = edit(&Text::of(text.as_bytes()).unwrap(), &change);
        edited.map(|e| (e.body, e.what)).map_err(|e| e.to_string())
    }

    #[test]
    fn a_text_that_stands_once_is_replaced_literally() {
        assert_eq!(
            find("a PLACEHOLDER b", "PLACEHOLDER", r"$1 $& \n").unwrap(),
            r"a $1 $& \n b"
        );
        assert_eq!(find("f(x.*y)[", ".*y)[", "!").unwrap(), "f(x!");
    }

    #[test]
    fn overlapping_occurrences_are_counted_and_refused() {
        let error = find("x = 1\nx = 1\nx = 1\n", "x = 1\nx = 1", "y").unwrap_err();
        assert_eq!(
            error,
            r#"text to replace occurs 2 times (lines 1 and 2), include more surrounding text: "x = 1"…"#
        );
    }

    #[test]
    fn a_missing_text_names_the_line_that_differs_in_blanks() {
        let error = find("all:\n\ttouch tern\n", "        touch tern", "x").unwrap_err();
        assert!(
            error.ends_with("line 2 differs only in tabs and blanks: use the file's own"),
            "{error}"
        );
        assert_eq!(
            find("a", "b", "c").unwrap_err(),
            r#"text to replace not found: "b""#
        );
        assert!(find("a", "", "c").unwrap_err().starts_with("find is empty"));
    }

    #[test]
    fn a_find_with_a_pages_line_numbers_is_told_so() {
        let file = "def f():\n    x = 1\n    return x\n";
        for wanted in [
            "2\t    x = 1",
            "2:     x = 1\n3:     return x",
            "   2 |     x = 1",
        ] {
            let error = find(file, wanted, "    x = 2").unwrap_err();
            assert!(
                error.contains("; it begins with line numbers, which read_file shows"),
                "{error}"
            );
        }
        let error = find(file, "9\ty = 1", "").unwrap_err();
        assert!(!error.contains("line numbers"), "{error}");
    }

    #[test]
    fn a_find_that_only_looks_like_the_files_text_is_told_the_character() {
        let error = find("in\u{a0}use\n", "in use", "x").unwrap_err();
        assert!(
            error.ends_with("the file has U+00A0 (no-break space) at column 3 where find has U+0020 (space)"),
            "{error}"
        );
    }

    #[test]
    fn crlf_files_take_lf_text_and_stay_crlf() {
        assert_eq!(
            find("a\r\nb\r\nc\r\n", "a\nb", "x\ny").unwrap(),
            "x\r\ny\r\nc\r\n"
        );
    }

    #[test]
    fn a_forgotten_indentation_is_kept_and_said() {
        let (body, what) = line("if x:\n    a = 1\n", 2, None, "a = 2\n").unwrap();
        assert_eq!(body, "if x:\n    a = 2\n");
        assert_eq!(
            what,
            "replaced at line 2, keeping the line's indentation (4 spaces)"
        );
        assert_eq!(line("\ta\n", 1, None, "a").unwrap().0, "a\n");
    }

    #[test]
    fn a_stale_number_finds_the_one_line_that_holds_the_text() {
        let (body, what) = line("a\nb\nc", 1, Some("c"), "d").unwrap();
        assert_eq!(
            (body.as_str(), what.as_str()),
            (
                "a\nb\nd",
                r#"line 1 did not contain "c"; replaced line 3, the one line that does"#
            )
        );
        let error = line("a\nc\nc\n", 1, Some("c"), "d").unwrap_err();
        assert_eq!(error, r#"line 1 does not contain "c"; it is: "a""#);
    }

    #[test]
    fn numbers_past_the_end_and_many_lines_are_refused() {
        assert_eq!(
            line("a\nb\n", 3, None, "x").unwrap_err(),
            "no line 3: the file has 2 lines"
        );
        assert!(
            line("a\n", 1, None, "x\ny")
                .unwrap_err()
                .starts_with("content must be one line")
        );
    }

    #[test]
    fn the_last_line_keeps_its_missing_newline() {
        assert_eq!(
            find("first\nsecond\nlast", "last", "final").unwrap(),
            "first\nsecond\nfinal"
        );
    }
}
