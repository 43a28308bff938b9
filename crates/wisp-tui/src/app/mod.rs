//! The face as a value: what was said, what is being typed, what is open. Keys, pastes and the engine's events go in
//! with the moment they came; effects and rows come out. Nothing here knows a terminal, a clock or a channel, so a
//! test is a list of inputs and a screen.

mod actions;
mod approval;
mod choice;
mod completion;
mod dialog;
mod events;
mod keys;
mod menu;
mod outputs;
mod panels;
mod queue;
mod reply;
mod typing;
mod work;

use std::collections::VecDeque;
use std::time::Duration;

use crossterm::event::KeyEvent;
use ratatui::layout::Size;
use ratatui::text::Line;
use wisp_agent::protocol::{Command, Event, JobStatus, QueuedLine, Status, TurnEnd};
use wisp_term::width::expand_tabs;
use wisp_term::{Palette, Role, safe};

pub(crate) use actions::*;
pub use approval::ApprovalDialog;
pub use choice::{ChoiceDialog, SHOWN_OPTIONS};
pub use completion::Completion;
pub use dialog::{Dialog, GRACE};
pub(crate) use events::figures;
pub use menu::Menu;
pub use reply::Reply;
pub use work::Work;

use crate::effect::Effect;
use crate::input::{Bursts, Editor, History};
use crate::keys::{Bindings, Chord};
use crate::looks::Looks;
use crate::panel::Panel;

/// Something that came from outside.
#[derive(Debug, Clone)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The terminal said that text was pasted.
    Paste(String),
    /// The terminal gained or lost the person's attention.
    Focus(bool),
    /// The engine said something.
    Event(Box<Event>),
    /// A moment came that [`App::next_wake`] asked for.
    Tick,
}

/// What the app is made with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The colours.
    pub palette: Palette,
    /// The keys.
    pub bindings: Bindings,
    /// Columns and rows of the terminal.
    pub size: Size,
    /// How often in a minute the person may be told of long turns and waiting approvals while elsewhere; 0 is never.
    pub notifications: usize,
}

/// A turn that took at least this long is told of when the person is elsewhere.
pub const LONG_TURN: Duration = Duration::from_secs(20);
/// How long a second Esc in an empty box counts as one after the first.
pub const TWICE_WINDOW: Duration = Duration::from_secs(1);
/// How long a second Ctrl-C leaves.
pub const LEAVE_WINDOW: Duration = Duration::from_secs(2);

/// Where the person is, as far as the terminal says; one that says nothing counts as looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attention {
    Here,
    Elsewhere,
}

/// The whole face.
#[derive(Debug)]
pub struct App {
    pub(crate) looks: Looks,
    pub(crate) bindings: Bindings,
    pub(crate) size: Size,
    notifications: usize,
    /// When the person was told, in the last minute.
    told: VecDeque<Duration>,
    attention: Attention,
    pub(crate) now: Duration,
    pub(crate) editor: Editor,
    pub(crate) command_mode: bool,
    pub(crate) completion: Option<Completion>,
    pub(crate) menu: Option<Menu>,
    /// The line that history put into the box.
    recalled: Option<String>,
    history: History,
    bursts: Bursts,
    prefix: Option<Chord>,
    pub(crate) status: Option<Status>,
    /// The work beside the turns that is not over.
    pub(crate) jobs: Vec<JobStatus>,
    /// The lines that wait until what runs is over.
    pub(crate) queue: Vec<QueuedLine>,
    /// Lines that were sent with nothing under way: they stand above already when they are taken up.
    echoed: Vec<String>,
    pub(crate) last_turn: Option<TurnEnd>,
    pub(crate) work: Work,
    pub(crate) reply: Reply,
    pub(crate) dialogs: VecDeque<Dialog>,
    pub(crate) panel: Option<Panel>,
    pub(crate) full: bool,
    outputs: Vec<String>,
    /// The one of them that was folded last.
    folded: Option<String>,
    /// Pages the panel asked for, and digests (`None`), whose answers have not come.
    asked: Vec<(String, Option<u64>)>,
    /// Questions answered here whose record has not come: it would say what stands there already.
    answered: usize,
    leave_until: Option<Duration>,
    /// When Esc was pressed in an empty box.
    escaped: Option<Duration>,
    turns: u64,
    requests: u64,
    finished: Vec<Line<'static>>,
    effects: Vec<Effect>,
    /// What is sent as soon as input is wanted.
    first: Option<String>,
}

