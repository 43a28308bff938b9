//! Where in a JSON text each member stands, for messages that point at it. serde has read the text before, so it
//! is known to be JSON; this only counts lines and columns.

/// A place in a text, both from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The members of all objects in a valid JSON text outside arrays: dotted path and place of the name, in order. A
/// path that comes twice is a member written twice.
pub(crate) fn members(text: &str) -> Vec<(String, Place)> {
    let mut walk = Walk {
        chars: text.chars().peekable(),
        place: Place { line: 1, column: 1 },
        found: Vec::new(),
    };
    walk.value(Some(""));
    walk.found
}

struct Walk<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    place: Place,
    found: Vec<(String, Place)>,
}

impl Walk<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        if c == '\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else {
            self.place.column += 1;
        }
        Some(c)
    }

    fn space(&mut self) {
        while self.chars.peek().is_some_and(char::is_ascii_whitespace) {
            self.next();
        }
    }

    /// Passes over a value; `path` is `None` inside an array, where members have no name of their own.
    fn value(&mut self, path: Option<&str>) {
        self.space();
        match self.chars.peek() {
            Some('{') => self.object(path),
            Some('[') => self.array(),
            Some('"') => {
                self.string();
            }
            _ => {
                while self
                    .chars
                    .peek()
                    .is_some_and(|c| !",]}".contains(*c) && !c.is_ascii_whitespace())
                {
                    self.next();
                }
            }
        }
    }

    fn object(&mut self, path: Option<&str>) {
        self.next();
        loop {
            self.space();
            match self.chars.peek() {
                Some('"') => {
                    let place = self.place;
                    let name = self.string();
                    let full = path.map(|path| {
                        if path.is_empty() {
                            name.clone()
                        } else {
                            format!("{path}.{name}")
                        }
                    });
                    if let Some(full) = &full {
                        self.found.push((full.clone(), place));
                    }
                    self.space();
                    self.next();
                    self.value(full.as_deref());
                }
                Some('}') | None => {
                    self.next();
                    return;
                }
                Some(_) => {
                    self.next();
                }
            }
        }
    }

    fn array(&mut self) {
        self.next();
        loop {
            self.space();
            match self.chars.peek() {
                Some(']') | None => {
                    self.next();
                    return;
                }
                Some(',') => {
                    self.next();
                }
                Some(_) => self.value(None),
            }
        }
    }

    /// Reads a string and gives its text.
    fn string(&mut self) -> String {
        let mut raw = String::from('"');
        self.next();
        while let Some(c) = self.next() {
            raw.push(c);
            match c {
                '\\' => raw.extend(self.next()),
                '"' => break,
                _ => {}
            }
        }
        serde_json::from_str(&raw).unwrap_or(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_with_line_and_column() {
        let text =
            "{\n  \"a\": [1, {\"no\": 2}],\n  \"é\": \"x\\\"}\", \"b\": {\"c.d\": null,\n\t\"e\": -1e5}\n}";
        let at = |line, column| Place { line, column };
        assert_eq!(
            members(text),
            [
                ("a".to_owned(), at(2, 3)),
                ("é".to_owned(), at(3, 3)),
                ("b".to_owned(), at(3, 16)),
                ("b.c.d".to_owned(), at(3, 22)),
                ("b.e".to_owned(), at(4, 2)),
            ]
        );
    }
}
