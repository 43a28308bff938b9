//! The rows that read stored outputs.

use crate::recall::{Filter, Start};

use wisp_host::ids::SHOWN_DIGITS;

use super::clause::{first_word, id, number, range, shortened, unquoted};
use super::{Request, Row, Target};

/// The longest pattern, in bytes: a page repeats it twice.
const PATTERN_LIMIT: usize = 500;

/// `recall`, `summarise` and `condense`.
pub(super) fn rows<R: From<Request>>() -> Vec<Row<R>> {
    vec![
        Row {
            verb: "recall",
            spellings: &["page", "read", "reread"],
            forms: &[
                "recall output ID [matching PATTERN | lines A-B | head N | tail N] [from line N]",
                "recall entry N [matching PATTERN | lines A-B | head N | tail N] [from line N]",
            ],
            example: "recall output 3f9a2c1b matching error from line 44",
            read: |rest| recall(rest).map(R::from),
        },
        Row {
            verb: "summarise",
            spellings: &["summarize", "summary", "sum"],
            forms: &["summarise output ID [overview]", "summarise entry N [overview]"],
            example: "summarise output 3f9a2c1b",
            read: |rest| summarise(rest).map(R::from),
        },
        Row {
            verb: "condense",
            spellings: &["ask"],
            forms: &["condense output ID: QUESTION", "condense entry N: QUESTION"],
            example: "condense output 3f9a2c1b: which test failed first, and why?",
            read: |rest| condense(rest).map(R::from),
        },
    ]
}

/// What is read, and the rest of the request.
fn target(rest: &str) -> Result<(Target, &str), String> {
    let (noun, after) = first_word(rest.trim_start_matches("of ").trim_start_matches("the "));
    let (word, left) = first_word(after);
    let word = word.trim_end_matches([',', ';', '.']);
    match noun.to_ascii_lowercase().as_str() {
        "output" | "outputs" => match id(word) {
            Some(id) => Ok((Target::Output(id), left)),
            None => Err(format!(
                "`{}` is not an output id, which is 8 hex digits",
                shortened(word)
            )),
        },
        "entry" | "entries" => match number(word) {
            Some(entry) if entry > 0 => Ok((Target::Entry(entry), left)),
            _ => Err(format!("`{}` is not the number of an entry", shortened(word))),
        },
        noun if noun.len() >= SHOWN_DIGITS && id(noun).is_some() => {
            Ok((Target::Output(noun.to_owned()), after))
        }
        "" => Err("the request does not say which output".to_owned()),
        noun => Err(format!(
            "`{}` is neither `output ID` nor `entry N`",
            shortened(noun)
        )),
    }
}

fn recall(rest: &str) -> Result<Request, String> {
    let (target, rest) = target(rest)?;
    let (filter, left) = filter(rest)?;
    let from = from_line(left)?;
    Ok(Request::Recall { target, filter, from })
}

/// The filter at the start of `rest`, and what follows it.
fn filter(rest: &str) -> Result<(Filter, &str), String> {
    let (word, after) = first_word(rest.trim_start_matches([',', ' ']));
    match word.to_ascii_lowercase().as_str() {
        "matching" | "matches" | "match" | "grep" | "filter" => pattern(rest, word),
        "lines" | "line" => lines(after),
        "head" | "first" => counted(word, after, Filter::Head),
        "tail" | "last" => counted(word, after, Filter::Tail),
        _ => Ok((Filter::All, rest)),
    }
}

/// A pattern: in quotes, or up to a `from line N` at the end.
fn pattern<'a>(rest: &'a str, word: &str) -> Result<(Filter, &'a str), String> {
    let at = rest.find(word).map_or(0, |at| at + word.len());
    let text = rest[at..].trim_start_matches([':', ' ']);
    for quote in ['"', '\'', '`'] {
        let Some(inner) = text.strip_prefix(quote) else {
            continue;
        };
        let Some(end) = closing(inner, quote) else {
            continue;
        };
        return some_pattern(&inner[..end], &inner[end + 1..]);
    }
    let (pattern, left) = split_from(text);
    some_pattern(pattern.trim().trim_end_matches(','), left)
}

