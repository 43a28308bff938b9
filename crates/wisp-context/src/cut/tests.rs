//! What is cut and, more important, what is not.

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

#[test]
fn sixteen_mebibytes_stream_past_a_reply_of_sixty_kibibytes() {
    let line = |n: usize| format!("src/module_{n}.rs: warning number {n} of the whole build log here\n");
    let reply: String = (40_000..40_900).map(line).collect();
    assert!(reply.len() > 60_000);
    let output: String = (0..240_000).map(line).collect();
    let mut finder = Finder::new(&reply);
    finder.scan(EntryId(3), "run_command", output.as_bytes().chunks(4093));
    assert_eq!(finder.cuts().len(), 1);
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
