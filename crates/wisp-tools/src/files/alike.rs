//! Text that looks like another and is not the same bytes: no-break spaces, characters without width, curly quotes,
//! letters in two forms, entities. Nothing is ever changed into the other; an edit that failed only by one of these is
//! told which character stands there, and where.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Characters that are taken for another, with the text they are taken for and their names.
const ALIKE: &[(char, &str, &str)] = &[
    ('\u{a0}', " ", "no-break space"),
    ('\u{2007}', " ", "figure space"),
    ('\u{2009}', " ", "thin space"),
    ('\u{202f}', " ", "narrow no-break space"),
    ('\u{3000}', " ", "ideographic space"),
    ('\u{ad}', "", "soft hyphen"),
    ('\u{200b}', "", "zero width space"),
    ('\u{200c}', "", "zero width non-joiner"),
    ('\u{200d}', "", "zero width joiner"),
    ('\u{200e}', "", "left-to-right mark"),
    ('\u{200f}', "", "right-to-left mark"),
    ('\u{2060}', "", "word joiner"),
    ('\u{feff}', "", "zero width no-break space"),
    ('\u{2018}', "'", "left single quotation mark"),
    ('\u{2019}', "'", "right single quotation mark"),
    ('\u{201a}', "'", "low single quotation mark"),
    ('\u{201c}', "\"", "left double quotation mark"),
    ('\u{201d}', "\"", "right double quotation mark"),
    ('\u{201e}', "\"", "low double quotation mark"),
    ('\u{2010}', "-", "hyphen"),
    ('\u{2011}', "-", "non-breaking hyphen"),
    ('\u{2013}', "-", "en dash"),
    ('\u{2014}', "-", "em dash"),
    ('\u{2212}', "-", "minus sign"),
    ('\u{2026}', "...", "horizontal ellipsis"),
    (' ', " ", "space"),
    ('\t', "\t", "tab"),
    ('\'', "'", "apostrophe"),
    ('"', "\"", "quotation mark"),
    ('-', "-", "hyphen-minus"),
];

/// Entities, and the characters they stand for.
const ENTITIES: &[(&str, &str)] = &[
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&apos;", "'"),
    ("&nbsp;", " "),
    ("&amp;", "&"),
];

/// The most places of a page that are named.
const PLACES: usize = 3;

/// A text with everything taken for what it looks like, and where each of its bytes came from.
struct Folded {
    text: String,
    from: Vec<usize>,
}

fn folded(text: &str) -> Folded {
    let mut folded = Folded {
        text: String::with_capacity(text.len()),
        from: Vec::with_capacity(text.len() + 1),
    };
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        let rest = &text[at..];
        let entity = ENTITIES
            .iter()
            .find(|(entity, _)| char == '&' && rest.starts_with(entity));
        if let Some((entity, plain)) = entity {
            folded.push(plain, at);
            at += entity.len();
        } else {
            let cluster = cluster(rest);
            match ALIKE.iter().find(|(alike, _, _)| *alike == char) {
                Some((_, plain, _)) if cluster.len() == char.len_utf8() => folded.push(plain, at),
                _ => folded.push(&cluster.nfc().collect::<String>(), at),
            }
            at += cluster.len();
        }
    }
    folded.from.push(text.len());
    folded
}

impl Folded {
    fn push(&mut self, text: &str, from: usize) {
        self.text.push_str(text);
        self.from.resize(self.text.len(), from);
    }
}

/// The first character of a text with the marks that combine with it.
fn cluster(text: &str) -> &str {
    let marks = text
        .char_indices()
        .skip(1)
        .take_while(|(_, char)| is_combining_mark(*char));
    let last = marks.last().map(|(at, char)| at + char.len_utf8());
    let first = text.chars().next().map_or(0, char::len_utf8);
    &text[..last.unwrap_or(first)]
}

