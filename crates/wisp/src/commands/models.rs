//! `wisp models`: what can be talked to, what may be chosen, and fetching more.

mod check;
mod enable;
mod pull;

use std::process::ExitCode;

use serde_json::json;
use wisp_agent::model::known::Known;
use wisp_agent::model::leave;
use wisp_agent::model::list::{Entry, list};
use wisp_config::Config;
use wisp_host::Env;
use wisp_output::amount::{grouped, size};
use wisp_term::{Role, Table, safe, width};

use super::recorded::Recorded;
use super::{paths, runtime};
use crate::args::{Models, ModelsSub};
use crate::exit::FAILED;
use crate::screen::Screen;

const HEADER: [&str; 10] = [
    "MODEL",
    "RUNTIME",
    "PARAMS",
    "SIZE",
    "FORMAT",
    "CONTEXT",
    "FROM",
    "WHERE",
    "ENABLED",
    "CAPABILITIES",
];
/// Columns left out of a terminal that is too narrow, the first one first.
const DROPPED: [usize; 7] = [4, 1, 6, 7, 2, 3, 5];
/// Cells the last column is left at the least.
const LAST: usize = 20;

/// Lists, enables, disables, fetches, checks, or takes leave back.
pub fn run(args: &Models, env: Env) -> anyhow::Result<ExitCode> {
    let paths = paths(&env)?;
    let mut config = Config::load(&paths.config())?;
    let mut screen = Screen::new(env, &config.theme());
    let known = Known::at(paths.models());
    let Some(command) = &args.command else {
        return listed(args, &config, &known, &mut screen);
    };
    paths.prepare()?;
    let mut recorded = Recorded::of(&paths, &config, "models");
    let code = match command {
        ModelsSub::Pull { name } => pull::run(name, &config, &mut recorded, &mut screen),
        ModelsSub::Enable { names } => enable::enable(names, &mut config, &known, &mut recorded, &mut screen),
        ModelsSub::Disable { names } => enable::disable(names, &mut config, &mut recorded, &mut screen),
        ModelsSub::Revoke { names } => revoked(names, &known, &config, &mut recorded, &mut screen),
        ModelsSub::Check { names, json } => {
            let client = wisp_agent::client(&screen.env, &config)?;
            let checking = check::Checking {
                config: &config,
                known: &known,
                client: &client,
                json: *json,
                trigger: "check",
            };
            check::run(names, &checking, &mut recorded, &mut screen)
        }
    };
    recorded.close()?;
    let code = code?;
    screen.out.flush()?;
    Ok(code)
}

