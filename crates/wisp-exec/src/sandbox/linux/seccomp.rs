//! The filter of system calls: what Landlock does not see. A short program for the kernel, written out here: a crate
//! for it would be larger than this file, and does not refuse the calls of the x32 interface.

use std::io;

use rustix::process::Pid;

use crate::sandbox::{Confinement, Profile};

/// What becomes of a call.
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const DENY: u32 = libc::SECCOMP_RET_ERRNO | libc::EACCES as u32;
const MISSING: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

/// Calls no command needs and that reach beyond it: the machine's state, other processes, keys, ways around the rules.
const NEVER: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsopen,
    libc::SYS_init_module,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Calls by which one of a file's other traits changes without its being opened for writing, and those that leave
/// something in the kernel. Refused to a command that only reads.
const NOT_READING: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgget,
    libc::SYS_msgctl,
    libc::SYS_removexattr,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_setxattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_truncate,
    libc::SYS_utimensat,
];

/// The older names of the same, where the processor has them.
#[cfg(target_arch = "x86_64")]
const NOT_READING_OLD: &[libc::c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_futimesat,
    libc::SYS_utime,
    libc::SYS_utimes,
];
#[cfg(not(target_arch = "x86_64"))]
const NOT_READING_OLD: &[libc::c_long] = &[];

/// Calls that only one processor has.
#[cfg(target_arch = "x86_64")]
const NEVER_OLD: &[libc::c_long] = &[libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const NEVER_OLD: &[libc::c_long] = &[];

/// Numbers that are the same on every processor and too new for the C library's list.
const SYS_FCHMODAT2: libc::c_long = 452;
const SYS_SETXATTRAT: libc::c_long = 463;
const SYS_REMOVEXATTRAT: libc::c_long = 466;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: u32 = 0xc000_00f3;

/// Where the number of a call, the architecture and the arguments' lower halves stand in what a filter is shown.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// A filter under construction.
struct Program(Vec<libc::sock_filter>);

impl Program {
    fn push(&mut self, code: u32, operand: u32, (yes, no): (u8, u8)) {
        self.0.push(libc::sock_filter {
            code: u16::try_from(code).expect("the codes of filters have 16 bits"),
            jt: yes,
            jf: no,
            k: operand,
        });
    }

    fn load(&mut self, at: u32) {
        self.push(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, (0, 0));
    }

    fn end(&mut self, with: u32) {
        self.push(libc::BPF_RET | libc::BPF_K, with, (0, 0));
    }

    /// Skips `steps` unless what is loaded equals `value`.
    fn unless_equal(&mut self, value: u32, steps: u8) {
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, (0, steps));
    }

    /// A call that ends one way whatever its arguments.
    fn call(&mut self, number: libc::c_long, with: u32) {
        self.unless_equal(numbered(number), 1);
        self.end(with);
    }

    /// A call that is refused unless an argument is one of a few.
    fn call_unless(&mut self, number: libc::c_long, (index, allowed): (u32, &[u32]), with: u32) {
        let rest = u8::try_from(allowed.len() * 2 + 2).expect("few values");
        self.unless_equal(numbered(number), rest);
        self.load(argument(index));
        for value in allowed {
            self.unless_equal(*value, 1);
            self.end(ALLOW);
        }
        self.end(with);
    }

    /// A call that is refused when an argument is one of a few.
    fn call_when(&mut self, number: libc::c_long, (index, refused): (u32, &[u32]), with: u32) {
        let rest = u8::try_from(refused.len() * 2 + 2).expect("few values");
        self.unless_equal(numbered(number), rest);
        self.load(argument(index));
        for value in refused {
            self.unless_equal(*value, 1);
            self.end(with);
        }
        self.end(ALLOW);
    }

    /// A call that is refused when an argument has one of some bits.
    fn call_with_bits(&mut self, number: libc::c_long, (index, bits): (u32, u32), with: u32) {
        self.unless_equal(numbered(number), 4);
        self.load(argument(index));
        self.push(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, bits, (0, 1));
        self.end(with);
        self.end(ALLOW);
    }
}

fn numbered(number: libc::c_long) -> u32 {
    u32::try_from(number).expect("the numbers of calls are small")
}

/// Installs the filter of a confinement; `no_new_privs` is set. `above` are processes that get no signal.
pub(super) fn install(confinement: &Confinement, above: &[Pid]) -> io::Result<()> {
    apply(&program(confinement, above).0)
}

