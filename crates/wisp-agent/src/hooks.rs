//! Hooks: commands of the person's that run at points of a conversation, with the event as JSON on standard input.
//!
//! A hook may refuse what is about to be done and may say something to the model. What it says is bounded and marked as
//! what it is; that it fails, or takes too long, changes nothing but a line for the person.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use wisp_audit::{Event, Kind};
use wisp_config::hooks::Hook;
use wisp_exec::{CommandSpec, Ending, EnvChange, serve};
use wisp_guard::Profile;
use wisp_tools::confine::Wanted;

use crate::conversation::Conversation;
use crate::protocol::NoteLevel;

/// The most bytes that are read of what a hook prints.
const PRINTED: u64 = 64 * 1024;
/// The most bytes of what a hook says to the model.
const SAID: usize = 4 * 1024;

/// What the hooks of an event came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Why what is about to be done is not; none when it is.
    pub(crate) blocked: Option<String>,
    /// What the model is told, marked as a hook's.
    pub(crate) said: Option<String>,
}

/// What one hook decided.
#[derive(Debug, Default, PartialEq, Eq)]
struct Decided {
    blocked: Option<String>,
    said: Option<String>,
    /// A line for the person.
    shown: Option<String>,
}

/// What a hook printed and how it ended.
struct Ran {
    ending: Option<Ending>,
    out: String,
    err: String,
}

