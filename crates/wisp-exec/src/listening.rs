//! The TCP ports a process listens on, from the kernel's own tables: what a command's leftovers held is said when they
//! are ended. Where there is no /proc, none are known.

use std::collections::BTreeSet;
use std::fs;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// The ports that process `pid` listens on, in order; none where they cannot be read.
pub(crate) fn ports_of(pid: i32) -> Vec<u16> {
    let held: BTreeSet<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let target = fs::read_link(entry.ok()?.path()).ok()?;
            let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        })
        .collect();
    if held.is_empty() {
        return Vec::new();
    }
    // By the process's own view of the network, which may not be this one's.
    let tables = ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("/proc/{pid}/net/{name}")));
    let lines = tables.iter().flatten().flat_map(|table| table.lines().skip(1));
    let ports: BTreeSet<u16> = lines
        .filter_map(listening)
        .filter(|(_, inode)| held.contains(*inode))
        .map(|(port, _)| port)
        .collect();
    ports.into_iter().collect()
}

/// A line of the table: the port and the socket's inode; none when it does not listen.
fn listening(line: &str) -> Option<(u16, &str)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if *fields.get(3)? != LISTEN {
        return None;
    }
    let (_, port) = fields.get(1)?.split_once(':')?;
    Some((u16::from_str_radix(port, 16).ok()?, fields.get(9)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_port_this_process_listens_on_is_found() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let pid = i32::try_from(std::process::id()).unwrap();
        assert!(ports_of(pid).contains(&port));
        drop(socket);
        assert!(!ports_of(pid).contains(&port));
    }
}
