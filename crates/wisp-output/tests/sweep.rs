//! The sweep by age: what goes, what stays, and how much a start does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests put files where the store must not look"
)]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use wisp_output::Shelf;
use wisp_output::store::{Sweep, SweepReport};

const DAY: u64 = 24 * 3_600;

fn now() -> Timestamp {
    "2026-11-30T09:00:00Z".parse().unwrap()
}

fn at_now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(now().as_second().unsigned_abs())
}

fn age(path: &Path, days: u64) {
    let at = at_now() - Duration::from_secs(days * DAY + 60);
    File::open(path).unwrap().set_modified(at).unwrap();
}

/// A session with one output of 100 bytes, last used so many days ago.
fn session(home: &Path, name: &str, days: u64) {
    let dir = home.join("output").join(name);
    fs::create_dir_all(&dir).unwrap();
    for (file, bytes) in [("0000000000000001", 90), ("0000000000000001.json", 10)] {
        fs::write(dir.join(file), vec![b'x'; bytes]).unwrap();
        age(&dir.join(file), days);
    }
    age(&dir, days);
}

fn sweep<'a>(shelf: &'a Shelf, current: &'a str) -> Sweep<'a> {
    Sweep {
        shelf,
        current: Some(current),
        now: now(),
        days: 30,
        time_limit: Duration::MAX,
    }
}

fn names(report: &SweepReport) -> Vec<&str> {
    report
        .removed
        .iter()
        .map(|swept| swept.session.as_str())
        .collect()
}

#[test]
fn a_session_goes_thirty_days_after_its_last_use() {
    let home = tempfile::tempdir().unwrap();
    for (name, days) in [("old", 30), ("older", 45), ("young", 29), ("current", 90)] {
        session(home.path(), name, days);
    }
    let shelf = Shelf::new(home.path());
    let plan = sweep(&shelf, "current").survey().unwrap();
    assert_eq!(
        (names(&plan.next), plan.sessions, plan.bytes),
        (vec!["older", "old"], 4, 400)
    );
    let report = sweep(&shelf, "current").run().unwrap();
    assert_eq!(
        (names(&report), report.bytes(), report.deferred),
        (vec!["older", "old"], 200, 0)
    );
    let left = |name: &str| home.path().join("output").join(name).exists();
    assert!(!left("old") && !left("older") && left("young") && left("current"));
    assert!(sweep(&shelf, "current").run().unwrap().is_empty());
}

#[test]
fn a_file_used_later_keeps_its_session_and_zero_days_keeps_all() {
    let home = tempfile::tempdir().unwrap();
    session(home.path(), "used", 60);
    let file = home.path().join("output/used/0000000000000001");
    age(&file, 2);
    let shelf = Shelf::new(home.path());
    assert!(sweep(&shelf, "x").run().unwrap().is_empty());
    age(&file, 60);
    assert!(
        Sweep {
            days: 0,
            ..sweep(&shelf, "x")
        }
        .run()
        .unwrap()
        .is_empty()
    );
    assert_eq!(names(&sweep(&shelf, "x").run().unwrap()), ["used"]);
}

#[test]
fn a_start_removes_sixteen_and_none_once_its_time_is_up() {
    let home = tempfile::tempdir().unwrap();
    for at in 0..20 {
        session(home.path(), &format!("s{at:02}"), 40 + at);
    }
    let shelf = Shelf::new(home.path());
    let late = Sweep {
        time_limit: Duration::ZERO,
        ..sweep(&shelf, "x")
    }
    .run()
    .unwrap();
    assert_eq!((late.removed.len(), late.deferred), (0, 20));
    let first = sweep(&shelf, "x").run().unwrap();
    assert_eq!((first.removed.len(), first.deferred), (16, 4));
    assert_eq!(first.removed[0].session, "s19", "the oldest first");
    assert_eq!(sweep(&shelf, "x").run().unwrap().removed.len(), 4);
}

#[test]
fn nothing_that_is_not_wisps_is_touched() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("output");
    session(home.path(), "nested", 60);
    fs::create_dir(root.join("nested/folder")).unwrap();
    session(home.path(), "strange", 60);
    fs::write(root.join("strange/a b"), "x").unwrap();
    session(home.path(), "linked", 60);
    symlink("/etc/hostname", root.join("linked/0000000000000002")).unwrap();
    fs::create_dir(root.join("un safe")).unwrap();
    fs::write(root.join("file"), "x").unwrap();
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("0000000000000003"), "x").unwrap();
    symlink(&elsewhere, root.join("link")).unwrap();
    for name in ["nested", "strange", "linked", "un safe"] {
        age(&root.join(name), 60);
    }
    let shelf = Shelf::new(home.path());
    assert!(sweep(&shelf, "x").run().unwrap().is_empty());
    assert!(elsewhere.join("0000000000000003").exists() && root.join("file").exists());
    let mut foreign = sweep(&shelf, "x").survey().unwrap().foreign;
    foreign.sort();
    assert_eq!(
        foreign,
        ["file", "link", "linked", "nested", "strange", "un safe"]
    );
}

#[test]
fn what_a_crash_left_is_swept_after_a_day() {
    let home = tempfile::tempdir().unwrap();
    session(home.path(), "recent", 2);
    let dir = home.path().join("output/recent");
    for (name, days) in [
        ("0000000000000009", 2),
        ("0000000000000008", 0),
        (".wisp-Ab12", 2),
    ] {
        fs::write(dir.join(name), "half").unwrap();
        age(&dir.join(name), days);
    }
    let shelf = Shelf::new(home.path());
    let report = sweep(&shelf, "x").run().unwrap();
    assert_eq!((report.debris, report.removed.len()), (2, 0));
    assert!(!dir.join("0000000000000009").exists() && dir.join("0000000000000008").exists());
    assert!(dir.join("0000000000000001").exists(), "what has a record stays");
}

#[test]
fn a_home_without_a_store_has_nothing_to_sweep() {
    let home = tempfile::tempdir().unwrap();
    let shelf = Shelf::new(home.path());
    assert!(sweep(&shelf, "x").run().unwrap().is_empty());
    assert!(!home.path().join("output").exists());
}
