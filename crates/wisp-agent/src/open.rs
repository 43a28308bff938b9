//! Opening a conversation: the home, the configuration, the audit, the server, the model, the tools. Each thing that
//! can be wrong here is an error with what to do about it.

mod begun;
mod parts;

pub use parts::sandbox;
mod sweeps;

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;
use wisp_audit::{AuditError, AuditLog, Key, SessionId};
use wisp_config::{Changed, Config, ConfigError, Paths};
use wisp_context::{Rules, Target};
use wisp_guard::{Gate, Policy};
use wisp_host::{Clock, Env, IdSource, RandomIds, SystemClock};
use wisp_ollama::{Client, Host, KeepAlive, Think, Timeouts};
use wisp_output::Store;
use wisp_tools::{Asking, Gatekeeper, Keep, Registry};

use crate::agents_md::AgentsFiles;
use crate::conversation::{Beside, Conversation, Terms};
use crate::events::Events;
use crate::foreign::Foreign;
use crate::form::Form;
use crate::history::History;
use crate::jobs::Jobs;
use crate::model::call_style::CallSettings;
use crate::model::known::Known;
use crate::model::ratios::Ratios;
use crate::model::waits::Waits;
use crate::model::{Model, Preferences};
use crate::offer;
use crate::printed::Printed;
use crate::saved::{self, Folder, Resumed, SavedError, Saving, Thread};
use crate::secrets::{MaskWhen, Masking, Secrets};
use crate::turn::MAX_STEPS;

pub(crate) use parts::boundary;
pub use parts::confining;

/// wisp's own instructions, the first part of every system message.
pub const SYSTEM_PROMPT: &str = include_str!("../../../assets/system-prompt.md");

/// Which tools a conversation offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selection {
    /// All that are not disabled.
    #[default]
    All,
    /// None.
    None,
    /// Exactly these.
    Named(Vec<String>),
}

/// What a face asks for when it opens a conversation.
#[derive(Clone)]
pub struct Setup {
    /// The environment.
    pub env: Env,
    /// The working directory, absolute.
    pub directory: PathBuf,
    /// `chat`, `respond`, `tui`: for the record.
    pub face: &'static str,
    /// The model, when the command line names one.
    pub model: Option<String>,
    /// Which tools.
    pub tools: Selection,
    /// Whether what would be asked about is allowed.
    pub yes: bool,
    /// Whether the demo model stands in when there is no server.
    pub demo: bool,
    /// Whether outputs of earlier turns become references, and copies in replies are cut. Whether there is `memory`
    /// follows from the tools.
    pub rules: Rules,
    /// The most requests of one turn.
    pub max_steps: u32,
    /// The form that the last reply of a turn must have.
    pub form: Option<Form>,
    /// Whether and where the conversation is saved, and which one it goes on with.
    pub saving: Saving,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// New identifiers.
    pub ids: Arc<dyn IdSource>,
    /// How long is waited for what.
    pub waits: Waits,
    /// The caller's name for the conversation, where a program opened it: its audit session is named after it.
    pub thread: Option<String>,
    /// The caller's instructions, after the person's own.
    pub instructions: Option<String>,
    /// The least share of the window between what a condensation leaves and where the next one is due: 0.2. A test
    /// shows what it is there for by taking it away.
    pub margin: f64,
}

impl Setup {
    /// What the command line asks of the conversation.
    fn terms(&self) -> Terms {
        Terms {
            face: self.face,
            max_steps: self.max_steps,
            form: self.form.clone(),
            yes: self.yes,
        }
    }

    /// A setup with the machine's clock and random ids.
    pub fn new(env: Env, directory: PathBuf, face: &'static str) -> Self {
        Self {
            env,
            directory,
            face,
            model: None,
            tools: Selection::All,
            yes: false,
            demo: false,
            rules: Rules::default(),
            max_steps: MAX_STEPS,
            form: None,
            saving: Saving {
                on: matches!(face, "chat" | "tui"),
                ..Saving::default()
            },
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            waits: Waits::default(),
            thread: None,
            instructions: None,
            margin: Target::default().margin,
        }
    }
}

