//! What an edit does to a text: pure, so that every rule is a test of two strings.
//!
//! The rules act only on an exact condition, and the result says when one did: a line's indentation is kept when the
//! model forgot it, and a line number that contradicts the text that was named loses when that text stands elsewhere.
//! With a text, a line only says which of its places is meant: the text alone is replaced, unless the new one is the
//! whole line, which shows by what it repeats around the text.

use wisp_host::amount::counted;

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
        /// Whether every place is meant.
        all: bool,
    },
    /// Replaces one line, or a text on it.
    Line {
        /// The line, from 1.
        line: usize,
        /// The text on the line that is to be replaced, when given.
        find: Option<String>,
        /// The new line, without its ending, or what stands there in place of the text.
        content: String,
        /// Whether every place on the line is meant.
        all: bool,
    },
}

/// Why a change was not made, and what to do. Nothing is changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text does not occur.
    #[error("text to replace not found: {}{hint}", excerpt(find))]
    NotFound {
        /// The text looked for.
        find: String,
        /// What would help, starting with `; `.
        hint: String,
    },
    /// The text occurs more than once.
    #[error("{} is {}: {}", excerpt(find), places(lines), which(lines))]
    Ambiguous {
        /// The text looked for.
        find: String,
        /// The line of each occurrence, from 1.
        lines: Vec<usize>,
    },
    /// The text to look for is empty.
    #[error("find is empty: give find, the exact text to replace")]
    EmptyFind,
    /// The line number is past the end.
    #[error(
        "no line {line}: the file has {}; give a line from 1 to {lines}, or to add at the end use mode append",
        counted(*lines as u64, "line")
    )]
    NoLine {
        /// The line asked for.
        line: usize,
        /// How many there are.
        lines: usize,
    },
    /// The line lacks the text, which other lines have.
    #[error(
        "{} is not on line {line}, it is {}: {}",
        excerpt(find),
        places(lines),
        which(lines)
    )]
    LineLacks {
        /// The line asked for.
        line: usize,
        /// The text it should hold.
        find: String,
        /// The line of each occurrence, from 1.
        lines: Vec<usize>,
    },
    /// A line was to be replaced by several.
    #[error(
        "content must be one line when line is given without find: to replace several lines give find, the exact text to replace, and no line"
    )]
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
        Change::Find { find, content, all } => {
            if find.is_empty() {
                return Err(EditError::EmptyFind);
            }
            let (find, content) = (text.adapt(find), text.adapt(content));
            let at = occurrences(&text.body, &find);
            if at.len() == 1 || *all && !at.is_empty() {
                return Ok(replaced(&text.body, &find, &content, &apart(&at, find.len())));
            }
            Err(not_once(&text.body, find, &at))
        }
        Change::Line {
            line,
            find,
            content,
            all,
        } => match find.as_deref().filter(|find| !find.is_empty()) {
            None => replace_line(text, *line, content),
            Some(find) => {
                let place = On {
                    line: *line,
                    find: &text.adapt(find),
                    all: *all,
                };
                replace_on(text, &place, content)
            }
        },
    }
}

/// The text with `content` in each of these places of `find`, which are in order and do not overlap.
fn replaced(body: &str, find: &str, content: &str, at: &[usize]) -> Edited {
    let mut new = String::with_capacity(body.len() + content.len() * at.len());
    let mut from = 0;
    for at in at {
        new.push_str(&body[from..*at]);
        new.push_str(content);
        from = at + find.len();
    }
    new.push_str(&body[from..]);
    let lines: Vec<usize> = at.iter().map(|at| line_at(body, *at)).collect();
    let first_line = lines.first().copied().unwrap_or(1);
    let more = match lines.len() {
        0 | 1 => String::new(),
        n => format!(" and {} more ({})", n - 1, places(&lines)),
    };
    Edited {
        body: new,
        what: format!("replaced at line {first_line}{more}"),
        first_line,
        last_line: first_line + content.trim_end_matches(['\r', '\n']).matches('\n').count(),
    }
}

/// Of places in order those that do not overlap the one before.
fn apart(at: &[usize], bytes: usize) -> Vec<usize> {
    let mut free = 0;
    let mut apart = Vec::new();
    for at in at {
        if *at >= free {
            apart.push(*at);
            free = at + bytes;
        }
    }
    apart
}

fn not_once(body: &str, find: String, at: &[usize]) -> EditError {
    if at.is_empty() {
        let hint = hint(body, &find);
        return EditError::NotFound { find, hint };
    }
    let lines = at.iter().map(|at| line_at(body, *at)).collect();
    EditError::Ambiguous { find, lines }
}

