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
