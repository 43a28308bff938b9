//! The findings about this machine: wisp's home, what is kept and recorded in it, the terminal and the pager.

use std::fs;
use std::io::IsTerminal;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use wisp_agent::model::check::Finding;
use wisp_agent::saved::{Folder, Sweep, sweep};
use wisp_audit::sessions;
use wisp_audit::verify;
use wisp_config::{Config, ConfigError, Paths};
use wisp_host::{Clock, Env, SystemClock};
use wisp_output::amount::{counted, size};
use wisp_output::store::{self, Shelf, TIME_LIMIT};
use wisp_term::pager;

use crate::commands::logs;
use crate::screen::Screen;

/// Whether the configuration loads.
pub fn config(loaded: &Result<Config, ConfigError>, path: &Path) -> Finding {
    const NAME: &str = "config";
    match loaded {
        Err(error) => Finding::bad(NAME, error.to_string(), error.hint()),
        Ok(config) if !config.exists() => {
            Finding::good(NAME, format!("{} is not there: all defaults", path.display()))
        }
        Ok(config) if config.warnings().is_empty() => Finding::good(NAME, path.display().to_string()),
        Ok(config) => Finding {
            action: Some("correct it there; wisp config list shows what holds".to_owned()),
            ..Finding::good(NAME, config.warnings().join("; "))
        },
    }
}

/// Everything else.
pub fn all(paths: &Paths, config: &Config, screen: &Screen) -> Vec<Finding> {
    vec![
        home(paths.home()),
        store(paths, config),
        audit(paths, config),
        threads(paths, config),
        sandbox(config, &screen.env),
        terminal(screen),
        pager(&screen.env),
    ]
}

fn home(home: &Path) -> Finding {
    const NAME: &str = "home";
    let shown = home.display();
    let Ok(meta) = fs::symlink_metadata(home) else {
        return to_be_made(home);
    };
    if !meta.is_dir() {
        return Finding::bad(
            NAME,
            format!("{shown} is not a directory"),
            "move it away, or set WISP_HOME",
        );
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Finding::bad(
            NAME,
            format!("{shown} belongs to another user"),
            "set WISP_HOME to a directory of your own",
        );
    }
    if meta.mode() & 0o077 != 0 {
        return Finding::bad(
            NAME,
            format!("{shown} is open to others"),
            format!("chmod 700 {shown}"),
        );
    }
    match Paths::under(home).prepare() {
        Ok(()) => Finding::good(NAME, format!("{shown} is private and can be written to")),
        Err(error) => Finding::bad(NAME, error.to_string(), error.hint()),
    }
}

/// What confines the commands a model runs, and what is missing of it. That the sandbox is off is what the settings say,
/// and still named.
fn sandbox(config: &Config, env: &Env) -> Finding {
    const NAME: &str = "sandbox";
    let (words, missing) = wisp_agent::sandbox(config, env).described();
    let off = !config.sandbox();
    let action = if off {
        Some("wisp config set sandbox.mode on")
    } else if missing.is_empty() {
        None
    } else {
        Some("docs/sandbox.md says what each kernel has; commands are asked about more often meanwhile")
    };
    let detail = std::iter::once(words)
        .chain(missing)
        .collect::<Vec<_>>()
        .join("; ");
    Finding {
        action: action.map(str::to_owned),
        ..Finding::good(NAME, detail)
    }
}

/// A home that is not there yet: the folder it would be made in has to take it.
fn to_be_made(home: &Path) -> Finding {
    let shown = home.display();
    let above = home.ancestors().skip(1).find(|folder| folder.exists());
    let writable = |folder: &Path| {
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        folder.is_dir() && rustix::fs::access(folder, access).is_ok()
    };
    match above.filter(|folder| !writable(folder)) {
        None => Finding::good(
            "home",
            format!("{shown} is not there yet; the first conversation makes it"),
        ),
        Some(folder) => Finding::bad(
            "home",
            format!("{shown} is not there and cannot be made in {}", folder.display()),
            "set WISP_HOME to a directory of your own",
        ),
    }
}

