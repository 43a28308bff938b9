//! The writing side: one log a session, shared by everything that has something to record.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use wisp_host::{Clock, IdSource, RandomIds, SystemClock};

use crate::chain::{self, End};
use crate::event::SCHEMA;
use crate::register::{self, Became};
use crate::sink::{Damage, Opened, Sink};
use crate::{AuditError, Event, EventId, Key, Kind, Record, SessionId, session};

type Listener = Box<dyn Fn(&Record) + Send>;
/// Replaces the secrets in an event's details and says how many there were.
type Mask = Box<dyn FnMut(&mut Value) -> usize + Send>;

/// The audit of one session. Clones are handles on the same log; any of them may be used from any thread.
#[derive(Clone)]
pub struct AuditLog(Arc<Shared>);

struct Shared {
    session: SessionId,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    /// What seals are made with.
    key: Option<Key>,
    state: Mutex<State>,
}

struct State {
    place: Place,
    end: End,
    listeners: Vec<Listener>,
    mask: Option<Mask>,
    /// How many secrets were replaced so far.
    masked: u64,
}

/// Where events go.
enum Place {
    /// Nowhere: the audit is off.
    Off,
    /// To a file that is made with the first event, so that what comes to nothing leaves none.
    New(PathBuf),
    /// To this file.
    Open(Box<Sink>),
}

impl Place {
    fn sink(&self) -> Option<&Sink> {
        match self {
            Self::Open(sink) => Some(sink),
            Self::Off | Self::New(_) => None,
        }
    }

    fn sink_mut(&mut self) -> Option<&mut Sink> {
        match self {
            Self::Open(sink) => Some(sink),
            Self::Off | Self::New(_) => None,
        }
    }
}

impl AuditLog {
    /// Opens the session's file under `home` and holds it until the last clone is dropped. Folders that are missing are
    /// made; a new session's file is made with its first event, so that one that came to nothing leaves no file. A
    /// session that has a file already is continued: the chain goes on from its last whole event, and when the file does
    /// not end as it was left, `audit.recovered` is written first.
    ///
    /// Errors: [`AuditError::InUse`] when another process writes the session, [`AuditError::File`] and
    /// [`AuditError::Write`] when the folders or the file cannot be made or written.
    pub fn open(
        home: &Path,
        session: &SessionId,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, AuditError> {
        Self::open_with(home, session, (clock, ids), None)
    }

    /// The same with a key that its seals are made with.
    pub fn open_with(
        home: &Path,
        session: &SessionId,
        by: (Arc<dyn Clock>, Arc<dyn IdSource>),
        key: Option<Key>,
    ) -> Result<Self, AuditError> {
        Sink::prepare(home)?;
        let state = State {
            place: Place::New(home.to_owned()),
            end: End::start(session.as_str()),
            listeners: Vec::new(),
            mask: None,
            masked: 0,
        };
        let log = Self::with(session.clone(), by, state, key);
        if std::fs::symlink_metadata(session::file_of(home, session)).is_ok() {
            log.0.begin(&mut log.0.state())?;
        }
        Ok(log)
    }

    /// A log that writes nothing: events get ids and reach listeners, and that is all.
    pub fn off() -> Self {
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
        let session = SessionId::new(&*clock, &*ids);
        Self::off_with(session, clock, ids)
    }

    /// [`AuditLog::off`] with a session's name, a clock and ids of the caller's.
    pub fn off_with(session: SessionId, clock: Arc<dyn Clock>, ids: Arc<dyn IdSource>) -> Self {
        let state = State {
            place: Place::Off,
            end: End::start(session.as_str()),
            listeners: Vec::new(),
            mask: None,
            masked: 0,
        };
        Self::with(session, (clock, ids), state, None)
    }

    fn with(
        session: SessionId,
        (clock, ids): (Arc<dyn Clock>, Arc<dyn IdSource>),
        state: State,
        key: Option<Key>,
    ) -> Self {
        let state = Mutex::new(state);
        Self(Arc::new(Shared {
            session,
            clock,
            ids,
            key,
            state,
        }))
    }

    /// Whether events are written to a file.
    pub fn is_on(&self) -> bool {
        !matches!(self.0.state().place, Place::Off)
    }

    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.0.session
    }

    /// The session's file, which is there from the first event on; `None` when the audit is off.
    pub fn path(&self) -> Option<PathBuf> {
        match &self.0.state().place {
            Place::Off => None,
            Place::New(home) => Some(session::file_of(home, &self.0.session)),
            Place::Open(sink) => Some(sink.path().to_owned()),
        }
    }

