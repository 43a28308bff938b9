//! Fitting at the exact byte: the list of what must hold.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use wisp_output::content::{MemoryContent, Section};
use wisp_output::fit::{Cut, FirstError, Fitted, Keeping, Signals, Telling, Whole, fit};
use wisp_output::store::About;
use wisp_output::{Context, Output, Place, Presented, Store, Stream, ToolBudget, present};

fn kept() -> Keeping {
    Keeping::Kept {
        id: "3f9a2c1b".into(),
        lines: 0,
        cut: None,
    }
}

fn telling() -> Telling {
    Telling {
        keeping: kept(),
        memory: true,
        ..Telling::default()
    }
}

fn fitted(bytes: &[u8], budget: usize, telling: &Telling) -> Fitted {
    let content = MemoryContent::whole(bytes);
    let lines = support::lines(bytes);
    let binary = wisp_output::clean::is_binary(bytes);
    let all = [Section {
        name: None,
        from: 0,
        bytes: bytes.len() as u64,
        line: 1,
        lines,
        number: 1,
        binary,
    }];
    let fitted = fit(
        Whole {
            content: &content,
            sections: &all,
            lines,
        },
        budget,
        telling,
    )
    .unwrap();
    assert!(fitted.text.len() <= budget, "{} > {budget}", fitted.text.len());
    fitted
}

fn command(home: &tempfile::TempDir, output: Output<'_>, budget: usize) -> Presented {
    let store = Store::new(home.path(), "session").unwrap();
    let context = Context {
        id: "3f9a2c1b00000001",
        about: About {
            exit: Some("exit status 0".into()),
            ..About::default()
        },
        budget,
        memory: true,
        command: true,
        now: "2026-11-30T09:00:00Z".parse().unwrap(),
        first_error: None,
    };
    present(output, Place::Store(&store), &context)
}

const WINDOWS: [u64; 6] = [0, 8_192, 53_248, 131_072, 1_000_000, 53_249];

#[test]
fn a_result_of_exactly_the_budget_is_whole_and_one_byte_more_is_not() {
    for window in WINDOWS {
        let budget = ToolBudget::for_window(window).bytes();
        let line = b"0123456789abcde\n";
        let exact: Vec<u8> = line.iter().copied().cycle().take(budget).collect();
        let shown = fitted(&exact, budget, &telling());
        assert!(shown.is_whole() && shown.text.as_bytes() == exact);
        let more: Vec<u8> = line.iter().copied().cycle().take(budget + 1).collect();
        let shown = fitted(&more, budget, &telling());
        assert_eq!(shown.held.len(), 1);
        assert!(
            shown.text.len() > budget - 160,
            "the room is used: {} of {budget}",
            shown.text.len()
        );
    }
}

#[test]
fn one_line_longer_than_the_budget_is_shown_at_both_ends_and_counted_in_bytes() {
    let mut line = "head".to_owned();
    line.push_str(&"x".repeat(299_992));
    line.push_str("tail");
    let shown = fitted(line.as_bytes(), 4_096, &telling());
    let [held] = &shown.held[..] else {
        panic!("one stretch")
    };
    assert_eq!((held.from_line, held.to_line), (1, 1));
    let (from, to) = held.within.unwrap();
    assert_eq!(to - from + 1, held.bytes);
    assert!(shown.text.starts_with("headxxxx"));
    let grouped = wisp_output::amount::grouped;
    assert!(shown.text.contains(&format!(
        "\n[… {} bytes of line 1 held back …]\n",
        grouped(held.bytes)
    )));
    assert!(shown.text.contains(&format!(
        "tail\nheld back: bytes {}–{} of line 1 (",
        grouped(from),
        grouped(to)
    )));
    let shown_bytes = shown
        .text
        .lines()
        .filter(|line| line.ends_with('x') || line.ends_with("tail"))
        .map(str::len)
        .sum::<usize>();
    assert_eq!(shown_bytes as u64 + held.bytes, 300_000);
}

