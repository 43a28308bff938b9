//! `find_files` and `search_text` over folders of the tests' own.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and make the files they search"
)]

mod support;

use serde_json::json;
use support::{Stage, block};
use wisp_guard::Threshold;

/// A folder with sources, a build directory that is ignored, a repository's own files and wisp's.
fn stage(threshold: Threshold) -> Stage {
    let stage = Stage::asking(true, threshold);
    let files = [
        (".gitignore", "target/\n*.log\naudit/\noutput/\n"),
        (".git/HEAD", "needle\n"),
        (".github/ci.yml", "run: needle\n"),
        (".wisp/config.json", "needle\n"),
        (".env", "KEY=needle\n"),
        ("README.md", "no such word\n"),
        ("src/main.rs", "fn main() {\n    needle(1);\n}\n"),
        ("src/deep/lib.rs", "// Needle\n"),
        ("src/picture.bin", "\0needle\n"),
        ("target/out.rs", "needle\n"),
        ("build.log", "needle\n"),
    ];
    for (name, text) in files {
        let path = stage.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    stage
}

async fn told(tool: &str, arguments: serde_json::Value) -> String {
    stage(Threshold::Never).shown(tool, arguments).await
}

#[test]
fn a_glob_without_a_slash_is_for_names_in_all_folders() {
    block(async {
        let found = told("find_files", json!({"pattern": "*.rs"})).await;
        assert_eq!(found, "src/deep/lib.rs\nsrc/main.rs");
    });
}

#[test]
fn a_glob_with_a_slash_is_for_the_path() {
    block(async {
        let of = async |pattern: &str| told("find_files", json!({"pattern": pattern})).await;
        assert_eq!(of("src/*.rs").await, "src/main.rs");
        assert_eq!(of("./src/**/*.rs").await, "src/deep/lib.rs\nsrc/main.rs");
        assert_eq!(of("src/{main,lib}.rs").await, "src/main.rs");
        assert_eq!(of("**/deep/").await, "src/deep/");
    });
}

#[test]
fn what_ignore_files_name_is_left_out_and_said_to_be() {
    block(async {
        let none = told("find_files", json!({"pattern": "out.rs"})).await;
        let said = "no name matches out.rs among 7 files; what .gitignore names was left out: run_command with find or grep \
                    sees it";
        assert_eq!(none, said);
    });
}

#[test]
fn lines_come_with_path_and_number_and_credentials_are_named_and_not_read() {
    block(async {
        let found = told("search_text", json!({"pattern": "needle"})).await;
        let lines = ".github/ci.yml:1: run: needle\nsrc/main.rs:2:     needle(1);\n[2 lines in 2 files]\n\
                     [not searched, may hold credentials: .env]";
        assert_eq!(found, lines);
    });
}

#[test]
fn a_file_or_a_glob_narrows_a_search_and_any_case_can_be_asked_for() {
    block(async {
        let of = async |arguments| told("search_text", arguments).await;
        let file = json!({"pattern": "needle", "path": "src/main.rs"});
        assert_eq!(
            of(file).await,
            "src/main.rs:2:     needle(1);\n[1 line in 1 file]"
        );
        let any = json!({"pattern": "(?i)NEEDLE", "path": "src", "glob": "l*.rs"});
        assert_eq!(of(any).await, "src/deep/lib.rs:1: // Needle\n[1 line in 1 file]");
    });
}

#[test]
fn what_is_no_regular_expression_is_searched_for_as_it_stands() {
    block(async {
        let found = told("search_text", json!({"pattern": "needle("})).await;
        let lines = "[pattern is not a regular expression: searched for as it stands]\n\
                     src/main.rs:2:     needle(1);\n[1 line in 1 file]\n[not searched, may hold credentials: .env]";
        assert_eq!(found, lines);
    });
}

#[test]
fn errors_name_the_argument_and_what_to_give() {
    block(async {
        let glob = told("find_files", json!({"pattern": "src/{a"})).await;
        assert!(
            glob.starts_with("error: pattern \"src/{a\" is not a glob: "),
            "{glob}"
        );
        let path = told("search_text", json!({"pattern": "x", "path": "no/such"})).await;
        assert!(
            path.starts_with("error: path no/such cannot be searched: "),
            "{path}"
        );
        let file = told("find_files", json!({"pattern": "x", "path": "README.md"})).await;
        let said = "error: path is a file: give the folder to look in, or read the file with read_file";
        assert_eq!(file, said);
        let empty = told("search_text", json!({"pattern": ""})).await;
        assert_eq!(empty, "error: pattern is empty: give what to search for");
    });
}

#[test]
fn a_folder_outside_and_one_of_credentials_are_asked_about() {
    block(async {
        let other = tempfile::tempdir().unwrap();
        std::fs::create_dir(other.path().join(".ssh")).unwrap();
        std::fs::write(other.path().join(".ssh/notes"), "needle\n").unwrap();
        for folder in [other.path().to_owned(), other.path().join(".ssh")] {
            let mut stage = stage(Threshold::From(wisp_guard::Level::Moderate));
            let arguments = json!({"pattern": "needle", "path": folder});
            let refused = stage.shown("search_text", arguments).await;
            assert!(refused.starts_with("error: "), "{refused}");
            assert!(!refused.contains("notes"), "{refused}");
        }
    });
}

#[test]
fn a_link_is_not_followed_out_of_the_folder() {
    block(async {
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("secret.txt"), "needle\n").unwrap();
        let mut stage = stage(Threshold::Never);
        let links = [
            ("file.txt", other.path().join("secret.txt")),
            ("folder", other.path().to_owned()),
        ];
        for (name, target) in links {
            std::os::unix::fs::symlink(target, stage.home.path().join("src/deep").join(name)).unwrap();
        }
        let found = stage
            .shown("search_text", json!({"pattern": "needle", "path": "src/deep"}))
            .await;
        assert!(found.starts_with("no line matches needle in 1 file"), "{found}");
    });
}

