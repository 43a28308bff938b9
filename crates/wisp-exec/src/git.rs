//! What git gets when it runs for a line that was judged to read only: settings of the repository that start programs
//! are overruled, and nothing is fetched on the way.
//!
//! `GIT_CONFIG_COUNT` and its pairs go before every file of settings, as `-c` on the command line does, and reach a git
//! that another program starts. What has a name of the repository's own choice (`filter.x.clean`, `diff.x.textconv`) cannot
//! be overruled here; the gate finds it in the repository's configuration and asks.

use crate::EnvChange;

/// Settings and the values that start nothing.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("sequence.editor", "false"),
    ("core.sshCommand", "false"),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", ""),
    ("credential.helper", ""),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
    ("diff.submodule", "short"),
    ("status.submoduleSummary", "false"),
    ("protocol.allow", "never"),
    ("maintenance.auto", "false"),
    ("gc.auto", "0"),
];

/// Variables besides.
const VARIABLES: &[(&str, &str)] = &[
    // An object a partial clone lacks is not fetched.
    ("GIT_NO_LAZY_FETCH", "1"),
    // `git status` does not write the index, so no hook of a change to it runs.
    ("GIT_OPTIONAL_LOCKS", "0"),
    // No address is spoken to, whatever helper it names.
    ("GIT_ALLOW_PROTOCOL", "none"),
];

/// The changes to the environment of a command that only reads.
pub fn reading_git() -> Vec<EnvChange> {
    let set = |name: String, value: &str| EnvChange::Set(name.into(), value.into());
    let mut changes = vec![set("GIT_CONFIG_COUNT".to_owned(), &SETTINGS.len().to_string())];
    for (at, (key, value)) in SETTINGS.iter().enumerate() {
        changes.push(set(format!("GIT_CONFIG_KEY_{at}"), key));
        changes.push(set(format!("GIT_CONFIG_VALUE_{at}"), value));
    }
    changes.extend(
        VARIABLES
            .iter()
            .map(|(name, value)| set((*name).to_owned(), value)),
    );
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_its_pair_and_they_are_counted() {
        let changes = reading_git();
        let value = |wanted: &str| {
            changes.iter().find_map(|change| match change {
                EnvChange::Set(name, value) if name == wanted => value.to_str().map(str::to_owned),
                _ => None,
            })
        };
        let count: usize = value("GIT_CONFIG_COUNT")
            .and_then(|text| text.parse().ok())
            .unwrap();
        assert_eq!(value("GIT_CONFIG_KEY_0").as_deref(), Some("core.fsmonitor"));
        assert_eq!(value("GIT_CONFIG_VALUE_0").as_deref(), Some("false"));
        assert!(value(&format!("GIT_CONFIG_KEY_{}", count - 1)).is_some());
        assert!(value(&format!("GIT_CONFIG_KEY_{count}")).is_none());
        assert_eq!(value("GIT_NO_LAZY_FETCH").as_deref(), Some("1"));
    }
}
