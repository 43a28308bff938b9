//! The protocol's side of it, by the SDK: sessions opened, prompted and cancelled.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, Implementation, InitializeRequest, InitializeResponse,
    NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptRequest, PromptResponse, SessionId,
};
use agent_client_protocol::{Agent, Error, Stdio};
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
            async move |request: InitializeRequest, responder, _| {
                let prompts = PromptCapabilities::new().embedded_context(true);
                let capabilities = AgentCapabilities::new().prompt_capabilities(prompts);
                let own = Implementation::new("wisp", env!("CARGO_PKG_VERSION"));
                let response = InitializeResponse::new(request.protocol_version)
                    .agent_capabilities(capabilities)
                    .agent_info(own);
                responder.respond(response)
            },
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
                let session = prompting.find(&request.session_id);
                let text = prompt::text(&request.prompt).map_err(|why| Error::invalid_params().data(why));
                let to = connection.clone();
                connection.spawn(async move {
                    let prompted = match (session, text) {
                        (Ok(session), Ok(text)) => session.prompt(text, &to).await,
                        (Err(error), _) | (_, Err(error)) => Err(error),
                    };
                    match prompted {
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
    let all: Vec<Arc<Session>> = {
        let mut all = sessions.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.drain().map(|(_, session)| session).collect()
    };
    for session in all {
        session.close().await;
    }
    served.map_err(|e| e.to_string())
}