/// Where the one text stands that looks like `find` and is not it: its bytes in `body`. None when there is none, or more
/// than one.
fn lookalike(body: &str, find: &str) -> Option<Range<usize>> {
    let (body, find) = (folded(body), folded(find));
    if find.text.trim().is_empty() {
        return None;
    }
    let at = body.text.find(&find.text)?;
    let next = at + find.text.chars().next().map_or(1, char::len_utf8);
    let again = body.text[next..].contains(&find.text);
    (!again).then(|| body.from[at]..body.from[at + find.text.len()])
}

/// A hint that begins with `; ` when the file has a text that only looks like `find`: which character stands there, and
/// where. Empty otherwise.
pub fn hint(body: &str, find: &str) -> String {
    let Some(place) = lookalike_safe(body, find) else {
        return String::new();
    };
    let there = &body[place.clone()];
    let same: usize = there
        .chars()
        .zip(find.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    // A letter whose mark differs is told with its mark.
    let same = start_of_cluster(there, same).min(start_of_cluster(find, same));
    let (is, wanted) = (cluster(&there[same..]), &find[same..]);
    let entity = ENTITIES
        .iter()
        .find(|(entity, _)| wanted.starts_with(entity))
        .map(|(entity, _)| *entity);
    let wanted = entity.unwrap_or_else(|| cluster(wanted));
    let at = place.start + same;
    let line = body[..at].matches('\n').count() + 1;
    let column = body[..at].chars().rev().take_while(|char| *char != '\n').count() + 1;
    let has = if is.is_empty() {
        "nothing more".to_owned()
    } else {
        named(is)
    };
    let where_find = match wanted {
        "" => "ends".to_owned(),
        wanted => format!("has {}", named(wanted)),
    };
    format!(
        "; line {line} differs only in a look-alike: the file has {has} at column {column} where find {where_find}"
    )
}

/// As [`lookalike`], where folding cannot have parted a character.
fn lookalike_safe(body: &str, find: &str) -> Option<Range<usize>> {
    lookalike(body, find)
        .filter(|place| body.is_char_boundary(place.start) && body.is_char_boundary(place.end))
}

fn start_of_cluster(text: &str, at: usize) -> usize {
    let mut start = at;
    while text[start..].chars().next().is_some_and(is_combining_mark) && start > 0 {
        start = text[..start].char_indices().next_back().map_or(0, |(at, _)| at);
    }
    start
}

/// `U+00A0 (no-break space)`; several code points with the text they make.
fn named(text: &str) -> String {
    let code = |char: char| format!("U+{:04X}", u32::from(char));
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(only), None) => match ALIKE.iter().find(|(alike, _, _)| *alike == only) {
            Some((_, _, name)) => format!("{} ({name})", code(only)),
            None => format!("{only:?} ({})", code(only)),
        },
        _ if text.starts_with('&') => format!("the entity {text}"),
        _ => format!(
            "\"{text}\" ({})",
            text.chars().map(code).collect::<Vec<_>>().join(" ")
        ),
    }
}

/// Where characters stand that cannot be told from a blank or from nothing, in numbered lines as a page has them: `line
/// 1, column 12: U+00A0 (no-break space)`. None when there are none.
pub fn invisible(page: &str) -> Option<String> {
    let mut found = Vec::new();
    let mut count = 0;
    for line in page.lines() {
        let Some((number, text)) = line.split_once('\t') else {
            continue;
        };
        let chars: Vec<char> = text.chars().collect();
        for (at, char) in chars
            .iter()
            .enumerate()
            .filter(|(at, char)| is_invisible(&chars, *at, **char))
        {
            count += 1;
            if found.len() < PLACES {
                found.push(format!(
                    "line {number}, column {}: {}",
                    at + 1,
                    named(&char.to_string())
                ));
            }
        }
    }
    if count > found.len() {
        found.push(format!("{} more", count - found.len()));
    }
    (!found.is_empty()).then(|| found.join("; "))
}