fn store(paths: &Paths, config: &Config) -> Finding {
    const NAME: &str = "outputs";
    let shelf = Shelf::new(paths.home());
    let sweep = store::Sweep {
        shelf: &shelf,
        current: None,
        now: SystemClock.now(),
        days: u32::try_from(config.output_days()).unwrap_or(u32::MAX),
        time_limit: TIME_LIMIT,
    };
    let survey = match sweep.survey() {
        Ok(survey) => survey,
        Err(error) => {
            return Finding::bad(
                NAME,
                error.to_string(),
                format!("see to {}", paths.output().display()),
            );
        }
    };
    let sessions = counted(survey.sessions as u64, "conversation");
    let mut detail = format!("{} kept of {sessions}", size(survey.bytes));
    if !survey.next.removed.is_empty() {
        let old = survey.next.removed.len() as u64;
        let old = counted(old, "conversation");
        detail = format!("{detail}; the next start removes those of {old}");
    }
    if survey.foreign.is_empty() {
        return Finding::good(NAME, detail);
    }
    Finding {
        action: Some(format!(
            "not wisp's, and left alone: {}",
            survey.foreign.join(", ")
        )),
        ..Finding::good(NAME, detail)
    }
}

/// The saved conversations: how many, what the next start removes, and which cannot be gone on with.
fn threads(paths: &Paths, config: &Config) -> Finding {
    const NAME: &str = "conversations";
    let folder = Folder::new(paths.transcripts());
    let sweep = Sweep {
        folder: &folder,
        contexts: &paths.contexts(),
        now: SystemClock.now(),
        days: u32::try_from(config.unnamed_days()).unwrap_or(u32::MAX),
        time_limit: sweep::TIME_LIMIT,
    };
    let (listed, past) = match folder.list().and_then(|listed| Ok((listed, sweep.past()?))) {
        Ok(found) => found,
        Err(error) => {
            let action = format!("see to {}", paths.transcripts().display());
            return Finding::bad(NAME, error.to_string(), action);
        }
    };
    let bytes: u64 = listed.iter().map(|one| one.bytes).sum();
    let named = listed.iter().filter(|one| one.named).count();
    let saved = counted(listed.len() as u64, "conversation");
    let mut detail = format!("{saved} saved, {named} under a name ({})", size(bytes));
    if !past.is_empty() {
        let old = counted(past.len().min(sweep::REMOVAL_LIMIT) as u64, "conversation");
        detail = format!("{detail}; the next start removes {old} without a name");
    }
    let broken = listed.iter().filter(|one| folder.load(&one.name).is_err());
    let broken: Vec<&str> = broken.map(|one| one.name.as_str()).collect();
    if broken.is_empty() {
        return Finding::good(NAME, detail);
    }
    let action = "wisp threads says why; wisp threads delete NAME removes one";
    Finding::bad(
        NAME,
        format!("{detail}; these cannot be gone on with: {}", broken.join(", ")),
        action,
    )
}

fn audit(paths: &Paths, config: &Config) -> Finding {
    const NAME: &str = "audit";
    if !config.audit() {
        return Finding {
            action: Some("wisp config set audit.enabled true".to_owned()),
            ..Finding::good(NAME, "off: nothing is recorded, and long outputs are not kept")
        };
    }
    let found = match sessions(paths.home()) {
        Ok(found) => found,
        Err(error) => {
            return Finding::bad(
                NAME,
                error.to_string(),
                format!("see to {}", paths.audit().display()),
            );
        }
    };
    let Some(latest) = found.first() else {
        return Finding::good(NAME, "on; nothing is recorded yet");
    };
    let count = counted(found.len() as u64, "session");
    match verify(&latest.path) {
        Ok(verdict) => {
            let (whole, words) = logs::words(&verdict);
            let detail = format!("{count}; the latest is {words}");
            if whole {
                Finding::good(NAME, detail)
            } else {
                let action = format!(
                    "wisp logs verify names each broken session; keep a copy of {}",
                    latest.path.display()
                );
                Finding::bad(NAME, detail, action)
            }
        }
        Err(error) => Finding::bad(
            NAME,
            error.to_string(),
            format!("see to {}", latest.path.display()),
        ),
    }
}

fn terminal(screen: &Screen) -> Finding {
    let surface = screen.out.surface();
    let kind = screen.env.get("TERM").unwrap_or("not set").to_owned();
    if !std::io::stdout().is_terminal() {
        return Finding::good("terminal", format!("standard output is none (TERM is {kind})"));
    }
    let colours = if surface.palette.is_coloured() {
        "colours"
    } else {
        "no colours"
    };
    Finding::good(
        "terminal",
        format!("{kind}, {} columns, {colours}", surface.width),
    )
}

fn pager(env: &Env) -> Finding {
    let found = pager::candidates(env);
    let there = found.iter().find(|p| on_path(&p.program, env));
    match there {
        Some(pager) => Finding::good("pager", pager.program.clone()),
        None => Finding::bad(
            "pager",
            "none of the pagers is installed",
            "install less, or set PAGER",
        ),
    }
}

fn on_path(program: &str, env: &Env) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let path = env.get("PATH").unwrap_or_default();
    path.split(':')
        .any(|folder| Path::new(folder).join(program).is_file())
}
