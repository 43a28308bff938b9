//! README's ten things to try: each is run with the demo model, and shows what it shows.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read a page of the tree, lay out files, and fail"
)]

use std::path::Path;

use wisp_tests::Wisp;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The blocks of the page that are marked `console`, a list of lines each.
fn blocks(page: &str) -> Vec<Vec<String>> {
    let mut blocks = Vec::new();
    let mut open: Option<Vec<String>> = None;
    for line in page.lines().map(str::trim) {
        match (&mut open, line) {
            (None, "```console") => open = Some(Vec::new()),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some(lines), line) => lines.push(line.to_owned()),
            (None, _) => {}
        }
    }
    blocks
}

/// A line with every id, eight digits of base 16, as the same word.
fn without_ids(line: &str) -> String {
    let is_id = |word: &str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = line.split_whitespace();
    let words: Vec<&str> = words.map(|word| if is_id(word) { "ID" } else { word }).collect();
    words.join(" ")
}

/// What is printed for a block, on both streams.
fn printed(block: &[String]) -> Vec<String> {
    let wisp = Wisp::new();
    let log = root().join("crates/wisp-digest/tests/fixtures/pytest/real-verbose.log");
    std::fs::copy(log, wisp.work().join("build.log")).unwrap();
    std::fs::write(wisp.work().join("greeting.txt"), "hello\n").unwrap();
    let typed: Vec<&str> = block.iter().filter_map(|line| line.strip_prefix("> ")).collect();
    let ran = match block[0].strip_prefix("$ wisp ") {
        Some(arguments) => wisp.run(&arguments.split(' ').collect::<Vec<_>>(), ""),
        None => wisp.run(&["chat", "--yes"], &format!("{}\n/quit\n", typed.join("\n"))),
    };
    let lines = format!("{}\n{}", ran.text(), ran.err);
    lines.lines().map(without_ids).collect()
}

#[test]
fn each_of_the_ten_things_shows_what_the_page_shows() {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = blocks(&page);
    assert_eq!(blocks.len(), 10);
    for block in blocks {
        let printed = printed(&block);
        let shown = block
            .iter()
            .filter(|line| !line.starts_with("> ") && !line.starts_with("$ "));
        for line in shown.map(|line| without_ids(line)) {
            let found = match line.strip_suffix('…') {
                Some(beginning) => printed.iter().any(|printed| printed.starts_with(beginning)),
                None => printed.contains(&line),
            };
            assert!(found, "{line:?} of {block:?} is not in\n{}", printed.join("\n"));
        }
    }
}
