//! A disk that refuses, at each step of each kind of save: what was saved last opens, nothing is left behind, the person is
//! told, and the next save succeeds once the disk takes it.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read folders and stop at what they do not expect"
)]

#[path = "common/talk.rs"]
mod talk;

use std::path::Path;

use ollama_sim::profile::V0_24_0;
use ollama_sim::{Reply, Seen};
use talk::{Talk, notes, serve};
use wisp_agent::protocol::NoteLevel;
use wisp_agent::saved::{Folder, SavedError, Thread};
use wisp_context::{
    Content, Dropped, EntryId, Estimator, Gauge, Loss, Outcome, Phase, Reason, Revision, SavedFile, Stamp,
    Target, ThreadRecord, Time, Wanted,
};
use wisp_host::faults::{Faults, Step, Times, Watch};

const FULL: i32 = 28;
const BROKEN: i32 = 5;

/// A folder in memory where the system has one: what is tested is what is done in which order, not the disk.
fn new_home() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    made.unwrap()
}

/// What is known of every entry, whoever has the record.
type Known = Vec<(EntryId, u32, Revision, Option<Dropped>, Content)>;

fn known(record: &ThreadRecord) -> Known {
    let entries = record.entries().iter();
    entries
        .map(|e| (e.id, e.turn, e.revision, e.dropped.clone(), e.content.clone()))
        .collect()
}

/// A record that is saved and put away, and the same one always whole.
struct Twins {
    saved: ThreadRecord,
    whole: ThreadRecord,
}

impl Twins {
    fn new() -> Self {
        let record = ThreadRecord::new("You are wisp.", Stamp::at(Time::utc(0)));
        Self {
            saved: record.clone(),
            whole: record,
        }
    }

    fn turn(&mut self) {
        for record in [&mut self.saved, &mut self.whole] {
            let number = record.turn_count() + 1;
            let stamp = || Stamp::at(Time::utc(i64::from(number) * 1000));
            record.begin_turn(format!("message {number}"), stamp());
            record.record_reply("a reply of some length. ".repeat(20), false, stamp());
            record.end_turn(Outcome::Completed);
        }
    }

    /// All turns but the last leave.
    fn condense(&mut self) {
        let estimator = Estimator::default();
        let gauge = Gauge {
            estimator: &estimator,
            window: Some(2048),
            target: Target {
                target: 0.1,
                ..Target::default()
            },
        };
        for record in [&mut self.saved, &mut self.whole] {
            let plan = record.plan(&gauge, Phase::Idle, Reason::Asked).unwrap();
            let event = format!("event-{}", record.turn_count());
            record.condense(plan, event).unwrap();
        }
    }

    fn save(&mut self, thread: &mut Thread) -> Result<(), SavedError> {
        thread.save(&mut self.saved, Box::new(|_| 0))
    }
}

/// A conversation that is about to be saved in one of the ways there are.
fn about_to_be_saved(kind: &str, folder: &Folder) -> (Thread, Twins) {
    let mut twins = Twins::new();
    let mut thread = match kind {
        "unnamed" => Thread::unnamed(folder.clone(), "20260101T000000-1a2b3c4d", 1),
        _ => Thread::named(folder.clone(), "work").unwrap(),
    };
    twins.turn();
    if matches!(kind, "unnamed" | "named, the first time") {
        return (thread, twins);
    }
    for _ in 0..3 {
        twins.turn();
    }
    twins.save(&mut thread).unwrap();
    if kind == "the past grows" {
        twins.condense();
        twins.save(&mut thread).unwrap();
        twins.turn();
    }
    if kind != "named, again" {
        twins.turn();
        twins.condense();
    }
    twins.turn();
    (thread, twins)
}

const KINDS: [&str; 5] = [
    "named, the first time",
    "unnamed",
    "named, again",
    "the past begins",
    "the past grows",
];

fn refusing(folder: &Path, at: usize, times: Times, error: i32) -> Watch {
    let spare = if error == FULL {
        vec![Step::Remove]
    } else {
        Vec::new()
    };
    let faults = Faults {
        folder: folder.to_owned(),
        at,
        times,
        error,
        spare,
    };
    faults.arm()
}

