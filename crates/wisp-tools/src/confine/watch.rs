//! Whether any of some directories changed since they were last looked at, asked before every command: the system is told
//! once which they are (inotify), and one call then says that nothing happened to hundreds of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most directories that are watched: each takes about a kibibyte of the system's memory.
#[cfg(target_os = "linux")]
const MOST: usize = 4096;

/// File systems that change only through this machine, by the numbers the system has for them. On another, a file may
/// appear without a word.
#[cfg(target_os = "linux")]
const LOCAL: &[u32] = &[
    0xef53,      // ext2, ext3, ext4
    0x9123_683e, // btrfs
    0x5846_5342, // xfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlayfs
    0x2fc1_2fc1, // zfs
    0xf2f5_2010, // f2fs
    0xca45_1a4e, // bcachefs
    0x7371_7368, // squashfs
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6367_7270, // cgroup2
    0x0102_1997, // devpts
    0x6462_6720, // debugfs
];

/// Directories that are watched.
#[derive(Debug, Default)]
pub(super) struct Watch {
    #[cfg(target_os = "linux")]
    events: Option<std::os::fd::OwnedFd>,
    watched: BTreeSet<PathBuf>,
    /// Whether something cannot be watched, and a change could go unseen.
    given_up: bool,
}

#[cfg(target_os = "linux")]
impl Watch {
    /// Watches these directories and those above them, and says whether it could. A change from here on is one.
    pub(super) fn add(&mut self, directories: &BTreeSet<PathBuf>) -> bool {
        if self.given_up || directories.len() > MOST {
            return self.give_up();
        }
        let above = directories.iter().flat_map(|path| path.ancestors());
        let new: BTreeSet<PathBuf> = above
            .filter(|path| !self.watched.contains(*path))
            .map(Path::to_owned)
            .collect();
        if self.events.is_none() {
            use rustix::fs::inotify::{CreateFlags, init};
            self.events = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
        }
        let Some(events) = &self.events else {
            return self.give_up();
        };
        // What was renamed is watched by its old name alone, so all are named again.
        let known = self.watched.iter().all(|path| watch(events, path));
        let watched = known && new.iter().all(|path| watch(events, path) && is_local(path));
        self.watched.extend(new);
        if !watched || self.watched.len() > 2 * MOST {
            return self.give_up();
        }
        true
    }

    fn give_up(&mut self) -> bool {
        *self = Self {
            given_up: true,
            ..Self::default()
        };
        false
    }

    /// Whether nothing happened to what is watched since this was asked last.
    pub(super) fn is_quiet(&mut self) -> bool {
        let Some(events) = &self.events else { return false };
        let mut quiet = true;
        let mut block = [0; 4096];
        loop {
            match rustix::io::read(events, &mut block) {
                Ok(1..) => quiet = false,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return quiet,
                // It cannot be said, now or later.
                Ok(0) | Err(_) => return self.give_up(),
            }
        }
    }
}

/// Watches a directory. Whether nothing can happen there unseen.
#[cfg(target_os = "linux")]
fn watch(events: &std::os::fd::OwnedFd, path: &Path) -> bool {
    use rustix::fs::inotify::{WatchFlags, add_watch};
    use rustix::io::Errno;
    let wanted = WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::ATTRIB
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR;
    match add_watch(events, path, wanted) {
        // What is not there, or is no directory, is seen in the one above when that changes.
        Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => true,
        // One that may neither be listed nor entered holds nothing that this user could read.
        Err(Errno::ACCESS) => rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err(),
        Err(_) => false,
    }
}

/// Whether a directory changes only through this machine. What is not there does not.
#[cfg(target_os = "linux")]
fn is_local(path: &Path) -> bool {
    rustix::fs::statfs(path).map_or(true, |system| {
        u32::try_from(system.f_type).is_ok_and(|kind| LOCAL.contains(&kind))
    })
}

#[cfg(not(target_os = "linux"))]
impl Watch {
    /// There is nothing that watches.
    pub(super) fn add(&mut self, _: &BTreeSet<PathBuf>) -> bool {
        self.given_up = true;
        false
    }

    /// Nothing is known.
    pub(super) fn is_quiet(&mut self) -> bool {
        false
    }
}
