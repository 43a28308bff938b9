//! Ten statements in a conversation of 29 turns: what is left of them, and what reading it cost the server.

#[path = "common/retention.rs"]
mod retention;
#[path = "common/talk.rs"]
mod talk;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_8192_everything_said_is_shown_or_behind_a_hint() {
    let home = tempfile::tempdir().expect("a folder");
    let figures = retention::measure(home.path(), 8192).await;
    assert_eq!(figures.reachable.len(), 10, "{figures:#?}");
    assert!(figures.stand.len() >= 9, "{figures:#?}");
    assert!(figures.condensations > 0, "the window was too small for it all");
    assert_eq!(
        (figures.over, figures.failed),
        (0, 0),
        "no request over the window"
    );
    assert!(
        figures.ratio() <= 2.0,
        "{} evaluated, {} new",
        figures.evaluated,
        figures.new
    );
    let number = "checksum 7741093";
    assert!(!figures.last.contains(number), "it is held back, not shown");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_32768_little_is_read_twice() {
    let home = tempfile::tempdir().expect("a folder");
    let figures = retention::measure(home.path(), 32_768).await;
    assert_eq!(figures.reachable.len(), 10, "{figures:#?}");
    assert_eq!((figures.over, figures.failed), (0, 0));
    assert!(
        figures.ratio() <= 1.2,
        "{} evaluated, {} new",
        figures.evaluated,
        figures.new
    );
}
