//! The helper on Linux: a supervisor and, below it, the child that confines itself and executes the command.

mod capabilities;
mod carve;
mod confine;
mod mounts;
mod seccomp;
mod supervisor;

pub(super) use confine::landlock_version;
pub(super) use mounts::try_namespaces;
pub(super) use supervisor::supervise;
