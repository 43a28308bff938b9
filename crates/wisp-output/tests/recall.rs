//! Reading back: pages, filters, windows, hints that lead on, and the search of a face.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use proptest::prelude::*;
use wisp_output::clean::{self, View};
use wisp_output::content::MemoryContent;
use wisp_output::recall::{Filter, Matcher, Matches, Start, Stored, recall};
use wisp_output::request::{Grammar, Request};
use wisp_output::search::{Direction, search};
use wisp_output::{Pages, content::Content};

const NAME: &str = "output 3f9a2c1b";

fn page(bytes: &[u8], filter: &Filter, from: Start, budget: usize) -> String {
    let content = MemoryContent::whole(bytes);
    recall(
        Stored {
            sections: &[],
            exit: None,
            content: &content,
            lines: support::lines(bytes),
            name: NAME,
        },
        filter,
        from,
        budget,
    )
    .unwrap()
}

fn matching(pattern: &str) -> Filter {
    Filter::Matching(pattern.to_owned())
}

fn hits(bytes: &[u8], pattern: &str) -> Vec<u64> {
    let content = MemoryContent::whole(bytes);
    let matcher = Matcher::new(pattern).unwrap();
    let mut found = Matches::new(&content, &matcher, (0, 1), bytes.len() as u64);
    std::iter::from_fn(|| found.next_hit().unwrap())
        .map(|hit| hit.line)
        .collect()
}

/// Follows the hints of page after page; the rows of all of them.
fn follow(bytes: &[u8], filter: Filter, budget: usize) -> Vec<String> {
    let (mut filter, mut from, mut rows) = (filter, Start::default(), Vec::new());
    for _ in 0..100_000 {
        let page = page(bytes, &filter, from, budget);
        assert!(page.len() <= budget, "{} > {budget}", page.len());
        let lines: Vec<&str> = page.lines().collect();
        let (last, body) = lines.split_last().unwrap();
        rows.extend(body[1..].iter().map(|row| (*row).to_owned()));
        let Some(hint) = last
            .strip_prefix("[more: memory \"")
            .and_then(|rest| rest.strip_suffix("\"]"))
        else {
            return rows;
        };
        let Ok(Request::Recall {
            filter: next,
            from: at,
            ..
        }) = Grammar::<Request>::of_outputs().read(hint)
        else {
            panic!("a request: {hint}");
        };
        assert_eq!(next, filter, "the hint repeats the filter");
        (filter, from) = (next, at);
    }
    panic!("paging ends");
}

#[test]
fn a_page_is_numbered_as_the_whole_and_leads_to_the_next() {
    let text: String = (1..=500).fold(String::new(), |text, line| text + &format!("line {line}\n"));
    let first = page(text.as_bytes(), &Filter::All, Start::line(44), 600);
    let lines: Vec<&str> = first.lines().collect();
    assert!(lines[0].starts_with("output 3f9a2c1b: lines 44–"), "{}", lines[0]);
    assert_eq!(lines[1], "44: line 44");
    assert!(
        lines
            .last()
            .unwrap()
            .starts_with("[more: memory \"recall output 3f9a2c1b from line ")
    );
    assert_eq!(follow(text.as_bytes(), Filter::All, 600).len(), 500);
    assert_eq!(
        page(text.as_bytes(), &Filter::All, Start::line(501), 600),
        "[no line 501: output 3f9a2c1b has 500 lines]"
    );
    let tail = page(text.as_bytes(), &Filter::Tail(2), Start::default(), 600);
    assert_eq!(
        tail,
        "output 3f9a2c1b tail 2: lines 499–500 of 500\n499: line 499\n500: line 500\n[end of tail 2 of output 3f9a2c1b]"
    );
    let lines = page(text.as_bytes(), &Filter::Lines(7, 8), Start::default(), 600);
    assert_eq!(
        lines,
        "output 3f9a2c1b lines 7-8: lines 7–8 of 500\n7: line 7\n8: line 8\n[end of lines 7-8 of output 3f9a2c1b]"
    );
    assert_eq!(follow(text.as_bytes(), Filter::Head(120), 600).len(), 120);
    assert_eq!(
        page(b"", &Filter::All, Start::default(), 600),
        "[output 3f9a2c1b is empty]"
    );
}