/// How many steps a save of this kind has.
fn steps(kind: &str) -> usize {
    let home = new_home();
    let folder = Folder::new(home.path().join("transcripts"));
    let (mut thread, mut twins) = about_to_be_saved(kind, &folder);
    let watch = Faults::none(folder.root()).arm();
    twins.save(&mut thread).unwrap();
    watch.steps().len()
}

/// What is saved opens whole and is one of `states`; the empty state is that nothing is saved.
fn opens_as_one_of(folder: &Folder, name: &str, states: &[Known], of: &str) {
    let found = match folder.load(name) {
        Err(SavedError::NotFound { .. }) => Vec::new(),
        loaded => {
            let loaded = loaded.unwrap();
            // Of a first save that was refused between its two files, the second copy is not there yet.
            let first = states.first().is_some_and(Vec::is_empty);
            let lost = |loss: &Loss| !first || loss.file != SavedFile::Transcript || loss.records > 0;
            assert!(!loaded.losses.iter().any(lost), "{of}: {:?}", loaded.losses);
            known(&loaded.record)
        }
    };
    assert!(states.contains(&found), "{of}: {} entries", found.len());
}

fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .map(|file| file.file_name().into_string().unwrap())
        .collect()
}

fn nothing_is_left_behind(folder: &Folder, of: &str) {
    let names = names(folder.root());
    assert!(names.iter().all(|name| !name.starts_with('.')), "{of}: {names:?}");
}

#[test]
fn a_save_refused_at_any_step_leaves_the_last_one_and_the_next_one_succeeds() {
    for kind in KINDS {
        let steps = steps(kind);
        assert!(steps >= 8, "{kind}: {steps}");
        for (times, error) in [(Times::Once, FULL), (Times::FromThenOn, BROKEN)] {
            for at in 1..=steps {
                refused_at(kind, at, times, error);
            }
        }
    }
}

fn refused_at(kind: &str, at: usize, times: Times, error: i32) {
    let home = new_home();
    let folder = Folder::new(home.path().join("transcripts"));
    let (mut thread, mut twins) = about_to_be_saved(kind, &folder);
    let name = thread.name().to_owned();
    let before = folder
        .load(&name)
        .map_or_else(|_| Vec::new(), |loaded| known(&loaded.record));
    let mut states = vec![before, known(&twins.whole)];
    let watch = refusing(folder.root(), at, times, error);
    let of = || format!("{kind}, {times:?} from step {at}, {:?}", watch.steps().last());
    let saved = twins.save(&mut thread);
    assert!(watch.has_failed(), "{}", of());
    let refused = saved.expect_err(&of());
    assert_eq!(refused.hint().is_some(), error == FULL, "{refused}");
    if times == Times::FromThenOn {
        twins.turn();
        states.push(known(&twins.whole));
        twins.save(&mut thread).expect_err(&of());
    }
    let of = of();
    drop(watch);
    opens_as_one_of(&folder, &name, &states, &of);
    nothing_is_left_behind(&folder, &of);
    goes_on(&folder, thread, twins, &of);
}

/// The next saves succeed and hold everything; then the conversation is closed.
fn goes_on(folder: &Folder, mut thread: Thread, mut twins: Twins, of: &str) {
    let name = thread.name().to_owned();
    for condensed in [false, true] {
        twins.turn();
        if condensed {
            twins.condense();
        }
        twins.save(&mut thread).expect(of);
        opens_as_one_of(folder, &name, &[known(&twins.whole)], of);
    }
    assert!(!twins.saved.is_whole(), "{of}: what left is put away again");
    for wanted in [Wanted::Turn(1), Wanted::Entry(EntryId(2))] {
        let recalled = thread.recalled(&twins.saved, &wanted).expect(of);
        assert_eq!(recalled, twins.whole.recall(&wanted).unwrap(), "{of}");
    }
    let whole = thread.whole(&twins.saved).expect(of);
    assert_eq!(known(&whole), known(&twins.whole), "{of}");
    drop(thread);
    let mut left = names(folder.root());
    left.sort();
    let files = ["json", "past", "store"].map(|ending| format!("{name}.{ending}"));
    assert_eq!(left, files, "{of}");
}

