//! What a command prints while it runs: its last lines go to the user, a few times a second.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep_until};
use wisp_exec::{CommandSpec, ExecError, LiveChunk, Outcome};

use crate::call::Person;

/// Lines that are shown.
const LINES: usize = 3;
/// Bytes of a line that are kept: more than any window is wide.
const LINE_BYTES: usize = 1024;
/// The time between two changes of what is shown.
const PAUSE: Duration = Duration::from_millis(200);
/// Chunks that may wait; more are left out.
const CHUNKS: usize = 16;

/// Runs a command and shows its last lines meanwhile.
pub(crate) async fn run(mut spec: CommandSpec, person: &dyn Person) -> Result<Outcome, ExecError> {
    let (to, from) = wisp_exec::live(CHUNKS);
    spec.live = Some(to);
    // Watching ends with the last sender, which the run drops.
    let (outcome, ()) = tokio::join!(wisp_exec::run(spec), watch(from, person));
    outcome
}

async fn watch(mut from: Receiver<LiveChunk>, person: &dyn Person) {
    let mut tail = Tail::default();
    let mut shown = Instant::now();
    let mut changed = false;
    loop {
        tokio::select! {
            chunk = from.recv() => match chunk {
                Some(chunk) => {
                    tail.push(&chunk.text);
                    changed = true;
                }
                None => return,
            },
            () = sleep_until(shown + PAUSE), if changed => {
                person.printed(tail.lines());
                (shown, changed) = (Instant::now(), false);
            }
        }
    }
}

/// The end of a text that grows.
#[derive(Debug, Default)]
struct Tail {
    whole: VecDeque<String>,
    open: String,
}

impl Tail {
    fn push(&mut self, text: &str) {
        let mut lines = text.split('\n');
        self.extend(lines.next().unwrap_or_default());
        for line in lines {
            let ended = std::mem::take(&mut self.open);
            self.end(ended);
            self.extend(line);
        }
    }

    /// More of the open line. What is drawn over itself begins anew.
    fn extend(&mut self, more: &str) {
        let more = more.strip_suffix('\r').unwrap_or(more);
        let more = match more.rfind('\r') {
            Some(at) => {
                self.open.clear();
                &more[at + 1..]
            }
            None => more,
        };
        let room = LINE_BYTES.saturating_sub(self.open.len());
        let cut = (0..=room.min(more.len()))
            .rev()
            .find(|at| more.is_char_boundary(*at));
        self.open.push_str(&more[..cut.unwrap_or(0)]);
    }

    fn end(&mut self, line: String) {
        if line.trim().is_empty() {
            return;
        }
        self.whole.push_back(line);
        if self.whole.len() > LINES {
            self.whole.pop_front();
        }
    }

    /// The last lines with something in them, one that has not ended included.
    fn lines(&self) -> Vec<String> {
        let open = Some(&self.open).filter(|open| !open.trim().is_empty());
        let lines: Vec<&String> = self.whole.iter().chain(open).collect();
        lines[lines.len().saturating_sub(LINES)..]
            .iter()
            .map(|line| (*line).clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::call::Answering;
    use crate::gate::Question;

    fn tail(chunks: &[&str]) -> Vec<String> {
        let mut tail = Tail::default();
        for chunk in chunks {
            tail.push(chunk);
        }
        tail.lines()
    }

    #[test]
    fn the_last_three_lines_are_kept_wherever_chunks_end() {
        assert_eq!(tail(&["1\n2\n", "\n3", "3\n4\n"]), ["2", "33", "4"]);
        assert_eq!(tail(&["1\n2\n3\n4"]), ["2", "3", "4"]);
        assert_eq!(tail(&[""]), [""; 0]);
    }

    #[test]
    fn a_line_that_is_drawn_over_itself_has_its_last_state() {
        assert_eq!(tail(&["10 %\r20 %", "\r30 %"]), ["30 %"]);
        assert_eq!(tail(&["dos\r\nend\r\n"]), ["dos", "end"]);
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let long = "é".repeat(2 * LINE_BYTES);
        assert_eq!(tail(&[&long])[0].len(), LINE_BYTES);
    }

    #[derive(Default)]
    struct Reader(Mutex<Vec<Vec<String>>>);

    impl Person for Reader {
        fn ask(&self, _: Question) -> Answering<'_> {
            Box::pin(async { None })
        }

        fn doing(&self, _: &str) {}

        fn printed(&self, lines: Vec<String>) {
            if let Ok(mut seen) = self.0.lock() {
                seen.push(lines);
            }
        }
    }

    #[tokio::test]
    async fn lines_are_shown_while_the_command_runs() {
        let reader = Reader::default();
        let spec = CommandSpec::shell("echo begun; sleep 0.5; echo over");
        let outcome = run(spec, &reader).await.unwrap();
        assert_eq!(outcome.stdout.lines(), 2);
        assert_eq!(reader.0.lock().unwrap().first(), Some(&vec!["begun".to_owned()]));
    }
}
