//! Lines as they are compared: formatting removed, nothing else.
//!
//! Runs of white space are one space, ends are trimmed, blank lines are left out, `read_file`'s line numbers are
//! removed where asked, and a Markdown table's row is its cells joined by a space, its header and separator rows
//! left out. Text is taken as bytes and in pieces, so an output need not be held.

/// Normalises lines as they stream past.
#[derive(Debug)]
pub(super) struct Lines {
    /// Whether a line number and a tab in front of a line are formatting.
    numbers: bool,
    /// Longest normalised line worth keeping; a longer one matches nothing.
    limit: usize,
    /// The line so far, its white space already collapsed.
    line: Vec<u8>,
    /// White space has passed since the last byte of `line`.
    space: bool,
    /// Only digits have been seen on this line.
    digits: bool,
    /// A table row that may turn out to be a header.
    row: Option<Vec<u8>>,
}

impl Lines {
    /// A normaliser at the start of a text.
    pub(super) fn new(numbers: bool, limit: usize) -> Self {
        Self {
            numbers,
            limit,
            line: Vec::new(),
            space: false,
            digits: true,
            row: None,
        }
    }

    /// Takes the next piece and hands each line that is complete to `each`.
    pub(super) fn feed(&mut self, piece: &[u8], each: &mut impl FnMut(&[u8])) {
        for &byte in piece {
            match byte {
                b'\n' => self.end_line(each),
                b'\t' if self.numbers && self.digits && !self.space && !self.line.is_empty() => {
                    self.line.clear();
                    self.digits = false;
                }
                _ if is_space(byte) => self.space = true,
                _ => self.byte(byte),
            }
        }
    }

    /// Hands over what is left at the end of the text.
    pub(super) fn finish(&mut self, each: &mut impl FnMut(&[u8])) {
        self.end_line(each);
        if let Some(row) = self.row.take() {
            each(&row);
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.line.len() > self.limit {
            return;
        }
        if std::mem::take(&mut self.space) && !self.line.is_empty() {
            self.line.push(b' ');
        }
        self.digits &= byte.is_ascii_digit();
        self.line.push(byte);
    }

    fn end_line(&mut self, each: &mut impl FnMut(&[u8])) {
        self.space = false;
        self.digits = true;
        match Row::of(&self.line) {
            Row::Separator => self.row = None,
            Row::Cells(cells) => {
                if let Some(row) = self.row.replace(cells) {
                    each(&row);
                }
            }
            Row::Not => {
                if let Some(row) = self.row.take() {
                    each(&row);
                }
                if !self.line.is_empty() {
                    each(&self.line);
                }
            }
        }
        self.line.clear();
    }
}

/// What a normalised line is in a Markdown table.
enum Row {
    Not,
    Separator,
    Cells(Vec<u8>),
}

impl Row {
    fn of(line: &[u8]) -> Self {
        let Some(inner) = line.strip_prefix(b"|").and_then(|rest| rest.strip_suffix(b"|")) else {
            return Self::Not;
        };
        let cells: Vec<&[u8]> = inner
            .split(|&byte| byte == b'|')
            .map(<[u8]>::trim_ascii)
            .collect();
        if cells.iter().all(|cell| is_rule(cell)) {
            return Self::Separator;
        }
        let filled: Vec<&[u8]> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        Self::Cells(filled.join(&b' '))
    }
}

/// Whether a cell is dashes with an optional colon at either end.
fn is_rule(cell: &[u8]) -> bool {
    let inner = cell.strip_prefix(b":").unwrap_or(cell);
    let inner = inner.strip_suffix(b":").unwrap_or(inner);
    !inner.is_empty() && inner.iter().all(|&byte| byte == b'-')
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// Every normalised line of a text held in memory.
pub(super) fn all(text: &str, numbers: bool) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut lines = Lines::new(numbers, usize::MAX);
    let mut each = |line: &[u8]| found.push(line.to_vec());
    lines.feed(text.as_bytes(), &mut each);
    lines.finish(&mut each);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, numbers: bool) -> Vec<String> {
        all(text, numbers)
            .into_iter()
            .map(|line| String::from_utf8(line).unwrap())
            .collect()
    }

    #[test]
    fn formatting_goes_and_nothing_else() {
        assert_eq!(texts("  a \t b\r\n\n\n c", false), ["a b", "c"]);
        assert_eq!(
            texts("12\tfn main() {\n 13\t}\n14 x\n15\t", true),
            ["fn main() {", "}", "14 x"]
        );
        assert_eq!(texts("12\tfn", false), ["12 fn"]);
        assert_eq!(texts("1\t2\tx", true), ["2 x"]);
    }

    #[test]
    fn a_table_is_its_rows() {
        let table = "| name | age |\n|:---|---:|\n| pod-1 | 5d |\n| pod-2 |  |\nend";
        assert_eq!(texts(table, false), ["pod-1 5d", "pod-2", "end"]);
        assert_eq!(texts("| a | b |\n\n|---|---|", false), ["a b"]);
    }

    #[test]
    fn pieces_may_break_anywhere() {
        let text = "12\t| é |  x\n|--|\n| a |\n9\tz";
        for at in 0..=text.len() {
            let mut found = Vec::new();
            let mut lines = Lines::new(true, usize::MAX);
            let mut each = |line: &[u8]| found.push(line.to_vec());
            lines.feed(&text.as_bytes()[..at], &mut each);
            lines.feed(&text.as_bytes()[at..], &mut each);
            lines.finish(&mut each);
            assert_eq!(found, all(text, true), "broken at {at}");
        }
    }
}
