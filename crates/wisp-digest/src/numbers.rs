//! Numbers as they are written: the least and the most of many, without ever making a double of an integer.

/// Widens a range by a number.
pub(crate) fn widen(range: &mut Option<(String, String)>, text: &str) {
    let Some((least, most)) = range else {
        *range = Some((text.to_owned(), text.to_owned()));
        return;
    };
    if less(text, least) {
        text.clone_into(least);
    } else if less(most, text) {
        text.clone_into(most);
    }
}

/// Whether one number is less than another, exactly for integers of any length, else as doubles.
fn less(one: &str, other: &str) -> bool {
    let integer = |text: &str| {
        text.trim_start_matches('-')
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    };
    if !integer(one) || !integer(other) {
        return one.parse::<f64>().unwrap_or(0.0) < other.parse::<f64>().unwrap_or(0.0);
    }
    match (one.starts_with('-'), other.starts_with('-')) {
        (true, false) => true,
        (false, true) => false,
        (false, false) => magnitude(one) < magnitude(other),
        (true, true) => magnitude(one) > magnitude(other),
    }
}

/// What two integers of the same sign are told apart by.
fn magnitude(text: &str) -> (usize, &str) {
    let digits = text.trim_start_matches('-');
    (digits.len(), digits)
}
