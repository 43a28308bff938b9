//! The sandbox through the real binary, which is its helper: what commands can do under each profile, whatever their
//! lines say, and that nothing of them is left.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests start programs, lay out files, and fail"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use wisp_exec::{CommandSpec, Ending, EnvChange, Limits, Outcome};
use wisp_guard::Profile;
use wisp_host::Env;
use wisp_tests::{binary, case};
use wisp_tools::{Confining, Network, SandboxOptions, confine};

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
        self.confining_by(&binary("wisp"), settings, change)
    }

    fn confining_by(
        &self,
        helper: &Path,
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
        Confining::new(options, Some(helper.to_owned()), env, self.at("home/.wisp"))
    }

    fn run(&self, confining: &Confining, profile: Profile, line: &str) -> Outcome {
        let mut spec = CommandSpec::shell(line);
        let work = self.at("work");
        let start = confining.start(confine::Wanted {
            profile,
            directory: &work,
            runs_in: &work,
            network: false,
        });
        spec.sandbox = start.sandbox;
        spec.env = start.env;
        // The commands inherit from this test; what wisp would have is given on top.
        let port = self.tcp.local_addr().unwrap().port().to_string();
        let home = self.at("home");
        // Toolchains that are installed below the real home.
        for (name, dir) in [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")] {
            if let Some(real) = std::env::var_os("HOME")
                && std::env::var_os(name).is_none()
            {
                spec.env
                    .push(EnvChange::Set(name.into(), Path::new(&real).join(dir).into()));
            }
        }
        // Which repository the person's shell stands in is not about this one.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG_GLOBAL", "GIT_AUTHOR_NAME"] {
            spec.env.push(EnvChange::Unset(name.into()));
        }
        spec.env.push(EnvChange::Set("HOME".into(), home.into()));
        spec.env.push(EnvChange::Set("LISTENS".into(), port.into()));
        spec.dir = Some(self.at("work"));
        spec.timeout = Some(Duration::from_mins(2));
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
        prints("sort a.txt | wc -l; id -u >/dev/null && echo ok"),
        "2\nok\n"
    );
}

/// Whether a command is still there, by a word of its arguments that only it has.
fn runs(word: &str) -> bool {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()))
}

