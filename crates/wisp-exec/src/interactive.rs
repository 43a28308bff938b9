//! Programs the person uses themselves: a pager, an editor. They get the terminal wisp has, and give it back.
//!
//! While one runs, Ctrl-C and Ctrl-\ are its own: wisp, which is in the same process group and would receive them too,
//! ignores them. Ctrl-Z is the program's as well; once it has stopped, wisp stops too, so that the shell comes back, and
//! the shell's `fg` continues both.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::process::{CommandExt, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::child::{close_on_exec, descriptors};
use crate::{Ending, ExecError};

/// How much is fed to a pager at once.
const BLOCK: usize = 64 * 1024;

/// The signals the keyboard sends, which are the program's while it runs.
const KEYBOARD: [libc::c_int; 3] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP];

/// Runs a program on the terminal, with wisp's own three descriptors, and waits for it. Blocks: call it from a thread
/// that may. The terminal's settings are put back as they were.
///
/// Errors: [`ExecError::NoProgram`], [`ExecError::Launch`], [`ExecError::Lost`].
pub fn run_interactive<S: AsRef<OsStr>>(argv: &[S]) -> Result<Ending, ExecError> {
    on_terminal(argv, Stdio::inherit(), |_| Ok(()))
}

/// Runs a pager on the terminal and writes what `feed` holds to its standard input. A pager that is left before it
/// has read everything is no error; its ending is returned like any other. Blocks as [`run_interactive`] does.
///
/// Errors: those of [`run_interactive`], and [`ExecError::Feed`] when `feed` could not be read to its end.
pub fn run_pager<S: AsRef<OsStr>>(argv: &[S], mut feed: impl Read) -> Result<Ending, ExecError> {
    on_terminal(argv, Stdio::piped(), |child| match child.stdin.take() {
        Some(pager) => pass_on(&mut feed, pager),
        None => Ok(()),
    })
}

/// Becomes another program, which has wisp's terminal, descriptors and process id. Returns only when that failed.
pub fn become_program<S: AsRef<OsStr>>(argv: &[S]) -> ExecError {
    let Some((program, rest)) = argv.split_first() else {
        return ExecError::NoProgram;
    };
    #[expect(clippy::disallowed_methods, reason = "this is where processes start")]
    let mut command = Command::new(program);
    let source = command.args(rest).exec();
    ExecError::Launch {
        program: program.as_ref().to_owned(),
        source,
    }
}

fn on_terminal<S: AsRef<OsStr>>(
    argv: &[S],
    stdin: Stdio,
    meanwhile: impl FnOnce(&mut Child) -> io::Result<()>,
) -> Result<Ending, ExecError> {
    let (program, rest) = argv.split_first().ok_or(ExecError::NoProgram)?;
    let program: OsString = program.as_ref().to_owned();
    #[expect(clippy::disallowed_methods, reason = "this is where processes start")]
    let mut command = Command::new(&program);
    command.args(rest).stdin(stdin);
    give_the_keyboard(&mut command);
    let terminal = Terminal::save();
    let keyboard = Ignored::keyboard();
    let launched = command.spawn();
    let result = launched.map(|mut child| {
        // Beside the feeding: a program that stops does not read on, and must stop wisp all the same.
        let pid = Pid::from_child(&child);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || wait(pid));
            let fed = meanwhile(&mut child);
            let status = waiting
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the wait for it was lost")));
            (status, fed)
        })
    });
    drop(keyboard);
    drop(terminal);
    let (status, fed) = match result {
        Ok(result) => result,
        Err(source) => return Err(ExecError::Launch { program, source }),
    };
    match (status, fed) {
        (Err(source), _) => Err(ExecError::Lost { program, source }),
        (_, Err(source)) => Err(ExecError::Feed { program, source }),
        (Ok(status), Ok(())) => Ok(Ending::of(status)),
    }
}

/// Waits until a program has ended. Whenever it stops, wisp stops with it; whatever continues wisp continues it.
fn wait(pid: Pid) -> io::Result<ExitStatus> {
    loop {
        match waitpid(Some(pid), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) if status.stopped() => {
                kill_process(getpid(), Signal::STOP)?;
                // The shell continues the whole group; another may have continued wisp alone.
                let _ = kill_process(pid, Signal::CONT);
            }
            Ok(Some((_, status))) => return Ok(ExitStatus::from_raw(status.as_raw())),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Copies until `feed` ends or the pager does not want more. Only errors of `feed` are errors.
fn pass_on(feed: &mut impl Read, mut pager: impl Write) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    loop {
        match feed.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                if pager.write_all(&block[..read]).is_err() {
                    return Ok(());
                }
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Gives a program the keyboard's signals back, which wisp ignores from before it starts, and none of wisp's files.
#[expect(
    unsafe_code,
    reason = "dispositions are inherited and must be set between fork and exec"
)]
fn give_the_keyboard(command: &mut Command) {
    let inherited = descriptors();
    let prepare = move || {
        for signal in KEYBOARD {
            // SAFETY: sets a disposition to the default, which runs no code; async-signal-safe.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        close_on_exec(&inherited);
        Ok(())
    };
    // SAFETY: in the forked child, `signal` and `fcntl` are async-signal-safe, and the closure allocates nothing and
    // takes no lock.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// The keyboard's signals ignored, and as they were again when this is dropped.
struct Ignored([libc::sigaction; 3]);

impl Ignored {
    #[expect(unsafe_code, reason = "there is no safe door to signal dispositions")]
    fn keyboard() -> Self {
        Self(KEYBOARD.map(|signal| {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: `sigaction` reads one action and writes one. All zeroes with SIG_IGN is a valid action (no flags,
            // an empty mask), and `before`, also valid when zeroed, is written in full or left as it is.
            unsafe {
                let mut ignore: libc::sigaction = MaybeUninit::zeroed().assume_init();
                ignore.sa_sigaction = libc::SIG_IGN;
                libc::sigaction(signal, &raw const ignore, before.as_mut_ptr());
                before.assume_init()
            }
        }))
    }
}

impl Drop for Ignored {
    #[expect(unsafe_code, reason = "there is no safe door to signal dispositions")]
    fn drop(&mut self) {
        for (signal, before) in KEYBOARD.into_iter().zip(&self.0) {
            // SAFETY: the action is the one the system gave out for this signal; nothing is written.
            unsafe {
                libc::sigaction(signal, before, std::ptr::null_mut());
            }
        }
    }
}

/// The terminal's settings, put back when this is dropped. Without a terminal there is nothing to put back.
struct Terminal(Option<(File, Termios)>);

impl Terminal {
    fn save() -> Self {
        let terminal = File::open("/dev/tty").ok();
        Self(terminal.and_then(|terminal| {
            let settings = tcgetattr(&terminal).ok()?;
            Some((terminal, settings))
        }))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some((terminal, settings)) = &self.0 {
            // A terminal that has gone away has no settings.
            let _ = tcsetattr(terminal, OptionalActions::Drain, settings);
        }
    }
}
