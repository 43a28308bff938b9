//! Texts that are hard on a search, for its tests and for the bench.

const A: &str = "aaaaaaa\n";

/// Lines of a Fibonacci word over two lines: the text on which a search falls back the most.
fn fibonacci(bytes: usize) -> String {
    let (mut shorter, mut word) = ("bbbbbbb\n".to_owned(), A.to_owned());
    while word.len() < bytes {
        let longer = word.clone() + &shorter;
        shorter = std::mem::replace(&mut word, longer);
    }
    word.truncate(bytes);
    word
}

fn repeated(of: &str, bytes: usize) -> String {
    of.repeat(bytes.div_ceil(of.len()))[..bytes].to_owned()
}

/// Blocks of one line, two lines, three lines … the same, as many as there is room for.
fn staircase(bytes: usize) -> String {
    let mut text = String::new();
    for lines in 1.. {
        let next = A.repeat(lines) + "\n";
        if text.len() + next.len() > bytes {
            return text;
        }
        text += &next;
    }
    text
}

/// A reply and an output of so many bytes that are hard on a search.
pub type Hard = (&'static str, fn(usize) -> String, fn(usize) -> String);

/// The hard ones.
pub const HARD: [Hard; 8] = [
    (
        "one line of one letter",
        |n| repeated("a", n),
        |n| repeated("a", n),
    ),
    ("lines of one letter", |n| repeated(A, n), |n| repeated(A, n)),
    (
        "a period of two",
        |n| repeated("aaaaaaa\nbbbbbbb\n", n),
        |n| repeated("aaaaaaa\nbbbbbbb\n", n),
    ),
    (
        "one line with a period of two",
        |n| repeated("ab", n),
        |n| repeated("ab", n),
    ),
    ("Fibonacci words", fibonacci, fibonacci),
    (
        // As long a match as there can be, again and again, and the last line another.
        "almost the whole reply",
        |n| repeated(A, n - 8) + "bbbbbbb\n",
        |n| repeated(&(repeated(A, n / 256 - 8) + "ccccccc\n"), n),
    ),
    (
        "almost, every eight lines",
        |n| repeated(&(A.repeat(7) + "bbbbbbb\n"), n),
        |n| repeated(&(A.repeat(7) + "ccccccc\n"), n),
    ),
    ("every block within the next", staircase, |n| repeated(A, n)),
];
