//! What edits replaced is kept, and put back only where nothing else was written since.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and make the files that are edited"
)]

mod support;

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use support::{Stage, block};
use wisp_tools::files::undo::Which;

/// A stage on which `a.txt` held `one` and was edited twice, and `new.txt` was made.
async fn edited() -> Stage {
    let mut stage = Stage::new(true);
    std::fs::write(stage.home.path().join("a.txt"), "one\n").unwrap();
    for (path, content) in [("a.txt", "two\n"), ("a.txt", "three\n"), ("new.txt", "new\n")] {
        let edit = json!({"path": path, "mode": "write", "content": content});
        let shown = stage.shown("edit_file", edit).await;
        assert!(!shown.starts_with("error"), "{shown}");
    }
    stage
}

fn text(stage: &Stage, name: &str) -> Option<String> {
    std::fs::read_to_string(stage.home.path().join(name)).ok()
}

fn undo(stage: &mut Stage, which: Which) {
    for back in stage.registry.back(which).unwrap() {
        back.put().unwrap();
        stage.registry.undone(which, &back.path);
    }
}

#[test]
fn edits_are_undone_one_by_one_to_the_bytes_before_each() {
    block(async {
        let mut stage = edited().await;
        undo(&mut stage, Which::Last);
        assert_eq!(text(&stage, "new.txt"), None);
        undo(&mut stage, Which::Last);
        assert_eq!(text(&stage, "a.txt").as_deref(), Some("two\n"));
        undo(&mut stage, Which::Last);
        assert_eq!(text(&stage, "a.txt").as_deref(), Some("one\n"));
        assert_eq!(stage.registry.back(Which::Last).unwrap().len(), 0);
    });
}

#[test]
fn a_turn_is_undone_to_what_each_file_was_before_it() {
    block(async {
        let mut stage = edited().await;
        undo(&mut stage, Which::Since(1));
        assert_eq!(text(&stage, "a.txt").as_deref(), Some("one\n"));
        assert_eq!(text(&stage, "new.txt"), None);
        assert!(stage.registry.edits().changes().is_empty());
    });
}

#[test]
fn what_another_program_wrote_is_not_overwritten_and_is_told() {
    block(async {
        let stage = edited().await;
        std::fs::write(stage.home.path().join("a.txt"), "mine\n").unwrap();
        let why = stage.registry.back(Which::Since(1)).unwrap_err();
        assert!(
            why.contains("a.txt was changed since by another program"),
            "{why}"
        );
        assert!(why.contains("-three") && why.contains("+mine"), "{why}");
        assert_eq!(text(&stage, "a.txt").as_deref(), Some("mine\n"));
    });
}

#[test]
fn a_difference_leads_from_before_the_first_edit_to_now() {
    block(async {
        let stage = edited().await;
        let all = stage.registry.edits().changes().concat();
        assert!(all.contains("-one\n+three\n"), "{all}");
        assert!(all.contains("--- /dev/null\n") && all.contains("+new\n"), "{all}");
        assert!(!all.contains("two"), "{all}");
    });
}

#[test]
fn what_was_replaced_is_kept_private_in_the_conversations_store() {
    block(async {
        let stage = edited().await;
        let names = stage.stored();
        let kept: Vec<&String> = names
            .iter()
            .filter(|name| name.starts_with("replaced-"))
            .collect();
        assert_eq!(kept.len(), 2, "{names:?}");
        let folder = stage.home.path().join("output").join(stage.session.as_str());
        for name in kept {
            let mode = std::fs::metadata(folder.join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    });
}

#[test]
fn what_could_not_be_kept_is_said_and_not_guessed() {
    block(async {
        let mut stage = Stage::new(false);
        std::fs::write(stage.home.path().join("a.txt"), "one\n").unwrap();
        let edit = json!({"path": "a.txt", "mode": "write", "content": "two\n"});
        stage.shown("edit_file", edit).await;
        let why = stage.registry.back(Which::Last).unwrap_err();
        assert!(
            why.ends_with("a.txt was before was not kept: the disk is full"),
            "{why}"
        );
    });
}
