//! How a server's program is started: its words and its environment, with nothing of wisp's beside what every program
//! needs.

use std::path::{Path, PathBuf};

use wisp_config::servers::{McpServer, Reach};
use wisp_exec::{CommandSpec, EnvChange, QUIET_ENVIRONMENT};
use wisp_guard::Profile;
use wisp_host::Env;
use wisp_tools::Confining;
use wisp_tools::confine::Wanted;

/// The variables that every program is given: where things are, who the person is, how they write.
const BASE: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
];

/// The command of a server, confined as it is configured; `None` when it is reached by address. The error names a
/// variable that is not set.
pub(crate) fn spec(
    server: &McpServer,
    directory: &Path,
    env: &Env,
    confining: &Confining,
) -> Result<Option<CommandSpec>, String> {
    let Reach::Command {
        command,
        args,
        env: own,
        directory: named,
    } = &server.reach
    else {
        return Ok(None);
    };
    let mut words = vec![expanded(command, env)?];
    for arg in args {
        words.push(expanded(arg, env)?);
    }
    let runs_in = match named {
        Some(named) => place(&expanded(named, env)?, directory, env),
        None => directory.to_owned(),
    };
    let start = if server.sandbox {
        confining.start(Wanted {
            profile: Profile::Write,
            directory,
            runs_in: &runs_in,
            network: server.network,
        })
    } else {
        confining.outside()
    };
    let mut spec = CommandSpec::argv(words);
    spec.dir = Some(runs_in);
    spec.sandbox = start.sandbox;
    let strange = env
        .names()
        .filter(|name| !BASE.contains(name) && *name != wisp_exec::MARK);
    let quiet = QUIET_ENVIRONMENT.iter().map(|(name, _)| *name);
    let unset = strange.chain(quiet).map(|name| EnvChange::Unset(name.into()));
    spec.env = unset.collect();
    for (name, value) in own {
        let value = expanded(value, env)?;
        spec.env.push(EnvChange::Set(name.into(), value.into()));
    }
    Ok(Some(spec))
}

fn place(named: &str, directory: &Path, env: &Env) -> PathBuf {
    let home = env.get("HOME").map(Path::new);
    match (named.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (None, Some(home)) if named == "~" => home.to_owned(),
        _ => directory.join(named),
    }
}

/// A text with wisp's own variables in the places of `${NAME}` and `${NAME:-otherwise}`. The error names one that is not
/// set.
pub(crate) fn expanded(text: &str, env: &Env) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        let inner = &rest[at + 2..at + end];
        let (name, otherwise) = match inner.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inner, None),
        };
        out.push_str(&rest[..at]);
        match env.get(name).or(otherwise) {
            Some(value) => out.push_str(value),
            None => {
                return Err(format!(
                    "the variable {name} that its configuration names is not set"
                ));
            }
        }
        rest = &rest[at + end + 1..];
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn env() -> Env {
        [
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("TOKEN", "t"),
            ("OPENAI_API_KEY", "k"),
            ("WISP_COMMAND", "m"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .collect()
    }

    fn server(row: &serde_json::Value) -> McpServer {
        let rows = json!({ "s": row });
        wisp_config::servers::read(rows.as_object().unwrap())
            .unwrap()
            .remove(0)
    }

    #[test]
    fn a_server_gets_what_is_configured_and_what_every_program_needs() {
        let server = server(&json!({"command": "x", "args": ["${TOKEN}"], "env": {"A": "b${TOKEN}c"}}));
        let spec = spec(&server, Path::new("/w"), &env(), &Confining::none())
            .unwrap()
            .unwrap();
        let dropped = |name: &str| spec.env.contains(&EnvChange::Unset(name.into()));
        assert!(
            ["TOKEN", "OPENAI_API_KEY", "PAGER", "TERM"]
                .iter()
                .all(|name| dropped(name))
        );
        assert!(["PATH", "HOME", "WISP_COMMAND"].iter().all(|name| !dropped(name)));
        assert_eq!(spec.env.last(), Some(&EnvChange::Set("A".into(), "btc".into())));
        assert_eq!(
            spec.program,
            wisp_exec::Program::Argv(vec!["x".into(), "t".into()])
        );
        assert_eq!(spec.dir, Some(PathBuf::from("/w")));
    }

    #[test]
    fn a_server_runs_where_it_is_told_to() {
        for (named, runs_in) in [("~/a", "/h/a"), ("~", "/h"), ("b", "/w/b"), ("/c", "/c")] {
            let server = server(&json!({"command": "x", "workingDirectory": named}));
            let spec = spec(&server, Path::new("/w"), &env(), &Confining::none())
                .unwrap()
                .unwrap();
            assert_eq!(spec.dir, Some(PathBuf::from(runs_in)));
        }
    }

    #[test]
    fn variables_are_put_in_and_one_that_is_not_set_is_named() {
        let of = |text: &str| expanded(text, &env());
        assert_eq!(of("a${TOKEN}${NONE:-x}$HOME"), Ok("atx$HOME".to_owned()));
        assert_eq!(of("${open"), Ok("${open".to_owned()));
        assert_eq!(
            of("${NONE}"),
            Err("the variable NONE that its configuration names is not set".to_owned())
        );
    }
}
