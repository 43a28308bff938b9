//! A server's tool in the registry: judged, called, and its answer given to wisp as every tool's is.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use wisp_audit::Kind as Audited;
use wisp_guard::ForeignTool as Judged;
use wisp_output::Output;
use wisp_output::store::About;
use wisp_tools::arguments::Kind;
use wisp_tools::arguments::{Parameter, ParameterType};
use wisp_tools::{Body, Call, Descriptor, Ending, Keep, Returned, Running, Tool};

use crate::content::{Answer, Part};
use crate::server::{Offered, Server};
use crate::session;

/// A tool of a server.
#[derive(Clone)]
pub(crate) struct ForeignTool {
    /// Its name in the registry.
    pub(crate) name: String,
    pub(crate) offered: Offered,
    pub(crate) server: Arc<Server>,
}

impl ForeignTool {
    pub(crate) fn new(name: String, offered: Offered, server: Arc<Server>) -> Self {
        Self {
            name,
            offered,
            server,
        }
    }

    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.offered.definition.parameters
    }

    fn is_safe(&self) -> bool {
        self.server.configured.safe.contains(&self.offered.listed.name)
    }

    /// What the server says that can only make a person more careful.
    fn hints(&self) -> Vec<String> {
        let listed = &self.offered.listed;
        let all = [
            (listed.destroys, "the server says that it may overwrite or delete"),
            (
                listed.reaches_out,
                "the server says that it reaches other machines",
            ),
        ];
        let said = all.into_iter().filter(|(is, _)| *is);
        said.map(|(_, hint)| hint.to_owned()).collect()
    }

    /// Judges and makes a call.
    pub(crate) async fn call(&self, arguments: &Value, call: &mut Call<'_>) -> Returned {
        let arguments = typed(self.parameters(), arguments);
        let judged = Judged {
            server: self.server.configured.name.clone(),
            name: self.name.clone(),
            arguments: Value::Object(arguments.clone()).to_string(),
            safe: self.is_safe(),
            hints: self.hints(),
        };
        if let Err(refusal) = call.clear_foreign(judged).await {
            return refusal;
        }
        match self.answered(arguments, call).await {
            Ok(answer) => self.returned(answer, call),
            Err(returned) => returned,
        }
    }

    async fn answered(&self, arguments: Map<String, Value>, call: &Call<'_>) -> Result<Answer, Returned> {
        let peer = self.server.peer().map_err(Returned::error)?;
        let configured = self.server.configured.timeout_seconds.map(Duration::from_secs);
        let most = configured.or(call.services.options.command_timeout);
        let over = async {
            match most {
                Some(most) => tokio::time::sleep(most).await,
                None => std::future::pending().await,
            }
        };
        let person = call.scene.person;
        person.doing(&format!("calling {}", self.name));
        let mut progress = self.server.ear.progress.subscribe();
        let calling = session::call(&peer, &self.offered.listed.name, arguments);
        tokio::pin!(calling, over);
        loop {
            tokio::select! {
                biased;
                answer = &mut calling => return answer.map_err(|why: String| failed(&why)),
                () = call.scene.cancel.stopped() => {
                    return Err(Returned::refused("the person stopped the call", Ending::Interrupted));
                }
                () = &mut over => {
                    let seconds = most.unwrap_or_default().as_secs();
                    let text = format!("{} did not answer within {seconds} s", self.name);
                    return Err(Returned::refused(text, Ending::Failed(format!("timed out after {seconds} s"))));
                }
                Ok(()) = progress.changed() => {
                    let said = progress.borrow_and_update().clone();
                    person.doing(&format!("calling {}: {said}", self.name));
                }
            }
        }
    }

    /// An answer as the registry takes it: one text, with what is no text kept beside it.
    fn returned(&self, answer: Answer, call: &Call<'_>) -> Returned {
        let mut text = String::new();
        for part in answer.parts {
            let part = match part {
                Part::Text(part) => part,
                Part::Bytes { what, bytes } => self.kept(&what, &bytes, call),
            };
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&part);
        }
        if text.is_empty() {
            text.push_str("(no content)");
        }
        let ending = if answer.failed {
            Ending::Failed(FAILED.to_owned())
        } else {
            Ending::Done
        };
        Returned {
            body: Body::Text(text),
            ending,
            difference: None,
        }
    }

    /// Keeps what is no text as an output of its own. Returns what stands in its place.
    fn kept(&self, what: &str, bytes: &[u8], call: &Call<'_>) -> String {
        let size = wisp_output::amount::size(bytes.len() as u64);
        let Keep::In(store) = &call.services.keep else {
            return format!("[{what}, {size}, not kept]");
        };
        let id = call.services.ids.next();
        let about = About {
            tool: self.name.clone(),
            arguments: what.to_owned(),
            exit: None,
        };
        let now = call.services.clock.now();
        let drafted = store.draft(&id, &mut Output::text(bytes));
        match drafted.and_then(|draft| draft.commit(about, &[], now)) {
            Ok(kept) => {
                let record = &kept.record;
                let details = serde_json::json!({
                    "tool": self.name, "output": id, "bytes": record.bytes, "sha256": record.sha256, "cut": record.cut,
                    "totalBytes": record.total_bytes,
                });
                // It is kept whether or not this can be written; the call's own record follows.
                let _ = call.audit(Audited::OutputKept, details);
                format!("[{what}, {size}, kept as output {}]", wisp_host::ids::shown(&id))
            }
            Err(error) => format!("[{what}, {size}, not kept: {}]", error.reason()),
        }
    }
}