/// What may be wrong with a text that was not found, starting with `; `, or empty.
fn hint(body: &str, find: &str) -> String {
    let bare = copied::without_numbers(find);
    let stands = |text: &&String| !text.trim().is_empty() && body.contains(text.as_str());
    if bare.iter().any(|text| stands(&text)) {
        return "; it begins with line numbers, which read_file shows and the file does not have: give the text without them"
            .to_owned();
    }
    let other = [blanks_hint(body, find), alike::hint(body, find)];
    other.into_iter().find(|hint| !hint.is_empty()).unwrap_or_else(|| {
        "; read the file with read_file, then give find exactly as it stands there; to add at the end use mode append"
            .to_owned()
    })
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

/// The most bytes of the file's own lines that are shown to copy.
const TO_COPY: usize = 1000;

/// Says so when the text stands there but for blanks, with the file's own lines to copy.
fn blanks_hint(body: &str, find: &str) -> String {
    let squeezed = |line: &str| {
        line.split([' ', '\t', '\r'])
            .filter(|w| !w.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let wanted: Vec<String> = find.trim_matches(['\n', '\r']).lines().map(squeezed).collect();
    if wanted.iter().all(String::is_empty) {
        return String::new();
    }
    let lines: Vec<&str> = body.lines().collect();
    let have: Vec<String> = lines.iter().map(|line| squeezed(line)).collect();
    let Some(at) = have.windows(wanted.len()).position(|window| window == wanted) else {
        return String::new();
    };
    let own = lines[at..at + wanted.len()].join("\n");
    let tabs = own.contains('\t') != find.contains('\t');
    let what = if tabs { "tabs and blanks" } else { "blanks" };
    let which = match wanted.len() {
        1 => format!("line {} differs", at + 1),
        n => format!("lines {} to {} differ", at + 1, at + n),
    };
    if own.len() > TO_COPY {
        return format!("; {which} only in {what}: read them with read_file and copy them exactly");
    }
    format!("; {which} only in {what}: give find as these lines stand, between the marks\n<<<\n{own}\n>>>")
}

fn line_at(body: &str, at: usize) -> usize {
    body[..at].matches('\n').count() + 1
}

fn replace_line(text: &Text, line: usize, content: &str) -> Result<Edited, EditError> {
    let content = one_line(content)?;
    let lines: Vec<&str> = text.body.split_inclusive('\n').collect();
    if line == 0 || line > lines.len() {
        let lines = lines.len();
        return Err(EditError::NoLine { line, lines });
    }
    let old = lines[line - 1];
    let bare = old.trim_end_matches('\n').trim_end_matches('\r');
    let (new, kept) = keep_indentation(bare, content);
    let mut body: String = lines[..line - 1].concat();
    body.push_str(&new);
    body.push_str(&old[bare.len()..]);
    lines[line..].iter().for_each(|l| body.push_str(l));
    Ok(Edited {
        body,
        what: format!("replaced at line {line}{kept}"),
        first_line: line,
        last_line: line,
    })
}

/// A text and the line it is said to be on.
struct On<'a> {
    line: usize,
    find: &'a str,
    all: bool,
}

/// Replaces a text on a line; elsewhere when it is not on that line and stands in one other place, or all are meant.
fn replace_on(text: &Text, place: &On<'_>, content: &str) -> Result<Edited, EditError> {
    let (body, find) = (&text.body, place.find);
    let every = occurrences(body, find);
    let on_line: Vec<usize> = every
        .iter()
        .copied()
        .filter(|at| line_at(body, *at) == place.line)
        .collect();
    let here = !on_line.is_empty();
    let at = if here { &on_line } else { &every };
    let Some(first) = at.first() else {
        return Err(not_once(body, find.to_owned(), at));
    };
    let line = line_at(body, *first);
    let said = if here {
        None
    } else {
        Some(format!("line {} does not hold {}; ", place.line, excerpt(find)))
    };
    let together = at.iter().all(|at| line_at(body, *at) == line);
    let mut edited =
        if together && is_whole_line(body.lines().nth(line - 1).unwrap_or_default(), find, content) {
            replace_line(text, line, content)?
        } else if at.len() == 1 || place.all {
            replaced(body, find, &text.adapt(content), &apart(at, find.len()))
        } else {
            let (find, lines) = (find.to_owned(), at.iter().map(|at| line_at(body, *at)).collect());
            return Err(if here {
                EditError::Ambiguous { find, lines }
            } else {
                let line = place.line;
                EditError::LineLacks { line, find, lines }
            });
        };
    if let Some(said) = said {
        edited.what = format!("{said}{}", edited.what);
    }
    Ok(edited)
}

/// Whether a new text is for the whole line that holds `find`: that is all of the line but blanks, or the new text is one
/// line that repeats what stands before and after it.
fn is_whole_line(line: &str, find: &str, content: &str) -> bool {
    let Some((before, after)) = line.split_once(find) else {
        return false;
    };
    let (before, after, content) = (before.trim(), after.trim(), content.trim());
    !content.contains('\n')
        && content.starts_with(before)
        && content.ends_with(after)
        && content.len() >= before.len() + after.len()
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

/// `on lines 2 and 4`, each line once.
fn places(lines: &[usize]) -> String {
    let mut lines = lines.to_vec();
    lines.dedup();
    let shown: Vec<String> = lines.iter().take(8).map(ToString::to_string).collect();
    let more = if lines.len() > 8 {
        format!(" and {} more", lines.len() - 8)
    } else {
        String::new()
    };
    match shown.split_last() {
        Some((last, [])) => format!("on line {last}"),
        Some((last, rest)) if more.is_empty() => format!("on lines {} and {last}", rest.join(", ")),
        _ => format!("on lines {}{more}", shown.join(", ")),
    }
}

/// What to do about a text on these lines.
fn which(lines: &[usize]) -> String {
    let one = lines.iter().all(|line| Some(line) == lines.first());
    if one {
        format!(
            "it stands there {} times; give find with more of the text around it, or `all: true`",
            lines.len()
        )
    } else {
        "say which with `line`, or `all: true`".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, find: &str, content: &str) -> Result<String, String> {
        let change = Change::Find {
            find: find.into(),
            content: content.into(),
            all: false,
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
            all: false,
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
            r#""x = 1"… is on lines 1 and 2: say which with `line`, or `all: true`"#
        );
    }

    #[test]
    fn a_missing_text_names_the_line_that_differs_in_blanks() {
        let error = find("all:\n\ttouch tern\n", "        touch tern", "x").unwrap_err();
        assert!(
            error.ends_with(
                "; line 2 differs only in tabs and blanks: give find as these lines stand, between the marks\n<<<\n\ttouch tern\n>>>"
            ),
            "{error}"
        );
        assert_eq!(
            find("a", "b", "c").unwrap_err(),
            "text to replace not found: \"b\"; read the file with read_file, then give find exactly as it stands there; to \
             add at the end use mode append"
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
    fn a_line_that_contradicts_the_text_loses() {
        let (body, what) = line("a\nb\nc", 1, Some("c"), "d").unwrap();
        assert_eq!(
            (body.as_str(), what.as_str()),
            ("a\nb\nd", r#"line 1 does not hold "c"; replaced at line 3"#)
        );
        // The number is past the end, and the text is part of its line.
        let (body, what) = line("a = 1\nport = 80\n", 9, Some("80"), "8080").unwrap();
        assert_eq!(
            (body.as_str(), what.as_str()),
            (
                "a = 1\nport = 8080\n",
                r#"line 9 does not hold "80"; replaced at line 2"#
            )
        );
        let error = line("a\nc\nc\n", 1, Some("c"), "d").unwrap_err();
        assert_eq!(
            error,
            r#""c" is not on line 1, it is on lines 2 and 3: say which with `line`, or `all: true`"#
        );
        let error = line("a\n", 1, Some("c"), "d").unwrap_err();
        assert!(
            error.starts_with(r#"text to replace not found: "c"; read the file"#),
            "{error}"
        );
    }

    #[test]
    fn a_line_says_which_of_many_places_is_meant() {
        let file = "foo = 1\nbar\n  foo = 1 # foo\n";
        assert_eq!(
            line(file, 1, Some("foo"), "baz").unwrap().0,
            "baz = 1\nbar\n  foo = 1 # foo\n"
        );
        // The whole line, as what stands around the text shows.
        assert_eq!(
            line(file, 1, Some("foo"), "baz = 1").unwrap().0,
            "baz = 1\nbar\n  foo = 1 # foo\n"
        );
        assert_eq!(
            line(file, 3, Some("foo"), "baz").unwrap_err(),
            r#""foo" is on line 3: it stands there 2 times; give find with more of the text around it, or `all: true`"#
        );
        let change = Change::Line {
            line: 3,
            find: Some("foo".into()),
            content: "baz".into(),
            all: true,
        };
        let edited = edit(&Text::of(file.as_bytes()).unwrap(), &change).unwrap();
        assert_eq!(edited.body, "foo = 1\nbar\n  baz = 1 # baz\n");
    }

    #[test]
    fn all_replaces_every_place_and_says_where() {
        let all = |text: &str, find: &str, content: &str| {
            let change = Change::Find {
                find: find.into(),
                content: content.into(),
                all: true,
            };
            edit(&Text::of(text.as_bytes()).unwrap(), &change)
                .map(|e| (e.body, e.what))
                .map_err(|e| e.to_string())
        };
        assert_eq!(
            all("teh\nx\nteh teh\n", "teh", "the").unwrap(),
            (
                "the\nx\nthe the\n".to_owned(),
                "replaced at line 1 and 2 more (on lines 1 and 3)".to_owned()
            )
        );
        assert_eq!(all("aaaa", "aa", "a").unwrap().0, "aa");
        assert_eq!(all("teh\n", "teh", "the").unwrap().1, "replaced at line 1");
        assert!(
            all("a", "teh", "the")
                .unwrap_err()
                .starts_with("text to replace not found")
        );
    }

    #[test]
    fn lines_that_differ_in_indentation_are_shown_to_copy() {
        let error = find("def f():\n    if x:\n        y()\n", "if x:\n    y()", "pass").unwrap_err();
        assert!(
            error.ends_with(
                "; lines 2 to 3 differ only in blanks: give find as these lines stand, between the marks\n<<<\n    if x:\n        y()\n>>>"
            ),
            "{error}"
        );
    }

    #[test]
    fn numbers_past_the_end_and_many_lines_are_refused() {
        assert_eq!(
            line("a\nb\n", 3, None, "x").unwrap_err(),
            "no line 3: the file has 2 lines; give a line from 1 to 2, or to add at the end use mode append"
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
