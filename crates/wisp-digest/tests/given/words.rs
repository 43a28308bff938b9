//! What the text of a digest says of each given case, word for word, and which of its lines it never points to.

use crate::common::{bytes, case};
use wisp_digest::{Digest, Options, View};

/// What the text of a case must say, and the lines it must not point to: each reads like a failure and is none.
pub(crate) struct Words {
    pub name: &'static str,
    pub exit: i32,
    pub says: &'static [&'static str],
    pub not_cited: &'static [u64],
    pub never: &'static [&'static str],
}

/// Whether the text points to the line, alone or as the end of a stretch.
fn cites(text: &str, line: u64) -> bool {
    let mark = format!("L{line}");
    text.match_indices(&mark).any(|(at, _)| {
        let after = text[at + mark.len()..].chars().next();
        let before = text[..at].chars().next_back();
        !after.is_some_and(|each| each.is_ascii_digit()) && !before.is_some_and(char::is_alphanumeric)
    })
}

pub(crate) fn check(words: &[Words]) {
    for words in words {
        let text = case(words.name, words.exit).render(64 * 1024, View::Notable);
        for said in words.says {
            assert!(text.contains(said), "{}: nothing says {said}\n{text}", words.name);
        }
        for line in words.not_cited {
            assert!(!cites(&text, *line), "{}: L{line} is cited\n{text}", words.name);
        }
        for never in words.never {
            assert!(!text.contains(never), "{}: says {never}\n{text}", words.name);
        }
    }
}

const BUILDS: &[Words] = &[
    Words {
        name: "20-cargo-check.log",
        exit: 101,
        says: &[
            "2 causes to fix (4 errors):",
            "L2–6 error[E0432]: unresolved import `crate::gauges` — core/src/gauge.rs:1:12",
            "same cause: L8 error[E0432]",
            "same cause: L14 error[E0433]: cannot find `gauges` in `crate`",
            "L28–39 error[E0308]: mismatched types",
            "cargo: 2 targets failed (L44–81)",
            "\n5 warnings:",
            "could not compile tidepool-core (lib): 4 errors (L44)",
            "could not compile tidepool-core (lib test): 4 errors (L81)",
        ],
        not_cited: &[43, 78, 79, 80],
        never: &["tidepool-units"],
    },
    Words {
        name: "24-make-j.log",
        exit: 2,
        says: &[
            "2 errors to fix:",
            "L4–6 tide/tables.h: No such file or directory — src/gauge.c:1:10",
            "L24–26 'struct buoy' has no member named 'lattitude' — src/buoy.c:5:13",
            "set off 1 line (L8)",
            "set off 2 lines (L30, L32)",
            "\n3 warnings:",
        ],
        not_cited: &[9],
        never: &[],
    },
    Words {
        name: "25-werror.log",
        exit: 2,
        says: &[
            "3 errors to fix:",
            "[-Werror=parentheses] — net.c:4:9",
            "[-Werror=format=] — net.c:5:21",
            "[-Werror=unused-variable] — net.c:3:9",
            "set off 3 lines (L20, L21, L22)",
            "\n1 warning:\n  1× unused-variable (L3): old.c:1:25",
        ],
        not_cited: &[],
        never: &[],
    },
    Words {
        name: "26-gxx-template.log",
        exit: 1,
        says: &[
            "1 cause to fix (2 errors):",
            "L8–10 no matching function for call to 'shorter(const urchin::Spine&, const urchin::Spine&)' — main.cpp:5:26",
            "same cause: L27 no matching function for call to 'shorter(const urchin::Spine&, const urchin::Spine&)' — main.cpp:4:36",
            "\n1 warning:\n  1× unused-variable (L2): main.cpp:4:9: warning: unused variable 'error_total'",
        ],
        not_cited: &[],
        never: &[],
    },
    Words {
        name: "27-clang-limit.log",
        exit: 1,
        says: &[
            "3 causes to fix (4 errors):",
            "L1–3 use of undeclared identifier 'depth' — many.cpp:3:18",
            "same cause: L4 use of undeclared identifier 'depth' — many.cpp:4:18",
            "L7–10 no member named 'lenght' in 'Rope'",
            "L14–16 use of undeclared identifier 'fathoms' — many.cpp:6:18",
            "clang stopped at its error limit: the list of errors is incomplete (L17)",
        ],
        not_cited: &[],
        never: &["5 errors"],
    },
    Words {
        name: "28-ld-undefined.log",
        exit: 1,
        says: &[
            "2 causes to fix (5 errors):",
            "L1 limits.o:(.data+0x0): multiple definition of `depth_limit'; main.o:(.data+0x0): first defined here",
            "L3–14 undefined reference to `manta::Ballast::fill(int)' (2 references)",
            "L4 undefined reference to `manta::Ballast::drain(int)' (3 references)",
            "L5 undefined reference to `manta::Ballast::level() const' (3 references)",
            "L9 undefined reference to `manta::log_error(char const*)' (2 references)",
            "set off 1 line (L15)",
            "linker: 4 missing symbols, 10 references",
            "note: 4 missing symbols of manta::: a library that is not linked (L3)",
        ],
        not_cited: &[],
        never: &[],
    },
    Words {
        name: "30-cmake-configure.log",
        exit: 1,
        says: &[
            "1 error to fix:",
            "L21–35 CMake: package Polyp, version 2.1, not found — CMakeLists.txt:10",
            "L35   installed.",
            "set off 1 line (L38)",
            "\n1 warning:\n  1× cmake (L17)",
        ],
        not_cited: &[14, 16, 40],
        never: &[],
    },
];

