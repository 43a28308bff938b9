//! The machine itself: its system, its battery, its network interfaces.

use std::fs;
use std::path::Path;

use sysinfo::{Networks, System};
use wisp_output::amount::size;

use super::table::{elapsed, table};

/// The system, its processors, memory and uptime.
pub(super) fn system() -> Result<String, String> {
    let mut system = System::new().map_err(|e| format!("the system cannot be read: {e}"))?;
    system.refresh_memory();
    system.refresh_cpu_all();
    let unknown = || "unknown".to_owned();
    let brand = system
        .cpus()
        .first()
        .map_or_else(unknown, |cpu| cpu.brand().trim().to_owned());
    Ok(format!(
        "system: {}\nkernel: {}\nmachine: {}\nprocessor: {brand}, {} cores\nmemory: {}\nup: {}",
        System::long_os_version().unwrap_or_else(|_| unknown()),
        System::kernel_version().unwrap_or_else(|_| unknown()),
        System::cpu_arch(),
        system.cpus().len(),
        size(system.total_memory()),
        System::uptime().map_or_else(|_| unknown(), elapsed),
    ))
}

/// Batteries as the kernel lists them.
pub(super) fn battery() -> Result<String, String> {
    let supplies = Path::new("/sys/class/power_supply");
    let entries = fs::read_dir(supplies)
        .map_err(|_| "this system does not list its batteries under /sys".to_owned())?;
    let rows: Vec<Vec<String>> = entries
        .flatten()
        .filter_map(|entry| supply(&entry.path()))
        .collect();
    if rows.is_empty() {
        return Ok("this machine has no battery".to_owned());
    }
    Ok(table(&["BATTERY", "CHARGE", "STATE"], &rows))
}

fn supply(path: &Path) -> Option<Vec<String>> {
    let read = |name: &str| {
        fs::read_to_string(path.join(name))
            .ok()
            .map(|t| t.trim().to_owned())
    };
    if read("type")? != "Battery" {
        return None;
    }
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(vec![
        name,
        format!("{}%", read("capacity")?),
        read("status").unwrap_or_default(),
    ])
}

/// Interfaces with their addresses and what went through them.
pub(super) fn network() -> Result<String, String> {
    let networks =
        Networks::new_with_refreshed_list().map_err(|e| format!("the network cannot be read: {e}"))?;
    let mut rows: Vec<Vec<String>> = networks
        .iter()
        .map(|(name, data)| {
            let addresses: Vec<String> = data.ip_networks().iter().map(ToString::to_string).collect();
            let (received, sent) = (data.total_received(), data.total_transmitted());
            vec![
                name.to_string_lossy().into_owned(),
                size(received),
                size(sent),
                addresses.join(" "),
            ]
        })
        .collect();
    rows.sort();
    Ok(table(&["INTERFACE", "RECEIVED", "SENT", "ADDRESSES"], &rows))
}
