//! The page `docs/summarise.md` has the table of formats in it; this test keeps the two in step.

use std::path::PathBuf;

use wisp_digest::FORMATS;

const START: &str = "<!-- formats: generated from the table, see crates/wisp-digest/tests/docs.rs -->\n";
const END: &str = "<!-- formats: end -->\n";

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/summarise.md")
}

/// The table as the page should have it.
fn table() -> String {
    let mut rows: Vec<String> = FORMATS
        .iter()
        .map(|format| {
            format!(
                "| {} | {} | {} | {} |",
                format.name, format.tools, format.recognises, format.version
            )
        })
        .collect();
    rows.sort_by_key(|row| row.to_lowercase());
    format!(
        "\n| format | tools | what is recognised | written from |\n| --- | --- | --- | --- |\n{}\n\n",
        rows.join("\n")
    )
}

/// What stands before the table, and after it.
fn around(text: &str) -> (String, String) {
    let (before, rest) = text.split_once(START).expect("the page has the start mark");
    let (_, after) = rest.split_once(END).expect("the page has the end mark");
    (before.to_owned(), after.to_owned())
}

#[test]
fn the_page_has_the_table() {
    let text = std::fs::read_to_string(page()).expect("docs/summarise.md");
    let (before, after) = around(&text);
    let fresh = format!("{before}{START}{}{END}{after}", table());
    assert!(
        text == fresh,
        "docs/summarise.md is behind the table; run: cargo test -p wisp-digest --test docs -- --ignored"
    );
}

#[test]
#[ignore = "rewrites docs/summarise.md"]
#[allow(
    clippy::disallowed_methods,
    reason = "rewrites a page of the repository when asked to"
)]
fn rewrite_the_page() {
    let text = std::fs::read_to_string(page()).expect("docs/summarise.md");
    let (before, after) = around(&text);
    std::fs::write(page(), format!("{before}{START}{}{END}{after}", table()))
        .expect("the page can be written");
}