/// The first refusal may have put a store in place that names more of the past than the record knows of: the next save,
/// refused as well, must not touch it.
#[test]
fn two_saves_refused_one_after_the_other_leave_a_whole_one() {
    let kind = "the past grows";
    let steps = steps(kind);
    for first in 1..=steps {
        for second in 1..=steps {
            let home = new_home();
            let folder = Folder::new(home.path().join("transcripts"));
            let (mut thread, mut twins) = about_to_be_saved(kind, &folder);
            let mut states = vec![known(&folder.load("work").unwrap().record)];
            let of = format!("steps {first} and {second}");
            for at in [first, second] {
                states.push(known(&twins.whole));
                let watch = refusing(folder.root(), at, Times::Once, FULL);
                let saved = twins.save(&mut thread);
                assert_eq!(watch.has_failed(), saved.is_err(), "{of}");
                drop(watch);
                opens_as_one_of(&folder, "work", &states, &of);
                twins.turn();
                twins.condense();
            }
            states.push(known(&twins.whole));
            twins.save(&mut thread).expect(&of);
            opens_as_one_of(&folder, "work", &states[3..], &of);
        }
    }
}

#[test]
fn a_deletion_refused_at_any_step_leaves_what_was_saved_or_nothing() {
    let prepared = |folder: &Folder| {
        let (mut thread, mut twins) = about_to_be_saved("the past grows", folder);
        twins.save(&mut thread).unwrap();
        known(&twins.whole)
    };
    let home = new_home();
    let folder = Folder::new(home.path().join("transcripts"));
    prepared(&folder);
    let watch = Faults::none(folder.root()).arm();
    folder.delete("work").unwrap();
    // The lock's file is the last to go, and is nobody's business when it stays.
    let steps = watch.steps().len() - 1;
    drop(watch);
    assert_eq!(names(folder.root()), Vec::<String>::new());
    for at in 1..=steps {
        let home = new_home();
        let folder = Folder::new(home.path().join("transcripts"));
        let whole = prepared(&folder);
        let watch = refusing(folder.root(), at, Times::FromThenOn, BROKEN);
        folder.delete("work").unwrap_err();
        let of = format!("step {at}, {:?}", watch.steps().last());
        drop(watch);
        match folder.load("work") {
            // Nothing to resume: only the past was still to go.
            Err(SavedError::NotFound { .. }) => {
                assert!(!folder.has("work"), "{of}");
                assert_eq!(folder.list().unwrap(), [], "{of}");
            }
            loaded => {
                let loaded = loaded.unwrap();
                assert_eq!(known(&loaded.record), whole, "{of}");
                assert!(loaded.losses.iter().all(|loss| loss.records == 0), "{of}");
                folder.delete("work").expect(&of);
                assert_eq!(names(folder.root()), Vec::<String>::new(), "{of}");
            }
        }
        // Under the same name a new conversation begins as under any other.
        let (mut thread, mut twins) = about_to_be_saved("named, the first time", &folder);
        twins.save(&mut thread).expect(&of);
        goes_on(&folder, thread, twins, &of);
    }
}

/// A conversation of which turns have left, in a window of 4,096 tokens.
async fn long_talk(home: &Path, server: &ollama_sim::Server, name: Option<&str>) -> Talk {
    let name = name.map(str::to_owned);
    let mut talk = Talk::open(home, server, 4096, |setup| setup.saving.name = name)
        .await
        .unwrap();
    for number in 0..6 {
        talk.say(&format!("message {number}")).await;
    }
    talk
}

fn server() -> ollama_sim::Server {
    serve(V0_24_0, |seen: &Seen| {
        let last = &seen.last().unwrap().content;
        Reply::text(&format!(
            "{last}: {}",
            "the lamp was lit, and the log says so. ".repeat(80)
        ))
    })
}

