//! What the person sends while something runs: held in order, shown as waiting, taken at the end of it, or by the turn
//! itself when it steers, and given back when they want it back. No line leaves it in another way.

use std::collections::VecDeque;

use crate::events::Events;
use crate::protocol::{Command, Event, QueuedLine};
use crate::slash;

/// The commands that wait for what runs to be over.
pub(super) struct Queue {
    waiting: VecDeque<Command>,
    events: Events,
    /// What the front end was told last.
    shown: Vec<QueuedLine>,
    /// Messages that came, whether they waited or not.
    received: u64,
}

impl Queue {
    /// An empty one, whose changes the front end is told.
    pub fn new(events: Events) -> Self {
        Self {
            waiting: VecDeque::new(),
            events,
            shown: Vec::new(),
            received: 0,
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many lines wait.
    pub fn lines(&self) -> u64 {
        self.waiting.iter().filter_map(line).count() as u64
    }

    /// How many messages came so far.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Counts a command that came, when it is a message.
    pub fn count(&mut self, command: &Command) {
        self.received += u64::from(matches!(command, Command::Message { .. }));
    }

    /// Adds a command.
    pub fn push(&mut self, command: Command) {
        self.waiting.push_back(command);
        self.show();
    }

    /// The next command to be carried out.
    pub fn pop(&mut self) -> Option<Command> {
        let command = self.waiting.pop_front()?;
        self.show();
        Some(command)
    }

    /// Takes the lines that steer, for the turn under way.
    pub fn take_steering(&mut self) -> Vec<String> {
        let (steer, wait): (VecDeque<Command>, _) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|command| line(command).is_some_and(|line| line.steers));
        self.waiting = wait;
        self.show();
        steer.iter().filter_map(line).map(|line| line.text).collect()
    }

    /// Puts lines that steer back, in front: no turn took them.
    pub fn put_back(&mut self, steering: Vec<String>) {
        for text in steering.into_iter().rev() {
            let text = format!("{} {text}", slash::STEER);
            self.waiting.push_front(Command::Message { text });
        }
        self.show();
    }

    /// Gives the last line back, or all of them.
    pub fn take_back(&mut self, all: bool) {
        let mut lines = Vec::new();
        while let Some(at) = self.waiting.iter().rposition(|command| line(command).is_some()) {
            if let Some(Command::Message { text }) = self.waiting.remove(at) {
                lines.insert(0, text);
            }
            if !all {
                break;
            }
        }
        if !lines.is_empty() {
            self.show();
            self.events.send(Event::TakenBack { lines });
        }
    }

    fn show(&mut self) {
        let waiting: Vec<QueuedLine> = self.waiting.iter().filter_map(line).collect();
        if waiting != self.shown {
            self.shown.clone_from(&waiting);
            self.events.send(Event::Queue { waiting });
        }
    }
}

/// A command as a line that waits; none when it is no message.
fn line(command: &Command) -> Option<QueuedLine> {
    let Command::Message { text } = command else {
        return None;
    };
    let steering = slash::steering(text);
    Some(QueuedLine {
        text: steering.unwrap_or(text).to_owned(),
        steers: steering.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    fn queue(lines: &[&str]) -> (Queue, mpsc::UnboundedReceiver<Event>) {
        let (to, events) = mpsc::unbounded_channel();
        let mut queue = Queue::new(Events::new(to));
        for text in lines {
            queue.push(Command::Message {
                text: (*text).to_owned(),
            });
        }
        (queue, events)
    }

    /// The lines of the last list the front end was told, those that steer marked.
    fn shown(events: &mut mpsc::UnboundedReceiver<Event>) -> Vec<String> {
        let mut last = Vec::new();
        while let Ok(event) = events.try_recv() {
            if let Event::Queue { waiting } = event {
                let words =
                    |line: QueuedLine| format!("{}{}", if line.steers { "now: " } else { "" }, line.text);
                last = waiting.into_iter().map(words).collect();
            }
        }
        last
    }

    #[test]
    fn lines_wait_in_order_and_those_that_steer_are_taken_before_their_turn() {
        let (mut queue, mut events) = queue(&["one", "/now not that file", "two"]);
        assert_eq!(shown(&mut events), ["one", "now: not that file", "two"]);
        assert_eq!(queue.take_steering(), ["not that file"]);
        assert_eq!(shown(&mut events), ["one", "two"]);
        assert_eq!(queue.pop(), Some(Command::Message { text: "one".into() }));
        assert_eq!((queue.lines(), queue.take_steering().len()), (1, 0));
    }

    #[test]
    fn what_no_turn_took_stands_in_front_again() {
        let (mut queue, mut events) = queue(&["/now a", "/now b", "c"]);
        let steering = queue.take_steering();
        queue.put_back(steering);
        assert_eq!(shown(&mut events), ["now: a", "now: b", "c"]);
    }

    #[test]
    fn the_last_line_is_given_back_or_all_as_they_were_typed() {
        let (mut queue, mut events) = queue(&["one", "/now two", "three"]);
        queue.push(Command::Quit);
        queue.take_back(false);
        let back = |events: &mut mpsc::UnboundedReceiver<Event>| loop {
            match events.try_recv() {
                Ok(Event::TakenBack { lines }) => return Some(lines),
                Ok(_) => {}
                Err(_) => return None,
            }
        };
        assert_eq!(back(&mut events), Some(vec!["three".to_owned()]));
        queue.take_back(true);
        assert_eq!(
            back(&mut events),
            Some(vec!["one".to_owned(), "/now two".to_owned()])
        );
        queue.take_back(true);
        assert_eq!(back(&mut events), None);
        assert_eq!(queue.pop(), Some(Command::Quit), "what is no line stays");
    }
}