/// Joiners have work to do between letters of other scripts and between emoji.
fn is_invisible(chars: &[char], at: usize, char: char) -> bool {
    let looks_like_a_blank = ALIKE
        .iter()
        .any(|(alike, plain, _)| *alike == char && plain.trim().is_empty());
    let joins = ['\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}'].contains(&char);
    let foreign = |at: usize| chars.get(at).is_some_and(|char| !char.is_ascii());
    looks_like_a_blank
        && ![' ', '\t', '\u{3000}'].contains(&char)
        && !(joins && at > 0 && (foreign(at - 1) || foreign(at + 1)))
}

#[cfg(test)]
mod tests {
    use super::{hint, invisible};

    const ONLY: &str = "differs only in a look-alike: the file has";

    #[test]
    fn a_text_that_only_looks_the_same_is_named_by_the_character_that_differs() {
        for (body, find, told) in [
            (
                "the list in\u{a0}current use\n",
                "list in current",
                "; line 1 {} U+00A0 (no-break space) at column 12 where find has U+0020 (space)",
            ),
            (
                "x\nShe said, \u{201c}Hello.\u{201d}\n",
                "She said, \"Hello.\"",
                "; line 2 {} U+201C (left double quotation mark) at column 11 where find has U+0022 (quotation mark)",
            ),
            (
                "cafe\u{301} open\n",
                "caf\u{e9} open",
                "; line 1 {} \"e\u{301}\" (U+0065 U+0301) at column 4 where find has 'é' (U+00E9)",
            ),
            (
                "caf\u{e9} open\n",
                "cafe\u{301} open",
                "; line 1 {} 'é' (U+00E9) at column 4 where find has \"e\u{301}\" (U+0065 U+0301)",
            ),
            (
                "if (a < b && c) x();\n",
                "if (a &lt; b &amp;&amp; c)",
                "; line 1 {} '<' (U+003C) at column 7 where find has the entity &lt;",
            ),
            (
                "foo\u{200b}bar = 1\n",
                "foobar = 1",
                "; line 1 {} U+200B (zero width space) at column 4 where find has 'b' (U+0062)",
            ),
            (
                "foobar = 1\n",
                "foo\u{200b}bar = 1",
                "; line 1 {} 'b' (U+0062) at column 4 where find has U+200B (zero width space)",
            ),
            (
                "a \u{2013} b\n",
                "a - b",
                "; line 1 {} U+2013 (en dash) at column 3 where find has U+002D (hyphen-minus)",
            ),
            (
                "wait\u{2026}\n",
                "wait...",
                "; line 1 {} U+2026 (horizontal ellipsis) at column 5 where find has '.' (U+002E)",
            ),
        ] {
            assert_eq!(hint(body, find), told.replace("{}", ONLY), "{body:?}");
        }
    }

    #[test]
    fn other_texts_and_more_than_one_get_no_hint() {
        for (body, find) in [
            ("a\n", "b"),
            ("a\u{a0}b a\u{a0}b\n", "a b"),
            ("\u{a0}\n", " "),
            ("", "a"),
            ("a\u{301}", "\u{301}"),
        ] {
            assert_eq!(hint(body, find), "", "{body:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_in_a_page_is_named() {
        let told = "line 1, column 12: U+00A0 (no-break space)";
        assert_eq!(
            invisible("1\tthe list in\u{a0}current use\n").as_deref(),
            Some(told)
        );
        let told = "line 2, column 4: U+200B (zero width space)";
        assert_eq!(invisible("1\ta b\n2\tfoo\u{200b}bar\n").as_deref(), Some(told));
        let many = format!("1\t{}\n", "\u{a0}".repeat(9));
        assert!(invisible(&many).is_some_and(|told| told.ends_with("; 6 more")));
        assert_eq!(
            invisible(
                "1\ta b\tc “q” – é\n2\t👩\u{200d}🔬 می\u{200c}خواهم\n[no newline at the end of the file]\n"
            ),
            None
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_looked_at_without_harm(body in "[a&lt;\u{a0}\u{301}é\u{200b}\n…\\-]{0,24}", find in "[a&lt;\u{a0}\u{301}é\u{200b}\n.\\-]{0,8}") {
            let _ = (hint(&body, &find), invisible(&body));
        }
    }
}
