//! `notify`: a few words to a person who may be looking elsewhere.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use wisp_audit::Kind;

use crate::arguments;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::tool::{Descriptor, Returned, Running, Tool};

/// The most notifications in any minute.
const A_MINUTE: usize = 5;
/// The most characters of a title.
const TITLE: usize = 64;
/// The most characters of a message.
const MESSAGE: usize = 256;

arguments! {
    /// What `notify` is called with.
    pub struct NotifyArguments {
        title: String = "title", "A few words";
        message: String = "message", "One sentence";
    }
}

/// The tool.
#[derive(Debug, Default)]
pub struct Notify {
    sent: Mutex<VecDeque<Timestamp>>,
}

impl Tool for Notify {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "notify".into(),
            description: "Show a desktop notification.".into(),
            parameters: NotifyArguments::PARAMETERS.into(),
            limits: format!("{A_MINUTE} a minute; title {TITLE} characters, message {MESSAGE}"),
            example: "Run the slow tests and notify me when they are done.".into(),
            reads_only: false,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            match NotifyArguments::from_value(arguments) {
                Ok(arguments) => self.notify(&arguments, call),
                Err(e) => Returned::error(e),
            }
        })
    }
}

impl Notify {
    fn notify(&self, arguments: &NotifyArguments, call: &Call<'_>) -> Returned {
        let (title, message) = (plain(&arguments.title, TITLE), plain(&arguments.message, MESSAGE));
        let shown = self
            .allowed(&message, call)
            .and_then(|()| call.scene.person.notify(&title, &message));
        let mut details = json!({"title": title, "body": message, "source": "model"});
        match &shown {
            Ok(()) => details["outcome"] = "posted".into(),
            Err(why) => {
                details["outcome"] = "refused".into();
                details["reason"] = why.as_str().into();
            }
        }
        // Whether it could be recorded changes nothing about what was shown.
        let _ = call.audit(Kind::Notification, details);
        match shown {
            Ok(()) => Returned::text("notification posted"),
            Err(why) => Returned::error(format!("notification not shown: {why}")),
        }
    }

    fn allowed(&self, message: &str, call: &Call<'_>) -> Result<(), String> {
        let config = call.scene.behind.state.map(crate::behind::State::config);
        if config.is_some_and(|c| c["notifications"]["enabled"] == false) {
            return Err("notifications are off (notifications.enabled)".to_owned());
        }
        if message.is_empty() {
            return Err("the message is empty".to_owned());
        }
        let now = call.services.clock.now();
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.retain(|at| now.duration_since(*at) < SignedDuration::from_mins(1));
        if sent.len() >= A_MINUTE {
            return Err(format!("{A_MINUTE} were shown in the last minute"));
        }
        sent.push_back(now);
        Ok(())
    }
}

/// On one line, without control characters, cut.
fn plain(text: &str, most: usize) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let line = line.trim();
    match line.char_indices().nth(most) {
        Some(_) => line.chars().take(most - 1).chain(['…']).collect(),
        None => line.to_owned(),
    }
}
