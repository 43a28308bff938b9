//! `wisp doctor`: is everything as it should be, and what to do about what is not.

mod home;

use std::process::ExitCode;

use wisp_agent::model::check::{Finding, server};
use wisp_agent::model::known::Known;
use wisp_config::Config;
use wisp_host::Env;
use wisp_term::{Role, safe, words};

use super::{paths, runtime};
use crate::args::Doctor;
use crate::exit::FAILED;
use crate::screen::Screen;

/// Prints the findings; the exit code says whether all are good.
pub fn run(args: &Doctor, env: Env) -> anyhow::Result<ExitCode> {
    let paths = paths(&env)?;
    let loaded = Config::load(&paths.config());
    let mut screen = Screen::new(env, "auto");
    let mut findings = vec![home::config(&loaded, &paths.config())];
    let config = loaded.unwrap_or_else(|_| Config::defaults(&paths.config()));
    let known = Known::at(paths.models());
    findings.extend(of_server(&screen.env, &config, &known, args.model.as_deref())?);
    findings.extend(home::all(&paths, &config, &screen));
    if args.json {
        screen
            .out
            .line(&safe::json(&serde_json::to_string_pretty(&findings)?))?;
    } else {
        for finding in &findings {
            print(finding, &mut screen)?;
        }
    }
    screen.out.flush()?;
    let good = findings.iter().all(|f| f.ok);
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAILED)
    })
}

fn of_server(env: &Env, config: &Config, known: &Known, model: Option<&str>) -> anyhow::Result<Vec<Finding>> {
    match wisp_agent::client(env, config) {
        Ok(client) => Ok(runtime()?.block_on(server(&client, config, known, model))),
        Err(error) => {
            let action = error.hint().unwrap_or_default();
            Ok(vec![Finding::bad("server", error.to_string(), action)])
        }
    }
}

fn print(finding: &Finding, screen: &mut Screen) -> anyhow::Result<()> {
    let (mark, role) = if finding.ok {
        ("ok    ", Role::Ok)
    } else {
        ("NOT OK", Role::Error)
    };
    let line = format!("{mark} {:<14} {}", finding.name, finding.detail);
    let line = shown(&line, screen);
    let rest = line.strip_prefix(mark).unwrap_or_default();
    screen.out.painted(role, mark)?;
    screen.out.line(rest)?;
    if let Some(action) = &finding.action {
        let line = shown(&format!("       {:<14} → {action}", ""), screen);
        screen.out.painted_line(Role::Quiet, &line)?;
    }
    Ok(())
}

/// A line as it is safe, on a terminal broken under its last column.
fn shown(line: &str, screen: &Screen) -> String {
    let line = safe::safe(line);
    if screen.out.surface().terminal {
        words::listed(&line, screen.out.width())
    } else {
        line
    }
}
