//! Values that have the shape of a secret and are none: stand-ins, code, addresses of nobody.

/// Words in a value that say it is a stand-in.
const STAND_INS: &[&str] = &[
    "changeme",
    "password",
    "secret",
    "example",
    "placeholder",
    "your",
    "dummy",
    "fake",
    "redacted",
    "mock",
    "sample",
    "not-a-real",
    "test-",
    "...",
    "…",
    "***",
    "xxxx",
];

/// Values that are a stand-in as a whole.
const WHOLE: &[&str] = &[
    "test", "testing", "postgres", "root", "guest", "user", "demo", "none", "null", "nil", "todo", "tbd",
    "true", "false",
];

/// Kinds whose value is whatever stands after a name, so that code and stand-ins have to be told apart from it.
const BY_NAME: &[&str] = &["assigned-secret", "env-secret", "cli-password", "url-secret"];

/// Whether a value found by a shape is one.
pub(crate) fn is_real(kind: &str, value: &str) -> bool {
    if value.starts_with("[REDACTED:") {
        return false;
    }
    match kind {
        "card-number" => passes_luhn(value),
        "ip-address" => is_public(value),
        "email" => !is_nobodys(value),
        "user-name" => value != "Shared",
        "url-password" => !value.starts_with(['$', '<', '{', '%']),
        kind if BY_NAME.contains(&kind) => {
            !is_stand_in(value) && (kind != "assigned-secret" || !is_code(value))
        }
        _ => true,
    }
}

fn is_stand_in(value: &str) -> bool {
    let lower = value.to_lowercase();
    let mut letters: Vec<char> = value.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len() <= 2
        || value.starts_with(['$', '<', '%'])
        || value.starts_with("{{")
        || WHOLE.contains(&lower.as_str())
        || STAND_INS.iter().any(|word| lower.contains(word))
}

/// Whether a value reads like code or a path: a call, a reference, an operator, a type, a word.
fn is_code(value: &str) -> bool {
    let word = value.trim_end_matches(['.', '?', '!']);
    let only_word = word.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    let dotted = word.contains('.')
        && word
            .split('.')
            .all(|part| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    only_word
        || dotted
        || value.starts_with(['+', '?', '-', '=', '/', '~', '.', '#', '&', '*', '|', '`'])
        || value.contains(['(', '<', '>', ':'])
}

/// The check digit of payment cards.
fn passes_luhn(value: &str) -> bool {
    let digits: Vec<u32> = value.chars().filter_map(|c| c.to_digit(10)).collect();
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 1 { doubled(*digit) } else { *digit })
        .sum();
    sum > 0 && sum.is_multiple_of(10)
}

/// Whether an IPv4 address is somebody's on the internet.
fn is_public(value: &str) -> bool {
    let Ok(address) = value.parse::<std::net::Ipv4Addr>() else {
        return false;
    };
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast()
        || address.octets()[0] == 0)
}

fn is_nobodys(email: &str) -> bool {
    let domain = email.rsplit('@').next().unwrap_or_default().to_lowercase();
    ["example.com", "example.net", "example.org"].contains(&domain.as_str())
        || [".example", ".test", ".invalid"]
            .iter()
            .any(|end| domain.ends_with(end))
}
