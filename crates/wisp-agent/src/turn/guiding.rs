//! A turn with a model that is held to a schema: what guides it, its requests, its actions as calls.

use wisp_context::{Kind, Request, Stamp};
use wisp_ollama::{ChatRequest, Reply, ToolCall, ToolDefinition};
use wisp_tools::{Ending, Pending};

use super::judge::How;
use super::{Progress, TurnError};
use crate::conversation::Conversation;
use crate::guided::actions::COVERED;
use crate::guided::decode::AT_END;
use crate::guided::messages::messages;
use crate::guided::{GuidedTurn, Taken, is_files};
use crate::model::arriving::Arrived;
use crate::model::call_style::CallStyle;
use crate::model::convert;
use crate::model::failure::Failure;
use crate::protocol::NoteLevel;

/// What keeps a small model from repeating itself: what servers up to 0.32.9 have where nothing is set.
const REPEAT_PENALTY: f64 = 1.1;

/// What servers say of a schema that they cannot make a grammar of.
const SCHEMA_WORDS: &[&str] = &["sampling context", "grammar", "schema", "invalid format"];

/// The exit status of a shell for a file that it may not run.
const NOT_EXECUTABLE: i32 = 126;

/// The most tokens of a guided reply. An action needs few; a model that goes on for ever is stopped here.
const MOST_REPLY: u64 = 1_024;

impl Conversation {
    /// Begins to guide the turn where the model's calls are guided, and gives the line on the folder's files that goes
    /// with the request.
    pub(super) fn guide(&self, prompt: &str, progress: &mut Progress) -> Option<String> {
        if !self.is_guided() {
            return None;
        }
        let before = self
            .record
            .entries()
            .iter()
            .filter(|entry| entry.kind() == Kind::Prompt);
        let said: Vec<&str> = before
            .flat_map(|entry| entry.text().lines())
            .filter(|line| !is_files(line))
            .collect();
        let guide = GuidedTurn::new(self.directory.clone(), &said.join("\n"), prompt);
        let files = guide.files();
        progress.guide = Some(Box::new(guide));
        (!files.is_empty()).then(|| wisp_template_tokens::inert(&files).into_owned())
    }

    /// Whether the model's replies are held to a schema in this conversation.
    pub(crate) fn is_guided(&self) -> bool {
        self.tools.is_some() && self.model.is_guided()
    }

    /// A request whose reply is an action or the answer.
    pub(super) fn guided(&self, composed: &Request, guide: &GuidedTurn, tokens: u64) -> ChatRequest {
        let sent = messages(&composed.messages, &self.raw);
        let mut request = self.model.request_of(sent, self.tools.as_ref(), tokens);
        request.format = Some(guide.schema(&self.others()));
        request.think = self.model.think_with_format();
        request.options.temperature = Some(0.0);
        // Without it a small model writes the old line as the new one, and takes the action it took before.
        request.options.repeat_penalty = Some(REPEAT_PENALTY);
        // Past its end an object is only followed by blanks, which cost as much time as text.
        request.options.stop = self.model.show.stops();
        request.options.stop.insert(0, AT_END.to_owned());
        let most = request.options.num_predict.unwrap_or(MOST_REPLY);
        request.options.num_predict = Some(most.min(MOST_REPLY));
        request
    }

    /// A request of a guided turn whose reply is the answer in the user's form: none of a guide's bounds holds for it.
    pub(super) fn unguided(&self, composed: &Request, tokens: u64) -> ChatRequest {
        let sent = messages(&composed.messages, &self.raw);
        self.model.request_of(sent, None, tokens)
    }

    /// After a server refused a schema: a plainer one, and then none, said in a line. False when the failure is another.
    pub(super) fn without_schema(&mut self, failure: &Failure, progress: &mut Progress) -> bool {
        let (Some(guide), Failure::Server(error)) = (&mut progress.guide, failure) else {
            return false;
        };
        let said = error.to_string().to_lowercase();
        if !SCHEMA_WORDS.iter().any(|word| said.contains(word)) {
            return false;
        }
        if guide.go_plain() {
            return true;
        }
        progress.guide = None;
        self.model.calls = CallStyle::Native;
        self.model.tools = self.model.show.can("tools").unwrap_or(false);
        self.set_tools();
        self.instruct();
        let text = format!(
            "the server cannot hold {} to a schema, so it makes its calls itself from now on",
            self.model.name
        );
        self.events.note(NoteLevel::Warning, text);
        true
    }

