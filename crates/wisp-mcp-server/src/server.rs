//! The protocol's side of it, by the SDK: what is offered, and how calls reach the threads.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::resources::{self, RESOURCES, TEMPLATES};
use crate::respond::{self, Answer, Asked};
use crate::threads::{Options, Threads};

/// What a client is told of the server, for its model.
const INSTRUCTIONS: &str = "wisp runs a language model on the user's own machine. Give it a self-contained piece of work with \
                            `respond`: it reads files and runs commands itself in its directory, and what may change something \
                            is asked of the user, never of you. Continue a thread with its thread_id. Long outputs are given as \
                            resources, to be read only when you need them.";

/// Serves over standard input and output until the client is gone. The error says why it could not.
pub async fn serve(options: Options) -> Result<(), String> {
    let threads = Arc::new(Threads::new(options));
    let server = Server {
        threads: Arc::clone(&threads),
    };
    let (stdin, stdout) = rmcp::transport::stdio();
    let heard = Heard {
        from: stdin,
        gone: threads.gone.clone(),
    };
    let ended = match Box::pin(server.serve((heard, stdout))).await {
        Ok(running) => tokio::select! {
            ended = running.waiting() => ended.map(drop).map_err(|e| e.to_string()),
            () = after(&threads.gone) => Ok(()),
        },
        Err(error) => Err(error.to_string()),
    };
    threads.gone.cancel();
    threads.end().await;
    ended
}

/// Waits a little longer than until the client is gone: what was answered by then is still written.
async fn after(gone: &CancellationToken) {
    gone.cancelled().await;
    tokio::time::sleep(LAST_WORDS).await;
}

/// How long answers are still written once the client has closed its end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Standard input, whose end stops what is under way: nobody waits for it any more.
struct Heard<R> {
    from: R,
    gone: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Heard<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.from).poll_read(context, buffer);
        if polled.is_ready() && buffer.filled().len() == before {
            self.gone.cancel();
        }
        polled
    }
}

struct Server {
    threads: Arc<Threads>,
}

/// The tools: the name, what it does, its arguments.
fn tools() -> Vec<Tool> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let tool = |name: &'static str, about: &'static str, properties: Value, required: Value| {
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        Tool::new(name, about, Arc::new(schema))
    };
    vec![
        tool(
            "respond",
            "Send a prompt to a model on this machine, which can use tools, and get its reply with an account of what ran.",
            json!({
                "prompt": text("What the model is to do or answer"),
                "thread_id": text("A thread to continue, or the name of a new one: letters, digits, ., _ and -, at most 64. Without it, a new thread"),
                "instructions": text("Instructions for the whole thread; only when it begins"),
                "tools": {"type": "array", "items": {"type": "string"},
                    "description": "Exactly the tools the model has, [] for none; only when the thread begins. Without it, all"},
                "model": text("The model, by its name in Ollama; only when the thread begins"),
            }),
            json!(["prompt"]),
        ),
        tool(
            "close_thread",
            "End a thread. What it held stays saved, and its output and audit stay readable.",
            json!({"thread_id": text("The thread")}),
            json!(["thread_id"]),
        ),
    ]
}

fn invalid(why: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(why.into(), None)
}

fn result(answer: Answer) -> CallToolResponse {
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = if answer.failed {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = answer.structured;
    CallToolResponse::Complete(result)
}

impl Server {
    async fn respond(
        &self,
        given: &Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asked = Asked::read(given).map_err(invalid)?;
        let stop = CancellationToken::new();
        let (told, mut heard) = mpsc::unbounded_channel::<String>();
        let token = context.meta.get_progress_token();
        let peer = context.peer.clone();
        let progress = async move {
            let mut count = 0.0;
            while let Some(message) = heard.recv().await {
                let Some(token) = &token else { continue };
                count += 1.0;
                let said = ProgressNotificationParam::new(token.clone(), count).with_message(message);
                // A client that is gone hears nothing.
                let _ = peer.notify_progress(said).await;
            }
        };
        let answering = async {
            let told = move |text| {
                let _ = told.send(text);
            };
            respond::respond(&self.threads, asked, &stop, told).await
        };
        let stopping = async {
            tokio::select! {
                () = context.ct.cancelled() => {}
                () = self.threads.gone.cancelled() => {}
            }
            stop.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            // All progress is sent before the result.
            (answer, ()) = async { tokio::join!(answering, progress) } => Ok(result(answer)),
            () = stopping => Err(ErrorData::internal_error("stopped", None)),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(rmcp::model::ToolsCapability::default());
        capabilities.resources = Some(rmcp::model::ResourcesCapability::default());
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("wisp", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        match &*request.name {
            "respond" => Box::pin(self.respond(&given, &context)).await,
            "close_thread" => respond::close(&self.threads, &given)
                .await
                .map(result)
                .map_err(invalid),
            other => {
                let name: String = other.chars().take(64).collect();
                Err(invalid(format!(
                    "there is no tool {name:?}; there are respond and close_thread"
                )))
            }
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let rows = RESOURCES.iter().map(|(uri, name, about)| {
            let mut resource = Resource::new(*uri, *name);
            resource.description = Some((*about).to_owned());
            resource.mime_type = Some("application/json".to_owned());
            resource
        });
        Ok(ListResourcesResult::with_all_items(rows.collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let rows = TEMPLATES.iter().map(|(uri, name, about)| {
            let mut template = ResourceTemplate::new(*uri, *name);
            template.description = Some((*about).to_owned());
            template.mime_type = Some("application/json".to_owned());
            template
        });
        Ok(ListResourceTemplatesResult::with_all_items(rows.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = resources::read(&self.threads, &request.uri).map_err(invalid)?;
        let contents =
            ResourceContents::text(read.to_string(), request.uri).with_mime_type("application/json");
        Ok(ReadResourceResponse::Complete(ReadResourceResult::new(vec![
            contents,
        ])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wisps_own_tools_are_never_tools_of_the_protocol() {
        let tools = tools();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["respond", "close_thread"]);
    }
}
