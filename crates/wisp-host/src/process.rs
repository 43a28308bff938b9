//! Other processes of this machine, as far as a number names one.

use rustix::process::{Pid, test_kill_process};

/// Whether a process of this number exists, this user's or another's.
pub fn exists(number: u32) -> bool {
    let pid = i32::try_from(number).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else { return false };
    // A process of another user may not be asked, which says that it is there.
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test starts a process")]
    use super::exists;

    #[test]
    fn a_process_exists_until_it_is_waited_for() -> std::io::Result<()> {
        assert!(exists(std::process::id()) && exists(1) && !exists(0) && !exists(u32::MAX));
        let mut child = std::process::Command::new("true").spawn()?;
        assert!(exists(child.id()));
        child.wait()?;
        assert!(!exists(child.id()));
        Ok(())
    }
}
