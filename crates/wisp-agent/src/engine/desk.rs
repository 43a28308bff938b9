//! Open questions: put by tools and slash commands, shown by the face, answered, withdrawn or timed out.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use wisp_guard::Scope;
use wisp_tools::{Answer, Answering, Choosing, Person, Question};

use crate::events::{Doing, Events};
use crate::protocol::{Approval, Choice, ChoiceOption, Command, Decision, Event};

/// A question on its way to the face.
#[derive(Debug)]
pub enum Asked {
    /// Leave is wanted.
    Approval(Box<Question>, oneshot::Sender<Option<Answer>>),
    /// One of several is to be chosen.
    Choice(Box<Choice>, oneshot::Sender<Option<String>>),
    /// What the person says to the turn under way is wanted. Never shown: the queue answers at once.
    Steering(oneshot::Sender<Vec<String>>),
}

#[derive(Debug)]
enum Open {
    Approval(oneshot::Sender<Option<Answer>>),
    Choice(oneshot::Sender<Option<String>>),
}

/// The questions of one conversation, owned by the engine.
#[derive(Debug)]
pub struct Desk {
    events: Events,
    to: mpsc::UnboundedSender<Asked>,
    from: mpsc::UnboundedReceiver<Asked>,
    open: HashMap<String, Open>,
    count: u64,
    approves: bool,
    chooses: bool,
    notifies: bool,
    timeout: Option<Duration>,
}

impl Desk {
    /// A desk without questions. Until the face says otherwise (`hello`) it is taken to answer them.
    pub fn new(events: Events, timeout: Option<Duration>) -> Self {
        let (to, from) = mpsc::unbounded_channel();
        let (approves, chooses) = (true, true);
        Self {
            events,
            to,
            from,
            open: HashMap::new(),
            count: 0,
            approves,
            chooses,
            notifies: false,
            timeout,
        }
    }

    /// Takes what the face can do.
    pub fn hello(&mut self, effects: &[String]) {
        let can = |what: &str| effects.iter().any(|e| e == what);
        (self.approves, self.chooses) = (can("approve"), can("choose"));
        self.notifies = can("notify");
    }

    /// The person, as the tools of one turn reach them.
    pub fn person(&self, doing: Doing) -> Asker {
        Asker {
            to: self.to.clone(),
            doing,
            approves: self.approves,
            chooses: self.chooses,
            notifies: self.notifies,
            timeout: self.timeout,
        }
    }

    /// The next question that is put.
    pub async fn asked(&mut self) -> Asked {
        match self.from.recv().await {
            Some(asked) => asked,
            // The desk holds a sender itself, so its channel never closes.
            None => std::future::pending().await,
        }
    }

    /// The way to the front end.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Shows a question to the face.
    pub fn open(&mut self, asked: Asked) {
        self.count += 1;
        let id = format!("q{}", self.count);
        match asked {
            Asked::Steering(_) => {}
            Asked::Approval(question, answer) => {
                self.events.send(Event::Approval(approval(&id, &question)));
                self.open.insert(id, Open::Approval(answer));
            }
            Asked::Choice(choice, answer) => {
                self.events.send(Event::Choice(Choice {
                    id: id.clone(),
                    ..*choice
                }));
                self.open.insert(id, Open::Choice(answer));
            }
        }
    }

    /// Takes the face's answer. One to a question that is no longer open changes nothing.
    pub fn answer(&mut self, command: &Command) {
        match command {
            Command::Answer { id, decision, reason } => {
                if let Some(Open::Approval(to)) = self.open.remove(id) {
                    let _ = to.send(Some(answer(*decision, reason.clone())));
                }
            }
            Command::Choose { id, value, .. } => {
                if let Some(Open::Choice(to)) = self.open.remove(id) {
                    let _ = to.send(value.clone());
                }
            }
            _ => {}
        }
    }

    /// Takes every question back: the work that put them is over or stopped.
    pub fn withdraw_all(&mut self) {
        while let Ok(asked) = self.from.try_recv() {
            drop(asked);
        }
        for (id, _) in self.open.drain() {
            self.events.send(Event::Withdrawn { id });
        }
    }
}