fn until(what: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(20) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn nothing_outlives_a_call_whatever_session_and_environment_it_has() {
    let place = Place::new();
    let confining = place.confining(&[]);
    for profile in [Profile::Read, Profile::Write] {
        let outcome = place.run(&confining, profile, "env -i setsid -f sleep 40011.5; echo done");
        assert_eq!(printed(&outcome), "done\n");
        assert!(!runs("40011.5"), "{:?}", outcome.left_behind);
        let names: Vec<&str> = outcome
            .left_behind
            .iter()
            .map(|left| left.name.as_str())
            .collect();
        assert_eq!(names, ["sleep"]);
        assert!(outcome.left_behind.iter().all(|left| left.ended));
    }
}

#[test]
fn nothing_outlives_wisp_that_is_killed() {
    let line = "env -i setsid -f sleep 40012.5; sleep 40013.5";
    let server = wisp_tests::runs(line);
    let wisp = wisp_tests::Wisp::with(&server);
    let mut command = wisp.command(&["--yes", "go"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(until(|| runs("40012.5") && runs("40013.5")), "the command began");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        until(|| !runs("40012.5") && !runs("40013.5")),
        "it is gone with wisp"
    );
}

#[test]
fn what_grows_without_end_ends_with_a_line_that_says_so() {
    let place = Place::new();
    let confining = place.confining_with(&[], |options| {
        options.limits = Limits {
            memory: 64 << 20,
            file: 1 << 20,
            processes: 40,
        };
    });
    let ends = |line: &str| {
        let outcome = place.run(&confining, Profile::Write, line);
        (
            outcome.ending,
            format!("{} {}", outcome.out_of_memory, printed(&outcome)),
        )
    };
    let (ending, text) = ends("while :; do sleep 100 & done");
    let too_many = ending == Ending::TooManyProcesses { most: 40 };
    assert!(too_many || text.contains("fork"), "{ending:?} {text}");
    for line in [
        "x=$(tr '\\0' y < /dev/zero); echo ${#x}",
        "x=$(yes); echo ${#x}",
        "tail /dev/zero",
    ] {
        let (ending, text) = ends(line);
        assert!(
            !ending.is_success() && text.starts_with("true"),
            "{line}: {ending:?} {text}"
        );
    }
    let (ending, _) = ends("exec dd if=/dev/zero of=big bs=64k count=100");
    assert_eq!(
        ending,
        Ending::Signalled {
            number: 25,
            name: Some("SIGXFSZ")
        }
    );
    assert_eq!(fs::metadata(place.at("work/big")).unwrap().len(), 1 << 20);
}

#[test]
fn a_safe_line_that_the_sandbox_stops_is_told_as_that_and_its_secret_is_not_sent() {
    let server = wisp_tests::runs("f=$(printf '.%s' env); cat \"$f\"");
    let wisp = wisp_tests::Wisp::with(&server);
    fs::write(wisp.work().join(".env"), SECRET).unwrap();
    let ran = wisp.run(&["go"], "");
    let told = wisp_tests::tool_message(&server);
    assert!(!told.contains(SECRET), "{told} {}", ran.err);
    if !told.contains("not approved") {
        assert!(
            told.contains(".env: Permission denied") && told.contains("wisp's sandbox"),
            "{told}"
        );
    }
}

#[test]
fn two_commands_at_once_have_nothing_in_common() {
    let place = Place::new();
    let confining = place.confining(&[]);
    let line = "echo x > \"$TMPDIR/mine\"; sleep 0.3; ls \"$TMPDIR\"";
    let run = || printed(&place.run(&confining, Profile::Read, line));
    let (one, two) = std::thread::scope(|scope| {
        let (one, two) = (scope.spawn(run), scope.spawn(run));
        (one.join().unwrap(), two.join().unwrap())
    });
    assert_eq!((one.as_str(), two.as_str()), ("mine\n", "mine\n"));
}

#[test]
fn a_home_of_wisps_inside_the_working_directory_is_not_seen() {
    let place = Place::new();
    fs::create_dir_all(place.at("work/.wisp")).unwrap();
    fs::write(place.at("work/.wisp/config.json"), SECRET).unwrap();
    let options = SandboxOptions {
        on: true,
        network: Network::Ask,
        writable: Vec::new(),
        pass: Vec::new(),
        limits: Limits::default(),
    };
    let env: Env = [("HOME".to_owned(), place.at("home").display().to_string())]
        .into_iter()
        .collect();
    let confining = Confining::new(options, Some(binary("wisp")), env, place.at("work/.wisp"));
    for profile in [Profile::Read, Profile::Write] {
        let text = printed(&place.run(&confining, profile, "cat .wisp/config.json; grep -r CANARY .wisp"));
        assert!(
            !text.contains(&format!("{SECRET}\n")) && !text.contains(":CANARY"),
            "{text}"
        );
        place.run(
            &confining,
            profile,
            "echo x > .wisp/config.json; rm -rf .wisp; mv .wisp y",
        );
        assert_eq!(
            fs::read_to_string(place.at("work/.wisp/config.json")).unwrap(),
            SECRET
        );
    }
}

/// A repository in the working directory, with what runs later in it.
fn repository(place: &Place) {
    for dir in ["work/.git/hooks", "work/.git/info", "work/.vscode", "work/src"] {
        fs::create_dir_all(place.at(dir)).unwrap();
    }
    let made = place.run(
        &place.confining_with(&[], |options| options.on = false),
        Profile::Write,
        "git init -q . 2>&1",
    );
    assert!(made.ending.is_success(), "{}", printed(&made));
    fs::write(place.at("work/.envrc"), "").unwrap();
    fs::write(place.at("work/.vscode/tasks.json"), "{}").unwrap();
}

#[test]
fn what_was_allowed_writes_in_its_directory_and_nowhere_else() {
    let place = Place::new();
    repository(&place);
    fs::create_dir_all(place.at("home/other")).unwrap();
    let confining = place.confining(&[]);
    // The tests' own homes lie in the temporary directory, which is written: only what is named stays as it is.
    for line in [
        "echo x > .git/hooks/pre-commit",
        "echo x >> .git/config",
        "git config core.pager x",
        "rm -rf .git/hooks",
        "mv .git elsewhere",
        "mv .git/hooks elsewhere",
        "ln -sf /bin/sh .git/hooks/pre-commit",
        "echo x > .envrc",
        "rm .envrc",
        "mv x .envrc",
        "echo x > .vscode/tasks.json",
        "cd src && echo x > ../.git/hooks/pre-commit",
        "echo x > \"$PWD/.git/hooks/pre-commit\"",
        "echo x > /proc/self/cwd/.git/hooks/pre-commit",
        "chmod 777 .git/hooks",
        "echo x > /etc/wisp-test",
        "echo x > /root/wisp-test",
        "touch /usr/bin/wisp-test",
        "mkdir /wisp-test",
        "cat ~/.wisp/config.json",
        "echo x > ~/.wisp/config.json",
        "mount -o remount,rw .git/hooks",
        "umount .git/hooks",
        "unshare -rm true",
        "nsenter -t $PPID -m true",
        "kill -9 $PPID",
        "bash -c 'echo > /dev/tcp/127.0.0.1/'$LISTENS",
    ] {
        let outcome = place.run(&confining, Profile::Write, line);
        let text = printed(&outcome);
        assert!(
            !outcome.ending.is_success() && !text.contains(SECRET),
            "{line}: {text}"
        );
        assert!(!place.heard(), "{line}");
    }
    for line in [
        "echo x > made && mkdir -p a/b && mv made a/b/ && rm -r a",
        "echo y > src/main && chmod 755 src/main && ./bin/ls made && rm made",
        "echo y > \"${TMPDIR:-/tmp}/wisp-test-$$\" && rm \"${TMPDIR:-/tmp}/wisp-test-$$\"",
        "git add a.txt && git -c user.name=a -c user.email=a@b commit -qm x && git log --oneline | grep -q x",
        "git checkout -q -b other && git tag v1 && git branch -D other 2>/dev/null; git tag -d v1 >/dev/null",
        "python3 -c 'import socket; s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen(); socket.create_connection(s.getsockname())'",
        "python3 -c 'import multiprocessing as m; assert m.Pool(2).map(abs,[-1,-2])==[1,2]'",
        "sleep 10 & kill $!",
    ] {
        let outcome = place.run(&confining, Profile::Write, line);
        assert!(outcome.ending.is_success(), "{line}: {}", printed(&outcome));
    }
    assert!(
        fs::read_dir(place.at("work/.git/hooks"))
            .unwrap()
            .all(|f| f.unwrap().path().extension().is_some())
    );
}

/// A helper that runs as another user, and the place made theirs; none when this is not root.
fn as_nobody(place: &Place) -> Option<PathBuf> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("SKIPPED: only root can be another user");
        return None;
    }
    let script = place.root.path().join("helper");
    let wisp = place.root.path().join("wisp");
    fs::copy(binary("wisp"), &wisp).unwrap();
    let text = format!(
        "#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups '{}' \"$@\"\n",
        wisp.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let owned = std::process::Command::new("chown")
        .arg("-R")
        .arg("65534:65534")
        .arg(place.root.path())
        .status();
    assert!(owned.unwrap().success());
    Some(script)
}

#[test]
fn another_user_than_root_is_confined_alike() {
    let place = Place::new();
    let Some(helper) = as_nobody(&place) else { return };
    for settings in [&[][..], &[("WISP_SANDBOX_NAMESPACES", "off")]] {
        let confining = place.confining_by(&helper, settings, |_| ());
        let before = place.snapshot();
        for line in lines().iter().step_by(4) {
            let text = printed(&place.run(&confining, Profile::Read, line));
            assert!(
                !text.contains(SECRET) && place.snapshot() == before && !place.heard(),
                "{line}: {text}"
            );
        }
        let ends = |line: &str| place.run(&confining, Profile::Write, line);
        let made = ends("id -u; echo x > made && cat made && rm made");
        assert_eq!(printed(&made), "65534\nx\n");
        let refused = ends("echo x > /var/mail/wisp-test; bash -c 'echo > /dev/tcp/127.0.0.1/'$LISTENS");
        assert!(
            !refused.ending.is_success() && !place.heard(),
            "{}",
            printed(&refused)
        );
    }
}

/// A toolchain's program, the files of a small project, and the line that builds and tests it.
type Project = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

/// A toolchain: its program, the files of a project, and a line that builds and tests it without a network.
const TOOLCHAINS: &[Project] = &[
    (
        "cargo",
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            ("src/lib.rs", "#[test]\nfn t() { assert_eq!(1 + 1, 2); }\n"),
        ],
        "cargo test --offline -q",
    ),
    (
        "npm",
        &[
            (
                "package.json",
                "{\"name\":\"p\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node -e 'require(\\\"d\\\")'\"}}",
            ),
            ("dep/package.json", "{\"name\":\"d\",\"version\":\"1.0.0\"}"),
            ("dep/index.js", ""),
        ],
        "npm install --offline --no-audit --no-fund ./dep && npm test",
    ),
    (
        "pip",
        &[(
            "wheel.py",
            "import zipfile\nw = zipfile.ZipFile('p-1.0-py3-none-any.whl', 'w')\nw.writestr('p.py', 'x = 1')\nd = 'p-1.0.dist-info/'\nw.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: p\\nVersion: 1.0\\n')\nw.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\nw.writestr(d + 'RECORD', '')\nw.close()\n",
        )],
        "python3 wheel.py && python3 -m venv v && v/bin/pip install -q --no-index ./p-1.0-py3-none-any.whl && v/bin/python -c 'import p'",
    ),
    (
        "go",
        &[
            ("go.mod", "module p\n\ngo 1.18\n"),
            (
                "p_test.go",
                "package p\n\nimport \"testing\"\n\nfunc TestP(t *testing.T) {}\n",
            ),
        ],
        "go vet ./... && go test ./...",
    ),
    (
        "make",
        &[
            ("Makefile", "test: p\n\t./p\np: p.c\n\t$(CC) -o $@ $<\n"),
            ("p.c", "int main(void) { return 0; }\n"),
        ],
        "make test",
    ),
    (
        "git",
        &[("a", "1\n")],
        "git init -q . && git config --get user.name; git add . && git -c user.name=a -c user.email=a@b commit -qm one && git clone -q . ../copy && git worktree add -q ../tree && git gc -q && git stash list && git fsck",
    ),
    (
        "python3",
        &[(
            "test_p.py",
            "import unittest, tempfile, subprocess\n\nclass T(unittest.TestCase):\n    def test(self):\n        with tempfile.NamedTemporaryFile() as f:\n            subprocess.check_call(['true'])\n",
        )],
        "python3 -m unittest -q",
    ),
];

