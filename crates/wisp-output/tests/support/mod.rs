//! What the tests share: an account of a stored file that owes nothing to the crate's own counting.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(
    clippy::disallowed_methods,
    reason = "how many cases to try is asked of whoever runs the tests"
)]

pub(crate) mod keeping;

use proptest::prelude::*;
use wisp_output::content::Section;

/// The number of the line that byte `at` of `bytes` is in, from 1.
pub(crate) fn line_of(bytes: &[u8], at: u64) -> u64 {
    let mut line = 1;
    for byte in &bytes[..usize::try_from(at).unwrap()] {
        if *byte == b'\n' {
            line += 1;
        }
    }
    line
}

/// The number of the line that byte `at` is in: stdout's count from 1, those of the streams after it follow on.
pub(crate) fn number_at(bytes: &[u8], streams: &[Section], at: u64) -> u64 {
    let mut before = 0;
    for stream in streams {
        let from = usize::try_from(stream.from).unwrap();
        let own = &bytes[from..from + usize::try_from(stream.bytes).unwrap()];
        if (stream.from..stream.from + stream.bytes).contains(&at) {
            return before + line_of(own, at - stream.from);
        }
        before += lines(own);
    }
    panic!("byte {at} is in no stream")
}

/// Lines of the streams, each a last one without a newline included.
pub(crate) fn stream_lines(bytes: &[u8], streams: &[Section]) -> u64 {
    let own = |stream: &Section| {
        let from = usize::try_from(stream.from).unwrap();
        lines(&bytes[from..from + usize::try_from(stream.bytes).unwrap()])
    };
    streams.iter().map(own).sum()
}

/// Where the line of byte `at` starts.
pub(crate) fn line_start(bytes: &[u8], at: u64) -> u64 {
    let mut start = usize::try_from(at).unwrap();
    while start > 0 && bytes[start - 1] != b'\n' {
        start -= 1;
    }
    start as u64
}

/// Lines as `grep -c ''` counts them.
pub(crate) fn lines(bytes: &[u8]) -> u64 {
    let mut count = 0;
    let mut open = false;
    for byte in bytes {
        open = *byte != b'\n';
        count += u64::from(!open);
    }
    count + u64::from(open)
}

/// `1,234` as 1234.
pub(crate) fn number(text: &str) -> u64 {
    text.replace(',', "")
        .parse()
        .unwrap_or_else(|_| panic!("a number: {text}"))
}

/// Whether `text` (`180 KiB`) is what `bytes` rounds up to.
pub(crate) fn states(text: &str, bytes: u64) -> bool {
    let (value, unit) = text.split_once(' ').unwrap();
    let unit = match unit {
        "byte" | "bytes" => return number(value) == bytes,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        other => panic!("a unit: {other}"),
    };
    let stated: f64 = value.replace(',', "").parse().unwrap();
    let step = if value.contains('.') || stated < 10.0 {
        0.1
    } else {
        1.0
    };
    #[expect(clippy::cast_precision_loss, reason = "test sizes are far below 2^52")]
    let exact = bytes as f64 / unit;
    exact <= stated + 1e-9 && exact > stated - step - 1e-9
}

/// Raw output of many shapes: short lines, multi-byte ones, CRLF, progress, enormous ones, no last newline.
pub(crate) fn output(max_lines: usize) -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        6 => "[a-z0-9 :./]{0,80}".prop_map(String::into_bytes),
        2 => "(é|漢|🐟|a|z| ){0,60}".prop_map(String::into_bytes),
        1 => "[a-z]{0,30}\r".prop_map(String::into_bytes),
        1 => "([a-z]{1,9}\r){1,5}[a-z]{1,9}".prop_map(String::into_bytes),
        1 => "\u{1b}\\[3[0-7]m[a-z]{1,20}\u{1b}\\[0m".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>().prop_filter("one line", |byte| *byte != b'\n'), 0..40),
        1 => (1000..9_000usize, "[a-z]|漢|🐟").prop_map(|(times, unit)| unit.repeat(times).into_bytes()),
    ];
    (proptest::collection::vec(line, 0..max_lines), any::<bool>()).prop_map(|(lines, ended)| {
        let mut bytes = lines.join(&b'\n');
        if ended && !bytes.is_empty() {
            bytes.push(b'\n');
        }
        bytes
    })
}

/// How a property is tried: on so many cases, or on as many as `PROPTEST_CASES` says.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let named = std::env::var_os("PROPTEST_CASES").is_some();
    let standard = ProptestConfig::default();
    ProptestConfig {
        cases: if named { standard.cases } else { cases },
        failure_persistence: None,
        ..standard
    }
}