fn prompts(folder: &Folder, name: &str) -> Vec<String> {
    let loaded = folder.load(name).unwrap();
    assert_eq!(loaded.losses, [], "{name}");
    let entries = loaded.record.entries().iter();
    entries
        .filter_map(|entry| match &entry.content {
            Content::Prompt { text } => Some(text.as_str().to_owned()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn the_person_is_told_once_of_a_save_refused_at_any_step_and_once_that_it_works_again() {
    let (server, home) = (server(), new_home());
    let folder = Folder::new(home.path().join("wisp/transcripts"));
    let mut talk = long_talk(home.path(), &server, Some("work")).await;
    assert!(folder.file("work", "past").exists(), "turns have left");
    let mut said = (0..6).map(|n| format!("message {n}")).collect::<Vec<_>>();
    // Every third step: what is said does not depend on it, and the steps of one save were each seen to above.
    for at in (1..).step_by(3) {
        let watch = refusing(folder.root(), at, Times::FromThenOn, FULL);
        let line = format!("refused at {at}");
        let events = talk.say(&line).await;
        let failed = watch.has_failed();
        drop(watch);
        let told = notes(&events, NoteLevel::Error);
        assert_eq!(told.len(), usize::from(failed), "step {at}: {told:?}");
        let mut open = prompts(&folder, "work");
        if open.last() == Some(&line) {
            open.pop();
        }
        assert_eq!(open, said, "step {at}: {told:?}");
        said.push(line);
        if !failed {
            break;
        }
        assert!(
            told[0].contains("could not be saved") && told[0].contains("hint: make room"),
            "{told:?}"
        );
        let line = format!("after {at}");
        let events = talk.say(&line).await;
        said.push(line);
        let again = notes(&events, NoteLevel::Info);
        let again = again
            .iter()
            .filter(|text| text.contains("being saved again"))
            .count();
        assert_eq!(
            (notes(&events, NoteLevel::Error).len(), again),
            (0, 1),
            "step {at}"
        );
        assert_eq!(prompts(&folder, "work"), said, "step {at}");
    }
    assert!(said.len() > 14, "a turn is saved more than once: {said:?}");
    talk.leave().await;
    nothing_is_left_behind(&folder, "at the end");
}

#[tokio::test]
async fn a_new_name_refused_at_any_step_leaves_the_old_one() {
    let (server, home) = (server(), new_home());
    let folder = Folder::new(home.path().join("wisp/transcripts"));
    let mut talk = long_talk(home.path(), &server, None).await;
    let session = folder.list().unwrap()[0].name.clone();
    let mut said = prompts(&folder, &session);
    for at in 1.. {
        // Broken once, so that what was begun can be taken back; the steps of the old name's removal come last.
        let watch = refusing(folder.root(), at, Times::Once, BROKEN);
        let (name, events) = (format!("try-{at}"), talk.say(&format!("/save try-{at}")).await);
        let failed = watch.has_failed();
        let step = watch.steps().get(at - 1).cloned();
        drop(watch);
        let told = notes(&events, NoteLevel::Error);
        if told.is_empty() {
            assert!(at > 7, "step {at}");
            assert_eq!(prompts(&folder, &name), said);
            let warned = notes(&events, NoteLevel::Warning);
            assert_eq!(
                warned.len(),
                usize::from(failed && !step.is_some_and(is_lock)),
                "{warned:?}"
            );
            break;
        }
        assert!(!folder.has(&name), "step {at}: {told:?}");
        assert_eq!(prompts(&folder, &session), said, "step {at}: {told:?}");
        // The old name's past is still its own: a save of it that is refused as well leaves it whole.
        for (refused, line) in [
            (true, format!("refused after {at}")),
            (false, format!("after {at}")),
        ] {
            let watch = refusing(
                folder.root(),
                if refused { 3 } else { 0 },
                Times::FromThenOn,
                FULL,
            );
            talk.say(&line).await;
            drop(watch);
            if refused {
                assert_eq!(prompts(&folder, &session), said, "step {at}");
            }
            said.push(line);
        }
        assert_eq!(prompts(&folder, &session), said, "step {at}");
    }
    talk.leave().await;
    nothing_is_left_behind(&folder, "at the end");
}

fn is_lock((_, path): (Step, std::path::PathBuf)) -> bool {
    path.extension().is_some_and(|ending| ending == "lock")
}
