//! How `wisp` is linked: with the C compiler's unwinder in the program itself, where there is an archive of it.
//!
//! Of `libgcc_s.so.1` a Rust program needs the unwinder alone. To find that library, map it and bind it is a tenth of what
//! a start of `wisp` costs, and of `wisp summarise` on a short log the start is most. The archive holds the same code of
//! the same compiler, may be linked into any program (GCC Runtime Library Exception), and adds 25 KB. Only for the target
//! it was tried on; where the archive is not found, the program is linked as Rust does it.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build script hears from Cargo by its environment, asks the C compiler, and answers by printing"
)]

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if links_to_the_library() && has_the_archive() {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Whether the target is x86-64 Linux with glibc, and not linked statically as a whole: that has the archive already.
fn links_to_the_library() -> bool {
    let is = |key: &str, value: &str| env::var(key).as_deref() == Ok(value);
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && !features.split(',').any(|feature| feature == "crt-static")
}

/// Whether the C compiler that links the program finds the archive: it prints the path then, else the bare name.
fn has_the_archive() -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let Ok(said) = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output() else {
        return false;
    };
    let path = String::from_utf8_lossy(&said.stdout);
    said.status.success() && Path::new(path.trim()).is_absolute()
}