#[test]
fn a_filter_counts_what_matches_and_what_does_not() {
    let text: String = (1..=300).fold(String::new(), |text, line| {
        text + &format!("{} {line}\n", if line % 3 == 0 { "ERROR" } else { "ok" })
    });
    let found = page(text.as_bytes(), &matching("error"), Start::default(), 4_096);
    assert!(found.starts_with(
        "output 3f9a2c1b matching error: 100 of 300 lines match, 200 do not\n3: ERROR 3\n6: ERROR 6\n"
    ));
    assert_eq!(follow(text.as_bytes(), matching("error"), 700).len(), 100);
    assert_eq!(follow(text.as_bytes(), matching("ok [0-9]*[05]$"), 700).len(), 40);
}

#[test]
fn one_line_of_300_000_bytes_is_found_in_and_paged_through() {
    for (size, at, newline) in [
        (300_000, 204_800, ""),
        (300_000, 204_800, "\n"),
        (81_920, 40_960, "\n"),
    ] {
        let mut text = "0123456789abcdef".repeat(size / 16 + 1)[..size].to_owned();
        text.replace_range(at..at + 11, "NEEDLE-7F3A");
        text.push_str(newline);
        let found = page(text.as_bytes(), &matching("NEEDLE-7F3A"), Start::default(), 4_096);
        assert!(
            found.starts_with("output 3f9a2c1b matching NEEDLE-7F3A: 1 of 1 line matches, 0 do not\n"),
            "{found}"
        );
        let place = format!(
            "1 (match at byte offset {}",
            wisp_output::amount::grouped(at as u64)
        );
        assert!(found.contains(&place), "{found}");
        assert!(
            found.contains("NEEDLE-7F3A9") || found.contains("NEEDLE-7F3Ab"),
            "{found}"
        );
        assert!(found.len() < 1_000, "a window, not the line: {}", found.len());
        let rows = follow(text.as_bytes(), Filter::All, 4_096);
        let joined: String = rows.iter().map(|row| row.split_once(": ").unwrap().1).collect();
        assert_eq!(joined, text.trim_end());
    }
}

fn filter_input() -> Vec<u8> {
    let mut bytes = b"needle\nneedle\r\nneedle\r\na needle\0b\nNEEDLE\n".to_vec();
    bytes.extend("x".repeat(70_000).into_bytes());
    bytes.extend(b"needle");
    bytes.extend("y".repeat(70_002).into_bytes());
    bytes.extend("\ngröße needle\ncaf\u{e9} ".as_bytes());
    bytes.extend(b"needle \xff\na.b\naxb\n\x1b[31mnee\x1b[0mdle\nneedle with no newline");
    bytes
}

#[test]
fn a_filter_sees_through_cr_nul_colour_and_length() {
    let bytes = filter_input();
    assert_eq!(support::lines(&bytes), 12);
    assert_eq!(hits(&bytes, "(?-i)^needle$"), [1, 2, 3, 11]);
    assert_eq!(hits(&bytes, "(?-i)needle"), [1, 2, 3, 4, 6, 7, 8, 11, 12]);
    assert_eq!(hits(&bytes, "needle"), [1, 2, 3, 4, 5, 6, 7, 8, 11, 12]);
    assert_eq!(hits(&bytes, r"a\.b"), [9]);
    assert_eq!(hits(&bytes, "a.b"), [9, 10]);
    assert_eq!(hits(&bytes, "größe"), [7]);
    assert_eq!(hits(&bytes, "no newline$"), [12]);
    assert_eq!(hits(&bytes, "caf. needle"), [8]);
    let window = page(&bytes, &matching("needley"), Start::default(), 4_096);
    assert!(
        window.contains("6 (match at byte offset 70,000 of 140,008): …") && window.len() < 1_000,
        "{window}"
    );
}

