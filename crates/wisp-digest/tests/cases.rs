//! The given cases: each is an output that other programs read wrongly, with the right answer in numbers.

mod common;

use common::{bytes, cascades, case, copies, counts, notes, places, root_lines, roots, tally, warning_lines};
use wisp_digest::{Content, Digest, Kind, Options, Severity, Verdict, View};

#[test]
fn a_service_log_has_eight_templates_over_thirty_nine_entries() {
    let digest = Digest::of(&bytes("cases/17-service.log"), Options::default());
    let log = digest.log.expect("it is a log");
    assert_eq!(
        (digest.content, digest.lines, log.entries, log.templates.len()),
        (Content::Log, 51, 39, 8)
    );
    let found = |part: &str| {
        log.templates
            .iter()
            .find(|each| each.example.text.contains(part))
            .map(|each| each.count)
    };
    let expected = [
        ("GET", 14),
        ("POST", 6),
        ("reading", 5),
        ("writing", 3),
        ("retry", 4),
        ("pool", 2),
        ("batch", 3),
        ("cache", 2),
    ];
    for (part, count) in expected {
        assert_eq!(found(part), Some(count), "{part}");
    }
    assert_eq!(log.templates.iter().map(|each| each.count).sum::<u64>(), 39);
    assert_eq!(
        log.severities,
        [
            (Severity::Error, 10),
            (Severity::Warning, 4),
            (Severity::Info, 25)
        ]
    );
    let pool = log
        .templates
        .iter()
        .find(|each| each.example.text.contains("pool"))
        .expect("pool");
    assert_eq!((pool.continued, &pool.entry_lines[..]), (12, &[31, 43][..]));
    assert_eq!(digest.unexplained.count, 0);
    assert!(digest.failures.is_empty());
}

#[test]
fn a_json_document_keeps_its_numbers_and_its_names() {
    let digest = Digest::of(&bytes("cases/18-tree.json"), Options::default());
    let json = digest.json.as_ref().expect("it is JSON");
    let top: Vec<_> = json.members.iter().filter(|member| member.depth == 1).collect();
    assert_eq!(top.len(), 11);
    assert_eq!(
        top.len() as u64 + top.iter().map(|member| member.duplicates).sum::<u64>(),
        12
    );
    let types = |path: &str| {
        json.members
            .iter()
            .find(|member| member.path == path)
            .map(|member| member.types.as_str())
    };
    assert_eq!(types("$.id"), Some("number 9007199254740993"));
    assert_eq!(types("$.wide"), Some("number 123456789012345678901234567890"));
    assert_eq!(types("$.exact"), Some("number 5.107091491635510056019771245"));
    assert_eq!(types("$.huge"), Some("number 1e400"));
    assert_eq!(types("$.minus"), Some("number -0"));
    assert_eq!(types("$.stations"), Some("array[3]"));
    assert_eq!(types("$.stations[].pos"), Some("object ×2 | null ×1"));
    assert_eq!(types("$.stations[].tags"), Some("array[0…2] ×2 | object ×1"));
    let code = types("$.stations[].code").expect("code");
    assert!(
        code.starts_with("number 1401004938049356981…1401004938049356982 ×2 | string"),
        "{code}"
    );
    for path in [
        "$[\"\"]",
        "$[\"a.b\"]",
        "$[\"a.b\"][\"c/d\"]",
        "$[\"a.b\"][\"[0]\"]",
    ] {
        assert!(types(path).is_some(), "{path}");
    }
    assert!(digest.failures.is_empty() && digest.unexplained.count == 0);
    assert!(
        digest
            .render(4096, View::Notable)
            .contains("dup: number 1…2 ×2 (this name 2 times)")
    );
}

