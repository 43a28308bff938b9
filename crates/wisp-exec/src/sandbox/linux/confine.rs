//! The child's own confinement, in the order that the kernel allows: limits, namespaces and mounts, capabilities,
//! Landlock, the filter of system calls.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

use super::readable::Readable;
use super::{capabilities, mounts, seccomp};
use crate::sandbox::{Confinement, Limits, NO_LANDLOCK, Profile};

/// The newest version of Landlock whose rights are known here.
const NEWEST: u8 = 10;

/// Devices that are written without effect on anything.
const SINKS: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// The kernel's version of Landlock; 0 for none.
#[expect(
    unsafe_code,
    reason = "the version is asked of a system call that has no wrapper"
)]
pub(in crate::sandbox) fn landlock_version() -> u8 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with a null pointer, size 0 and this flag the call returns a number and touches no memory.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u8::try_from(version).unwrap_or(NO_LANDLOCK).min(NEWEST)
}

/// What a confinement is made with beside what it is.
pub(super) struct With<'a> {
    /// The directory that is the command's alone.
    pub(super) temporary: Option<&'a Path>,
    /// The rules of what it may read.
    pub(super) readable: Option<Readable>,
    /// The processes above, which it may not signal.
    pub(super) above: Vec<Pid>,
}

/// Confines this process, which has one thread, and all it will start.
///
/// Errors: what could not be done, in words. Nothing may be executed then.
pub(super) fn confine(confinement: &Confinement, with: With<'_>) -> Result<(), String> {
    let failed = |what: &'static str| move |e: io::Error| format!("{what}: {e}");
    let reading = confinement.profile == Profile::Read;
    if !reading && confinement.namespaces {
        mounts::isolate(confinement).map_err(failed("namespaces"))?;
    }
    capabilities::drop_for(confinement.profile).map_err(failed("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(|e| format!("no_new_privs: {e}"))?;
    if confinement.landlock > NO_LANDLOCK {
        // The hundreds of rules for reading come last: those before are copied with them.
        let written = landlock(confinement, with.temporary);
        let readable = written.and_then(|()| with.readable.map_or(Ok(()), Readable::restrict));
        readable.map_err(|e| format!("Landlock: {e}"))?;
    }
    seccomp::install(confinement, &with.above).map_err(failed("seccomp"))
}

/// Rules for what is written, the network and signals.
fn landlock(confinement: &Confinement, temporary: Option<&Path>) -> Result<(), RulesetError> {
    let abi = ABI::from(i32::from(confinement.landlock));
    let reading = confinement.profile == Profile::Read;
    let write = AccessFs::from_write(abi);
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    rules = rules.handle_access(write)?;
    let ports = AccessNet::from_all(abi);
    if !ports.is_empty() && (reading || !confinement.network) {
        // A network of its own is the command's to use; without one, nothing is to be reached.
        let own = !reading && confinement.namespaces;
        if !own {
            rules = rules.handle_access(ports)?;
        }
    }
    let scope = Scope::from_all(abi);
    if !scope.is_empty() {
        rules = rules.scope(scope)?;
    }
    let mut rules = rules.create()?;
    for path in SINKS {
        let access = write & AccessFs::from_file(abi);
        rules = allow(rules, Path::new(path), access)?;
    }
    for path in writable(confinement, temporary) {
        rules = allow(rules, path, write)?;
    }
    rules.restrict_self().map(drop)
}

fn writable<'a>(confinement: &'a Confinement, temporary: Option<&'a Path>) -> impl Iterator<Item = &'a Path> {
    let listed = (confinement.profile == Profile::Write).then_some(&confinement.writable);
    let listed = listed.into_iter().flatten().map(AsRef::as_ref);
    listed.chain(temporary)
}

/// Allows a place. One that is gone, or may not be looked at, is allowed nothing.
pub(super) fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(place) = place(path) else {
        return Ok(rules);
    };
    rules.add_rule(PathBeneath::new(place, access))
}

/// A place as a handle that opens nothing: a FIFO or a device is not touched.
fn place(path: &Path) -> rustix::io::Result<OwnedFd> {
    openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

/// Sets what a command may use up. What is already less stays.
pub(super) fn limit(limits: Limits, processes: Option<u64>, confined: bool) -> io::Result<()> {
    lower(Resource::Core, confined.then_some(0))?;
    lower(Resource::Data, (limits.memory > 0).then_some(limits.memory))?;
    lower(Resource::Fsize, (limits.file > 0).then_some(limits.file))?;
    lower(Resource::Nproc, processes)
}

fn lower(resource: Resource, to: Option<u64>) -> io::Result<()> {
    let Some(to) = to else { return Ok(()) };
    let Rlimit { current, maximum } = getrlimit(resource);
    let least = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    let new = Rlimit {
        current: least(current),
        maximum: least(maximum),
    };
    Ok(setrlimit(resource, new)?)
}
