//! Where substitutions begin and end by the shell's own rules for quotes, found without the grammar: the tree has to
//! have a node for each of them, or a command in it was not seen.
//!
//! What is read here is only quotes, escapes, comments and brackets. Where shells differ about those (a quote within
//! `"${…}"`, a backslash within backquotes) the line is unreadable.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::tree::Unreadable;

/// What an opened bracket or quote is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    /// `$(`, `<(`, `>(`: text of a shell until its `)`. The place is that of its opener.
    Substitution(usize),
    /// A backquote until the next.
    Backquotes(usize),
    /// `(` of a subshell, a function, a pattern.
    Parenthesis,
    /// `$((` until `))`.
    Arithmetic,
    /// `"` until the next.
    Quotes,
    /// `${` until `}`; `quoted` where it stands within `"`.
    Braces { quoted: bool },
}

/// Checks that the tree has exactly the substitutions, here-documents and comments that are opened in the line.
pub(crate) fn check(tree: &Tree, line: &str) -> Result<(), Unreadable> {
    let mut seen = Seen::default();
    seen.visit(tree.root_node(), line);
    let found = Scanner::new(line, &seen.bodies).scan()?;
    let missed = || Unreadable::new("a command in it would run unseen");
    if found.substitutions != seen.substitutions || found.heredocs != seen.heredocs {
        return Err(missed());
    }
    if found.comments != seen.comments {
        return Err(Unreadable::new(
            "a comment in it was taken for words, or words for a comment",
        ));
    }
    Ok(())
}

/// What the tree has.
#[derive(Debug, Default)]
struct Seen {
    substitutions: BTreeSet<(usize, usize)>,
    heredocs: BTreeSet<usize>,
    comments: BTreeSet<usize>,
    bodies: Vec<Range<usize>>,
}

impl Seen {
    fn visit(&mut self, node: Node<'_>, line: &str) {
        let range = node.byte_range();
        match node.kind() {
            "command_substitution" | "process_substitution" => {
                let text = &line[range.clone()];
                // Within quotes the opening token has the blanks before it.
                let blanks = text.len() - text.trim_start().len();
                self.substitutions.insert((range.start + blanks, range.end));
            }
            "heredoc_redirect" => {
                let text = &line[range.clone()];
                let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                self.heredocs.insert(range.start + digits);
            }
            "comment" => {
                let text = &line[range.clone()];
                self.comments.insert(range.end - text.trim_start().len());
            }
            "heredoc_body" => self.bodies.push(range),
            _ => {}
        }
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.visit(child, line);
        }
    }
}

/// What the line has.
#[derive(Debug, Default)]
struct Found {
    substitutions: BTreeSet<(usize, usize)>,
    heredocs: BTreeSet<usize>,
    comments: BTreeSet<usize>,
}

struct Scanner<'a> {
    line: &'a [u8],
    bodies: &'a [Range<usize>],
    at: usize,
    within: Vec<Within>,
    found: Found,
}

fn differs(what: &str) -> Unreadable {
    Unreadable::new(format!("shells differ about {what}"))
}

impl<'a> Scanner<'a> {
    fn new(line: &'a str, bodies: &'a [Range<usize>]) -> Self {
        Self {
            line: line.as_bytes(),
            bodies,
            at: 0,
            within: Vec::new(),
            found: Found::default(),
        }
    }

