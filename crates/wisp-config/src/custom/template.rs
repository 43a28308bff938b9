//! The command of a custom tool: a shell line with places for its arguments.
//!
//! Every value is put in as one word that the shell takes as it is, so a place may only stand where a quoted word can:
//! outside quotes, comments, here-documents and the like. Elsewhere the quotes of the line and those of the value would
//! undo one another, and a value could become a command; such a line is refused when the settings are read. All places
//! are filled in one pass, so that a value that looks like a place stays a value.

/// A stretch of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// The person's own text, for the shell.
    Text(String),
    /// Where the value of this argument goes.
    Place {
        /// The argument.
        name: String,
        /// Whether it stands in `((…))`, where only a number may.
        sum: bool,
    },
}

/// A shell line with places for arguments: `git log -n {count} -- {path}`. `{{name}}` is the text `{name}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// Reads a line. The error says what is wrong with it, to follow "the command".
    pub fn read(line: &str) -> Result<Self, String> {
        let mut scan = Scan::of(line);
        while !scan.rest.is_empty() {
            scan.step()?;
        }
        scan.end()
    }

    /// The arguments it has places for, in order, each as often as it stands there.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.places().map(|(name, _)| name)
    }

    /// The arguments it has places for, and whether the place takes a number only.
    pub(super) fn places(&self) -> impl Iterator<Item = (&str, bool)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Place { name, sum } => Some((name.as_str(), *sum)),
            Piece::Text(_) => None,
        })
    }

    /// The line with `word_of` each argument in its place. What it gives must be one word for the shell: see [`quoted`].
    pub fn fill(&self, mut word_of: impl FnMut(&str) -> String) -> String {
        let filled = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Place { name, .. } => word_of(name),
        });
        filled.collect()
    }
}

/// `text` as one word that a shell takes as it is.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Where in a shell line one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Words,
    Single,
    Double,
    Backticks,
    Comment,
    Sum,
}

impl Within {
    /// What keeps a value from standing here; `None` where one may.
    fn hindrance(self) -> Option<&'static str> {
        match self {
            Self::Words | Self::Sum => None,
            Self::Single | Self::Double => Some("in quotes"),
            Self::Backticks => Some("in backticks"),
            Self::Comment => Some("in a comment"),
        }
    }
}

/// A line being read.
struct Scan<'a> {
    rest: &'a str,
    within: Within,
    /// The character before, for what only starts a word.
    before: char,
    /// What the shell reads in a way of its own from here to the end.
    tainted: Option<&'static str>,
    text: String,
    pieces: Vec<Piece>,
}

impl<'a> Scan<'a> {
    fn of(line: &'a str) -> Self {
        Self {
            rest: line,
            within: Within::Words,
            before: ' ',
            tainted: None,
            text: String::new(),
            pieces: Vec::new(),
        }
    }

    fn step(&mut self) -> Result<(), String> {
        if let Some(name) = self.rest.strip_prefix('{').and_then(written_out) {
            let text = format!("{{{name}}}");
            self.text.push_str(&text);
            self.rest = &self.rest[text.len() + 2..];
            self.before = '}';
            return Ok(());
        }
        if self.before != '$'
            && let Some(name) = place(self.rest)
        {
            return self.place(name);
        }
        self.turn();
        Ok(())
    }

    fn place(&mut self, name: &str) -> Result<(), String> {
        if let Some(hindrance) = self.within.hindrance().or(self.tainted) {
            return Err(format!(
                "has {{{name}}} {hindrance}; a value is quoted by wisp and must stand by itself as a word, and \
                 {{{{{name}}}}} is the text {{{name}}}"
            ));
        }
        let text = std::mem::take(&mut self.text);
        self.pieces.push(Piece::Text(text));
        self.pieces.push(Piece::Place {
            name: name.to_owned(),
            sum: self.within == Within::Sum,
        });
        self.rest = &self.rest[name.len() + 2..];
        self.before = '}';
        Ok(())
    }

    /// Passes over what comes next, and notes where that leads.
    fn turn(&mut self) {
        let word_starts = self.before.is_whitespace() || ";|&()".contains(self.before);
        for (at, mark, to) in TURNS {
            let here = self.within == *at && self.rest.starts_with(mark);
            if here && (*to != Within::Comment || word_starts) {
                self.within = *to;
                self.pass(mark.chars().count());
                return;
            }
        }
        if let Some(length) = variable(self.rest) {
            return self.pass(length);
        }
        let odd = ODD
            .iter()
            .find(|(at, mark, _)| self.within == *at && self.rest.starts_with(mark));
        if let Some((_, _, why)) = odd {
            self.tainted = self.tainted.or(Some(why));
        }
        let escapes = self.rest.starts_with('\\')
            && matches!(self.within, Within::Words | Within::Double | Within::Backticks);
        self.pass(if escapes { 2 } else { 1 });
    }

    fn pass(&mut self, characters: usize) {
        for c in self.rest.chars().take(characters) {
            self.text.push(c);
            self.before = c;
            self.rest = &self.rest[c.len_utf8()..];
        }
    }

    fn end(mut self) -> Result<Template, String> {
        match self.within {
            Within::Words | Within::Comment => {}
            within => {
                let open = within.hindrance().unwrap_or("in ((…))");
                return Err(format!("ends {open}"));
            }
        }
        self.pieces.push(Piece::Text(self.text));
        Ok(Template { pieces: self.pieces })
    }
}

