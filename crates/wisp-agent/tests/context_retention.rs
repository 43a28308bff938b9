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

/// Decisions, each with the everyday words that take it back fifteen turns later.
const REVERSED: [(&str, &str); 3] = [
    ("The cache is kept in SQLite.", "Drop SQLite, flat files it is."),
    ("The labels are in German.", "Labels in Dutch from now on."),
    ("The report is a PDF.", "Forget the PDF, Markdown will do."),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_taken_back_in_everyday_words_is_not_told_as_holding() {
    let home = tempfile::tempdir().expect("a folder");
    let reply = "The handlers come first, then the store, then the checks around it. ".repeat(8);
    let server = talk::serve(ollama_sim::profile::V0_24_0, move |_| {
        ollama_sim::Reply::text(&reply)
    });
    let mut talk = talk::Talk::open(home.path(), &server, 4096, |_| {})
        .await
        .expect("opened");
    talk.say("Port the tide table to Rust.").await;
    for turn in 2..=60_usize {
        let said = match turn {
            2..=4 => REVERSED[turn - 2].0.to_owned(),
            18..=20 => REVERSED[turn - 18].1.to_owned(),
            _ if turn % 2 == 0 => format!("The buoy at mile {turn} is number {}.", turn * 7),
            _ => format!("What comes next for station {turn} of the northern coast?"),
        };
        talk.say(&said).await;
    }
    talk.leave().await;
    let chats = talk::chats(&server);
    for (messages, _) in &chats[20..] {
        let text = talk::text_of(messages);
        for (old, new) in REVERSED {
            assert!(!text.contains(old) || text.contains(new), "{old}\n{text}");
        }
    }
    let last = talk::text_of(&chats.last().expect("sent").0);
    for (old, new) in REVERSED {
        assert!(last.contains(new) && !last.contains(old), "{new}\n{last}");
    }
}