/// Why a conversation could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The home or the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The audit.
    #[error("the audit cannot be opened: {0}")]
    Audit(#[from] wisp_audit::AuditError),
    /// A pattern of the policy.
    #[error(transparent)]
    Policy(#[from] wisp_guard::InvalidPattern),
    /// The server or the model.
    #[error(transparent)]
    Model(#[from] wisp_ollama::Error),
    /// The address of the server.
    #[error(transparent)]
    Host(#[from] wisp_ollama::HostError),
    /// The demo server could not be started.
    #[error("the demo model could not be started: {0}")]
    Demo(std::io::Error),
    /// No model is configured and none can be chosen.
    #[error("no model is configured{0}")]
    NoModel(String),
    /// The server has no model of this name.
    #[error("no model {name} is installed{}", near.as_ref().map_or_else(String::new, |near| format!("; did you mean {near}?")))]
    NotInstalled {
        /// What was asked for.
        name: String,
        /// The installed model nearest to it.
        near: Option<String>,
    },
    /// There is no model to choose from: none is installed, or none of those that are can call tools.
    #[error("{0}")]
    NoneInstalled(String),
    /// A tool that does not exist, or is disabled.
    #[error("there is no tool {name}; the tools are: {tools}")]
    UnknownTool {
        /// What was asked for.
        name: String,
        /// What there is.
        tools: String,
    },
    /// The model runs on another machine, and nobody agreed to that.
    #[error("{model} does not run on this machine: the conversation would be sent to {host}")]
    Elsewhere {
        /// The model.
        model: String,
        /// Where it runs.
        host: String,
    },
    /// The model was disabled by the person.
    #[error("model {0} is disabled")]
    Disabled(String),
    /// What was piped in could not be read.
    #[error("cannot read standard input: {0}")]
    Input(std::io::Error),
    /// Tools were named for a model that cannot call them.
    #[error("{0} cannot call tools")]
    NoTools(String),
    /// The conversation to go on with, or the name to save under.
    #[error(transparent)]
    Saved(#[from] SavedError),
}

impl OpenError {
    /// What the person can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Config(e) => Some(e.hint()),
            Self::Audit(_) => Some(
                "see to the folder, or turn the audit off with: wisp config set audit.enabled false"
                    .to_owned(),
            ),
            Self::Policy(_) => Some("correct commandPolicy in the configuration".to_owned()),
            Self::Model(e) => e.hint(),
            Self::Host(_) => Some("give a host, host:port or a URL in OLLAMA_HOST".to_owned()),
            Self::NoModel(_) => {
                Some("name one with --model NAME, or keep one with: wisp config set model NAME".to_owned())
            }
            Self::NotInstalled { name, near } => Some(match near {
                Some(near) => {
                    format!("use it with --model {near}, or fetch the other: wisp models pull {name}")
                }
                None => format!("wisp models lists those that are; to fetch it: wisp models pull {name}"),
            }),
            Self::NoneInstalled(_) => Some("fetch one: wisp models pull qwen3:8b".to_owned()),
            Self::NoTools(_) => {
                Some("choose a model with the tools capability: wisp models lists them".to_owned())
            }
            Self::Elsewhere { .. } => Some(
                "agree to it with --yes, or choose a model that runs here: wisp models lists them".to_owned(),
            ),
            Self::Disabled(name) => Some(format!("enable it with: wisp models enable {name}")),
            Self::Saved(e) => e.hint(),
            Self::Demo(_) | Self::Input(_) | Self::UnknownTool { .. } => None,
        }
    }

    /// Whether it is the command line or the configuration that is wrong.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Config(e) => e.is_usage(),
            Self::Saved(e) => e.is_usage(),
            Self::UnknownTool { .. } | Self::Policy(_) | Self::Host(_) => true,
            _ => false,
        }
    }
}

/// A model to talk to, and the demo server when it is that.
pub struct Chosen {
    /// The model.
    pub model: Model,
    /// The demo server.
    pub demo: Option<ollama_sim::Server>,
    /// That the person's choice was kept as the model, to be recorded once the session is begun.
    pub kept: Option<Changed>,
}

/// Everything below the model: where files are, what is configured, where is recorded and kept.
pub struct Ground {
    /// What was asked for.
    pub setup: Setup,
    /// Where wisp's files are.
    pub paths: Paths,
    /// The configuration.
    pub config: Config,
    /// The audit.
    pub audit: AuditLog,
    /// Where outputs are kept.
    pub keep: Keep,
    /// What is set about models.
    pub preferences: Preferences,
    /// The server.
    pub client: Client,
    /// Where the conversation is saved, when it is.
    pub thread: Option<Thread>,
    /// The conversation to go on with.
    pub resumed: Option<Resumed>,
    /// What masks the secrets in all that is written.
    pub secrets: Secrets,
    /// What the person is told because the home cannot be written.
    pub unwritable: Option<String>,
    /// The user's instructions, once it is settled which are followed.
    pub agents: AgentsFiles,
}

/// The key that the audit is sealed with, when one is set (`audit.key`). Errors: it cannot be used.
pub fn audit_key(config: &Config, env: &Env) -> Result<Option<Key>, AuditError> {
    let path = config.audit_key(env.get("HOME"));
    path.map(|path| Key::read(&path)).transpose()
}

