//! Git starts programs that a repository's own configuration names: reading with it is then not only reading.

use crate::command::SimpleCommand;
use crate::level::Level;
use crate::risk::Surroundings;

/// Settings whose value is a program git runs while it reads. A `*` stands for a subsection.
const STARTS: &[(&str, &str)] = &[
    ("core", "fsmonitor"),
    ("core", "pager"),
    ("core", "sshcommand"),
    ("core", "askpass"),
    ("core", "editor"),
    ("core", "hookspath"),
    ("core", "gitproxy"),
    ("diff", "external"),
    ("diff *", "command"),
    ("diff *", "textconv"),
    ("filter *", "clean"),
    ("filter *", "smudge"),
    ("filter *", "process"),
    ("gpg", "program"),
    ("gpg *", "program"),
    ("pager", "*"),
    ("merge *", "driver"),
    ("difftool *", "cmd"),
    ("credential", "helper"),
    ("credential *", "helper"),
    ("alias", "*"),
    ("include", "path"),
    ("includeif *", "path"),
    ("uploadpack", "packobjectshook"),
    ("submodule *", "update"),
    ("sequence", "editor"),
    ("remote *", "uploadpack"),
];

/// Values that start nothing.
const NOTHING: [&str; 5] = ["", "true", "false", "cat", "less"];

/// The settings in a repository's `.git/config` that make git start a program, as `section.key = value`. A
/// repository with any of them is one whose `git status` may run code. Settings of the person's own configuration
/// are not looked at: the person wrote them.
///
/// ```
/// let found = wisp_guard::git_config_programs("[core]\n\tbare = false\n\tfsmonitor = .git/x.sh\n");
/// assert_eq!(found, ["core.fsmonitor = .git/x.sh"]);
/// ```
pub fn git_config_programs(config: &str) -> Vec<String> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in config.trim_start_matches('\u{feff}').lines().map(str::trim) {
        let mut rest = line;
        if let Some(opened) = line.strip_prefix('[') {
            let (head, after) = opened.split_once(']').unwrap_or((opened, ""));
            section = head.trim().to_lowercase();
            rest = after.trim();
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = rest
            .split_once('=')
            .map_or((rest, ""), |(key, value)| (key.trim(), value.trim()));
        let (key, bare) = (key.to_lowercase(), value.trim_matches('"'));
        if starts(&section, &key) && !NOTHING.contains(&bare) {
            found.push(format!("{}.{key} = {value}", section.replace(' ', ".")));
        }
    }
    found
}

fn starts(section: &str, key: &str) -> bool {
    STARTS.iter().any(|(wanted, name)| {
        let same = match wanted.strip_suffix(" *") {
            Some(head) => section
                .strip_prefix(head)
                .is_some_and(|rest| rest.starts_with([' ', '.', '"'])),
            None => section == *wanted,
        };
        same && (*name == "*" || *name == key)
    })
}

/// Hooks that git runs while it only reads.
const READING_HOOKS: [&str; 3] = ["post-index-change", "fsmonitor-watchman", "query-watchman"];

/// What is to be said of a git command where git starts programs, or in a directory nothing is known of.
pub(crate) fn git_programs(part: &SimpleCommand, around: &Surroundings) -> Option<(Level, String)> {
    let asks = part.args().first().is_some_and(|word| !word.is("--version"));
    if part.name() != Some("git") || !asks {
        return None;
    }
    let hooks = around
        .git_hooks
        .iter()
        .filter(|name| READING_HOOKS.contains(&name.as_str()));
    let mut found: Vec<String> = around.git_programs.clone();
    found.extend(hooks.map(|name| format!("the hook {name}")));
    let more = match found.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match found.first() {
        Some(first) => Some((
            Level::Moderate,
            format!("this repository makes git start programs: {first}{more}"),
        )),
        None if part.moved.is_some() => {
            let why = "which programs git starts in the other directory is not known";
            Some((Level::Moderate, why.to_owned()))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confine::Confinement;
    use crate::risk::risk_of_parts;
    use crate::split::split;

    const HOSTILE: &str = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = /r/.git/fsmonitor.sh\n\tpager = /r/.git/pager.sh\n\
        [diff]\n\texternal = /r/.git/external.sh\n[diff \"tern\"]\n\ttextconv = /r/.git/textconv.sh\n[filter \"tern\"]\n\tclean = /r/.git/clean.sh\n\
        [log]\n\tshowSignature = true\n[gpg]\n\tprogram = /r/.git/gpg.sh\n";

    #[test]
    fn every_program_of_a_hostile_repository_is_found() {
        let found = git_config_programs(HOSTILE);
        let keys: Vec<&str> = found.iter().filter_map(|line| line.split(" = ").next()).collect();
        assert_eq!(
            keys,
            [
                "core.fsmonitor",
                "core.pager",
                "diff.external",
                "diff.\"tern\".textconv",
                "filter.\"tern\".clean",
                "gpg.program"
            ]
        );
    }

    #[test]
    fn an_ordinary_repository_starts_nothing() {
        let config = "[core]\n\tbare = false\n\tfsmonitor = true\n[remote \"origin\"]\n\turl = x\n; [alias]\n[branch \"main\"]\n\tremote = origin\n";
        assert_eq!(git_config_programs(config), [""; 0]);
        assert_eq!(
            git_config_programs("\u{feff}[CORE] fsMonitor=x"),
            ["core.fsmonitor = x"]
        );
    }

    #[test]
    fn reading_with_git_there_is_asked_about() {
        let around = Surroundings {
            git_programs: git_config_programs(HOSTILE),
            ..Surroundings::default()
        };
        let parts = split("ls && git status").unwrap();
        let verdict = risk_of_parts(&parts, &around, Confinement::default());
        assert_eq!(verdict.level, Level::Moderate);
        assert_eq!(
            verdict.reasons,
            ["this repository makes git start programs: core.fsmonitor = /r/.git/fsmonitor.sh and 5 more"]
        );
    }

    #[test]
    fn a_hook_that_runs_on_reading_is_asked_about_and_one_on_writing_is_not() {
        let hooks = |name: &str| Surroundings {
            git_hooks: vec![name.to_owned()],
            ..Surroundings::default()
        };
        let parts = split("git status").unwrap();
        let verdict = risk_of_parts(&parts, &hooks("post-index-change"), Confinement::default());
        assert_eq!(
            verdict.reasons,
            ["this repository makes git start programs: the hook post-index-change"]
        );
        assert_eq!(
            risk_of_parts(&parts, &hooks("pre-commit"), Confinement::default()).level,
            Level::Safe
        );
    }
}
