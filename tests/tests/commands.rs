//! Commands through the real binary: what they print, how they end, what is kept and what the model is told. Each
//! input is a fault that people reported against programs of this kind.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start programs, lay out files, and fail"
)]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wisp_tests::{Wisp, case, quoted, runs, tool_message};

/// Runs a case through a model that asks for it; returns what the model was told and the kept output.
struct Case {
    told: String,
    kept: Option<(Value, Vec<u8>)>,
    outcome: Value,
    took: Duration,
}

fn run(command: &str) -> Case {
    run_with(command, &json!({}))
}

fn run_with(command: &str, settings: &Value) -> Case {
    let server = runs(command);
    let wisp = Wisp::with(&server);
    let mut config = json!({"model": "sim"});
    for (key, value) in settings.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
    wisp.configure(&config);
    let began = Instant::now();
    let ran = wisp.run(&["--yes", "go"], "");
    assert_eq!(ran.code, Some(0), "{command}: {}", ran.err);
    let outcome = wisp.audit().into_iter().find(|e| e["kind"] == "command.outcome");
    Case {
        told: tool_message(&server),
        kept: wisp.kept().pop(),
        outcome: outcome.map(|e| e["details"].clone()).unwrap_or_default(),
        took: began.elapsed(),
    }
}

fn python(name: &str, arguments: &str) -> String {
    format!("python3 {} {arguments}", quoted(&case(name)))
}

fn shell(name: &str, arguments: &str) -> String {
    format!("sh {} {arguments}", quoted(&case(name)))
}

/// The kept bytes of one stream: its section of the stored file.
fn stream(kept: &(Value, Vec<u8>), name: &str) -> Vec<u8> {
    let sections = kept.0["sections"].as_array().unwrap();
    let section = sections
        .iter()
        .find(|s| s["name"] == name)
        .expect("the stream is kept");
    let at = |field: &str| usize::try_from(section[field].as_u64().unwrap()).unwrap();
    kept.1[at("from")..at("from") + at("bytes")].to_vec()
}

#[test]
fn case_01_one_enormous_line_is_shown_in_part_and_kept_whole() {
    for (argument, bytes, exit) in [("", 300_000, 0), ("nl", 300_001, 0), ("short", 81_921, 0)] {
        let case = run(&python("01-one-line.py", argument));
        let kept = case.kept.expect("it is kept");
        assert_eq!(stream(&kept, "stdout").len(), bytes);
        assert_eq!(case.outcome["exitStatus"], exit);
        assert!(
            case.told.len() <= 16_384 && case.told.len() > 4_000,
            "{}",
            case.told.len()
        );
        assert!(!case.told.contains("no output"));
        assert!(
            case.told.contains("bytes") && case.told.contains("held back"),
            "{}",
            case.told
        );
    }
}

#[test]
fn case_03_carriage_returns_leave_their_last_state() {
    let case = run(&python("03-progress.py", ""));
    let kept = case.kept.expect("71 KiB are kept in their raw bytes");
    let raw = stream(&kept, "stdout");
    assert_eq!(raw.len(), 71_472);
    assert_eq!(String::from_utf8_lossy(&raw).matches('\r').count(), 2_208);
    let lines: Vec<&str> = case
        .told
        .lines()
        .skip_while(|l| *l != "stdout:")
        .skip(1)
        .take(8)
        .collect();
    assert_eq!(lines[0], "Receiving objects: 100% (2000/2000), 1.21 MiB, done.");
    assert_eq!(lines[1], "Successfully rebased and updated refs/heads/tern.");
    assert!(["short", "shortr text"].contains(&lines[2]), "{}", lines[2]);
    assert_eq!(lines[3..], ["alpha", "beta", "done 100%", "xyz", "ready"]);
}

#[test]
fn case_04_escape_sequences_inside_words_are_gone_for_the_model() {
    let case = run(&python("04-ansi.py", ""));
    let lines: Vec<&str> = case.told.lines().skip(2).collect();
    assert_eq!(
        lines[..6],
        [
            "error: boom in gauge 3",
            "build (primary)",
            "see the manual first",
            "step 2 of 9",
            "FAIL\tsrc/tide.c:12",
            "plain",
        ]
    );
    assert!(lines[6].contains("C1 colour"));
    assert_eq!(lines[7], "after a sixel");
    assert!(!case.told.contains('\u{1b}'));
}

#[test]
fn case_05_nul_bytes_are_visible_and_binary_is_said() {
    let case = run(&python("05-nul.py", ""));
    assert!(
        case.told.contains("first line") && case.told.contains("last line"),
        "{}",
        case.told
    );
    assert!(!case.told.contains('\0'));
    let case = run(&python("05-nul.py", "bin"));
    assert!(case.told.contains("binary, 4,100 bytes"), "{}", case.told);
}