#[test]
fn more_than_fits_is_kept_and_the_last_line_that_is_shown_is_the_five_thousandth() {
    block(async {
        let mut stage = Stage::new(true);
        let text = |lines: usize| "needle\n".repeat(lines);
        let path = stage.home.path().join("many.txt");
        std::fs::write(&path, text(5_000)).unwrap();
        let search = json!({"pattern": "needle", "path": "many.txt"});
        let shown = stage.shown("search_text", search.clone()).await;
        assert!(shown.len() <= 4_096, "{}", shown.len());
        assert!(shown.contains("[5,000 lines in 1 file]"), "{shown}");
        std::fs::write(&path, text(5_001)).unwrap();
        let shown = stage.shown("search_text", search).await;
        let end = "[more than 5,000 lines match: give a narrower pattern, path or glob]";
        assert!(shown.contains(end), "{shown}");
        assert_eq!(stage.recorded("output.kept").len(), 2);
    });
}

#[test]
fn a_long_line_is_cut_between_characters() {
    block(async {
        let mut stage = Stage::new(true);
        std::fs::write(stage.home.path().join("a.txt"), format!("x{}\n", "é".repeat(200))).unwrap();
        let shown = stage
            .shown("search_text", json!({"pattern": "^x", "path": "a.txt"}))
            .await;
        let line = format!("a.txt:1: x{}…", "é".repeat(149));
        assert_eq!(shown, format!("{line}\n[1 line in 1 file]"));
    });
}

#[test]
fn a_search_that_is_stopped_says_so() {
    block(async {
        let mut stage = stage(Threshold::Never);
        stage.cancel.press();
        let found = stage.shown("find_files", json!({"pattern": "*.rs"})).await;
        let said = "\n[stopped by the user: not everything was searched]";
        assert!(found.ends_with(said), "{found}");
    });
}
