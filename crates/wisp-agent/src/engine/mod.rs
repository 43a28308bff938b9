//! The engine: one task that owns the conversation, takes commands from its face and answers with events.
//!
//! While a turn or a typed command runs, the engine still hears its face: an answer to an approval, an interrupt, a
//! page of an output, a completion. Lines entered meanwhile wait their turn.

pub mod consent;
pub mod desk;
mod hearing;
mod lines;
mod queue;
pub(crate) mod side;
pub(crate) mod start;
mod warm;

use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use wisp_audit::Kind;
use wisp_exec::Cancel;

use crate::conversation::Conversation;
use crate::events::{Doing, Events};
use crate::jobs::Runner;
use crate::open::{Ground, OpenError};
use crate::protocol::{Command, Event, NoteLevel, Status};
use crate::turn::Turn;
use crate::{git, slash, typed};

use desk::Desk;
use hearing::{Hearing, Input};
use side::Side;
use warm::WarmUp;

/// A running engine, as its face holds it.
#[derive(Debug)]
pub struct Handle {
    /// What the face asks.
    pub commands: mpsc::UnboundedSender<Command>,
    /// What the face is told.
    pub events: mpsc::UnboundedReceiver<Event>,
}

/// The engine of one conversation.
pub struct Engine {
    conversation: Conversation,
    hearing: Hearing,
    warm: WarmUp,
    /// Whether it is said at the end how to continue.
    parts: bool,
    /// Whether every line is a message for the model.
    prompts: bool,
}

/// Whether the conversation goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Another line is wanted.
    Go,
    /// This message is for the model, as if it had been entered.
    Message(String),
    /// It is over.
    Leave,
}

/// What an engine is started with besides the ground.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own")]
pub struct Launch {
    /// Whether a person is there who can choose a model.
    pub chooses: bool,
    /// Whether the banner is wanted.
    pub banner: bool,
    /// Whether the model is warmed up while the first message is typed.
    pub warms: bool,
    /// Whether every line is a message for the model: a program's, which has no slash commands, types no commands and
    /// attaches no files.
    pub prompts: bool,
    /// Whether a person reads along: shown the last exchange of a continued conversation, and told how to continue.
    pub reads: bool,
}

/// Starts an engine on the present runtime and gives its face the handle. The conversation is open when this
/// returns, unless there is a choice of model to be made: then it is made over the handle first, and a failure
/// arrives as a note before `exit`.
pub async fn start(ground: Ground, launch: Launch) -> Result<Handle, OpenError> {
    let (commands, from_face) = mpsc::unbounded_channel();
    let (to_face, events) = mpsc::unbounded_channel();
    let engine_events = Events::new(to_face);
    let handle = Handle { commands, events };
    if launch.chooses {
        tokio::spawn(open_and_run(ground, from_face, engine_events, launch));
        return Ok(handle);
    }
    let conversation = start::start(ground, &engine_events, None).await?;
    start::greet(&conversation, launch);
    let engine = Engine::new(conversation, from_face)
        .warming(launch.warms)
        .parting(launch.reads)
        .prompted(launch.prompts);
    tokio::spawn(engine.run());
    Ok(handle)
}

/// Starts an engine for one prompt with piped input, which is read to its end first. Returns the handle and the
/// prompt to send, which holds what of the input fits.
pub async fn start_with(
    ground: Ground,
    words: &str,
    input: impl std::io::Read + Send,
) -> Result<(Handle, String), OpenError> {
    let (commands, from_face) = mpsc::unbounded_channel();
    let (to_face, events) = mpsc::unbounded_channel();
    let mut conversation = start::start(ground, &Events::new(to_face), None).await?;
    let prompt = conversation.prompt_with(words, input).map_err(OpenError::Input)?;
    tokio::spawn(Engine::new(conversation, from_face).run());
    Ok((Handle { commands, events }, prompt))
}

