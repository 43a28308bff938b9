//! Running commands, and leaving nothing of them behind but what they printed.
//!
//! This is the only place that starts a process. It does not decide whether a command may run; it decides what a
//! command finds when it does, how long it lives, and how much of its output is held where.
//!
//! # What a command finds
//!
//! [`run`] starts a command in a session of its own, without a controlling terminal, so that opening `/dev/tty` fails;
//! with standard input from `/dev/null`, two pipes, and no other descriptor; with an empty signal mask; and with the
//! environment wisp has, in which pagers, editors and prompts are pointed at programs that do not wait
//! ([`QUIET_ENVIRONMENT`]). Nobody can answer a command's question, so a command that asks must fail, soon and by
//! itself.
//!
//! # How it ends
//!
//! Only exit status 0 is a success ([`Ending::is_success`]). A command that is stopped, for its time or by the person
//! ([`Cancel`]), gets SIGTERM and two seconds, then SIGKILL; so does everything it started. A command that ends and
//! leaves processes running does not hold the caller: its output is read until it has been quiet for a tenth of a
//! second, for one second at most, then what still runs is ended and named ([`Outcome::left_behind`]). Waiting for the
//! end of the output instead would wait for the slowest daemon. Dropping the future of [`run`] kills everything.
//!
//! # Where output goes
//!
//! Both streams are read as they come, by one thread that waits for either. Each keeps its first and its last bytes in
//! memory, as many as [`CommandSpec::bound`], and counts all of them. The moment memory would drop a byte, all of the
//! stream goes to a private file, which holds it whole up to a ceiling, and past that its first three quarters and its
//! last quarter: the end of a log is where the errors are. A command that prints a gigabyte costs memory of a few times
//! the bound. [`StreamOutput::reader`] reads what was kept from wherever it is, with the caller's line in place of what
//! was not. When the disk is full, the outcome arrives all the same, with head and tail and the reason.
//!
//! # Programs that are talked to
//!
//! [`serve`] starts a program as [`run`] does, and gives its caller all three of its streams: a server that is spoken to
//! for as long as wisp runs. It ends with its [`Served`].
//!
//! # Programs for the person
//!
//! [`run_pager`] and [`run_interactive`] are the opposite: the program gets the terminal, and the keyboard's signals
//! with it. [`probe`] asks a program a short question.
//!
//! ```
//! use wisp_exec::{CommandSpec, Ending, run};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), wisp_exec::ExecError> {
//! let mut spec = CommandSpec::shell("seq 1 100000; exit 3");
//! spec.bound = 1024;
//! let outcome = run(spec).await?;
//! assert_eq!(outcome.ending, Ending::Exited { code: 3 });
//! assert_eq!((outcome.stdout.lines(), outcome.stdout.bytes()), (100_000, 588_895));
//! assert!(outcome.stdout.head().starts_with(b"1\n2\n3\n"));
//! assert!(outcome.stdout.tail().ends_with(b"99999\n100000\n"));
//! # Ok(())
//! # }
//! ```

mod cancel;
mod capture;
mod child;
mod environment;
mod error;
mod gap;
mod git;
mod interactive;
mod kept;
#[cfg(target_os = "linux")]
mod launcher;
mod leftovers;
mod link;
mod listening;
mod live;
mod outcome;
mod probe;
mod pump;
mod run;
pub mod sandbox;
mod served;
mod signals;
mod spec;
mod spill;
mod store;

pub use cancel::Cancel;
pub use environment::{MARK, QUIET_ENVIRONMENT};
pub use error::{ExecError, check_directory};
pub use gap::Gap;
pub use git::reading_git;
pub use interactive::{become_program, run_interactive, run_pager};
pub use kept::{KeptReader, StreamOutput};
pub use live::{LiveChunk, LiveSender, Stream, live};
pub use outcome::{Disabled, Ending, LeftBehind, Outcome};
pub use probe::probe;
pub use run::run;
pub use sandbox::{Confinement, Limits, Profile, Reached, Sandbox, helper, memory, own_helper};
pub use served::{Served, Streams, serve};
pub use signals::signal_name;
pub use spec::{CommandSpec, DEFAULT_BOUND, EnvChange, Program, SpillTo};
