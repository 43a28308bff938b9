//! The page `docs/tools/README.md` has every tool's section in it; this test keeps the two in step.

use std::path::PathBuf;
use std::time::Duration;

use wisp_tools::{BuiltinOptions, builtin};

const START: &str = "<!-- tools: generated from the descriptors, see crates/wisp-tools/tests/docs.rs -->\n";
const END: &str = "<!-- tools: end -->\n";

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools/README.md")
}

/// The page with the sections as they should be, under the default settings.
fn fresh(text: &str) -> String {
    let (before, rest) = text.split_once(START).expect("the page has the start mark");
    let (_, after) = rest.split_once(END).expect("the page has the end mark");
    let options = BuiltinOptions {
        command_timeout: Some(Duration::from_mins(1)),
    };
    let tools = builtin(&options);
    let sections: String = tools.iter().map(|tool| tool.descriptor().markdown()).collect();
    format!("{before}{START}\n{sections}{END}{after}")
}

#[test]
fn the_page_has_every_tool() {
    let text = std::fs::read_to_string(page()).expect("docs/tools/README.md");
    assert!(
        text == fresh(&text),
        "docs/tools/README.md is behind the tools; run: cargo test -p wisp-tools --test docs -- --ignored"
    );
}

#[test]
#[ignore = "rewrites docs/tools/README.md"]
#[allow(
    clippy::disallowed_methods,
    reason = "rewrites a page of the repository when asked to"
)]
fn rewrite_the_page() {
    let text = std::fs::read_to_string(page()).expect("docs/tools/README.md");
    std::fs::write(page(), fresh(&text)).expect("the page can be written");
}
