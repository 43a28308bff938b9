//! The output store through the real binary: piped input, questions of what is stored, the person's views of it, and a
//! store that cannot be written.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests lay out a home, mount a disk, and fail by panicking"
)]

use std::io::Read;
use std::process::{Command, Stdio};

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Wisp, calls, runs, serve, tool_message};

/// A build log with one error in the middle of 6,006 lines.
fn log() -> String {
    let lines = |name: &str| {
        (0..3_000).fold(String::new(), |text, n| {
            text + &format!("   Compiling {name}{n} v0.1.0\n")
        })
    };
    let error = "error[E0308]: mismatched types\n --> src/main.rs:4:5\n  |\n4 |     1\n  |     ^ expected `()`, found integer\n";
    format!(
        "{}{error}{}error: could not compile `tide`\n",
        lines("a"),
        lines("b")
    )
}

/// The last prompt a server was sent.
fn prompt(server: &Server) -> String {
    let chats = server.chats();
    let json = chats.last().unwrap().json.clone().unwrap();
    let messages = json["messages"].as_array().unwrap().clone();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

fn answers() -> Server {
    serve(Model::new("sim"), |_: &Seen| Reply::text("a type error"))
}

#[test]
fn a_piped_log_is_kept_whole_and_the_model_gets_what_fits_and_the_digest() {
    let server = answers();
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["why did this fail?"], &log());
    assert_eq!(
        (ran.code, ran.text().as_str()),
        (Some(0), "a type error\n"),
        "{}",
        ran.err
    );
    let kept = wisp.kept();
    assert_eq!(kept.len(), 1);
    assert_eq!(
        (kept[0].0["tool"].as_str(), kept[0].1.as_slice()),
        (Some("stdin"), log().as_bytes())
    );
    let prompt = prompt(&server);
    assert!(prompt.contains("why did this fail?"), "{prompt}");
    assert!(
        prompt.contains("Standard input (6,006 lines, ") && prompt.contains("held back"),
        "{prompt}"
    );
    assert!(
        prompt.contains("L3001") && prompt.contains("mismatched types"),
        "the digest: {prompt}"
    );
    let id = kept[0].0["id"].as_str().unwrap();
    assert!(
        prompt.contains(&format!("memory \"recall output {}", &id[..8])),
        "{prompt}"
    );
}

#[test]
fn a_short_input_is_the_prompt_or_follows_it_and_is_never_a_command() {
    let server = answers();
    let wisp = Wisp::with(&server);
    wisp.run(&["review this"], "fn main() {}\n");
    assert!(
        prompt(&server).ends_with("review this\n\nfn main() {}\n"),
        "{}",
        prompt(&server)
    );
    wisp.run(&[], "What is a tide gauge?\n");
    assert!(prompt(&server).ends_with("What is a tide gauge?\n"));
    for line in ["!touch made\n", "/quit\n"] {
        let ran = wisp.run(&[], line);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            prompt(&server).contains(&format!("Standard input:\n{line}")),
            "{}",
            prompt(&server)
        );
    }
    assert!(!wisp.work().join("made").exists());
}

#[test]
fn memory_joins_in_a_small_window_and_answers_from_the_store() {
    let server = serve(Model::new("sim").with_context_length(8_192), |seen: &Seen| {
        let last = seen
            .last()
            .map(|m| (m.role.clone(), m.content.clone()))
            .unwrap_or_default();
        match last.1.as_str() {
            text if last.0 == "tool" && text.contains("held back") => {
                let id = text.split("recall output ").nth(1).unwrap()[..8].to_owned();
                Reply::call(
                    "memory",
                    json!({"request": format!("recall output {id} matching NEEDLE")}),
                )
            }
            _ if last.0 == "tool" => Reply::text("found"),
            _ => Reply::call(
                "run_command",
                json!({"command": "seq 1 5000; echo NEEDLE; seq 1 5000"}),
            ),
        }
    });
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--yes", "look"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = tool_message(&server);
    assert!(
        told.contains("1 of 10,001 lines matches") && told.contains("\n5001: NEEDLE\n"),
        "{told}"
    );
    let offered = |n: usize| {
        server.chats()[n].json.clone().unwrap()["tools"]
            .to_string()
            .contains("\"memory\"")
    };
    assert!(!offered(0) && offered(1));
    let asked: Vec<Value> = wisp
        .audit()
        .into_iter()
        .filter(|e| e["kind"] == "context.memory")
        .collect();
    assert_eq!(
        (asked.len(), &asked[0]["details"]["action"]),
        (1, &json!("recall"))
    );
}

