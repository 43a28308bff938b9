//! `wisp mcp`: the MCP servers of the configuration, added, listed, removed and tried.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Map, Value, json};
use wisp_agent::{confining, servers_shown};
use wisp_audit::AuditLog;
use wisp_config::servers::{McpServer, Reach, hidden};
use wisp_config::table::SERVERS;
use wisp_config::{Changed, Config, Paths};
use wisp_host::Env;
use wisp_mcp::{Around, Offer, Servers, Standing};
use wisp_mcp_server::Options;
use wisp_term::{Role, safe};

use super::recorded::Recorded;
use super::{directory, paths, runtime};
use crate::args::Talk;
use crate::args::mcp::{Mcp, McpAdd, McpSub};
use crate::exit::{FAILED, Usage};
use crate::screen::Screen;

/// How long a server has to end after it was tried.
const ENDING: Duration = Duration::from_secs(3);

/// Runs a subcommand.
pub fn run(args: Mcp, env: Env) -> anyhow::Result<ExitCode> {
    let paths = paths(&env)?;
    let mut config = Config::load(&paths.config())?;
    let mut screen = Screen::new(env.clone(), &config.theme());
    let Some(command) = args.command else {
        return serve(&args.talk, args.instructions, &paths, env);
    };
    let code = match command {
        McpSub::Add(add) => {
            let row = row(&add)?;
            let changed = changed(&paths, &mut config, &add.name, Some(row))?;
            let what = if was_there(&changed, &add.name) {
                "is now another server"
            } else {
                "is added"
            };
            let text = format!("{} {what}; wisp mcp test {} tries it", add.name, add.name);
            screen.err.line(&safe::safe(&text))?;
            ExitCode::SUCCESS
        }
        McpSub::List { json } => {
            list(&config, json, &mut screen)?;
            ExitCode::SUCCESS
        }
        McpSub::Remove { name } => {
            known(&config, Some(&name))?;
            changed(&paths, &mut config, &name, None)?;
            screen.err.line(&safe::safe(&format!("{name} is removed")))?;
            ExitCode::SUCCESS
        }
        McpSub::Test { name } => test((&paths, &config), name.as_deref(), env, &mut screen)?,
    };
    screen.out.flush()?;
    Ok(code)
}

/// Serves until the client is gone. Standard output is the protocol's alone.
fn serve(talk: &Talk, instructions: Option<String>, paths: &Paths, env: Env) -> anyhow::Result<ExitCode> {
    let setup = super::setup(talk, env.clone(), "mcp")?;
    paths.prepare()?;
    let options = Options {
        home: paths.home().to_owned(),
        directory: setup.directory,
        model: setup.model,
        instructions,
        tools: setup.tools,
        yes: setup.yes,
        env,
    };
    let runtime = runtime()?;
    let served = runtime.block_on(wisp_mcp_server::serve(options));
    // A read of standard input may still wait, and is nothing to wait for.
    runtime.shutdown_background();
    served.map_err(anyhow::Error::msg)?;
    Ok(ExitCode::SUCCESS)
}

/// The entry of the configuration that the command line asks for.
fn row(add: &McpAdd) -> Result<Value, Usage> {
    let mut row = Map::new();
    match &add.target[..] {
        [url] if url.starts_with("http://") || url.starts_with("https://") => {
            let usage = |what: &str| Usage(format!("{what} is for a command, and {url} is an address"));
            if !add.env.is_empty() {
                return Err(usage("--env"));
            }
            if add.no_sandbox || add.no_network {
                return Err(usage("--no-sandbox or --no-network"));
            }
            row.insert("url".to_owned(), url.as_str().into());
            pairs(&mut row, "headers", &add.header, ':')?;
        }
        [command, args @ ..] => {
            if !add.header.is_empty() {
                return Err(Usage(
                    "--header is for an address, and this is a command".to_owned(),
                ));
            }
            row.insert("command".to_owned(), command.as_str().into());
            row.insert("args".to_owned(), json!(args));
            pairs(&mut row, "env", &add.env, '=')?;
        }
        [] => return Err(Usage("give a command after --, or an address".to_owned())),
    }
    if !add.safe.is_empty() {
        row.insert("safe".to_owned(), json!(add.safe));
    }
    for (given, field) in [(add.no_sandbox, "sandbox"), (add.no_network, "network")] {
        if given {
            row.insert(field.to_owned(), false.into());
        }
    }
    Ok(Value::Object(row))
}

/// Pairs as they were typed, as a field of the entry; none when there are none.
fn pairs(row: &mut Map<String, Value>, field: &str, typed: &[String], between: char) -> Result<(), Usage> {
    let mut made = Map::new();
    for pair in typed {
        // What stands behind the name may be a credential, and is not said.
        let (name, value) = pair.split_once(between).ok_or_else(|| {
            Usage(format!(
                "--{} takes NAME{between}VALUE",
                field.trim_end_matches('s')
            ))
        })?;
        made.insert(name.trim().to_owned(), value.trim_start().into());
    }
    if !made.is_empty() {
        row.insert(field.to_owned(), Value::Object(made));
    }
    Ok(())
}

/// Writes a change of the servers and records it.
fn changed(paths: &Paths, config: &mut Config, name: &str, row: Option<Value>) -> anyhow::Result<Changed> {
    paths.prepare()?;
    let changed = config.set_server(name, row)?;
    let mut recorded = Recorded::of(paths, config, "mcp");
    recorded.changed(&changed)?;
    recorded.close()?;
    Ok(changed)
}

