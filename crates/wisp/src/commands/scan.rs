//! `wisp scan`: where credentials stand in files, in what is piped in or in a diff, without showing them.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use wisp_audit::Kind;
use wisp_config::Config;
use wisp_guard::scan::{Finding, is_diff, scan};
use wisp_guard::secrets::Category;
use wisp_host::Env;
use wisp_output::amount::counted;
use wisp_term::safe;

use super::paths;
use super::recorded::Recorded;
use crate::args::Scan;
use crate::exit::FAILED;
use crate::input;
use crate::screen::Screen;

/// Searches each input and prints what was found; the exit code is 1 when that is anything.
pub fn run(args: &Scan, env: Env) -> anyhow::Result<ExitCode> {
    let paths = paths(&env)?;
    let config = Config::load(&paths.config())?;
    let mut recorded = Recorded::of(&paths, &config, "scan");
    let mut screen = Screen::new(env, "auto");
    let standard = [PathBuf::from("-")];
    let inputs = if args.files.is_empty() {
        &standard[..]
    } else {
        &args.files
    };
    let mut all = 0;
    for path in inputs {
        let text = read(path)?;
        let findings = scan(&text, args.personal);
        all += findings.len();
        recorded.event(Kind::SecretsScan, details(path, &text, &findings))?;
        if args.json {
            let object = object(path, &text, &findings).to_string();
            screen.out.line(&safe::json(&object))?;
            continue;
        }
        let source = (args.files.len() > 1).then(|| path.display().to_string());
        for finding in &findings {
            screen.out.line(&safe::safe(&row(source.as_deref(), finding)))?;
        }
    }
    recorded.close()?;
    screen.out.flush()?;
    if !args.json {
        let told = if all == 0 {
            "nothing found".to_owned()
        } else {
            format!("{} found", counted(all as u64, "value"))
        };
        screen.err.line(&told)?;
    }
    Ok(ExitCode::from(if all > 0 { FAILED } else { 0 }))
}

fn read(path: &Path) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    input::open(path)?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `src/a.rs:12: github-token ghp_…(40 chars)`; `line 12: …` in a text that is not one of several.
fn row(source: Option<&str>, finding: &Finding) -> String {
    let (line, kind, preview) = (finding.line, finding.kind, &finding.preview);
    match (source, &finding.path) {
        (Some(source), Some(path)) => format!("{source}: {path}:{line}: {kind} {preview}"),
        (Some(path), None) => format!("{path}:{line}: {kind} {preview}"),
        (None, Some(path)) => format!("{path}:{line}: {kind} {preview}"),
        (None, None) => format!("line {line}: {kind} {preview}"),
    }
}

fn object(path: &Path, text: &str, findings: &[Finding]) -> Value {
    let found = |finding: &Finding| {
        let category = match finding.category {
            Category::Secret => "secret",
            Category::Personal => "personal",
        };
        json!({
            "kind": finding.kind, "category": category, "path": finding.path, "line": finding.line,
            "preview": finding.preview,
        })
    };
    json!({
        "source": path.display().to_string(), "bytes": text.len(), "diff": is_diff(text),
        "findings": findings.iter().map(found).collect::<Vec<_>>(),
    })
}

/// What is recorded: kinds and counts, no value and no preview.
fn details(path: &Path, text: &str, findings: &[Finding]) -> Value {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for finding in findings {
        *kinds.entry(finding.kind).or_default() += 1;
    }
    json!({
        "source": path.display().to_string(), "bytes": text.len(), "diff": is_diff(text), "thorough": false,
        "findings": findings.len(), "kinds": kinds,
    })
}
