//! The protocol's side of it, by the SDK: sessions opened, prompted and cancelled.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, Implementation, InitializeRequest, InitializeResponse,
    NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptRequest, PromptResponse, SessionId,
    StopReason,
};
use agent_client_protocol::{Agent, Client, Error, Stdio};
use wisp_agent::saved::Saving;
use wisp_agent::{Selection, Setup};
use wisp_host::Env;

use crate::prompt;
use crate::session::Session;

/// What sessions are opened with.
#[derive(Clone)]
pub struct Options {
    /// The environment.
    pub env: Env,
    /// The model; none for the configured one.
    pub model: Option<String>,
    /// The tools.
    pub tools: Selection,
    /// Whether what would be asked about is allowed.
    pub yes: bool,
}

/// The sessions of an editor.
struct Sessions {
    options: Options,
    all: Mutex<HashMap<SessionId, Arc<Session>>>,
}

impl Sessions {
    fn find(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown = || Error::invalid_params().data("there is no session of this name");
        all.get(id).cloned().ok_or_else(unknown)
    }

    async fn prompt(&self, request: &PromptRequest, to: &ConnectionTo<Client>) -> Result<StopReason, Error> {
        let session = self.find(&request.session_id)?;
        let text = prompt::text(&request.prompt).map_err(|why| Error::invalid_params().data(why))?;
        session.prompt(text, to).await
    }

    /// Ends every session.
    async fn close(&self) {
        let all: Vec<Arc<Session>> = {
            let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
            all.drain().map(|(_, session)| session).collect()
        };
        for session in all {
            session.close().await;
        }
    }

    async fn open(&self, cwd: PathBuf) -> Result<SessionId, Error> {
        if !cwd.is_absolute() || !cwd.is_dir() {
            return Err(Error::invalid_params().data("cwd must be a directory, by its absolute path"));
        }
        let mut setup = Setup::new(self.options.env.clone(), cwd, "acp");
        setup.model.clone_from(&self.options.model);
        setup.tools = self.options.tools.clone();
        setup.yes = self.options.yes;
        setup.saving = Saving {
            on: true,
            ..Saving::default()
        };
        let opened = Session::open(setup).await;
        let session = opened.map_err(|why| Error::internal_error().data(why))?;
        let id = session.id.clone();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(id.clone(), session);
        Ok(id)
    }
}

/// What an editor is told of wisp: also one of a newer version is answered with the one that is spoken here.
fn greeting() -> InitializeResponse {
    let prompts = PromptCapabilities::new().embedded_context(true);
    let capabilities = AgentCapabilities::new().prompt_capabilities(prompts);
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("wisp", env!("CARGO_PKG_VERSION")))
}

/// Serves over standard input and output until the editor is gone. The error says why it could not.
pub async fn serve(options: Options) -> Result<(), String> {
    let sessions = Arc::new(Sessions {
        options,
        all: Mutex::default(),
    });
    let (opening, prompting, cancelling) = (
        Arc::clone(&sessions),
        Arc::clone(&sessions),
        Arc::clone(&sessions),
    );
    let served = Agent
        .v1()
        .name("wisp")
        .on_receive_request(
            async move |_: InitializeRequest, responder, _| responder.respond(greeting()),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, connection| {
                let sessions = Arc::clone(&opening);
                connection.spawn(async move {
                    match sessions.open(request.cwd).await {
                        Ok(id) => responder.respond(NewSessionResponse::new(id)),
                        Err(error) => responder.respond_with_error(error),
                    }
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection| {
                let (sessions, to) = (Arc::clone(&prompting), connection.clone());
                connection.spawn(async move {
                    match sessions.prompt(&request, &to).await {
                        Ok(reason) => responder.respond(PromptResponse::new(reason)),
                        Err(error) => responder.respond_with_error(error),
                    }
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _| {
                if let Ok(session) = cancelling.find(&cancel.session_id) {
                    session.cancel();
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_to(Stdio::new())
        .await;
    sessions.close().await;
    served.map_err(|e| e.to_string())
}