/// What leads from where to where.
const TURNS: &[(Within, &str, Within)] = &[
    (Within::Words, "'", Within::Single),
    (Within::Single, "'", Within::Words),
    (Within::Words, "\"", Within::Double),
    (Within::Double, "\"", Within::Words),
    (Within::Words, "`", Within::Backticks),
    (Within::Backticks, "`", Within::Words),
    (Within::Words, "#", Within::Comment),
    (Within::Comment, "\n", Within::Words),
    (Within::Words, "((", Within::Sum),
    (Within::Sum, "))", Within::Words),
];

/// What begins something with quotes of its own, or what shells do not all read alike: where it ends is not looked for,
/// and no value may stand after it.
const ODD: &[(Within, &str, &str)] = &[
    (Within::Words, "<<", "after a here-document"),
    (Within::Words, "$'", "after $'…'"),
    (Within::Words, "${", "after ${…}"),
    (Within::Double, "${", "after ${…}"),
    (Within::Double, "$(", "after $(…) in quotes"),
    (Within::Double, "`", "after backticks in quotes"),
    (Within::Sum, "'", "after quotes in ((…))"),
    (Within::Sum, "\"", "after quotes in ((…))"),
    (Within::Sum, "`", "after backticks in ((…))"),
    (Within::Sum, "\\", "after a backslash in ((…))"),
];

/// How long the variable `rest` starts with is: `${HOME}` and no more than a name in the braces.
fn variable(rest: &str) -> Option<usize> {
    let (name, _) = rest.strip_prefix("${")?.split_once('}')?;
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    plain.then_some(name.len() + 3)
}

/// The name in a place that `rest` starts with.
fn place(rest: &str) -> Option<&str> {
    let (name, _) = rest.strip_prefix('{')?.split_once('}')?;
    is_name(name).then_some(name)
}

/// The name in a place written out as text, after its first brace.
fn written_out(rest: &str) -> Option<&str> {
    let name = place(rest)?;
    rest[name.len() + 2..].starts_with('}').then_some(name)
}

/// Whether `name` can be an argument's: a small letter, then letters, digits and `_`, at most 40.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(line: &str) -> String {
        let template = Template::read(line).unwrap();
        template.fill(|name| format!("<{name}>"))
    }

    fn refused(line: &str) -> String {
        Template::read(line).unwrap_err()
    }

    #[test]
    fn values_go_to_their_places_and_everything_else_stays() {
        assert_eq!(
            filled("git log -n {count} --title={title} -- {path}"),
            "git log -n <count> --title=<title> -- <path>"
        );
        assert_eq!(
            filled("find . -name '*.rs' -exec wc {} +; echo ${HOME}"),
            "find . -name '*.rs' -exec wc {} +; echo ${HOME}"
        );
        assert_eq!(filled("awk '{print $1}' {file}"), "awk '{print $1}' <file>");
        assert_eq!(filled("echo \"it's\" {a}"), "echo \"it's\" <a>");
        assert_eq!(filled("echo $(cat {a}) a#{a}"), "echo $(cat <a>) a#<a>");
        assert_eq!(filled("echo $(({n} + 1)) {n}"), "echo $((<n> + 1)) <n>");
        assert_eq!(filled("{a}{b}"), "<a><b>");
    }

    #[test]
    fn a_place_written_out_is_text() {
        assert_eq!(filled("awk '{{print}}' {file}"), "awk '{print}' <file>");
        assert_eq!(filled("echo \\{a}"), "echo \\{a}");
    }

    #[test]
    fn a_value_that_looks_like_a_place_stays_a_value() {
        let template = Template::read("echo {a} {b}").unwrap();
        let line = template.fill(|name| quoted(if name == "a" { "{b}" } else { "x" }));
        assert_eq!(line, "echo '{b}' 'x'");
    }

    #[test]
    fn where_quotes_would_undo_one_another_a_place_is_refused() {
        for (line, place) in [
            ("grep '{a}' f", "in quotes"),
            ("grep \"{a}\" f", "in quotes"),
            ("echo \"$(cat {a})\"", "in quotes"),
            ("echo `cat {a}`", "in backticks"),
            ("echo ${x:-{a}}", "after ${…}"),
            ("echo ${x:-'}'} {a}", "after ${…}"),
            ("echo \"${x:-\"{a}\"}\"", "after ${…}"),
            ("echo \"$(cat \"{a}\")\"", "after $(…) in quotes"),
            ("echo \"`cat \"{a}\"`\"", "after backticks in quotes"),
            ("((echo \"))\" ; echo \"{a}\") )", "after quotes in ((…))"),
            ("ls # {a}", "in a comment"),
            ("cat <<E\n{a}\nE", "after a here-document"),
            ("echo $'a' {a}", "after $'…'"),
        ] {
            assert!(
                refused(line).starts_with(&format!("has {{a}} {place};")),
                "{line}: {}",
                refused(line)
            );
        }
        assert!(Template::read("echo \"${HOME}/x\" {a}").is_ok());
        assert!(Template::read("ls # it's\necho {a}").is_ok());
        assert!(Template::read("echo \\' {a}").is_ok());
    }

    #[test]
    fn a_line_whose_quotes_are_not_closed_is_refused() {
        assert_eq!(refused("echo 'a"), "ends in quotes");
        assert_eq!(refused("echo $((1"), "ends in ((…))");
    }

    #[test]
    fn a_quoted_word_ends_where_it_should() {
        assert_eq!(quoted("it's $(x)"), "'it'\\''s $(x)'");
    }
}
