//! Telling that the server loads the model anew for one turn after the other. Each time costs the load and the
//! prompt's whole evaluation, and from outside it only looks slow.
//!
//! The request's own options never change in a conversation, so what makes it reload is elsewhere: another program
//! that asks for another window, another model that pushes this one out of memory, or a keep-alive that ends between
//! two turns. `load_duration` does not hold the wait for a busy model that is loaded, so what it says is a load.

use std::time::Duration;

/// A load that takes longer than this is one. A warm model reports some milliseconds.
const LOAD: Duration = Duration::from_secs(2);

/// Watches the loads of one model in one conversation.
#[derive(Debug, Clone, Default)]
pub struct Reloads {
    /// The last turn that had to wait for a load.
    last: Option<u64>,
    said: bool,
}

impl Reloads {
    /// Takes the load of a request of turn `turn`; true the one time when the person is to be told: the second load in
    /// a turn, or in two turns that follow each other.
    pub fn again(&mut self, turn: u64, load: Option<Duration>) -> bool {
        if load.is_none_or(|load| load <= LOAD) {
            return false;
        }
        let in_a_row = self.last.is_some_and(|last| turn - last.min(turn) <= 1);
        self.last = Some(turn);
        in_a_row && !std::mem::replace(&mut self.said, true)
    }
}

/// What the person is told.
pub fn words(model: &str, load: Duration, window: u64) -> String {
    format!(
        "the server had to load {model} again ({:.0} s), for the second time in a row\nhint: `ollama ps` shows what is \
         loaded; another program may use {model} with another window (this conversation asks for {window}: \
         ollama.contextLength sets it), another model may push it out (OLLAMA_MAX_LOADED_MODELS), or it is unloaded \
         between turns (ollama.keepAlive keeps it longer)",
        load.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::Reloads;
    use std::time::Duration;

    fn play(loads: &[(u64, u64)]) -> Vec<usize> {
        let mut reloads = Reloads::default();
        let said = |at: &usize| {
            let (turn, millis) = loads[*at];
            reloads.again(turn, Some(Duration::from_millis(millis)))
        };
        (0..loads.len()).filter(said).collect()
    }

    #[test]
    fn two_loads_in_a_row_are_said_once() {
        assert_eq!(play(&[(1, 2001), (2, 2001), (3, 9000)]), [1]);
        assert_eq!(play(&[(1, 2001), (1, 5), (2, 2001)]), [2]);
        assert_eq!(play(&[(1, 2001), (1, 2001)]), [1]);
    }

    #[test]
    fn one_load_and_loads_apart_are_usual() {
        assert_eq!(play(&[(1, 90_000), (2, 5), (3, 2001), (5, 2001)]), [0_usize; 0]);
        assert_eq!(play(&[(1, 2000), (2, 2000)]), [0_usize; 0]);
        assert!(!Reloads::default().again(1, None));
    }
}