/// Opens the conversation with the face at hand, then runs it.
async fn open_and_run(
    ground: Ground,
    commands: mpsc::UnboundedReceiver<Command>,
    events: Events,
    launch: Launch,
) {
    let desk = Desk::new(events.clone(), ground.config.approval_timeout());
    let person = desk.person(Doing::new(events.clone()));
    let mut hearing = Hearing::new(commands, desk);
    let (cancel, _) = stopper();
    let work = Box::pin(start::start(ground, &events, Some(&person)));
    match hearing.during(&cancel, work).await {
        Ok(conversation) => {
            start::greet(&conversation, launch);
            let engine = Engine::hearing(conversation, hearing)
                .warming(launch.warms)
                .parting(launch.reads);
            Box::pin(engine.run()).await;
        }
        Err(error) => {
            let hint = error
                .hint()
                .map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            events.note(NoteLevel::Error, format!("{error}{hint}"));
            events.send(Event::Exit {
                code: if error.is_usage() { 64 } else { 1 },
            });
        }
    }
}

impl Engine {
    /// An engine for an open conversation.
    pub fn new(conversation: Conversation, commands: mpsc::UnboundedReceiver<Command>) -> Self {
        let desk = Desk::new(
            conversation.events.clone(),
            conversation.config.approval_timeout(),
        );
        Self::hearing(conversation, Hearing::new(commands, desk))
    }

    fn hearing(mut conversation: Conversation, mut hearing: Hearing) -> Self {
        hearing.side = Some(Side::of(&conversation));
        let (audit, events) = (conversation.audit.clone(), conversation.events.clone());
        hearing.jobs = Some(Runner::new(&mut conversation.jobs, audit, events));
        lines::follow(&conversation);
        Self {
            conversation,
            hearing,
            warm: WarmUp::default(),
            parts: false,
            prompts: false,
        }
    }

    /// The same, with its model warmed up before the first message or not.
    fn warming(mut self, wanted: bool) -> Self {
        self.warm = WarmUp::new(wanted);
        self
    }

    /// The same, which says at its end how to continue, or not.
    fn parting(self, parts: bool) -> Self {
        Self { parts, ..self }
    }

    /// The same, to which every line is a message, or not.
    fn prompted(self, prompts: bool) -> Self {
        Self { prompts, ..self }
    }

    /// Runs until the face leaves or is gone.
    pub async fn run(mut self) {
        loop {
            self.conversation.see_jobs().await;
            self.apply_jobs();
            self.rest();
            self.warm.begin(&self.conversation);
            if let Some(jobs) = &mut self.hearing.jobs {
                jobs.see();
            }
            let status = self.status();
            self.events().send(Event::Status(status));
            let next = match self.next().await {
                Some(command) => self.obey(command).await,
                None => Next::Leave,
            };
            if next == Next::Leave {
                break;
            }
        }
        if let Some(jobs) = &mut self.hearing.jobs {
            jobs.close();
        }
        self.conversation.foreign.end().await;
        self.conversation.close("closed");
        if let Some(how) = self.conversation.how_to_continue().filter(|_| self.parts) {
            self.events().note(NoteLevel::Info, how);
        }
        self.events().send(Event::Exit { code: 0 });
    }

    fn events(&self) -> &Events {
        &self.conversation.events
    }

    /// The next line or command that is not answered on the side. Nothing else makes the face ask for another line.
    async fn next(&mut self) -> Option<Command> {
        loop {
            let command = self.waiting().await?;
            match command {
                Command::Message { .. } | Command::Quit => return Some(command),
                Command::Hello {
                    effects,
                    client,
                    version,
                } => {
                    self.hearing.hello(&effects);
                    let details = json!({"effects": effects, "client": client, "version": version});
                    let event = wisp_audit::Event::new(Kind::HostHello, details);
                    // The face is answered whether or not its greeting can be recorded.
                    let _ = self.conversation.audit.append(event);
                }
                Command::Context { turn } => {
                    let view = self.conversation.context(turn);
                    self.hearing.tell(view);
                }
                // Nothing waits: it was taken up before this came.
                Command::TakeBack { .. } => {}
                asked => self.hearing.aside(&asked),
            }
        }
    }

    /// The next command: those that waited first. Results of jobs are applied as they come: the conversation is free.
    /// `None` when the front end is gone.
    async fn waiting(&mut self) -> Option<Command> {
        loop {
            if let Some(command) = self.hearing.waiting.pop() {
                return Some(command);
            }
            if self.hearing.is_gone() {
                return None;
            }
            match self.hearing.input().await {
                Input::Command(command) => return command,
                // Nobody is left who would take an answer.
                Input::Question(_) => {}
                Input::Job(news) => {
                    self.hearing.take_job(news);
                    self.apply_jobs();
                }
            }
        }
    }

