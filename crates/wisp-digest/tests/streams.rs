//! How logs arrive: in UTF-16, in a runner's sections, cut off at either end, two runs in one.

mod common;

use common::{bytes, cascades, root_lines};
use wisp_digest::{Digest, Digester, Options, Verdict, View};

fn failed(log: &[u8]) -> Digest {
    Digest::of(log, Options { exit: Some(1) })
}

/// The text as Windows PowerShell redirects it: UTF-16 with a mark and returns.
fn redirected(text: &str) -> Vec<u8> {
    let text = text.replace('\n', "\r\n");
    let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
    units.flat_map(|unit: u16| unit.to_le_bytes()).collect()
}

#[test]
fn a_redirect_of_powershell_reads_as_what_was_printed() {
    let plain = String::from_utf8(bytes("cases/24-make-j.log")).expect("the case is UTF-8");
    let (wide, narrow) = (failed(&redirected(&plain)), failed(plain.as_bytes()));
    assert_eq!(root_lines(&wide), [4, 24]);
    assert_eq!(
        (&wide.failures, &wide.warnings),
        (&narrow.failures, &narrow.warnings)
    );
    assert_eq!((wide.lines, wide.bytes), (32, redirected(&plain).len() as u64));
}

#[test]
fn could_not_compile_is_cargos_own_word_though_other_crates_go_on() {
    let log = b"\
   Compiling tern v0.1.0 (/srv/tern)
error[E0425]: cannot find value `depth` in this scope
 --> src/lib.rs:2:5
  |
2 |     depth
  |     ^^^^^ not found in this scope
   Compiling syn v2.0.90
warning: unused variable: `x`
 --> src/tide.rs:1:8
  |
1 | fn a(x: u8) {}
  |      ^ help: if this is intentional, prefix it with an underscore: `_x`
warning: `tern` (lib) generated 1 warning
error: could not compile `tern` (lib) due to 1 previous error; 1 warning emitted
   Compiling serde v1.0.219
warning: build failed, waiting for other jobs to finish...
error: could not compile `gull` (bin) due to 2 previous errors
";
    let digest = failed(log);
    assert_eq!(root_lines(&digest), [2]);
    assert_eq!(
        digest.failures[0].explain.len(),
        4,
        "{:?}",
        digest.failures[0].explain
    );
    assert_eq!(digest.unexplained.count, 0, "{:?}", digest.unexplained);
    assert_eq!(digest.warnings.total, 1);
    assert_eq!(cascades(&digest), [14, 16, 17]);
    assert_eq!(digest.count("cargo", "targets failed"), Some(2));
}