    fn rest(&self) -> &[u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    fn scan(mut self) -> Result<Found, Unreadable> {
        while self.at < self.line.len() {
            if let Some(body) = self
                .bodies
                .iter()
                .find(|body| body.start == self.at && !body.is_empty())
            {
                self.at = body.end;
                continue;
            }
            match self.within.last().copied() {
                Some(Within::Quotes) => self.quoted()?,
                Some(Within::Braces { quoted }) => self.braces(quoted)?,
                Some(Within::Arithmetic) => self.arithmetic()?,
                _ => self.code()?,
            }
        }
        if self.within.is_empty() {
            Ok(self.found)
        } else {
            Err(Unreadable::new("a quote or bracket in it is not closed"))
        }
    }

    /// Text of a shell outside of quotes.
    fn code(&mut self) -> Result<(), Unreadable> {
        let opener = matches!(self.rest(), [b'<' | b'>', b'(', ..]);
        match self.rest() {
            [b'#', ..] if self.starts_word() => self.skip_comment()?,
            [b'\'', ..] => self.single(1)?,
            [b'$', b'\'', ..] => self.single(2)?,
            [b'<', b'<', b'<', ..] => self.at += 3,
            [b'<', b'<', ..] => {
                self.found.heredocs.insert(self.at);
                self.at += 2;
            }
            _ if opener => self.open(Within::Substitution(self.at), 2),
            [b'(', ..] => self.open(Within::Parenthesis, 1),
            [b')', ..] => self.close_parenthesis()?,
            _ => self.common()?,
        }
        Ok(())
    }

    /// What is special in and out of quotes: escapes, `"`, `$(`, `${`, `$((` and backquotes.
    fn common(&mut self) -> Result<(), Unreadable> {
        match self.rest() {
            [b'\\', ..] => self.at += 2,
            [b'"', ..] if self.within.last() == Some(&Within::Quotes) => self.close(1),
            [b'"', ..] => self.open(Within::Quotes, 1),
            [b'`', ..] => self.backquote()?,
            [b'$', b'(', b'(', ..] => self.open(Within::Arithmetic, 3),
            [b'$', b'(', ..] => self.open(Within::Substitution(self.at), 2),
            [b'$', b'{', ..] => {
                let quoted = self.in_quotes();
                self.open(Within::Braces { quoted }, 2);
            }
            _ => self.at += 1,
        }
        Ok(())
    }

    fn quoted(&mut self) -> Result<(), Unreadable> {
        self.common()
    }

    fn braces(&mut self, quoted: bool) -> Result<(), Unreadable> {
        match self.rest() {
            [b'}', ..] => self.close(1),
            [b'\'' | b'"' | b'\\', ..] if quoted => return Err(differs("a quote within \"${…}\"")),
            [b'$', b'\'' | b'"', ..] => return Err(differs("a quote within ${…}")),
            [b'<' | b'>', b'(', ..] => return Err(differs("a process substitution within ${…}")),
            [b'{', ..] => return Err(differs("a brace within ${…}")),
            [b'\'', ..] => self.single(1)?,
            _ => self.common()?,
        }
        Ok(())
    }

    fn arithmetic(&mut self) -> Result<(), Unreadable> {
        match self.rest() {
            [b')', b')', ..] => self.close(2),
            [b'(', ..] => self.open(Within::Parenthesis, 1),
            [b'\'' | b'"' | b'\\' | b')', ..] => return Err(differs("a quote within $((…))")),
            _ => self.common()?,
        }
        Ok(())
    }

    fn backquote(&mut self) -> Result<(), Unreadable> {
        match self.within.last() {
            Some(Within::Backquotes(from)) => {
                self.found.substitutions.insert((*from, self.at + 1));
                self.close(1);
            }
            // The shell ends them at the next one whatever quotes it stands in.
            _ if self.in_backquotes() => return Err(differs("backquotes within backquotes")),
            _ => self.open(Within::Backquotes(self.at), 1),
        }
        Ok(())
    }

    fn close_parenthesis(&mut self) -> Result<(), Unreadable> {
        match self.within.last() {
            Some(Within::Substitution(from)) => {
                self.found.substitutions.insert((*from, self.at + 1));
                self.close(1);
            }
            Some(Within::Parenthesis) => self.close(1),
            // The `)` of a pattern of `case`.
            None => self.at += 1,
            Some(_) => return Err(differs("a parenthesis within backquotes")),
        }
        Ok(())
    }

    /// Skips a text in single quotes whose opener is so many bytes long.
    fn single(&mut self, opener: usize) -> Result<(), Unreadable> {
        let from = self.at + opener;
        let length = self
            .line
            .get(from..)
            .and_then(|rest| rest.iter().position(|b| *b == b'\''));
        let Some(length) = length else {
            return Err(Unreadable::new("a quote in it is not closed"));
        };
        let text = &self.line[from..from + length];
        let backquoted = self
            .within
            .iter()
            .any(|within| matches!(within, Within::Backquotes(_)));
        if text.contains(&b'`') && backquoted {
            return Err(differs("a backquote in quotes within backquotes"));
        }
        self.at = from + length + 1;
        Ok(())
    }

    fn skip_comment(&mut self) -> Result<(), Unreadable> {
        let end = self.rest().iter().position(|b| *b == b'\n');
        let end = end.map_or(self.line.len(), |length| self.at + length);
        if self.in_backquotes() && self.line[self.at..end].contains(&b'`') {
            return Err(differs("a backquote in a comment within backquotes"));
        }
        self.found.comments.insert(self.at);
        self.at = end;
        Ok(())
    }

    fn in_backquotes(&self) -> bool {
        self.within
            .iter()
            .any(|within| matches!(within, Within::Backquotes(_)))
    }

    /// Whether a word may start here.
    fn starts_word(&self) -> bool {
        let Some(before) = self.at.checked_sub(1) else {
            return true;
        };
        let escaped = before > 0 && self.line[before - 1] == b'\\';
        b" \t\n;&|()`".contains(&self.line[before]) && !escaped
    }

    fn in_quotes(&self) -> bool {
        let inner = |within: &&Within| !matches!(within, Within::Braces { .. } | Within::Arithmetic);
        match self.within.last() {
            Some(Within::Braces { quoted }) => *quoted,
            _ => self.within.iter().rev().find(inner) == Some(&Within::Quotes),
        }
    }

    fn open(&mut self, within: Within, length: usize) {
        self.within.push(within);
        self.at += length;
    }

    fn close(&mut self, length: usize) {
        self.within.pop();
        self.at += length;
    }
}
