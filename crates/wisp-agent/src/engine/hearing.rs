//! What the engine hears from its face: the commands, those that wait their turn, the questions that are open, and
//! what can be answered on the side while a piece of work has the conversation.

use tokio::sync::mpsc;
use wisp_exec::Cancel;

use super::desk::{Asked, Desk};
use super::queue::Queue;
use super::side::Side;
use crate::conversation::Conversation;
use crate::jobs::{News, Runner};
use crate::protocol::{Command, View};
use crate::slash;

/// What reaches the engine, whether a piece of work is under way or not. Everything that happens is one of these.
pub(super) enum Input {
    /// The front end asks for something; none when it is gone.
    Command(Option<Command>),
    /// A tool or a slash command asks the user.
    Question(Asked),
    /// Something happened to a job.
    Job(News),
}

/// The face, heard between pieces of work and during them.
pub(super) struct Hearing {
    /// What the face asks, as it comes.
    pub commands: mpsc::UnboundedReceiver<Command>,
    /// What came while a piece of work ran.
    pub waiting: Queue,
    /// Where questions to the person lie.
    pub desk: Desk,
    /// What answers without the conversation; none before it is open.
    pub side: Option<Side>,
    /// The work beside the turns; none before the conversation is open.
    pub jobs: Option<Runner>,
    /// Whether slash commands that only look are answered while something runs.
    answers_beside: bool,
    /// Whether the front end is gone.
    gone: bool,
}

impl Hearing {
    /// A face of which nothing was heard yet.
    pub fn new(commands: mpsc::UnboundedReceiver<Command>, desk: Desk) -> Self {
        Self {
            commands,
            waiting: Queue::new(desk.events().clone()),
            desk,
            side: None,
            jobs: None,
            answers_beside: false,
            gone: false,
        }
    }

    /// Whether the front end is gone: no command comes any more.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether the face has asked nothing that still waits.
    pub fn is_quiet(&self) -> bool {
        self.waiting.is_empty() && self.commands.is_empty()
    }

    /// What happens next. Nothing is lost when this is dropped.
    pub async fn input(&mut self) -> Input {
        let job = async {
            match &mut self.jobs {
                Some(jobs) => jobs.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            asked = self.desk.asked() => Input::Question(asked),
            command = self.commands.recv(), if !self.gone => {
                self.gone = command.is_none();
                if let Some(command) = &command {
                    self.waiting.count(command);
                }
                Input::Command(command)
            }
            news = job => Input::Job(news),
        }
    }

    /// Runs `work` to its end and answers the face meanwhile; an interrupt presses `cancel`. A face that is gone or
    /// leaves stops the work, and is asked nothing more: the answer is none.
    pub async fn during<T>(&mut self, cancel: &Cancel, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        let mut leaving = false;
        loop {
            let input = tokio::select! {
                done = &mut work => {
                    self.desk.withdraw_all();
                    return done;
                }
                input = self.input() => input,
            };
            match input {
                Input::Question(Asked::Steering(to)) if !leaving => {
                    if let Err(steering) = to.send(self.waiting.take_steering()) {
                        self.waiting.put_back(steering);
                    }
                }
                Input::Question(asked) if !leaving => self.desk.open(asked),
                Input::Question(_) => {}
                Input::Command(command) => {
                    let command = command.unwrap_or(Command::Quit);
                    leaving |= matches!(command, Command::Quit);
                    self.hear(command, cancel);
                }
                Input::Job(news) => self.take_job(news),
            }
        }
    }

    /// Takes what has happened to a job.
    pub fn take_job(&mut self, news: News) {
        if let Some(jobs) = &mut self.jobs {
            jobs.take(news);
        }
    }

    fn hear(&mut self, command: Command, cancel: &Cancel) {
        match command {
            Command::Interrupt => {
                cancel.press();
                self.desk.withdraw_all();
            }
            Command::Quit => {
                cancel.press();
                self.desk.withdraw_all();
                self.waiting.push(Command::Quit);
            }
            Command::Message { text } if self.answers_beside && self.look(&text) => {}
            Command::Message { .. } | Command::Hello { .. } => self.waiting.push(command),
            Command::TakeBack { all } => self.waiting.take_back(all),
            Command::Answer { .. } | Command::Choose { .. } => self.desk.answer(&command),
            asked => self.aside(&asked),
        }
    }

    /// Takes what the front end can do.
    pub fn hello(&mut self, effects: &[String]) {
        self.desk.hello(effects);
        self.answers_beside = effects.iter().any(|effect| effect == "beside");
    }

    /// Answers a slash command that only looks; false when the line is none.
    fn look(&self, line: &str) -> bool {
        let Some(called) = slash::parse(line.trim()) else {
            return false;
        };
        let answer = called.row.and_then(|row| row.beside);
        match (answer, &self.side) {
            (Some(answer), Some(side)) => answer(side, &called.rest),
            _ => false,
        }
    }

    /// The conversation gets busy: what can be looked at meanwhile is taken.
    pub fn busy(&mut self, conversation: &Conversation) {
        if let Some(side) = &mut self.side {
            side.busy(conversation);
        }
    }

    /// It is free again.
    pub fn free(&mut self, conversation: &Conversation) {
        if let Some(side) = &mut self.side {
            side.free(conversation);
        }
    }

    /// Sends a view, or why there is none.
    pub fn tell(&self, view: Result<View, String>) {
        if let Some(side) = &self.side {
            side.tell(view);
        }
    }

    /// Answers what needs no conversation.
    pub fn aside(&mut self, asked: &Command) {
        if let Some(side) = &self.side {
            side.answer(asked, &mut self.desk);
        }
    }
}
