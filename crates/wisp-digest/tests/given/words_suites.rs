//! What the text of a digest says of the given cases of test runners, word for word.

use crate::words::{Words, check};

const TEST_RUNS: &[Words] = &[
    Words {
        name: "21-cargo-test.log",
        exit: 101,
        says: &[
            "2 errors to fix:",
            "L17–21 tests::lumens_doubles panicked: assertion `left == right` failed: lamp 3 should be brighter",
            "L19 than the spec sheet says",
            "L42–43 chained panicked: ",
            "set off 1 line (L30)",
            "set off 4 lines (L52, L60, L61, L62)",
            "cargo test: 6 passed, 2 failed, 1 ignored (L28–58)",
        ],
        not_cited: &[],
        never: &["tidy_doc"],
    },
    Words {
        name: "21-cargo-test-green.log",
        exit: 0,
        says: &["cargo test: 6 passed, 0 failed, 0 ignored (L16–35)"],
        not_cited: &[7, 8, 11, 13, 22],
        never: &["warning", "to fix", "not explained"],
    },
    Words {
        name: "32-ctest.log",
        exit: 8,
        says: &[
            "5 errors to fix:",
            "L11–16 Spines.GrowsBySix",
            "L25–28 Venom.Colour",
            "set off 2 lines (L3, L39)",
            "L46 inflate: Exception: SegFault",
            "L49 deflate: Timeout after 1.00 sec",
            "L52 Could not find executable no_such_tool_xyz — missing_tool",
            "googletest: 4 run, 2 passed, 2 failed, 1 disabled",
            "ctest: 1 disabled, 5 run, 1 passed, 4 failed (L71–73)",
        ],
        not_cited: &[],
        never: &["error_paths"],
    },
    Words {
        name: "33-go-test.log",
        exit: 2,
        says: &[
            "4 errors to fix:",
            "L2 undefined: undefinedMeal — feed/feed.go:10:9",
            "L7 TestAtPastEnd: panic: runtime error: index out of range [5] with length 2 — /srv/build/shoal/depth/depth.go:3",
            "/srv/build/shoal/depth/depth_test.go:12",
            "L31 TestSum/two",
            "L41 TestNested/a/b/c",
            "go test: 5 passed, 3 failed, 1 skipped",
            "go packages: 3 failed, 1 not built, 1 without tests",
            "the package stopped at the panic of TestAtPastEnd: tests after it have no result (L7)",
        ],
        not_cited: &[48],
        never: &["7 failed"],
    },
    Words {
        name: "35-pytest.log",
        exit: 1,
        says: &[
            "4 errors to fix:",
            "L15 ERROR at setup of test_dive: RuntimeError: pool is drained",
            "L24 ERROR at teardown of test_net: ValueError: net torn on teardown",
            "L35 test_table[3-10]: assert 9 == 10",
            "L47 test_gauge: FileNotFoundError",
            "(surfaced as otter.GaugeError: gauge file unreadable, L67)",
            "pytest: 2 failed, 6 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 warning, 2 errors (L81)",
            "\n1 warning:\n  1× DeprecationWarning (L72)",
        ],
        not_cited: &[],
        never: &[],
    },
    Words {
        name: "36-pytest-collect.log",
        exit: 2,
        says: &[
            "1 error to fix:",
            "L12 ERROR collecting tests/test_kelp.py: ModuleNotFoundError: No module named 'otter.kelp' — tests/test_kelp.py:1",
            "pytest: 1 collection error (L15)",
            "0 tests ran: collection was interrupted (L15)",
        ],
        not_cited: &[],
        never: &["no tests", "passed"],
    },
    Words {
        name: "38-jest.log",
        exit: 1,
        says: &[
            "2 errors to fix:",
            "L21–22 nest › in spring › doubles twice",
            "test/nest.test.js:9",
            "L37 test/roost.test.js: Cannot find module '../src/roost'",
            "jest suites: 2 failed, 1 passed, 3 total (L50)",
            "jest tests: 1 failed, 1 skipped, 1 todo, 3 passed, 6 total (L51)",
        ],
        not_cited: &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        never: &[],
    },
    Words {
        name: "39-vitest-load.log",
        exit: 1,
        says: &[
            "2 errors to fix:",
            "L13 test/load.test.ts: Error: Cannot find module '../src/trill'",
            "test/load.test.ts:2:1",
            "L21 Caused by: Error: Failed to load url ../src/trill",
            "L30 test/song.test.ts > song > adds two to two",
            "test/song.test.ts:5:69",
            "vitest files: 2 failed, 1 passed (L52)",
            "vitest tests: 1 failed, 2 passed (L53)",
        ],
        not_cited: &[6, 7],
        never: &[],
    },
];

#[test]
fn test_runs() {
    check(TEST_RUNS);
}

const MORE_TEST_RUNS: &[Words] = &[
    Words {
        name: "43-maven.log",
        exit: 1,
        says: &[
            "4 errors to fix:",
            "L34 ReaderTest.readsHeader: ",
            "ReaderTest.java:22",
            "L39 ReaderTest.closesTwice: ",
            "Reader.java:41",
            "L60–62 cannot find symbol",
            "printed again 1× (L84)",
            "L63 incompatible types",
            "printed again 1× (L87)",
            "maven tests: 9 run, 1 failure, 1 error, 1 skipped",
            "maven modules: 2 succeeded, 2 failed, 1 skipped (L69–73)",
            "\n1 warning:\n  1× deprecation (L18)",
        ],
        not_cited: &[],
        never: &["ErrorCodeTest", "curlew-app"],
    },
    Words {
        name: "45-swift-test.log",
        exit: 1,
        says: &[
            "2 errors to fix:",
            "L10–11 TideTests.testSpring",
            "L28 probes(): Expectation failed: (probe.depth → 4) == 5 — MudTests.swift:11:9",
            "xctest: 3 run, 1 passed, 1 failed, 1 skipped",
            "xctest assertions: 2 failed",
            "swift testing: 2 run, 1 passed, 1 failed",
        ],
        not_cited: &[],
        never: &["0 errors at low tide"],
    },
    Words {
        name: "48-rspec.log",
        exit: 1,
        says: &[
            "2 errors to fix:",
            "L28 Hoard sorts shiny first: NoMethodError",
            "./spec/hoard_spec.rb:16",
            "L37–38 Hoard doubles worth: expected: 5, got: 4 — ./spec/hoard_spec.rb:9",
            "rspec: 6 examples, 2 failures, 2 pending (L44)",
        ],
        not_cited: &[3, 14],
        never: &[],
    },
    Words {
        name: "48-rspec-outside.log",
        exit: 1,
        says: &[
            "1 error to fix:",
            "L8 while loading ./spec/nest_spec.rb: LoadError: cannot load such file -- /srv/build/magpie/lib/nest — ./spec/nest_spec.rb:1",
            "1 error outside of examples",
        ],
        not_cited: &[],
        never: &[],
    },
    Words {
        name: "49-mix-test.log",
        exit: 2,
        says: &[
            "2 errors to fix:",
            "L13–16 depth doubles: Assertion with == failed",
            "test/stream_test.exs:4",
            "L25 stones are counted: ** (UndefinedFunctionError)",
            "test/stream_test.exs:11",
            "exunit: 4 tests, 1 passed, 2 failures, 1 skipped (L33)",
            "\n2 warnings:",
            "stones are counted: the compiler had warned that Dipper.Gravel.count/1 is undefined (L5)",
        ],
        not_cited: &[20],
        never: &[],
    },
];

#[test]
fn more_test_runs() {
    check(MORE_TEST_RUNS);
}