/// The audit of a session, which writes nothing when it is not `on`, and no secret when it is.
fn audit(
    setup: &Setup,
    (paths, config): (&Paths, &Config),
    session: SessionId,
    on: bool,
    secrets: &Secrets,
) -> Result<AuditLog, AuditError> {
    let (clock, ids) = (setup.clock.clone(), setup.ids.clone());
    let audit = if on {
        AuditLog::open_with(
            paths.home(),
            &session,
            (clock, ids),
            audit_key(config, &setup.env)?,
        )?
    } else {
        AuditLog::off_with(session, clock, ids)
    };
    let masker = secrets.clone();
    audit.mask_with(move |details| masker.mask_value(details));
    Ok(audit)
}

/// Prepares the ground of a conversation. Nothing has been asked of a server yet. A home that cannot be written stops
/// all but a single prompt, which is answered without a record and so without tools.
pub fn ground(mut setup: Setup) -> Result<Ground, OpenError> {
    let paths = Paths::of(&setup.env, &setup.directory)?;
    let unwritable = match paths.prepare() {
        Ok(()) => None,
        Err(error) if setup.face == "respond" => Some(error),
        Err(error) => return Err(error.into()),
    };
    let mut config = Config::load(&paths.config())?;
    if let Some(instructions) = &setup.instructions {
        config.extend_system_prompt(instructions);
    }
    let unrecorded = unwritable.is_some() && config.audit();
    if unrecorded {
        setup.tools = Selection::None;
    }
    let unwritable = unwritable.map(|error| {
        let tools = if unrecorded {
            ", and so the model is offered no tools"
        } else {
            ""
        };
        format!("{error}; nothing is recorded{tools} (hint: {})", error.hint())
    });
    let session = match &setup.thread {
        Some(thread) => SessionId::of_thread(thread, &*setup.ids),
        None => SessionId::new(&*setup.clock, &*setup.ids),
    };
    let (thread, resumed) = saved::open(&setup.saving, Folder::new(paths.transcripts()), session.as_str())?;
    let secrets = Secrets::default();
    let recorded = config.audit() && !unrecorded;
    let audit = audit(&setup, (&paths, &config), session, recorded, &secrets)?;
    let keep = match &unwritable {
        Some(_) => Keep::Nowhere("wisp's home cannot be written".to_owned()),
        None => keep(&paths, &config, &audit),
    };
    let preferences = Preferences {
        elsewhere: setup.yes,
        known: Some(Known::at(paths.models())),
        masking: Some(Masking {
            secrets: secrets.clone(),
            when: MaskWhen::of(&config.mask_for_model()),
        }),
        ..preferences(&config)
    };
    let client = client(&setup.env, &config)?;
    Ok(Ground {
        setup,
        paths,
        config,
        audit,
        keep,
        preferences,
        client,
        thread,
        resumed,
        secrets,
        unwritable,
        agents: AgentsFiles::default(),
    })
}

/// Outputs are kept while the audit is on: what finds them again are its call ids.
fn keep(paths: &Paths, config: &Config, audit: &AuditLog) -> Keep {
    if !audit.is_on() {
        return Keep::Nowhere("the audit is off".to_owned());
    }
    match Store::new(paths.home(), audit.session().as_str()) {
        Ok(store) => Keep::In(store.with_ceiling(config.output_ceiling())),
        Err(e) => Keep::Nowhere(e.reason()),
    }
}

fn preferences(config: &Config) -> Preferences {
    let think = config.think().and_then(|v| match v {
        serde_json::Value::Bool(on) => Some(if on { Think::On } else { Think::Off }),
        other => other.as_str().and_then(Think::parse),
    });
    let keep_alive = config.keep_alive().and_then(|text| KeepAlive::parse(&text));
    Preferences {
        window: config.context_length(),
        think,
        keep_alive,
        ways: CallSettings::of_config(config),
        ..Preferences::default()
    }
}

/// The client for the configured server: `OLLAMA_HOST`, else `ollama.baseURL`, else this machine.
pub fn client(env: &Env, config: &Config) -> Result<Client, OpenError> {
    let named = env
        .get("OLLAMA_HOST")
        .map(str::to_owned)
        .or_else(|| config.ollama_url());
    let host = Host::parse(&named.unwrap_or_default())?;
    let timeouts = Timeouts {
        idle: Some(config.idle_timeout()),
        total: config.total_timeout(),
        ..Timeouts::default()
    };
    let client = Client::with_timeouts(host, timeouts)?;
    let key = env
        .get("OLLAMA_API_KEY")
        .map(str::to_owned)
        .or_else(|| config.ollama_api_key());
    Ok(match key {
        Some(key) => client.with_api_key(&key),
        None => client,
    })
}

