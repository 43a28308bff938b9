//! What this system has to confine commands with, and what it has not, in words.

use std::path::Path;

/// The version of Landlock that stands for none.
pub const NO_LANDLOCK: u8 = 0;

/// What the system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The kernel's version of Landlock; [`NO_LANDLOCK`] for none.
    pub landlock: u8,
    /// Whether mounts and networks of its own can be made for a command.
    pub namespaces: bool,
    /// Whether the system's own program confines: `sandbox-exec` of macOS.
    pub sandbox_exec: bool,
}

/// From which version of Landlock something is confined, and what is not below it.
const SINCE: &[(u8, &str)] = &[
    (2, "files cannot be moved between directories"),
    (6, "what you allow can signal your other processes"),
];

/// What is said where nothing is confined.
const NOTHING_CONFINES: &str = "the kernel has no Landlock: commands are not confined, and awk, what reads whole \
                                directories, and what writes are asked about";

impl Reached {
    /// Nothing at all.
    pub const NOTHING: Self = Self {
        landlock: NO_LANDLOCK,
        namespaces: false,
        sandbox_exec: false,
    };

    /// What this system has. Namespaces are tried by the helper, which takes a few milliseconds.
    pub fn look(helper: &Path) -> Self {
        #[cfg(target_os = "linux")]
        return Self {
            landlock: super::linux::landlock_version(),
            namespaces: namespaces_work(helper),
            sandbox_exec: false,
        };
        #[cfg(not(target_os = "linux"))]
        Self {
            landlock: NO_LANDLOCK,
            namespaces: false,
            sandbox_exec: Path::new("/usr/bin/sandbox-exec").exists() && helper.exists(),
        }
    }

    /// What this system can be taken to have, without starting anything: for the beginning of a conversation, which
    /// waits for nothing.
    pub fn assumed() -> Self {
        #[cfg(target_os = "linux")]
        return Self {
            landlock: super::linux::landlock_version(),
            namespaces: namespaces_allowed(),
            sandbox_exec: false,
        };
        #[cfg(not(target_os = "linux"))]
        Self {
            landlock: NO_LANDLOCK,
            namespaces: false,
            sandbox_exec: Path::new("/usr/bin/sandbox-exec").exists(),
        }
    }

    /// Whether commands can be kept from writing and reading.
    pub fn confines(self) -> bool {
        self.landlock > NO_LANDLOCK || self.sandbox_exec
    }

    /// What confines, in words: `Landlock 6, seccomp, namespaces`.
    pub fn words(self) -> String {
        if self.sandbox_exec {
            return "sandbox-exec".to_owned();
        }
        if self.landlock == NO_LANDLOCK {
            return "none".to_owned();
        }
        let namespaces = if self.namespaces { ", namespaces" } else { "" };
        format!("Landlock {}, seccomp{namespaces}", self.landlock)
    }

    /// What is missing, in words; empty when nothing is.
    pub fn missing(self) -> Vec<String> {
        if self.sandbox_exec {
            return Vec::new();
        }
        if self.landlock == NO_LANDLOCK {
            return vec![NOTHING_CONFINES.to_owned()];
        }
        let older = SINCE.iter().filter(|(since, _)| self.landlock < *since);
        let mut missing: Vec<String> = older
            .map(|(since, what)| format!("without Landlock {since}, {what}"))
            .collect();
        if !self.namespaces {
            missing.push(
                "without namespaces, what you allow can write git hooks and files that editors run"
                    .to_owned(),
            );
        }
        missing
    }
}

/// Whether the system's settings let this user make namespaces. Root may where nothing else forbids it.
#[cfg(target_os = "linux")]
fn namespaces_allowed() -> bool {
    let set = |name: &str, to: &str| {
        let text = std::fs::read_to_string(Path::new("/proc/sys").join(name));
        text.is_ok_and(|text| text.trim() == to)
    };
    rustix::process::geteuid().is_root()
        || !(set("user/max_user_namespaces", "0")
            || set("kernel/unprivileged_userns_clone", "0")
            || set("kernel/apparmor_restrict_unprivileged_userns", "1"))
}

/// Whether this user can make namespaces here.
#[cfg(target_os = "linux")]
fn namespaces_work(helper: &Path) -> bool {
    use std::process::Stdio;
    #[expect(clippy::disallowed_methods, reason = "this is where processes start")]
    let mut command = std::process::Command::new(helper);
    command.args([super::HELPER, super::TRY]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(landlock: u8, namespaces: bool) -> Reached {
        Reached {
            landlock,
            namespaces,
            sandbox_exec: false,
        }
    }

    #[test]
    fn what_is_reached_and_what_is_missing_is_named() {
        assert_eq!(reached(7, true).words(), "Landlock 7, seccomp, namespaces");
        assert_eq!(reached(7, true).missing(), Vec::<String>::new());
        assert_eq!(reached(1, false).words(), "Landlock 1, seccomp");
        assert_eq!(
            reached(1, false).missing(),
            [
                "without Landlock 2, files cannot be moved between directories",
                "without Landlock 6, what you allow can signal your other processes",
                "without namespaces, what you allow can write git hooks and files that editors run",
            ]
        );
        assert_eq!(reached(0, true).words(), "none");
        assert!(!reached(0, true).confines());
        assert_eq!(
            reached(0, true).missing(),
            [
                "the kernel has no Landlock: commands are not confined, and awk, what reads whole directories, and what \
                 writes are asked about"
            ]
        );
    }
}
