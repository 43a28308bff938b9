//! The calls of one reply: run in order, finished as one batch, recorded in order.

use serde_json::{Value, json};
use wisp_audit::Kind;
use wisp_context::{Arrival, Gauge, HeldBack, NewCall, Rules, Status};
use wisp_ollama::ToolCall;
use wisp_output::amount::{grouped, size};
use wisp_tools::{Behind, Ending, Finished, Keep, Pending, Person, Request, Scene, cap_at_send};
use wisp_turn::{ANSWERED, Bar, Effect, Input, MAX_CALLS};

use super::judge::How;
use super::place::{Place, Placed};
use super::{Progress, Turn, TurnError};
use crate::behind::{Aside, Record, Situation};
use crate::conversation::Conversation;
use crate::model::arriving::Arrived;
use crate::protocol::{Difference, Event, NoteLevel, OutputSummary};

impl Conversation {
    pub(super) async fn run_calls(
        &mut self,
        arrived: Arrived,
        step: u32,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<Vec<Effect>, TurnError> {
        let how = if arrived.recovered {
            self.mark_as_writing_calls();
            How::Recovered
        } else {
            How::Whole
        };
        let mut reply = arrived.reply;
        let calls = reply.tool_calls.len();
        reply.tool_calls.truncate(ANSWERED);
        reply.tool_calls.iter_mut().for_each(cut_name);
        let stamp = self.called(&reply, arrived.raw.as_deref(), (step, progress.number), how)?;
        let thinking = self.stamp();
        self.record.record_thinking(reply.thinking.as_str(), thinking);
        progress.reply.push_str(&reply.content);
        let (actions, bars) = Self::in_terms_of_tools(&mut reply.tool_calls, progress);
        let named = reply.tool_calls.iter().map(new_call).collect();
        let (_, recorded) = self.record.record_calls(reply.content.as_str(), named, stamp);
        if let (Some(raw), Some(call)) = (&arrived.raw, recorded.first()) {
            self.raw.keep(&call.id, raw);
        }
        let asked = (&reply.tool_calls[..], &actions[..], &bars[..]);
        let (batch, stopped) = self.run_each(asked, calls, turn, progress).await;
        let mut finished = self.registry.finish(progress.number, batch);
        let capped = self.cap(&mut finished, progress.number);
        for (at, (call, finished)) in recorded.iter().zip(&finished).enumerate() {
            let place = Place::new(at, recorded.len());
            self.show_result(&finished.pending, place, progress.number);
            self.admit(&call.id, finished);
        }
        // What had run is shown and recorded before a failure of the audit ends the turn.
        stopped?;
        capped?;
        if calls > MAX_CALLS {
            self.too_many(calls, progress.number)?;
        }
        self.offer_memory_when_needed();
        self.save_midway();
        see_stop(turn, progress);
        let effects = progress.machine.on(Input::Recorded);
        if matches!(effects[..], [Effect::Ask { .. }]) {
            self.take_steering(turn, progress.number).await?;
        }
        Ok(effects)
    }

    /// What the user says to the turn under way goes into the record after the results, so that the next request has it.
    /// Lines that could not be recorded are the user's again.
    async fn take_steering(&mut self, turn: &Turn<'_>, number: u64) -> Result<(), TurnError> {
        let lines = turn.person.steering().await;
        for (at, text) in lines.iter().enumerate() {
            if let Err(error) = self.steer(text, number) {
                let lines = lines[at..].to_vec();
                self.events.send(Event::TakenBack { lines });
                return Err(error);
            }
            self.events.send(Event::Taken { text: text.clone() });
        }
        Ok(())
    }

    fn steer(&mut self, text: &str, number: u64) -> Result<(), TurnError> {
        let named = self.with_images(text).unwrap_or_else(|why| {
            self.events.note(NoteLevel::Warning, why);
            text.to_owned()
        });
        let mut whole = self.within_budget(&named).into_owned();
        if let Some(attached) = self.attached(&whole) {
            whole = format!("{whole}\n\n{attached}");
        }
        let stamp = self.stamped(number, Kind::Prompt, json!({ "text": whole, "steers": true }))?;
        self.record.record_steering(whole, stamp);
        Ok(())
    }

    /// Runs the calls of a reply of so many, in order, up to the first that cannot be recorded; beside them the actions
    /// that a guided model chose, and what bars them.
    async fn run_each(
        &mut self,
        (asked, actions, bars): (&[ToolCall], &[ToolCall], &[Option<String>]),
        calls: usize,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> (Vec<Pending>, Result<(), TurnError>) {
        let mut batch = Vec::new();
        see_stop(turn, progress);
        let mut effects = progress.machine.on(Input::Calls(calls));
        loop {
            let mut next = None;
            for effect in effects {
                match effect {
                    Effect::AskForWords { tool } => self.ask_for_words(&tool, progress),
                    Effect::Call { at, bar } => next = Some((at, bar)),
                    _ => {}
                }
            }
            let Some((at, bar)) = next else {
                return (batch, Ok(()));
            };
            let bar = bar.map(barred).or_else(|| bars.get(at).cloned().flatten());
            let place = Place::new(at, asked.len());
            match self.run_hooked((&asked[at], place), bar, turn, progress).await {
                Ok(mut pending) => {
                    if let Some(action) = actions.get(at) {
                        Self::after_action(action, &mut pending, progress);
                    }
                    let done = Input::CallDone {
                        tool: pending.tool.clone(),
                        in_a_row: pending.in_a_row,
                    };
                    batch.push(pending);
                    see_stop(turn, progress);
                    effects = progress.machine.on(done);
                }
                Err(error) => {
                    progress.machine.on(Input::CallFailed);
                    return (batch, Err(error));
                }
            }
        }
    }

    /// Tells the person and the audit of a reply with more calls than are run.
    fn too_many(&self, calls: usize, number: u64) -> Result<(), TurnError> {
        let text = format!(
            "the reply held {} calls, of which {MAX_CALLS} were run",
            grouped(calls as u64)
        );
        let details = json!({"message": text, "context": "reply"});
        self.record_event(number, Kind::Error, details)?;
        self.events.note(NoteLevel::Warning, text);
        Ok(())
    }

    /// Marks the model as one that writes its calls as text, and says so the first time.
    fn mark_as_writing_calls(&mut self) {
        self.model.written_calls += 1;
        if self.model.written_calls == 1 {
            let name = &self.model.name;
            let text = format!("{name} wrote its tool call as text; it is read, and judged like any other");
            self.events.note(NoteLevel::Info, text);
        }
    }

    /// The last look at a batch before it is recorded, which is what every request replays: in normal use nothing
    /// is changed. Were a result to come past the registry's boundary too long, it is cut here and that is recorded.
    fn cap(&self, finished: &mut [Finished], number: u64) -> Result<(), TurnError> {
        let shown = finished.iter().map(|f| f.pending.admitted.shown.clone());
        let mut texts: Vec<String> = shown.collect();
        if !cap_at_send(&mut texts, self.registry.services()) {
            return Ok(());
        }
        for (finished, text) in finished.iter_mut().zip(texts) {
            let admitted = &mut finished.pending.admitted;
            if admitted.shown != text {
                admitted.data = 0..text.len();
                admitted.shown = text;
            }
        }
        let details = json!({"message": "results were cut at the point of sending", "context": "batch"});
        self.record_event(number, Kind::Error, details)?;
        Ok(())
    }

    pub(super) async fn run_call(
        &mut self,
        (call, place): (&ToolCall, Place),
        bar: Option<String>,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<Pending, TurnError> {
        let arguments = match &call.fault {
            Some(fault) => Value::from(fault.given.as_str()),
            None => Value::Object(call.arguments.clone()),
        };
        let request = Request {
            tool: &call.name,
            arguments: &arguments,
        };
        let pending = if let Some(why) = bar {
            self.registry.not_run(request, progress.number, &why)?
        } else if let Some(fault) = &call.fault {
            self.registry.unreadable(request, progress.number, &fault.why)?
        } else {
            let person = Placed::new(turn.person, place);
            person.doing(&format!("{} {}", call.name, wisp_tools::said(&arguments)));
            let (status, time) = (self.situation(progress.number), self.stamp().time);
            let (record, aside, situation) = (
                Record::new(&mut self.record, self.thread.as_ref(), time),
                Aside {
                    model: &self.model,
                    audit: &self.audit,
                    turn: progress.number,
                    gauge: Gauge {
                        estimator: &self.estimator,
                        window: Some(self.model.window.tokens),
                        target: self.target,
                    },
                    stop: turn.stop.clone(),
                },
                Situation {
                    config: &self.config,
                    status,
                },
            );
            let scene = Scene {
                turn: progress.number,
                person: &person,
                cancel: &turn.cancel,
                behind: Behind {
                    record: Some(&record),
                    model: Some(&aside),
                    state: Some(&situation),
                },
            };
            self.registry.run(request, &scene).await?
        };
        progress.receipt.note(&pending.tool, &pending.ending);
        Ok(pending)
    }

    /// The model has called a tool a second time and learned nothing: its next request asks for an answer.
    fn ask_for_words(&self, tool: &str, progress: &mut Progress) {
        progress.told = Some(answer_now(&progress.asked));
        let text = format!(
            "the model made the same {tool} call twice and learned nothing new; it is asked to answer in words"
        );
        self.events.note(NoteLevel::Info, text);
    }

    /// Shows the person a result as the model is sent it: after the batch is final, so that both have the same figures.
    fn show_result(&self, pending: &Pending, place: Place, turn: u64) {
        let admitted = &pending.admitted;
        // A page that `memory` read of an output is no output of its own: it has no id to open it by.
        let id = if pending.tool == wisp_tools::MEMORY {
            ""
        } else {
            &pending.call
        };
        let details = json!({
            "tool": pending.tool, "bytes": admitted.bytes, "seconds": pending.seconds, "outcome": pending.ending.words(),
        });
        self.events.send(Event::Event {
            kind: Kind::ToolResult.name().to_owned(),
            call: Some(pending.call.clone()),
            turn: Some(turn),
            details,
            text: Some(result_line(pending, place)),
            output: Some(OutputSummary {
                difference: pending.difference.as_deref().map(Difference::of),
                ..self.summary(admitted, id)
            }),
        });
    }

    /// Takes a finished result into the record: from now on every request carries exactly these bytes.
    fn admit(&mut self, call: &str, finished: &Finished) {
        let pending = &finished.pending;
        let admitted = &pending.admitted;
        let mut arrival = Arrival::new(call, pending.tool.as_str(), admitted.shown.as_str());
        arrival.data = Some(admitted.data.clone());
        // Of what was printed, as everywhere: a command's frames are wisp's own.
        (arrival.bytes, arrival.lines) = admitted.printed;
        arrival.out_lines = admitted.out_lines;
        arrival.held_back = held_back(admitted);
        arrival.kept = admitted.kept.as_ref().map(|_| pending.call.as_str().into());
        arrival.status = status(&pending.ending);
        arrival.reads_only = pending.reads_only;
        let stamp = self.stamp();
        let stamp = match &finished.event {
            Some(event) => stamp.from(event.clone()),
            None => stamp,
        };
        self.record.record_output(arrival, stamp);
        self.remember(finished);
    }

    /// After something was held back in a small window `memory` is among the tools: the requests from now on define
    /// it, and the marks made from now on name it (`context.memory: auto`).
    pub(crate) fn offer_memory_when_needed(&mut self) {
        let rules = self.record.rules();
        if self.registry.has_memory() && !rules.memory {
            self.record.set_rules(Rules {
                memory: true,
                ..rules
            });
            self.set_tools();
        }
    }

    /// What `inspect status` says.
    fn situation(&self, turn: u64) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "session": self.audit.session().as_str(),
            "turn": turn,
            "directory": self.directory.display().to_string(),
            "home": self.paths.home().display().to_string(),
            "model": self.model.name,
            "window": self.model.window.tokens,
            "windowFrom": self.model.window.why,
            "toolOutputBudget": self.registry.services().budget.bytes(),
            "tools": self.registry.names(),
            "approval": self.registry.gate().described(),
            "sessionApprovals": self.registry.gate().approvals().session_len(),
            "auditFile": self.audit.path().map(|path| path.display().to_string()),
            "outputsKept": matches!(self.registry.services().keep, Keep::In(_)),
        })
    }
}