/// Where a quoted pattern ends: at the quote before the end or before a `from line N`.
fn closing(inner: &str, quote: char) -> Option<usize> {
    let mut ends = inner.rmatch_indices(quote).map(|(at, _)| at);
    ends.find(|at| {
        let rest = inner[at + 1..].trim();
        rest.is_empty() || split_from(rest).0.trim_matches([',', ' ']).is_empty()
    })
}

fn some_pattern<'a>(pattern: &str, left: &'a str) -> Result<(Filter, &'a str), String> {
    if pattern.is_empty() {
        return Err("`matching` is followed by no pattern".to_owned());
    }
    if pattern.len() > PATTERN_LIMIT {
        return Err(format!("a pattern has at most {PATTERN_LIMIT} bytes"));
    }
    Ok((Filter::Matching(pattern.to_owned()), left))
}

fn lines(after: &str) -> Result<(Filter, &str), String> {
    let (text, left) = split_from(after);
    match range(text.trim().trim_end_matches(',')) {
        Some((first, last)) if first > 0 && first <= last => Ok((Filter::Lines(first, last), left)),
        Some((first, last)) => Err(format!("lines {first}-{last} do not exist")),
        None => Err(format!("`{}` is no range of lines", shortened(text.trim()))),
    }
}

fn counted<'a>(word: &str, after: &'a str, filter: fn(u64) -> Filter) -> Result<(Filter, &'a str), String> {
    let (count, mut left) = first_word(after);
    let noun = first_word(left);
    if ["lines", "line"].contains(&noun.0.to_ascii_lowercase().as_str()) {
        left = noun.1;
    }
    match number(count.trim_end_matches(',')) {
        Some(count) if count > 0 => Ok((filter(count), left)),
        _ => Err(format!("`{word}` is followed by no number of lines")),
    }
}

/// `text` up to a `from line N` that ends it, and that clause.
fn split_from(text: &str) -> (&str, &str) {
    let lower = text.to_ascii_lowercase();
    let starts = [
        "from line",
        "starting at line",
        "at line",
        "from offset",
        "starting at",
        "from",
    ];
    let clause = starts.iter().find_map(|start| {
        let at = lower.rfind(start)?;
        let alone = at == 0 || lower[..at].ends_with([' ', ',']);
        (alone && from_line(&text[at..]).is_ok()).then_some(at)
    });
    clause.map_or((text, ""), |at| (text[..at].trim_end(), &text[at..]))
}

/// `from line N [byte B]`, or nothing.
fn from_line(rest: &str) -> Result<Start, String> {
    let rest = rest.trim_matches([',', ' ', '.']);
    if rest.is_empty() {
        return Ok(Start::default());
    }
    let noise = ["from", "starting", "at", "line", "offset", "lines"];
    let words = rest.split_whitespace().map(|word| word.trim_matches([',', '.']));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let named = words
        .first()
        .is_some_and(|word| noise[..3].contains(&word.to_ascii_lowercase().as_str()));
    let told: Vec<&str> = words
        .into_iter()
        .filter(|word| !noise.contains(&word.to_ascii_lowercase().as_str()))
        .collect();
    let unread = || format!("`{}` is not understood", shortened(rest));
    let line = told
        .first()
        .and_then(|word| number(word))
        .filter(|line| named && *line > 0)
        .ok_or_else(unread)?;
    match told[1..] {
        [] => Ok(Start::line(line)),
        ["byte", byte] => {
            let byte = number(byte).filter(|byte| *byte > 0).ok_or_else(unread)?;
            Ok(Start { line, byte })
        }
        _ => Err(unread()),
    }
}

fn summarise(rest: &str) -> Result<Request, String> {
    let (target, left) = target(rest)?;
    let left = left
        .trim_matches([',', '.', ' ', '(', ')', '[', ']'])
        .to_ascii_lowercase();
    match left.as_str() {
        "" | "notable" => Ok(Request::Summarise {
            target,
            overview: false,
        }),
        "overview" => Ok(Request::Summarise {
            target,
            overview: true,
        }),
        other => Err(format!(
            "a summary is of the notable lines or an `overview`, not `{}`",
            shortened(other)
        )),
    }
}

fn condense(rest: &str) -> Result<Request, String> {
    let (target, question) = target(rest)?;
    let question = unquoted(question.trim_start_matches([',', '-', ' ']));
    if question.is_empty() {
        return Err("`condense` is followed by no question".to_owned());
    }
    Ok(Request::Condense {
        target,
        question: question.to_owned(),
    })
}
