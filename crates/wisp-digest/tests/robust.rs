//! Any bytes at all: no panic, the same digest however they are cut, text that fits. (That time is in proportion: `src/linear.rs`.)
#![allow(clippy::disallowed_methods, reason = "tests read their fixtures")]

mod common;

use common::bytes;
use proptest::prelude::*;
use wisp_digest::{
    Content, Digest, Digester, FORMATS, Options, Verdict, View, check, digest_reader, first_error,
    first_error_of,
};

/// Bytes that look random, the same each time.
fn noise(length: usize, mut seed: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        bytes.extend_from_slice(&seed.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn corpus() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for folder in ["cases", "passing"] {
        let path = format!("{}/tests/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(path).expect("the folder exists") {
            let name = entry.expect("an entry").file_name();
            found.push(bytes(&format!("{folder}/{}", name.to_string_lossy())));
        }
    }
    found
}

#[test]
fn nothing_is_empty_and_says_so() {
    let digest = Digest::of(b"", Options { exit: Some(0) });
    assert_eq!((digest.content, digest.lines), (Content::Empty, 0));
    assert!(digest.render(200, View::Notable).contains("no output at all"));
}

#[test]
fn noise_is_binary_and_says_so() {
    let digest = Digest::of(&noise(100_000, 7), Options::default());
    assert_eq!(digest.content, Content::Binary);
    assert!(digest.failures.is_empty() && digest.render(200, View::Notable).starts_with("binary"));
}

#[test]
fn a_failed_command_without_output_failed() {
    let digest = Digest::of(b"", Options { exit: Some(3) });
    assert_eq!(digest.outcome.verdict, Verdict::Failed);
    assert!(digest.render(200, View::Notable).contains("exit 3"));
}

#[test]
fn unknown_text_with_a_failing_exit_shows_its_ends() {
    let digest = Digest::of(b"one\ntwo\nthree\n", Options { exit: Some(3) });
    let text = digest.render(400, View::Notable);
    assert!(
        text.starts_with("failed: exit 3") && text.contains("L1 one") && text.contains("L3 three"),
        "{text}"
    );
}

#[test]
fn a_number_of_lines_is_kept_to() {
    let digest = Digest::of(&bytes("cases/24-make-j.log"), Options { exit: Some(2) });
    let whole = digest.render_lines(usize::MAX, View::Notable);
    for most in [0, 1, 2, 5, whole.lines().count() - 1] {
        let text = digest.render_lines(most, View::Notable);
        assert_eq!(text.lines().count(), most, "{text}");
    }
    assert!(
        digest.render_lines(5, View::Notable).contains("L4–6")
            && digest.render_lines(5, View::Notable).contains("L24–26")
    );
    assert_eq!(digest.render_lines(whole.lines().count(), View::Notable), whole);
}

#[test]
fn a_digest_of_digests_is_a_digest() {
    for bytes in corpus() {
        let text = Digest::of(&bytes, Options::default()).render(8_192, View::Notable);
        let again = Digest::of(text.as_bytes(), Options::default());
        assert!(!again.render(1_024, View::Notable).is_empty());
    }
}

#[test]
fn every_case_cut_anywhere_keeps_the_promises() {
    for bytes in corpus() {
        assert_eq!(check(&bytes), Ok(()));
        for part in [bytes.len() / 3, bytes.len() / 2, bytes.len() * 4 / 5] {
            assert_eq!(check(&bytes[..part]), Ok(()), "start");
            assert_eq!(check(&bytes[part..]), Ok(()), "end");
        }
    }
}

#[test]
fn a_reader_gives_the_same_digest_and_the_same_first_error() {
    let log = bytes("cases/24-make-j.log");
    let whole = Digest::of(&log, Options { exit: Some(2) });
    assert_eq!(
        digest_reader(&log[..], Options { exit: Some(2) }).expect("memory does not fail"),
        whole
    );
    let first = first_error(&log).expect("the compiler stated an error");
    assert_eq!(
        (first.line, first.text.as_str()),
        (4, "src/gauge.c:1:10: tide/tables.h: No such file or directory")
    );
    assert_eq!(
        first_error_of(&log[..]).expect("memory does not fail"),
        Some(first)
    );
}

/// A log that remembers how much it was asked for at a time.
struct Asked<'a> {
    log: &'a [u8],
    asked: Vec<usize>,
}

impl std::io::Read for Asked<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        self.asked.push(room.len());
        self.log.read(room)
    }
}

#[test]
fn a_short_log_is_read_into_little_room_and_a_long_one_64_kib_at_a_time() {
    let asked = |length: usize| {
        let log = vec![b'x'; length];
        let mut reader = Asked {
            log: &log,
            asked: Vec::new(),
        };
        digest_reader(&mut reader, Options::default()).expect("memory does not fail");
        reader.asked
    };
    assert_eq!(asked(8191), [8192, 8192]);
    assert_eq!(asked(8192), [8192, 65536]);
    assert_eq!(asked(8192 + 65536 + 1), [8192, 65536, 65536, 65536]);
}

