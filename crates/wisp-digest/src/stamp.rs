//! Times at the start of a line, in the forms that logs use. No calendar arithmetic beyond what a gap needs.

use crate::find::Find;
use crate::joined::joined;

/// A moment by a log's own clock, in milliseconds since something; only differences mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    /// Milliseconds; for a time without a date, since midnight.
    pub millis: i64,
    /// How many bytes of the line the time took, its brackets not counted.
    pub length: usize,
    /// How many bytes of brackets stand before it.
    pub offset: usize,
}

/// The time at the start of the text, whether a CI runner wrote it, and the rest of the line.
pub(crate) fn at_start(text: &str) -> Option<(Stamp, bool, &str)> {
    match text.as_bytes().first()? {
        b'0'..=b'9' => bare(text, 0),
        b'[' => kernel(text).or_else(|| bracketed(text)),
        b'A'..=b'Z' => syslog(text).or_else(|| java_logging(text)),
        _ => None,
    }
}

fn bare(text: &str, offset: usize) -> Option<(Stamp, bool, &str)> {
    let (millis, length, fraction, zulu) = iso(text).or_else(|| clock(text))?;
    let rest = &text[length..];
    let stamp = Stamp {
        millis,
        length,
        offset,
    };
    if rest.is_empty() {
        return Some((stamp, fraction >= 6 && zulu, rest));
    }
    if offset > 0 {
        return rest.starts_with(']').then_some((stamp, false, rest));
    }
    let after = rest.strip_prefix(' ')?;
    if let Some(gitlab) = gitlab_mark(after).filter(|_| fraction == 6 && zulu) {
        return Some((stamp, true, gitlab));
    }
    Some((
        stamp,
        fraction == 7 && zulu,
        if fraction == 7 {
            after
        } else {
            after.trim_start_matches(' ')
        },
    ))
}

/// GitLab's stream mark: two digits, `O` or `E`, and a plus or a blank.
fn gitlab_mark(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mark = bytes.len() >= 3
        && bytes[0].is_ascii_digit()
        && bytes[1].is_ascii_digit()
        && matches!(bytes[2], b'O' | b'E');
    (mark && text.is_char_boundary(3)).then(|| text[3..].strip_prefix([' ', '+']).unwrap_or(&text[3..]))
}

fn bracketed(text: &str) -> Option<(Stamp, bool, &str)> {
    let (stamp, by_runner, rest) = bare(&text[1..], 1)?;
    let rest = rest.strip_prefix(']')?;
    Some((stamp, by_runner, rest.trim_start_matches(' ')))
}

fn digits(bytes: &[u8], at: usize, count: usize) -> Option<i64> {
    let part = bytes.get(at..at + count)?;
    part.iter().try_fold(0, |sum, byte| {
        byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'))
    })
}

/// `2026-03-02T10:14:07.123Z` and its relatives: milliseconds, length, digits of the fraction, whether in Zulu time.
fn iso(text: &str) -> Option<(i64, usize, usize, bool)> {
    let bytes = text.as_bytes();
    if !matches!(bytes.get(4)?, b'-' | b'/')
        || bytes.get(7)? != bytes.get(4)?
        || !matches!(bytes.get(10)?, b'T' | b' ' | b'_')
    {
        return None;
    }
    let (year, month, day) = (digits(bytes, 0, 4)?, digits(bytes, 5, 2)?, digits(bytes, 8, 2)?);
    let (millis, length, fraction) = time_of_day(&bytes[11..])?;
    let (zone, zulu) = zone_length(&bytes[11 + length..]);
    Some((
        day_number(year, month, day) * 86_400_000 + millis,
        11 + length + zone,
        fraction,
        zulu,
    ))
}

/// `10:14:07[.123]` alone.
fn clock(text: &str) -> Option<(i64, usize, usize, bool)> {
    let (millis, length, fraction) = time_of_day(text.as_bytes())?;
    matches!(text.as_bytes().get(length), None | Some(b' ' | b']'))
        .then_some((millis, length, fraction, false))
}

fn time_of_day(bytes: &[u8]) -> Option<(i64, usize, usize)> {
    if bytes.get(2)? != &b':' || bytes.get(5)? != &b':' {
        return None;
    }
    let (hour, minute, second) = (digits(bytes, 0, 2)?, digits(bytes, 3, 2)?, digits(bytes, 6, 2)?);
    let mut millis = ((hour * 60 + minute) * 60 + second) * 1_000;
    let mut fraction = 0;
    if matches!(bytes.get(8), Some(b'.' | b',')) {
        fraction = bytes[9..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        millis += (0..3).fold(0, |sum, at| {
            sum * 10 + digits(bytes, 9 + at, 1).filter(|_| at < fraction).unwrap_or(0)
        });
    }
    let length = if fraction > 0 { 9 + fraction } else { 8 };
    Some((millis, length, fraction))
}

fn zone_length(bytes: &[u8]) -> (usize, bool) {
    match bytes.first() {
        Some(b'Z') => (1, true),
        Some(b'+' | b'-') => {
            let long = bytes[1..]
                .iter()
                .take(5)
                .take_while(|byte| byte.is_ascii_digit() || **byte == b':')
                .count();
            (if long >= 2 { 1 + long } else { 0 }, false)
        }
        _ => (0, false),
    }
}

/// Days since an arbitrary day, right for differences within the Gregorian calendar.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 {
        (year - 1, month + 12)
    } else {
        (year, month)
    };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * (month - 3) + 2) / 5 + day
}