const GITLAB: &[u8] = b"\x1b[0KRunning with gitlab-runner 17.4.0 (b92ee590)\x1b[0;m
section_start:1717171700:prepare_executor\r\x1b[0K\x1b[0K\x1b[36;1mPreparing the \"docker\" executor\x1b[0;m
Using docker image sha256:0a1b for rust:1.95 ...
section_end:1717171710:prepare_executor\r\x1b[0Ksection_start:1717171710:step_script\r\x1b[0K\x1b[36;1mExecuting \"step_script\" stage of the job script\x1b[0;m
\x1b[32;1m$ make\x1b[0;m
section_start:1717171711:compile[collapsed=true]\r\x1b[0KCompile
src/gauge.c:3:4: error: 'depth' undeclared (first use in this function)
    3 |    depth++;
      |    ^~~~~
section_end:1717171720:compile\r\x1b[0K
make: *** [Makefile:2: gauge.o] Error 1
section_end:1717171721:step_script\r\x1b[0K
section_start:1717171721:cleanup_file_variables\r\x1b[0K\x1b[36;1mCleaning up project directory and file based variables\x1b[0;m
section_end:1717171722:cleanup_file_variables\r\x1b[0K\x1b[31;1mERROR: Job failed: exit code 2\x1b[0;m
";

#[test]
fn gitlab_sections_are_sections_with_their_lines_and_ends() {
    let digest = failed(GITLAB);
    let sections: Vec<(&str, u64, u64, Verdict)> = digest
        .sections
        .iter()
        .map(|section| {
            (
                section.name.as_str(),
                section.lines.first,
                section.lines.last,
                section.verdict,
            )
        })
        .collect();
    assert_eq!(
        sections,
        [
            ("prepare_executor", 2, 4, Verdict::Unknown),
            ("step_script", 4, 12, Verdict::Failed),
            ("compile", 6, 10, Verdict::Failed),
            ("cleanup_file_variables", 13, 14, Verdict::Unknown),
        ]
    );
    assert_eq!((root_lines(&digest), cascades(&digest)), (vec![7], vec![11, 14]));
    assert_eq!(digest.unexplained.count, 0, "{:?}", digest.unexplained);
    let failure = &digest.failures[0];
    assert_eq!((failure.lines.last, failure.section), (9, Some(2)));
}

#[test]
fn a_section_mark_ends_what_was_open() {
    let log = b"section_start:1:build\r\x1b[0KBuild
error[E0425]: cannot find value `depth` in this scope
 --> src/lib.rs:2:5
section_end:2:build\r\x1b[0K
  next: 1 of 2
";
    let digest = failed(log);
    assert_eq!(root_lines(&digest), [2]);
    assert_eq!(
        (digest.failures[0].lines.last, digest.failures[0].explain.len()),
        (3, 1)
    );
}

/// What a ring buffer or `tail -c` leaves: the log begins in the middle of a block.
#[test]
fn a_log_without_its_start_keeps_the_failures_that_are_whole() {
    let log = b"ed value `x` in this scope
 --> src/lib.rs:9:5
  |
9 |     x
  |     ^ not found in this scope

error[E0308]: mismatched types
  --> src/tide.rs:4:12
   |
4  |     let a: u8 = \"b\";
   |                 ^^^ expected `u8`, found `&str`

error: could not compile `tern` (lib) due to 2 previous errors
";
    let digest = failed(log);
    assert_eq!(root_lines(&digest), [7]);
    assert_eq!(digest.failures[0].lines.last, 11);
}

/// What a timeout leaves: the log ends in the middle of a block.
#[test]
fn a_log_without_its_end_reports_the_block_it_breaks_off_in() {
    let log = b"error[E0308]: mismatched types\n  --> src/tide.rs:4:12\n   |\n4  |     let a: u8 = \"b";
    let digest = failed(log);
    assert_eq!((digest.lines, root_lines(&digest)), (4, vec![1]));
    assert_eq!(digest.failures[0].lines.last, 4);
    let python =
        b"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    run()\n  File";
    assert_ne!(failed(python).outcome.verdict, Verdict::Succeeded);
}

#[test]
fn the_same_error_in_two_runs_of_one_log_is_told_once_with_both_places() {
    let run = "src/gauge.c:3:4: error: 'depth' undeclared (first use in this function)\nmake: *** [Makefile:2: gauge.o] Error 1\n";
    let digest = failed([run, run].concat().as_bytes());
    assert_eq!(root_lines(&digest), [1]);
    assert_eq!(digest.failures[0].copy_lines, [3]);
    assert_eq!(cascades(&digest), [2, 4]);
}

/// A run that failed, was mended and went well: the last word counts, and the failure is still told.
#[test]
fn a_failed_run_before_a_good_one_is_still_told() {
    let log = b"\
error[E0425]: cannot find value `depth` in this scope
 --> src/lib.rs:2:5

error: could not compile `tern` (lib) due to 1 previous error
   Compiling tern v0.1.0 (/srv/tern)
    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.21s
";
    let digest = Digest::of(log, Options::default());
    assert_eq!(root_lines(&digest), [1]);
    assert!(digest.render(2_000, View::Notable).contains("L1"));
}

#[test]
fn a_margin_of_an_exception_group_is_told_from_other_marks() {
    let log = "  + Exception Group Traceback (most recent call last):\n  ● errors › counts twice\n  |\n  é\n";
    for end in 0..=log.len() {
        assert_eq!(wisp_digest::check(&log.as_bytes()[..end]), Ok(()), "{end}");
    }
}

#[test]
fn nodes_tap_says_both_sides_of_an_assertion() {
    let log = b"TAP version 13
not ok 1 - adds
  ---
  location: '/srv/a.test.js:2:1'
  error: |-
    Expected values to be strictly equal:
    
    2 !== 3
    
  code: 'ERR_ASSERTION'
  ...
1..1
";
    let title = &failed(log).failures[0].title;
    assert_eq!(title, "adds: Expected values to be strictly equal: 2 !== 3");
}

#[test]
fn a_line_in_two_pieces_is_what_it_is_in_one() {
    let mut log = b"[web] error: no such file\n".to_vec();
    for at in 0..80 {
        log.extend(format!("copied tile_{at}.png\n").into_bytes());
    }
    let start = log.len();
    log.extend(b"[web] done\n[db] up\n");
    let whole = Digest::of(&log, Options::default());
    for cut in start..log.len() {
        let mut digester = Digester::new(Options::default());
        digester.push(&log[..cut]);
        digester.push(&log[cut..]);
        assert_eq!(digester.finish(), whole, "cut at {cut}");
    }
}

#[test]
fn recipes_of_one_make_that_fail_beside_each_other_are_each_a_failure() {
    let log = b"\
b: warning: careful
ls: cannot access 'missing-dir': No such file or directory
make: *** [Makefile:5: b] Error 2
made a
c done
make: *** [Makefile:7: c] Error 1
make: Target 'all' not remade because of errors.
";
    let digest = failed(log);
    assert_eq!((root_lines(&digest), cascades(&digest)), (vec![3, 6], vec![7]));
    // The outer make only reports what the inner one said.
    let nested = failed(b"make[1]: *** [Makefile:2: x] Error 3\nmake: *** [Makefile:5: sub] Error 2\n");
    assert_eq!((root_lines(&nested), cascades(&nested)), (vec![1], vec![2]));
}

#[test]
fn what_a_test_of_ctest_prints_under_verbose_is_no_failure_of_the_run() {
    let log = b"\
test 2
    Start 2: bad
test 1
    Start 1: good

2: Test command: /b/a \"3\"
2: Test timeout computed to be: 1500
1: Test command: /b/a \"0\"
2: error count: 3
1/2 Test #2: bad ..............................***Failed    0.00 sec
1: error count: 0
2/2 Test #1: good .............................   Passed    0.00 sec

50% tests passed, 1 tests failed out of 2

The following tests FAILED:
\t  2 - bad (Failed)
Errors while running CTest
";
    let digest = failed(log);
    assert_eq!(digest.unexplained.count, 0, "{:?}", digest.unexplained);
    assert_eq!(root_lines(&digest), [10]);
    let quoted: Vec<u64> = digest.failures[0]
        .explain
        .iter()
        .map(|quote| quote.line)
        .collect();
    assert_eq!(quoted, [9], "its own line, not that of the test beside it");
}
