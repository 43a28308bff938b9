//! Numbers as people and models read them: thousands separators, sizes in bytes, KiB and MiB, percentages, shares that
//! add up, and spans of time.
//!
//! They are here, under everything else, so that two places on one screen never round the same number differently.
//! Sizes are rounded up, because a marker may never understate what was held back.
//!
//! ```
//! assert_eq!(wisp_amount::counted(2_270, "line"), "2,270 lines");
//! assert_eq!(wisp_amount::size(184_321), "181 KiB");
//! assert_eq!(wisp_amount::percent(4_590, 8_192), 56);
//! ```

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

/// How much of `whole` a part is, in percent, to the nearest; 100 only when nothing is missing, 0 of nothing.
pub fn percent(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return 0;
    }
    let (part, whole) = (u128::from(part), u128::from(whole));
    let nearest = (part * 200 + whole) / (whole * 2);
    let shown = if part < whole { nearest.min(99) } else { nearest };
    u64::try_from(shown).unwrap_or(u64::MAX)
}

/// A share between 0 and 1 in percent, by the rule of [`percent`]: for who is told the share alone.
pub fn percent_of(share: f64) -> u64 {
    /// Parts of a share that are told apart: more than a window has tokens, and ten to a power, so that half a percent
    /// is a whole number of them.
    const PARTS: u64 = 1_000_000_000;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the parts are exact, and what is cast is bounded below and far below 2^63"
    )]
    let part = (share.clamp(0.0, 1_000.0) * PARTS as f64).round() as u64;
    percent(part, PARTS)
}

/// `total` shared out by `weights`: each share is its part rounded down or up, and together they are exactly `total`.
/// What rounding leaves goes to those that lost most by it, the first of equals. Without any weight nothing is shared.
pub fn shared(total: u64, weights: &[u64]) -> Vec<u64> {
    let all: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if all == 0 {
        return vec![0; weights.len()];
    }
    let exact = |weight: &u64| u128::from(total) * u128::from(*weight);
    let mut shares: Vec<u64> = weights
        .iter()
        .map(|weight| u64::try_from(exact(weight) / all).unwrap_or(u64::MAX))
        .collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(exact(&weights[*at]) % all));
    let left = total - shares.iter().sum::<u64>();
    for at in order
        .into_iter()
        .take(usize::try_from(left).unwrap_or(usize::MAX))
    {
        shares[at] += 1;
    }
    shares
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
    fn percentages_are_to_the_nearest_and_whole_only_of_the_whole() {
        let table = [
            (0, 8_192, 0),
            (40, 8_192, 0),
            (41, 8_192, 1),
            (1, 8, 13),
            (8_191, 8_192, 99),
            (8_192, 8_192, 100),
            (9_011, 8_192, 110),
            (5, 0, 0),
        ];
        for (part, whole, shown) in table {
            assert_eq!(percent(part, whole), shown, "{part} of {whole}");
        }
    }

    #[test]
    fn a_share_has_the_percentage_of_the_part_it_was_made_from() {
        for window in [4_096_u32, 8_192, 40_960, 131_072, 100_000] {
            for tokens in 0..=window {
                let share = f64::from(tokens) / f64::from(window);
                assert_eq!(
                    percent_of(share),
                    percent(tokens.into(), window.into()),
                    "{tokens} of {window}"
                );
            }
        }
    }

    #[test]
    fn shares_add_up_to_what_is_shared() {
        assert_eq!(shared(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(shared(2_001, &[4_000, 1, 3_999]), [1_001, 0, 1_000]);
        assert_eq!(shared(7, &[0, 0]), [0, 0]);
        assert_eq!(shared(0, &[5, 6]), [0, 0]);
        assert_eq!(shared(5, &[]), Vec::<u64>::new());
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