/// Tells the machine when the user has stopped the turn.
fn see_stop(turn: &Turn<'_>, progress: &mut Progress) {
    if turn.stop.is_cancelled() {
        progress.machine.on(Input::Cancel);
    }
}

/// What the model is told of a call that is not run.
fn barred(bar: Bar) -> String {
    match bar {
        Bar::Stopped => "not run: the person stopped the turn before this call".to_owned(),
        Bar::Repeated => "not run: the turn ends, because the same call was made over and over".to_owned(),
        Bar::TooMany { unanswered } => {
            let more = match unanswered {
                0 => String::new(),
                more => format!(
                    " ({} more calls of this reply were not run either)",
                    grouped(more as u64)
                ),
            };
            format!(
                "not run: no more than {MAX_CALLS} calls of one reply are run; make it again in your next reply{more}"
            )
        }
    }
}

/// The most characters of the person's request that are said again.
const ASKED_CHARS: usize = 400;

/// What ends a repetition, as the user's words: a note in the tool's result does not.
fn answer_now(asked: &str) -> String {
    let mut cut: String = asked.chars().take(ASKED_CHARS).collect();
    if cut.len() < asked.len() {
        cut.push('…');
    }
    format!("Do not call a tool again. Answer my question now, in words: {cut}")
}

/// The most characters of a tool's name that a model wrote; no tool has more.
const NAME_CHARS: usize = 64;