#[test]
fn cargo_check_has_two_causes_in_four_errors_and_five_warnings() {
    let digest = case("20-cargo-check.log", 101);
    assert_eq!((digest.errors(), root_lines(&digest)), (4, vec![2, 28]));
    assert_eq!(
        places(&digest),
        ["core/src/gauge.rs:1:12", "core/src/lib.rs:17:21"]
    );
    let related: Vec<u64> = digest.failures[0].related.iter().map(|each| each.line).collect();
    assert_eq!((digest.failures[0].diagnostics, related), (3, vec![8, 14]));
    assert_eq!(
        (digest.warnings.total, warning_lines(&digest)),
        (5, vec![20, 46, 56, 64, 70])
    );
    assert_eq!(cascades(&digest), [44, 81]);
    assert_eq!(tally(&digest, "cargo"), counts(&[("targets failed", 2)]));
    assert_eq!(digest.unexplained.count, 0);
}

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
    assert_eq!(cascades(&digest), [30, 52, 60]);
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
fn make_j_has_two_failures() {
    let digest = case("24-make-j.log", 2);
    assert_eq!(root_lines(&digest), [4, 24]);
    assert_eq!(places(&digest), ["src/gauge.c:1:10", "src/buoy.c:5:13"]);
    assert!(digest.failures[0].title.contains("tide/tables.h"));
    assert_eq!(cascades(&digest), [8, 30, 32]);
    assert_eq!(
        (digest.warnings.total, warning_lines(&digest)),
        (3, vec![13, 18, 27])
    );
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn promoted_warnings_are_errors() {
    let digest = case("25-werror.log", 2);
    assert_eq!(root_lines(&digest), [8, 11, 17]);
    assert_eq!(places(&digest)[0], "net.c:4:9");
    assert_eq!(warning_lines(&digest), [3]);
    assert_eq!(cascades(&digest), [20, 21, 22]);
}

#[test]
fn a_template_error_points_to_its_use() {
    let digest = case("26-gxx-template.log", 1);
    assert_eq!((digest.errors(), digest.failures.len()), (2, 1));
    assert_eq!(root_lines(&digest), [8]);
    assert_eq!(places(&digest), ["main.cpp:5:26"]);
    let related = &digest.failures[0].related[0];
    assert_eq!(
        (
            related.line,
            related.location.as_ref().map(ToString::to_string).as_deref()
        ),
        (27, Some("main.cpp:4:36"))
    );
    assert_eq!(warning_lines(&digest), [2]);
}

#[test]
fn clang_stops_at_its_limit_and_the_list_is_incomplete() {
    let digest = case("27-clang-limit.log", 1);
    assert_eq!((digest.errors(), root_lines(&digest)), (4, vec![1, 7, 14]));
    assert_eq!(digest.failures[0].related[0].line, 4);
    assert!(notes(&digest, "incomplete"));
    assert_eq!((cascades(&digest), digest.unexplained.count), (vec![17, 18], 0));
}

#[test]
fn four_missing_symbols_of_one_library_are_one_cause() {
    let digest = case("28-ld-undefined.log", 1);
    assert_eq!(roots(&digest), [(1, 1), (3, 14)]);
    assert!(
        digest.failures[0]
            .title
            .contains("multiple definition of `depth_limit'")
    );
    assert_eq!(digest.failures[1].diagnostics, 4);
    assert_eq!(
        tally(&digest, "linker"),
        counts(&[("missing symbols", 4), ("references", 10)])
    );
    assert_eq!((cascades(&digest), digest.unexplained.count), (vec![15], 0));
}

#[test]
fn cmake_has_one_error_of_fifteen_lines() {
    let digest = case("30-cmake-configure.log", 1);
    assert_eq!(roots(&digest), [(21, 35)]);
    assert_eq!(places(&digest), ["CMakeLists.txt:10"]);
    assert!(
        digest.failures[0]
            .title
            .contains("package Polyp, version 2.1, not found")
    );
    assert_eq!((warning_lines(&digest), cascades(&digest)), (vec![17], vec![38]));
    assert_eq!(digest.unexplained.count, 0);
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
fn tsc_says_the_same_plain_and_pretty() {
    let plain = case("41-tsc.log", 2);
    let pretty = case("41-tsc-pretty.log", 2);
    for digest in [&plain, &pretty] {
        assert_eq!((digest.errors(), digest.failures.len()), (10, 8));
        assert_eq!(places(digest)[0], "src/index.ts:2:7");
        let titles: Vec<&str> = digest
            .failures
            .iter()
            .map(|failure| failure.title.split(':').next().unwrap_or(""))
            .collect();
        assert_eq!(
            titles,
            [
                "TS6133", "TS2551", "TS2305", "TS2307", "TS2322", "TS6133", "TS2322", "TS18048"
            ]
        );
        assert!(digest.failures[2].related[0].title.starts_with("TS6133: 'Egret'"));
        assert!(
            digest.failures[3].related[0]
                .title
                .starts_with("TS6133: 'missing'")
        );
        assert_eq!(digest.unexplained.count, 0);
    }
    assert_eq!(roots(&plain)[6], (9, 10));
    assert_eq!(tally(&pretty, "tsc"), counts(&[("errors", 10), ("files", 2)]));
}

#[test]
fn eslint_reads_a_message_of_two_lines() {
    let digest = case("42-eslint.log", 1);
    assert_eq!(root_lines(&digest), [4, 5, 11]);
    let folder = "/srv/build/plover/src";
    assert_eq!(
        places(&digest),
        [
            format!("{folder}/beach.js:4:9"),
            format!("{folder}/beach.js:4:22"),
            format!("{folder}/broken.js:1:23")
        ]
    );
    assert_eq!(
        (digest.warnings.total, warning_lines(&digest)),
        (4, vec![3, 6, 8, 14])
    );
    assert_eq!(
        tally(&digest, "eslint"),
        counts(&[("problems", 7), ("errors", 3), ("warnings", 4)])
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
fn swift_build_prints_an_error_three_times_and_it_counts_once() {
    let digest = case("45-swift-build.log", 1);
    assert_eq!(root_lines(&digest), [6, 29]);
    assert_eq!(
        places(&digest)[0],
        "/srv/build/avocet/Sources/Avocet/Tide.swift:7:15"
    );
    assert_eq!(
        (copies(&digest), cascades(&digest), warning_lines(&digest)),
        (vec![14, 36], vec![4, 43], vec![22])
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
fn dotnet_prints_everything_twice() {
    let digest = case("46-dotnet-fail.log", 1);
    assert_eq!(
        (root_lines(&digest), copies(&digest), warning_lines(&digest)),
        (vec![4, 5], vec![11, 12], vec![6])
    );
    assert!(places(&digest)[0].ends_with("Wade.cs:12:38") && digest.failures[0].title.starts_with("CS0103"));
    assert_eq!(
        tally(&digest, "msbuild"),
        counts(&[("warnings", 1), ("errors", 2)])
    );
}

#[test]
fn dotnet_with_zero_errors_has_none() {
    let digest = case("46-dotnet-ok.log", 0);
    assert_eq!(
        tally(&digest, "msbuild"),
        counts(&[("warnings", 0), ("errors", 0)])
    );
    assert_eq!(
        tally(&digest, "dotnet test"),
        counts(&[("failed", 0), ("passed", 13), ("skipped", 1), ("total", 14)])
    );
    assert_eq!((digest.warnings.total, digest.unexplained.count), (0, 0));
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

#[test]
fn mix_compile_error_has_no_test_count() {
    let digest = case("49-mix-compile.log", 1);
    assert_eq!(
        (root_lines(&digest), places(&digest)),
        (vec![4], vec!["lib/pool.ex:2".to_owned()])
    );
    assert!(digest.tallies.is_empty());
}

#[test]
fn github_actions_has_two_failed_steps() {
    let digest = case("51-github-actions.log", 1);
    assert_eq!(roots(&digest), [(22, 22), (45, 48)]);
    assert_eq!(places(&digest)[1], "src/shore.rs:31:9");
    assert_eq!(digest.failures[1].subject.as_deref(), Some("shore::runs_along"));
    assert_eq!(
        (
            digest.count("cargo test", "passed"),
            digest.count("cargo test", "failed")
        ),
        (Some(2), Some(1))
    );
    let failed: Vec<&str> = digest
        .sections
        .iter()
        .filter(|section| section.verdict == Verdict::Failed)
        .map(|section| section.name.as_str())
        .collect();
    assert_eq!(failed, ["./scripts/docs.sh", "cargo test --locked"]);
    assert!(notes(
        &digest,
        "./scripts/docs.sh (exit 127), cargo test --locked (exit 101)"
    ));
    assert_eq!(
        (warning_lines(&digest), digest.unexplained.count),
        (vec![12, 31], 0)
    );
}

#[test]
fn docker_build_has_two_errors_in_one_step() {
    let digest = case("52-docker-build.log", 1);
    assert_eq!(
        (root_lines(&digest), copies(&digest)),
        (vec![30, 31], vec![45, 46])
    );
    assert_eq!(places(&digest), ["src/server.ts:14:7", "src/wade.ts:3:10"]);
    assert!(notes(
        &digest,
        "step [api 5/5] RUN npm run build failed with exit code 2"
    ));
    assert!(notes(&digest, "Dockerfile:9"));
    let failed: Vec<&str> = digest
        .sections
        .iter()
        .filter(|section| section.verdict == Verdict::Failed)
        .map(|section| section.name.as_str())
        .collect();
    assert_eq!(failed, ["#7 [api 5/5] RUN npm run build"]);
    assert_eq!((warning_lines(&digest), digest.unexplained.count), (vec![29], 0));
}

#[test]
fn the_first_oops_is_the_root() {
    let digest = case("53-kernel.log", 1);
    assert_eq!(
        (root_lines(&digest), cascades(&digest)),
        (vec![9], vec![34, 40, 41])
    );
    assert_eq!(
        digest.failures[0].subject.as_deref(),
        Some("tern_flush_nest+0x2c/0x90 [ternfs]")
    );
    let explain: Vec<u64> = digest.failures[0]
        .explain
        .iter()
        .map(|quote| quote.line)
        .collect();
    assert!(explain.contains(&14) && explain.contains(&16) && explain.contains(&17));
}

#[test]
fn npm_eresolve_is_one_failure() {
    let digest = case("54-npm-eresolve.log", 1);
    assert_eq!(roots(&digest), [(6, 11)]);
    let title = &digest.failures[0].title;
    assert!(
        title.contains("ERESOLVE")
            && title.contains("crest@\"^3.1.0\"")
            && title.contains("peer crest@\"^2.0.0\" from plume@1.4.0"),
        "{title}"
    );
    assert_eq!((warning_lines(&digest), digest.unexplained.count), (vec![1], 0));
}

#[test]
fn a_python_chain_is_one_failure_told_by_its_ends() {
    let digest = case("55-python-chain.log", 1);
    assert_eq!(
        (root_lines(&digest), places(&digest)),
        (vec![30], vec!["/srv/build/otter/job.py:18".to_owned()])
    );
    assert!(digest.failures[0].title.contains("DEFAULT_DEPHT") && digest.failures[0].title.contains("(L9)"));
    let chain: Vec<u64> = digest.failures[0]
        .explain
        .iter()
        .map(|quote| quote.line)
        .collect();
    assert_eq!(chain, [9, 19]);
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn two_java_threads_are_two_exceptions() {
    let digest = case("56-java-causes.log", 1);
    assert_eq!(
        (root_lines(&digest), places(&digest)),
        (
            vec![2, 12],
            vec!["Main.java:23".to_owned(), "Main.java:9".to_owned()]
        )
    );
    assert!(
        digest.failures[1]
            .title
            .starts_with("java.nio.file.NoSuchFileException: depth.txt")
    );
    assert!(digest.failures[1].title.contains("thread main, L5"));
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn a_sanitizer_report_gives_the_own_frames() {
    let digest = case("57-asan.log", 1);
    assert_eq!((root_lines(&digest), cascades(&digest)), (vec![3], vec![24]));
    assert_eq!(places(&digest), ["/srv/build/nudi/slug.c:6"]);
    assert_eq!(digest.failures[0].subject.as_deref(), Some("use"));
    let explain: Vec<u64> = digest.failures[0]
        .explain
        .iter()
        .map(|quote| quote.line)
        .collect();
    for line in [5, 6, 14, 15, 20] {
        assert!(explain.contains(&line), "L{line}");
    }
    assert_eq!(digest.unexplained.count, 0);
}
