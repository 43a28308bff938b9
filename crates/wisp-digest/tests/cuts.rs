//! The digest is the same however the input is cut: at line ends and beside them, where a reader's look at the next
//! line would differ; in mixtures of formats, labelled, stamped, coloured, with returns and in UTF-16.
#![allow(clippy::disallowed_methods, reason = "tests read their fixtures")]

mod common;

use std::sync::OnceLock;

use proptest::prelude::*;
use wisp_digest::{Digest, Digester, Options, limits};

/// Every fixture log with its path.
fn fixtures() -> &'static [(String, Vec<u8>)] {
    static FIXTURES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FIXTURES.get_or_init(|| {
        let folder = format!("{}/tests/fixtures", env!("CARGO_MANIFEST_DIR"));
        let entries = |folder: &str| {
            let entries = std::fs::read_dir(folder).expect("the folder exists");
            entries.map(|entry| entry.expect("an entry").path().display().to_string())
        };
        let mut paths: Vec<String> = entries(&folder)
            .flat_map(|folder| entries(&folder).collect::<Vec<_>>())
            .filter(|path| path.rsplit('.').next() == Some("log"))
            .collect();
        paths.sort();
        let read = |path: String| {
            let bytes = std::fs::read(&path).expect("a log");
            (path[folder.len() + 1..].to_owned(), bytes)
        };
        paths.into_iter().map(read).collect()
    })
}

fn fixture(name: &str) -> &'static [u8] {
    let found = fixtures().iter().find(|(path, _)| path == name);
    &found.expect("the fixture is in the repository").1
}

/// The digest of the bytes cut at these places, in order.
fn cut_at(bytes: &[u8], cuts: impl IntoIterator<Item = usize>) -> Digest {
    let mut digester = Digester::new(Options { exit: Some(1) });
    let mut from = 0;
    for cut in cuts {
        digester.push(&bytes[from..cut]);
        from = cut;
    }
    digester.push(&bytes[from..]);
    digester.finish()
}

/// Where the lines of the bytes end: after each newline.
fn line_ends(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().zip(1..).filter(|(byte, _)| **byte == b'\n');
    ends.map(|(_, end)| end).collect()
}

/// Which of several ways to cut gives another digest than the whole does, if any.
fn differs(bytes: &[u8]) -> Option<&'static str> {
    let whole = cut_at(bytes, []);
    let ends = line_ends(bytes);
    let after = || ends.iter().map(|end| (end + 1).min(bytes.len()));
    let before = || ends.iter().map(|end| end - 1);
    let odd = |odd: usize| ends.iter().skip(odd).step_by(2).copied();
    let differs = |cut: Digest| cut != whole;
    [
        ("at line ends", differs(cut_at(bytes, ends.iter().copied()))),
        ("after line ends", differs(cut_at(bytes, after()))),
        ("before newlines", differs(cut_at(bytes, before()))),
        ("at every second line end", differs(cut_at(bytes, odd(0)))),
        ("at every other line end", differs(cut_at(bytes, odd(1)))),
        ("everywhere", differs(cut_at(bytes, 1..bytes.len()))),
    ]
    .into_iter()
    .find_map(|(cut, differs)| differs.then_some(cut))
}