    /// The tools on offer that have no action of their own: the user's, and `memory` from when a text that the model has names
    /// it, an output that was held back or a reference.
    fn others(&self) -> Vec<ToolDefinition> {
        let all = self.tools.as_ref().map(convert::definitions).unwrap_or_default();
        let named = self.record.needs_memory();
        let wanted = |tool: &ToolDefinition| {
            let own = self.registry.is_custom(&tool.name) && !COVERED.contains(&tool.name.as_str());
            own || named && tool.name == wisp_tools::MEMORY
        };
        all.into_iter().filter(wanted).collect()
    }

    /// The note with which an answer is refused: a change was asked for, and nothing has changed.
    pub(super) fn refused_answer(arrived: &Arrived, progress: &mut Progress) -> Option<&'static str> {
        if !arrived.reply.tool_calls.is_empty() {
            return None;
        }
        progress.guide.as_mut()?.refuse_answer(&arrived.reply.content)
    }

    /// Puts the actions of a guided reply into the terms of tools: the actions as they were, and for each why it is not
    /// run, where it is not. Nothing happens to calls that are no actions.
    pub(super) fn in_terms_of_tools(
        calls: &mut [ToolCall],
        progress: &mut Progress,
    ) -> (Vec<ToolCall>, Vec<Option<String>>) {
        let Some(guide) = &mut progress.guide else {
            return (Vec::new(), Vec::new());
        };
        let mut actions = Vec::new();
        let mut bars = Vec::new();
        for call in calls {
            let Taken { call: meant, bar } = guide.take(&call.name, &call.arguments);
            actions.push(std::mem::replace(call, meant));
            bars.push(bar);
        }
        (actions, bars)
    }

    /// Records a reply with calls; of a guided one the text as the model wrote it.
    pub(super) fn called(
        &self,
        reply: &Reply,
        raw: Option<&str>,
        (step, number): (u32, u64),
        how: How,
    ) -> Result<Stamp, TurnError> {
        match raw {
            None => self.response(reply, step, number, how),
            Some(raw) => {
                let content = raw.to_owned();
                self.response(
                    &Reply {
                        content,
                        ..reply.clone()
                    },
                    step,
                    number,
                    how,
                )
            }
        }
    }

    /// After an action was run: the lines that changed go below its result.
    pub(super) fn after_action(action: &ToolCall, pending: &mut Pending, progress: &mut Progress) {
        let Some(guide) = &mut progress.guide else { return };
        let ran = matches!(pending.ending, Ending::Done | Ending::Exit(_));
        let mut told = guide.after(&action.name, &action.arguments, ran);
        if let Ending::Exit(status) = pending.ending
            && action.name == "run"
        {
            guide.note_run(status, &pending.admitted.beginning);
            if status == NOT_EXECUTABLE
                && told.is_empty()
                && let Some(instead) = interpreted(action)
            {
                told = format!("(the file is not executable; this runs it: {instead})");
                guide.note_instead(instead);
            }
        }
        if !told.is_empty() {
            pending.admitted.add_below(&told);
        }
    }
}

/// The command that runs a script which is not executable: its interpreter and the same arguments.
fn interpreted(action: &ToolCall) -> Option<String> {
    let line = action.arguments.get("command")?.as_str()?;
    let file = line.split_whitespace().next()?;
    let with = match file.rsplit_once('.')?.1 {
        "py" => "python3",
        "sh" => "sh",
        _ => return None,
    };
    Some(format!("{with} {}", line.trim_start_matches("./")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_run_by_the_interpreter_that_its_name_tells() {
        let run = |line: &str| {
            let given = serde_json::json!({ "command": line });
            interpreted(&ToolCall::new(
                "run",
                given.as_object().cloned().unwrap_or_default(),
            ))
        };
        assert_eq!(run("./squares.py 5").as_deref(), Some("python3 squares.py 5"));
        assert_eq!(run("hello.sh").as_deref(), Some("sh hello.sh"));
        assert_eq!(run("./tool"), None);
    }
}
