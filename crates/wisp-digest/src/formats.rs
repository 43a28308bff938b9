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
mod rustc;
mod sanitizer;
mod shell;
mod swift;
mod tsc;
mod vitest;
mod xctest;

use crate::reader::Format;

/// Every format there is a reader for.
pub static FORMATS: &[Format] = &[
    ci::FORMAT,
    pip::FORMAT,
    docker::FORMAT,
    kernel::FORMAT,
    sanitizer::FORMAT,
    ctest::FORMAT,
    googletest::FORMAT,
    libtest::FORMAT,
    cargo::FORMAT,
    go_test::FORMAT,
    pytest::FORMAT,
    jest::FORMAT,
    vitest::FORMAT,
    rspec::FORMAT,
    maven::FORMAT,
    xctest::FORMAT,
    swift::FORMAT,
    exunit::FORMAT,
    rustc::FORMAT,
    cmake::FORMAT,
    make::FORMAT,
    npm::FORMAT,
    tsc::FORMAT,
    eslint::FORMAT,
    dotnet::FORMAT,
    go_build::FORMAT,
    python::FORMAT,
    java::FORMAT,
    linker::FORMAT,
    c_family::FORMAT,
    shell::FORMAT,
];
