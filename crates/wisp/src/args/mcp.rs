//! `wisp mcp …`: its arguments.

use clap::{Args, Subcommand};
use wisp_agent::args::Talk;

/// Serve MCP on standard input and output, or manage the MCP servers whose tools the model may call
///
/// Without a subcommand, wisp is a server: another agent sends prompts to a model on this machine (docs/mcp.md).
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Mcp {
    /// What to do with the servers of the configuration; without it, serve.
    #[command(subcommand)]
    pub command: Option<McpSub>,
    /// Model and tools.
    #[command(flatten)]
    pub talk: Talk,
    /// Instructions for threads whose caller gives none
    #[arg(long, short)]
    pub instructions: Option<String>,
}

/// What is done with MCP servers.
#[derive(Debug, Subcommand)]
pub enum McpSub {
    /// Add a server to the configuration, or put another in its place
    #[command(after_help = "\
wisp mcp add files --safe read_text_file -- npx -y @modelcontextprotocol/server-filesystem .
wisp mcp add issues --env TOKEN='${TRACKER_TOKEN}' -- issue-server --stdio
wisp mcp add far --header 'Authorization: Bearer ${TOKEN}' https://mcp.example/mcp")]
    Add(McpAdd),
    /// List the servers of the configuration, without starting them
    List {
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Take a server out of the configuration
    Remove {
        /// Its name
        name: String,
    },
    /// Start a server as a conversation would, list its tools, and end it
    Test {
        /// Its name; without one, every server that is enabled
        name: Option<String>,
    },
}

/// A server to add.
#[derive(Debug, Args)]
pub struct McpAdd {
    /// Its name, which stands before the names of its tools
    pub name: String,
    /// A variable of its environment; ${NAME} stands for one of yours
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A header of every request to an address; ${NAME} stands for a variable of yours
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// A tool of it that changes nothing, and is called without a question
    #[arg(long, value_name = "TOOL")]
    pub safe: Vec<String>,
    /// Run it outside the sandbox
    #[arg(long)]
    pub no_sandbox: bool,
    /// Give it no network
    #[arg(long)]
    pub no_network: bool,
    /// Its command and arguments, after --, or its address
    #[arg(required = true, value_name = "COMMAND | URL")]
    pub target: Vec<String>,
}
