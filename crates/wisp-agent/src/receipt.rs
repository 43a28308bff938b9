//! The line under a reply that says what the turn ran: `ran: read_file ×2 · run_command ×10 (2 failed, 1 denied)`.
//!
//! It is built from what the registry saw, never from what the model says it did.

use wisp_tools::Ending;

use crate::honest;

/// Tools named before the line says `+N more`.
const NAMED: usize = 6;

/// What one turn ran, in order of first call.
#[derive(Debug, Default)]
pub struct Receipt(Vec<Row>);

#[derive(Debug)]
struct Row {
    tool: String,
    calls: usize,
    failed: usize,
    denied: usize,
    declined: usize,
    stopped: usize,
}

impl Receipt {
    /// Notes how a call ended. One that never ran is not counted.
    pub fn note(&mut self, tool: &str, ending: &Ending) {
        if *ending == Ending::NeverRan {
            return;
        }
        let at = self.0.iter().position(|row| row.tool == tool).unwrap_or_else(|| {
            self.0.push(Row {
                tool: tool.to_owned(),
                calls: 0,
                failed: 0,
                denied: 0,
                declined: 0,
                stopped: 0,
            });
            self.0.len() - 1
        });
        let row = &mut self.0[at];
        row.calls += 1;
        row.failed += usize::from(ending.is_failure());
        row.denied += usize::from(*ending == Ending::Denied);
        row.declined += usize::from(*ending == Ending::Declined);
        row.stopped += usize::from(*ending == Ending::Interrupted);
    }

    /// The line. When nothing ran it is `ran: nothing`, with the reply's own words when they claim something else; none
    /// when the request asks for nothing that a tool is needed for and the reply names no tool as a whole word and claims
    /// nothing. Without tools to call there is no such line.
    pub fn line(&self, asked: &str, reply: &str, tools: &[&str]) -> Option<String> {
        if self.0.is_empty() {
            if tools.is_empty() {
                return None;
            }
            if let Some(claim) = honest::claim(reply) {
                return Some(format!("ran: nothing, though the reply says: {claim}"));
            }
            let words = || reply.split(|c: char| !c.is_alphanumeric() && c != '_');
            let names_one = tools.iter().any(|tool| words().any(|w| w == *tool));
            let due = names_one || honest::asks_for_tools(asked);
            return due.then(|| "ran: nothing".to_owned());
        }
        let mut parts: Vec<String> = self.0.iter().take(NAMED).map(Row::words).collect();
        if self.0.len() > NAMED {
            parts.push(format!("+{} more", self.0.len() - NAMED));
        }
        Some(format!("ran: {}", parts.join(" · ")))
    }
}

impl Row {
    fn words(&self) -> String {
        let times = if self.calls > 1 {
            format!(" ×{}", self.calls)
        } else {
            String::new()
        };
        let counts = [
            (self.failed, "failed"),
            (self.denied, "denied"),
            (self.declined, "declined"),
            (self.stopped, "stopped"),
        ];
        let faults: Vec<String> = counts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
        let faults = if faults.is_empty() {
            String::new()
        } else {
            format!(" ({})", faults.join(", "))
        };
        format!("{}{times}{faults}", self.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_tool_and_by_how_they_ended() {
        let mut receipt = Receipt::default();
        for (tool, ending) in [
            ("read_file", Ending::Done),
            ("run_command", Ending::Exit(1)),
            ("read_file", Ending::Done),
            ("run_command", Ending::Denied),
            ("run_command", Ending::Exit(0)),
            ("run_command", Ending::NeverRan),
        ] {
            receipt.note(tool, &ending);
        }
        let line = receipt.line("", "", &[]).unwrap();
        assert_eq!(line, "ran: read_file ×2 · run_command ×3 (1 failed, 1 denied)");
    }

    #[test]
    fn what_the_person_stopped_is_stopped_and_not_failed() {
        let mut receipt = Receipt::default();
        receipt.note("run_command", &Ending::Interrupted);
        receipt.note("run_command", &Ending::Failed("timed out after 60 s".to_owned()));
        assert_eq!(
            receipt.line("", "", &[]).unwrap(),
            "ran: run_command ×2 (1 failed, 1 stopped)"
        );
    }

    #[test]
    fn a_reply_that_names_a_tool_it_did_not_run_is_told_so() {
        let receipt = Receipt::default();
        let line = |asked: &str, reply: &str| receipt.line(asked, reply, &["run_command"]);
        assert_eq!(line("", "I used run_command.").as_deref(), Some("ran: nothing"));
        assert_eq!(line("", "I used rerun_commands."), None);
    }

    #[test]
    fn at_most_six_tools_are_named() {
        let mut receipt = Receipt::default();
        for n in 0..8 {
            receipt.note(&format!("t{n}"), &Ending::Done);
        }
        assert!(receipt.line("", "", &[]).unwrap().ends_with("t5 · +2 more"));
    }

    #[test]
    fn a_reply_without_calls_is_told_so_where_one_was_due_and_its_claims_are_quoted() {
        let line = |asked: &str, reply: &str| Receipt::default().line(asked, reply, &["run_command"]);
        assert_eq!(line("hi", "Hello!"), None);
        assert_eq!(
            line("what is the port in app.toml?", "It is 80.").as_deref(),
            Some("ran: nothing")
        );
        assert_eq!(
            line("hi", "I ran the tests. They pass.").as_deref(),
            Some("ran: nothing, though the reply says: I ran the tests.")
        );
        let offered_none = Receipt::default().line("run the tests", "I ran the tests.", &[]);
        assert_eq!(offered_none, None);
        let mut ran = Receipt::default();
        ran.note("run_command", &Ending::Exit(0));
        assert_eq!(
            ran.line("run the tests", "I ran the tests.", &["run_command"])
                .as_deref(),
            Some("ran: run_command")
        );
    }
}