#[test]
fn empty_and_blank_outputs_are_themselves() {
    for bytes in [b"".as_slice(), b"\n", b"\n\n\n"] {
        assert_eq!(fitted(bytes, 4_096, &telling()).text.as_bytes(), bytes);
    }
    let newlines = vec![b'\n'; 10_000];
    let shown = fitted(&newlines, 4_096, &telling());
    let [held] = &shown.held[..] else {
        panic!("one stretch")
    };
    assert_eq!(held.lines(), held.bytes);
    let blank = shown.text.lines().filter(|line| line.is_empty()).count() as u64;
    assert_eq!(blank + held.lines(), 10_000);
}

#[test]
fn crlf_lines_lose_their_cr_in_the_view_and_keep_it_in_the_counts() {
    let log = b"a line that ends as on Windows\r\n".repeat(1_000);
    let shown = fitted(&log, 4_096, &telling());
    assert!(!shown.text.contains('\r'));
    assert_eq!(shown.held[0].bytes % 32, 0);
    assert_eq!(shown.held[0].bytes / 32, shown.held[0].lines());
}

#[test]
fn no_character_is_cut_wherever_the_cut_falls() {
    for lead in 0..4 {
        for budget in 2_000..2_012 {
            let text = format!("{}{}", "a".repeat(lead), "漢🐟".repeat(2_000));
            let shown = fitted(text.as_bytes(), budget, &telling());
            assert!(!shown.text.contains('\u{fffd}'), "{lead} {budget}");
        }
    }
}

#[test]
fn an_error_in_the_part_held_back_is_quoted_cleaned_and_cut_to_160_bytes() {
    let mut log: Vec<String> = (1..=2_000).map(|line| format!("line {line}")).collect();
    log[999] = format!("\u{1b}[31merror\u{1b}[0m: {}", "漢".repeat(100));
    let text = log.join("\n");
    let error = FirstError {
        line: 1_000,
        text: log[999].clone(),
        known: true,
    };
    let signals = Signals {
        exit: Some("killed by signal 9 (SIGKILL)".into()),
        first_error: Some(error),
    };
    let shown = fitted(
        text.as_bytes(),
        4_096,
        &Telling {
            signals: signals.clone(),
            ..telling()
        },
    );
    let quote = shown
        .text
        .split("first error at line 1,000: \"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert!(
        quote.len() <= 160 && quote.len() > 155 && quote.starts_with("error: 漢漢") && quote.ends_with('…')
    );
    assert!(
        shown
            .text
            .contains("; killed by signal 9 (SIGKILL), first error at line 1,000: ")
    );

    let seen = FirstError {
        line: 2,
        text: "line 2".into(),
        known: true,
    };
    let signals = Signals {
        first_error: Some(seen),
        ..signals
    };
    let shown = fitted(text.as_bytes(), 4_096, &Telling { signals, ..telling() });
    assert!(
        shown.text.contains(", first error at line 2; the whole output"),
        "in sight, not quoted"
    );
    assert!(
        shown.text.len() > 4_096 - 160,
        "the room for the quotation is used: {}",
        shown.text.len()
    );
}

#[test]
fn without_memory_the_note_names_no_tool_and_a_cut_is_never_called_whole() {
    let log = "a line\n".repeat(3_000);
    let lines = 3_000;
    let keeping = Keeping::Kept {
        id: "3f9a2c1b".into(),
        lines,
        cut: None,
    };
    let without = Telling {
        keeping,
        command: true,
        ..Telling::default()
    };
    let note = fitted(log.as_bytes(), 4_096, &without)
        .text
        .lines()
        .last()
        .unwrap()
        .to_owned();
    assert!(note.ends_with("; the whole output is kept for the person as output 3f9a2c1b (3,000 lines); do not run the command again to see it"), "{note}");
    assert!(!note.contains("memory") && !note.contains("recall"));
    let cut = Some(Cut {
        bytes: 1_056_964_608,
        lines: 16_515_072,
        ceiling: 16 << 20,
        passed: true,
    });
    let keeping = Keeping::Kept {
        id: "3f9a2c1b".into(),
        lines,
        cut,
    };
    let note = fitted(log.as_bytes(), 4_096, &Telling { keeping, ..telling() })
        .text
        .lines()
        .last()
        .unwrap()
        .to_owned();
    assert!(!note.contains("the whole output"), "{note}");
    assert!(note.contains("but for 16,515,072 lines (1,056,964,608 bytes), which passed the ceiling of 16 MiB and were not kept"), "{note}");
}