    /// Writes an event, in one write, and hands it to the listeners. Returns its id. When this fails the event is
    /// not in the file, the listeners have not seen it, and the log can be tried again: what a failure means for
    /// the work at hand is the caller's decision (design: "Audit", a tool that cannot be recorded does not run).
    /// The one exception names the seal's file: the event is in, but the file's end is not sealed behind it.
    ///
    /// # Panics
    /// In debug builds, when the details have a field that the kind's row does not list: the table is what readers
    /// and documentation go by.
    pub fn append(&self, event: Event<'_>) -> Result<EventId, AuditError> {
        let undeclared = event.kind.undeclared(&event.details);
        debug_assert!(
            undeclared.is_empty(),
            "add {undeclared:?} to the row of {} in wisp-audit's kind.rs",
            event.kind.name()
        );
        let shared = &*self.0;
        let state = &mut *shared.state();
        shared.begin(state)?;
        if let Some(sink) = state.place.sink_mut().filter(|sink| sink.is_torn()) {
            let opened = sink.recover(state.end.clone())?;
            shared.note_damage(state, opened)?;
        }
        shared.write(state, event)
    }

    /// Calls `listener` with every event from now on, after it is written and in the file's order. The log is held
    /// meanwhile: a listener must be quick, and must not call the log.
    pub fn subscribe(&self, listener: impl Fn(&Record) + Send + 'static) {
        self.0.state().listeners.push(Box::new(listener));
    }

    /// Masks what is written from now on. Listeners still see each event as it was: they are the person's own view.
    pub fn mask_with(&self, mask: impl FnMut(&mut Value) -> usize + Send + 'static) {
        self.0.state().mask = Some(Box::new(mask));
    }

    /// How many secrets were replaced in what this log has written.
    pub fn masked(&self) -> u64 {
        self.0.state().masked
    }

    /// The event of this session with this id, also one of an earlier process. A log that is off finds none.
    pub fn find(&self, id: &str) -> Result<Option<Record>, AuditError> {
        self.0.state().place.sink().map_or(Ok(None), |sink| sink.find(id))
    }

