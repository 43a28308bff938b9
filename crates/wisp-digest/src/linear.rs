//! That reading takes time in proportion to the input, counted rather than timed.
//!
//! For a line a reader looks at the line and at what it keeps. The driver's part is counted in bytes of lines shown,
//! however often. A reader's part is bounded by what it keeps: where that stops growing, no line costs more than the
//! one before it. So every line that can begin something is given by itself, again and again, and once with lines
//! after it that end nothing; what the readers keep must stop growing.

use crate::digester::{Counted, Digester, Options};
use crate::formats::FORMATS;
use crate::limits;

/// Beginnings of blocks in many formats, none of which ends.
const OPENINGS: &str = include_str!("../tests/openings.txt");

/// What so many numbered lines made the readers do.
fn counted(lines: usize, line: impl Fn(usize) -> String) -> Counted {
    let mut digester = Digester::new(Options::default());
    for at in 0..lines {
        digester.push(format!("{} {at}\n", line(at)).as_bytes());
    }
    digester.count()
}

/// Whether the readers keep more after twice as many lines, by more than the lines' numbers grow.
fn grows(lines: usize, line: impl Fn(usize) -> String) -> bool {
    let (few, many) = (counted(lines, &line).kept, counted(lines * 2, &line).kept);
    many > few + few / 8 + 64
}

/// Whether they keep more and more; a list that a bound ends is no such.
fn keeps_growing(line: impl Fn(usize) -> String) -> bool {
    [60, 400, 5_000].iter().all(|lines| grows(*lines, &line))
}

#[test]
fn openings_side_by_side_make_work_in_proportion_and_are_kept_within_bounds() {
    let openings: Vec<&str> = OPENINGS.lines().collect();
    let line = |at: usize| openings[at * 7 % openings.len()].to_owned();
    let (few, many) = (counted(6_000, line), counted(24_000, line));
    assert!(
        many.shown >= few.shown * 3 && many.shown <= few.shown * 5,
        "{few:?}, then {many:?}"
    );
    let bound = limits::FAILURES + limits::LISTED + limits::SECTIONS + limits::NOTES;
    assert!(
        few.found <= bound && many.found <= bound,
        "{few:?}, then {many:?}"
    );
    assert!(many.found <= few.found * 2, "{few:?}, then {many:?}");
}

#[test]
fn no_reader_keeps_more_the_longer_a_block_has_no_end() {
    const FILLERS: [&str; 3] = ["x", "    x", "  | x: "];
    let triggers = FORMATS
        .iter()
        .flat_map(|format| format.triggers)
        .map(|each| each.trim_start_matches('\n'));
    let growing: Vec<&str> = OPENINGS
        .lines()
        .chain(triggers)
        .filter(|opening| {
            keeps_growing(|_| (*opening).to_owned())
                || keeps_growing(|at| if at == 0 { *opening } else { FILLERS[at % 3] }.to_owned())
        })
        .collect();
    assert_eq!(growing, [""; 0]);
}

#[test]
fn a_log_without_a_trigger_is_shown_to_nobody() {
    assert_eq!(counted(10_000, |_| "copied tile.png".to_owned()).shown, 0);
}
