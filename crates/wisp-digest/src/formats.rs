//! The table of formats. A row here, a file beside it, a folder of fixtures: nothing else knows them by name.
//!
//! The order is the order in which readers are asked about a line two of them could know: wrappers and formats
//! with marks of their own first, the general forms last.

mod c_family;
mod cargo;
mod libtest;
mod linker;
mod make;
mod rustc;

use crate::reader::Format;

/// Every format there is a reader for.
pub static FORMATS: &[Format] = &[
    libtest::FORMAT,
    cargo::FORMAT,
    rustc::FORMAT,
    make::FORMAT,
    linker::FORMAT,
    c_family::FORMAT,
];