fn revoked(
    names: &[String],
    known: &Known,
    config: &Config,
    recorded: &mut Recorded<'_>,
    screen: &mut Screen,
) -> anyhow::Result<ExitCode> {
    let client = wisp_agent::client(&screen.env, config)?;
    for name in names {
        let scene = leave::Scene {
            known,
            audit: recorded.log()?,
            server: client.host(),
            source: "cli",
        };
        let said = leave::revoke(&scene, name)?;
        screen.out.line(&safe::safe(&said))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(args: &Models, config: &Config, known: &Known, screen: &mut Screen) -> anyhow::Result<ExitCode> {
    let client = wisp_agent::client(&screen.env, config)?;
    let found = runtime()?.block_on(list(&client, config, known, !args.no_tools));
    let mut entries = match found {
        Ok(entries) => entries,
        Err(error) if args.json => {
            let object = json!({"models": [], "unreachable": [{"server": client.host().to_string(), "reason": error.to_string()}]});
            screen
                .out
                .line(&safe::json(&serde_json::to_string_pretty(&object)?))?;
            screen.out.flush()?;
            return Ok(ExitCode::from(FAILED));
        }
        Err(error) => return Err(error.into()),
    };
    entries.retain(|e| args.all || e.usable || !e.enabled);
    if args.json {
        let object = json!({"models": entries, "unreachable": []});
        screen
            .out
            .line(&safe::json(&serde_json::to_string_pretty(&object)?))?;
    } else {
        print(&entries, screen)?;
    }
    screen.out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn print(entries: &[Entry], screen: &mut Screen) -> anyhow::Result<()> {
    if entries.is_empty() {
        let text = "no model can be talked to; --all shows why, wisp models pull NAME fetches one";
        screen.err.line(text)?;
    }
    if !screen.out.surface().terminal {
        for entry in entries {
            screen.out.line(&tabs(entry))?;
        }
        return Ok(());
    }
    let rows: Vec<Vec<String>> = entries.iter().map(fields).collect();
    let kept = columns(&rows, screen.out.width());
    let pick = |row: &[String]| kept.iter().map(|at| row[*at].clone()).collect::<Vec<_>>();
    let mut table = Table::new(pick(&HEADER.map(str::to_owned)));
    for row in &rows {
        table.row(pick(row));
    }
    let text = table.render(screen.out.surface());
    screen.out.text(&text)?;
    for entry in entries.iter().filter(|e| !e.usable) {
        let problem = entry.problem.as_deref().unwrap_or("unknown");
        let line = format!("  {} is not usable: {problem}", entry.model);
        screen.out.painted_line(Role::Quiet, &safe::safe(&line))?;
    }
    Ok(())
}

fn fields(entry: &Entry) -> Vec<String> {
    let mark = if entry.default { "* " } else { "  " };
    let enabled = if entry.enabled { "yes" } else { "no" };
    let checked = entry
        .capabilities_from
        .as_ref()
        .is_some_and(|from| from.starts_with("verified"));
    let capabilities = match (entry.usable, checked) {
        (false, _) => String::new(),
        (true, false) => entry.capabilities.join(", "),
        (true, true) => format!("{} (verified)", entry.capabilities.join(", ")),
    };
    let agreed = if entry.agreed.is_some() { " (agreed)" } else { "" };
    let text = |field: &Option<String>| safe::safe(field.as_deref().unwrap_or_default());
    vec![
        format!("{mark}{}", safe::safe(&entry.model)),
        "Ollama".to_owned(),
        text(&entry.parameters),
        entry.bytes.map_or_else(String::new, size),
        text(&entry.format),
        entry.context.map_or_else(String::new, grouped),
        entry.context_from.unwrap_or_default().to_owned(),
        entry
            .runs_on
            .as_ref()
            .map_or_else(String::new, |host| safe::safe(host) + agreed),
        enabled.to_owned(),
        capabilities,
    ]
}

/// A row for a program: every field, and the reason after them for a model that cannot be used.
fn tabs(entry: &Entry) -> String {
    let mut row = fields(entry);
    row.extend(entry.problem.clone());
    let clean: Vec<String> = row.iter().map(|f| f.replace(['\t', '\n'], " ")).collect();
    clean.join("\t")
}

/// The columns that fit: each as wide as its widest field, the last one with room of its own.
fn columns(rows: &[Vec<String>], cells: usize) -> Vec<usize> {
    let used = |at: usize| rows.iter().any(|row| !row[at].is_empty());
    let widest = |at: usize| {
        let fields = rows.iter().map(|row| width::cells(&row[at]));
        fields.chain([HEADER[at].len()]).max().unwrap_or(0)
    };
    let mut kept: Vec<usize> = (0..HEADER.len()).filter(|at| used(*at)).collect();
    let needed = |kept: &[usize]| {
        kept.iter()
            .filter(|at| **at != 9)
            .map(|at| widest(*at) + 2)
            .sum::<usize>()
    };
    for dropped in DROPPED {
        if needed(&kept) + LAST <= cells {
            break;
        }
        kept.retain(|at| *at != dropped);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{columns, fields, tabs};
    use wisp_agent::model::list::Entry;

    fn entry() -> Entry {
        Entry {
            model: "qwen3:8b".into(),
            parameters: Some("8.2B".into()),
            bytes: Some(5_200_000_000),
            format: Some("qwen3 Q4_K_M".into()),
            context: Some(24_576),
            context_from: Some("memory"),
            enabled: true,
            capabilities: vec!["tools", "structured replies", "thinking"],
            default: true,
            usable: true,
            ..Entry::default()
        }
    }

    #[test]
    fn a_pipe_gets_ten_fields_and_the_reason_of_what_cannot_be_used() {
        assert_eq!(tabs(&entry()).split('\t').count(), 10);
        assert!(tabs(&entry()).starts_with("* qwen3:8b\tOllama\t8.2B\t"));
        let broken = Entry {
            usable: false,
            problem: Some("it cannot converse".into()),
            ..entry()
        };
        let row = tabs(&broken);
        assert_eq!(row.split('\t').count(), 11);
        assert!(row.ends_with("\tit cannot converse"));
    }

    #[test]
    fn narrow_terminals_keep_name_enabled_and_capabilities() {
        let rows = vec![fields(&entry())];
        assert_eq!(columns(&rows, 200), [0, 1, 2, 3, 4, 5, 6, 8, 9]);
        assert_eq!(columns(&rows, 10), [0, 8, 9]);
        assert!(!columns(&rows, 80).contains(&4), "the format goes first");
    }
}
