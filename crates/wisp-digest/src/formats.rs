//! The table of formats. A row here, a file beside it, a folder of fixtures: nothing else knows them by name.
//!
//! The order is the order in which readers are asked about a line two of them could know: wrappers and formats
//! with marks of their own first, the general forms last.

mod c_family;
mod cargo;
mod ci;
mod cmake;
mod ctest;
mod docker;
mod dotnet;
mod eslint;
mod exunit;
mod go_build;
mod go_test;
mod googletest;
mod java;
mod jest;
mod kernel;
mod libtest;
mod linker;
mod make;
mod maven;
mod npm;
mod pip;
mod pytest;
mod python;
mod rspec;
mod ruby;
mod rust_error;
mod rustc;
mod sanitizer;
mod shell;
mod swift;
mod tsc;
mod vitest;
mod xctest;

mod ansible;
mod bazel;
mod biome;
mod bun;
mod bundler;
mod cargo_json;
mod catch2;
mod dart;
mod deno;
mod formatter;
mod ghc;
mod gradle;
mod junit_xml;
mod jvm;
mod kubernetes;
mod latex;
mod linters;
mod minitest;
mod mocha;
mod nextest;
mod node;
mod node_test;
mod php;
mod playwright;
mod pycheck;
mod scala;
mod tap;
mod terraform;
mod test_more;
mod unified_diff;
mod unittest;
mod vite;
use crate::reader::Format;

/// Every format there is a reader for.
pub static FORMATS: &[Format] = &[
    unified_diff::FORMAT,
    junit_xml::FORMAT,
    ci::FORMAT,
    pip::FORMAT,
    docker::FORMAT,
    kernel::FORMAT,
    sanitizer::FORMAT,
    ctest::FORMAT,
    googletest::FORMAT,
    catch2::FORMAT,
    nextest::FORMAT,
    libtest::FORMAT,
    cargo_json::FORMAT,
    cargo::FORMAT,
    go_test::FORMAT,
    pytest::FORMAT,
    unittest::FORMAT,
    jest::FORMAT,
    vitest::FORMAT,
    bun::FORMAT,
    deno::FORMAT,
    dart::FORMAT,
    playwright::FORMAT,
    bundler::FORMAT,
    formatter::FORMAT,
    linters::FORMAT,
    latex::FORMAT,
    scala::FORMAT,
    node_test::FORMAT,
    mocha::FORMAT,
    rspec::FORMAT,
    minitest::FORMAT,
    php::FORMAT,
    maven::FORMAT,
    gradle::FORMAT,
    xctest::FORMAT,
    swift::FORMAT,
    exunit::FORMAT,
    ansible::FORMAT,
    bazel::FORMAT,
    terraform::FORMAT,
    kubernetes::FORMAT,
    tap::FORMAT,
    node::FORMAT,
    npm::FORMAT,
    rustc::FORMAT,
    cmake::FORMAT,
    make::FORMAT,
    tsc::FORMAT,
    eslint::FORMAT,
    dotnet::FORMAT,
    go_build::FORMAT,
    pycheck::FORMAT,
    jvm::FORMAT,
    ghc::FORMAT,
    python::FORMAT,
    ruby::FORMAT,
    rust_error::FORMAT,
    java::FORMAT,
    linker::FORMAT,
    c_family::FORMAT,
    shell::FORMAT,
];

// A line's cues are bits of one word: a bit for each format, and one for the words of failure.
const _: () = assert!(
    FORMATS.len() < 64,
    "there are more formats than a line's cues have bits"
);
