//! The parts of a checked tree, in the order they are written.

use tree_sitter::{Node, Tree};

use crate::command::{Redirect, Shape, SimpleCommand, Word};
use crate::words::word;

/// Every simple command anywhere in the tree, also within substitutions, strings and here-documents.
pub(crate) fn collect(tree: &Tree, line: &str) -> Vec<SimpleCommand> {
    let mut collector = Collector {
        line,
        found: Vec::new(),
        pending: Vec::new(),
    };
    collector.visit(tree.root_node());
    if let Some(first) = collector.found.first_mut() {
        first.expands.append(&mut collector.pending);
    }
    collector.found
}

struct Collector<'a> {
    line: &'a str,
    found: Vec<SimpleCommand>,
    /// Names expanded before the first part (`case $X in …`).
    pending: Vec<String>,
}

impl Collector<'_> {
    /// Visits a node; the result is the part a redirection after it belongs to.
    fn visit(&mut self, node: Node<'_>) -> Option<usize> {
        match node.kind() {
            "command" | "declaration_command" | "unset_command" => Some(self.command(node)),
            "test_command" => Some(self.test(node)),
            "redirected_statement" => self.redirected(node),
            "pipeline" => self.pipeline(node),
            "function_definition" => {
                self.push(Shape::Function, node);
                self.inside(node)
            }
            "arithmetic_expansion" => {
                let inner = self.text(node).trim_start_matches("$((");
                let names = inner.contains(|c: char| c.is_alphabetic() || c == '_' || c == '$');
                if names {
                    self.push(Shape::Arithmetic, node);
                }
                self.inside(node)
            }
            "variable_assignment" => Some(self.assignment(node)),
            "for_statement" => {
                self.loops_over(node);
                self.inside(node)
            }
            "simple_expansion" | "expansion" => {
                self.expanded(node);
                self.inside(node)
            }
            // On its own: all of a substitution, as in `$(< file)`.
            "file_redirect" => {
                let at = self.push(Shape::Redirection, node);
                self.redirect(node, Some(at));
                Some(at)
            }
            _ => self.inside(node),
        }
    }

    /// `for NAME` and `select NAME` set a variable, to values that are not known here.
    fn loops_over(&mut self, node: Node<'_>) {
        if let Some(variable) = node.child_by_field_name("variable") {
            let name = self.text(variable).to_owned();
            let at = self.push(Shape::Assignment, variable);
            self.found[at].text = format!("for {name}");
            self.found[at].assignments.push((name, Word::unknown("")));
        }
    }

    /// The name is noted on the part it stands in; `${NAME=…}` and `${NAME:=…}` set it.
    fn expanded(&mut self, node: Node<'_>) {
        let inner = self
            .text(node)
            .trim_start()
            .trim_start_matches(['$', '{', '#', '!']);
        let end = inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let (name, sets) = (
            &inner[..inner.len() - end.len()],
            end.trim_start_matches(':').starts_with('='),
        );
        if name.is_empty() {
            return;
        }
        let name = name.to_owned();
        match self.found.last_mut() {
            Some(part) => part.expands.push(name.clone()),
            None => self.pending.push(name.clone()),
        }
        if sets {
            let at = self.push(Shape::Assignment, node);
            self.found[at].assignments.push((name, Word::unknown("")));
        }
    }

    fn inside(&mut self, node: Node<'_>) -> Option<usize> {
        let mut last = None;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            last = self.visit(child).or(last);
        }
        last
    }

    /// Everything after the first bar is fed by what stands before it.
    fn pipeline(&mut self, node: Node<'_>) -> Option<usize> {
        let mut last = None;
        let mut first = None;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            last = self.visit(child).or(last);
            if !child.is_named() {
                first = first.or(Some(self.found.len()));
            }
        }
        self.feed(first.unwrap_or(self.found.len()));
        last
    }

    /// Marks every part from `first` on as fed.
    fn feed(&mut self, first: usize) {
        for part in &mut self.found[first..] {
            part.fed = true;
        }
    }

    fn text(&self, node: Node<'_>) -> &str {
        &self.line[node.byte_range()]
    }

    fn push(&mut self, shape: Shape, node: Node<'_>) -> usize {
        let part = SimpleCommand::new(shape, self.text(node).trim());
        self.found.push(part);
        self.found.len() - 1
    }

    fn command(&mut self, node: Node<'_>) -> usize {
        let at = self.push(Shape::Command, node);
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => {
                    let set = self.assigned(child);
                    if node.kind() != "command" {
                        let text = self.text(child).to_owned();
                        self.found[at].words.push(Word::literal(text));
                    }
                    self.found[at].assignments.push(set);
                    self.inside(child);
                }
                "file_redirect" => self.redirect(child, Some(at)),
                "herestring_redirect" => {
                    self.found[at].fed = true;
                    self.inside(child);
                }
                _ => {
                    let argument = word(child, self.line);
                    self.found[at].words.push(argument);
                    self.visit(child);
                }
            }
        }
        at
    }

    fn assigned(&self, node: Node<'_>) -> (String, Word) {
        let text = self.text(node);
        let name = text.split(['=', '+', '[']).next().unwrap_or(text).to_owned();
        let value = node.child_by_field_name("value");
        (
            name,
            value.map_or_else(|| Word::literal(""), |value| word(value, self.line)),
        )
    }

    fn assignment(&mut self, node: Node<'_>) -> usize {
        let at = self.push(Shape::Assignment, node);
        let set = self.assigned(node);
        self.found[at].assignments.push(set);
        self.inside(node);
        at
    }

    /// `[ … ]` is a command of its words; with an operator in it that a shell may read as a redirection, or in the
    /// form `[[ … ]]`, it is a test of its own.
    fn test(&mut self, node: Node<'_>) -> usize {
        let text = self.text(node);
        let plain = !text.contains(['<', '>', '(', ')', '&', '|']);
        let command = plain && (text.starts_with("[ ") || is_file_test(text));
        let at = self.push(if command { Shape::Command } else { Shape::Test }, node);
        if command {
            let mut words = Vec::new();
            leaves(node, self.line, &mut words);
            self.found[at].words = words;
        }
        self.inside(node);
        at
    }

    fn redirected(&mut self, node: Node<'_>) -> Option<usize> {
        let body = node.child_by_field_name("body");
        let first = self.found.len();
        let mut at = body.and_then(|body| self.visit(body));
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if Some(child.id()) == body.map(|body| body.id()) {
                continue;
            }
            if child.kind() == "file_redirect" {
                at = Some(self.redirected_to(child, at, node));
                continue;
            }
            // A here-document or here-string.
            self.feed(first);
            if child.kind() != "heredoc_redirect" {
                self.visit(child);
                continue;
            }
            // What follows its beginning on the line is the command's, too.
            let mut inner = child.walk();
            for part in child.children(&mut inner) {
                if part.kind() == "file_redirect" {
                    at = Some(self.redirected_to(part, at, node));
                } else {
                    self.visit(part);
                }
            }
        }
        at
    }

    /// Adds a redirection to a part, or to one of its own; which that is.
    fn redirected_to(&mut self, redirect: Node<'_>, at: Option<usize>, statement: Node<'_>) -> usize {
        if let Some(owner) = at {
            self.found[owner].text = format!("{} {}", self.found[owner].text, self.text(redirect).trim());
        }
        let owner = at.unwrap_or_else(|| self.push(Shape::Redirection, statement));
        self.redirect(redirect, Some(owner));
        owner
    }

    /// Adds a redirection to its part. The grammar takes every word up to the next operator for a target; the
    /// shell takes one, and the rest are arguments.
    fn redirect(&mut self, node: Node<'_>, owner: Option<usize>) {
        let (mut writes, mut copies) = (false, false);
        let mut targets = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "file_descriptor" => {}
                kind if !child.is_named() => {
                    writes |= kind.contains('>');
                    copies |= kind.starts_with(">&") || kind.starts_with("<&");
                }
                _ => {
                    targets.push(word(child, self.line));
                    self.visit(child);
                }
            }
        }
        let mut targets = targets.into_iter();
        let target = targets.next().unwrap_or_else(|| Word::literal("-"));
        if let Some(part) = owner.and_then(|at| self.found.get_mut(at)) {
            part.redirects.push(Redirect {
                writes,
                copies,
                target,
            });
            part.words.extend(targets);
        }
    }
}

/// Whether a `[[ … ]]` only asks about a file or whether a text is empty: one operator that evaluates nothing.
fn is_file_test(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [open, .., operator, operand, close] = words[..] else {
        return false;
    };
    let negated = words.len() == 5 && words[1] == "!";
    let letter = operator.strip_prefix('-').filter(|letter| letter.len() == 1);
    let asks = letter.is_some_and(|letter| "abcdefghkLnprsStuwxz".contains(letter));
    open == "[[" && close == "]]" && (words.len() == 4 || negated) && asks && !operand.contains(['[', '`'])
}

/// The words of a test, operators included.
fn leaves(node: Node<'_>, line: &str, words: &mut Vec<Word>) {
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "binary_expression" | "unary_expression" | "parenthesized_expression" => {
                leaves(child, line, words);
            }
            _ => words.push(word(child, line)),
        }
    }
}