/// Starts the demo model.
pub async fn demo() -> Result<Chosen, OpenError> {
    let server = ollama_sim::Server::start_demo().map_err(OpenError::Demo)?;
    let client = Client::new(Host::parse(&server.url())?)?;
    let mut model = Model::open(client, ollama_sim::demo::NAME, Preferences::default()).await?;
    model.demo = true;
    Ok(Chosen {
        model,
        demo: Some(server),
        kept: None,
    })
}

/// Opens the conversation on a chosen model.
pub fn open(ground: Ground, chosen: Chosen, events: Events) -> Result<Conversation, OpenError> {
    let registry = registry(&ground, &chosen.model, &events)?;
    let Ground {
        setup,
        paths,
        config,
        audit,
        preferences,
        client,
        thread,
        resumed,
        secrets,
        agents,
        ..
    } = ground;
    let Chosen { model, demo, kept } = chosen;
    let record = parts::record(resumed.as_ref(), &config, &setup, registry.has_memory());
    let ratios = Ratios::at(paths.estimates());
    let conversation = Conversation {
        events,
        estimator: ratios.estimator(&model.name),
        counted: None,
        ratios,
        waits: setup.waits.clone(),
        speed: model.speed(),
        model,
        preferences,
        client,
        record,
        registry,
        tools: None,
        raw: crate::guided::messages::RawReplies::default(),
        audit,
        target: parts::target(&config, setup.margin),
        condensed: false,
        floor_said: None,
        thread,
        conversations: 1,
        looked: watch::Sender::new(None),
        paths,
        config,
        env: setup.env.clone(),
        directory: setup.directory.clone(),
        shown: Printed::default(),
        typed: History::default(),
        turns_before: 0,
        mentions_read: false,
        beside: Beside::default(),
        demo,
        secrets,
        terms: setup.terms(),
        agents,
        jobs: Jobs::default(),
        foreign: Foreign::default(),
    };
    begun(conversation, &setup, resumed.as_ref(), kept)
}

/// The conversation fitted to its model, its beginning recorded.
fn begun(
    mut conversation: Conversation,
    setup: &Setup,
    resumed: Option<&Resumed>,
    kept: Option<wisp_config::Changed>,
) -> Result<Conversation, OpenError> {
    conversation.fit_to_model();
    begun::record(&mut conversation, setup, resumed, kept)?;
    set_going(&mut conversation, resumed, &setup.tools);
    Ok(conversation)
}

/// What follows once the beginning is recorded: what was resumed goes on, and the MCP servers are started, unless the
/// conversation has no tools or just those that were named.
fn set_going(conversation: &mut Conversation, resumed: Option<&Resumed>, tools: &Selection) {
    if let Some(resumed) = resumed {
        conversation.go_on(resumed);
    }
    // A program that delegates has servers of its own.
    if *tools == Selection::All && conversation.terms.face != "mcp" {
        conversation.foreign = Foreign::start(conversation);
    }
}

/// The tools of a conversation with this model, and what they work with.
fn registry(ground: &Ground, model: &Model, events: &Events) -> Result<Registry, OpenError> {
    let Ground {
        setup, paths, config, ..
    } = ground;
    let tools = offer::selected(&setup.tools, config, model, events)?;
    let kept = (ground.audit.clone(), ground.keep.clone());
    let services = parts::services(setup, paths, config, kept, model.window.tokens);
    let mut registry = Registry::new(tools, services, gatekeeper(setup, paths, config)?);
    if matches!(setup.tools, Selection::Named(_)) {
        registry.offer_all();
    }
    let offered = offer::memory(&setup.tools, config, model);
    registry.offer_memory(offered);
    // Before what a resumed conversation needs: its tools are those that it began with.
    offer::search(&mut registry, config, model.window.tokens);
    registry.offer_memory(offer::memory_for(ground.resumed.as_ref(), offered));
    let resumed = ground.resumed.as_ref();
    if let Some(first) = resumed.and_then(|resumed| resumed.record.entries().first()) {
        registry.resumed(first.time.millis.div_euclid(1_000));
    }
    Ok(registry)
}

fn gatekeeper(setup: &Setup, paths: &Paths, config: &Config) -> Result<Gatekeeper, OpenError> {
    let policy = Policy::new(&config.deny(), &config.allow())?;
    let threshold = config
        .approval_threshold()
        .parse()
        .unwrap_or(wisp_guard::Threshold::From(wisp_guard::Level::Moderate));
    let asking = Asking {
        file: paths.approvals(),
        days: config.approval_days(),
        yes: setup.yes,
        source: setup.face,
    };
    let mut gatekeeper = Gatekeeper::new(Gate::new(policy, threshold), asking);
    gatekeeper.set_mode(config.approval_mode().parse().unwrap_or_default());
    Ok(gatekeeper)
}