#[test]
fn case_06_bytes_that_are_not_utf8_are_replaced_in_the_view_alone() {
    let case = run(&python("06-bad-utf8.py", ""));
    let lines: Vec<&str> = case.told.lines().skip(2).take(8).collect();
    let bad: Vec<usize> = lines.iter().map(|l| l.matches('\u{FFFD}').count()).collect();
    assert_eq!(bad, [3, 2, 2, 3, 1, 4, 0, 1]);
    assert_eq!(lines[6], "7 good: café 漢 🐟");
}

#[test]
fn case_07_characters_split_between_writes_stay_whole() {
    let case = run(&python("07-split-utf8.py", ""));
    let kept = case.kept.expect("it is kept");
    let raw = stream(&kept, "stdout");
    assert_eq!(raw.len(), 77_847);
    let text = String::from_utf8(raw).expect("nothing was cut");
    assert_eq!(
        (text.lines().next(), text.matches('漢').count()),
        (Some("≤ — 漢 🐟"), 4)
    );
    assert!(!case.told.contains('\u{FFFD}'));
}

#[test]
fn case_09_commands_that_never_end_are_stopped_and_say_so() {
    let limit = json!({"commandTimeoutSeconds": 1});
    let endings = [
        ("flood", "tern"),
        ("quiet", "no output"),
        ("drip", "tick"),
        ("progress", ""),
    ];
    for (which, holds) in endings {
        let case = run_with(&shell("09-endless.sh", which), &limit);
        assert!(case.took < Duration::from_secs(8), "{which} took {:?}", case.took);
        assert!(
            case.told.starts_with("timed out after 1 s and was stopped"),
            "{which}: {}",
            case.told
        );
        assert!(case.told.contains(holds), "{which}: {}", case.told);
        assert_eq!(case.outcome["timedOut"], true);
        assert_eq!(case.outcome.get("exitStatus"), None, "{which} is no success");
    }
}

#[test]
fn case_10_a_background_child_that_holds_the_pipe_does_not_hang_the_turn() {
    for which in ["quiet", "late", "noisy", "setsid", "redirected"] {
        let case = run(&shell("10-background.sh", which));
        assert!(case.took < Duration::from_secs(6), "{which} took {:?}", case.took);
        assert_eq!(case.outcome["exitStatus"], 0, "{which}");
        assert!(case.told.contains("foreground done"), "{which}: {}", case.told);
        if which != "redirected" {
            assert!(
                case.told.contains("still held the output"),
                "{which}: {}",
                case.told
            );
        }
    }
}

#[test]
fn case_12_commands_that_ask_are_answered_with_the_end_of_input() {
    for (which, holds) in [
        ("cat", "rc=0"),
        ("read", "rc=1 x=[]"),
        ("input", "EOFError"),
        ("tty", "rc=2"),
        ("password", "rc=1"),
        ("pager", "rc=0"),
    ] {
        let case = run(&shell("12-asks.sh", which));
        assert!(case.told.contains(holds), "{which}: {}", case.told);
        assert!(
            case.took < Duration::from_secs(10),
            "{which} took {:?}",
            case.took
        );
    }
    let editor = run(&shell("12-asks.sh", "editor"));
    assert!(!editor.told.contains("rc=0"), "{}", editor.told);
}

#[test]
fn case_13_noise_on_standard_error_does_not_hide_three_bytes_of_output() {
    let case = run(&python("13-stderr.py", ""));
    let kept = case.kept.expect("it is kept");
    assert_eq!(stream(&kept, "stderr").len(), 8_388_608);
    assert_eq!(stream(&kept, "stdout"), b"ok\n");
    assert!(case.told.contains("\nok\n"), "{}", &case.told[..400]);
    assert!(case.told.contains("held back: stderr lines"), "{}", case.told);
}

#[test]
fn case_14_how_a_command_ended_is_told_as_it_was() {
    for (which, header, exit, holds) in [
        ("kill", "killed by signal 9 (SIGKILL)", json!(null), "partial"),
        ("segv", "killed by signal 11 (SIGSEGV)", json!(null), "partial"),
        ("term", "killed by signal 15 (SIGTERM)", json!(null), "partial"),
        ("code137", "exit status 137", json!(137), ""),
        ("code3", "exit status 3", json!(3), "no output"),
        ("pipe", "exit status 0", json!(0), ""),
        ("pipeline", "exit status 0", json!(0), ""),
        ("okstderr", "exit status 0", json!(0), "stderr:"),
    ] {
        // The line's own shell is replaced, so that it is the script's end that wisp sees.
        let case = run(&format!("exec {}", shell("14-exits.sh", which)));
        assert!(case.told.starts_with(header), "{which}: {}", case.told);
        assert!(case.told.contains(holds), "{which}: {}", case.told);
        assert_eq!(
            case.outcome.get("exitStatus").cloned().unwrap_or_default(),
            exit,
            "{which}"
        );
    }
}

