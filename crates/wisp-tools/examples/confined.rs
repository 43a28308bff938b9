//! What the sandbox costs a command: a line by `sh -c` alone, as wisp runs it without a sandbox, and under each profile.
//!
//! `cargo run --release -p wisp-tools --example confined -- HELPER [ROUNDS] [LINE]`; HELPER is a built `wisp`, or
//! this program itself. The ways
//! take turns, so that a machine whose speed drifts does not decide; of each the median is printed, and the median of
//! its differences to the way before it and of its ratios to `sh -c`, round by round.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it times a process of its own beside wisp's, and prints what it measured"
)]

use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tokio::runtime::Runtime;
use wisp_exec::{CommandSpec, EnvChange, Limits};
use wisp_guard::Profile;
use wisp_host::Env;
use wisp_tools::{Confining, Network, SandboxOptions, confine};

/// A way to run the line.
#[derive(Clone, Copy)]
enum Way {
    Plain,
    Unconfined,
    Under(Profile),
}

const WAYS: [(&str, Way); 4] = [
    ("sh -c", Way::Plain),
    ("without a sandbox", Way::Unconfined),
    ("read", Way::Under(Profile::Read)),
    ("write", Way::Under(Profile::Write)),
];

struct Bench {
    confining: Confining,
    runtime: Runtime,
    directory: PathBuf,
    line: String,
}

fn main() -> anyhow::Result<ExitCode> {
    if let Some(code) = wisp_exec::helper() {
        return Ok(code);
    }
    let mut args = std::env::args().skip(1);
    let helper = args.next().context("which program is the helper?")?;
    let rounds: usize = args.next().map_or(Ok(200), |rounds| rounds.parse())?;
    let options = SandboxOptions {
        on: true,
        network: Network::Ask,
        writable: Vec::new(),
        pass: Vec::new(),
        limits: Limits::default(),
    };
    let env = Env::of_process();
    let home = PathBuf::from(env.get("HOME").context("there is no HOME")?).join(".wisp");
    let bench = Bench {
        confining: Confining::new(options, Some(helper.into()), env, home),
        runtime: tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
        directory: std::env::current_dir()?,
        line: args.next().unwrap_or_else(|| ":".to_owned()),
    };
    println!("`{}` under {}", bench.line, bench.confining.described().0);
    let mut took: Vec<[Duration; 4]> = Vec::with_capacity(rounds);
    for round in 0..=rounds {
        let mut times = [Duration::ZERO; 4];
        for (time, (_, way)) in times.iter_mut().zip(WAYS) {
            *time = bench.once(way)?;
        }
        if round > 0 {
            took.push(times);
        }
    }
    print(&took);
    Ok(ExitCode::SUCCESS)
}

impl Bench {
    fn once(&self, way: Way) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let done = match way {
            Way::Plain => {
                let mut command = std::process::Command::new("/bin/sh");
                command.args(["-c", &self.line]).stdin(Stdio::null());
                command.output()?.status.success()
            }
            Way::Unconfined => self.run(None)?,
            Way::Under(profile) => self.run(Some(profile))?,
        };
        ensure!(done, "the line failed");
        Ok(began.elapsed())
    }

    fn run(&self, profile: Option<Profile>) -> anyhow::Result<bool> {
        let mut spec = CommandSpec::shell(&self.line);
        spec.dir = Some(self.directory.clone());
        if let Some(profile) = profile {
            let start = self.confining.start(confine::Wanted {
                profile,
                directory: &self.directory,
                runs_in: &self.directory,
                network: false,
            });
            spec.sandbox = start.sandbox;
            spec.env = start.env;
        } else {
            spec.env.push(EnvChange::Unset("WISP_HOME".into()));
        }
        Ok(self.runtime.block_on(wisp_exec::run(spec))?.ending.is_success())
    }
}

fn print(took: &[[Duration; 4]]) {
    println!("| way | median | more than the way before | times `sh -c` |");
    println!("| --- | ---: | ---: | ---: |");
    for (at, (name, _)) in WAYS.iter().enumerate() {
        let of = |figure: &dyn Fn(&[Duration; 4]) -> f64| {
            let mut all: Vec<f64> = took.iter().map(figure).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or_default()
        };
        let before = at.saturating_sub(1).min(1);
        let median = of(&|times| times[at].as_secs_f64() * 1000.0);
        let more = of(&|times| (times[at].as_secs_f64() - times[before].as_secs_f64()) * 1000.0);
        let ratio = of(&|times| times[at].as_secs_f64() / times[0].as_secs_f64());
        println!("| {name} | {median:.2} ms | {more:+.2} ms | {ratio:.2} |");
    }
}