fn program(confinement: &Confinement, above: &[Pid]) -> Program {
    let reading = confinement.profile == Profile::Read;
    let mut program = Program(Vec::with_capacity(256));
    program.load(ARCH);
    program.unless_equal(ARCHITECTURE, 1);
    program.push(libc::BPF_JMP | libc::BPF_JA, 1, (0, 0));
    program.end(KILL);
    program.load(NUMBER);
    if cfg!(target_arch = "x86_64") {
        // The x32 interface has the same architecture, and numbers from here on.
        program.push(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0x4000_0000, (0, 1));
        program.end(REFUSE);
    }
    for number in NEVER.iter().chain(NEVER_OLD) {
        program.call(*number, REFUSE);
    }
    // What a ring does is not seen by a filter; programs do without when there are none.
    for number in [
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
    ] {
        program.call(number, MISSING);
    }
    if reading && confinement.landlock < SCOPES_SIGNALS {
        for number in SIGNALS {
            program.call(*number, REFUSE);
        }
    }
    if reading {
        for number in NOT_READING.iter().chain(NOT_READING_OLD) {
            program.call(*number, REFUSE);
        }
    }
    // The flags of a new process stand behind a pointer there; the C library then uses the older call.
    program.call(libc::SYS_clone3, MISSING);
    sockets(&mut program, confinement);
    let scoped = confinement.landlock >= SCOPES_SIGNALS;
    if !reading && !scoped {
        // What stands behind such a handle cannot be seen; programs do without when there are none.
        program.call(libc::SYS_pidfd_send_signal, MISSING);
    }
    arguments(&mut program, above);
    program.end(ALLOW);
    program
}

/// The version of Landlock from which signals reach no process outside.
const SCOPES_SIGNALS: u8 = 6;

/// Calls that send a signal to another process: where Landlock does not hold them back, a command that reads has none.
const SIGNALS: &[libc::c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// The version of Landlock from which named sockets are confined.
const RESOLVES_UNIX: u8 = 9;

/// Which sockets can be made.
fn sockets(program: &mut Program, confinement: &Confinement) {
    const NETLINK: u32 = libc::AF_NETLINK as u32;
    const UNIX: u32 = libc::AF_UNIX as u32;
    const INET: u32 = libc::AF_INET as u32;
    const INET6: u32 = libc::AF_INET6 as u32;
    let reading = confinement.profile == Profile::Read;
    let mut families = vec![NETLINK];
    if !reading && (confinement.network || confinement.namespaces) {
        families.extend([INET, INET6]);
    }
    // A named socket is a way to a daemon that does what it is told. In a view of its own those are not there, and
    // newer kernels refuse those outside what is written.
    if !reading && (confinement.namespaces || confinement.landlock >= RESOLVES_UNIX) {
        families.push(UNIX);
    }
    program.call_unless(libc::SYS_socket, (0, &families), DENY);
    if reading {
        program.call_unless(libc::SYS_socketpair, (0, &[UNIX]), DENY);
    }
}

/// Requests to a terminal that put characters into it as if they were typed.
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;

/// Calls that are refused by what they are given.
fn arguments(program: &mut Program, above: &[Pid]) {
    const NEW: u32 = (libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP) as u32;
    program.call_with_bits(libc::SYS_unshare, (0, NEW), REFUSE);
    program.call_with_bits(libc::SYS_clone, (0, NEW), REFUSE);
    // Every process of the user's at once; Landlock below 6 would let it through.
    let processes = above.iter().map(|pid| pid.as_raw_nonzero().get());
    let processes: Vec<u32> = processes
        .flat_map(|pid| [pid, -pid])
        .map(i32::cast_unsigned)
        .collect();
    program.call_when(
        libc::SYS_kill,
        (0, &[&[u32::MAX], &processes[..]].concat()),
        REFUSE,
    );
    for number in SIGNALS.iter().filter(|number| **number != libc::SYS_kill) {
        program.call_when(*number, (0, &processes), REFUSE);
    }
    // The limits and the order of other processes; 0 is oneself.
    program.call_unless(libc::SYS_prlimit64, (0, &[0]), REFUSE);
    program.call_when(libc::SYS_ioctl, (1, &[TIOCSTI, TIOCLINUX]), REFUSE);
}

#[expect(unsafe_code, reason = "the call has no wrapper")]
fn apply(filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).expect("a filter is short"),
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the program points to as many instructions as it says, which outlive the call; the kernel copies them and
    // writes nothing.
    let done = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0_u32,
            &raw const program,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
