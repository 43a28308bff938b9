//! Numbers as people read them: one rule for bytes, counts and times everywhere.

use std::time::Duration;

/// A count with a comma between thousands: `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A count and its noun: `1 line`, `1,234 lines`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// Binary multiples, smallest first.
const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/// A size: whole bytes below 1 KiB, then binary units with one decimal, left out when it is 0: `1 byte`,
/// `1,023 bytes`, `4 KiB`, `1.5 MiB`. Rounded to the nearest tenth, never up to 1,024 of a unit.
pub fn format_bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return counted(bytes, "byte");
    }
    let mut unit = 0;
    let mut tenths = tenths_of(bytes, 1024);
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        unit += 1;
        tenths = tenths_of(bytes, 1024_u64.pow(u32::try_from(unit + 1).unwrap_or(u32::MAX)));
    }
    let (whole, tenth) = (thousands(tenths / 10), tenths % 10);
    match tenth {
        0 => format!("{whole} {}", UNITS[unit]),
        tenth => format!("{whole}.{tenth} {}", UNITS[unit]),
    }
}

/// `bytes / unit` in tenths, rounded half up.
fn tenths_of(bytes: u64, unit: u64) -> u64 {
    let tenths = (u128::from(bytes) * 20 + u128::from(unit)) / (u128::from(unit) * 2);
    u64::try_from(tenths).unwrap_or(u64::MAX)
}

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
    fn bytes_change_unit_at_the_exact_byte() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1,023 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (4096, "4 KiB"),
            (1_048_524, "1,023.9 KiB"),
            (1_048_525, "1 MiB"),
            (16_777_216, "16 MiB"),
            (4_294_967_296, "4 GiB"),
            (u64::MAX, "16,384 PiB"),
        ] {
            assert_eq!(format_bytes(bytes), shown, "{bytes}");
        }
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

    #[test]
    fn counts_have_separators_and_plurals() {
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(200_000, "line"), "200,000 lines");
    }
}