fn was_there(changed: &Changed, name: &str) -> bool {
    changed.old.as_ref().is_some_and(|rows| rows.get(name).is_some())
}

/// The servers of this name, or those that are enabled. Errors: there is none.
fn known(config: &Config, name: Option<&str>) -> Result<Vec<McpServer>, Usage> {
    let mut all = config.mcp_servers();
    let names: Vec<String> = all.iter().map(|server| server.name.clone()).collect();
    match name {
        None => all.retain(|server| server.enabled),
        Some(name) => all.retain(|server| server.name == name),
    }
    match (&all[..], name) {
        ([], Some(name)) if names.is_empty() => Err(Usage(format!(
            "there is no MCP server {name}, and no other; wisp mcp add adds one"
        ))),
        ([], Some(name)) => Err(Usage(format!(
            "there is no MCP server {name}; there are {}",
            names.join(", ")
        ))),
        _ => Ok(all),
    }
}

fn list(config: &Config, as_json: bool, screen: &mut Screen) -> anyhow::Result<()> {
    if as_json {
        let rows = config.get(SERVERS).unwrap_or_else(|| json!({}));
        screen.out.line(&hidden(&rows).to_string())?;
        return Ok(());
    }
    let servers = config.mcp_servers();
    for server in &servers {
        let reached = match &server.reach {
            Reach::Command { command, args, .. } => format!("{command} {}", args.join(" ")),
            Reach::Url { url, .. } => url.clone(),
        };
        let off = if server.enabled { "" } else { "\toff" };
        screen.out.line(&safe::safe(&format!(
            "{}\t{}{off}",
            server.name,
            reached.trim_end()
        )))?;
    }
    if servers.is_empty() {
        screen
            .err
            .line("no MCP servers are configured; wisp mcp add NAME -- COMMAND adds one")?;
    }
    Ok(())
}

/// Starts servers, shows what they offer, and ends them. Fails when one does not answer.
fn test(
    (paths, config): (&Paths, &Config),
    name: Option<&str>,
    env: Env,
    screen: &mut Screen,
) -> anyhow::Result<ExitCode> {
    let mut configured = known(config, name)?;
    for server in &mut configured {
        // It was asked for, and is given all the time that a package may take to be fetched.
        (server.enabled, server.start_seconds) = (true, 600);
    }
    let directory = directory()?;
    let around = Around {
        confining: confining(config, &env, paths.home(), &directory),
        directory,
        audit: AuditLog::off(),
        // How each stands at the end is what is shown.
        tell: Box::new(drop),
        env,
    };
    let (rows, bytes) = runtime()?.block_on(async {
        let mut servers = Servers::start(configured, around);
        servers.settled(|_| {}).await;
        let rows = servers.rows();
        let each = servers.tools(Offer::Each, |_| false);
        let bytes: usize = each.iter().map(|tool| tool.definition().to_string().len()).sum();
        servers.end(ENDING).await;
        (rows, bytes)
    });
    let mut code = ExitCode::SUCCESS;
    for row in &rows {
        let ready = row.standing == Standing::Ready;
        for (at, line) in servers_shown::details(row).iter().enumerate() {
            let role = (at == 0 && !ready).then_some(Role::Error);
            screen.out.words(role, &safe::safe(line))?;
        }
        if !ready {
            code = ExitCode::from(FAILED);
        }
    }
    if rows.iter().any(|row| !row.tools.is_empty()) {
        let size = wisp_output::amount::size(bytes as u64);
        let text = format!("their definitions have {size} (mcp.offer says how they are offered)");
        screen.err.words(Some(Role::Quiet), &text)?;
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(target: &[&str], more: impl FnOnce(&mut McpAdd)) -> Result<String, String> {
        let mut add = McpAdd {
            name: "s".to_owned(),
            env: Vec::new(),
            header: Vec::new(),
            safe: Vec::new(),
            no_sandbox: false,
            no_network: false,
            target: target.iter().map(|word| (*word).to_owned()).collect(),
        };
        more(&mut add);
        row(&add).map(|row| row.to_string()).map_err(|usage| usage.0)
    }

    #[test]
    fn what_is_typed_becomes_the_entry_that_other_clients_have_too() {
        assert_eq!(
            add(&["npx", "-y", "x"], |add| {
                add.env = vec!["A=b=c".to_owned()];
                add.safe = vec!["read".to_owned()];
                add.no_network = true;
            }),
            Ok(
                r#"{"command":"npx","args":["-y","x"],"env":{"A":"b=c"},"safe":["read"],"network":false}"#
                    .to_owned()
            )
        );
        assert_eq!(
            add(&["https://h/mcp"], |add| add.header =
                vec!["Authorization: Bearer x".to_owned()]),
            Ok(r#"{"url":"https://h/mcp","headers":{"Authorization":"Bearer x"}}"#.to_owned())
        );
    }

    #[test]
    fn what_does_not_go_together_is_said_without_what_may_be_a_credential() {
        assert_eq!(
            add(&["x"], |add| add.header = vec!["A: secret".to_owned()]),
            Err("--header is for an address, and this is a command".to_owned())
        );
        assert_eq!(
            add(&["http://h"], |add| add.env = vec!["A=secret".to_owned()]),
            Err("--env is for a command, and http://h is an address".to_owned())
        );
        assert_eq!(
            add(&["x"], |add| add.env = vec!["secret".to_owned()]),
            Err("--env takes NAME=VALUE".to_owned())
        );
    }
}