#[test]
fn a_line_of_sixteen_mebibytes_is_one_line() {
    let mut log = b"first\n".to_vec();
    log.extend(b"error: x ".repeat(16 * 1024 * 1024 / 9));
    log.extend(b"\nsrc/a.c:1:2: error: 'x' undeclared\n");
    let digest = Digest::of(&log, Options::default());
    assert_eq!((digest.lines, digest.failures.len()), (3, 1));
    assert_eq!(digest.failures[0].lines.first, 3);
}

#[test]
fn deep_json_is_safe() {
    let deep = [b"[".repeat(1_000_000), b"]".repeat(1_000_000)].concat();
    assert!(Digest::of(&deep, Options::default()).failures.is_empty());
    let less = [b"[".repeat(5_000), b"]".repeat(5_000)].concat();
    assert_eq!(Digest::of(&less, Options::default()).content, Content::Json);
}

#[test]
fn json_lines_are_told_from_one_document() {
    let digest = Digest::of(
        b"{\"id\": 1}\n{\"id\": 2, \"error\": \"no\"}\n",
        Options::default(),
    );
    let json = digest.json.expect("JSON Lines");
    assert_eq!((digest.content, json.documents), (Content::JsonLines, 2));
    let member = json
        .members
        .iter()
        .find(|member| member.path == "$.error")
        .expect("a member");
    assert_eq!((member.present, member.objects), (Some(1), 2));
}

#[test]
fn sarif_results_are_findings() {
    let sarif = br#"{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}},
"results": [
 {"ruleId": "error-none", "level": "note", "message": {"text": "fine"}},
 {"ruleId": "sql-injection", "level": "error", "message": {"text": "query from input"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "src/db.rs"}, "region": {"startLine": 9, "startColumn": 5}}}]}
]}]}"#;
    let digest = Digest::of(sarif, Options::default());
    assert_eq!((digest.failures.len(), digest.failures[0].lines.first), (1, 4));
    assert_eq!(
        digest.failures[0]
            .location
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("src/db.rs:9:5")
    );
    assert_eq!(digest.count("sarif results", "results"), Some(2));
}

#[test]
fn memory_is_bounded_by_what_is_reported() {
    let mut digester = Digester::new(Options::default());
    for at in 0..50_000 {
        digester.push(
            format!(
                "src/a{at}.c:{at}:2: error: expected ';' before '}}' token\nwarning: w{at}\n[job{at}] x\n"
            )
            .as_bytes(),
        );
    }
    let digest = digester.finish();
    assert_eq!(digest.failures.len() as u64 + digest.more_failures, 50_000);
    assert!(serde_json::to_string(&digest).expect("plain data").len() < 1_000_000);
}

#[test]
fn the_table_is_in_order() {
    let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert!(names.len() >= 45);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FORMATS.len(), "a name stands twice");
    assert!(
        FORMATS
            .iter()
            .all(|format| !format.version.is_empty() && !format.recognises.is_empty())
    );
}

fn line() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "error",
        "error:",
        "warning:",
        "FAILED",
        "FAIL",
        "test a ...",
        "ok",
        "panicked at",
        "thread 'a'",
        "src/a.c:1:2:",
        "a.ts(1,2):",
        "TS1:",
        "---- a stdout ----",
        "failures:",
        "=== RUN",
        "--- FAIL: A",
        "[ RUN      ]",
        "A.B",
        "Traceback (most recent call last):",
        "Caused by:",
        "\tat a.B(C.java:1)",
        "##[group]Run x",
        "##[endgroup]",
        "#7 1.234",
        "[web]",
        "{",
        "}",
        "[1,",
        "\u{1b}[31m",
        "\r",
        "é漢",
        "==1==ERROR:",
        "@@ -1,2 +1,2 @@",
        "+++ b/x",
        "--- a/x",
        "1) x",
        "E  x",
        "___ x ___",
        "=== FAILURES ===",
        "<testcase name=\"a\">",
        "not ok 1",
        "2026-03-02T10:14:07Z",
        "ERROR",
        "INFO",
        "│",
        "╵",
        "npm error",
        "make: ***",
        "***Failed",
        " Test #1:",
        "1/2",
    ]);
    prop::collection::vec(words, 0..6).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_keep_the_promises(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        prop_assert_eq!(check(&bytes), Ok(()));
    }

    #[test]
    fn any_lines_of_formats_keep_the_promises(lines in prop::collection::vec(line(), 0..120)) {
        prop_assert_eq!(check(lines.join("\n").as_bytes()), Ok(()));
    }
}

#[test]
fn how_deep_a_document_goes_below_its_outline_is_said() {
    let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let outline =
        |levels| Digest::of(nested(levels).as_bytes(), Options::default()).render(4_096, View::Notable);
    assert!(
        outline(600).contains("$.a.a.a.a.a.a.a.a: object, 591 levels deeper"),
        "{}",
        outline(600)
    );
    assert!(outline(10).contains("object, 1 level deeper"), "{}", outline(10));
    assert!(!outline(9).contains("deeper"), "{}", outline(9));
}
