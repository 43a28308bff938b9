//! Processes: the busiest, the largest, and one by its name or number.

use sysinfo::{MINIMUM_CPU_UPDATE_INTERVAL, Process, ProcessesToUpdate, System};
use wisp_output::amount::{percent, size};

use super::table::{elapsed, table};

/// The headings of a process's row.
const HEADINGS: [&str; 5] = ["PID", "CPU%", "MEMORY", "ELAPSED", "NAME"];

fn system() -> Result<System, String> {
    let mut system = System::new().map_err(|e| format!("the system cannot be read: {e}"))?;
    system.refresh_memory();
    system.refresh_processes(ProcessesToUpdate::All, true);
    // Load is what happened between two looks.
    std::thread::sleep(MINIMUM_CPU_UPDATE_INTERVAL);
    system.refresh_processes(ProcessesToUpdate::All, true);
    Ok(system)
}

/// Processes without their threads.
fn whole(system: &System) -> Vec<&Process> {
    system
        .processes()
        .values()
        .filter(|p| p.thread_kind().is_none())
        .collect()
}

fn row(process: &Process) -> Vec<String> {
    vec![
        process.pid().to_string(),
        format!("{:.1}", process.cpu_usage()),
        size(process.memory()),
        elapsed(process.run_time()),
        process.name().to_string_lossy().into_owned(),
    ]
}

/// The busiest processes.
pub(super) fn busiest() -> Result<String, String> {
    let system = system()?;
    let mut all = whole(&system);
    all.sort_by(|a, b| {
        b.cpu_usage()
            .total_cmp(&a.cpu_usage())
            .then_with(|| a.pid().cmp(&b.pid()))
    });
    let rows: Vec<Vec<String>> = all.iter().map(|p| row(p)).collect();
    Ok(format!(
        "{} processes by CPU\n{}",
        rows.len(),
        table(&HEADINGS, &rows)
    ))
}

/// The machine's memory, and who uses most of it.
pub(super) fn memory() -> Result<String, String> {
    let system = system()?;
    let mut all = whole(&system);
    all.sort_by_key(|p| (std::cmp::Reverse(p.memory()), p.pid()));
    let rows: Vec<Vec<String>> = all.iter().map(|p| row(p)).collect();
    let (total, available) = (system.total_memory(), system.available_memory());
    Ok(format!(
        "{} installed, {} available ({}%), swap {} of {} used\n{}",
        size(total),
        size(available),
        percent(available, total),
        size(system.used_swap()),
        size(system.total_swap()),
        table(&HEADINGS, &rows)
    ))
}

/// Processes by a part of their name in any case, or one by its number.
pub(super) fn named(wanted: &str) -> Result<String, String> {
    let wanted = wanted.trim().to_lowercase();
    if wanted.is_empty() {
        return Err(
            "the topic process needs the argument `process`: give the name or the number of one".to_owned(),
        );
    }
    let system = system()?;
    let mut found = whole(&system);
    found.retain(|p| match wanted.parse::<u32>() {
        Ok(number) => p.pid().as_u32() == number,
        Err(_) => p.name().to_string_lossy().to_lowercase().contains(&wanted),
    });
    found.sort_by_key(|p| p.pid());
    if found.is_empty() {
        return Ok(format!("no process matches {wanted}"));
    }
    let rows: Vec<Vec<String>> = found.iter().map(|p| row(p)).collect();
    let text = table(&HEADINGS, &rows);
    let [one] = found[..] else { return Ok(text) };
    let line: Vec<_> = one.cmd().iter().map(|word| word.to_string_lossy()).collect();
    Ok(format!(
        "{text}\ncommand: {}",
        wisp_guard::secrets::mask(&line.join(" "))
    ))
}
