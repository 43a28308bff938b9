//! Pages over random files: they end at lines, join to the file, and cost two reads.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::cell::Cell;
use std::io;

use proptest::prelude::*;
use wisp_output::content::Content;
use wisp_output::pages::{PAGE, Pages};

/// Bytes in memory that count how often they are read.
struct Counted {
    bytes: Vec<u8>,
    reads: Cell<usize>,
}

impl Counted {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            reads: Cell::new(0),
        }
    }
}

impl Content for Counted {
    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.reads.set(self.reads.get() + 1);
        let from = usize::try_from(offset).unwrap().min(self.bytes.len());
        let read = buffer.len().min(self.bytes.len() - from);
        buffer[..read].copy_from_slice(&self.bytes[from..from + read]);
        Ok(read)
    }

    fn readable_to(&self, _offset: u64) -> u64 {
        self.bytes()
    }

    fn readable_from(&self, _offset: u64) -> u64 {
        0
    }
}

fn check_pages(bytes: &[u8]) {
    let pages = Pages::new(Counted::new(bytes.to_vec()));
    let mut joined = Vec::new();
    for number in 0..pages.count() {
        pages.content().reads.set(0);
        let page = pages.page(number).unwrap().unwrap();
        let reads = pages.content().reads.get();
        assert!(reads <= 2, "page {number} took {reads} reads");
        assert_eq!(page.from, joined.len() as u64);
        assert!(
            page.bytes.len() as u64 <= PAGE,
            "page {number} has {} bytes",
            page.bytes.len()
        );
        let last = page.bytes.last().copied();
        let end_of_file = page.end() == bytes.len() as u64;
        assert!(last == Some(b'\n') || end_of_file || page_is_split(bytes, page.end()));
        assert_eq!(pages.page_of(page.from).unwrap(), number);
        if !page.bytes.is_empty() {
            assert_eq!(pages.page_of(page.end() - 1).unwrap(), number);
        }
        joined.extend(page.bytes);
    }
    assert!(joined == bytes, "the pages join to the file");
    assert_eq!(pages.page(pages.count()).unwrap(), None);
}

/// Whether the line that byte `at` cuts has begun 16 KiB before, but for a character.
fn page_is_split(bytes: &[u8], at: u64) -> bool {
    let (at, back) = (usize::try_from(at).unwrap(), 16 * 1024 - 4);
    at >= back && !bytes[at - back..at].contains(&b'\n')
}

fn check_lines(bytes: &[u8]) {
    let mut pages = Pages::new(Counted::new(bytes.to_vec()));
    let mut start = 0;
    for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let number = at as u64 + 1;
        if number % 97 == 1 || bytes.len() < 1_000 {
            assert_eq!(pages.line_start(number).unwrap(), Some(start));
            assert_eq!(pages.line_of(start).unwrap(), number);
            assert_eq!(pages.line_of(start + line.len() as u64 - 1).unwrap(), number);
        }
        start += line.len() as u64;
    }
    assert_eq!(pages.line_start(support::lines(bytes) + 1).unwrap(), None);
}

proptest! {
    #![proptest_config(support::cases(24))]

    #[test]
    fn pages_join_to_the_file(parts in proptest::collection::vec(support::output(60), 0..12), times in 1..6usize) {
        let bytes = parts.concat().repeat(times);
        check_pages(&bytes);
        check_lines(&bytes);
    }
}

#[test]
fn pages_at_the_exact_byte() {
    let page = usize::try_from(PAGE).unwrap();
    for size in [0, 1, page - 1, page, page + 1, 2 * page, 2 * page + 1] {
        check_pages(&vec![b'a'; size]);
        check_pages(&vec![b'\n'; size]);
        check_pages("漢".repeat(size / 3).as_bytes());
        check_lines(&vec![b'a'; size]);
    }
}

#[test]
fn the_most_a_page_holds_is_one_page_and_a_byte_more_is_two() {
    let pages = |size: u64| Pages::new(Counted::new(vec![b'a'; usize::try_from(size).unwrap()])).count();
    assert_eq!((pages(0), pages(65_536), pages(65_537)), (1, 1, 2));
}

#[test]
fn no_character_is_cut_between_pages() {
    // 7: valid text whose characters lie across every 64 KiB.
    let mut text = "≤ — 漢 🐟\n".to_owned();
    for size in [4_096, 8_192, 65_536] {
        text.push_str(&"a".repeat(size - 2));
        text.push_str("漢\n");
    }
    assert_eq!(text.len(), 77_847);
    check_pages(text.as_bytes());
    let pages = Pages::new(Counted::new(text.clone().into_bytes()));
    for number in 0..pages.count() {
        let page = pages.page(number).unwrap().unwrap();
        assert!(String::from_utf8(page.bytes).is_ok());
    }
}
