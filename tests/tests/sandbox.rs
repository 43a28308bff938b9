//! The sandbox through the real binary, which is its helper: what commands can do under each profile, whatever their
//! lines say, and that nothing of them is left.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start programs, lay out files, and fail"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use wisp_exec::{CommandSpec, EnvChange, Limits, Outcome};
use wisp_guard::Profile;
use wisp_host::Env;
use wisp_tests::{binary, case};
use wisp_tools::{Confining, Network, SandboxOptions};

/// What must not be printed.
const SECRET: &str = "CANARY";

/// A home and a project with something to harm and something to find.
struct Place {
    root: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for dir in [
            "home/.ssh",
            "home/.aws",
            "home/.wisp/audit",
            "home/.config/gh",
            "work/bin",
            "work/sub",
        ] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        let secrets = [
            "home/.ssh/id_ed25519",
            "home/.aws/credentials",
            "home/.wisp/config.json",
            "home/.config/gh/hosts.yml",
            "home/.bash_history",
            "work/.env",
            "work/.env.bak",
            "work/sub/.env.local",
            "work/terraform.tfstate",
            "work/secrets.yml.enc",
        ];
        for file in secrets {
            fs::write(at(file), format!("{SECRET}\n")).unwrap();
        }
        let scripts = [
            ("work/a.txt", "one\ntwo\n"),
            ("work/script.sh", "touch \"$1\"\n"),
            ("work/evil.awk", "BEGIN { system(\"touch PWN_awk\") }\n"),
            ("work/path.txt", "bin\n"),
            ("work/bin/ls", "#!/bin/sh\nfor f; do : > \"$f\"; done\n"),
        ];
        for (file, text) in scripts {
            fs::write(at(file), text).unwrap();
        }
        fs::set_permissions(at("work/bin/ls"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink(".env", at("work/link")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
        udp.set_nonblocking(true).unwrap();
        Self { root, tcp, udp }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn confining(&self, settings: &[(&str, &str)]) -> Confining {
        self.confining_with(settings, |_| ())
    }

    fn confining_with(
        &self,
        settings: &[(&str, &str)],
        change: impl FnOnce(&mut SandboxOptions),
    ) -> Confining {
        let mut options = SandboxOptions {
            on: true,
            network: Network::Ask,
            writable: Vec::new(),
            pass: Vec::new(),
            limits: Limits::default(),
        };
        change(&mut options);
        let home = self.at("home").display().to_string();
        let env = [("HOME", home.as_str()), ("OPENAI_API_KEY", SECRET)];
        let env: Env = env
            .iter()
            .chain(settings)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Confining::new(options, Some(binary("wisp")), env, self.at("home/.wisp"))
    }

    fn run(&self, confining: &Confining, profile: Profile, line: &str) -> Outcome {
        let mut spec = CommandSpec::shell(line);
        let start = confining.start(profile, &self.at("work"));
        spec.sandbox = start.sandbox;
        spec.env = start.env;
        // The commands inherit from this test; what wisp would have is given on top.
        let port = self.tcp.local_addr().unwrap().port().to_string();
        let home = self.at("home");
        spec.env.push(EnvChange::Set("HOME".into(), home.into()));
        spec.env.push(EnvChange::Set("LISTENS".into(), port.into()));
        spec.dir = Some(self.at("work"));
        spec.timeout = Some(Duration::from_secs(20));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(wisp_exec::run(spec)).unwrap()
    }

    /// Every file with what it is: its mode, its time, its content.
    fn snapshot(&self) -> BTreeMap<PathBuf, String> {
        let (mut found, mut dirs) = (BTreeMap::new(), vec![self.root.path().to_owned()]);
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                let content = if meta.is_file() {
                    fs::read(&path).unwrap()
                } else {
                    Vec::new()
                };
                let time = (meta.mtime(), meta.mtime_nsec());
                let content = String::from_utf8_lossy(&content).into_owned();
                found.insert(path.clone(), format!("{:o} {time:?} {content}", meta.mode()));
                if meta.is_dir() {
                    dirs.push(path);
                }
            }
        }
        found
    }

    fn heard(&self) -> bool {
        let refused = |kind: ErrorKind| kind == ErrorKind::WouldBlock;
        !self.tcp.accept().is_err_and(|e| refused(e.kind()))
            || !self.udp.recv(&mut [0; 9]).is_err_and(|e| refused(e.kind()))
    }
}

fn printed(outcome: &Outcome) -> String {
    let whole = |stream: &wisp_exec::StreamOutput| stream.whole().unwrap_or_else(|| stream.head().to_vec());
    let bytes = [whole(&outcome.stdout), whole(&outcome.stderr)].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn lines() -> Vec<String> {
    let text = fs::read_to_string(case("sandbox").join("harmless.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.replace("\\n", "\n").replace("\\t", "\t"))
        .collect()
}

/// Runs every line that tries to do harm, and names those that did.
fn harmful(place: &Place, confining: &Confining) -> Vec<String> {
    let before = place.snapshot();
    let mut harmful = Vec::new();
    for line in lines() {
        let outcome = place.run(confining, Profile::Read, &line);
        let text = printed(&outcome);
        let mut why = Vec::new();
        if text.contains(SECRET) {
            why.push("it printed the secret");
        }
        if place.snapshot() != before {
            why.push("a file changed");
        }
        if place.heard() {
            why.push("it connected");
        }
        if !why.is_empty() {
            harmful.push(format!("{line}: {} {text}", why.join(", ")));
            break;
        }
    }
    harmful
}

#[test]
fn no_line_does_harm_under_the_profile_that_reads() {
    let place = Place::new();
    let harmful = harmful(&place, &place.confining(&[]));
    assert!(harmful.is_empty(), "{harmful:#?}");
}

#[test]
fn no_line_does_harm_with_the_oldest_landlock_and_without_namespaces() {
    let place = Place::new();
    let older = [("WISP_SANDBOX_LANDLOCK", "1"), ("WISP_SANDBOX_NAMESPACES", "off")];
    let harmful = harmful(&place, &place.confining(&older));
    assert!(harmful.is_empty(), "{harmful:#?}");
}

#[test]
fn what_reads_finds_everything_else_as_it_is() {
    let place = Place::new();
    let confining = place.confining(&[]);
    let prints = |line: &str| printed(&place.run(&confining, Profile::Read, line));
    assert_eq!(
        prints("cat a.txt; pwd"),
        format!("one\ntwo\n{}\n", place.at("work").display())
    );
    assert_eq!(
        prints("echo x > \"$TMPDIR/y\" && cat \"$TMPDIR/y\"; ls -A \"$TMPDIR\""),
        "x\ny\n"
    );
    assert_eq!(
        prints("ls -A \"$TMPDIR\"; echo > /dev/null; git --version | cut -c1-11"),
        "git version\n"
    );
    assert_eq!(
        prints("sort a.txt | wc -l; id -un >/dev/null && echo ok"),
        "2\nok\n"
    );
}

#[test]
fn the_temporary_directory_of_a_command_is_gone_with_it() {
    let place = Place::new();
    let outcome = place.run(
        &place.confining(&[]),
        Profile::Read,
        "mkdir -p \"$TMPDIR/a/b\"; echo x > \"$TMPDIR/a/b/c\"; echo \"$TMPDIR\"",
    );
    let temporary = printed(&outcome);
    let temporary = Path::new(temporary.trim());
    assert!(temporary.is_absolute() && !temporary.exists(), "{temporary:?}");
}

#[test]
fn the_same_lines_do_harm_where_nothing_confines() {
    let place = Place::new();
    let confining = place.confining_with(&[], |options| options.on = false);
    assert_eq!(
        harmful(&place, &confining).len(),
        1,
        "the first line that does harm ends the run"
    );
}