/// A home with one kept output of 20,000 numbered lines; its id.
fn kept(server: &Server) -> (Wisp, String) {
    let wisp = Wisp::with(server);
    let ran = wisp.run(&["--yes", "go"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let id = wisp.kept()[0].0["id"].as_str().unwrap().to_owned();
    (wisp, id)
}

#[test]
fn a_person_filters_yesterdays_build_from_the_shell() {
    let server = runs("seq 1 20000");
    let (wisp, id) = kept(&server);
    let short = &id[..8];
    let whole = wisp.run(&["show", short], "");
    assert_eq!(
        whole.out,
        wisp.kept()[0].1,
        "into a pipe: the bytes as they are stored"
    );
    assert!(whole.err.contains("the whole, 20,000 lines"), "{}", whole.err);
    assert_eq!(wisp.run(&["show", short, "--raw"], "").out, wisp.kept()[0].1);
    let shown = |args: &[&str]| wisp.run(&[&["show", short], args].concat(), "").text();
    assert!(shown(&["--matching", "^1999.$"]).contains("\n19990: 19990\n"));
    assert!(shown(&["--head", "3"]).contains("3: 3\n"));
    assert!(shown(&["--tail", "1"]).contains("20000: 20000\n"));
    let both = shown(&["--matching", "7$", "--lines", "100-199", "--tail", "2"]);
    assert_eq!(
        both,
        "187: 187\n197: 197\n[2 of 10 lines that pass the filters]\n"
    );
    let first = shown(&["--matching", "7$", "--head", "1"]);
    assert_eq!(first, "7: 7\n[1 of 2,000 lines that pass the filters]\n");
    let wrong = wisp.run(&["show", short, "--head", "1", "--tail", "1"], "");
    assert_eq!(wrong.code, Some(64), "{}", wrong.err);
    let wrong = wisp.run(&["show", "feedface"], "");
    assert_eq!(wrong.code, Some(1));
    assert!(
        wrong.err.contains("no stored output has the id feedface"),
        "{}",
        wrong.err
    );
    let list: Value = serde_json::from_slice(&wisp.run(&["outputs", "--json"], "").out).unwrap();
    assert_eq!(
        (&list[0]["id"], &list[0]["tool"]),
        (&json!(id), &json!("run_command"))
    );
    assert_eq!(
        (&list[0]["arguments"], &list[0]["lines"]),
        (&json!("seq 1 20000"), &json!(20_000))
    );
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let server = runs("seq 1 200000");
    let (wisp, id) = kept(&server);
    let mut child = wisp
        .command(&["show", &id])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 16];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut first).unwrap();
    drop(out);
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!err.contains("error") && !err.contains("panicked"), "{err}");
}

#[test]
fn a_store_replaced_by_a_link_is_not_followed() {
    let server = runs("seq 1 20000");
    let wisp = Wisp::with(&server);
    let elsewhere = wisp.work().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, wisp.root().join("output")).unwrap();
    let ran = wisp.run(&["--yes", "go"], "");
    assert_eq!(
        (ran.code, ran.text().as_str()),
        (Some(0), "done\n"),
        "{}",
        ran.err
    );
    assert_eq!(
        std::fs::read_dir(&elsewhere).unwrap().count(),
        0,
        "nothing is written elsewhere"
    );
    let told = tool_message(&server);
    assert!(told.contains("held back") && told.contains("not kept"), "{told}");
}

/// A disk of so much room at `path`, for as long as this lives; none where it cannot be mounted.
struct Disk(std::path::PathBuf);

impl Disk {
    fn mount(path: std::path::PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir_all(&path).unwrap();
        let option = format!("size={size},mode=700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &option, "tmpfs"])
            .arg(&path)
            .output();
        mounted.is_ok_and(|m| m.status.success()).then_some(Self(path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_bounds_the_result_says_so_and_the_turn_goes_on() {
    let server = runs("seq 1 400000");
    let wisp = Wisp::with(&server);
    let Some(disk) = Disk::mount(wisp.root().join("output"), "1m") else {
        eprintln!("SKIPPED: a disk of 1 MiB cannot be mounted here");
        return;
    };
    let ran = wisp.run(&["--yes", "go"], "");
    assert_eq!(
        (ran.code, ran.text().as_str()),
        (Some(0), "done\n"),
        "{}",
        ran.err
    );
    let told = tool_message(&server);
    assert!(
        told.contains("exit status 0") && told.contains("held back"),
        "{told}"
    );
    assert!(told.contains("the disk is full"), "{told}");
    assert!(told.len() <= 65_536);
    let left: Vec<_> = std::fs::read_dir(&disk.0)
        .unwrap()
        .flatten()
        .flat_map(|s| std::fs::read_dir(s.path()).unwrap())
        .collect();
    assert!(left.is_empty(), "no half file stays behind: {left:?}");
}

#[test]
fn what_is_no_file_is_refused_before_it_is_opened() {
    for (path, word) in [
        ("/dev/zero", "regular"),
        ("pipe", "regular"),
        ("socket", "regular"),
    ] {
        let server = calls("read_file", json!({ "path": path }));
        let wisp = Wisp::with(&server);
        let made = Command::new("mkfifo")
            .arg(wisp.work().join("pipe"))
            .status()
            .unwrap();
        assert!(made.success());
        let _socket = std::os::unix::net::UnixListener::bind(wisp.work().join("socket")).unwrap();
        let ran = wisp.run(&["--yes", "go"], "");
        assert_eq!(
            (ran.code, ran.text().as_str()),
            (Some(0), "done\n"),
            "{}",
            ran.err
        );
        let told = tool_message(&server);
        assert!(
            told.starts_with("error: ") && told.contains(word),
            "{path}: {told}"
        );
    }
}
