//! Listening TCP sockets, from the kernel's own tables.

use std::collections::HashMap;
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::table::table;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// A listening socket.
#[derive(Debug, PartialEq, Eq)]
struct Listening {
    address: String,
    port: u16,
    inode: String,
}

/// What listens, on one port or on any.
pub(super) fn listening(port: Option<i64>) -> Result<String, String> {
    let wanted = port
        .map(|p| {
            u16::try_from(p)
                .ok()
                .filter(|p| *p > 0)
                .ok_or_else(|| format!("port {p} is outside 1–65535"))
        })
        .transpose()?;
    let mut sockets = Vec::new();
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        sockets.extend(
            fs::read_to_string(file)
                .unwrap_or_default()
                .lines()
                .skip(1)
                .filter_map(socket),
        );
    }
    if sockets.is_empty() && !std::path::Path::new("/proc/net/tcp").exists() {
        return Err(
            "this system does not list its sockets under /proc; run lsof -nP -iTCP with run_command instead"
                .to_owned(),
        );
    }
    sockets.retain(|s| wanted.is_none_or(|p| p == s.port));
    sockets.sort_by_key(|s| s.port);
    let place = wanted.map_or_else(|| "on TCP".to_owned(), |p| format!("on port {p}"));
    if sockets.is_empty() {
        return Ok(format!("nothing listens {place}"));
    }
    let owners = owners();
    let rows: Vec<Vec<String>> = sockets.iter().map(|s| row(s, &owners)).collect();
    Ok(format!(
        "{} sockets listen {place}\n{}\nowners are known of your own processes only",
        rows.len(),
        table(&["COMMAND", "PID", "ADDRESS"], &rows)
    ))
}

fn row(socket: &Listening, owners: &HashMap<String, (String, String)>) -> Vec<String> {
    let unknown = ("?".to_owned(), "?".to_owned());
    let (name, pid) = owners.get(&socket.inode).unwrap_or(&unknown).clone();
    vec![name, pid, format!("{}:{}", socket.address, socket.port)]
}

/// A line of `/proc/net/tcp`; none when the socket does not listen.
fn socket(line: &str) -> Option<Listening> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if *fields.get(3)? != LISTEN {
        return None;
    }
    let (address, port) = fields[1].split_once(':')?;
    Some(Listening {
        address: self::address(address)?,
        port: u16::from_str_radix(port, 16).ok()?,
        inode: (*fields.get(9)?).to_owned(),
    })
}

/// An address as the kernel writes it: words in the machine's order.
fn address(hex: &str) -> Option<String> {
    let words: Option<Vec<u32>> = (0..hex.len() / 8)
        .map(|at| u32::from_str_radix(hex.get(at * 8..at * 8 + 8)?, 16).ok())
        .collect();
    let bytes: Vec<u8> = words?.into_iter().flat_map(u32::to_ne_bytes).collect();
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes)
            .ok()
            .map(|b| Ipv4Addr::from(b).to_string()),
        16 => <[u8; 16]>::try_from(bytes)
            .ok()
            .map(|b| format!("[{}]", Ipv6Addr::from(b))),
        _ => None,
    }
}

/// Names and numbers of the processes that hold each socket, as far as they can be read.
fn owners() -> HashMap<String, (String, String)> {
    let mut owners = HashMap::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = process.file_name().to_string_lossy().into_owned();
        if !pid.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
        for held in fs::read_dir(process.path().join("fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let target = fs::read_link(held.path()).unwrap_or_default();
            let target = target.to_string_lossy();
            let inode = target.strip_prefix("socket:[").and_then(|t| t.strip_suffix(']'));
            if let Some(inode) = inode {
                owners.insert(inode.to_owned(), (name.trim().to_owned(), pid.clone()));
            }
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_endian = "little")]
    #[test]
    fn the_kernels_lines_are_read() {
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31415 1";
        let right = Listening {
            address: "127.0.0.1".into(),
            port: 8080,
            inode: "31415".into(),
        };
        assert_eq!(socket(line), Some(right));
        assert_eq!(socket(&line.replace(" 0A ", " 01 ")), None);
        assert_eq!(
            address("00000000000000000000000001000000").as_deref(),
            Some("[::1]")
        );
    }
}
