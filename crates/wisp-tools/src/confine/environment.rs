//! What of wisp's environment a command gets: not what holds credentials, not what is wisp's own, and for a command that
//! only reads nothing that leads to an agent.

use std::ffi::OsString;

use wisp_exec::{EnvChange, Profile};
use wisp_guard::credentials::{is_agent_variable, is_variable};
use wisp_host::Env;

/// The changes for a command. `profile` is none for what the person typed, which gets everything but wisp's own.
pub(super) fn changes(env: &Env, profile: Option<Profile>, pass: &[String]) -> Vec<EnvChange> {
    let dropped = env.names().filter(|name| drops(name, profile, pass));
    let mut changes: Vec<EnvChange> = dropped.map(|name| EnvChange::Unset(name.into())).collect();
    if profile == Some(Profile::Read) {
        // Its index is not refreshed where nothing can be written.
        let (name, value): (OsString, OsString) = ("GIT_OPTIONAL_LOCKS".into(), "0".into());
        changes.push(EnvChange::Set(name, value));
    }
    changes
}

/// Names of wisp's own settings and of its server's key: of no use to a command.
fn is_wisps(name: &str) -> bool {
    name == "OLLAMA_API_KEY" || name.starts_with("WISP_")
}

fn drops(name: &str, profile: Option<Profile>, pass: &[String]) -> bool {
    if is_wisps(name) {
        return name != wisp_exec::MARK;
    }
    let passed = pass.iter().any(|passed| passed == name);
    match profile {
        None => false,
        Some(_) if passed => false,
        Some(profile) => is_variable(name) || (profile == Profile::Read && is_agent_variable(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(profile: Option<Profile>, pass: &[&str]) -> Vec<String> {
        let names = [
            "PATH",
            "HOME",
            "LANG",
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "DOCKER_HOST",
            "WISP_HOME",
            "OLLAMA_API_KEY",
            "WISP_COMMAND",
        ];
        let env: Env = names
            .map(|name| (name.to_owned(), "x".to_owned()))
            .into_iter()
            .collect();
        let pass: Vec<String> = pass.iter().map(|name| (*name).to_owned()).collect();
        let changes = changes(&env, profile, &pass).into_iter();
        changes
            .filter_map(|change| match change {
                EnvChange::Unset(name) => name.into_string().ok(),
                EnvChange::Set(..) => None,
            })
            .collect()
    }

    #[test]
    fn a_command_gets_no_credential_and_one_that_reads_no_agent() {
        assert_eq!(
            dropped(Some(Profile::Read), &[]),
            [
                "DOCKER_HOST",
                "GITHUB_TOKEN",
                "OLLAMA_API_KEY",
                "OPENAI_API_KEY",
                "SSH_AUTH_SOCK",
                "WISP_HOME"
            ]
        );
        assert_eq!(
            dropped(Some(Profile::Write), &[]),
            ["GITHUB_TOKEN", "OLLAMA_API_KEY", "OPENAI_API_KEY", "WISP_HOME"]
        );
    }

    #[test]
    fn what_is_passed_is_passed_and_wisps_own_never() {
        assert_eq!(
            dropped(
                Some(Profile::Write),
                &["GITHUB_TOKEN", "OLLAMA_API_KEY", "WISP_HOME"]
            ),
            ["OLLAMA_API_KEY", "OPENAI_API_KEY", "WISP_HOME"]
        );
        assert_eq!(dropped(None, &[]), ["OLLAMA_API_KEY", "WISP_HOME"]);
    }
}
