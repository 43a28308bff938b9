//! What root may not do under the sandbox. Landlock and file modes do not hold back someone who may load a module or
//! write to the memory of the machine, so a confined root keeps only what files need.

use std::io;

use rustix::thread::{CapabilitySet, capabilities, remove_capability_from_bounding_set, set_capabilities};

use crate::sandbox::Profile;

/// What a command that only reads keeps: other users' files can be read by root as before.
const READING: CapabilitySet = CapabilitySet::DAC_READ_SEARCH;

/// What a build or a test suite run by root keeps: owners and modes of files, and ports below 1024 of its own network.
const WRITING: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Drops what the profile does not keep, for this process and all it executes. A process that has no capability has
/// nothing to drop.
pub(super) fn drop_for(profile: Profile) -> io::Result<()> {
    let keep = match profile {
        Profile::Read => READING,
        Profile::Write => WRITING,
    };
    let mut sets = capabilities(None)?;
    if sets.permitted.is_empty() {
        return Ok(());
    }
    if sets.effective.contains(CapabilitySet::SETPCAP) {
        for bit in 0..u64::BITS {
            let one = CapabilitySet::from_bits_retain(1 << bit);
            // The kernel's last capability ends the list.
            if !keep.contains(one) && remove_capability_from_bounding_set(one).is_err() {
                break;
            }
        }
    }
    sets.effective &= keep;
    sets.permitted &= keep;
    sets.inheritable &= keep;
    Ok(set_capabilities(None, sets)?)
}