    /// Applies what jobs have come to.
    fn apply_jobs(&mut self) {
        let ready = self.hearing.jobs.as_mut().map(Runner::ready).unwrap_or_default();
        for apply in ready {
            apply(&mut self.conversation);
        }
    }

    /// Between turns, when nobody waits: room is made for the next turn, and what has changed is saved.
    fn rest(&mut self) {
        self.hearing.free(&self.conversation);
        if self.hearing.is_quiet() {
            self.conversation.condense_idle();
        }
        self.conversation.save();
    }

    async fn obey(&mut self, command: Command) -> Next {
        match command {
            Command::Message { text } => self.line(text).await,
            _ => Next::Leave,
        }
    }

    /// A line: a slash command, a typed command or a message for the model.
    async fn line(&mut self, text: String) -> Next {
        let line = text.trim();
        if line.is_empty() {
            return Next::Go;
        }
        if self.prompts {
            self.conversation.mentions_read = true;
            self.turn(&text).await;
            return Next::Go;
        }
        self.conversation.typed.note(line);
        self.events().send(Event::Taken { text: text.clone() });
        if let Some(command) = line.strip_prefix('!') {
            self.typed(command.trim().to_owned()).await;
            return Next::Go;
        }
        if let Some(called) = slash::parse(line) {
            let next = self.slash(called).await;
            let Next::Message(text) = next else { return next };
            self.turn(&text).await;
            return Next::Go;
        }
        self.turn(&text).await;
        Next::Go
    }

    /// A turn, and another when a hook at its end has the model go on.
    async fn turn(&mut self, prompt: &str) {
        self.one_turn(prompt).await;
        if let Some(more) = self.conversation.beside.go_on.take() {
            self.conversation.beside.continuing = true;
            self.one_turn(&more).await;
            self.conversation.beside.continuing = false;
        }
    }

    async fn one_turn(&mut self, prompt: &str) {
        let own = prompt.to_owned();
        let prompt = match self.conversation.with_images(prompt) {
            Ok(prompt) => prompt,
            Err(why) => return self.events().note(NoteLevel::Error, why),
        };
        if let Some(jobs) = &mut self.hearing.jobs {
            jobs.turn_begins();
        }
        self.conversation.beside.own = Some(own);
        self.hearing.busy(&self.conversation);
        let (cancel, stop) = stopper();
        let doing = Doing::new(self.events().clone());
        let person = self.hearing.desk.person(doing.clone());
        let turn = Turn {
            doing,
            person: &person,
            cancel: cancel.clone(),
            stop,
        };
        let work = Box::pin(self.conversation.turn(&prompt, &turn));
        self.hearing.during(&cancel, work).await;
        if let Some(jobs) = &mut self.hearing.jobs {
            jobs.turn_ends();
        }
    }

    async fn typed(&mut self, line: String) {
        self.hearing.busy(&self.conversation);
        let (cancel, _) = stopper();
        let doing = Doing::new(self.events().clone());
        let person = self.hearing.desk.person(doing.clone());
        let work = typed::run(&mut self.conversation, &line, &person, &doing, &cancel);
        self.hearing.during(&cancel, work).await;
    }

    async fn slash(&mut self, called: slash::Called) -> Next {
        self.hearing.busy(&self.conversation);
        let (cancel, _) = stopper();
        let doing = Doing::new(self.events().clone());
        let person = self.hearing.desk.person(doing);
        let scene = slash::Scene { person: &person };
        let work = slash::run(&mut self.conversation, called, &scene);
        self.hearing.during(&cancel, work).await
    }

    fn status(&self) -> Status {
        let conversation = &self.conversation;
        let place = git::place(&conversation.directory, &conversation.env);
        Status {
            model: conversation.model.name.clone(),
            directory: place.directory,
            branch: place.branch,
            approval: conversation.registry.gate().described(),
            context_used: Some(conversation.used()),
            task: conversation
                .record
                .tasks()
                .last()
                .map(|task| task.text.as_str().to_owned()),
            received: self.hearing.waiting.received(),
            waiting: self.hearing.waiting.lines(),
            ..Status::default()
        }
    }
}

/// A way to stop a piece of work, and the token its first press cancels.
fn stopper() -> (Cancel, CancellationToken) {
    let stop = CancellationToken::new();
    (Cancel::on(stop.clone()), stop)
}