#[test]
fn toolchains_build_and_test_what_is_in_the_directory() {
    let mut tried = 0;
    for (program, files, line) in TOOLCHAINS {
        let path = std::env::var("PATH").unwrap();
        if !path.split(':').any(|dir| Path::new(dir).join(program).is_file()) {
            eprintln!("SKIPPED: {program} is not installed");
            continue;
        }
        tried += 1;
        let place = Place::new();
        for (file, text) in *files {
            let file = place.at("work/p").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let confining = place.confining(&[]);
        let outcome = place.run(&confining, Profile::Write, &format!("cd p && {line}"));
        assert!(
            outcome.ending.is_success(),
            "{program}: {:?} {}",
            outcome.ending,
            printed(&outcome)
        );
    }
    assert!(tried > 0, "no toolchain is installed");
}

/// Lines that make files which other programs run by themselves, and where these would be.
const MAKES: &[(&str, &str)] = &[
    ("echo x > .envrc", ".envrc"),
    ("echo x > y && mv y .envrc", ".envrc"),
    ("ln -s a.txt .envrc", ".envrc"),
    ("python3 -c 'open(\".env\" + \"rc\", \"w\")'", ".envrc"),
    (
        "mkdir .vscode && echo x > .vscode/tasks.json",
        ".vscode/tasks.json",
    ),
    (
        "mkdir -p .git/hooks && echo x > .git/hooks/post-checkout",
        ".git/hooks/post-checkout",
    ),
    (
        "mkdir -p .git && printf '[core]\\n\\tfsmonitor = x\\n' > .git/config",
        ".git/config",
    ),
    (
        "mkdir -p e/hooks && echo x > e/hooks/pre-push && ln -s e .git",
        ".git/hooks/pre-push",
    ),
    ("echo 'gitdir: e' > .git", ".git"),
    ("mkdir .wisp && echo x > .wisp/config.json", ".wisp/config.json"),
    (
        "mkdir ~/.cargo 2>/dev/null; echo x > ~/.cargo/config.toml",
        "../home/.cargo/config.toml",
    ),
];

#[test]
fn what_a_command_makes_that_runs_later_does_not_keep_its_name() {
    for settings in [&[][..], &[("WISP_SANDBOX_NAMESPACES", "off")]] {
        for (line, made) in MAKES {
            let place = Place::new();
            fs::create_dir_all(place.at("home/.cargo")).unwrap();
            let outcome = place.run(&place.confining(settings), Profile::Write, line);
            assert!(
                place.at("work").join(made).symlink_metadata().is_err(),
                "{line}: {}",
                printed(&outcome)
            );
            assert_eq!(outcome.disabled.len(), 1, "{line}: {outcome:?}");
            assert!(
                Path::new(&outcome.disabled[0].now).symlink_metadata().is_ok(),
                "nothing is lost: {line}"
            );
        }
    }
}

#[test]
fn a_new_repository_is_made_and_used() {
    let place = Place::new();
    let confining = place.confining(&[]);
    let line = "git init -q . && git config user.name a && git config user.email a@b && git add a.txt && git commit -qm x";
    let outcome = place.run(&confining, Profile::Write, line);
    assert!(
        outcome.ending.is_success() && outcome.disabled.is_empty(),
        "{} {outcome:?}",
        printed(&outcome)
    );
    let outcome = place.run(
        &confining,
        Profile::Write,
        "git log --oneline | grep -q x; echo $?; echo > .git/hooks/pre-push",
    );
    assert!(printed(&outcome).starts_with("0\n"), "{}", printed(&outcome));
    assert!(
        !place.at("work/.git/hooks/pre-push").exists(),
        "the hooks are there by now, and are kept"
    );
}

#[test]
fn the_repository_of_a_submodule_and_a_file_that_names_one_stay_as_they_are() {
    let place = Place::new();
    fs::create_dir_all(place.at("work/.git/modules/a/hooks")).unwrap();
    fs::write(place.at("work/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(place.at("work/.git/modules/a/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(place.at("work/.git/modules/a/config"), "").unwrap();
    let confining = place.confining(&[]);
    for line in [
        "echo x > .git/modules/a/config",
        "echo x > .git/modules/a/hooks/post-checkout",
        "mv .git/modules/a .git/modules/b",
    ] {
        let outcome = place.run(&confining, Profile::Write, line);
        assert!(!outcome.ending.is_success(), "{line}");
    }
    let outcome = place.run(&confining, Profile::Write, "echo /tmp > .git/commondir");
    assert_eq!(outcome.disabled.len(), 1, "{outcome:?}");
    let place = Place::new();
    fs::write(place.at("work/.git"), "gitdir: /nowhere\n").unwrap();
    for line in ["echo x > .git", "rm .git", "mv a.txt .git"] {
        let outcome = place.run(&place.confining(&[]), Profile::Write, line);
        assert!(!outcome.ending.is_success(), "{line}");
    }
}

/// The process of which a word of its arguments is this, and those above it, nearest first.
fn lineage(word: &str) -> Option<Vec<i32>> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
    };
    let mut above = vec![pids.into_iter().find(has)?];
    while let Some(parent) = parent(*above.last()?) {
        above.push(parent);
    }
    Some(above)
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(") ")?;
    after.split(' ').nth(1)?.parse().ok().filter(|parent| *parent > 1)
}

fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn nothing_outlives_any_process_of_the_sandbox_that_is_killed() {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    // The words are of this test alone, and the processes above the command: its shell, the supervisor, the launcher.
    for (at, name, word) in [
        (1, "the shell", "40021.5"),
        (2, "the supervisor", "40022.5"),
        (3, "the launcher", "40023.5"),
    ] {
        for profile in [Profile::Read, Profile::Write] {
            let place = Place::new();
            let helper = place.at("wisp");
            // A launcher of its own, so that no other test's is killed.
            symlink(binary("wisp"), &helper).unwrap();
            let confining = place.confining_by(&helper, &[], |_| ());
            let left = format!("{word}1");
            let line = format!("env -i setsid -f sleep {left}; sleep {word}; :");
            let outcome = std::thread::scope(|scope| {
                let running = scope.spawn(|| place.run(&confining, profile, &line));
                assert!(until(|| runs(&left) && runs(word)), "the command began");
                kill(lineage(word).unwrap()[at]);
                if at == 3 {
                    assert!(runs(word), "what runs is looked after by its supervisor");
                    kill(lineage(word).unwrap()[0]);
                }
                running.join().unwrap()
            });
            assert!(
                until(|| !runs(&left) && !runs(word)),
                "{name}: {profile:?} {outcome:?}"
            );
            let next = place.run(&confining, profile, "echo next");
            assert_eq!(printed(&next), "next\n", "{name}");
        }
    }
    assert_eq!(mounts(), before);
}

#[test]
fn the_supervisor_gets_no_signal_where_landlock_does_not_hold_them_back() {
    let place = Place::new();
    let confining = place.confining(&[("WISP_SANDBOX_LANDLOCK", "5")]);
    for line in [
        "kill -9 $PPID",
        "kill -9 -- -$PPID",
        "kill -9 -1",
        "python3 -c 'import os,signal; signal.pidfd_send_signal(os.open(\"/proc/%d\" % os.getppid(), 0), 9)'",
    ] {
        let outcome = place.run(&confining, Profile::Write, line);
        assert!(
            matches!(outcome.ending, Ending::Exited { code: 1.. }),
            "{line}: {outcome:?}"
        );
    }
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
