//! The confinement as a profile for `sandbox-exec` of macOS: text, made by a pure function.
//!
//! Denied by default. Of rules that concern the same thing the last one counts, so what is hidden or kept comes after
//! what is allowed.

use std::path::Path;

use super::{Confinement, Profile};

/// What every program needs to run at all, and the devices without effect.
const ALWAYS: &str = "\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))
(allow file-read*)
(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))
(allow file-ioctl (literal \"/dev/null\"))
";

/// The profile's text.
pub fn profile(confinement: &Confinement) -> String {
    let mut text = ALWAYS.to_owned();
    let writes = confinement.profile == Profile::Write;
    if writes {
        for path in &confinement.writable {
            rule(&mut text, "allow file-write*", path);
        }
        if confinement.network {
            text.push_str("(allow network*)\n");
            text.push_str("(allow mach-lookup (global-name \"com.apple.SystemConfiguration.configd\"))\n");
        } else {
            text.push_str("(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))\n");
        }
        for path in &confinement.read_only {
            rule(&mut text, "deny file-write*", path);
        }
    }
    for path in &confinement.hidden {
        rule(&mut text, "deny file-read* file-write*", path);
    }
    text
}

/// A rule for a place and all below it.
fn rule(text: &mut String, what: &str, path: &Path) {
    for part in ["(", what, " (subpath ", &quoted(path), "))\n"] {
        text.push_str(part);
    }
}

/// A path as a string of the profile's language.
fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement(profile: Profile, network: bool) -> Confinement {
        Confinement {
            profile,
            landlock: 0,
            namespaces: false,
            network,
            hidden: vec!["/Users/a/.ssh".into(), "/Users/a/w/.env".into()],
            writable: vec!["/Users/a/w".into(), "/private/tmp".into()],
            read_only: vec!["/Users/a/w/.git/hooks".into(), "/Users/a/w/a \"b\"\\c".into()],
        }
    }

    #[test]
    fn a_command_that_reads_writes_nothing_and_sees_no_credential() {
        let expected = format!(
            "{ALWAYS}(deny file-read* file-write* (subpath \"/Users/a/.ssh\"))
(deny file-read* file-write* (subpath \"/Users/a/w/.env\"))
"
        );
        assert_eq!(profile(&confinement(Profile::Read, true)), expected);
        assert!(!expected.contains("network") && expected.starts_with("(version 1)\n(deny default)\n"));
    }

    #[test]
    fn a_command_that_writes_does_so_where_it_may_and_what_is_kept_comes_last() {
        let expected = format!(
            "{ALWAYS}(allow file-write* (subpath \"/Users/a/w\"))
(allow file-write* (subpath \"/private/tmp\"))
(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))
(deny file-write* (subpath \"/Users/a/w/.git/hooks\"))
(deny file-write* (subpath \"/Users/a/w/a \\\"b\\\"\\\\c\"))
(deny file-read* file-write* (subpath \"/Users/a/.ssh\"))
(deny file-read* file-write* (subpath \"/Users/a/w/.env\"))
"
        );
        assert_eq!(profile(&confinement(Profile::Write, false)), expected);
        let open = profile(&confinement(Profile::Write, true));
        assert!(open.contains("(allow network*)\n") && !open.contains("localhost"));
    }
}