impl App {
    /// A face with nothing said yet.
    pub fn new(settings: Settings) -> Self {
        let looks = Looks::new(settings.palette);
        Self {
            reply: Reply::new(&looks),
            looks,
            bindings: settings.bindings,
            size: settings.size,
            notifications: settings.notifications,
            told: VecDeque::new(),
            attention: Attention::Here,
            now: Duration::ZERO,
            editor: Editor::default(),
            command_mode: false,
            completion: None,
            menu: None,
            recalled: None,
            history: History::default(),
            bursts: Bursts::default(),
            prefix: None,
            status: None,
            jobs: Vec::new(),
            queue: Vec::new(),
            echoed: Vec::new(),
            last_turn: None,
            work: Work::default(),
            dialogs: VecDeque::new(),
            panel: None,
            full: false,
            outputs: Vec::new(),
            folded: None,
            asked: Vec::new(),
            answered: 0,
            leave_until: None,
            escaped: None,
            turns: 0,
            requests: 0,
            finished: Vec::new(),
            effects: Vec::new(),
            first: None,
        }
    }

    /// Sends a line as soon as input is wanted, as if it had been typed; an empty one is none.
    pub fn begin_with(&mut self, line: &str) {
        self.first = Some(line.to_owned()).filter(|line| !line.trim().is_empty());
    }

    /// What the face can do: the first thing the engine is told.
    pub fn hello(&self) -> Command {
        Command::Hello {
            effects: ["approve", "choose", "notify", "beside"]
                .map(str::to_owned)
                .to_vec(),
            client: "wisp-tui".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Takes one input at a moment (counted from any fixed start) and says what is to be done.
    pub fn on(&mut self, input: Input, now: Duration) -> Vec<Effect> {
        self.now = self.now.max(now);
        self.settle_burst(None);
        match input {
            Input::Key(key) => self.on_key(key),
            Input::Paste(text) => self.on_paste(&text),
            Input::Focus(true) => self.attention = Attention::Here,
            Input::Focus(false) => self.attention = Attention::Elsewhere,
            Input::Event(event) => self.on_event(*event),
            Input::Tick => {}
        }
        self.see_menu();
        self.see_question();
        self.ask_for_page();
        std::mem::take(&mut self.effects)
    }

    /// Takes the window's new size.
    pub fn resize(&mut self, size: Size) -> Vec<Effect> {
        self.size = size;
        self.lay_out_panel();
        self.see_question();
        self.ask_for_page();
        std::mem::take(&mut self.effects)
    }

    /// The next moment at which something changes by itself; none when the app can sleep until an input comes.
    pub fn next_wake(&self) -> Option<Duration> {
        let leave = self.leave_until.filter(|until| *until > self.now);
        let waits = [self.bursts.due(), self.work.next_change(self.now), leave];
        waits.into_iter().flatten().min()
    }

    /// The lines that were finished since they were last taken, in rows of the window's width: they belong above the
    /// band, for good.
    pub fn take_finished(&mut self) -> Vec<Line<'static>> {
        let settled = self.reply.settle(self.width());
        self.finished.extend(settled);
        std::mem::take(&mut self.finished)
    }

    /// Whether the panel wants the whole screen.
    pub fn is_full(&self) -> bool {
        self.full && self.panel.is_some()
    }

    /// Takes back a text from the person's editor.
    pub fn edited(&mut self, text: &str) {
        self.editor.set(text.strip_suffix('\n').unwrap_or(text));
    }

    /// Says something of the face's own, above the band.
    pub fn say(&mut self, role: Role, text: &str) {
        let text = expand_tabs(&safe::safe(text), 0).into_owned();
        let rows = self.looks.prose(role, &text, self.width());
        self.finish_rows(rows);
    }

    /// Whether the window is too small to show anything but the text being typed.
    pub(crate) fn is_too_small(&self) -> bool {
        let (width, height) = crate::view::SMALLEST;
        self.size.width < width || self.size.height < height
    }

    /// Columns of a row; at least one.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.size.width).max(1)
    }

    /// Puts rows above the band, after what is still open of a reply.
    fn finish_rows(&mut self, rows: Vec<Line<'static>>) {
        let open = self.reply.finish(self.width());
        self.finished.extend(open);
        self.finished.extend(rows);
    }

    fn send(&mut self, command: Command) {
        match &command {
            Command::Output { id, page } => self.asked.push((id.clone(), Some(*page))),
            Command::Digest { id } => self.asked.push((id.clone(), None)),
            _ => {}
        }
        self.effects.push(Effect::Send(command));
    }

    /// An id for a request whose answer carries it back.
    fn request_id(&mut self) -> String {
        self.requests += 1;
        format!("tui-{}", self.requests)
    }

    /// Tells the person something, when they are elsewhere, want to be told, and were not told too often.
    fn tell(&mut self, title: &str, body: &str) {
        let minute_ago = self.now.saturating_sub(Duration::from_mins(1));
        self.told.retain(|at| *at > minute_ago);
        if self.attention == Attention::Here || self.told.len() >= self.notifications {
            return;
        }
        self.told.push_back(self.now);
        self.effects.push(Effect::Notify {
            title: wisp_term::visible(title),
            body: wisp_term::visible(body),
        });
    }
}
