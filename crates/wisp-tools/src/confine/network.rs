//! Which commands are of no use without a network: known before they run, so that the question says so.

use wisp_guard::split;

/// Programs, with the verbs that connect; no verbs for a program that always does.
const NEEDS: &[(&str, &[&str])] = &[
    ("curl", &[]),
    ("wget", &[]),
    ("ssh", &[]),
    ("scp", &[]),
    ("sftp", &[]),
    ("rsync", &[]),
    ("ping", &[]),
    ("dig", &[]),
    ("host", &[]),
    ("nslookup", &[]),
    ("nc", &[]),
    ("telnet", &[]),
    ("ftp", &[]),
    ("gh", &[]),
    ("glab", &[]),
    ("aws", &[]),
    ("gcloud", &[]),
    ("kubectl", &[]),
    (
        "git",
        &["clone", "fetch", "pull", "push", "ls-remote", "submodule"],
    ),
    (
        "cargo",
        &[
            "add", "fetch", "install", "login", "owner", "publish", "search", "update", "yank",
        ],
    ),
    (
        "npm",
        &[
            "audit", "ci", "i", "install", "outdated", "publish", "search", "update", "view",
        ],
    ),
    ("npx", &[]),
    ("yarn", &["add", "install", "publish", "up", "upgrade"]),
    ("pnpm", &["add", "i", "install", "publish", "update"]),
    ("bun", &["add", "install", "publish", "update"]),
    ("pip", &["download", "install"]),
    ("pip3", &["download", "install"]),
    ("uv", &["add", "lock", "pip", "publish", "sync"]),
    ("poetry", &["add", "install", "lock", "publish", "update"]),
    ("go", &["get", "install"]),
    ("gem", &["install", "push", "update"]),
    ("bundle", &["install", "update"]),
    ("composer", &["install", "require", "update"]),
    ("docker", &[]),
    ("podman", &[]),
    ("apt", &[]),
    ("apt-get", &[]),
    ("brew", &["install", "update", "upgrade"]),
];

/// What a question says of such a command.
pub(crate) const REASON: &str = "uses the network";

/// Whether a line has a command that needs the network.
pub(crate) fn needs(line: &str) -> bool {
    let parts = split(line).unwrap_or_default();
    parts.iter().any(|part| {
        let Some((_, verbs)) = NEEDS.iter().find(|(name, _)| part.name() == Some(*name)) else {
            return false;
        };
        let mut words = part.args().iter().map(|word| word.text.as_str());
        verbs.is_empty() || words.any(|word| verbs.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_connects_is_known_by_its_verb() {
        for line in [
            "git push -q origin main",
            "cd a && npm ci",
            "git -C x fetch",
            "sh -c 'curl -s http://x'",
            "cargo update -p serde",
        ] {
            assert!(needs(line), "{line}");
        }
        for line in [
            "git commit -m push-it",
            "cargo build",
            "npm test",
            "go build ./...",
            "echo curl",
            "if",
        ] {
            assert!(!needs(line), "{line}");
        }
    }
}