    /// Waits until everything written is on the disk. Appending does not: the events of the last seconds before a
    /// power loss may be torn or gone, which the next open finds and says.
    pub fn sync(&self) -> Result<(), AuditError> {
        self.0.state().place.sink().map_or(Ok(()), Sink::sync)
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog")
            .field("session", &self.0.session)
            .field("on", &self.is_on())
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// The state stays usable after a panic elsewhere: it is changed only once a write has succeeded.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the file, where that is still to be done.
    fn begin(&self, state: &mut State) -> Result<(), AuditError> {
        let Place::New(home) = &state.place else {
            return Ok(());
        };
        let (sink, opened) = Sink::open(home, &self.session, self.key.clone())?;
        state.place = Place::Open(Box::new(sink));
        state.end = opened.end.clone();
        self.note_damage(state, opened)
    }

    fn write(&self, state: &mut State, event: Event<'_>) -> Result<EventId, AuditError> {
        let record = self.record(&state.end, event);
        let written = state.mask.as_mut().and_then(|mask| masked(&record, mask));
        let mut line = serde_json::to_vec(written.as_ref().unwrap_or(&record))
            .expect("an event has only text keys and finite numbers");
        let end = End {
            seq: record.seq,
            hash: chain::hash(&line),
        };
        line.push(b'\n');
        if let Some(sink) = state.place.sink_mut() {
            sink.put(&line)?;
        }
        state.end = end;
        state.masked += written.map_or(0, |written| written.masked);
        state.listeners.iter().for_each(|listener| listener(&record));
        if let Some(sink) = state.place.sink_mut() {
            sink.seal(&record, &line, &state.end)?;
            if record.seq == 1 {
                self.register(sink)?;
            }
        }
        Ok(record.id)
    }

    /// A session that has its first event is one that must not go without a word.
    fn register(&self, sink: &Sink) -> Result<(), AuditError> {
        let home = sink.path().parent().and_then(Path::parent);
        let home = home.expect("a session's file lies in a folder of the home");
        let now = self.clock.now();
        register::note(home, &[&self.session], Became::Begun, now, self.key.as_ref())
    }

    fn record(&self, end: &End, event: Event<'_>) -> Record {
        Record {
            schema: SCHEMA,
            id: EventId::from(self.ids.next()),
            seq: end.seq + 1,
            time: self.clock.now(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            session: self.session.as_str().to_owned(),
            turn: event.turn,
            call: event.call.map(str::to_owned),
            kind: event.kind.name().to_owned(),
            details: event.details,
            masked: 0,
            prev: end.hash.clone(),
        }
    }

    fn note_damage(&self, state: &mut State, opened: Opened) -> Result<(), AuditError> {
        let Some(damage) = opened.damage else {
            return Ok(());
        };
        let event = Event::new(Kind::AuditRecovered, details_of(damage));
        self.write(state, event).map(drop)
    }
}

/// The event as it is written when there is a secret in it.
fn masked(record: &Record, mask: &mut Mask) -> Option<Record> {
    let mut details = record.details.clone();
    let masked = mask(&mut details) as u64;
    (masked > 0).then(|| Record {
        details,
        masked,
        ..record.clone()
    })
}

fn details_of(damage: Damage) -> Value {
    let mut details = json!({ "bytes": damage.bytes });
    if damage.bytes > 0 {
        details["sha256"] = damage.sha256.into();
    }
    if let Some(sealed) = damage.sealed {
        details["sealedSeq"] = sealed.seq.into();
        details["sealedHash"] = sealed.hash.into();
    }
    details
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use wisp_host::files;

    use super::*;
    use crate::{AuditFile, EndCheck, Filter, Trail, Verdict, verify};

    fn prompt(text: &str) -> Event<'static> {
        Event::new(Kind::Prompt, json!({ "text": text }))
    }

    fn swap(log: &AuditLog, file: File) -> File {
        log.0.state().place.sink_mut().unwrap().swap(file)
    }

    fn on_a_full_disk() -> (tempfile::TempDir, AuditLog, File) {
        let home = tempfile::tempdir().unwrap();
        let session = SessionId::parse("s").unwrap();
        let log = AuditLog::open(home.path(), &session, Arc::new(SystemClock), Arc::new(RandomIds)).unwrap();
        log.append(prompt("one")).unwrap();
        let full = File::options().append(true).open("/dev/full").unwrap();
        let good = swap(&log, full);
        (home, log, good)
    }

    #[test]
    fn an_event_that_cannot_be_written_is_an_error_and_nothing_else() {
        let (_home, log, good) = on_a_full_disk();
        let trail = Trail::of(&log, 9);
        let error = log.append(prompt("two")).unwrap_err();
        assert!(error.is_full(), "{error}");
        assert!(error.to_string().starts_with("cannot write to /"), "{error}");
        assert!(trail.events().is_empty());
        swap(&log, good);
        log.append(prompt("three")).unwrap();
        let path = log.path().unwrap();
        let events = AuditFile::at(&path).unwrap().last(9, &Filter::default()).unwrap();
        assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 2]);
        drop(log);
        assert!(matches!(verify(&path).unwrap(), Verdict::Whole { events: 2, .. }));
    }

    #[test]
    #[allow(
        clippy::disallowed_methods,
        reason = "the test copies what a kill would leave"
    )]
    fn a_first_event_that_cannot_be_written_leaves_no_file() {
        let home = tempfile::tempdir().unwrap();
        let session = SessionId::parse("s").unwrap();
        let log = AuditLog::open(home.path(), &session, Arc::new(SystemClock), Arc::new(RandomIds)).unwrap();
        log.0.begin(&mut log.0.state()).unwrap();
        // What a kill leaves between the making of the file and its first event.
        let (killed, path) = (home.path().join("s.jsonl"), log.path().unwrap());
        for of in [session::seal_of, Path::to_path_buf] {
            std::fs::copy(of(&path), of(&killed)).unwrap();
        }
        let whole = Verdict::Whole {
            events: 0,
            end: EndCheck::Sealed,
            torn: vec![],
        };
        assert_eq!(verify(&killed).unwrap(), whole);
        let good = swap(&log, File::options().append(true).open("/dev/full").unwrap());
        assert!(log.append(prompt("one")).unwrap_err().is_full());
        swap(&log, good);
        drop(log);
        let left = std::fs::read_dir(home.path().join("audit")).unwrap().count();
        assert_eq!(left, 0);
    }

    #[test]
    fn half_an_event_that_could_not_be_taken_back_is_mended_before_the_next() {
        let (_home, log, good) = on_a_full_disk();
        log.append(prompt("two")).unwrap_err();
        let path = log.path().unwrap();
        files::private_append(&path)
            .unwrap()
            .write_all(b"{\"schema\":1")
            .unwrap();
        swap(&log, good);
        log.append(prompt("three")).unwrap();
        let events = AuditFile::at(&path).unwrap().last(9, &Filter::default()).unwrap();
        let kinds: Vec<_> = events.iter().map(|e| (e.seq, e.kind.as_str())).collect();
        assert_eq!(kinds, [(1, "prompt"), (2, "audit.recovered"), (3, "prompt")]);
        drop(log);
        let verdict = verify(&path).unwrap();
        assert!(
            matches!(&verdict, Verdict::Whole { torn, .. } if *torn == [2]),
            "{verdict:?}"
        );
    }
}
