//! The given cases of compilers, linkers, linters and the tools that run them.

use wisp_digest::{Digest, Options};

use crate::common::{cascades, case, copies, counts, notes, places, root_lines, roots, tally, warning_lines};

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
        let related = digest.failures.iter().flat_map(|failure| &failure.related);
        let mut codes: Vec<(u64, &str)> = digest
            .failures
            .iter()
            .map(|failure| (failure.lines.first, failure.title.as_str()))
            .chain(related.map(|each| (each.line, each.title.as_str())))
            .collect();
        codes.sort_unstable();
        let codes: Vec<&str> = codes
            .iter()
            .filter_map(|(_, title)| title.split(':').next())
            .collect();
        let all = "TS6133 TS2551 TS2305 TS6133 TS6133 TS2307 TS2322 TS6133 TS2322 TS18048";
        assert_eq!(codes.join(" "), all);
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
fn mix_compile_error_has_no_test_count() {
    let digest = case("49-mix-compile.log", 1);
    assert_eq!(
        (root_lines(&digest), places(&digest)),
        (vec![4], vec!["lib/pool.ex:2".to_owned()])
    );
    assert!(digest.tallies.is_empty());
}

#[test]
fn a_progress_line_of_another_job_is_no_part_of_a_diagnostics_block() {
    for progress in [
        "[3/6] Building C object CMakeFiles/tern.dir/main.c.o",
        "[ 50%] Building C object CMakeFiles/tern.dir/main.c.o",
        "  CC [M]  drivers/quay.o",
        "CC quay.o",
        "make[2]: Entering directory '/srv/tern'",
        "gcc -Wall -c -o quay.o quay.c",
    ] {
        let log = format!(
            "b.c:1:16: error: 'zz' undeclared (first use in this function)
    1 | int b(){{return zz;}}
{progress}
      |                ^~
b.c:1:16: note: each undeclared identifier is reported only once for each function it appears in
{progress}
c.c:9:2: warning: unused variable 'y' [-Wunused-variable]
{progress}
    9 |  int y;
{progress}
d.c:2:1: error: expected ';'
"
        );
        let digest = Digest::of(log.as_bytes(), Options { exit: Some(1) });
        assert_eq!(roots(&digest), [(1, 4), (11, 11)], "{progress}");
        let explained: Vec<u64> = digest.failures[0]
            .explain
            .iter()
            .map(|quote| quote.line)
            .collect();
        assert_eq!(explained, [2, 4, 5], "{progress}");
        assert_eq!(warning_lines(&digest), [7], "{progress}");
        assert_eq!(digest.unexplained.count, 0, "{progress}");
    }
}

#[test]
fn a_rule_that_yamllint_has_in_parentheses_is_named_without_them() {
    let log = "a.yaml
  1:1       warning  missing document start \"---\"  (document-start)
  2:1       error    duplication of key \"a\" in mapping  (key-duplicates)

";
    let digest = Digest::of(log.as_bytes(), Options { exit: Some(1) });
    assert_eq!(
        digest.failures[0].title,
        "duplication of key \"a\" in mapping (key-duplicates)"
    );
    assert_eq!(digest.warnings.kinds[0].kind, "document-start");
}
