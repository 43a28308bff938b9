//! Files of a saved conversation damaged in every way that disks, crashes and editors have, through the real binary:
//! what can be read is gone on with, one sentence names the file and what is lost, the damaged file is kept, and what
//! is said afterwards is there the next time.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests damage the files of a home of their own"
)]

use std::fs;
use std::path::{Path, PathBuf};

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Ran, Wisp, serve};

/// Turns of the conversation; the first ones have left the context.
const TURNS: usize = 14;

/// The ways a file is damaged.
const MODES: [&str; 10] = [
    "torn", "nul", "fused", "newline", "bytes", "u2028", "twice", "tail", "half", "empty",
];

/// A file's bytes damaged in one way, at line 7 or, in a file of fewer lines, in its middle.
fn damaged(mode: &str, bytes: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let at = if lines.len() > 8 {
        6
    } else {
        (lines.len() / 2).max(1) - 1
    };
    // What stands in a string is damaged where the string is a text, which the words of a turn's record are not.
    let text = lines[..=at]
        .iter()
        .rposition(|line| line.starts_with(b"{\"entry\":"))
        .unwrap_or(at);
    match mode {
        "torn" => {
            let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            let last = whole.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
            return whole[..last + (whole.len() - last) / 2].to_vec();
        }
        "half" => return bytes[..bytes.len() / 2].to_vec(),
        "empty" => return Vec::new(),
        "tail" => return [bytes, &[0; 4096]].concat(),
        "nul" => lines.insert(at + 1, vec![0; 400]),
        "twice" => lines.insert(at, lines[at].clone()),
        "fused" => {
            let next = lines.remove(at + 1);
            let half = lines[at].len() / 2;
            lines[at].truncate(half);
            lines[at].extend(next);
        }
        "newline" => into_longest_string(&mut lines[text], b"two\nlines "),
        "bytes" => into_longest_string(&mut lines[text], b"\xff\xfe"),
        "u2028" => into_longest_string(&mut lines[text], "\u{2028}".as_bytes()),
        other => unreachable!("no way of damage is called {other}"),
    }
    lines.join(&b'\n')
}

/// Puts bytes at the beginning of the longest string of a JSON line.
fn into_longest_string(line: &mut Vec<u8>, bytes: &[u8]) {
    let (mut longest, mut open, mut escaped) = (0..0, None, false);
    for (at, byte) in line.iter().enumerate() {
        match (byte, open) {
            _ if escaped => escaped = false,
            (b'\\', Some(_)) => escaped = true,
            (b'"', None) => open = Some(at + 1),
            (b'"', Some(from)) => {
                if at - from > longest.len() {
                    longest = from..at;
                }
                open = None;
            }
            _ => {}
        }
    }
    line.splice(longest.start..longest.start, bytes.iter().copied());
}

/// A model that says how many messages it was sent.
fn counts() -> Server {
    serve(Model::new("sim"), |seen: &Seen| {
        Reply::text(&format!("I see {} messages.", seen.messages.len()))
    })
}

fn prompt(turn: usize) -> String {
    format!(
        "watch {turn}: {}",
        "the lamp was lit at dusk and the log says so. ".repeat(14)
    )
}

/// A home with a conversation that has a past, and another that is whole.
fn saved(server: &Server) -> Wisp {
    let wisp = Wisp::with(server);
    wisp.configure(&json!({"model": "sim", "ollama": {"contextLength": 4096}}));
    talked(&wisp, &["chat", "--save", "good"], &["one", "two"]);
    let lines: Vec<String> = (1..=TURNS).map(prompt).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let ran = talked(&wisp, &["chat", "--save", "work"], &lines);
    assert!(ran.err.contains("made room"), "{}", ran.err);
    assert!(records(&wisp, "store") + records(&wisp, "past") > 20);
    wisp
}

fn talked(wisp: &Wisp, args: &[&str], lines: &[&str]) -> Ran {
    let ran = wisp.run(args, &format!("{}\n/quit\n", lines.join("\n")));
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    ran
}