#[test]
fn builds() {
    check(BUILDS);
}

const CHECKERS_AND_OTHER_BUILDS: &[Words] = &[
    Words {
        name: "41-tsc.log",
        exit: 2,
        says: &[
            "8 causes to fix (10 errors):",
            "L10   Type 'void' is not assignable",
        ],
        not_cited: &[],
        never: &[],
    },
    Words {
        name: "41-tsc-pretty.log",
        exit: 2,
        says: &["8 causes to fix (10 errors):", "tsc: 10 errors, 2 files (L63)"],
        not_cited: &[],
        never: &["— src/types.ts", "\n  L54 ", "\n  L11 ", "\n  L41 "],
    },
    Words {
        name: "42-eslint.log",
        exit: 1,
        says: &[
            "3 errors to fix:",
            "L4 Expected '===' and instead saw '==' (eqeqeq) — /srv/build/plover/src/beach.js:4:9",
            "L5 'undefinedThing' is not defined (no-undef) — /srv/build/plover/src/beach.js:4:22",
            "L11 Parsing error: Unexpected token ; — /srv/build/plover/src/broken.js:1:23",
            "eslint: 7 problems, 3 errors, 4 warnings (L16)",
        ],
        not_cited: &[7],
        never: &["error-report.js"],
    },
    Words {
        name: "45-swift-build.log",
        exit: 1,
        says: &[
            "2 errors to fix:",
            "L6–12 cannot find type 'Moon' in scope",
            "Tide.swift:7:15",
            "ErrorTable.swift:13:20",
            "set off 1 line (L4); printed again 2× (L14, L36)",
            "set off 1 line (L43)",
            "\n1 warning:",
        ],
        not_cited: &[],
        never: &[],
    },
    Words {
        name: "46-dotnet-fail.log",
        exit: 1,
        says: &[
            "2 errors to fix:",
            "Wade.cs:12:38",
            "msbuild: 1 warning, 2 errors (L13–14)",
            "\n1 warning:\n  1× CS8618 (L6)",
        ],
        not_cited: &[],
        never: &[],
    },
    Words {
        name: "46-dotnet-ok.log",
        exit: 0,
        says: &[
            "msbuild: 0 warnings, 0 errors (L8–9)",
            "dotnet test: 0 failed, 13 passed, 1 skipped, 14 total (L16)",
        ],
        not_cited: &[],
        never: &["to fix", "not explained"],
    },
    Words {
        name: "49-mix-compile.log",
        exit: 1,
        says: &[
            "1 error to fix:",
            "L4 ** (CompileError) lib/pool.ex:2: Dipper.Reading.__struct__/0 is undefined",
        ],
        not_cited: &[],
        never: &["exunit:", "tests"],
    },
];

#[test]
fn checkers_and_other_builds() {
    check(CHECKERS_AND_OTHER_BUILDS);
}

