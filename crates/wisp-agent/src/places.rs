//! Which line a page of a stored output begins with, without reading what comes before it.
//!
//! A person who scrolls asks for one page after another: each begins where the last ended, so its first line follows
//! from the page already answered. The last page is counted back from the number of lines in all. Only a jump into
//! the middle has to count the newlines before it.

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
    /// The number of the line that byte `page.from` is in, from 1, for a page of output `id` that has `lines` lines.
    pub fn first_line<C: Content>(
        &mut self,
        (id, lines): (&str, u64),
        pages: &mut Pages<C>,
        page: &Page,
    ) -> io::Result<u64> {
        if self.id != id || self.lines.len() >= MOST {
            *self = Self {
                id: id.to_owned(),
                lines: BTreeMap::from([(0, 1)]),
            };
        }
        let newlines = newlines(&page.bytes);
        let known = self.lines.get(&page.from).copied();
        let after = self.lines.get(&page.end()).copied();
        let first = match (known, after.or_else(|| end(lines, pages, page))) {
            (Some(line), _) => line,
            (None, Some(after)) => after - newlines.min(after - 1),
            (None, None) => pages.line_of(page.from)?,
        };
        self.lines.insert(page.from, first);
        self.lines.insert(page.end(), first + newlines);
        Ok(first)
    }
}

/// The line of the byte after the last one, if this is the last page: one more than there are, unless the last has no
/// newline.
fn end<C: Content>(lines: u64, pages: &Pages<C>, page: &Page) -> Option<u64> {
    let last = page.number + 1 == pages.count() && !page.bytes.is_empty() && lines > 0;
    last.then(|| lines + u64::from(page.bytes.ends_with(b"\n")))
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').count() as u64 - 1
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use wisp_output::pages::PAGE;

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

    fn lines_of(bytes: &[u8]) -> u64 {
        newlines(bytes) + u64::from(!bytes.is_empty() && !bytes.ends_with(b"\n"))
    }

    /// Asks for pages in this order, as a face does: each answer from an index of its own. Returns the bytes read.
    fn walk(bytes: &[u8], numbers: impl IntoIterator<Item = u64>) -> u64 {
        let (read, lines) = (Cell::new(0), lines_of(bytes));
        let mut places = Places::default();
        for number in numbers {
            let mut pages = Pages::new(Counted { bytes, read: &read });
            let Some(page) = pages.page(number).unwrap() else {
                continue;
            };
            let first = places.first_line(("id", lines), &mut pages, &page).unwrap();
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
        let count = (16 << 20) / PAGE;
        let each = 3 * PAGE;
        assert!(walk(bytes, 0..count) <= count * each, "down");
        assert!(
            walk(bytes, std::iter::once(count - 1)) <= each,
            "to the end at once"
        );
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
