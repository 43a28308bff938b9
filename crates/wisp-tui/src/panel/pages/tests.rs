//! Walks through outputs of many pages: what is held, what is read, and what stays in view.

use proptest::prelude::*;

use super::*;

const LAYOUT: Layout = Layout {
    width: 20,
    wrap: true,
};
const HEIGHT: usize = 10;

/// A file of numbered lines in pages of `per_page` lines, and how often each page was asked for.
struct Store {
    lines: u64,
    per_page: u64,
    reads: Vec<u64>,
}

impl Store {
    fn new(lines: u64, per_page: u64) -> Self {
        Self {
            lines,
            per_page,
            reads: Vec::new(),
        }
    }

    fn page(&mut self, number: u64) -> (OutputView, String) {
        self.reads.push(number);
        let first = number * self.per_page + 1;
        let last = (first + self.per_page - 1).min(self.lines);
        let text: String = (first..=last).fold(String::new(), |text, n| text + &format!("line {n}\n"));
        let view = OutputView {
            page: number,
            pages: self.lines.div_ceil(self.per_page),
            first_line: first,
            lines: self.lines,
            ..OutputView::default()
        };
        (view, text)
    }

    /// Answers every page that is wanted.
    fn answer(&mut self, pages: &mut Pages) {
        while let Some(number) = pages.wanted(HEIGHT) {
            let (view, text) = self.page(number);
            pages.take(&view, &text, HEIGHT);
            assert!(pages.held().len() <= HELD_PAGES);
        }
    }
}

fn shown(pages: &Pages) -> Vec<u64> {
    pages.view(HEIGHT).iter().filter_map(|row| row.line).collect()
}

#[test]
fn scrolling_through_256_pages_holds_four_and_reads_each_once() {
    let mut store = Store::new(256 * 100, 100);
    let mut pages = Pages::new(LAYOUT);
    store.answer(&mut pages);
    let mut seen = Vec::new();
    loop {
        let rows = shown(&pages);
        seen.extend(
            rows.iter()
                .copied()
                .filter(|line| seen.last().is_none_or(|last| line > last))
                .collect::<Vec<_>>(),
        );
        if rows.last() == Some(&store.lines) {
            break;
        }
        pages.scroll(7, HEIGHT);
        store.answer(&mut pages);
    }
    assert_eq!(seen, (1..=store.lines).collect::<Vec<_>>());
    assert_eq!(store.reads, (0..256).collect::<Vec<_>>());
    assert_eq!(pages.held(), [252, 253, 254, 255]);
}

#[test]
fn rows_in_view_stay_when_pages_come_and_go() {
    let mut store = Store::new(1000, 20);
    let mut pages = Pages::new(LAYOUT);
    store.answer(&mut pages);
    for _ in 0..40 {
        pages.scroll(5, HEIGHT);
        let before = shown(&pages);
        store.answer(&mut pages);
        assert_eq!(shown(&pages), before);
    }
    for _ in 0..60 {
        pages.scroll(-3, HEIGHT);
        let before = shown(&pages);
        store.answer(&mut pages);
        assert_eq!(shown(&pages), before);
    }
}

#[test]
fn a_jump_reads_only_the_page_it_goes_to() {
    let mut store = Store::new(100_000, 100);
    let mut pages = Pages::new(LAYOUT);
    store.answer(&mut pages);
    pages.go(Goal::End, HEIGHT);
    store.answer(&mut pages);
    assert_eq!(shown(&pages).last(), Some(&100_000));
    assert_eq!(store.reads, [0, 999]);
    pages.go(
        Goal::Line {
            line: 50_050,
            page: 500,
        },
        HEIGHT,
    );
    store.answer(&mut pages);
    assert_eq!(shown(&pages)[0], 50_050);
    assert_eq!(store.reads, [0, 999, 500]);
    pages.go(Goal::Start, HEIGHT);
    store.answer(&mut pages);
    assert_eq!(shown(&pages)[0], 1);
}

#[test]
fn another_width_keeps_the_top_in_view() {
    let info = OutputView {
        pages: 1,
        first_line: 1,
        ..OutputView::default()
    };
    let text: String = (0..50).fold(String::new(), |text, n| {
        format!("{text}{n:02} {}\n", "x".repeat(57))
    });
    let mut pages = Pages::new(LAYOUT);
    pages.take(&info, &text, HEIGHT);
    pages.scroll(31, HEIGHT);
    assert_eq!(pages.top_line(), 11);
    for width in [7, 60, 13, 20] {
        pages.lay_out(Layout { width, wrap: true });
        assert_eq!(pages.top_line(), 11, "{width}");
    }
    pages.lay_out(Layout {
        width: 20,
        wrap: false,
    });
    assert_eq!(pages.top_line(), 11);
}

#[test]
fn a_page_nobody_waits_for_is_let_go() {
    let mut store = Store::new(1000, 10);
    let mut pages = Pages::new(LAYOUT);
    store.answer(&mut pages);
    let held = pages.held();
    let (view, text) = store.page(50);
    pages.take(&view, &text, HEIGHT);
    assert_eq!(pages.held(), held);
}

#[test]
fn pages_of_one_row_do_not_push_one_another_out_of_view() {
    let mut store = Store::new(50, 1);
    let mut pages = Pages::new(LAYOUT);
    store.answer(&mut pages);
    assert_eq!(
        (pages.held(), shown(&pages)),
        (vec![0, 1, 2, 3], vec![1, 2, 3, 4])
    );
    pages.scroll(1, HEIGHT);
    store.answer(&mut pages);
    assert_eq!(pages.top_line(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_walk_shows_neighbouring_rows_of_at_most_four_pages(steps in proptest::collection::vec((-40isize..60, 0u8..12), 1..40)) {
        let mut store = Store::new(777, 13);
        let mut pages = Pages::new(LAYOUT);
        store.answer(&mut pages);
        for (by, jump) in steps {
            match jump {
                0 => pages.go(Goal::End, HEIGHT),
                1 => pages.go(Goal::Start, HEIGHT),
                _ => pages.scroll(by, HEIGHT),
            }
            store.answer(&mut pages);
            let rows = shown(&pages);
            prop_assert_eq!(rows.len(), HEIGHT);
            prop_assert!(rows.windows(2).all(|pair| pair[1] == pair[0] + 1), "{rows:?}");
        }
    }
}

#[test]
fn frames_have_no_number_and_a_line_is_found_by_its_own() {
    let mut pages = Pages::new(LAYOUT);
    let info = OutputView {
        pages: 1,
        first_line: 1,
        frames: vec![0, 1, 4],
        lines: 3,
        ..OutputView::default()
    };
    pages.take(&info, "exit status 1\nstdout:\na\nb\nstderr:\nc\n", 2);
    assert_eq!((pages.top_line(), pages.last_line(3)), (1, Some(1)));
    pages.go(Goal::Line { line: 3, page: 0 }, 1);
    let row = &pages.view(1)[0];
    assert_eq!((row.line, row.spans[0].content.as_ref()), (Some(3), "c"));
}
