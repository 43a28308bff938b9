//! Numbers as people read them: bytes and counts by the one rule of [`wisp_host::amount`], and times that passed.

use std::time::Duration;

pub use wisp_host::amount::{counted, grouped as thousands, percent_of, size as format_bytes};

/// A time that passed: `0.3 s`, `59.9 s`, `2 min 05 s`, `1 h 02 min`. Below a tenth of a second: `40 ms`.
pub fn format_duration(time: Duration) -> String {
    let millis = time.as_millis();
    if millis < 100 {
        return format!("{millis} ms");
    }
    let tenths = (millis + 50) / 100;
    if tenths < 600 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = (millis + 500) / 1000;
    if seconds < 3600 {
        return format!("{} min {:02} s", seconds / 60, seconds % 60);
    }
    format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_change_unit_at_the_exact_moment() {
        for (millis, shown) in [
            (0, "0 ms"),
            (99, "99 ms"),
            (100, "0.1 s"),
            (59_949, "59.9 s"),
            (59_950, "1 min 00 s"),
            (125_000, "2 min 05 s"),
            (3_599_499, "59 min 59 s"),
            (3_599_500, "1 h 00 min"),
            (3_720_000, "1 h 02 min"),
        ] {
            assert_eq!(format_duration(Duration::from_millis(millis)), shown, "{millis}");
        }
    }
}