/// The person, behind the desk.
#[derive(Debug, Clone)]
pub struct Asker {
    to: mpsc::UnboundedSender<Asked>,
    doing: Doing,
    approves: bool,
    chooses: bool,
    notifies: bool,
    timeout: Option<Duration>,
}

impl Asker {
    /// Whether the face can put a choice.
    pub fn can_choose(&self) -> bool {
        self.chooses
    }

    /// Lets the person choose; none when they leave it, or when nobody can be asked.
    pub async fn choose(&self, choice: Choice) -> Option<String> {
        if !self.chooses {
            return None;
        }
        let (to, answer) = oneshot::channel();
        self.to.send(Asked::Choice(Box::new(choice), to)).ok()?;
        answer.await.ok().flatten()
    }
}

impl Asker {
    /// What the person has to say to the turn under way, in order.
    pub async fn steering(&self) -> Vec<String> {
        let (to, steering) = oneshot::channel();
        match self.to.send(Asked::Steering(to)) {
            Ok(()) => steering.await.unwrap_or_default(),
            Err(_) => Vec::new(),
        }
    }
}

impl Person for Asker {
    fn ask(&self, question: Question) -> Answering<'_> {
        Box::pin(async move {
            if !self.approves {
                return None;
            }
            self.doing.asking();
            let (to, answer) = oneshot::channel();
            self.to.send(Asked::Approval(Box::new(question), to)).ok()?;
            match self.timeout {
                Some(limit) => tokio::time::timeout(limit, answer).await.ok()?.ok().flatten(),
                None => answer.await.ok().flatten(),
            }
        })
    }

    fn doing(&self, what: &str) {
        self.doing.say(what);
    }

    fn printed(&self, lines: Vec<String>) {
        self.doing.events().send(Event::Printed { lines });
    }

    fn choose(&self, question: &str, choices: Vec<String>) -> Choosing<'_> {
        let option = |text: String| ChoiceOption {
            value: text.clone(),
            label: text,
            ..ChoiceOption::default()
        };
        let choice = Choice {
            title: question.to_owned(),
            accepts_text: true,
            options: choices.into_iter().map(option).collect(),
            ..Choice::default()
        };
        Box::pin(async move {
            self.doing.asking();
            let answer = Self::choose(self, choice);
            match self.timeout {
                Some(limit) => tokio::time::timeout(limit, answer).await.ok()?,
                None => answer.await,
            }
        })
    }

    fn notify(&self, title: &str, message: &str) -> Result<(), String> {
        if !self.notifies {
            return Err("this front end shows none".to_owned());
        }
        self.doing.events().send(Event::Notify {
            title: title.to_owned(),
            body: message.to_owned(),
        });
        Ok(())
    }
}

fn approval(id: &str, question: &Question) -> Approval {
    Approval {
        id: id.to_owned(),
        command: question.command.clone(),
        line: question.line.clone(),
        pattern: question.pattern.clone(),
        directory: question.directory.display().to_string(),
        level: question.level.word().to_owned(),
        reasons: question.reasons.clone(),
        diff: question.diff.clone(),
        decisions: question.answers.iter().map(decision).collect(),
    }
}

fn answer(decision: Decision, reason: Option<String>) -> Answer {
    match decision {
        Decision::Once => Answer::Once,
        Decision::Turn => Answer::Turn,
        Decision::Session => Answer::Session,
        Decision::Project => Answer::Project,
        Decision::Always => Answer::Always,
        Decision::No => Answer::No(reason),
    }
}

/// How far a yes reaches, after "approved"; `None` for a refusal.
pub fn reach(decision: Decision) -> Option<&'static str> {
    answer(decision, None).scope().map(Scope::reach)
}

fn decision(answer: &Answer) -> Decision {
    match answer {
        Answer::Once => Decision::Once,
        Answer::Turn => Decision::Turn,
        Answer::Session => Decision::Session,
        Answer::Project => Decision::Project,
        Answer::Always => Decision::Always,
        Answer::No(_) => Decision::No,
    }
}
