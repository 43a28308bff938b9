//! `wisp redact`: a text with its credentials and personal data replaced by numbered markers, to be shown to others.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use wisp_audit::Kind;
use wisp_config::Config;
use wisp_guard::secrets::Masker;
use wisp_host::Env;
use wisp_output::amount::counted;
use wisp_term::safe;

use super::paths;
use super::recorded::Recorded;
use crate::args::Redact;
use crate::input;
use crate::screen::Screen;

/// Prints the text, and on stderr what was replaced.
pub fn run(args: &Redact, env: Env) -> anyhow::Result<ExitCode> {
    let paths = paths(&env)?;
    let config = Config::load(&paths.config())?;
    let mut recorded = Recorded::of(&paths, &config, "redact");
    let mut screen = Screen::new(env, "auto");
    let path = args.file.as_deref().unwrap_or(Path::new("-"));
    let mut bytes = Vec::new();
    input::open(path)?.read_to_end(&mut bytes)?;
    let mut masker = Masker::new(!args.secrets_only);
    let (text, replaced) = redacted(&bytes, &mut masker);
    let details = json!({
        "source": path.display().to_string(), "bytes": bytes.len(), "bytesOut": text.len(), "truncated": false,
        "thorough": false, "replaced": replaced,
    });
    recorded.event(Kind::Redaction, details)?;
    recorded.close()?;
    if screen.out.surface().terminal {
        screen
            .out
            .text(&safe::safe_coloured(&String::from_utf8_lossy(&text)))?;
    } else {
        screen.out.bytes(&text)?;
    }
    screen.out.flush()?;
    screen.err.line(&summary(replaced, &masker))?;
    Ok(ExitCode::SUCCESS)
}

/// The text with its values replaced; bytes that are no text stay as they are.
fn redacted(bytes: &[u8], masker: &mut Masker) -> (Vec<u8>, usize) {
    let (mut out, mut replaced) = (Vec::with_capacity(bytes.len()), 0);
    for chunk in bytes.utf8_chunks() {
        match masker.masked(chunk.valid()) {
            Some((text, count)) => {
                out.extend_from_slice(text.as_bytes());
                replaced += count;
            }
            None => out.extend_from_slice(chunk.valid().as_bytes()),
        }
        out.extend_from_slice(chunk.invalid());
    }
    (out, replaced)
}

/// `replaced 3 values: email 1, github-token 1`: the kinds with how many different values each had.
fn summary(replaced: usize, masker: &Masker) -> String {
    let kinds: Vec<String> = masker
        .counts()
        .iter()
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    if kinds.is_empty() {
        return "nothing to replace".to_owned();
    }
    let values = counted(replaced as u64, "value");
    format!("replaced {values}: {}", kinds.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_stay_and_the_values_around_them_go() {
        let mut masker = Masker::new(true);
        let (out, replaced) = redacted(b"A_TOKEN=abcdefgh1 \xff\xfe mail ada@tern.io \x80", &mut masker);
        assert_eq!(
            out,
            b"A_TOKEN=[REDACTED:env-secret#1] \xff\xfe mail [REDACTED:email#1] \x80"
        );
        assert_eq!(replaced, 2);
        assert_eq!(
            summary(replaced, &masker),
            "replaced 2 values: email 1, env-secret 1"
        );
        assert_eq!(summary(0, &Masker::new(true)), "nothing to replace");
    }
}