#[test]
fn a_pattern_that_is_none_is_searched_for_as_it_stands_and_one_too_big_is_refused() {
    let found = page(b"call(\nother\n", &matching("call("), Start::default(), 4_096);
    assert!(found.contains("1 of 2 lines matches, 1 do not\n[not a regular expression (unclosed group): searched as it stands]\n1: call(\n"), "{found}");
    let refused = page(b"a\n", &matching("((a{100}){100}){100}"), Start::default(), 4_096);
    assert_eq!(
        refused,
        "error: the pattern is too big: it compiles to more than 1,048,576 bytes"
    );
}

#[test]
fn colours_hide_nothing_and_frames_of_a_progress_bar_are_not_found() {
    let raw = b"\x1b[31merr\x1b[1mor\x1b[0m: boom\n 50%\r100%\nalpha\r\nbeta\r\n";
    assert_eq!(hits(raw, "^error:"), [1]);
    assert_eq!(hits(raw, "50%"), Vec::<u64>::new());
    assert_eq!(hits(raw, "^beta$"), [4]);
}

#[test]
fn a_search_steps_both_ways_through_the_whole() {
    let text: String = (1..=90_000).fold(String::new(), |mut text, line| {
        text.push_str(if line % 30_000 == 7 {
            "a mark here\n"
        } else {
            "nothing to be seen on this line of text\n"
        });
        text
    });
    let content = MemoryContent::whole(text.as_bytes());
    let mut pages = Pages::new(content);
    let matcher = Matcher::new("MARK").unwrap();
    let mut step = |from, direction| {
        search(&mut pages, &matcher, from, direction)
            .unwrap()
            .map(|hit| hit.line)
    };
    assert_eq!(step(1, Direction::Forward), Some(7));
    assert_eq!(step(8, Direction::Forward), Some(30_007));
    assert_eq!(step(60_008, Direction::Forward), None);
    assert_eq!(step(90_001, Direction::Backward), Some(60_007));
    assert_eq!(step(60_007, Direction::Backward), Some(30_007));
    assert_eq!(step(30_007, Direction::Backward), Some(7));
    assert_eq!(step(7, Direction::Backward), None);
    assert!(pages.content().bytes() > 3 << 20, "further than one step back");
}

#[test]
fn a_last_line_that_shows_nothing_is_a_line_for_the_filter() {
    assert_eq!(hits(b"\r", "^$"), [1]);
    assert_eq!(hits(b"a\n\r", "^$"), [2]);
    assert_eq!(hits(b"a\n\x1b[0m", "^"), [1, 2]);
    assert_eq!(hits(b"a\n", "^$"), [0; 0]);
}

proptest! {
    #![proptest_config(support::cases(24))]

    #[test]
    fn pages_of_lines_join_to_the_clean_view(bytes in support::output(120), budget in 700..5_000usize) {
        prop_assume!(!bytes.is_empty());
        let rows = follow(&bytes, Filter::All, budget);
        let mut joined = String::new();
        for (at, row) in rows.iter().enumerate() {
            let (label, text) = row.split_once(": ").unwrap();
            if !label.contains("from byte") && at > 0 {
                joined.push('\n');
            }
            joined.push_str(text);
        }
        let view = clean::text(&bytes, View::Plain);
        prop_assert_eq!(joined.trim_end_matches('\n'), view.trim_end_matches('\n'));
    }

    #[test]
    fn a_filter_finds_what_a_search_line_by_line_finds(
        bytes in support::output(200),
        pattern in prop_oneof![
            Just("a".to_owned()), Just("^".to_owned()), Just("$".to_owned()), Just("[^a]b".to_owned()), Just(r"\s".to_owned()),
            Just("^$".to_owned()), Just("(?s)a.b".to_owned()), Just(r"\Aa".to_owned()), Just(r"a\z".to_owned()), Just(r"\bx".to_owned()),
            "[a-z]{1,3}", "[a-z]\\.[a-z]",
        ],
    ) {
        let regex = regex::RegexBuilder::new(&pattern).case_insensitive(true).multi_line(true).build().unwrap();
        let view = clean::text(&bytes, View::Plain);
        let count = usize::try_from(support::lines(&bytes)).unwrap();
        let expected: Vec<u64> = (1..).zip(view.split('\n').take(count)).filter(|(_, line)| regex.is_match(line)).map(|(at, _)| at).collect();
        prop_assert_eq!(hits(&bytes, &pattern), expected);
    }
}
