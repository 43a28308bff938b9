//! Colour sequences of untrusted text: which parameters are let through, and how they end with their line.

/// The most bytes of open colour that are taken up again on the next line.
const MAX_OPEN: usize = 128;

/// The colours an untrusted text has opened and not closed.
#[derive(Debug, Clone)]
pub(crate) struct Colours {
    keep: bool,
    /// The sequences since the last reset.
    open: String,
    /// Whether the terminal has them in force; after a newline it has not.
    in_force: bool,
}

impl Colours {
    pub(crate) fn new(keep: bool) -> Self {
        Self {
            keep,
            open: String::new(),
            in_force: false,
        }
    }

    /// Takes the parameters of one `ESC [ … m`.
    pub(crate) fn take(&mut self, parameters: &str, out: &mut String) {
        if !self.keep {
            return;
        }
        let Some(wanted) = allowed(parameters) else {
            return;
        };
        if wanted.is_empty() || wanted == "0" {
            self.close(out);
            return self.forget();
        }
        let sequence = format!("\u{1b}[{wanted}m");
        if self.open.len() + sequence.len() > MAX_OPEN {
            self.close(out);
            self.open.clear();
        }
        self.reopen(out);
        self.open.push_str(&sequence);
        out.push_str(&sequence);
        self.in_force = true;
    }

    /// Ends the colours for the terminal, remembering them.
    pub(crate) fn close(&mut self, out: &mut String) {
        if self.in_force {
            out.push_str("\u{1b}[0m");
            self.in_force = false;
        }
    }

    /// Puts remembered colours back in force before text.
    pub(crate) fn reopen(&mut self, out: &mut String) {
        if !self.in_force && !self.open.is_empty() {
            out.push_str(&self.open);
            self.in_force = true;
        }
    }

    /// Forgets the colours: the text reset them, or ended.
    pub(crate) fn forget(&mut self) {
        self.open.clear();
        self.in_force = false;
    }
}

/// The parameters that only colour, without blinking (5, 6) and hiding (8): `None` when none is left or the
/// sequence is no SGR. An empty string is the reset `ESC [ m`.
fn allowed(parameters: &str) -> Option<String> {
    if parameters.is_empty() {
        return Some(String::new());
    }
    let mut groups = parameters.split(';');
    let mut kept: Vec<String> = Vec::new();
    while let Some(group) = groups.next() {
        let number: u16 = group
            .split(':')
            .next()?
            .parse()
            .ok()
            .or(group.is_empty().then_some(0))?;
        match number {
            38 | 48 | 58 if !group.contains(':') => kept.push(extended(number, &mut groups)?),
            4 | 38 | 48 | 58 if group.bytes().all(|b| b.is_ascii_digit() || b == b':') => {
                kept.push(group.to_owned());
            }
            0 => kept.clear(),
            1..=3 | 7 | 9 | 21..=25 | 27 | 29..=37 | 39..=47 | 49 | 53 | 55 | 59 | 90..=97 | 100..=107 => {
                kept.push(number.to_string());
            }
            _ => {}
        }
        if number == 0 {
            kept.push("0".to_owned());
        }
    }
    (!kept.is_empty()).then(|| kept.join(";"))
}

/// `38;5;N` or `38;2;R;G;B` with the introducing number already read.
fn extended<'a>(number: u16, groups: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    let form = groups.next()?;
    let count = match form {
        "5" => 1,
        "2" => 3,
        _ => return None,
    };
    let mut sequence = format!("{number};{form}");
    for _ in 0..count {
        let value: u8 = groups.next()?.parse().ok()?;
        sequence.push(';');
        sequence.push_str(&value.to_string());
    }
    Some(sequence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colouring_parameters_are_let_through() {
        assert_eq!(allowed("1;31").as_deref(), Some("1;31"));
        assert_eq!(allowed("8").as_deref(), None);
        assert_eq!(allowed("5;31;8").as_deref(), Some("31"));
        assert_eq!(allowed("38;5;208").as_deref(), Some("38;5;208"));
        assert_eq!(allowed("38;2;1;2;256").as_deref(), None);
        assert_eq!(allowed("4:3").as_deref(), Some("4:3"));
        assert_eq!(allowed("").as_deref(), Some(""));
        assert_eq!(allowed("1;0").as_deref(), Some("0"));
        assert_eq!(allowed("?25").as_deref(), None);
    }
}
