//! Free space of disks, and what takes the room in a folder.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use sysinfo::Disks;
use wisp_output::amount::{percent, size};

use super::table::table;
use crate::call::Call;

/// The longest a folder is measured.
const LIMIT: Duration = Duration::from_secs(5);

/// Each mounted disk with its room.
pub(super) fn free_space() -> Result<String, String> {
    let disks = Disks::new_with_refreshed_list().map_err(|e| format!("the disks cannot be read: {e}"))?;
    let rows: Vec<Vec<String>> = disks
        .iter()
        .filter(|disk| disk.total_space() > 0)
        .map(|disk| {
            let (total, free) = (disk.total_space(), disk.available_space());
            let used = total.saturating_sub(free);
            let mount = disk.mount_point().display().to_string();
            vec![
                mount,
                size(total),
                size(used),
                size(free),
                format!("{}%", percent(used, total)),
            ]
        })
        .collect();
    Ok(table(&["MOUNT", "SIZE", "USED", "FREE", "CAPACITY"], &rows))
}

/// The entries of a folder by their size, the largest first. Links are not followed.
pub(super) fn folder_sizes(path: Option<&str>, call: &Call<'_>) -> Result<String, String> {
    let named = path.map(str::trim).filter(|p| !p.is_empty()).unwrap_or("~");
    let folder = call.services.path(named);
    let listing = fs::read_dir(&folder)
        .map_err(|e| format!("{} is no folder that can be read: {e}", folder.display()))?;
    let mut measure = Measure {
        until: Instant::now() + LIMIT,
        late: false,
        unread: 0,
    };
    let mut sizes: Vec<(u64, String)> = listing
        .flatten()
        .map(|entry| {
            (
                measure.of(&entry.path()),
                entry.file_name().to_string_lossy().into_owned(),
            )
        })
        .collect();
    sizes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let total: u64 = sizes.iter().map(|(bytes, _)| bytes).sum();
    let rows: Vec<Vec<String>> = sizes
        .iter()
        .map(|(bytes, name)| vec![size(*bytes), name.clone()])
        .collect();
    Ok(format!(
        "{}: {} in {} items{}\n{}",
        folder.display(),
        size(total),
        sizes.len(),
        measure.said(),
        table(&["SIZE", "PATH"], &rows)
    ))
}

/// A measurement under way.
struct Measure {
    until: Instant,
    late: bool,
    unread: u64,
}

impl Measure {
    /// Bytes of a file, or of everything in a folder.
    fn of(&mut self, path: &Path) -> u64 {
        let Ok(meta) = fs::symlink_metadata(path) else {
            return 0;
        };
        if !meta.is_dir() {
            return meta.len();
        }
        if Instant::now() > self.until {
            self.late = true;
            return 0;
        }
        let Ok(entries) = fs::read_dir(path) else {
            self.unread += 1;
            return 0;
        };
        entries.flatten().map(|entry| self.of(&entry.path())).sum()
    }

    fn said(&self) -> String {
        let late = if self.late {
            " (timed out; sizes are partial)"
        } else {
            ""
        };
        let unread = match self.unread {
            0 => String::new(),
            count => format!(" ({count} folders could not be read)"),
        };
        format!("{late}{unread}")
    }
}
