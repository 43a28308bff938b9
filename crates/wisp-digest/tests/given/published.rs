//! Logs as strangers publish them: a green run is clean whatever words its names and its tests print, an installer's
//! log is a log, and nothing is taken for another tool's.

use wisp_digest::{Content, Digest, Options, Severity, Verdict, View};

use super::common::{bytes, places, roots, warning_lines};

fn read(name: &str, exit: Option<i32>) -> Digest {
    Digest::of(&bytes(&format!("published/{name}")), Options { exit })
}

fn last_word(digest: &Digest) -> Option<u64> {
    digest.outcome.last_word.as_ref().map(|quote| quote.line)
}

#[test]
fn a_green_run_of_a_tool_without_a_reader_is_clean_and_its_own_tally_is_quoted() {
    for exit in [Some(0), None] {
        let digest = read("forge-green.log", exit);
        assert_eq!(digest.outcome.verdict, Verdict::Succeeded);
        assert_eq!((digest.unexplained.count, digest.failures.len()), (0, 0));
        assert_eq!(
            (digest.formats.len(), digest.tallies.len()),
            (0, 0),
            "{:?}",
            digest.formats
        );
        assert_eq!(last_word(&digest), Some(23));
    }
}

#[test]
fn a_step_named_after_an_exception_is_none() {
    for exit in [Some(0), None] {
        let digest = read("xcodebuild-green.log", exit);
        let text = digest.render(4096, View::Notable);
        assert!(text.starts_with("succeeded"), "{text}");
        assert_eq!((last_word(&digest), digest.unexplained.count), (Some(9), 0));
        assert_eq!(warning_lines(&digest), [4]);
    }
}

#[test]
fn an_installers_log_is_one_though_most_lines_continue_an_entry() {
    let digest = read("installer.log", None);
    assert_eq!(
        (digest.content, digest.outcome.verdict),
        (Content::Log, Verdict::Unknown)
    );
    let log = digest.log.expect("a log");
    assert_eq!(log.entries, 6);
    assert_eq!(log.severities, [(Severity::Warning, 1), (Severity::Info, 5)]);
    let outgoing = log.templates.iter().find(|each| each.lines.first == 3);
    assert_eq!(outgoing.map(|each| each.continued), Some(13));
    assert_eq!(read("installer.log", Some(0)).outcome.verdict, Verdict::Succeeded);
}

#[test]
fn an_image_that_got_its_name_was_built() {
    for exit in [Some(0), None] {
        let digest = read("docker-green.log", exit);
        assert_eq!(
            (digest.outcome.verdict, last_word(&digest)),
            (Verdict::Succeeded, Some(13))
        );
        assert_eq!((digest.failures.len(), digest.unexplained.count), (0, 0));
    }
}

#[test]
fn a_header_without_a_rule_ends_where_nothing_is_indented_any_more() {
    let mut log = "FAIL: test_x (tests/t.py:88)\n  AssertionError: 3 != 4\n".to_owned();
    for number in 1..=2_000 {
        log.extend(["ok ", &number.to_string(), " berth\n"]);
    }
    let digest = Digest::of(log.as_bytes(), Options { exit: Some(1) });
    assert_eq!(roots(&digest), [(2, 2)]);
    assert_eq!(places(&digest), ["tests/t.py:88"]);
    assert_eq!(
        digest.failures[0].title,
        "test_x (tests/t.py:88): AssertionError: 3 != 4"
    );
    let explained: Vec<u64> = digest.failures[0]
        .explain
        .iter()
        .map(|quote| quote.line)
        .collect();
    assert_eq!(explained, [2]);
}

#[test]
fn a_services_digest_is_bounded() {
    let mut log = String::new();
    for letter in 'a'..='z' {
        for other in 'a'..='e' {
            let part = format!("2026-03-02T10:14:07Z INFO part {letter}{other}x{letter} is up\n");
            log.push_str(&part);
        }
    }
    let digest = Digest::of(log.as_bytes(), Options::default());
    let text = digest.render(usize::MAX, View::Notable);
    assert_eq!(text.lines().count(), 24, "{text}");
    assert!(
        text.ends_with("  info: 110 templates more of 110 entries\n"),
        "{text}"
    );
    assert_eq!(digest.outcome.verdict, Verdict::Unknown);
}

#[test]
fn colours_whose_escape_is_written_out_are_taken_away() {
    let log = "^[[1m^[[31merror^[[0m^[[K: expected one of `;` or `}`, found `x`\n  ^[[34m-->^[[0m src/main.rs:3:5\n\n\
               ^[[31merror^[[0m: could not compile `tern` (bin \"tern\") due to 1 previous error\n";
    let digest = Digest::of(log.as_bytes(), Options { exit: Some(101) });
    assert_eq!(places(&digest), ["src/main.rs:3:5"]);
    assert_eq!(
        digest.failures[0].title,
        "error: expected one of `;` or `}`, found `x`"
    );
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn a_systems_log_in_which_a_service_failed_has_no_outcome() {
    let log = "Mar 02 10:14:01 harbour kernel: Linux version 6.8.0
Mar 02 10:14:02 harbour systemd[1]: Starting kdump-crash-tools.service - Crash recovery...
Mar 02 10:14:03 harbour systemd[1]: quay.service: Main process exited, code=exited, status=1/FAILURE
Mar 02 10:14:03 harbour systemd[1]: quay.service: Failed with result 'exit-code'.
Mar 02 10:14:03 harbour systemd[1]: Failed to start quay.service - The quay.
Mar 02 10:14:05 harbour systemd[1]: Reached target multi-user.target - Multi-User System.
Mar 02 10:14:07 harbour gauge[812]: level 3.1
Mar 02 10:14:08 harbour gauge[812]: level 3.2
";
    let digest = Digest::of(log.as_bytes(), Options::default());
    assert_eq!(digest.outcome.verdict, Verdict::Unknown);
    assert_eq!(roots(&digest), [(3, 3)]);
    assert!(digest.render(4096, View::Notable).starts_with("a log "));
    let severities = digest.log.expect("a log").severities;
    assert_eq!(severities, [(Severity::Error, 2), (Severity::Info, 6)]);
    let digest = Digest::of(log.as_bytes(), Options { exit: Some(1) });
    assert_eq!(digest.outcome.verdict, Verdict::Failed);
}

#[test]
fn the_references_that_lld_only_counts_are_counted() {
    let log = "ld.lld: error: undefined symbol: nowhere
>>> referenced by main.c
>>>               main.o:(main)
>>> referenced by quay.c
>>>               quay.o:(quay)
>>> referenced by mole.c
>>>               mole.o:(mole)
>>> referenced 4 more times
clang: error: linker command failed with exit code 1 (use -v to see invocation)
";
    let digest = Digest::of(log.as_bytes(), Options { exit: Some(1) });
    let expected = crate::common::counts(&[("missing symbols", 1), ("references", 7)]);
    assert_eq!(crate::common::tally(&digest, "linker"), expected);
    assert!(
        digest.failures[0].title.ends_with("(7 references)"),
        "{:?}",
        digest.failures[0].title
    );
}
