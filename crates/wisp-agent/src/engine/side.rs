//! What a face may ask at any time, also while a turn runs: pages, searches, completions, answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use wisp_ollama::same_model;
use wisp_output::store::Shelf;

use super::desk::Desk;
use crate::conversation::Conversation;
use crate::events::Events;
use crate::jobs::{JobId, Spawner};
use crate::looking::Looking;
use crate::mentions::complete as mentions;
use crate::mentions::complete::Roots;
use crate::places::Places;
use crate::printed::Printed;
use crate::protocol::{Command, Event, JobStatus, NoteLevel, View};
use crate::slash;
use crate::views;

/// The commands whose last argument is a model.
const MODEL: [&str; 2] = ["/model ", "/models "];
/// How long a completion waits for the server.
const PATIENCE: Duration = Duration::from_millis(800);

/// The little that is needed to answer on the side, refreshed between turns.
pub struct Side {
    events: Events,
    shelf: Shelf,
    client: wisp_ollama::Client,
    /// The work beside the turns.
    jobs: (Spawner, watch::Receiver<Vec<JobStatus>>),
    models: Arc<Mutex<Vec<String>>>,
    /// Models that cannot be chosen.
    disabled: Vec<String>,
    /// What was printed, also what the store does not have.
    printed: Printed,
    /// The lines of the pages that were looked at.
    places: Mutex<Places>,
    /// The context, while the conversation is busy.
    looking: Option<Looking>,
    /// Where paths are looked for.
    roots: Roots,
}

impl Side {
    /// What `conversation` has.
    pub fn of(conversation: &Conversation) -> Self {
        Self {
            events: conversation.events.clone(),
            shelf: Shelf::new(conversation.paths.home()),
            client: conversation.server(),
            jobs: (conversation.jobs.spawner(), conversation.jobs.watched()),
            models: Arc::default(),
            disabled: conversation.config.disabled_models(),
            printed: conversation.shown.clone(),
            places: Mutex::default(),
            looking: None,
            roots: Roots {
                directory: conversation.directory.clone(),
                home: conversation.env.get("HOME").map(Into::into),
                own: conversation.paths.home().to_owned(),
            },
        }
    }

    /// Completes a line. The server's models are asked for beside everything else: a turn may be under way.
    fn complete(&self, id: &str, text: &str, cursor: usize) {
        if let Some(typed) = mentions::typed(text, cursor) {
            let (events, roots, id) = (self.events.clone(), self.roots.clone(), id.to_owned());
            tokio::task::spawn_blocking(move || {
                let (from, candidates) = mentions::candidates(&typed, &roots);
                let about = slash::about(&candidates);
                events.send(Event::Completions {
                    id,
                    from,
                    candidates,
                    about,
                });
            });
            return;
        }
        let (events, known, client) = (self.events.clone(), self.models.clone(), self.client.clone());
        let needs_models = MODEL.iter().any(|command| text.starts_with(command));
        let (id, text) = (id.to_owned(), text.to_owned());
        let hidden = if text.starts_with(MODEL[0]) {
            self.disabled.clone()
        } else {
            Vec::new()
        };
        let send = move |models: &[String]| {
            let hides = |name: &String| hidden.iter().any(|h| same_model(h, name));
            let models: Vec<String> = models.iter().filter(|m| !hides(m)).cloned().collect();
            let (from, candidates) = slash::complete(&text, cursor, &models);
            let about = slash::about(&candidates);
            events.send(Event::Completions {
                id,
                from,
                candidates,
                about,
            });
        };
        if !needs_models {
            send(&[]);
            return;
        }
        tokio::spawn(async move {
            let listed = tokio::time::timeout(PATIENCE, client.tags()).await;
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            // A server that does not answer at once is taken to have what it had.
            if let Ok(Ok(listed)) = listed {
                *known = listed.into_iter().map(|m| m.name).collect();
            }
            send(&known);
        });
    }

    /// The conversation gets busy: what can be looked at meanwhile.
    pub fn busy(&mut self, conversation: &Conversation) {
        self.looking = Some(Looking::at(conversation));
    }

    /// It is free again, and may have disabled a model meanwhile.
    pub fn free(&mut self, conversation: &Conversation) {
        self.disabled = conversation.config.disabled_models();
        self.looking = None;
    }

