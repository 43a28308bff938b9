//! The helper on Linux: a launcher that waits for commands; below it, for each of them, a supervisor; and below that the
//! child that confines itself and executes the command.

mod appeared;
mod capabilities;
mod carve;
mod confine;
mod launcher;
mod mounts;
mod readable;
mod seccomp;
mod supervisor;

use std::io;

use rustix::process::Pid;

pub(super) use confine::landlock_version;
pub(super) use launcher::serve;
pub(super) use mounts::try_namespaces;

/// Forks; `None` in the child.
#[expect(unsafe_code, reason = "the helper forks where it has one thread")]
fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: this process has one thread: it was executed as the helper and has started none. So the child may do
    // whatever the parent may.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Ends this process without running anything of the parent's.
#[expect(unsafe_code, reason = "the forked child may not run its parent's handlers")]
fn leave(code: i32) -> ! {
    // SAFETY: ends the process; nothing is touched.
    unsafe { libc::_exit(code) }
}