/// How a call ended that the server calls failed: its words are the server's, and are framed as such.
const FAILED: &str = "the server says it failed";

/// A call that did not come to an answer: what the server said of it is data like any other answer.
fn failed(why: &str) -> Returned {
    Returned {
        body: Body::Text(format!("error: {why}")),
        ending: Ending::Failed(FAILED.to_owned()),
        difference: None,
    }
}

impl Tool for ForeignTool {
    fn descriptor(&self) -> Descriptor {
        let definition = &self.offered.definition;
        Descriptor {
            name: self.name.clone().into(),
            description: definition.description.clone().into(),
            parameters: definition.parameters.clone().into(),
            limits: format!("a tool of the MCP server {}", self.server.configured.name),
            example: format!("Use {}.", self.name).into(),
            reads_only: self.offered.listed.reads_only || self.is_safe(),
        }
    }

    fn definition(&self) -> Value {
        self.offered.definition.function(&self.name)
    }

    fn is_foreign(&self) -> bool {
        true
    }

    /// Its arguments may well be empty or 0, and are the server's to name.
    fn is_strict(&self) -> bool {
        true
    }

    fn takes_others(&self) -> bool {
        self.offered.definition.open
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(self.call(arguments, call))
    }
}

/// The arguments with the types that the server expects: models quote numbers and objects.
pub(crate) fn typed(parameters: &[Parameter], given: &Value) -> Map<String, Value> {
    let mut arguments = given.as_object().cloned().unwrap_or_default();
    arguments.retain(|_, value| !value.is_null());
    for parameter in parameters {
        if let Some(value) = arguments.get_mut(&*parameter.name)
            && let Some(meant) = meant(parameter.kind, value)
        {
            *value = meant;
        }
    }
    arguments
}

/// A value of another type that has one meaning as `kind`.
fn meant(kind: Kind, value: &Value) -> Option<Value> {
    let read_as = |is: fn(&Value) -> bool| {
        let read: Value = serde_json::from_str(value.as_str()?).ok()?;
        is(&read).then_some(read)
    };
    match kind {
        Kind::Text if !value.is_string() => String::read(value).map(Value::from),
        Kind::Integer if !value.is_i64() && !value.is_u64() => i64::read(value).map(Value::from),
        Kind::Number if value.is_string() => read_as(Value::is_number),
        Kind::Boolean if !value.is_boolean() => bool::read(value).map(Value::from),
        Kind::Texts if !value.is_array() => Vec::<String>::read(value).map(Value::from),
        Kind::List if value.is_string() => read_as(Value::is_array),
        Kind::Object if value.is_string() => read_as(Value::is_object),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_model_wrote_gets_the_type_the_server_expects() {
        let parameter = |name: &'static str, kind| Parameter {
            name: name.into(),
            kind,
            required: false,
            description: "".into(),
            one_of: [][..].into(),
        };
        let parameters = [
            parameter("text", Kind::Text),
            parameter("whole", Kind::Integer),
            parameter("number", Kind::Number),
            parameter("yes", Kind::Boolean),
            parameter("texts", Kind::Texts),
            parameter("list", Kind::List),
            parameter("object", Kind::Object),
            parameter("any", Kind::Any),
        ];
        let given = json!({
            "text": 5, "whole": "7", "number": "1.5", "yes": "true", "texts": "a", "list": "[1]", "object": "{\"a\":1}",
            "any": "5", "other": 1, "none": null
        });
        let made = Value::Object(typed(&parameters, &given));
        let expected = json!({
            "text": "5", "whole": 7, "number": 1.5, "yes": true, "texts": ["a"], "list": [1], "object": {"a": 1},
            "any": "5", "other": 1
        });
        assert_eq!(made, expected);
        let odd = json!({"whole": "many", "list": "a", "object": "[1]", "number": "x"});
        assert_eq!(Value::Object(typed(&parameters, &odd)), odd);
    }
}