impl Conversation {
    /// Runs the hooks of an event, one after the other, until one refuses.
    pub(crate) async fn hooked(
        &self,
        event: &'static str,
        tool: Option<&str>,
        more: Value,
        stop: &CancellationToken,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        for hook in self.config.hooks() {
            if hook.event != event || tool.is_some_and(|tool| !hook.is_for(tool)) {
                continue;
            }
            let began = Instant::now();
            let ran = self.run_hook(&hook, self.told(event, tool, &more), stop).await;
            let decided = match &ran {
                Ok(ran) => decided(event, ran),
                Err(why) => Decided {
                    shown: Some(why.clone()),
                    ..Decided::default()
                },
            };
            let exit = ran.ok().and_then(|ran| ran.ending);
            let details = json!({
                "event": event, "command": hook.command, "tool": tool, "exitStatus": exit.and_then(Ending::number),
                "timedOut": exit.is_none(), "blocked": decided.blocked.is_some(), "reason": decided.blocked,
                "text": decided.said, "seconds": (began.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            });
            // It has run; what it decided holds whether or not this can be written.
            let _ = self.audit.append(Event::new(Kind::HookRun, details));
            if let Some(shown) = decided.shown {
                let text = format!("your hook for {event} ({}): {shown}", hook.command);
                self.events.note(NoteLevel::Warning, text);
            }
            if let Some(said) = decided.said {
                let said = marked(&said);
                outcome.said = Some(match outcome.said.take() {
                    Some(before) => format!("{before}\n{said}"),
                    None => said,
                });
            }
            if decided.blocked.is_some() {
                outcome.blocked = decided.blocked;
                break;
            }
        }
        outcome
    }

    /// The event as a hook is told it, in the form that other agents have.
    fn told(&self, event: &str, tool: Option<&str>, more: &Value) -> Value {
        let mut told = json!({
            "session_id": self.audit.session().as_str(),
            "transcript_path": self.audit.path().map(|path| path.display().to_string()),
            "cwd": self.directory.display().to_string(),
            "hook_event_name": event,
        });
        if let Some(tool) = tool {
            told["tool_name"] = tool.into();
        }
        if let Some(more) = more.as_object() {
            for (name, value) in more {
                told[name] = value.clone();
            }
        }
        told
    }

    /// Runs a hook. The error says why it came to nothing.
    async fn run_hook(&self, hook: &Hook, told: Value, stop: &CancellationToken) -> Result<Ran, String> {
        let spec = self.hook_spec(hook);
        let (mut served, streams) = serve(spec).map_err(|e| e.to_string())?;
        let (mut stdin, out, err) = (streams.stdin, streams.stdout, streams.stderr);
        let talking = async {
            let write = async {
                // One that does not read is told nothing.
                let _ = stdin.write_all(format!("{told}\n").as_bytes()).await;
                drop(stdin);
            };
            let ((), out, err, ended) = tokio::join!(write, read(out), read(err), served.ended());
            (ended, out, err)
        };
        let most = Duration::from_secs(hook.timeout_seconds);
        tokio::select! {
            (ended, out, err) = talking => {
                let ending = ended.map_err(|e| e.to_string())?;
                Ok(Ran { ending: Some(ending), out, err })
            }
            () = tokio::time::sleep(most) => {
                Err(format!("it did not end within {} s, and was stopped", hook.timeout_seconds))
            }
            () = stop.cancelled() => Err("it was stopped with the turn".to_owned()),
        }
    }

    fn hook_spec(&self, hook: &Hook) -> CommandSpec {
        let confining = &self.registry.services().confining;
        let directory: &Path = &self.directory;
        let start = if hook.sandbox {
            confining.start(Wanted {
                profile: Profile::Write,
                directory,
                runs_in: directory,
                network: true,
            })
        } else {
            confining.outside()
        };
        let mut spec = CommandSpec::shell(&hook.command);
        spec.dir = Some(directory.to_owned());
        spec.sandbox = start.sandbox;
        spec.env = start.env;
        for name in ["WISP_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
            spec.env.push(EnvChange::Set(name.into(), directory.into()));
        }
        spec
    }
}

/// What comes of a stream, at most [`PRINTED`] bytes of it; the rest is read and dropped, so that the hook can end.
async fn read(mut from: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    let _ = (&mut from).take(PRINTED).read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut from, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a hook decided: exit status 2 refuses with what it printed to standard error; with 0 it may print JSON that says
/// so, or text for the model.
fn decided(event: &str, ran: &Ran) -> Decided {
    let (out, err) = (ran.out.trim(), ran.err.trim());
    match ran.ending {
        Some(Ending::Exited { code: 0 }) => from_output(event, out),
        Some(Ending::Exited { code: 2 }) => Decided {
            blocked: Some(if err.is_empty() {
                "without a reason".to_owned()
            } else {
                cut(err)
            }),
            ..Decided::default()
        },
        Some(ending) => {
            let last = err.lines().last().unwrap_or_default();
            let last: String = last.chars().take(200).collect();
            let why = if last.is_empty() {
                String::new()
            } else {
                format!(" ({last})")
            };
            Decided {
                shown: Some(format!("{ending}{why}")),
                ..Decided::default()
            }
        }
        None => Decided::default(),
    }
}

fn from_output(event: &str, out: &str) -> Decided {
    let json = out
        .starts_with('{')
        .then(|| serde_json::from_str::<Value>(out).ok())
        .flatten();
    let Some(json) = json else {
        // Only with a message is plain output something for the model.
        let said = (event == "UserPromptSubmit" && !out.is_empty()).then(|| cut(out));
        return Decided {
            said,
            ..Decided::default()
        };
    };
    let text = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(cut);
    let own = &json["hookSpecificOutput"];
    let refuses = json["decision"] == "block"
        || json["continue"] == false
        || ["deny", "block"]
            .iter()
            .any(|word| own["permissionDecision"] == *word);
    let reasons = [
        &json["reason"],
        &own["permissionDecisionReason"],
        &json["stopReason"],
    ];
    let reason = reasons.into_iter().find_map(text);
    Decided {
        blocked: refuses.then(|| reason.unwrap_or_else(|| "without a reason".to_owned())),
        said: text(&own["additionalContext"]),
        shown: text(&json["systemMessage"]),
    }
}

/// What a hook says, between lines that tell what it is, with tokens of chat templates inert.
fn marked(said: &str) -> String {
    format!(
        "[what the user's hook says:\n{}\n]",
        wisp_template_tokens::inert(said)
    )
}

fn cut(text: &str) -> String {
    let mut at = SAID.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    if at < text.len() {
        format!("{}…", &text[..at])
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(event: &str, code: i32, out: &str, err: &str) -> Decided {
        let ran = Ran {
            ending: Some(Ending::Exited { code }),
            out: out.to_owned(),
            err: err.to_owned(),
        };
        decided(event, &ran)
    }

    fn blocked(why: &str) -> Decided {
        Decided {
            blocked: Some(why.to_owned()),
            ..Decided::default()
        }
    }

    #[test]
    fn exit_status_2_and_json_refuse_and_other_failures_only_tell_the_person() {
        assert_eq!(of("PreToolUse", 2, "", "not here\n"), blocked("not here"));
        assert_eq!(of("PreToolUse", 2, "", ""), blocked("without a reason"));
        assert_eq!(
            of("PreToolUse", 0, r#"{"decision": "block", "reason": "no"}"#, ""),
            blocked("no")
        );
        let deny =
            r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "policy"}}"#;
        assert_eq!(of("PreToolUse", 0, deny, ""), blocked("policy"));
        assert_eq!(
            of(
                "PreToolUse",
                0,
                r#"{"continue": false, "stopReason": "enough"}"#,
                ""
            ),
            blocked("enough")
        );
        // A hook cannot allow what would be asked about.
        let allow = r#"{"hookSpecificOutput": {"permissionDecision": "allow"}}"#;
        assert_eq!(of("PreToolUse", 0, allow, ""), Decided::default());
        assert_eq!(
            of("Stop", 1, "", "a\nb\n").shown.as_deref(),
            Some("exit status 1 (b)")
        );
    }

    #[test]
    fn what_is_for_the_model_is_bounded_and_marked() {
        assert_eq!(
            of("UserPromptSubmit", 0, "branch: main\n", "").said.as_deref(),
            Some("branch: main")
        );
        assert_eq!(of("PostToolUse", 0, "formatted\n", ""), Decided::default());
        let context = r#"{"hookSpecificOutput": {"additionalContext": "2 tests fail"}}"#;
        assert_eq!(
            of("PostToolUse", 0, context, "").said.as_deref(),
            Some("2 tests fail")
        );
        let long = of("UserPromptSubmit", 0, &"é".repeat(3_000), "").said.unwrap();
        assert_eq!(long.len(), SAID + '…'.len_utf8());
        assert!(!marked("<|im_start|>system").contains("<|im_start|>"));
    }
}
