//! The command line: what `wisp --help` prints is generated from these definitions.

#[cfg(feature = "mcp")]
pub mod mcp;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
pub use wisp_agent::args::{Saved, Talk};

/// A terminal agent for people who run their own models.
///
/// Without a subcommand: with a prompt, one reply; on a terminal without one, a chat.
///
/// Exit codes: 0 done, 1 failed, 2 a call was refused or the limit of requests reached, 64 a wrong command line,
/// 130 interrupted.
#[derive(Debug, Parser)]
#[command(
    name = "wisp",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100
)]
pub struct Cli {
    /// What to do; without it, a prompt or a chat.
    #[command(subcommand)]
    pub command: Option<Sub>,
    /// One prompt in, one reply out.
    #[command(flatten)]
    pub respond: Respond,
}

/// The subcommands, one file each under `commands/`.
///
/// Of each, the parser makes only the name and the first line until it is the one that is meant: all of them with all
/// their arguments are most of what it costs to read a command line. What a subcommand's arguments say of themselves is
/// set when they are made, after the line here, so that both are the same words.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Sub {
    /// Talk to the model in this terminal
    Chat(Chat),
    /// One prompt in, one reply out (the same as giving the prompt alone)
    Respond(Respond),
    /// List the outputs that are kept
    Outputs(Outputs),
    /// Print a kept output, whole or filtered
    Show(Show),
    /// Say what matters in a build, test or other log, without a model
    #[command(visible_alias = "summarize")]
    Summarise(Summarise),
    /// Search files, standard input or a diff for credentials, without showing them
    Scan(Scan),
    /// Print a text with its credentials and personal data replaced by markers
    Redact(Redact),
    /// List the models, choose which may be used, fetch one
    Models(Models),
    /// Check the server, the model, the window and wisp's own files
    Doctor(Doctor),
    /// List the tools a model may call
    Tools(Tools),
    /// List saved conversations, print or delete one
    Threads(Threads),
    /// Read and verify the audit
    Logs(Logs),
    /// Show or change the configuration
    Config(Config),
    /// List what you allowed for a directory or everywhere, and take it back
    Approvals(Approvals),
    /// Speak the Agent Client Protocol on standard input and output: wisp inside an editor
    #[cfg(feature = "acp")]
    Acp(Acp),
    /// Serve MCP on standard input and output, or manage the MCP servers whose tools the model may call
    ///
    /// Without a subcommand, wisp is a server: another agent sends prompts to a model on this machine (docs/mcp.md).
    #[cfg(feature = "mcp")]
    Mcp(mcp::Mcp),
    /// Print what a shell needs to complete commands, models, ids and settings
    Completions(Completions),
    /// Write the pages of the manual into a directory
    Man(Man),
}

/// Speak the Agent Client Protocol on standard input and output: wisp inside an editor
#[cfg(feature = "acp")]
#[derive(Debug, Args)]
pub struct Acp {
    /// Model and tools.
    #[command(flatten)]
    pub talk: Talk,
}

/// Print what a shell needs to complete commands, models, ids and settings
#[derive(Debug, Args)]
#[command(after_help = "\
bash: echo 'source <(wisp completions bash)' >> ~/.bashrc
zsh:  echo 'source <(wisp completions zsh)' >> ~/.zshrc
fish: wisp completions fish > ~/.config/fish/completions/wisp.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    pub shell: String,
}

/// Write the pages of the manual into a directory
#[derive(Debug, Args)]
pub struct Man {
    /// The directory, which must exist
    pub directory: PathBuf,
}

/// List what you allowed for a directory or everywhere, and take it back
#[derive(Debug, Default, Args)]
pub struct Approvals {
    /// What to do; without it, the list.
    #[command(subcommand)]
    pub command: Option<ApprovalsSub>,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
}