/// What a log may look like where it comes from.
#[derive(Debug, Clone, Copy)]
enum Dress {
    Plain,
    Labelled(&'static str),
    Stamped,
    Coloured,
    Returns,
    Frames,
    NoEnd,
}

const DRESSES: &[Dress] = &[
    Dress::Plain,
    Dress::Labelled("[web] "),
    Dress::Labelled("[api] "),
    Dress::Labelled("#12 3.412 "),
    Dress::Labelled("web-1  | "),
    Dress::Stamped,
    Dress::Coloured,
    Dress::Returns,
    Dress::Frames,
    Dress::NoEnd,
];

fn dressed(log: &[u8], dress: Dress) -> Vec<Vec<u8>> {
    let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    let around = |before: &str, line: &[u8], after: &str| {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        [before.as_bytes(), text, after.as_bytes(), b"\n"].concat()
    };
    let stamp = |at: usize| format!("2026-03-02T10:{:02}:{:02}.0138781Z ", at / 60 % 60, at % 60);
    let each = |(at, line): (usize, &&[u8])| match dress {
        Dress::Plain => line.to_vec(),
        Dress::Labelled(label) => around(label, line, ""),
        Dress::Stamped => around(&stamp(at), line, ""),
        Dress::Coloured => around("\x1b[33m", line, "\x1b[0m"),
        Dress::Returns => around("", line, "\r"),
        Dress::Frames => around("10%\r50%\r", line, ""),
        Dress::NoEnd => line
            .strip_suffix(b"\n")
            .filter(|_| at + 1 == lines.len())
            .unwrap_or(line)
            .to_vec(),
    };
    lines.iter().enumerate().map(each).collect()
}

fn wide(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
    units.flat_map(|unit: u16| unit.to_le_bytes()).collect()
}

#[test]
fn no_fixture_is_read_otherwise_for_its_cuts() {
    let differing: Vec<_> = fixtures()
        .iter()
        .filter_map(|(path, log)| Some((path, differs(log)?)))
        .collect();
    assert_eq!(differing, []);
}

/// Elixir calls other languages' compilers, and writes warnings as Rust's does.
#[test]
fn nothing_that_elixir_builds_is_read_otherwise_for_its_cuts() {
    for dress in DRESSES {
        for (path, log) in fixtures().iter().filter(|(path, _)| {
            ["rustc/", "cargo/", "gcc-clang/", "mix/"]
                .iter()
                .any(|format| path.starts_with(format))
        }) {
            let log = [&b"Compiling 2 files (.ex)\n"[..], log].concat();
            let log = dressed(&log, *dress).concat();
            assert_eq!(differs(&log), None, "{path} {dress:?}");
        }
    }
    let wide = wide(fixture("mix/native.log"));
    assert_eq!(differs(&wide), None);
}

const WARNING: &str = "warning: unused variable: `x`\n --> src/lib.rs:4:9\n\n";

/// The format that read the warning in a build of Elixir's.
fn teller(digest: &Digest) -> Vec<(&'static str, Option<u64>)> {
    let places = digest.warnings.kinds.iter().map(|kind| {
        let place = kind.location.as_ref();
        place.and_then(|place| place.line)
    });
    digest.formats.iter().copied().zip(places).collect()
}

#[test]
fn the_next_line_is_known_at_the_end_of_whatever_is_read_at_once() {
    // Of a block of lines, of a push and of the longest line that is read.
    for size in [16 * 1024, 64 * 1024, limits::LINE] {
        for short in 0..20 {
            let mut log = "Compiling 2 files (.ex)\n".to_owned();
            let fill = size - short - log.len() - "warning: unused variable: `x`\n\n".len();
            log += &("x".repeat(99) + "\n").repeat(fill / 100);
            log += &"x".repeat(fill % 100);
            let log = log + "\n" + WARNING;
            let whole = cut_at(log.as_bytes(), []);
            assert_eq!(teller(&whole), [("rustc", Some(4))], "{short} before {size}");
            assert_eq!(cut_at(log.as_bytes(), [size]), whole, "{short} before {size}");
        }
    }
}

#[test]
fn empty_pushes_are_nothing() {
    let log = [b"Compiling 2 files (.ex)\n", WARNING.as_bytes()].concat();
    let mut digester = Digester::new(Options { exit: Some(1) });
    for byte in &log {
        digester.push(&[]);
        digester.push(&[*byte]);
        digester.push(&[]);
    }
    assert_eq!(digester.finish(), cut_at(&log, []));
}

#[test]
fn a_line_of_another_stream_between_is_no_next_line_wherever_it_is_cut() {
    let log = b"[web] Compiling 2 files (.ex)
[web] warning: unused variable: `x`
[api] listening
[web]  --> src/lib.rs:4:9
[web]
";
    assert_eq!(differs(log), None);
    assert_eq!(cut_at(log, []).warnings.total, 1);
}

#[test]
fn a_line_is_read_to_the_same_byte_wherever_it_is_cut() {
    let long = |before: &str, far: usize, after: &str| {
        let lines = format!("{}\n", "copied tile.png").repeat(80);
        format!(
            "{lines}{before}{}{after}\nsrc/a.c:1:2: error: x\n",
            "é".repeat(far / 2)
        )
    };
    for far in [
        limits::LINE - 40,
        limits::LINE - 8,
        limits::LINE,
        limits::LINE * 2,
    ] {
        for (before, after) in [
            ("[web] ", "error: no such file"),
            ("", " error: no such file"),
            ("\x1b[31m", " error: no such file\x1b[0m"),
            ("10%\r", "\r error: no such file\r"),
            ("warning: unused variable: `x`\n --> src/", ".rs:4:9"),
        ] {
            let bytes = long(before, far, after).into_bytes();
            let whole = cut_at(&bytes, []);
            let last = line_ends(&bytes).into_iter().rev().take(3);
            let within = (bytes.len() - far / 2..bytes.len()).step_by(6_007);
            for cut in last.chain(within) {
                let cuts = [vec![cut], vec![cut - 1, cut]].map(|cuts| cut_at(&bytes, cuts));
                assert!(
                    cuts.iter().all(|cut| *cut == whole),
                    "{before:?} {far} cut at {cut}"
                );
            }
        }
    }
}

#[test]
fn a_document_is_one_wherever_it_is_cut() {
    let sarif = "{\"version\": \"2.1.0\", \"runs\": [{\"results\": [{\"ruleId\": \"x\", \"level\": \"error\",
\"message\": {\"text\": \"y\"}}]}]}\n";
    for before in ["", "\u{feff}", "\n\n", "\u{feff}\n ", " ", "\r\n"] {
        let log = format!("{before}{sarif}");
        assert_eq!(differs(log.as_bytes()), None, "{before:?}");
    }
}

/// A stretch of a log's lines as they may come: of any fixture, of one whose readers ask for the next line or are asked
/// before such, or the warning that two of them may tell.
fn piece() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let near = ["rustc/", "cargo/", "mix/", "gcc-clang/"];
    let all = fixtures().to_vec();
    let mut some = all.clone();
    some.retain(|(path, _)| near.iter().any(|format| path.starts_with(format)));
    let one = (String::new(), WARNING.as_bytes().to_vec());
    let log = prop_oneof![prop::sample::select(all), prop::sample::select(some), Just(one)];
    let dress = prop::sample::select(DRESSES);
    (log, any::<prop::sample::Index>(), 1_usize..60, dress).prop_map(|((_, log), from, length, dress)| {
        let mut lines = dressed(&log, dress);
        lines.drain(..from.index(lines.len() + 1));
        lines.truncate(length);
        lines
    })
}