#[test]
fn a_short_stream_is_not_crowded_out_by_a_long_one() {
    let noise = [b'.'; 63]
        .iter()
        .copied()
        .chain([b'\n'])
        .collect::<Vec<u8>>()
        .repeat(131_072);
    assert_eq!(noise.len(), 8_388_608);
    let home = tempfile::tempdir().unwrap();
    let streams = vec![
        Stream::whole(Some("stdout"), b"ok\n".as_slice()),
        Stream::whole(Some("stderr"), &noise),
    ];
    let shown = command(&home, Output::command("exit status: 0", streams, ""), 4_096);
    assert!(
        shown
            .text
            .starts_with("exit status: 0\nstdout:\nok\nstderr:\n....."),
        "{}",
        shown.text
    );
    assert_eq!(shown.kept.unwrap().record.sections[1].bytes, 8_388_608);

    let home = tempfile::tempdir().unwrap();
    let short = "an error in words\n".repeat(200);
    let streams = vec![
        Stream::whole(Some("stdout"), &noise),
        Stream::whole(Some("stderr"), short.as_bytes()),
    ];
    let shown = command(&home, Output::command("exit status: 1", streams, ""), 8_192);
    let words = shown
        .text
        .lines()
        .filter(|line| *line == "an error in words")
        .count();
    assert!(
        words * 18 >= (8_192 - 700) / 5 - 60,
        "at least a fifth of the room: {}",
        words * 18
    );
    assert!(words < 100, "and no more than its part: {words}");
    assert_eq!(shown.held.len(), 2);
}

#[test]
fn a_binary_is_named_and_not_given() {
    let mut bytes = b"\x7fELF".to_vec();
    bytes.extend((0..16).flat_map(|_| 0..=255u8));
    let home = tempfile::tempdir().unwrap();
    let streams = vec![Stream::whole(Some("stdout"), &bytes)];
    let shown = command(&home, Output::command("exit status: 0", streams, ""), 26_624);
    assert!(
        shown
            .text
            .starts_with("exit status: 0\nstdout:\n[binary, 4,100 bytes]\nheld back: stdout lines 1–17 "),
        "{}",
        shown.text
    );
    assert!(
        shown
            .text
            .contains("(binary, 4,100 bytes); exit status 0; the whole output is kept as output 3f9a2c1b")
    );
    assert_eq!(shown.kept.unwrap().record.sections[0].bytes, 4_100);

    let text = b"first line\nkey\0value\n\0\0\0\nlast line\n";
    let shown = command(
        &home,
        Output::command(
            "exit status: 0",
            vec![Stream::whole(Some("stdout"), text.as_slice())],
            "",
        ),
        4_096,
    );
    assert_eq!(
        shown.text,
        "exit status: 0\nstdout:\nfirst line\nkey␀value\n␀␀␀\nlast line\n"
    );
}

#[test]
fn progress_that_cleans_to_a_line_is_shown_whole_and_kept_raw() {
    let frames: Vec<u8> = (1..=5_000).fold(Vec::new(), |mut raw, at| {
        raw.extend(format!("\rdownloading {at} of 5000").into_bytes());
        raw
    });
    let home = tempfile::tempdir().unwrap();
    let shown = command(&home, Output::text(&frames), 4_096);
    assert_eq!(shown.text, "downloading 5000 of 5000");
    assert!(shown.held.is_empty());
    assert_eq!(shown.kept.unwrap().record.bytes, frames.len() as u64);
}

#[test]
fn a_budget_too_small_for_words_still_shows_a_sign() {
    let log = "a line\n".repeat(300);
    for budget in 0..200 {
        let shown = fitted(log.as_bytes(), budget, &telling());
        assert!(!shown.held.is_empty());
        assert!(budget < 3 || shown.text.contains('…'), "{budget}: {}", shown.text);
    }
}