const JOBS_CRASHES_AND_PACKAGES: &[Words] = &[
    Words {
        name: "51-github-actions.log",
        exit: 1,
        says: &[
            "2 errors to fix:",
            "L22 ./scripts/docs.sh: line 7: plantuml: command not found",
            "L45–48 shore::runs_along panicked: assertion `left == right` failed — src/shore.rs:31:9",
            "cargo test: 2 passed, 1 failed, 0 ignored",
            "2 steps ended in error: ./scripts/docs.sh (exit 127), cargo test --locked (exit 101)",
            "the job went on after ./scripts/docs.sh and ended on cargo test --locked",
            "1× annotation (L12)",
            "1× rustc (L31)",
        ],
        not_cited: &[13, 14, 17],
        never: &[],
    },
    Words {
        name: "52-docker-build.log",
        exit: 1,
        says: &[
            "2 errors to fix:",
            "L30 TS2322: Type 'string' is not assignable to type 'number'. — src/server.ts:14:7",
            "L31 TS2305: ",
            "src/wade.ts:3:10",
            "printed again 1× (L45)",
            "printed again 1× (L46)",
            "step [api 5/5] RUN npm run build failed with exit code 2 (L38)",
            "the step that failed is at Dockerfile:9",
            "\n1 warning:\n  1× pip (L29)",
        ],
        not_cited: &[],
        never: &["flamingo-errors", "ERROR_LEVEL", "CANCELED"],
    },
    Words {
        name: "53-kernel.log",
        exit: 1,
        says: &[
            "1 error to fix:",
            "L9 BUG: kernel NULL pointer dereference, address: 0000000000000018 — tern_flush_nest+0x2c/0x90 [ternfs]",
            "PID: 4312 Comm: kworker",
            "tern_flush_work",
            "L17 RIP: 0010:tern_flush_nest+0x2c/0x90 [ternfs]",
            "set off 3 lines (L34, L40, L41)",
        ],
        not_cited: &[4],
        never: &[],
    },
    Words {
        name: "54-npm-eresolve.log",
        exit: 1,
        says: &[
            "1 error to fix:",
            "L6–11 ERESOLVE unable to resolve dependency tree: Found: crest@3.1.0; crest@\"^3.1.0\" from the root project; peer crest@\"^2.0.0\" from plume@1.4.0",
            "\n1 warning:\n  1× npm (L1)",
        ],
        not_cited: &[],
        never: &["21 errors"],
    },
    Words {
        name: "55-python-chain.log",
        exit: 1,
        says: &[
            "1 error to fix:",
            "L30 NameError: name 'DEFAULT_DEPHT' is not defined; first: FileNotFoundError: [Errno 2] No such file or directory: 'otter.depth' (L9) — /srv/build/otter/job.py:18",
            "L9 after FileNotFoundError: [Errno 2] No such file or directory: 'otter.depth' (/srv/build/otter/job.py:5)",
            "L19 after GaugeError: error: no depth file (/srv/build/otter/job.py:12)",
        ],
        not_cited: &[1],
        never: &["not explained"],
    },
    Words {
        name: "56-java-causes.log",
        exit: 1,
        says: &[
            "2 errors to fix:",
            "L2 java.lang.IllegalArgumentException: probe 4 out of range — thread probe-4 — Main.java:23",
            "L12 java.nio.file.NoSuchFileException: depth.txt (surfaced as java.lang.IllegalStateException: error: depth file unusable in thread main, L5) — Main.java:9",
            "L22 \tat ",
        ],
        not_cited: &[1],
        never: &[],
    },
    Words {
        name: "57-asan.log",
        exit: 1,
        says: &[
            "read as sanitizer)",
            "1 error to fix:",
            "L3 AddressSanitizer: heap-use-after-free on address",
            "/srv/build/nudi/slug.c:6",
            "L4 READ of size 1",
            "L6     #1 0x5632276de2f0 in main /srv/build/nudi/slug.c:11",
            "L14     #1 0x5632276de228 in drop /srv/build/nudi/slug.c:5",
            "L15     #2 0x5632276de2e4 in main /srv/build/nudi/slug.c:10",
            "L20     #1 0x5632276de1ee in tag /srv/build/nudi/slug.c:4",
            "set off 1 line (L24)",
        ],
        not_cited: &[26, 30, 40, 55],
        never: &["0 errors so far"],
    },
];

#[test]
fn jobs_crashes_and_packages() {
    check(JOBS_CRASHES_AND_PACKAGES);
}

#[test]
fn a_log_and_a_document() {
    let text = |name: &str| {
        let bytes = bytes(&format!("cases/{name}"));
        Digest::of(&bytes, Options::default()).render(64 * 1024, View::Notable)
    };
    let log = text("17-service.log");
    for said in [
        "39 entries, 8 templates: 10 error, 4 warning, 25 info",
        "error 2× (L31, L43): ERROR pool: exhausted, 37 waiting",
        "info 14× ",
        "info 6× ",
        "info 3× (L7, L12, L29): INFO  batch: finished 44 jobs, 0 errors, 0 failed",
        "info 2× (L5, L13): INFO  cache: key error_table:7ebb8e3b warmed in 5ms",
    ] {
        assert!(log.contains(said), "{said}\n{log}");
    }
    let json = text("18-tree.json");
    for said in [
        "$.id: number 9007199254740993\n",
        "$.wide: number 123456789012345678901234567890\n",
        "$.exact: number 5.107091491635510056019771245\n",
        "$.huge: number 1e400\n",
        "$.minus: number -0\n",
        "$.dup: number 1…2 ×2 (this name 2 times)\n",
        "$[\"\"]: string",
        "$[\"a.b\"][\"c/d\"]: boolean true",
        "$[\"a.b\"][\"[0]\"]: boolean false",
    ] {
        assert!(json.contains(said), "{said}\n{json}");
    }
}
