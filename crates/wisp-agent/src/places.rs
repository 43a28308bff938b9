//! Which line of its file a page begins with, for an output whose record does not say (records of earlier versions).
//!
//! A person who scrolls asks for one page after another: each begins where the last ended, so its first line follows
//! from the page already answered. Only a jump has to count the newlines before it.

use std::collections::BTreeMap;
use std::io;

use wisp_output::content::Content;
use wisp_output::pages::{Page, Pages};

/// The most places remembered, of one output: two for each page of 128 MiB.
const MOST: usize = 4096;

/// Places in the output that was looked at last whose line is known.
#[derive(Debug, Default)]
pub struct Places {
    id: String,
    /// Lines from 1, by the byte they are known for.
    lines: BTreeMap<u64, u64>,
}

impl Places {
    /// The number of the line that byte `page.from` is in, from 1, for a page of output `id`.
    pub fn first_line<C: Content>(&mut self, id: &str, pages: &mut Pages<C>, page: &Page) -> io::Result<u64> {
        if self.id != id || self.lines.len() >= MOST {
            *self = Self {
                id: id.to_owned(),
                lines: BTreeMap::from([(0, 1)]),
            };
        }
        let newlines = newlines(&page.bytes);
        let known = self.lines.get(&page.from).copied();
        let after = self.lines.get(&page.end()).copied();
        let first = match (known, after) {
            (Some(line), _) => line,
            (None, Some(after)) => after - newlines.min(after - 1),
            (None, None) => pages.line_of(page.from)?,
        };
        self.lines.insert(page.from, first);
        self.lines.insert(page.end(), first + newlines);
        Ok(first)
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').count() as u64 - 1
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use wisp_output::pages::{PAGE, STEP};

    use super::*;

    /// Bytes in memory that count how many of them are read.
    struct Counted<'a> {
        bytes: &'a [u8],
        read: &'a Cell<u64>,
    }

    impl Content for Counted<'_> {
        fn bytes(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            let from = usize::try_from(offset).unwrap().min(self.bytes.len());
            let read = buffer.len().min(self.bytes.len() - from);
            buffer[..read].copy_from_slice(&self.bytes[from..from + read]);
            self.read.set(self.read.get() + read as u64);
            Ok(read)
        }

        fn readable_to(&self, _offset: u64) -> u64 {
            self.bytes()
        }

        fn readable_from(&self, _offset: u64) -> u64 {
            0
        }
    }

    /// Asks for pages in this order, as a face does: each answer from an index of its own. Returns the bytes read.
    fn walk(bytes: &[u8], numbers: impl IntoIterator<Item = u64>) -> u64 {
        let read = Cell::new(0);
        let mut places = Places::default();
        for number in numbers {
            let mut pages = Pages::new(Counted { bytes, read: &read });
            let Some(page) = pages.page(number).unwrap() else {
                continue;
            };
            let first = places.first_line("id", &mut pages, &page).unwrap();
            let from = usize::try_from(page.from).unwrap();
            assert_eq!(first, newlines(&bytes[..from]) + 1, "page {number}");
        }
        read.get()
    }

    #[test]
    fn scrolling_through_sixteen_mebibytes_never_reads_what_was_passed() {
        let text: String = (1..)
            .map(|n| format!("line {n} of the output\n"))
            .take(700_000)
            .collect();
        let bytes = &text.as_bytes()[..16 << 20];
        let count = (16_u64 << 20).div_ceil(STEP);
        let each = 3 * PAGE;
        assert!(walk(bytes, 0..count) <= count * each, "down");
        assert!(walk(bytes, (0..count).rev()) <= count * each, "up from the end");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn the_first_line_of_any_page_is_right_in_any_order(
            lines in proptest::collection::vec(0usize..30_000, 1..30),
            newline in any::<bool>(),
            order in proptest::collection::vec(0u64..12, 1..20),
        ) {
            let mut text: String = lines.iter().map(|length| "x".repeat(*length) + "\n").collect();
            if !newline {
                text.pop();
            }
            walk(text.as_bytes(), order);
        }
    }
}
