//! Times filter, pages and fitting over a file, for the benchmark script: `speed FILE PATTERN`; with a third word
//! `pages` every page of it, and counts its reads.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program prints and may stop"
)]

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::time::Instant;

use wisp_output::content::{Content, FileContent};
use wisp_output::recall::{Matcher, Matches};
use wisp_output::store::About;
use wisp_output::{Context, Measured, Output, Pages, Piece, Place, Store, Stream, present};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (path, pattern) = (arguments.next().unwrap(), arguments.next().unwrap());
    let file = File::open(&path).unwrap();
    let bytes = file.metadata().unwrap().len();
    let content = FileContent::new(file, bytes);
    if arguments.next().is_some() {
        return pages(content);
    }

    let started = Instant::now();
    let matcher = Matcher::new(&pattern).unwrap();
    let mut found = Matches::new(&content, &matcher, (0, 1), bytes);
    let mut count = 0;
    while found.next_hit().unwrap().is_some() {
        count += 1;
    }
    println!("filter: {count} lines in {:?}", started.elapsed());

    let pages = Pages::new(content.clone());
    let started = Instant::now();
    let page = pages.page(pages.count() / 2).unwrap().unwrap();
    println!("page: {} bytes in {:?}", page.bytes.len(), started.elapsed());

    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path(), "speed").unwrap();
    let started = Instant::now();
    let pieces = vec![Piece::Bytes(Box::new(File::open(&path).unwrap()))];
    let mut head = vec![0; 8_192];
    let read = content.read_at(0, &mut head).unwrap();
    let whole = Measured {
        bytes,
        newlines: 0,
        dropped_ends_line: false,
    };
    let stream = Stream::ends(Some("stdout"), (&head[..read], [].as_slice()), whole).with_pieces(pieces);
    let call = Context {
        id: "3f9a2c1b00000001",
        about: About::default(),
        budget: 4_096,
        memory: true,
        command: true,
        now: "2026-11-30T09:00:00Z".parse().unwrap(),
        first_error: None,
    };
    let shown = present(
        Output::command("exit status: 0", vec![stream], ""),
        Place::Store(&store),
        &call,
    );
    println!(
        "keep and fit: {} bytes shown in {:?}",
        shown.text.len(),
        started.elapsed()
    );
}

/// A file that counts how often it is read.
struct Counted {
    file: FileContent,
    reads: Cell<usize>,
}

impl Content for Counted {
    fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads.set(self.reads.get() + 1);
        self.file.read_at(offset, buffer)
    }

    fn readable_to(&self, offset: u64) -> u64 {
        self.file.readable_to(offset)
    }

    fn readable_from(&self, offset: u64) -> u64 {
        self.file.readable_from(offset)
    }
}

/// Every page by itself, in an order that follows none: the median time, the longest, and the most reads one took.
fn pages(file: FileContent) {
    let pages = Pages::new(Counted {
        file,
        reads: Cell::new(0),
    });
    let (mut times, mut reads) = (Vec::new(), 0);
    for at in 0..pages.count() {
        let number = at * 97 % pages.count();
        pages.content().reads.set(0);
        let started = Instant::now();
        let page = pages.page(number).unwrap().unwrap();
        times.push(started.elapsed());
        assert!(!page.bytes.is_empty());
        reads = reads.max(pages.content().reads.get());
    }
    times.sort();
    let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "a 64 KiB page of {}: median {median:.0?}, longest {longest:.0?}, at most {reads} reads",
        times.len()
    );
}