/// `[   98.114207] ` of the kernel's ring buffer.
fn kernel(text: &str) -> Option<(Stamp, bool, &str)> {
    let bytes = text.as_bytes();
    let blanks = bytes[1..].iter().take_while(|byte| **byte == b' ').count();
    let start = 1 + blanks;
    let whole = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let point = start + whole;
    if whole == 0 || whole > 9 || bytes.get(point)? != &b'.' {
        return None;
    }
    let end = point + 7;
    let micros = digits(bytes, point + 1, 6)?;
    let rest = text.get(end..)?.strip_prefix(']')?;
    let millis = digits(bytes, start, whole)? * 1_000 + micros / 1_000;
    let stamp = Stamp {
        millis,
        length: end - start,
        offset: start,
    };
    Some((stamp, false, rest.strip_prefix(' ').unwrap_or(rest)))
}

const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// `Mar  2 10:14:07 host ` of syslog and journald; the host goes with it.
fn syslog(text: &str) -> Option<(Stamp, bool, &str)> {
    let bytes = text.as_bytes();
    let month = MONTHS.iter().position(|name| bytes.starts_with(name))?;
    if bytes.get(3)? != &b' ' || bytes.get(6)? != &b' ' {
        return None;
    }
    let day = if bytes.get(4)? == &b' ' {
        digits(bytes, 5, 1)?
    } else {
        digits(bytes, 4, 2)?
    };
    let (millis, length, _) = time_of_day(bytes.get(7..)?)?;
    let rest = text.get(7 + length..)?.strip_prefix(' ')?;
    let month = i64::try_from(month).unwrap_or(0) + 1;
    let stamp = Stamp {
        millis: day_number(2024, month, day) * 86_400_000 + millis,
        length: 7 + length,
        offset: 0,
    };
    let rest = rest.halves(b' ').map_or(rest, |(_, after)| after);
    Some((stamp, false, rest))
}

/// `Mar 02, 2026 1:05:06 PM tide.Gauge read` of `java.util.logging`, whose level and message stand on the next line.
fn java_logging(text: &str) -> Option<(Stamp, bool, &str)> {
    let bytes = text.as_bytes();
    let month = MONTHS.iter().position(|name| bytes.starts_with(name))?;
    if bytes.get(3)? != &b' ' || bytes.get(6..8)? != b", " || bytes.get(12)? != &b' ' {
        return None;
    }
    let (day, year) = (digits(bytes, 4, 2)?, digits(bytes, 8, 4)?);
    let start = 13;
    let long = digits(bytes, start, 2).is_some();
    let end = start + if long { 8 } else { 7 };
    let clock = text.get(start..end)?;
    let (millis, _, _) = if long {
        time_of_day(clock.as_bytes())?
    } else {
        time_of_day(joined!["0", clock].as_bytes())?
    };
    // Since Java 20 a narrow no-break space stands before it.
    let rest = text.get(end..)?;
    let rest = rest.strip_prefix([' ', '\u{202F}'])?;
    let half = [("AM ", 0), ("PM ", 12)];
    let (mark, after_noon) = half.iter().find(|(mark, _)| rest.starts_with(mark))?;
    let hours = millis / 3_600_000 % 12 + after_noon;
    let rest = &rest[mark.len()..];
    let month = i64::try_from(month).unwrap_or(0) + 1;
    let stamp = Stamp {
        millis: day_number(year, month, day) * 86_400_000 + millis % 3_600_000 + hours * 3_600_000,
        length: text.len() - rest.len() - 1,
        offset: 0,
    };
    Some((stamp, false, rest))
}

/// Whether a time as written is one of `java.util.logging`.
pub(crate) fn is_java_logging(written: &str) -> bool {
    written.ends_with(['M']) && written.as_bytes().get(6) == Some(&b',')
}

#[cfg(test)]
mod tests {
    use super::at_start;

    fn rest(text: &str) -> Option<&str> {
        at_start(text).map(|(_, _, rest)| rest)
    }

    #[test]
    fn the_usual_forms_are_taken() {
        for text in [
            "2026-03-02T10:14:07.123Z x",
            "2026-03-02 10:14:07,123 x",
            "2026-03-02T10:14:07+01:00 x",
            "[2026-03-02 10:14:07] x",
            "10:14:07 x",
            "[10:14:07.123] x",
            "[   98.114207] x",
            "Mar  2 10:14:07 host x",
            "Mar 12 10:14:07 host x",
            "2026-03-02T10:14:07.123456Z 00O x",
            "Mar 02, 2026 1:05:06 PM x",
            "Mar 02, 2026 11:05:06\u{202F}AM x",
        ] {
            assert_eq!(rest(text), Some("x"), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_time_stays() {
        for text in [
            "10:14 x",
            "2026-03-02 x",
            "[1/6] x",
            "[98.1] x",
            "March 2",
            "1.23.45 x",
            "Mar 2",
            "Mar 02, 2026 x",
            "Mar 02, 2026 1:05:06 x",
        ] {
            assert_eq!(rest(text), None, "{text}");
        }
    }

    #[test]
    fn noon_and_midnight_of_twelve_hours_are_told_apart() {
        let millis = |text| at_start(text).map(|(stamp, _, _)| stamp.millis % 86_400_000);
        assert_eq!(millis("Mar 02, 2026 12:00:01 AM x"), Some(1_000));
        assert_eq!(millis("Mar 02, 2026 12:00:01 PM x"), Some(43_201_000));
        assert_eq!(millis("Mar 02, 2026 1:00:00 PM x"), Some(46_800_000));
    }

    #[test]
    fn a_day_is_a_day_over_the_end_of_february() {
        let millis = |text| at_start(text).map(|(stamp, _, _)| stamp.millis);
        let (before, after) = (millis("2024-02-29T00:00:00 x"), millis("2024-03-01T00:00:00 x"));
        assert_eq!(
            after.zip(before).map(|(after, before)| after - before),
            Some(86_400_000)
        );
    }
}