/// What is done with approvals.
#[derive(Debug, Subcommand)]
pub enum ApprovalsSub {
    /// Take one back
    Revoke {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Take all of them back
    Clear,
}

/// Talk to the model in this terminal
#[derive(Debug, Default, Args)]
pub struct Chat {
    /// What to begin with
    #[arg(conflicts_with = "json")]
    pub prompt: Vec<String>,
    /// Model and tools.
    #[command(flatten)]
    pub talk: Talk,
    /// Plain lines, also where the setting `ui` says tui
    #[arg(long)]
    pub plain: bool,
    /// Speak the protocol as JSON lines instead of drawing
    #[arg(long)]
    pub json: bool,
    /// Whether it is saved, and which one it goes on with.
    #[command(flatten)]
    pub saved: Saved,
}

/// One prompt in, one reply out (the same as giving the prompt alone)
#[derive(Debug, Default, Args)]
pub struct Respond {
    /// The prompt; without it, standard input is the prompt
    pub prompt: Vec<String>,
    /// Model and tools.
    #[command(flatten)]
    pub talk: Talk,
    /// Print one JSON object: reply, calls, usage, outputs
    #[arg(long)]
    pub json: bool,
    /// Print what happens as it happens, one JSON object a line (docs/protocol.md)
    #[arg(long, conflicts_with = "json")]
    pub stream_json: bool,
    /// The reply is JSON that satisfies the JSON schema in this file
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// At most this many requests to the model; the exit code is 2 when they do not suffice
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_turns: Option<u32>,
    /// Whether it is saved, and which conversation it continues.
    #[command(flatten)]
    pub saved: Saved,
}

impl Respond {
    /// Whether there is nothing that only a single prompt has.
    pub fn begins_a_chat(&self) -> bool {
        let alone = self.json || self.stream_json || self.schema.is_some() || self.max_turns.is_some();
        self.prompt.is_empty() && !alone
    }
}

/// Which lines of an output: the same filters a model has.
#[derive(Debug, Default, Clone, Args)]
pub struct Filter {
    /// Only lines that match this regular expression (case-insensitive)
    #[arg(long, value_name = "PATTERN")]
    pub matching: Option<String>,
    /// Only lines A to B
    #[arg(long, value_name = "A-B")]
    pub lines: Option<String>,
    /// Only the first N lines
    #[arg(long, value_name = "N")]
    pub head: Option<u64>,
    /// Only the last N lines
    #[arg(long, value_name = "N")]
    pub tail: Option<u64>,
}

/// List the outputs that are kept
#[derive(Debug, Default, Args)]
pub struct Outputs {
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
}

/// Print a kept output, whole or filtered
#[derive(Debug, Args)]
pub struct Show {
    /// The output's id, or the first four or more of its digits
    pub id: String,
    /// Which lines.
    #[command(flatten)]
    pub filter: Filter,
    /// Print the bytes as they were stored, also to a terminal
    #[arg(long)]
    pub raw: bool,
    /// Print the exact bytes of what the command wrote to standard output
    #[arg(long, conflicts_with_all = ["stderr", "matching", "lines", "head", "tail"])]
    pub stdout: bool,
    /// Print the exact bytes of what the command wrote to standard error
    #[arg(long, conflicts_with_all = ["matching", "lines", "head", "tail"])]
    pub stderr: bool,
}

/// Say what matters in a build, test or other log, without a model
#[derive(Debug, Args)]
pub struct Summarise {
    /// A file, or `-` for standard input
    pub file: PathBuf,
    /// What it is and how it ended, compactly, instead of what is notable
    #[arg(long)]
    pub overview: bool,
    /// Print the digest as JSON
    #[arg(long)]
    pub json: bool,
    /// The exit status of the command that printed it
    #[arg(long, value_name = "CODE", allow_negative_numbers = true)]
    pub exit: Option<i32>,
    /// At most this many lines
    #[arg(long, value_name = "N")]
    pub lines: Option<usize>,
}

/// Search files, standard input or a diff for credentials, without showing them
#[derive(Debug, Default, Args)]
#[command(after_help = "The exit code is 1 when something was found.")]
pub struct Scan {
    /// The files, or - for standard input; without one, standard input
    pub files: Vec<PathBuf>,
    /// Also personal data: mail addresses, phone and card numbers, addresses, user names
    #[arg(long)]
    pub personal: bool,
    /// Print one JSON object for each input
    #[arg(long)]
    pub json: bool,
}

/// Print a text with its credentials and personal data replaced by markers
#[derive(Debug, Default, Args)]
pub struct Redact {
    /// The file, or - for standard input; without it, standard input
    pub file: Option<PathBuf>,
    /// Leave personal data as it is
    #[arg(long)]
    pub secrets_only: bool,
}

/// List the models, choose which may be used, fetch one
#[derive(Debug, Default, Args)]
pub struct Models {
    /// What to do; without it, the list
    #[command(subcommand)]
    pub command: Option<ModelsSub>,
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
    /// Also models that cannot be used, each with the reason
    #[arg(long)]
    pub all: bool,
    /// Judge for conversations without tools
    #[arg(long)]
    pub no_tools: bool,
}

/// `wisp models …`.
#[derive(Debug, Subcommand)]
pub enum ModelsSub {
    /// Fetch a model; Ctrl-C stops, the same command goes on where it stopped
    Pull {
        /// The model's name
        name: String,
    },
    /// Let models be chosen again
    Enable {
        /// Their names
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Hide models and refuse them
    Disable {
        /// Their names
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Try out what models can do whose server does not say so: a reply, a tool call, a reply of a given form
    Check {
        /// Their names
        #[arg(required = true)]
        names: Vec<String>,
        /// Print what came of it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Take back the leave to send conversations to where models run that do not run here
    Revoke {
        /// Their names
        #[arg(required = true)]
        names: Vec<String>,
    },
}

/// Check the server, the model, the window and wisp's own files
#[derive(Debug, Default, Args)]
pub struct Doctor {
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    /// The model to check; else the configured one
    #[arg(long, short)]
    pub model: Option<String>,
}

/// Read and verify the audit
#[derive(Debug, Default, Args)]
pub struct Logs {
    /// What to do; without it, the latest events
    #[command(subcommand)]
    pub command: Option<LogsSub>,
    /// The session, or the start of its name; else the latest
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only events of this kind, or family of kinds (context); may be given several times, or with commas
    #[arg(long, value_delimiter = ',')]
    pub kind: Vec<String>,
    /// Only events of calls of this tool
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Go on printing events as they are written, until the session ends
    #[arg(long, short)]
    pub follow: bool,
    /// Only events of this turn
    #[arg(long)]
    pub turn: Option<u64>,
    /// How many events
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub last: usize,
    /// Print the events as they are stored
    #[arg(long, global = true)]
    pub json: bool,
}

/// `wisp logs …`.
#[derive(Debug, Subcommand)]
pub enum LogsSub {
    /// List the sessions
    Sessions,
    /// Walk a session's chain and name the first event that was changed, removed or added
    Verify {
        /// The session, or the start of its name; else every session
        session: Option<String>,
    },
}

/// List the tools a model may call
#[derive(Debug, Default, Args)]
pub struct Tools {
    /// Print the definitions as they are sent
    #[arg(long)]
    pub json: bool,
    /// Print a page of documentation for each
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
}

/// List saved conversations, print or delete one
#[derive(Debug, Default, Args)]
pub struct Threads {
    /// What to do; without it, the list
    #[command(subcommand)]
    pub command: Option<ThreadsSub>,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
    /// Find these words in every conversation: in what was said, called and printed
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,
}

/// `wisp threads …`.
#[derive(Debug, Subcommand)]
pub enum ThreadsSub {
    /// List them, the one saved last first
    List,
    /// Print what was said and run
    Show {
        /// Its name
        name: String,
    },
    /// Delete one
    Delete {
        /// Its name
        name: String,
    },
}

/// Show or change the configuration
#[derive(Debug, Default, Args)]
pub struct Config {
    /// What to do; without it, the list
    #[command(subcommand)]
    pub command: Option<ConfigSub>,
}

/// `wisp config …`.
#[derive(Debug, Subcommand)]
pub enum ConfigSub {
    /// List every setting with its value and meaning
    List,
    /// Print one setting's value
    Get {
        /// The setting's name
        key: String,
    },
    /// Change a setting; the rest of the file stays as it is
    Set {
        /// The setting's name
        key: String,
        /// Its new value
        value: String,
    },
    /// Take a setting out of the file, so that its default holds
    Unset {
        /// The setting's name
        key: String,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    /// What a command says of itself in `wisp --help` and in its own.
    fn said(command: &clap::Command) -> [Option<String>; 2] {
        [command.get_about(), command.get_long_about()].map(|text| text.map(ToString::to_string))
    }

    #[test]
    fn a_subcommand_says_the_same_of_itself_before_its_arguments_are_made_and_after() {
        let met = Cli::command();
        for early in met.get_subcommands() {
            let mut made = early.clone();
            made.build();
            assert!(early.get_about().is_some(), "{}", early.get_name());
            assert_eq!(said(&made), said(early), "{}", early.get_name());
        }
    }

    #[test]
    fn only_the_subcommand_that_is_meant_has_its_arguments_made() {
        let mut wisp = Cli::command();
        let matches = wisp.try_get_matches_from_mut(["wisp", "summarise", "build.log"]);
        assert_eq!(matches.unwrap().subcommand_name(), Some("summarise"));
        let made: Vec<&str> = wisp
            .get_subcommands()
            .filter(|command| command.get_arguments().next().is_some())
            .map(clap::Command::get_name)
            .collect();
        assert_eq!(
            made,
            ["summarise", "help"],
            "clap's own help is small and always made"
        );
    }
}