    /// The lines a slash command prints.
    pub fn lines(&self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.events.line(line));
    }

    /// `/status` while something runs; false when nothing does.
    pub fn status(&self) -> bool {
        let Some(looking) = &self.looking else {
            return false;
        };
        let (events, client) = (self.events.clone(), self.client.clone());
        let rows = looking.standing();
        let model = rows.iter().find(|(name, _)| *name == "model");
        let model = model.map_or_else(String::new, |(_, model)| model.clone());
        tokio::spawn(async move {
            let loaded = slash::conversation::loaded(&client, &model);
            let loaded = tokio::time::timeout(PATIENCE, loaded).await;
            let loaded = loaded.unwrap_or_else(|_| "the server has not said".to_owned());
            slash::conversation::lines(rows, &loaded).for_each(|line| events.line(line));
        });
        true
    }

    /// `/tokens` while something runs; false before a request was made.
    pub fn tokens(&self) -> bool {
        let lines = self.looking.as_ref().and_then(Looking::tokens);
        let known = lines.is_some();
        self.lines(lines.into_iter().flatten());
        known
    }

    /// `/ps` while something runs.
    pub fn running(&self) -> bool {
        let Some(looking) = &self.looking else {
            return false;
        };
        let own = self.jobs.1.borrow().clone();
        self.lines(slash::jobs::listed(&looking.commands, &own));
        true
    }

    /// Cancels one of wisp's own jobs, by its id; false when there is none of it.
    pub fn cancel(&self, id: &str) -> bool {
        let known = self.jobs.1.borrow().iter().any(|job| job.id == id);
        let Some(job) = JobId::named(id).filter(|_| known) else {
            return false;
        };
        self.jobs.0.cancel(job);
        self.events.line(format!("{id} is cancelled"));
        true
    }

    /// `/show`: the last output, or one that is at hand or in the store; false when it is neither: the record may have it.
    pub fn whole(&self, id: Option<&str>) -> bool {
        let view = views::whole((&self.shelf, &self.printed), id, |_| None);
        let known = view.is_ok() || id.is_none();
        if known {
            self.tell(view);
        }
        known
    }

    /// `/outputs`.
    pub fn outputs(&self) -> bool {
        self.lines(slash::outputs::lines(&self.printed));
        true
    }

    /// `/summarise`; false when there is no such output.
    pub fn summary(&self, id: &str) -> bool {
        let text = slash::outputs::summary((&self.shelf, &self.printed), id);
        let known = text.is_ok();
        self.lines(text.iter().flat_map(|text| text.lines().map(str::to_owned)));
        known
    }

    /// The context of a turn, or of the request under way.
    pub fn context(&self, turn: Option<u64>) {
        let view = match &self.looking {
            Some(looking) => looking.context(turn),
            None => Err("the context cannot be looked at just now".to_owned()),
        };
        self.tell(view);
    }

    /// Sends a view, or why there is none.
    pub fn tell(&self, view: Result<View, String>) {
        match view {
            Ok(view) => self.events.send(Event::View(view)),
            Err(why) => self.events.note(NoteLevel::Error, why),
        }
    }

    /// Answers what can be answered without the conversation.
    pub fn answer(&self, command: &Command, desk: &mut Desk) {
        match command {
            Command::Answer { .. } | Command::Choose { .. } => desk.answer(command),
            Command::Output { id, page } => {
                let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
                let view = views::page((&self.shelf, &self.printed), id, *page, &mut places);
                self.events.send(Event::View(view));
            }
            Command::Search {
                id,
                pattern,
                from_line,
                backwards,
            } => {
                let search = views::Search {
                    pattern,
                    from_line: *from_line,
                    backwards: *backwards,
                };
                let event = views::search((&self.shelf, &self.printed), id, &search);
                self.events.send(event);
            }
            Command::Context { turn } => self.context(*turn),
            Command::Digest { id } => {
                let view = views::digest((&self.shelf, &self.printed), id);
                self.events.send(Event::View(view));
            }
            Command::Complete { id, text, cursor } => self.complete(id, text, *cursor),
            _ => {}
        }
    }
}