#[test]
fn case_16_the_filter_finds_what_a_person_sees() {
    let command = format!("cat {}", quoted(&case("16-filter.bin")));
    let server = runs(&command);
    let wisp = Wisp::with(&server);
    assert_eq!(wisp.run(&["--yes", "go"], "").code, Some(0));
    let id = wisp.kept()[0].0["id"].as_str().unwrap().to_owned();
    let lines = |pattern: &str| -> Vec<u64> {
        let shown = wisp.run(&["show", &id, "--matching", pattern], "").text();
        // `8: text`, or `8 (bytes 69,000–70,000 of 140,008): …` for a window in a long line.
        let leading = |l: &str| l.split([':', ' ']).next()?.replace(',', "").parse().ok();
        shown.lines().filter_map(leading).collect()
    };
    assert_eq!(lines("^needle$"), [1, 2, 3, 11]);
    assert_eq!(lines("(?-i)needle"), [1, 2, 3, 4, 6, 7, 8, 11, 12]);
    assert_eq!(lines("needle"), [1, 2, 3, 4, 5, 6, 7, 8, 11, 12]);
    assert_eq!(lines(r"a\.b"), [9]);
    assert_eq!(lines("a.b"), [9, 10]);
    assert_eq!(lines("größe"), [7]);
    assert_eq!(lines("no newline$"), [12]);
    assert_eq!(lines("caf. needle"), [8]);
    let refused = wisp.run(&["show", &id, "--matching", "((a{100}){100}){100}"], "");
    assert!(
        refused.text().contains("error") || refused.err.contains("error"),
        "{refused:?}"
    );
}

#[test]
fn an_output_of_exactly_the_budget_is_shown_whole_and_one_byte_more_is_held_back() {
    // 4,096 bytes for a window of 8,192: the header and the frame take 22 of them, the newline one.
    let window = json!({"ollama": {"contextLength": 8192}});
    let frame = "exit status 0\nstdout:\n".len();
    let exact = run_with(&format!("printf '%0{}d\\n' 0", 4_096 - frame - 1), &window);
    assert_eq!(
        (exact.told.len(), exact.kept.is_none()),
        (4_096, true),
        "{}",
        exact.told.len()
    );
    let more = run_with(&format!("printf '%0{}d\\n' 0", 4_096 - frame), &window);
    assert!(
        more.told.len() <= 4_096 && more.told.contains("held back"),
        "{}",
        more.told.len()
    );
    assert_eq!(more.kept.map(|(_, bytes)| bytes.len()), Some(4_097));
}

/// What `wisp summarise` says of a file of the cases.
fn summarised(name: &str) -> String {
    let ran = Wisp::new().run(&["summarise", &case(name).display().to_string()], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.text()
}

#[test]
fn case_17_a_log_is_counted_by_template_and_a_trace_is_not_an_error_of_its_own() {
    let replayed = run(&format!("cat {}; seq 1 20000", quoted(&case("17-service.log"))));
    let log = std::fs::read(case("17-service.log")).unwrap();
    assert!(
        stream(&replayed.kept.unwrap(), "stdout").starts_with(&log),
        "kept byte for byte"
    );
    let text = summarised("17-service.log");
    assert!(text.starts_with("a log (51 lines, "), "{text}");
    assert!(
        text.contains("39 entries, 8 templates: 10 error, 4 warning, 25 info\n"),
        "{text}"
    );
    for row in [
        "error 5× (L1, L2, L6, L9, L50): ERROR gauge: timeout reading",
        "error 3× (L16, L22, L28): ERROR gauge: timeout writing",
        "error 2× (L31, L43): ERROR pool: exhausted",
        "warning 4× (L8, L14, L24, L41): WARN  gauge: retry",
        "info 14× (",
        "info 6× (",
        "info 3× (L7, L12, L29): INFO  batch: finished",
        "info 2× (L5, L13): INFO  cache:",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

#[test]
fn case_18_a_json_document_is_outlined_with_its_numbers_as_written() {
    let text = summarised("18-tree.json");
    for row in [
        "$.id: number 9007199254740993\n",
        "$.wide: number 123456789012345678901234567890\n",
        "$.exact: number 5.107091491635510056019771245\n",
        "$.huge: number 1e400\n",
        "$.minus: number -0\n",
        "$.stations: array[3]\n",
        "1401004938049356981",
        "$[\"\"]: string",
        "$.dup: number 1…2 ×2 (this name 2 times)\n",
        "$[\"a.b\"][\"c/d\"]: boolean true\n",
        "$[\"a.b\"][\"[0]\"]: boolean false\n",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(
        text.starts_with("a JSON document"),
        "no failure is made of its text: {text}"
    );
}