/// The pieces one after the other, or their lines in turn as those of parallel jobs.
fn mixed(pieces: &[Vec<Vec<u8>>], in_turn: bool) -> Vec<u8> {
    if !in_turn {
        return pieces.concat().concat();
    }
    let most = pieces.iter().map(Vec::len).max().unwrap_or(0);
    let lines = (0..most).flat_map(|at| pieces.iter().filter_map(move |piece| piece.get(at)));
    lines.flatten().copied().collect()
}

/// What may stand after a compiler's warning, with a literal of some format or without.
const AFTER: &[&str] = &[
    "",
    "        ^",
    "  | ^~~~~",
    " 12 | int depth;",
    "copied tile.png",
    "it has failed badly",
    "[web] done",
    "10:14:07 done",
    "gcc -O2 gauge.c",
    "\tgcc -O2 gauge.c",
    "                 from src/gauge.c:3,",
    "  src/gauge.h: In constructor 'Gauge'",
    "src/gauge.c:1:2: remark: vectorized",
    "src/gauge.c:1:2: note: declared here",
    "src/gauge.c:1:2: error: 'x' undeclared",
    "src/gauge.c: In function 'main':",
    "In file included from src/gauge.c:3:",
    "make: *** [Makefile:7: src/gauge.o] Error 1",
    "1 warning generated.",
    "```",
];

#[test]
fn what_follows_a_compilers_diagnostic_is_read_alike_however_it_comes() {
    // Past the lines after which it is known to be no log.
    let fill = "x\n".repeat(66);
    let last = [
        "it has failed badly\n```\nerror: x",
        "install -o root has failed",
        "make: *** [Makefile:7: src/gauge.o] Error 1\nsrc/tide.c:1:2: error: 'y' undeclared",
    ];
    for (start, level) in [
        ("Building", "warning"),
        ("# Building", "warning"),
        ("Building", "error"),
    ] {
        let diagnostic = format!("src/gauge.c:3:4: {level}: unused variable 'y' [-Wunused-variable]");
        for first in [
            "    int depth = 3;",
            "    int depth = 3;\n  CC  gauge.o",
            "  | ^~~~~",
        ] {
            for (after, last) in AFTER.iter().flat_map(|after| last.map(|last| (after, last))) {
                let log = format!("{start}\n{fill}{diagnostic}\n{first}\n{after}\n{last}\n");
                let cut = cut_at(log.as_bytes(), line_ends(log.as_bytes()));
                assert!(
                    cut_at(log.as_bytes(), []) == cut,
                    "{level}, then {first:?}, {after:?}, {last:?}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_mixture_is_read_otherwise_for_its_cuts(
        pieces in prop::collection::vec(piece(), 1..5),
        in_turn: bool,
        elixir: bool,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..3), 1..12),
    ) {
        let start: &[u8] = if elixir { b"Compiling 2 files (.ex)\n" } else { b"" };
        let log = [start, &mixed(&pieces, in_turn)].concat();
        prop_assert_eq!(differs(&log), None);
        let ends = line_ends(&log);
        if !ends.is_empty() {
            let mut cuts: Vec<usize> =
                cuts.iter().map(|(end, beside)| (end.get(&ends) + beside - 1).min(log.len())).collect();
            cuts.sort_unstable();
            prop_assert_eq!(cut_at(&log, cuts), cut_at(&log, []));
        }
    }
}
