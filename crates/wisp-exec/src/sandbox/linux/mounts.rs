//! What needs a view of the file system of one's own: places that stay as they are within a directory that is written,
//! places that are not seen, and a network without a way out.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::mount::{MountPropagationFlags, mount_bind_recursive, mount_change};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

use crate::sandbox::Confinement;

/// Makes the namespaces a command may get, for this process: whether it can.
pub(in crate::sandbox) fn try_namespaces() -> bool {
    namespaces(UnshareFlags::NEWNS | UnshareFlags::NEWNET).is_ok()
        && mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).is_ok()
}

/// Gives this process a view of its own, in which read-only places are that and hidden ones are empty, and a network
/// of its own when it may not use the machine's.
pub(super) fn isolate(confinement: &Confinement) -> io::Result<()> {
    let network = if confinement.network {
        UnshareFlags::empty()
    } else {
        UnshareFlags::NEWNET
    };
    let here = std::env::current_dir()?;
    namespaces(UnshareFlags::NEWNS | network)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let kept: Vec<&PathBuf> = confinement
        .read_only
        .iter()
        .filter(|path| path.exists())
        .collect();
    for path in pinned(&kept, &confinement.writable) {
        mount_bind_recursive(&path, &path)?;
    }
    for path in &confinement.hidden {
        hide(path)?;
    }
    for path in kept {
        mount_bind_recursive(path, path)?;
        set_read_only(path)?;
    }
    // Where this process stands was under none of these mounts, and a relative path would go around them.
    std::env::set_current_dir(here)?;
    if !confinement.network {
        // A network without a loopback still refuses, so a failure is none.
        let _ = loopback();
    }
    Ok(())
}

/// The directories on the way from a writable one to one that is kept, outermost first. Each is mounted on itself, since
/// one that is renamed could be replaced by another with something else in the kept one's place.
fn pinned(kept: &[&PathBuf], writable: &[PathBuf]) -> BTreeSet<PathBuf> {
    let between = |path: &&PathBuf| {
        let within = |above: &&Path| writable.iter().any(|root| above.starts_with(root));
        let above = path.ancestors().skip(1).filter(within).map(Path::to_owned);
        above.collect::<Vec<_>>()
    };
    kept.iter().flat_map(between).collect()
}

/// Puts something empty in a place.
fn hide(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => {
            rustix::mount::mount(
                "none",
                path,
                "tmpfs",
                rustix::mount::MountFlags::RDONLY,
                c"mode=0500,size=4k",
            )?;
        }
        Ok(meta) if !meta.is_symlink() => mount_bind_recursive("/dev/null", path)?,
        _ => {}
    }
    Ok(())
}

/// Makes new namespaces. Who may not make the ones wanted makes a user namespace first, in which they may.
#[expect(
    unsafe_code,
    reason = "the call is marked unsafe for one flag that is not used"
)]
fn namespaces(wanted: UnshareFlags) -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    // SAFETY: only FILES would concern other threads' descriptors; it is not among the flags.
    if unsafe { rustix::thread::unshare_unsafe(wanted) }.is_ok() {
        return Ok(());
    }
    // SAFETY: as above.
    unsafe { rustix::thread::unshare_unsafe(wanted | UnshareFlags::NEWUSER) }?;
    tell("/proc/self/setgroups", "deny")?;
    tell("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    tell("/proc/self/gid_map", &format!("{group} {group} 1"))
}

/// Writes to a file of the kernel's.
fn tell(path: &str, text: &str) -> io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().write(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Makes a mount, and those below it, read-only, whatever else it is.
#[expect(unsafe_code, reason = "the call has no wrapper")]
fn set_read_only(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path ends with a zero and the attributes have the size that is given; both outlive the call, which
    // reads them only.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Turns the new network's loopback on, so that a test can talk to its own server.
#[expect(unsafe_code, reason = "the request has no wrapper")]
fn loopback() -> io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: all zeroes is a valid request without a name.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l'.cast_signed();
    request.ifr_name[1] = b'o'.cast_signed();
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP).expect("the flag is 1");
    // SAFETY: the request is read by the call and outlives it; the descriptor is open.
    let done = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between_a_writable_place_and_a_kept_one_is_pinned() {
        let kept = [PathBuf::from("/w/.git/hooks"), PathBuf::from("/tmp/a/b")];
        let kept: Vec<&PathBuf> = kept.iter().collect();
        let writable = [PathBuf::from("/w"), PathBuf::from("/tmp")];
        let expected = ["/tmp", "/tmp/a", "/w", "/w/.git"].map(PathBuf::from);
        assert_eq!(pinned(&kept, &writable), BTreeSet::from(expected));
    }
}
