//! Where a command that was allowed may write, and what stays as it is within those places.

use std::path::{Path, PathBuf};

use super::hidden::Around;

/// Files and directories of a project that make something run later, without being asked: they are not written from
/// within the sandbox.
const KEPT: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".wisp",
    ".envrc",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".nvimrc",
    ".nvim.lua",
    ".exrc",
    ".vimrc",
    ".lvimrc",
    ".dir-locals.el",
    ".husky",
    ".devcontainer",
    ".mcp.json",
    ".claude",
    ".cursor",
    ".codex",
    ".gemini",
    ".windsurf",
    ".ycm_extra_conf.py",
    ".gdbinit",
    ".lldbinit",
];

/// Directories every program may use for what does not last.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// The caches of a toolchain: where it keeps what it fetched and built.
struct Toolchain {
    /// The variable that names the directory, when it has one.
    variable: Option<&'static str>,
    /// The directory below the home otherwise.
    directory: &'static str,
    /// What in it stays as it is: programs and settings.
    kept: &'static [&'static str],
}

const fn toolchain(
    variable: Option<&'static str>,
    directory: &'static str,
    kept: &'static [&'static str],
) -> Toolchain {
    Toolchain {
        variable,
        directory,
        kept,
    }
}

/// Every toolchain's caches, a row each.
const TOOLCHAINS: &[Toolchain] = &[
    toolchain(
        Some("CARGO_HOME"),
        ".cargo",
        &[
            "bin",
            "config",
            "config.toml",
            "credentials",
            "credentials.toml",
            "env",
        ],
    ),
    toolchain(Some("XDG_CACHE_HOME"), ".cache", &[]),
    toolchain(Some("npm_config_cache"), ".npm", &[]),
    toolchain(Some("PIP_CACHE_DIR"), ".cache/pip", &[]),
    toolchain(Some("GOCACHE"), ".cache/go-build", &[]),
    toolchain(Some("GOMODCACHE"), "go/pkg", &[]),
    toolchain(None, ".yarn/berry/cache", &[]),
    toolchain(None, ".local/share/pnpm/store", &[]),
    toolchain(None, ".bun/install/cache", &[]),
    toolchain(None, ".gradle/caches", &[]),
    toolchain(None, ".gradle/daemon", &[]),
    toolchain(None, ".gradle/native", &[]),
    toolchain(None, ".m2/repository", &[]),
    toolchain(None, ".nuget/packages", &[]),
    toolchain(None, ".ccache", &[]),
    toolchain(None, "Library/Caches", &[]),
];

/// The directories that are written, and what in them is not. Links are followed; what is not there is left out.
pub(super) fn writable(around: &Around<'_>, more: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut writable = vec![around.directory.to_owned()];
    writable.extend(TEMPORARY.iter().map(PathBuf::from));
    writable.extend(around.env.get("TMPDIR").map(PathBuf::from));
    writable.extend(more.iter().cloned());
    let mut kept: Vec<PathBuf> = more
        .iter()
        .map(PathBuf::as_path)
        .chain([around.directory])
        .flat_map(|place| KEPT.iter().map(|name| place.join(name)))
        .collect();
    if let Some(repository) = repository(around.directory) {
        kept.extend(of_repository(&repository));
        writable.push(repository);
    }
    let own = around.directory.join(".git");
    if own.is_dir() {
        kept.extend(modules(&own.join("modules"), 3));
    } else {
        // A file of this name says where the repository is, and so what git runs.
        kept.push(own);
    }
    // The one directory that any tool may take for granted, and makes when it is not there.
    if let Some(caches) = around.home.map(|home| home.join(".cache"))
        && !caches.exists()
    {
        let _ = wisp_host::files::private_dir(&caches);
    }
    for toolchain in TOOLCHAINS {
        let named = toolchain.variable.and_then(|variable| around.env.get(variable));
        let below = || around.home.map(|home| home.join(toolchain.directory));
        if let Some(place) = named.map(PathBuf::from).or_else(below) {
            kept.extend(toolchain.kept.iter().map(|name| place.join(name)));
            writable.push(place);
        }
    }
    (there(&writable), placed(&kept))
}

/// What git runs, or reads settings from that make it run something.
fn of_repository(repository: &Path) -> [PathBuf; 4] {
    ["hooks", "config", "config.worktree", "commondir"].map(|name| repository.join(name))
}

/// The same of the repositories of submodules, which git enters by itself.
fn modules(directory: &Path, levels: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let below = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    let kept = below.flat_map(|path| {
        if path.join("HEAD").is_file() {
            let mut kept = of_repository(&path).to_vec();
            if levels > 0 {
                kept.extend(modules(&path.join("modules"), levels - 1));
            }
            kept
        } else if levels > 0 {
            modules(&path, levels - 1)
        } else {
            Vec::new()
        }
    });
    kept.collect()
}

/// The places with the links on the way to them followed. Those where nothing is yet stay among them.
fn placed(paths: &[PathBuf]) -> Vec<PathBuf> {
    let real = |path: &PathBuf| {
        let above = path
            .ancestors()
            .find_map(|above| Some((above, above.canonicalize().ok()?)))?;
        let below = path.strip_prefix(above.0).ok()?;
        Some(if below.as_os_str().is_empty() {
            above.1
        } else {
            above.1.join(below)
        })
    };
    let mut paths: Vec<PathBuf> = paths.iter().filter_map(real).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The repository's own directory when it lies elsewhere than in the conversation's: above it, or, for a worktree, where
/// its `.git` says.
fn repository(directory: &Path) -> Option<PathBuf> {
    let dot = directory
        .ancestors()
        .map(|above| above.join(".git"))
        .find(|dot| dot.exists())?;
    if dot.is_dir() {
        return (dot.parent() != Some(directory)).then_some(dot);
    }
    let text = std::fs::read_to_string(&dot).ok()?;
    let named = text.lines().next()?.strip_prefix("gitdir:")?.trim();
    let own = dot.parent()?.join(named);
    let common = std::fs::read_to_string(own.join("commondir")).ok();
    let common = common.map_or_else(|| own.clone(), |common| own.join(common.trim()));
    // Only what is a repository: the file is the project's, and may name anything.
    (common.join("HEAD").is_file() && common.join("objects").is_dir()).then_some(common)
}

fn there(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    paths.sort();
    paths.dedup();
    paths
}
