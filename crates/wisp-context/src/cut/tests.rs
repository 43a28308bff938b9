//! What is cut and, more important, what is not.

use super::hard::{HARD, Hard};
use super::*;

const OUTPUT: &str = "alpha beta gamma delta epsilon zeta\neta theta iota kappa lambda mu\n\
                      nu xi omicron pi rho sigma\ntau upsilon phi chi psi omega\n";

fn cuts(reply: &str, tool: &str, output: &str) -> Vec<(String, u32)> {
    let mut finder = Finder::new(reply);
    finder.scan(EntryId(7), tool, [output.as_bytes()]);
    finder
        .cuts()
        .iter()
        .map(|cut| (reply[cut.start..cut.end].to_owned(), cut.words))
        .collect()
}

#[test]
fn an_exact_copy_of_24_words_goes_and_one_of_23_stays() {
    let reply = format!("Here it is:\n\n{OUTPUT}\nAll fine.");
    assert_eq!(
        cuts(&reply, "run_command", OUTPUT),
        [(OUTPUT.trim_end().to_owned(), 24)]
    );
    let shorter = OUTPUT.replace(" omega", "");
    assert_eq!(cuts(&shorter, "run_command", &shorter), []);
}

#[test]
fn what_differs_stays() {
    for reply in [
        OUTPUT.replace("omicron", "omikron"),
        OUTPUT.replace("nu xi", "one more line\nnu xi"),
        format!("{OUTPUT}and a last line of my own"),
        "nu xi omicron pi rho sigma\nalpha beta gamma delta epsilon zeta\neta theta iota kappa lambda mu\n\
         tau upsilon phi chi psi omega\n"
            .to_owned(),
        "It says \"alpha beta gamma delta epsilon zeta\", which is what we wanted to see in the first place, \
         and nothing else in it matters for the question that you asked me."
            .to_owned(),
    ] {
        assert_eq!(cuts(&reply, "run_command", OUTPUT), [], "{reply}");
    }
}

#[test]
fn line_numbers_and_white_space_of_a_read_file_are_formatting() {
    let output = OUTPUT
        .lines()
        .zip(1..)
        .map(|(line, n)| format!("{n}\t{line}\n"))
        .collect::<Vec<_>>()
        .concat();
    let code = format!("```\n   {}```\n", OUTPUT.replace(' ', "  "));
    assert_eq!(cuts(&code, "read_file", &output).len(), 1);
    assert_eq!(cuts(&output, "read_file", &output).len(), 1);
    assert_eq!(
        cuts(&code, "run_command", &output),
        [],
        "numbers of another tool are content"
    );
}

#[test]
fn a_table_that_restates_the_lines_goes_and_one_with_columns_reordered_stays() {
    let output = (0..8)
        .map(|n| format!("pod-{n}  Running  {n}d  ok\n"))
        .collect::<Vec<_>>()
        .concat();
    let rows = (0..8)
        .map(|n| format!("| pod-{n} | Running | {n}d | ok |\n"))
        .collect::<Vec<_>>()
        .concat();
    let table = format!("| name | state | age | note |\n|---|---|---|---|\n{rows}");
    assert_eq!(
        cuts(&table, "run_command", &output),
        [(table.trim_end().to_owned(), 32)]
    );
    let swapped = (0..8)
        .map(|n| format!("| Running | pod-{n} | {n}d | ok |\n"))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(
        cuts(&format!("| a |\n|---|\n{swapped}"), "run_command", &output),
        []
    );
}

#[test]
fn neighbouring_blocks_of_one_output_are_one_stretch() {
    let (first, second) = OUTPUT.split_at(OUTPUT.find("nu xi").unwrap());
    let reply = format!("{first}\n\n{second}");
    assert_eq!(
        cuts(&reply, "run_command", OUTPUT),
        [(reply.trim_end().to_owned(), 24)]
    );
    let parted = format!("{first}\nand then:\n\n{second}");
    assert_eq!(cuts(&parted, "run_command", OUTPUT), [], "each half has 12 words");
}

#[test]
fn a_block_inside_another_is_found_too() {
    let long = "one two three four five six seven eight nine ten eleven twelve\n";
    let output = format!("a b\n{long}{long}c d\n");
    let reply = format!("a b\n{long}{long}x\n\n{long}{long}");
    assert_eq!(
        cuts(&reply, "run_command", &output),
        [(format!("{long}{long}").trim_end().to_owned(), 24)]
    );
}

/// A build's log of so many bytes, and as much of its middle as a reply has room for.
fn log_and_copy(bytes: usize, copied: usize) -> (String, String) {
    let line = |n: usize| format!("src/module_{n:06}.rs: warning number {n:06} of the whole build log\n");
    let lines = bytes / line(0).len();
    let output = (0..lines).map(line).collect();
    let from = lines / 2;
    (output, (from..from + copied / line(0).len()).map(line).collect())
}

#[test]
fn sixty_four_kibibytes_are_found_in_sixteen_mebibytes_in_twice_the_steps_of_half_of_each() {
    let work = |bytes: usize, copied: usize| {
        let (output, reply) = log_and_copy(bytes, copied);
        let mut finder = Finder::new(&reply);
        finder.scan(EntryId(3), "run_command", output.as_bytes().chunks(4093));
        assert_eq!(finder.cuts().len(), 1);
        finder.work()
    };
    let (half, whole) = (work(8 << 20, 32 << 10), work(16 << 20, 64 << 10));
    assert!(whole <= 2 * half + ENDS, "{half} and {whole}");
}

#[test]
fn repeated_lines_do_not_make_the_search_quadratic() {
    let reply = (1..200)
        .map(|n| format!("{}\n", "y\n".repeat(n)))
        .collect::<Vec<_>>()
        .concat();
    let mut finder = Finder::new(&reply);
    let output = "y\n".repeat(500_000);
    finder.scan(EntryId(3), "run_command", [output.as_bytes()]);
    assert_eq!(finder.cuts().len(), 1);
}

/// Steps by which two halves may differ from the whole, four for each of the 256 pieces an output is made of: an end of a
/// text is no line, and a first line has none before it.
const ENDS: u64 = 1024;
/// What it takes to look for the reply of `hard` in its output, the output `times` as long.
fn work((_, reply, output): Hard, bytes: usize, times: usize) -> u64 {
    let mut finder = Finder::new(&reply(bytes));
    let output = output(bytes * times);
    finder.scan(EntryId(3), "run_command", output.as_bytes().chunks(64 * 1024));
    finder.work()
}

#[test]
fn the_search_takes_twice_the_steps_for_twice_the_text_whatever_it_holds() {
    // A sixteenth of 64 KiB in 16 MiB; the whole of it is measured by `scripts/bench cuts`, and once below.
    for hard in HARD {
        let (half, whole) = (work(hard, 2048, 256), work(hard, 4096, 256));
        assert!(whole <= 2 * half + ENDS, "{}: {half} and {whole}", hard.0);
        let most = 4 * (4096 + 4096 * 256);
        assert!(whole <= most, "{}: {whole} of {most}", hard.0);
    }
}
