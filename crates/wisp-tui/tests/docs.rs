//! `docs/tui.md` shows the screens of the tests and the keys of the table.

use std::path::Path;

use wisp_tui::keys::ACTIONS;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tui.md");
    std::fs::read_to_string(path).expect("the page is there")
}

fn snapshot(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/screens__{name}.snap"));
    let text = std::fs::read_to_string(path).expect("the snapshot is there");
    text.splitn(3, "---\n")
        .nth(2)
        .unwrap_or_default()
        .trim_end()
        .to_owned()
}

#[test]
fn the_screens_are_those_of_the_tests() {
    let page = page();
    let mut screens = 0;
    for part in page.split("<!-- screen: ").skip(1) {
        let (name, rest) = part
            .split_once(" -->\n````text\n")
            .expect("a screen follows its name");
        let (screen, _) = rest.split_once("\n````").expect("a screen ends");
        assert_eq!(screen, snapshot(name), "{name}");
        screens += 1;
    }
    assert!(screens >= 8, "the page has screens");
}

#[test]
fn every_action_stands_with_its_keys() {
    let page = page();
    for action in ACTIONS {
        let keys: Vec<String> = action.keys.iter().map(|key| format!("`{key}`")).collect();
        let row = format!("| `{}` | {} | {} |", action.name, keys.join(", "), action.help);
        assert!(page.contains(&row), "{row}");
    }
}
