//! The registry's part in commands that run in the background: begun by the user's `&`, listed, ended, their outputs kept.

use serde_json::json;
use wisp_audit::Kind;
use wisp_exec::CommandSpec;

use super::{NotRecorded, Pending, Registry, Request, TYPED, Taken};
use crate::call::Scene;
use crate::jobs::{Began, JobRow, Jobs};
use crate::run_command;
use crate::tool::Returned;

/// The command of a line that ends in `&`; none of another line.
pub(super) fn of_line(line: &str) -> Option<&str> {
    let command = line.trim_end().strip_suffix('&')?;
    let alone = !command.ends_with(['&', '|', '>', '<', '\\']) && !command.trim().is_empty();
    alone.then_some(command.trim_end())
}

impl Registry {
    /// The commands that run in the background, and those whose end was not told yet.
    pub fn jobs(&self) -> Vec<JobRow> {
        self.jobs.rows()
    }

    /// Asks a background command to end; asked again, it is killed. False when there is none of this number.
    pub fn kill_job(&self, number: u32) -> bool {
        self.jobs.kill(number)
    }

    /// Ends all background commands.
    pub fn end_jobs(&mut self) {
        self.jobs = Jobs::default();
    }

    /// Takes the background commands that have ended, each with its output, kept as that of any other call.
    pub async fn ended_jobs(&mut self, turn: u64) -> Vec<(JobRow, Pending)> {
        let mut told = Vec::new();
        for (row, ended) in self.jobs.ended().await {
            let returned = match ended {
                Ok(outcome) => {
                    let mut details = run_command::details(&row.line, &outcome);
                    details["background"] = row.number.into();
                    // It has ended, whether or not that can be recorded.
                    let _ = self.record(turn, &row.id, Kind::CommandOutcome, details);
                    run_command::returned(outcome, &self.services)
                }
                Err(error) => Returned::error(error),
            };
            let arguments = json!({ "command": row.line });
            let request = Request {
                tool: TYPED,
                arguments: &arguments,
            };
            let taken = Taken {
                seconds: row.runs.as_secs_f64(),
                noted: None,
                note: None,
                reads_only: false,
            };
            let pending = self.pending(row.id.clone(), request, returned, taken);
            self.record_kept(turn, &pending);
            told.push((row, pending));
        }
        told
    }

    /// Begins what the user typed before an `&`.
    pub(super) async fn typed_job(
        &mut self,
        (id, line): (&str, &str),
        spec: CommandSpec,
        scene: &Scene<'_>,
    ) -> Result<Returned, NotRecorded> {
        Ok(
            match self.jobs.start((id, line), spec, &self.services.home).await {
                Ok(Began::Running(row)) => Returned::text(row.told_user()),
                Ok(Began::Over(ended)) => match *ended {
                    Ok(outcome) => {
                        let mut details = run_command::details(line, &outcome);
                        details["origin"] = "person".into();
                        self.record(scene.turn, id, Kind::CommandOutcome, details)?;
                        run_command::returned(outcome, &self.services)
                    }
                    Err(error) => Returned::error(error),
                },
                Err(error) => Returned::error(error),
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::of_line;

    #[test]
    fn only_a_line_that_ends_in_one_ampersand_runs_on() {
        assert_eq!(of_line("sleep 9 &"), Some("sleep 9"));
        assert_eq!(of_line("a & b&  "), Some("a & b"));
        for line in ["sleep 9", "a &&", "a >&", "a <&", "a |&", "echo \\&", "&", " & "] {
            assert_eq!(of_line(line), None, "{line}");
        }
    }
}