fn file(wisp: &Wisp, ending: &str) -> PathBuf {
    wisp.root().join("transcripts").join(format!("work.{ending}"))
}

fn records(wisp: &Wisp, ending: &str) -> usize {
    let text = std::fs::read_to_string(file(wisp, ending)).unwrap();
    text.lines().count()
}

/// Everything of `work` put back as it was.
struct Copy(Vec<(PathBuf, Vec<u8>)>);

impl Copy {
    fn of(wisp: &Wisp) -> Self {
        let files = ["store", "json", "past"].map(|ending| file(wisp, ending));
        Self(
            files
                .map(|path| (path.clone(), std::fs::read(path).unwrap()))
                .to_vec(),
        )
    }

    fn restore(&self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_name().to_string_lossy().contains("damaged") {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        for (path, bytes) in &self.0 {
            std::fs::write(path, bytes).unwrap();
        }
    }
}

/// Which turns of the conversation are lacking.
fn lacking(wisp: &Wisp) -> Vec<usize> {
    let shown = wisp.run(&["threads", "show", "work"], "").text();
    let there = |turn: &usize| shown.contains(&format!("watch {turn}: "));
    (1..=TURNS).filter(|turn| !there(turn)).collect()
}

/// How many records a sentence says are lost: `(no record is lost)`, `(2 records are lost, and 1 more place …)`.
fn said_lost(sentence: &str) -> usize {
    let counted = sentence.rsplit('(').find(|part| part.contains("record"));
    let count = counted.and_then(|part| part.split(' ').next());
    match count.unwrap_or_else(|| unreachable!("nothing is said to be lost: {sentence}")) {
        "no" => 0,
        count => count.parse().unwrap(),
    }
}

/// Damages one of the files in every way, and sees what comes of it. How many turns may be lacking then.
fn every_way(ending: &str, most: impl Fn(&str) -> usize) {
    let server = counts();
    let wisp = saved(&server);
    let copy = Copy::of(&wisp);
    let path = file(&wisp, ending);
    for mode in MODES {
        let of = format!("{ending}, {mode}");
        copy.restore(path.parent().unwrap());
        let broken = damaged(mode, &std::fs::read(&path).unwrap());
        assert_ne!(broken, std::fs::read(&path).unwrap(), "{of}");
        std::fs::write(&path, &broken).unwrap();
        // Looking changes nothing, and finds the others.
        let listed = wisp.run(&["threads"], "");
        assert!(
            listed.code == Some(0) && listed.text().contains("good\t"),
            "{of}: {}",
            listed.err
        );
        assert!(listed.text().contains("work\t"), "{of}: {}", listed.text());
        assert_eq!(std::fs::read(&path).unwrap(), broken, "{of}");
        let ran = talked(&wisp, &["chat", "--resume", "work"], &["said after"]);
        assert_eq!(ran.code, Some(0), "{of}: {}", ran.err);
        assert!(ran.text().contains("I see "), "{of}: {}", ran.err);
        let lacks = lacking(&wisp);
        assert!(lacks.len() <= most(mode), "{of}: {lacks:?} {}", ran.err);
        let name = format!("work.{ending}");
        let warned: Vec<&str> = ran.err.lines().filter(|line| line.contains(&name)).collect();
        // U+2028 is a letter as good as any, a line that stands there twice says nothing new, and what is behind the
        // end of the past belongs to nobody.
        let silent = ["u2028", "twice"].contains(&mode) || (ending, mode) == ("past", "tail");
        assert!(
            warned.len() == 1 || silent && warned.is_empty(),
            "{of}: {}",
            ran.err
        );
        if let [sentence] = warned.as_slice() {
            assert!(
                said_lost(sentence) >= usize::from(!lacks.is_empty()),
                "{of}: {sentence}"
            );
            let bound = match mode {
                "nul" | "tail" | "u2028" | "twice" => 0,
                "half" | "empty" => usize::MAX,
                _ => 1,
            };
            assert!(said_lost(sentence) <= bound, "{of}: {sentence}");
            let kept = file(&wisp, &format!("{ending}.damaged-1"));
            let kept = std::fs::read(kept).unwrap_or_default();
            assert_eq!(kept, broken, "{of}: what was found is kept");
        }
        let again = talked(&wisp, &["chat", "--resume"], &["and again"]);
        assert_eq!(again.code, Some(0), "{of}: {}", again.err);
        assert!(!again.err.contains(&name), "{of}: it is mended: {}", again.err);
        let shown = wisp.run(&["threads", "show", "work"], "").text();
        assert!(
            shown.contains("> said after") && shown.contains("> and again"),
            "{of}: {shown}"
        );
        assert_eq!(lacking(&wisp), lacks, "{of}");
    }
}

#[test]
fn a_store_damaged_in_any_way_is_gone_on_with() {
    every_way("store", |mode| match mode {
        "fused" | "bytes" | "newline" => 1,
        "half" => TURNS,
        _ => 0,
    });
}

#[test]
fn a_transcript_damaged_in_any_way_loses_nothing() {
    every_way("json", |_| 0);
}

#[test]
fn a_past_damaged_in_any_way_is_gone_on_with() {
    every_way("past", |mode| match mode {
        "fused" | "bytes" | "newline" | "torn" => 1,
        "half" | "empty" => TURNS,
        _ => 0,
    });
}

#[test]
fn with_nothing_left_to_read_the_resume_stops_with_one_sentence_and_nothing_is_written() {
    let server = counts();
    let wisp = saved(&server);
    let copy = Copy::of(&wisp);
    for (mode, words) in [("empty", "empty"), ("half", ""), ("older", "older wisp")] {
        copy.restore(file(&wisp, "store").parent().unwrap());
        for ending in ["store", "json"] {
            let found = std::fs::read(file(&wisp, ending)).unwrap();
            let bytes = match mode {
                "older" => b"{\"version\":0}\n".to_vec(),
                "half" => found[found.len() / 3..found.len() / 3 + 20].to_vec(),
                _ => Vec::new(),
            };
            std::fs::write(file(&wisp, ending), bytes).unwrap();
        }
        let before = Copy::of(&wisp).0;
        for args in [&["chat", "--resume", "work"][..], &["chat", "--resume"]] {
            let ran = talked(&wisp, args, &["hello?"]);
            assert_eq!(ran.code, Some(64), "{mode}: {}", ran.err);
            assert!(
                ran.err.contains("work") && ran.err.contains(words),
                "{mode}: {}",
                ran.err
            );
            assert!(ran.err.contains("hint: "), "{mode}: {}", ran.err);
            assert_eq!(ran.err.lines().count(), 2, "{mode}: {}", ran.err);
        }
        assert_eq!(Copy::of(&wisp).0, before, "{mode}");
        let listed = wisp.run(&["threads"], "");
        assert!(
            listed.code == Some(0) && listed.text().contains("good\t"),
            "{mode}: {}",
            listed.err
        );
        assert_eq!(
            talked(&wisp, &["chat", "--resume", "good"], &["three"]).code,
            Some(0)
        );
    }
}

/// The record of what happened is none of what a resume needs: damaged, it stops nothing, and `wisp logs verify` says.
#[test]
fn a_damaged_audit_stops_no_resume_and_is_told_by_who_checks_it() {
    let server = counts();
    let wisp = saved(&server);
    let logs: Vec<PathBuf> = std::fs::read_dir(wisp.root().join("audit"))
        .unwrap()
        .flatten()
        .map(|f| f.path())
        .collect();
    let logs: Vec<_> = logs
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    let whole: Vec<Vec<u8>> = logs.iter().map(|log| std::fs::read(log).unwrap()).collect();
    for mode in MODES {
        for (log, bytes) in logs.iter().zip(&whole) {
            std::fs::write(log, damaged(mode, bytes)).unwrap();
        }
        let ran = talked(&wisp, &["chat", "--resume", "work"], &["said after"]);
        assert_eq!(
            (ran.code, ran.text().contains("I see ")),
            (Some(0), true),
            "{mode}: {}",
            ran.err
        );
        assert_eq!(lacking(&wisp), Vec::<usize>::new(), "{mode}");
        for log in &logs {
            let session = log.file_stem().unwrap().to_str().unwrap();
            let told = wisp.run(&["logs", "verify", session], "");
            // A run of NUL bytes behind a whole record is what a crash leaves, and told as that.
            let torn = mode == "tail" && told.text().contains("torn by a crash");
            assert!(
                told.code == Some(1) || torn,
                "{mode}: {} {}",
                told.text(),
                told.err
            );
            let read = wisp.run(&["logs", "--session", session, "--json"], "");
            assert!(!read.err.contains("panicked"), "{mode}: {}", read.err);
            let events = read
                .text()
                .lines()
                .filter(|l| serde_json::from_str::<Value>(l).is_ok())
                .count();
            assert!(events > 0 || mode == "empty", "{mode}: {}", read.err);
        }
    }
}

/// The sessions of a home, each a setting that was changed.
fn audited(wisp: &Wisp, sessions: usize) -> Vec<std::path::PathBuf> {
    for turn in 0..sessions {
        let theme = ["dark", "light"][turn % 2];
        assert_eq!(wisp.run(&["config", "set", "theme", theme], "").code, Some(0));
    }
    let folder = fs::read_dir(wisp.root().join("audit")).unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    files
}

#[test]
fn a_session_or_a_seal_that_was_removed_fails_the_verification() {
    let wisp = Wisp::new();
    let files = audited(&wisp, 3);
    let verify = || wisp.run(&["logs", "verify"], "");
    let whole = verify();
    assert_eq!(whole.code, Some(0), "{}", whole.text());
    assert!(
        whole.text().contains("register: 3 sessions, all there"),
        "{}",
        whole.text()
    );
    for file in [files[1].with_extension("seal"), files[1].clone()] {
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let broken = verify();
        let name = files[1].file_stem().unwrap().to_str().unwrap();
        assert_eq!(broken.code, Some(1), "{}", broken.text());
        assert!(broken.text().contains(name), "{}", broken.text());
        fs::write(&file, bytes).unwrap();
    }
    assert_eq!(verify().code, Some(0));
}

#[test]
fn with_a_key_a_record_that_was_made_anew_fails_the_verification() {
    let wisp = Wisp::new();
    let key = wisp.work().join("audit.key");
    fs::write(&key, "k".repeat(32)).unwrap();
    let set = |mode| fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    set(0o600);
    wisp.configure(&json!({"audit": {"key": key}}));
    audited(&wisp, 2);
    let verify = || wisp.run(&["logs", "verify"], "");
    let whole = verify();
    assert_eq!(whole.code, Some(0), "{}", whole.text());
    assert_eq!(
        whole.text().matches("sealed with your key").count(),
        3,
        "{}",
        whole.text()
    );
    // By a wisp that does not have it.
    let config = fs::read(wisp.root().join("config.json")).unwrap();
    fs::remove_dir_all(wisp.root().join("audit")).unwrap();
    wisp.configure(&json!({}));
    audited(&wisp, 2);
    assert_eq!(verify().code, Some(0), "without a key it passes");
    fs::write(wisp.root().join("config.json"), config).unwrap();
    let forged = verify();
    assert_eq!(forged.code, Some(1), "{}", forged.text());
    assert!(
        forged.text().contains("not sealed with the key of audit.key"),
        "{}",
        forged.text()
    );
    // A key that others can read is no secret.
    set(0o644);
    let refused = wisp.run(&["config", "set", "theme", "dark"], "");
    assert!(
        refused.code != Some(0) && refused.err.contains("chmod 600"),
        "{}",
        refused.err
    );
}
