//! Numbers as people and models read them: thousands separators, sizes in bytes, KiB and MiB, and spans of time.
//!
//! They are here, under everything else, so that two places on one screen never round the same number differently.
//! Sizes are rounded up, because a marker may never understate what was held back.

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in the largest unit that gives at least 1, rounded up: `1,023 bytes`, `4.2 KiB`, `180 KiB`, `16 MiB`.
/// One decimal stands below 10 and is left out when it is 0.
pub fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (name, unit) in UNITS {
        if bytes >= unit {
            return in_unit(bytes, unit, name);
        }
    }
    counted(bytes, "byte")
}

/// `bytes` in `unit`, rounded up to a tenth below 10 and to a whole number from 10 on.
fn in_unit(bytes: u64, unit: u64, name: &str) -> String {
    let tenths = (u128::from(bytes) * 10).div_ceil(u128::from(unit));
    if tenths < 100 && tenths % 10 != 0 {
        return format!("{}.{} {name}", tenths / 10, tenths % 10);
    }
    let whole = if tenths < 100 {
        tenths / 10
    } else {
        u128::from(bytes.div_ceil(unit))
    };
    format!("{} {name}", grouped(u64::try_from(whole).unwrap_or(u64::MAX)))
}

/// A span of time in its two largest units, rounded down: `45 s`, `4 min 05 s`, `2 h 02 min`, `3 days 4 h`.
pub fn span(seconds: u64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match (hours / 24, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) if seconds.is_multiple_of(60) => format!("{minutes} min"),
        (0, 0, _) => format!("{minutes} min {:02} s", seconds % 60),
        (0, _, _) if minutes.is_multiple_of(60) => format!("{hours} h"),
        (0, _, _) => format!("{hours} h {:02} min", minutes % 60),
        (days, _, _) if hours.is_multiple_of(24) => counted(days, "day"),
        (days, _, _) => format!("{} {} h", counted(days, "day"), hours % 24),
    }
}

/// A count with its noun: `1 line`, `2,270 lines`.
pub fn counted(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number))
}

/// A range with an en dash, or the one number: `44–2,313`, `7`.
pub fn range(from: u64, to: u64) -> String {
    if from == to {
        return grouped(from);
    }
    format!("{}–{}", grouped(from), grouped(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_and_never_understate() {
        let table = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1_023, "1,023 bytes"),
            (1_024, "1 KiB"),
            (1_025, "1.1 KiB"),
            (184_320, "180 KiB"),
            (184_321, "181 KiB"),
            (10_239, "10 KiB"),
            (1_048_575, "1,024 KiB"),
            (16 * 1_048_576, "16 MiB"),
            (1_073_741_824, "1 GiB"),
        ];
        for (bytes, text) in table {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn spans_have_two_units_at_the_most() {
        let table = [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (245, "4 min 05 s"),
            (3_599, "59 min 59 s"),
            (3_600, "1 h"),
            (3_659, "1 h"),
            (7_325, "2 h 02 min"),
            (86_399, "23 h 59 min"),
            (86_400, "1 day"),
            (273_600, "3 days 4 h"),
        ];
        for (seconds, text) in table {
            assert_eq!(span(seconds), text);
        }
    }

    #[test]
    fn counts_take_separators_and_a_plural() {
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(grouped(999), "999");
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(2_270, "line"), "2,270 lines");
        assert_eq!(range(44, 2_313), "44–2,313");
        assert_eq!(range(7, 7), "7");
    }
}
