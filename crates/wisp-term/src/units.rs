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

/// How fast a reply came, for the end of a line of figures: `24.3 tokens/s`, `first after 0.8 s`. What is unknown is left
/// out.
pub fn pace(tokens_per_second: Option<f64>, first_seconds: Option<f64>) -> Vec<String> {
    let rate = tokens_per_second.map(|rate| {
        if rate < 99.95 {
            format!("{rate:.1} tokens/s")
        } else {
            format!("{rate:.0} tokens/s")
        }
    });
    let first = first_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let first = first.map(|time| format!("first after {}", format_duration(time)));
    rate.into_iter().chain(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_has_what_is_known_of_it() {
        assert_eq!(
            pace(Some(24.349), Some(0.84)),
            ["24.3 tokens/s", "first after 0.8 s"]
        );
        assert_eq!(pace(Some(99.95), None), ["100 tokens/s"]);
        assert_eq!(pace(None, Some(0.04)), ["first after 40 ms"]);
        assert_eq!(pace(None, None), [""; 0]);
    }

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