/// Cuts a name that no tool can have, which would otherwise be told, recorded and sent in full length.
fn cut_name(call: &mut ToolCall) {
    if let Some((at, _)) = call.name.char_indices().nth(NAME_CHARS) {
        call.name.truncate(at);
    }
}

fn new_call(call: &ToolCall) -> NewCall {
    NewCall::new(call.name.as_str(), Value::Object(call.arguments.clone()))
}

fn held_back(admitted: &wisp_tools::Admitted) -> Option<HeldBack> {
    let bytes = admitted.held.iter().map(|h| h.bytes).sum();
    let lines = admitted.held.iter().map(wisp_tools::HeldRange::lines).sum();
    (!admitted.held.is_empty()).then_some(HeldBack { bytes, lines })
}

fn status(ending: &Ending) -> Status {
    match ending {
        Ending::Done => Status::Ok,
        Ending::Exit(code) => Status::Exit(*code),
        Ending::Failed(how) if how == "error" => Status::Failed,
        other => Status::Other(other.words().into()),
    }
}

/// The line under a call: `↳ exit 0`, or what the tool answered. Results of one reply come together, so that each of
/// several says which call it belongs to: `↳ 2 of 3 · run_command: exit 0`.
fn result_line(pending: &Pending, place: Place) -> String {
    let words = match &pending.ending {
        Ending::Done => format!("{} in {:.1} s", size(pending.admitted.bytes), pending.seconds),
        other => other.words(),
    };
    let which = match place.words() {
        Some(place) => format!("{place} · {}: ", pending.tool),
        None => String::new(),
    };
    format!("↳ {which}{words}{}{}", left(pending), hint(pending))
}

/// What to do about a command that was stopped at its limit, after how it ended.
pub(crate) fn hint(pending: &Pending) -> &'static str {
    match &pending.ending {
        Ending::Failed(how) if how.starts_with("timed out") => {
            " · for more time: timeoutSeconds in the call, or wisp config set commandTimeoutSeconds"
        }
        _ => "",
    }
}

/// What a command left running and what became of it, after how it ended.
pub(crate) fn left(pending: &Pending) -> String {
    let left = pending.admitted.left.as_deref();
    left.map_or_else(String::new, |left| format!(" · {left}"))
}
