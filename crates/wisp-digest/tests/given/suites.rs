//! The given cases of test runners.

use crate::common::{cascades, case, copies, counts, notes, places, root_lines, roots, tally, warning_lines};
use wisp_digest::{Kind, View};

#[test]
fn cargo_test_keeps_a_message_of_two_lines() {
    let digest = case("21-cargo-test.log", 101);
    assert_eq!(roots(&digest), [(17, 21), (42, 43)]);
    assert_eq!(
        tally(&digest, "cargo test"),
        counts(&[("passed", 6), ("failed", 2), ("ignored", 1)])
    );
    let first = &digest.failures[0];
    let text: Vec<&str> = first.explain.iter().map(|quote| quote.text.trim()).collect();
    let message = "assertion `left == right` failed: lamp 3 should be brighter";
    assert_eq!(
        text,
        [message, "than the spec sheet says", "left: 12", "right: 13"]
    );
    assert_eq!(first.subject.as_deref(), Some("tests::lumens_doubles"));
    assert_eq!(places(&digest), ["src/lib.rs:38:9", "tests/charge.rs:13:55"]);
    assert_eq!(cascades(&digest), [30, 52, 60, 61, 62]);
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn a_green_cargo_test_that_prints_failures_is_green() {
    let digest = case("21-cargo-test-green.log", 0);
    assert_eq!(
        tally(&digest, "cargo test"),
        counts(&[("passed", 6), ("failed", 0), ("ignored", 0)])
    );
    assert_eq!((digest.warnings.total, digest.unexplained.count), (0, 0));
}

#[test]
fn ctest_around_googletest_has_five_things_to_mend() {
    let digest = case("32-ctest.log", 8);
    assert_eq!(roots(&digest), [(11, 16), (25, 28), (46, 46), (49, 49), (52, 52)]);
    assert_eq!(digest.failures[2].kind, Kind::Crash);
    assert_eq!(digest.failures[4].subject.as_deref(), Some("missing_tool"));
    let ctest: Vec<_> = ["run", "passed", "failed", "disabled"]
        .map(|name| digest.count("ctest", name))
        .into();
    assert_eq!(ctest, [Some(5), Some(1), Some(4), Some(1)]);
    let gtest: Vec<_> = ["run", "passed", "failed", "disabled"]
        .map(|name| digest.count("googletest", name))
        .into();
    assert_eq!(gtest, [Some(4), Some(2), Some(2), Some(1)]);
    assert_eq!((copies(&digest), digest.unexplained.count), (vec![36, 37], 0));
}

#[test]
fn go_test_counts_leaves_and_packages() {
    let digest = case("33-go-test.log", 2);
    assert_eq!(root_lines(&digest), [2, 7, 31, 41]);
    assert_eq!(
        places(&digest),
        [
            "feed/feed.go:10:9",
            "/srv/build/shoal/depth/depth.go:3",
            "net_test.go:13",
            "net_test.go:23"
        ]
    );
    assert_eq!(digest.failures[2].subject.as_deref(), Some("TestSum/two"));
    assert_eq!(digest.failures[3].subject.as_deref(), Some("TestNested/a/b/c"));
    assert!(
        digest.failures[1]
            .explain
            .iter()
            .any(|quote| quote.text.contains("depth_test.go:12"))
    );
    let leaves: Vec<_> = ["failed", "passed", "skipped"]
        .map(|name| digest.count("go test", name))
        .into();
    assert_eq!(leaves, [Some(3), Some(5), Some(1)]);
    assert_eq!(digest.count("go packages", "failed"), Some(3));
    assert_eq!(digest.count("go packages", "without tests"), Some(1));
    assert!(notes(
        &digest,
        "the package stopped at the panic of TestAtPastEnd"
    ));
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn pytest_tells_failures_from_errors_and_chains() {
    let digest = case("35-pytest.log", 1);
    assert_eq!(root_lines(&digest), [15, 24, 35, 47]);
    assert!(
        digest.failures[3]
            .title
            .contains("surfaced as otter.GaugeError: gauge file unreadable, L67")
    );
    let expected = [
        ("failed", 2),
        ("passed", 6),
        ("skipped", 1),
        ("xfailed", 1),
        ("xpassed", 1),
        ("warnings", 1),
        ("errors", 2),
    ];
    for (name, number) in expected {
        assert_eq!(digest.count("pytest", name), Some(number), "{name}");
    }
    assert_eq!(copies(&digest), [77, 78, 79, 80]);
    assert_eq!((digest.warnings.total, warning_lines(&digest)), (1, vec![72]));
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn pytest_that_collects_nothing_is_no_green_run() {
    let digest = case("36-pytest-collect.log", 2);
    assert_eq!(root_lines(&digest), [12]);
    assert!(
        digest.failures[0]
            .title
            .contains("ModuleNotFoundError: No module named 'otter.kelp'")
    );
    assert_eq!(places(&digest), ["tests/test_kelp.py:1"]);
    assert_eq!(tally(&digest, "pytest"), counts(&[("collection errors", 1)]));
    assert!(!digest.render(8192, View::Notable).contains("passed"));
}

#[test]
fn jest_counts_a_suite_that_does_not_load() {
    let digest = case("38-jest.log", 1);
    assert_eq!(roots(&digest), [(21, 22), (37, 37)]);
    assert_eq!(
        places(&digest),
        ["test/nest.test.js:9:57", "test/roost.test.js:1:38"]
    );
    assert_eq!(
        tally(&digest, "jest suites"),
        counts(&[("failed", 2), ("passed", 1), ("total", 3)])
    );
    assert_eq!(
        tally(&digest, "jest tests"),
        counts(&[
            ("failed", 1),
            ("skipped", 1),
            ("todo", 1),
            ("passed", 3),
            ("total", 6)
        ])
    );
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn vitest_names_the_file_and_the_test() {
    let digest = case("39-vitest-load.log", 1);
    assert_eq!(root_lines(&digest), [13, 30]);
    assert_eq!(
        places(&digest),
        ["test/load.test.ts:2:1", "test/song.test.ts:5:69"]
    );
    assert!(digest.failures[1].title.contains("song > adds two to two"));
    assert_eq!(
        tally(&digest, "vitest files"),
        counts(&[("failed", 2), ("passed", 1)])
    );
    assert_eq!(
        tally(&digest, "vitest tests"),
        counts(&[("failed", 1), ("passed", 2)])
    );
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn maven_has_four_things_to_mend_in_two_modules() {
    let digest = case("43-maven.log", 1);
    assert_eq!(root_lines(&digest), [34, 39, 60, 63]);
    let main = "/srv/build/curlew/cli/src/main/java/test/curlew/cli/Main.java";
    assert_eq!(
        places(&digest),
        [
            "ReaderTest.java:22".to_owned(),
            "Reader.java:41".to_owned(),
            format!("{main}:14:9"),
            format!("{main}:27:31")
        ]
    );
    assert_eq!(
        tally(&digest, "maven tests"),
        counts(&[("run", 9), ("failures", 1), ("errors", 1), ("skipped", 1)])
    );
    assert_eq!(
        tally(&digest, "maven modules"),
        counts(&[("succeeded", 2), ("failed", 2), ("skipped", 1)])
    );
    assert_eq!(
        (warning_lines(&digest), copies(&digest)),
        (vec![18], vec![47, 49, 84, 87])
    );
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn swift_test_counts_tests_not_assertions() {
    let digest = case("45-swift-test.log", 1);
    assert_eq!(roots(&digest), [(10, 11), (28, 28)]);
    assert_eq!(
        tally(&digest, "xctest"),
        counts(&[("run", 3), ("passed", 1), ("failed", 1), ("skipped", 1)])
    );
    assert_eq!(
        tally(&digest, "swift testing"),
        counts(&[("run", 2), ("passed", 1), ("failed", 1)])
    );
    assert_eq!(places(&digest)[1], "MudTests.swift:11:9");
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn rspec_pending_examples_did_not_fail() {
    let digest = case("48-rspec.log", 1);
    assert_eq!(roots(&digest), [(28, 28), (37, 38)]);
    assert_eq!(
        places(&digest),
        ["./spec/hoard_spec.rb:16", "./spec/hoard_spec.rb:9"]
    );
    assert_eq!(
        tally(&digest, "rspec"),
        counts(&[("examples", 6), ("failures", 2), ("pending", 2)])
    );
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn rspec_that_does_not_load_failed() {
    let digest = case("48-rspec-outside.log", 1);
    assert_eq!(
        (root_lines(&digest), places(&digest)),
        (vec![8], vec!["./spec/nest_spec.rb:1".to_owned()])
    );
    assert_eq!(digest.count("rspec", "errors outside of examples"), Some(1));
}

#[test]
fn mix_test_keeps_the_warning_that_explains_a_failure() {
    let digest = case("49-mix-test.log", 2);
    assert_eq!(roots(&digest), [(13, 16), (25, 25)]);
    assert_eq!(
        places(&digest),
        ["test/stream_test.exs:4", "test/stream_test.exs:11"]
    );
    assert_eq!(
        tally(&digest, "exunit"),
        counts(&[("tests", 4), ("passed", 1), ("failures", 2), ("skipped", 1)])
    );
    assert_eq!(warning_lines(&digest), [2, 5]);
    assert!(
        digest
            .notes
            .iter()
            .any(|note| note.line == 5 && note.text.contains("Dipper.Gravel.count/1"))
    );
    assert_eq!(digest.unexplained.count, 0);
}
