//! Chains of causes in the forms in which languages and test runners print them: one failure each, told by its reason,
//! also where a message has an empty line in it.

use wisp_digest::{Digest, Options};

use super::common::{cascades, places, root_lines};

fn failed(log: &str) -> Digest {
    Digest::of(log.as_bytes(), Options { exit: Some(1) })
}

/// The only failure's line, place and title; nothing is left over.
fn only(log: &str) -> (u64, String, String) {
    let digest = failed(log);
    assert_eq!(root_lines(&digest).len(), 1, "{:#?}", digest.failures);
    assert_eq!(digest.unexplained.count, 0, "{:?}", digest.unexplained);
    let title = digest.failures[0].title.clone();
    (root_lines(&digest)[0], places(&digest).remove(0), title)
}

#[test]
fn a_chain_of_pythons_goes_on_after_a_message_with_an_empty_line() {
    let log = "Traceback (most recent call last):
  File \"/srv/chain.py\", line 5, in mid
    low()
  File \"/srv/chain.py\", line 3, in low
    raise ValueError(\"no gauge\\n\\nerror: none known\")
ValueError: no gauge named 'weir'

error: known gauges failed

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File \"/srv/chain.py\", line 10, in top
    mid()
  File \"/srv/chain.py\", line 8, in mid
    raise RuntimeError(\"the table could not be read\") from e
RuntimeError: the table could not be read

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File \"/srv/chain.py\", line 14, in <module>
    top()
  File \"/srv/chain.py\", line 13, in top
    raise KeyError(\"station\")
KeyError: 'station'
";
    let title = "KeyError: 'station'; first: ValueError: no gauge named 'weir' (L6)";
    assert_eq!(only(log), (26, "/srv/chain.py:13".to_owned(), title.to_owned()));
}

#[test]
fn a_member_of_an_exception_group_is_told_by_its_reason() {
    let member = |number: u32| {
        format!(
            "    | Traceback (most recent call last):
    |   File \"/srv/group.py\", line 3, in a
    |     {{}}[\"depth\"]
    | KeyError: 'depth'
    |{number}
    | The above exception was the direct cause of the following exception:
    |
    | Traceback (most recent call last):
    |   File \"/srv/group.py\", line 8, in <module>
    |     f()
    | OSError: cannot open the pond
"
        )
        .replace(&format!("|{number}\n"), "|\n")
    };
    let log = format!(
        "  + Exception Group Traceback (most recent call last):
  |   File \"/srv/group.py\", line 10, in <module>
  |     raise ExceptionGroup(\"two readings failed\", es)
  | ExceptionGroup: two readings failed (2 sub-exceptions)
  +-+---------------- 1 ----------------
{}    +---------------- 2 ----------------
{}    +------------------------------------
",
        member(1),
        member(2)
    );
    let title = "ExceptionGroup: two readings failed (2 sub-exceptions): KeyError: 'depth' (surfaced as OSError: \
                 cannot open the pond, L16)";
    assert_eq!(only(&log), (9, "/srv/group.py:3".to_owned(), title.to_owned()));
}

#[test]
fn a_test_of_unittests_is_told_by_the_reason_of_its_chain() {
    let log = "E
======================================================================
ERROR: test_a (__main__.T.test_a)
----------------------------------------------------------------------
Traceback (most recent call last):
  File \"/srv/test_chain.py\", line 4, in mid
    try: low()
         ~~~^^
  File \"/srv/test_chain.py\", line 2, in low
    def low(): raise ValueError(\"no gauge\")
ValueError: no gauge named 'weir'

known gauges: lock, mill

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File \"/srv/test_chain.py\", line 7, in test_a
    def test_a(self): mid()
  File \"/srv/test_chain.py\", line 5, in mid
    except ValueError as e: raise RuntimeError(\"the table\") from e
RuntimeError: the table could not be read

----------------------------------------------------------------------
Ran 1 test in 0.001s

FAILED (errors=1)
";
    let title = "test_a (__main__.T.test_a): ValueError: no gauge named 'weir' (surfaced as RuntimeError: the table \
                 could not be read, L22)";
    assert_eq!(
        only(log),
        (11, "/srv/test_chain.py:2".to_owned(), title.to_owned())
    );
}

#[test]
fn an_error_of_nodes_has_its_causes_and_members_and_its_source_is_none() {
    let log = "/srv/agg.js:1
throw new AggregateError([new Error(\"no route to mill\"), new Error(\"no route to lock\")], \"all stations failed\");
^

AggregateError: all stations failed
    at Object.<anonymous> (/srv/agg.js:1:7)
    at node:internal/main/run_main_module:28:49 {
  [errors]: [
    Error: no route to mill
        at Object.<anonymous> (/srv/agg.js:1:27)
        at node:internal/main/run_main_module:28:49,
    Error: no route to lock

    known: none
        at Object.<anonymous> (/srv/agg.js:1:58)
  ]
}

Node.js v20.20.2
";
    let title = "AggregateError: all stations failed; of: Error: no route to mill; Error: no route to lock";
    assert_eq!(only(log), (5, "/srv/agg.js:1:7".to_owned(), title.to_owned()));
}

#[test]
fn a_suppressed_exceptions_cause_is_not_the_reason() {
    let log = "Exception in thread \"main\" java.lang.RuntimeException: station failed
\tat Chain.main(Chain.java:6)
\tSuppressed: java.io.IOException: close failed
\t\tat Chain.main(Chain.java:7)
\tCaused by: java.lang.RuntimeException: pipe gone
\t\t... 1 more
";
    let digest = failed(log);
    assert_eq!(
        only(log),
        (
            1,
            "Chain.java:6".to_owned(),
            "java.lang.RuntimeException: station failed".to_owned()
        )
    );
    assert!(digest.outcome.last_word.is_none(), "{:?}", digest.outcome);
}

/// Surefire's report of a test, and Maven's own exception after it.
const SUREFIRE: &str = "[INFO]  T E S T S
[ERROR] test.tern.TableTest.opens -- Time elapsed: 0.011 s <<< ERROR!
java.lang.IllegalStateException: Could not open the table

Path: harbour.db
\tat test.tern.Table.open(Table.java:14)
Caused by: test.tern.NoDriver: no driver for harbour.db

Known drivers: pond
\tat test.tern.Driver.find(Driver.java:33)
\t... 3 more
Caused by: java.io.IOException: disk full
\tat test.tern.Disk.write(Disk.java:7)
\t... 4 more

[INFO] Results:
[INFO] 
[ERROR] Tests run: 3, Failures: 0, Errors: 1, Skipped: 0
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.5.0:test (default-test) on project tern: There are test failures. -> [Help 1]
org.apache.maven.lifecycle.LifecycleExecutionException: Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.5.0:test (default-test) on project tern: There are test failures.

Please refer to /srv/tern/target/surefire-reports for the individual test results.
    at org.apache.maven.lifecycle.internal.MojoExecutor.doExecute (MojoExecutor.java:316)
Caused by: org.apache.maven.plugin.MojoFailureException: There are test failures.

Please refer to /srv/tern/target/surefire-reports for the individual test results.
    at org.apache.maven.plugin.surefire.SurefireHelper.throwException (SurefireHelper.java:272)
[ERROR] 
[ERROR] Re-run Maven using the -X switch to enable full debug logging.
";

#[test]
fn a_test_reports_chain_has_messages_with_empty_lines_and_mavens_own_exception_follows_from_it() {
    let title = "TableTest.opens: java.io.IOException: disk full (surfaced as java.lang.IllegalStateException: Could \
                 not open the table, L3)";
    assert_eq!(only(SUREFIRE), (12, "Disk.java:7".to_owned(), title.to_owned()));
    assert_eq!(cascades(&failed(SUREFIRE)), [18, 19, 20, 21, 25]);
}

#[test]
fn a_chain_within_an_entry_of_a_log_has_messages_with_empty_lines() {
    let log = "10:14:07.001 [main] INFO  test.tern.Main - starting
10:14:07.114 [main] INFO  test.tern.Main - table harbour
10:14:08.201 [main] ERROR test.tern.Main - could not start
test.tern.OpenException: no table

Table: harbour
\tat test.tern.Table.open(Table.java:9)
Caused by: test.tern.LoadException: not read

Row: 3
\tat test.tern.Load.read(Load.java:12)
\t... 2 common frames omitted
Caused by: java.io.IOException: disk full
\tat test.tern.Disk.write(Disk.java:7)
\t... 3 common frames omitted
";
    let title = "java.io.IOException: disk full (surfaced as test.tern.OpenException: no table, L4)";
    assert_eq!(only(log), (13, "Disk.java:7".to_owned(), title.to_owned()));
}

#[test]
fn an_exception_of_dotnets_has_messages_with_empty_lines() {
    let log = "Unhandled exception. System.InvalidOperationException: The table could not be opened.

Path: harbour.db
 ---> Tern.LoadException: Row 3 is not a row.

Row: ,,
 ---> System.IO.IOException: No space left on device
   at Tern.Disk.Write(String text) in /srv/tern/Disk.cs:line 7
   --- End of inner exception stack trace ---
   at Tern.Table.Open() in /srv/tern/Table.cs:line 9
   --- End of inner exception stack trace ---
   at Tern.Program.Main(String[] args) in /srv/tern/Program.cs:line 5
";
    let title = "System.IO.IOException: No space left on device (surfaced as System.InvalidOperationException: The \
                 table could not be opened., L1)";
    assert_eq!(only(log), (7, "/srv/tern/Disk.cs:7".to_owned(), title.to_owned()));
}

#[test]
fn tests_of_dotnets_that_fail_for_one_inner_exception_have_one_cause() {
    let test = |name: &str| {
        format!(
            "  Failed Tern.Tests.TableTest.{name} [3 ms]
  Error Message:
   System.InvalidOperationException : The table could not be opened.

Path: harbour.db
---- System.IO.IOException : No space left on device
  Stack Trace:
     at Tern.Table.Open() in /srv/tern/Table.cs:line 9
----- Inner Stack Trace -----
   at Tern.Disk.Write(String text) in /srv/tern/Disk.cs:line 7
"
        )
    };
    let log = format!(
        "{}{}\nFailed!  - Failed:     2, Passed:     4, Skipped:     0, Total:     6, Duration: 21 ms\n",
        test("Opens"),
        test("Closes")
    );
    let title = "Tern.Tests.TableTest.Opens: System.IO.IOException : No space left on device (surfaced as \
                 System.InvalidOperationException : The table could not be opened., L3)";
    assert_eq!(
        only(&log),
        (6, "/srv/tern/Disk.cs:7".to_owned(), title.to_owned())
    );
    assert_eq!(failed(&log).failures[0].diagnostics, 2);
}

#[test]
fn an_example_of_rspecs_is_told_by_what_caused_its_error() {
    let log = "..F

Failures:

  1) Table opens
     Failure/Error: raise Tern::OpenError, \"could not open the table\"

     Tern::OpenError:
       could not open the table
     # ./lib/table.rb:9:in `rescue in open'
     # ./spec/table_spec.rb:5:in `block (2 levels) in <top (required)>'
     # ------------------
     # --- Caused by: ---
     # Errno::ENOSPC:
     #   No space left on device
     #   ./lib/disk.rb:7:in `write'

Finished in 0.01 seconds (files took 0.1 seconds to load)
3 examples, 1 failure
";
    let title = "Table opens: Errno::ENOSPC: No space left on device (surfaced as Tern::OpenError: could not open the \
                 table, L9)";
    assert_eq!(only(log), (15, "./lib/table.rb:9".to_owned(), title.to_owned()));
}

#[test]
fn a_test_of_rusts_is_told_by_the_last_cause_of_the_error_it_returned_or_unwrapped() {
    let causes = "
Caused by:
    0: row 3 is not a row
       
       row: ,,
    1: No space left on device (os error 28)

Stack backtrace:
   0: tern::read
             at ./src/main.rs:2:70

";
    let log = format!(
        "running 3 tests
test closes ... FAILED
test opens ... FAILED
test unwraps ... FAILED

failures:

---- closes stdout ----
Error: could not close the table
{causes}
---- opens stdout ----
Error: could not open the table
{causes}
---- unwraps stdout ----

thread 'unwraps' (28189) panicked at src/main.rs:7:59:
called `Result::unwrap()` on an `Err` value: could not open the table
{causes}

failures:
    closes
    opens
    unwraps

test result: FAILED. 0 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.54s
"
    );
    let digest = failed(&log);
    let titles: Vec<(&str, u64)> = digest
        .failures
        .iter()
        .map(|failure| (failure.title.as_str(), failure.diagnostics))
        .collect();
    assert_eq!(
        titles,
        [
            (
                "closes: No space left on device (os error 28) (surfaced as could not close the table, L9)",
                2
            ),
            (
                "unwraps panicked: No space left on device (os error 28) (surfaced as called `Result::unwrap()` on an \
                 `Err` value: could not open the table, L39)",
                1
            ),
        ]
    );
}

#[test]
fn tests_of_nodes_whose_errors_have_one_reason_have_one_cause() {
    let test = |name: &str, line: u32| {
        format!(
            "test at cause.test.js:{line}:1
✖ {name} (1.155041ms)
  Error: the table could not be read
      at mid (/srv/cause.test.js:3:50)
      at TestContext.<anonymous> (/srv/cause.test.js:{line}:19)
      ... 6 lines matching cause stack trace ...
      at node:internal/process/task_queues:140:7 {{
    [cause]: TypeError [Error]: no gauge named 'weir'
        at low (/srv/cause.test.js:2:23)
        at mid (/srv/cause.test.js:3:23)
  }}

"
        )
    };
    let log = format!(
        "ℹ tests 2\nℹ fail 2\n\n✖ failing tests:\n\n{}{}",
        test("reads", 4),
        test("writes", 9)
    );
    let title =
        "reads: TypeError: no gauge named 'weir' (surfaced as Error: the table could not be read, L8)";
    assert_eq!(only(&log), (13, "cause.test.js:4:1".to_owned(), title.to_owned()));
    assert_eq!(failed(&log).failures[0].diagnostics, 2);
}

#[test]
fn tests_of_gos_that_fail_at_one_place_with_one_text_have_one_cause() {
    let log = "--- FAIL: TestE (0.00s)
    --- FAIL: TestE/x (0.00s)
        main_test.go:7: read table: no gauge named 'weir'
    --- FAIL: TestE/y (0.00s)
        main_test.go:7: read table: no gauge named 'weir'
    --- FAIL: TestE/z (0.00s)
        main_test.go:7: read table: no gauge named 'lock'
FAIL
FAIL\texample.test/gauge\t0.003s
FAIL
";
    let digest = failed(log);
    let counts: Vec<(u64, u64)> = digest
        .failures
        .iter()
        .map(|failure| (failure.lines.first, failure.diagnostics))
        .collect();
    assert_eq!(counts, [(3, 2), (7, 1)]);
}
